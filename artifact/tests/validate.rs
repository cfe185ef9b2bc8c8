//! A sound program, changed in one place at a time: each change is refused, with the place and the reason.

#[allow(dead_code, reason = "each test crate uses its own part of it")]
mod common;

use common::{access, load, program, resource};
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{
    Access, Affine, Arg, Body, Const, Contraction, FoldOp, Inst, Kernel, KernelKind, Loop, Mode, Operand,
    ScalarType, Store, Val,
};
use sx_artifact::program::{Check, Launch, Program, Role, Step};
use sx_artifact::scalar::ScalarFn;

type Change = fn(&mut Program);

/// The loop of the first kernel.
fn first(program: &mut Program) -> &mut Loop {
    match &mut program.kernels[0].kind {
        KernelKind::Loop(it) => it,
        _ => panic!("the sample is made of loops"),
    }
}

fn launch(program: &mut Program, number: usize) -> &mut Launch {
    match &mut program.steps[number] {
        Step::Launch(launch) => launch,
        _ => panic!("the sample is made of launches"),
    }
}

/// `out[i] = in[i - 2]` where `guard(i, bound)` holds, over 8 coordinates and 6 elements.
fn guarded(f: ScalarFn, bound: i64) -> Kernel {
    let index = Inst::Index { at: Affine { offset: 0, strides: vec![1] }, reg: ScalarType::I64 };
    let at = Affine { offset: -2, strides: vec![1] };
    let insts = vec![
        index,
        Inst::Const(Const::I64(bound)),
        Inst::Call { f, args: vec![Val(0), Val(1)] },
        Inst::Load { access: Access { arg: 0, at, gathered: vec![] }, guard: Some(Val(2)) },
    ];
    let arg = |len, mode| Arg { dtype: DType::F32, len, mode };
    Kernel {
        name: "guarded".to_owned(),
        args: vec![arg(6, Mode::Read), arg(8, Mode::Write)],
        traps: 0,
        kind: KernelKind::Loop(Loop {
            dims: vec![8],
            along: vec![],
            body: Body { insts },
            stores: vec![Store { value: Val(3), access: access(1, &[1]) }],
        }),
    }
}

/// `out[m, n] = sum over k of a[m, k] * b[k, n]` with this type of the left operand.
fn contract(left: Inst) -> Kernel {
    let operand = |insts: Vec<Inst>, value| Operand { body: Body { insts }, value: Val(value) };
    let arg = |len, mode| Arg { dtype: DType::F32, len, mode };
    Kernel {
        name: "product".to_owned(),
        args: vec![arg(6, Mode::Read), arg(12, Mode::Read), arg(8, Mode::Write)],
        traps: 0,
        kind: KernelKind::Contraction(Contraction {
            batch: vec![],
            m: vec![2],
            n: vec![4],
            k: vec![3],
            lhs: operand(vec![left], 0),
            rhs: operand(vec![load(1, &[4, 1])], 0),
            epilogue: Body { insts: vec![Inst::Acc { reg: ScalarType::F32 }] },
            stores: vec![Store { value: Val(0), access: access(2, &[4, 1]) }],
        }),
    }
}

/// `out[i] = sum of x[i, ..]`, from which folds are tried.
fn folding(insts: Vec<Inst>, value: u32, strides: &[i64]) -> Kernel {
    let arg = |len, mode| Arg { dtype: DType::F32, len, mode };
    Kernel {
        name: "sum".to_owned(),
        args: vec![arg(6, Mode::Read), arg(6, Mode::Write)],
        traps: 0,
        kind: KernelKind::Loop(Loop {
            dims: vec![2],
            along: vec![3],
            body: Body { insts },
            stores: vec![Store { value: Val(value), access: access(1, strides) }],
        }),
    }
}

/// A load whose guard always holds and whose strides, multiplied into the guard's, once wrapped to what looked like
/// one element: it read far outside of its buffer.
fn wrapping() -> Kernel {
    let dims = vec![2u64, 1, 2, 2, 2, 2];
    let index = |offset, axis: usize| {
        let strides = (0..dims.len()).map(|i| i64::from(i == axis)).collect();
        Inst::Index { at: Affine { offset, strides }, reg: ScalarType::I64 }
    };
    let far = 1i64 << 62;
    let at = Affine { offset: 0, strides: vec![0, i64::MIN, far + 1, far + 3, far - 2, far - 2] };
    let insts = vec![
        index(i64::MAX, 1),
        Inst::Const(Const::I64(i64::MAX)),
        Inst::Call { f: ScalarFn::Le, args: vec![Val(0), Val(1)] },
        Inst::Load { access: Access { arg: 0, at, gathered: vec![] }, guard: Some(Val(2)) },
    ];
    let arg = |len, mode| Arg { dtype: DType::F32, len, mode };
    let stores = vec![Store { value: Val(3), access: access(1, &[16, 0, 8, 4, 2, 1]) }];
    Kernel {
        name: "wrapping".to_owned(),
        args: vec![arg(6, Mode::Read), arg(32, Mode::Write)],
        traps: 0,
        kind: KernelKind::Loop(Loop { dims, along: vec![], body: Body { insts }, stores }),
    }
}

