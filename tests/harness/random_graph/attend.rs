//! Attention in programs: written out, and as the library's function; masks and biases from every source.

use super::feature::Feature;
use super::maker::Maker;
use super::site::Site;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;
use sx_compiler::ir::{Op, Value, op};

/// The sizes of an attention.
struct Sizes {
    batch: Vec<u64>,
    t: u64,
    s: u64,
    d: u64,
    e: u64,
    /// Whether they end at or beyond a block of a target, so that a mask that leaves out blocks is tried.
    blocks: bool,
}

impl Sizes {
    fn of(&self, rows: u64, columns: u64) -> Vec<u64> {
        [&self.batch[..], &[rows, columns]].concat()
    }
}

impl Maker {
    fn attention_sizes(&mut self, feature: Feature, batch: usize) -> Sizes {
        let mut sizes: Vec<u64> = (0..batch + 4).map(|_| self.size().min(8)).collect();
        let (wanted, choices) = match feature {
            Feature::SizeOne => (Some(1), batch + 4),
            // What is left when a row of scores is not empty.
            Feature::SizeZero => (Some(0), batch + 4),
            Feature::Prime => (Some(self.pick(&[5, 7, 11])), batch + 4),
            _ => (None, 0),
        };
        let blocks = wanted.is_none() && self.once_in(12);
        if let Some(size) = wanted {
            let at = self.random.below(choices);
            sizes[at] = size;
        } else if blocks {
            // Beyond a block of keys and of queries, of one target or of all.
            let long = [
                (256, 640),
                (256, 640),
                (129, 513),
                (20, 600),
                (3, 1030),
                (17, 33),
                (9, 65),
                (33, 70),
                (65, 65),
            ];
            (sizes[batch], sizes[batch + 1]) = self.pick(&long);
            sizes[batch + 2..].iter_mut().for_each(|size| *size = (*size).min(3));
            sizes[..batch].iter_mut().for_each(|size| *size = (*size).min(2));
        }
        let [batch @ .., t, s, d, e] = &sizes[..] else { unreachable!("four sizes at least") };
        Sizes { batch: batch.to_vec(), t: *t, s: (*s).max(1), d: *d, e: *e, blocks }
    }

    /// `softmax(q k) v`, written out.
    pub(super) fn attention_site(&mut self, site: Site) -> Value {
        let leading = self.random.below(3);
        let sizes = self.attention_sizes(site.feature, leading);
        let features = self.features(site.feature, 4);
        let q = self.operand(DType::F32, &sizes.of(sizes.t, sizes.d), features[0], self.depth);
        let twice = site.feature == Feature::ReadTwice && sizes.t == sizes.s;
        let k = if twice {
            self.turned(q)
        } else if self.once_in(3) {
            self.operand(DType::F32, &sizes.of(sizes.d, sizes.s), features[1], self.depth)
        } else {
            let k = self.operand(DType::F32, &sizes.of(sizes.s, sizes.d), features[1], self.depth);
            self.turned(k)
        };
        let v = if site.feature == Feature::ReadTwice && sizes.d == sizes.e {
            self.turned(k)
        } else {
            self.operand(DType::F32, &sizes.of(sizes.s, sizes.e), features[2], self.depth)
        };
        let dots = self.matmul(q, k);
        let scores = self.scores(dots, &sizes, features[3]);
        let seen = self.once_in(2);
        let axis = leading + 1;
        let weights = self.softmax(scores, axis, seen);
        let result = self.matmul(weights, v);
        self.beside_attention(&sizes, [dots, scores, weights]);
        result
    }

    /// Other uses of what an attention computes on its way.
    fn beside_attention(&mut self, sizes: &Sizes, [dots, scores, weights]: [Value; 3]) {
        let again = match self.random.below(7) {
            // A second attention over the same scores.
            0 => {
                let w = self.operand(DType::F32, &sizes.of(sizes.s, sizes.e), None, self.depth);
                let weights = self.softmax(scores, sizes.batch.len() + 1, false);
                self.matmul(weights, w)
            }
            // A second one over the same products, with a mask of its own.
            1 => {
                let w = self.operand(DType::F32, &sizes.of(sizes.s, sizes.d), None, self.depth);
                let scores = self.scores(dots, sizes, None);
                let weights = self.softmax(scores, sizes.batch.len() + 1, true);
                self.matmul(weights, w)
            }
            2 => weights,
            3 => scores,
            _ => return,
        };
        self.pool.push(again);
    }

