//! A small artifact with one of everything.

use std::borrow::Cow;
use sx_artifact::code::Target;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::{Access, Affine, Arg, Body, Inst, Kernel, KernelKind, Loop, Mode, Store, Val};
use sx_artifact::manifest::Memory;
use sx_artifact::program::{Binding, Check, Encoding, Launch, Origin, Program, Resource, Role, Step};
use sx_artifact::scalar::ScalarFn;
use sx_artifact::write::{Contents, Graph, NamedBytes, ParamValue};

pub(crate) fn access(arg: u32, strides: &[i64]) -> Access {
    Access { arg, at: Affine { offset: 0, strides: strides.to_vec() }, gathered: vec![] }
}

pub(crate) fn load(arg: u32, strides: &[i64]) -> Inst {
    Inst::Load { access: access(arg, strides), guard: None }
}

pub(crate) fn resource(name: &str, role: Role, shape: &[u64]) -> Resource {
    Resource {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: shape.to_vec(),
        role,
        encoding: Encoding::Plain,
        domain: String::new(),
        check: None,
    }
}

/// `out[i, j] = x[i, j] * w[j] + c[0]`, through an intermediate.
pub(crate) fn program(graph: &str) -> Program {
    let arg = |len, mode| Arg { dtype: DType::F32, len, mode };
    let kernel = |name: &str, f, second: Inst, len| Kernel {
        name: name.to_owned(),
        args: vec![arg(6, Mode::Read), arg(len, Mode::Read), arg(6, Mode::Write)],
        traps: 0,
        kind: KernelKind::Loop(Loop {
            dims: vec![2, 3],
            along: vec![],
            body: Body {
                insts: vec![load(0, &[3, 1]), second, Inst::Call { f, args: vec![Val(0), Val(1)] }],
            },
            stores: vec![Store { value: Val(2), access: access(2, &[3, 1]) }],
        }),
    };
    let mut x = resource("x", Role::Input, &[2, 3]);
    x.domain = "Unit".to_owned();
    x.check = Some(Check::Range { low: Some(0.1 + 0.2), high: Some(1.0), low_open: false, high_open: false });
    let launch = |kernel, args: [u32; 3]| {
        let args = args.into_iter().map(|resource| Binding { resource }).collect();
        Step::Launch(Launch { kernel, args, sites: vec![], origins: vec![0] })
    };
    Program {
        graph: graph.to_owned(),
        resources: vec![
            x,
            resource("layer.0.weight", Role::Param, &[3]),
            resource("c0", Role::Constant, &[]),
            resource("t", Role::Scratch { slot: 0 }, &[2, 3]),
            resource("out", Role::Output, &[2, 3]),
        ],
        kernels: vec![
            kernel("scale", ScalarFn::Mul, load(1, &[0, 1]), 3),
            kernel("shift", ScalarFn::Add, load(1, &[0, 0]), 1),
        ],
        steps: vec![launch(0, [0, 1, 3]), launch(1, [3, 2, 4])],
        slots: vec![24],
        sites: vec![],
        origins: vec![Origin { operation: "*".to_owned(), file: "a.sx".to_owned(), line: 3, column: 5 }],
    }
}

pub(crate) fn contents<'a>(programs: &'a [Program], weight: &'a [u8]) -> Contents<'a> {
    let named =
        |name: &str, bytes: &'static [u8]| NamedBytes { name: name.to_owned(), bytes: Cow::Borrowed(bytes) };
    let memory = || vec![Memory { target: Target::Cpu, bytes: 96 }];
    Contents {
        compiler: "sxc 0.1.0".to_owned(),
        targets: vec![Target::Cpu, Target::Wgpu],
        graphs: programs.iter().map(|program| Graph { program, memory: memory() }).collect(),
        params: vec![ParamValue {
            name: "layer.0.weight".to_owned(),
            dtype: DType::F32,
            shape: vec![weight.len() as u64 / 4],
            bytes: Cow::Borrowed(weight),
        }],
        constants: vec![named("c0", &[0, 0, 128, 63])],
        entries: vec![
            named("kernels/wgsl/main/scale.wgsl", b"fn scale() {}\n"),
            named("kernels/spirv/main/scale.spv", &[3, 2, 35, 7, 0, 1]),
            named("programs/main.wgpu.json", b"{}"),
        ],
    }
}
