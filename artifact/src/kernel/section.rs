//! The sections of a kernel: each body with the coordinates it runs over. The one place that knows their order.

use super::{Arg, Attention, Body, Contraction, Kernel, KernelKind, Loop, Operand, ScalarType, Store, Val};

/// A body of a kernel and where it stands.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    /// What messages call it: `left operand`, `epilogue`, …; empty where the kernel has only one.
    pub name: &'static str,
    /// The sizes of its coordinates.
    pub sizes: Vec<u64>,
    /// How many of them, at the end, are reduced by folds.
    pub along: usize,
    /// The code.
    pub body: &'a Body,
    /// The type of the accumulator that it may read, if there is one.
    pub acc: Option<ScalarType>,
    /// What it gives to the rest of the kernel: an operand's value.
    pub result: Option<Val>,
    /// What it writes.
    pub stores: &'a [Store],
}

impl Section<'_> {
    /// How many of its coordinates are not reduced.
    pub fn rows(&self) -> usize {
        self.sizes.len() - self.along
    }

    /// The values that are asked of it: its result, and what it stores.
    pub fn roots(&self) -> impl Iterator<Item = Val> + '_ {
        self.result.into_iter().chain(self.stores.iter().map(|store| store.value))
    }
}

impl Kernel {
    /// Its sections, in the order in which they run.
    pub fn sections(&self) -> Vec<Section<'_>> {
        match &self.kind {
            KernelKind::Loop(it) => vec![it.section()],
            KernelKind::Contraction(it) => it.sections(&self.args).to_vec(),
            KernelKind::Attention(it) => it.sections().to_vec(),
        }
    }
}

impl KernelKind {
    /// Its bodies, in the order of [`Kernel::sections`], to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            KernelKind::Loop(it) => vec![&mut it.body],
            KernelKind::Contraction(it) => vec![&mut it.lhs.body, &mut it.rhs.body, &mut it.epilogue],
            KernelKind::Attention(it) => vec![
                &mut it.query.body,
                &mut it.key.body,
                &mut it.value.body,
                &mut it.score.body,
                &mut it.epilogue,
            ],
        }
    }

    /// What it writes.
    pub fn stores(&self) -> &[Store] {
        match self {
            KernelKind::Loop(it) => &it.stores,
            KernelKind::Contraction(it) => &it.stores,
            KernelKind::Attention(it) => &it.stores,
        }
    }

    /// What it writes, to be changed.
    pub fn stores_mut(&mut self) -> &mut Vec<Store> {
        match self {
            KernelKind::Loop(it) => &mut it.stores,
            KernelKind::Contraction(it) => &mut it.stores,
            KernelKind::Attention(it) => &mut it.stores,
        }
    }
}

impl Loop {
    /// Rows, then the reduced coordinates.
    pub fn section(&self) -> Section<'_> {
        Section {
            name: "",
            sizes: [&self.dims[..], &self.along].concat(),
            along: self.along.len(),
            body: &self.body,
            acc: None,
            result: None,
            stores: &self.stores,
        }
    }
}

impl Operand {
    /// The type of its value, or `None` where its body names what is not there.
    pub fn ty(&self, args: &[Arg]) -> Option<ScalarType> {
        self.body.checked_types(args)?.get(self.value.0 as usize).copied()
    }

    fn section(&self, name: &'static str, sizes: Vec<u64>, acc: Option<ScalarType>) -> Section<'_> {
        Section { name, sizes, along: 0, body: &self.body, acc, result: Some(self.value), stores: &[] }
    }
}

impl Contraction {
    /// The type of the accumulator: that of both operands.
    pub fn acc(&self, args: &[Arg]) -> Option<ScalarType> {
        self.lhs.ty(args)
    }

    /// The left operand over batch, m, k; the right one over batch, k, n; the epilogue over batch, m, n.
    pub fn sections(&self, args: &[Arg]) -> [Section<'_>; 3] {
        let sizes = |inner: [&[u64]; 2]| [&self.batch, inner[0], inner[1]].concat();
        let epilogue = Section {
            name: "epilogue",
            sizes: sizes([&self.m, &self.n]),
            along: 0,
            body: &self.epilogue,
            acc: self.acc(args),
            result: None,
            stores: &self.stores,
        };
        [
            self.lhs.section("left operand", sizes([&self.m, &self.k]), None),
            self.rhs.section("right operand", sizes([&self.k, &self.n]), None),
            epilogue,
        ]
    }
}

impl Attention {
    /// The query over batch, t, d; the key over batch, s, d; the value over batch, s, e; the score over batch, t, s;
    /// the epilogue over batch, t, e.
    pub fn sections(&self) -> [Section<'_>; 5] {
        let sizes = |inner: [u64; 2]| [&self.batch[..], &inner].concat();
        let epilogue = Section {
            name: "epilogue",
            sizes: sizes([self.t, self.e]),
            along: 0,
            body: &self.epilogue,
            acc: Some(ScalarType::F32),
            result: None,
            stores: &self.stores,
        };
        [
            self.query.section("query", sizes([self.t, self.d]), None),
            self.key.section("key", sizes([self.s, self.d]), None),
            self.value.section("value", sizes([self.s, self.e]), None),
            self.score.section("score", sizes([self.t, self.s]), Some(ScalarType::F32)),
            epilogue,
        ]
    }
}