    /// The scores: products scaled, biased, masked, in any order.
    fn scores(&mut self, dots: Value, sizes: &Sizes, wanted: Option<Feature>) -> Value {
        let shape = sizes.of(sizes.t, sizes.s);
        let mut scores = dots;
        if !self.once_in(4) {
            let scale = self.filled(DType::F32, &shape, 0.25);
            scores = self.map(ScalarFn::Mul, &[scores, scale]);
        }
        if wanted.is_some() || self.once_in(2) {
            let bias = self.operand(DType::F32, &shape, wanted, self.depth);
            let f = self.pick(&[ScalarFn::Add, ScalarFn::Sub, ScalarFn::Maximum]);
            scores = self.map(f, &[scores, bias]);
        }
        if sizes.blocks || self.once_in(2) {
            let mask = if sizes.blocks || self.once_in(2) {
                self.causal(sizes)
            } else {
                self.operand(DType::Bool, &shape, None, self.depth)
            };
            let least = sizes.blocks || !self.once_in(3);
            let hidden = if least { f64::NEG_INFINITY } else { -30.0 };
            let hidden = self.filled(DType::F32, &shape, hidden);
            let turned = !sizes.blocks && self.once_in(4);
            let args = if turned { [mask, hidden, scores] } else { [mask, scores, hidden] };
            scores = self.map(ScalarFn::Where, &args);
        }
        if self.once_in(6) {
            scores = self.function(scores);
        }
        scores
    }

    /// Whether a key is at most some places after the query, or before it.
    fn causal(&mut self, sizes: &Sizes) -> Value {
        let shape = sizes.of(sizes.t, sizes.s);
        let rank = shape.len();
        let iota = |maker: &mut Maker, axis| {
            let dims = shape.iter().map(|&n| sx_compiler::ir::Dim::of(n)).collect();
            maker.node(Op::Iota(op::Iota { dims, axis, dtype: DType::I32 }), &[])
        };
        let (rows, columns) = (iota(self, rank - 2), iota(self, rank - 1));
        let ahead = sizes.s as f64 - sizes.t as f64;
        let (by, f) = if sizes.blocks {
            (self.pick(&[ahead, ahead + 1.0]), ScalarFn::Le)
        } else {
            let by = self.pick(&[-1.0, 0.0, 1.0, ahead, ahead, ahead + 1.0]);
            (by, self.pick(&[ScalarFn::Le, ScalarFn::Le, ScalarFn::Lt, ScalarFn::Gt]))
        };
        let by = self.filled(DType::I32, &shape, by);
        let rows = self.map(ScalarFn::Add, &[rows, by]);
        self.map(f, &[columns, rows])
    }

    /// The library's function, with grouped heads, masks, biases.
    pub(super) fn library_attention_site(&mut self, site: Site) -> Value {
        let sizes = self.attention_sizes(site.feature, 2);
        let (heads, kept) = (sizes.batch[1].max(1), if self.once_in(2) { 1 } else { sizes.batch[1].max(1) });
        let batch = sizes.batch[0];
        let features = self.features(site.feature, 4);
        let of = |heads, rows, columns| vec![batch, heads, rows, columns];
        let q = self.operand(DType::F32, &of(heads, sizes.t, sizes.d), features[0], self.depth);
        let same = site.feature == Feature::ReadTwice && heads == kept && sizes.t == sizes.s;
        let k = if same {
            q
        } else {
            self.operand(DType::F32, &of(kept, sizes.s, sizes.d), features[1], self.depth)
        };
        let v = if site.feature == Feature::ReadTwice && sizes.d == sizes.e {
            k
        } else {
            self.operand(DType::F32, &of(kept, sizes.s, sizes.e), features[2], self.depth)
        };
        let (mut names, mut args) = (vec!["q", "k", "v"], vec![q, k, v]);
        let mut body = "(attention q k v".to_owned();
        if sizes.d == 0 {
            body += " :scale 1.0";
        }
        if 0 < sizes.t && sizes.t <= sizes.s && self.once_in(3) {
            body += " :causal true";
        }
        if features[3].is_some() || self.once_in(2) {
            let shape = self.score_shape(batch, heads, &sizes);
            args.push(self.operand(DType::F32, &shape, features[3], self.depth));
            names.push("bias");
            body += " :bias bias";
        }
        if self.once_in(2) {
            let shape = self.score_shape(batch, heads, &sizes);
            args.push(self.operand(DType::Bool, &shape, None, self.depth));
            names.push("mask");
            body += " :mask mask";
        }
        let result = self.library(&names, &format!("{body})"), &args);
        if self.once_in(4) {
            // Another attention with the same mask and bias, over other values.
            args[2] = self.operand(DType::F32, &of(kept, sizes.s, sizes.e), None, self.depth);
            let other = self.library(&names, &format!("{body})"), &args);
            self.pool.push(other);
        }
        result
    }

    /// The shape of a mask or bias: that of the scores, with some axes of size 1 or none.
    fn score_shape(&mut self, batch: u64, heads: u64, sizes: &Sizes) -> Vec<u64> {
        match self.random.below(4) {
            0 => vec![sizes.t, sizes.s],
            1 => vec![batch, 1, 1, sizes.s],
            2 => vec![heads, sizes.t, sizes.s],
            _ => vec![batch, heads, sizes.t, sizes.s],
        }
    }
}
