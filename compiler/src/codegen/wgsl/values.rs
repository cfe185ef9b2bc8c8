//! What is known of a body's values before it is spelled: types, ranges, what depends on what.

use sx_artifact::kernel::{Affine, Arg, Body, Const, FoldOp, Inst, ScalarType, Val};
use sx_artifact::scalar::{Cost, ScalarFn};

/// The form a value has in WGSL. An i64 that provably fits 32 bits is an `I32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Repr {
    F32,
    I32,
    Wide,
    Bool,
}

impl Repr {
    /// The WGSL type.
    pub(super) fn ty(self) -> &'static str {
        match self {
            Repr::F32 => "f32",
            Repr::I32 => "i32",
            Repr::Wide => "vec2<u32>",
            Repr::Bool => "bool",
        }
    }

    /// The form of a register whose range is not known.
    pub(super) fn of(reg: ScalarType) -> Repr {
        match reg {
            ScalarType::F32 => Repr::F32,
            ScalarType::I32 => Repr::I32,
            ScalarType::I64 => Repr::Wide,
            ScalarType::Bool => Repr::Bool,
        }
    }
}

type Range = (i128, i128);

const I32_RANGE: Range = (i32::MIN as i128, i32::MAX as i128);
const I64_RANGE: Range = (i64::MIN as i128, i64::MAX as i128);

fn full(reg: ScalarType) -> Range {
    if reg == ScalarType::I64 { I64_RANGE } else { I32_RANGE }
}

fn within(range: Range, outer: Range) -> bool {
    outer.0 <= range.0 && range.1 <= outer.1
}

/// The values of a body.
pub(super) struct Values<'a> {
    pub(super) insts: &'a [Inst],
    regs: Vec<ScalarType>,
    ranges: Vec<Range>,
    /// For each value, which coordinates it depends on, loads and folds included (bit `i` for coordinate `i`).
    depends: Vec<u64>,
}

