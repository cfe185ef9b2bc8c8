//! What a call of a program costs, whatever runs it: floating-point operations, and bytes to and from memory.

use std::ops::AddAssign;
use sx_artifact::kernel::{Attention, Body, Contraction, Inst, Kernel, KernelKind, Loop};
use sx_artifact::program::{Program, Step};

/// Operations and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Scalar operations: a multiplication, an addition, a `tanh` count one each; moving, comparing with
    /// nothing and converting count none.
    pub flops: u64,
    /// Bytes that must be read and written at least once: the size of each argument of each launch.
    pub bytes: u64,
    /// How many launches and copies.
    pub launches: u64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.flops = self.flops.saturating_add(other.flops);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.launches = self.launches.saturating_add(other.launches);
    }
}

/// The cost of one call.
pub fn of(program: &Program) -> Cost {
    let mut total = Cost::default();
    add_steps(program, &program.steps, 1, &mut total);
    total
}

fn add_steps(program: &Program, steps: &[Step], times: u64, total: &mut Cost) {
    for step in steps {
        let once = match step {
            Step::Launch(launch) => of_kernel(&program.kernels[launch.kernel as usize]),
            Step::Copy { from, .. } => {
                Cost { flops: 0, bytes: 2 * program.resources[*from as usize].bytes(), launches: 1 }
            }
            Step::Loop { count, body } => {
                add_steps(program, body, times.saturating_mul(*count), total);
                continue;
            }
        };
        *total += Cost {
            flops: once.flops.saturating_mul(times),
            bytes: once.bytes.saturating_mul(times),
            launches: once.launches.saturating_mul(times),
        };
    }
}

/// The cost of one launch.
pub fn of_kernel(kernel: &Kernel) -> Cost {
    let flops = match &kernel.kind {
        KernelKind::Loop(it) => of_loop(it),
        KernelKind::Contraction(it) => of_contract(it),
        KernelKind::Attention(it) => of_attention(it),
    };
    let bytes = kernel.args.iter().map(|arg| arg.len.saturating_mul(arg.dtype.size() as u64));
    Cost { flops, bytes: bytes.fold(0, u64::saturating_add), launches: 1 }
}

fn points(lists: &[&[u64]]) -> u64 {
    lists.iter().flat_map(|list| list.iter()).fold(1, |product, &size| product.saturating_mul(size))
}

/// Operations of one pass over a body.
fn operations(body: &Body) -> u64 {
    let counts = |inst: &&Inst| matches!(inst, Inst::Call { .. } | Inst::Fold { .. });
    body.insts.iter().filter(counts).count() as u64
}

fn of_loop(it: &Loop) -> u64 {
    points(&[&it.dims, &it.along]).saturating_mul(operations(&it.body))
}

fn of_contract(it: &Contraction) -> u64 {
    let product = points(&[&it.batch, &it.m, &it.n, &it.k]).saturating_mul(2);
    let lhs = points(&[&it.batch, &it.m, &it.k]).saturating_mul(operations(&it.lhs.body));
    let rhs = points(&[&it.batch, &it.k, &it.n]).saturating_mul(operations(&it.rhs.body));
    let after = points(&[&it.batch, &it.m, &it.n]).saturating_mul(operations(&it.epilogue));
    product.saturating_add(lhs).saturating_add(rhs).saturating_add(after)
}

fn of_attention(it: &Attention) -> u64 {
    let pairs = points(&[&it.batch, &[it.t, it.s]]);
    // Two products, and for each score what is asked of it, a maximum, a difference, an exponential, a sum.
    let each = 2 * it.d + 2 * it.e + operations(&it.score.body) + 4;
    let after = points(&[&it.batch, &[it.t, it.e]]).saturating_mul(operations(&it.epilogue));
    pairs.saturating_mul(each).saturating_add(after)
}
