//! Four neighbours at a time: the last axis of a loop becomes fours, whose words are loaded and stored together.
//!
//! A driver on a CPU handles each word that an invocation reaches by itself, with checks around it, and each turn of
//! a loop costs it more than most arithmetic.

use super::body::Spell;
use super::header::{Header, Pack};
use super::text::Text;
use super::values::{Values, is_heavy};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Affine, Inst, Loop, Store};

/// Elements that an invocation takes together.
pub(super) const LANES: u64 = 4;

/// The loop over four neighbours is unrolled up to this cost: drivers take long to compile what is larger.
const UNROLLED: usize = 40;

/// About how many instructions a function of its own in the library has more than one that is not.
const HEAVY: usize = 8;

/// The loop with its last axis (of a row, if it has rows) in fours, which are a coordinate of their own behind it.
/// `None` if there is a rest.
pub(super) fn split(l: &Loop) -> Option<Loop> {
    let last = *l.along.last().or(l.dims.last())?;
    if !last.is_multiple_of(LANES) || last == 0 {
        return None;
    }
    let mut l = l.clone();
    let axes = if l.along.is_empty() { &mut l.dims } else { &mut l.along };
    axes.pop();
    axes.extend([last / LANES, LANES]);
    let split = |at: &mut Affine| {
        if let Some(stride) = at.strides.pop() {
            at.strides.extend([stride * LANES as i64, stride]);
        }
    };
    l.body.insts.iter_mut().filter_map(Inst::affine_mut).for_each(split);
    l.stores.iter_mut().for_each(|store| split(&mut store.access.at));
    Some(l)
}

/// Which accesses of a split loop reach four words together.
pub(super) struct Together {
    /// For each instruction, whether it is such a load.
    pub(super) loads: Vec<bool>,
    /// For each store.
    pub(super) stores: Vec<bool>,
}

impl Together {
    /// What can be reached together, and tells the header so. `inner` are the coordinates of the innermost loops, one
    /// bit each: what they change is not known where words are loaded.
    pub(super) fn new(
        l: &Loop,
        values: &Values<'_>,
        header: &mut Header<'_>,
        packs: &[Pack],
        inner: u64,
    ) -> Together {
        let lane = l.dims.len() + l.along.len() - 1;
        let known = |val| values.depends(val) & inner == 0;
        let mut reach = |access: &Access| {
            let arg = &header.kernel.args[access.arg as usize];
            let whole = |n: i64| n % LANES as i64 == 0;
            let fits = matches!(arg.dtype, DType::F32 | DType::I32)
                && access.at.strides[lane] == 1
                && whole(access.at.offset)
                && access.at.strides[..lane].iter().all(|&stride| whole(stride))
                && access.gathered.iter().all(|&(val, stride)| whole(stride) && known(val));
            fits && header.by_four(access.arg)
        };
        let loads = l
            .body
            .insts
            .iter()
            .map(|inst| inst.access().is_some_and(|access| inst.uses().all(known) && reach(access)));
        let loads = loads.collect();
        let stores = l.stores.iter().zip(packs);
        let stores = stores.map(|(store, pack)| *pack == Pack::Words && reach(&store.access)).collect();
        Together { loads, stores }
    }
}

/// The access of the first of four neighbours.
pub(super) fn first(access: &Access) -> Access {
    let mut first = access.clone();
    if let Some(lane) = first.at.strides.last_mut() {
        *lane = 0;
    }
    first
}

/// Opens the loop over four neighbours, `name`. Drivers unroll it if it is short.
pub(super) fn open(t: &mut Text, name: &str, l: &Loop) {
    let cost = l.body.insts.len() + HEAVY * l.body.insts.iter().filter(|inst| is_heavy(inst)).count();
    if cost <= UNROLLED {
        t.line(format!("for (var {name} = 0u; {name} < {LANES}u; {name}++) {{"));
    } else {
        super::code::open_count(t, name, LANES);
    }
}

/// Declares what stores gather of four neighbours.
pub(super) fn open_stores(t: &mut Text, header: &Header<'_>, stores: &[(usize, &Store)]) {
    for (i, store) in stores {
        t.line(format!("var stored{i}: vec4<{}>;", header.word_type(store.access.arg)));
    }
}

/// Writes what stores gathered.
pub(super) fn close_stores(t: &mut Text, header: &Header<'_>, spell: &Spell<'_>, stores: &[(usize, &Store)]) {
    for (i, store) in stores {
        let at = spell.element(&first(&store.access), None);
        t.line(header.write_four(store.access.arg, &at, &format!("stored{i}")));
    }
}