impl<'a> Values<'a> {
    /// Types, ranges and dependences of `body`, whose coordinates have `sizes`. A fold reduces over the
    /// coordinates from `along` on.
    pub(super) fn new(body: &'a Body, args: &[Arg], sizes: &[u64], along: usize) -> Values<'a> {
        let mut values = Values { insts: &body.insts, regs: vec![], ranges: vec![], depends: vec![] };
        let folded: u64 = sizes[along..].iter().product();
        for inst in &body.insts {
            let reg = inst.reg(args, &values.regs).expect("a validated body names only what is there");
            values.regs.push(reg);
            let range = values.range_of(inst, reg, sizes, folded);
            values.ranges.push(if within(range, full(reg)) { range } else { full(reg) });
            let mut depends = inst.uses().fold(0, |bits, val| bits | values.depends[val.0 as usize]);
            if let Some(at) = inst.affine() {
                depends |= coordinates(at, sizes);
            }
            if inst.is_fold() {
                depends &= (1 << along) - 1;
            }
            values.depends.push(depends);
        }
        values
    }

    /// The register type of a value.
    pub(super) fn reg(&self, val: Val) -> ScalarType {
        self.regs[val.0 as usize]
    }

    /// The form of a value.
    pub(super) fn repr(&self, val: Val) -> Repr {
        let reg = self.reg(val);
        if reg == ScalarType::I64 && within(self.ranges[val.0 as usize], I32_RANGE) {
            Repr::I32
        } else {
            Repr::of(reg)
        }
    }

    /// Which coordinates a value depends on.
    pub(super) fn depends(&self, val: Val) -> u64 {
        self.depends[val.0 as usize]
    }

    /// The values that `roots` need. With `through`, what a fold needs is included.
    pub(super) fn cone(&self, roots: impl IntoIterator<Item = Val>, through: bool) -> Vec<bool> {
        let mut wanted = vec![false; self.insts.len()];
        for root in roots {
            wanted[root.0 as usize] = true;
        }
        for i in (0..self.insts.len()).rev() {
            if wanted[i] && (through || !self.insts[i].is_fold()) {
                for val in self.insts[i].uses() {
                    wanted[val.0 as usize] = true;
                }
            }
        }
        wanted
    }

    /// How a fold combines and what it reduces, if the value is one.
    pub(super) fn fold(&self, val: Val) -> Option<(FoldOp, Val)> {
        match self.insts[val.0 as usize] {
            Inst::Fold { op, x } => Some((op, x)),
            _ => None,
        }
    }

    fn range_of(&self, inst: &Inst, reg: ScalarType, sizes: &[u64], folded: u64) -> Range {
        let of = |val: &Val| self.ranges[val.0 as usize];
        match inst {
            Inst::Const(Const::I32(x)) => (*x as i128, *x as i128),
            Inst::Const(Const::I64(x)) => (*x as i128, *x as i128),
            Inst::Index { at, .. } => {
                let ends = at.strides.iter().zip(sizes).map(|(&s, &n)| s as i128 * (n as i128 - 1).max(0));
                ends.fold((at.offset as i128, at.offset as i128), |(lo, hi), end| {
                    (lo + end.min(0), hi + end.max(0))
                })
            }
            Inst::Convert { x, .. } => match self.reg(*x) {
                ScalarType::Bool => (0, 1),
                ScalarType::F32 => full(reg),
                _ => of(x),
            },
            Inst::Bounded { size, .. } => (0, (*size as i128 - 1).max(0)),
            Inst::Fold { op: FoldOp::Max | FoldOp::Min, x } => of(x),
            Inst::Fold { op: FoldOp::Sum, x } => {
                (of(x).0.min(0) * folded as i128, of(x).1.max(0) * folded as i128)
            }
            Inst::Call { f, args } if reg != ScalarType::F32 && reg != ScalarType::Bool => {
                let args: Vec<Range> = args.iter().map(of).collect();
                call_range(*f, &args).unwrap_or(full(reg))
            }
            _ => full(reg),
        }
    }
}

/// The range of an integer function's value, if it is worth knowing.
fn call_range(f: ScalarFn, args: &[Range]) -> Option<Range> {
    let corners = |combine: fn(i128, i128) -> i128| {
        let [a, b] = [args[0], args[1]];
        let all = [combine(a.0, b.0), combine(a.0, b.1), combine(a.1, b.0), combine(a.1, b.1)];
        Some((*all.iter().min()?, *all.iter().max()?))
    };
    match f {
        ScalarFn::Add => corners(|a, b| a + b),
        ScalarFn::Sub => corners(|a, b| a - b),
        ScalarFn::Mul => corners(|a, b| a.saturating_mul(b)),
        ScalarFn::Maximum => corners(i128::max),
        ScalarFn::Minimum => corners(i128::min),
        ScalarFn::Neg => Some((-args[0].1, -args[0].0)),
        ScalarFn::Abs => Some((0, args[0].0.abs().max(args[0].1.abs()))),
        ScalarFn::Where => Some((args[1].0.min(args[2].0), args[1].1.max(args[2].1))),
        ScalarFn::Div => {
            let most = args[0].0.abs().max(args[0].1.abs());
            Some((-most, most))
        }
        ScalarFn::Mod => Some((args[1].0.min(0), args[1].1.max(0))),
        _ => None,
    }
}

/// Whether an instruction calls a long function of the library.
pub(super) fn is_heavy(inst: &Inst) -> bool {
    match inst {
        Inst::Call { f, .. } => f.cost() == Cost::Series,
        Inst::Bounded { .. } => true,
        Inst::Const(_)
        | Inst::Index { .. }
        | Inst::Load { .. }
        | Inst::Acc { .. }
        | Inst::Convert { .. }
        | Inst::RoundBf16 { .. }
        | Inst::Fold { .. } => false,
    }
}

/// Which coordinates change `at`: one bit each.
pub(super) fn coordinates(at: &Affine, sizes: &[u64]) -> u64 {
    let moves =
        at.strides.iter().zip(sizes).enumerate().filter(|(_, (stride, size))| **stride != 0 && **size > 1);
    moves.fold(0, |bits, (i, _)| bits | 1 << i)
}