#[test]
fn sound_programs_pass() {
    program("main").validate().expect("the sample is sound");
    let sum = Inst::Fold { op: FoldOp::Sum, x: Val(0) };
    let kernels = [
        guarded(ScalarFn::Ge, 2),
        guarded(ScalarFn::Gt, 1),
        contract(load(0, &[3, 1])),
        folding(vec![load(0, &[3, 1]), sum.clone()], 1, &[1, 0]),
        folding(vec![load(0, &[3, 1]), sum], 1, &[3, 1]),
    ];
    for kernel in kernels {
        let mut program = program("main");
        program.kernels.push(kernel);
        program.validate().expect("a sound kernel");
    }
}

#[test]
fn unsound_programs_are_refused() {
    let cases: &[(&str, Change)] = &[
        ("kernel `scale`, instruction 0: it reaches elements 0 to 6", |p| first(p).dims[1] = 4),
        ("kernel `scale`, instruction 0: it has 1 strides for 2", |p| first(p).body.insts[0] = load(0, &[1])),
        ("instruction 0: there is no argument 9", |p| first(p).body.insts[0] = load(9, &[3, 1])),
        ("instruction 0: argument 2 is only written", |p| first(p).body.insts[0] = load(2, &[3, 1])),
        ("instruction 0: it uses value 0 before", |p| first(p).body.insts[0] = Inst::RoundBf16 { x: Val(0) }),
        ("there is no accumulator", |p| first(p).body.insts[0] = Inst::Acc { reg: ScalarType::F32 }),
        ("nothing to fold", |p| first(p).body.insts[1] = Inst::Fold { op: FoldOp::Sum, x: Val(0) }),
        ("`*` takes 2 arguments and is given 1", |p| {
            first(p).body.insts[2] = Inst::Call { f: ScalarFn::Mul, args: vec![Val(0)] };
        }),
        ("`and` does not take [F32, F32]", |p| {
            first(p).body.insts[2] = Inst::Call { f: ScalarFn::And, args: vec![Val(0), Val(1)] };
        }),
        ("store 0: two points write one element", |p| first(p).stores[0].access.at.strides = vec![2, 1]),
        ("store 0: it reaches elements 1 to 6", |p| first(p).stores[0].access.at.offset = 1),
        ("store 0: argument 0 is only read", |p| first(p).stores[0].access.arg = 0),
        ("it writes nothing", |p| first(p).stores.clear()),
        ("store 1: it writes where an earlier one does", |p| {
            let again = first(p).stores[0].clone();
            first(p).stores.push(again);
        }),
        ("without having been bounded", |p| {
            let gathered = vec![(Val(0), 1)];
            first(p).body.insts[1] =
                Inst::Load { access: Access { gathered, ..access(1, &[0, 0]) }, guard: None };
        }),
        ("only an integer can be bounded", |p| {
            first(p).body.insts[1] = Inst::Bounded { x: Val(0), size: 3, trap: None };
        }),
        ("kernel `sum`: it visits more points than any machine", |p| {
            let sum = Inst::Fold { op: FoldOp::Sum, x: Val(0) };
            p.kernels[0] = folding(vec![Inst::Const(Const::F32(0)), sum], 1, &[1, 0]);
            first(p).along = vec![1 << 60];
        }),
        ("kernel `scale`: its name is not its own", |p| p.kernels[1].name = "scale".to_owned()),
        ("follows one that is written", |p| p.kernels[0].args[0].mode = Mode::Write),
        ("the index does not fit I32", |p| {
            let at = Affine { offset: i32::MAX.into(), strides: vec![1, 1] };
            first(p).body.insts[0] = Inst::Index { at, reg: ScalarType::I32 };
        }),
        ("kernel `guarded`, instruction 3: it reaches elements -2 to 5", |p| {
            p.kernels.push(guarded(ScalarFn::Ge, 0));
        }),
        ("kernel `guarded`, instruction 3: it reaches elements -1 to 5", |p| {
            p.kernels.push(guarded(ScalarFn::Gt, 0));
        }),
        ("kernel `product`: it cannot multiply I64 by F32", |p| {
            p.kernels.push(contract(Inst::Const(Const::I64(1))));
        }),
        ("kernel `product`, left operand, instruction 0: it reaches elements 0 to 7", |p| {
            p.kernels.push(contract(load(0, &[5, 1])));
        }),
        ("kernel `sum`, store 0: a value per element is written once a row", |p| {
            p.kernels.push(folding(vec![load(0, &[3, 1])], 0, &[1, 0]));
        }),
        ("kernel `sum`, instruction 1: All does not fold F32", |p| {
            let all = Inst::Fold { op: FoldOp::All, x: Val(0) };
            p.kernels.push(folding(vec![load(0, &[3, 1]), all], 1, &[1, 0]));
        }),
        ("kernel `wrapping`, instruction 0: its offset and strides reach 2^62 or further", |p| {
            p.kernels.push(wrapping());
        }),
        ("kernel `wrapping`, instruction 3: its offset and strides reach 2^62 or further", |p| {
            p.kernels.push(wrapping());
            let KernelKind::Loop(it) = &mut p.kernels[2].kind else { panic!("a loop") };
            let Inst::Index { at, .. } = &mut it.body.insts[0] else { panic!("an index") };
            at.offset = 0;
        }),
        ("instruction 2: its offset and strides reach 2^62 or further", |p| {
            let index = Inst::Const(Const::I64(0));
            let bounded = Inst::Bounded { x: Val(0), size: u64::MAX, trap: None };
            let gathered = Access { gathered: vec![(Val(1), i64::MAX)], ..access(0, &[0, 0]) };
            first(p).body.insts = vec![index, bounded, Inst::Load { access: gathered, guard: None }];
        }),
        ("kernel `sum`: it visits more points than any machine", |p| {
            let sum = Inst::Fold { op: FoldOp::Sum, x: Val(0) };
            p.kernels[0] = folding(vec![Inst::Const(Const::F32(0)), sum], 1, &[1, 0]);
            first(p).dims = vec![1 << 63];
            first(p).along = vec![0];
        }),
        ("step 2: the program takes more steps than any machine", |p| {
            p.steps.push(Step::Loop { count: 1 << 63, body: vec![] });
        }),
        ("step 2: a loop of steps runs 0 times", |p| p.steps.push(Step::Loop { count: 0, body: vec![] })),
        ("step 0: there is no kernel 7", |p| launch(p, 0).kernel = 7),
        ("step 0: there is no resource 99", |p| launch(p, 0).args[0].resource = 99),
        ("step 0: there is no origin 5", |p| launch(p, 0).origins = vec![5]),
        ("does not give as many buffers", |p| _ = launch(p, 0).args.pop()),
        ("argument 1 does not fit `c0`", |p| launch(p, 0).args[1].resource = 2),
        ("`t` is written and bound to another argument", |p| launch(p, 0).args[0].resource = 3),
        ("step 0: `t` is read before it is written", |p| p.steps.swap(0, 1)),
        ("`x` cannot be written", |p| launch(p, 1).args[2].resource = 0),
        ("resource `out`: this output is never written", |p| drop(p.steps.pop())),
        ("slot 0: 22 bytes are not whole", |p| p.slots[0] = 22),
        ("resource `t`: it does not fit its role", |p| p.slots[0] = 20),
        ("resource `t`: there is no slot 3", |p| p.resources[3].role = Role::Scratch { slot: 3 }),
        ("resource `x`: it is larger than any memory", |p| p.resources[0].shape = vec![1 << 40, 1 << 40]),
        ("another of its role has the same name", |p| {
            let twice = p.resources[0].clone();
            p.resources.push(twice);
        }),
        ("resource `t2`: it does not fit its role", |p| {
            p.resources.push(resource("t2", Role::Context, &[2]))
        }),
        ("cannot be asked of its values", |p| p.resources[0].check = Some(Check::Index { size: 3 })),
        ("`x` cannot be copied to `c0`", |p| p.steps.push(Step::Copy { from: 0, to: 2 })),
        ("loops nest deeper", |p| {
            for _ in 0..6 {
                p.steps = vec![Step::Loop { count: 2, body: std::mem::take(&mut p.steps) }];
            }
        }),
        ("more steps than any machine", |p| {
            p.steps = vec![Step::Loop { count: u64::MAX, body: std::mem::take(&mut p.steps) }];
        }),
        // `t` is overwritten by `u`, which shares its slot, before the second launch reads it.
        ("step 2: `t` is read before it is written", |p| {
            p.resources.push(resource("u", Role::Scratch { slot: 0 }, &[2, 3]));
            let mut other = launch(p, 0).clone();
            other.args[2].resource = 5;
            p.steps.insert(1, Step::Launch(other));
        }),
    ];
    for (part, change) in cases {
        let mut changed = program("main");
        change(&mut changed);
        let message = changed.validate().expect_err(part).to_string();
        assert!(message.contains(part), "{part}: {message}");
    }
}
