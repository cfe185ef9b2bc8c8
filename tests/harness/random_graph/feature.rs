//! What a random program is made to hold: kinds of kernels, and how their operands lie and their results are used.

/// What a program computes in one place; each of them is fused in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An elementwise function.
    Map,
    /// A fold over axes.
    Reduce,
    /// Several folds over the same rows, as in a softmax.
    Rows,
    /// A matrix product.
    Product,
    /// A matrix product with leading axes.
    BatchedProduct,
    /// `softmax(q k) v`, written out.
    Attention,
    /// The library's `attention`.
    LibraryAttention,
    /// Rows of a table by integers.
    Index,
    /// Elements along an axis by integers.
    Gather,
    /// Operands one after the other.
    Concat,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 10] = [
        Kind::Map,
        Kind::Reduce,
        Kind::Rows,
        Kind::Product,
        Kind::BatchedProduct,
        Kind::Attention,
        Kind::LibraryAttention,
        Kind::Index,
        Kind::Gather,
        Kind::Concat,
    ];
}

/// How an operand lies in memory or what it is made of, or what becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// An operand that is stored as it is read.
    Plain,
    /// Its axes are in another order.
    Permuted,
    /// One stored axis is read as two.
    Split,
    /// Two stored axes are read as one.
    Joined,
    /// It is repeated along an axis.
    Broadcast,
    /// It is a part of what is stored.
    Sliced,
    /// It is repeated along an axis that is then joined to another.
    Repeated,
    /// It is a concatenation.
    Concatenated,
    /// It is read by integers.
    Gathered,
    /// It is a view of a value that the program computes.
    View,
    /// One value is read in two ways.
    ReadTwice,
    /// Another node reads it, too.
    Shared,
    /// It is an output, too.
    AlsoOutput,
    /// It is a constant.
    Constant,
    /// It is made of positions.
    Positions,
    /// It has NaN and infinities.
    Special,
    /// It has an axis of size 1.
    SizeOne,
    /// It has an axis of size 0.
    SizeZero,
    /// It has an axis of a prime size above 3.
    Prime,
    /// It is, or is converted from, f32.
    F32,
    /// It is, or is converted from, bf16.
    Bf16,
    /// It is, or is converted from, i32.
    I32,
    /// It is, or is converted from, i64.
    I64,
    /// It is, or is converted from, bool.
    Bool,
    /// The result is read through views.
    ThenMoved,
    /// A function is applied to the result.
    ThenMap,
    /// The result is combined with a value that lies in another way.
    ThenResidual,
    /// The result is rounded to bf16.
    ThenRounded,
    /// The result is folded.
    ThenReduced,
}

impl Feature {
    /// Every feature.
    pub const ALL: [Feature; 29] = [
        Feature::Plain,
        Feature::Permuted,
        Feature::Split,
        Feature::Joined,
        Feature::Broadcast,
        Feature::Sliced,
        Feature::Repeated,
        Feature::Concatenated,
        Feature::Gathered,
        Feature::View,
        Feature::ReadTwice,
        Feature::Shared,
        Feature::AlsoOutput,
        Feature::Constant,
        Feature::Positions,
        Feature::Special,
        Feature::SizeOne,
        Feature::SizeZero,
        Feature::Prime,
        Feature::F32,
        Feature::Bf16,
        Feature::I32,
        Feature::I64,
        Feature::Bool,
        Feature::ThenMoved,
        Feature::ThenMap,
        Feature::ThenResidual,
        Feature::ThenRounded,
        Feature::ThenReduced,
    ];

    /// Those that say how an operand is made.
    pub const LAYOUTS: [Feature; 12] = [
        Feature::Plain,
        Feature::Permuted,
        Feature::Split,
        Feature::Joined,
        Feature::Broadcast,
        Feature::Sliced,
        Feature::Repeated,
        Feature::Concatenated,
        Feature::Gathered,
        Feature::View,
        Feature::Constant,
        Feature::Positions,
    ];
}
