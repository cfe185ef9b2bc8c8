//! A folder with artifacts of programs written by hand, and `sxrun` in it.

use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;
use sx_artifact::code::Target;
use sx_artifact::dtype::DType;
use sx_artifact::manifest::Memory;
use sx_artifact::program::Program;
use sx_artifact::write::{Contents, Graph, NamedBytes, ParamValue};
use sx_files::artifact;
use tempfile::TempDir;

pub(crate) fn program(value: Value) -> Program {
    let program: Program = serde_json::from_value(value).expect("a program as JSON");
    program.validate().expect("a sound program");
    program
}

pub(crate) fn resource(name: &str, dtype: &str, shape: &[u64], role: &str) -> Value {
    json!({ "name": name, "dtype": dtype, "shape": shape, "role": role, "encoding": "plain" })
}

pub(crate) fn access(arg: u32, strides: &[i64]) -> Value {
    json!({ "arg": arg, "at": { "offset": 0, "strides": strides } })
}

pub(crate) fn load(arg: u32, strides: &[i64]) -> Value {
    json!({ "load": { "access": access(arg, strides) } })
}

pub(crate) fn launch(args: &[u32], sites: &[u32]) -> Value {
    let args: Vec<Value> = args.iter().map(|resource| json!({ "resource": resource })).collect();
    json!({ "launch": { "kernel": 0, "args": args, "sites": sites, "origins": [0] } })
}

pub(crate) fn origins() -> Value {
    json!([{ "operation": "index", "file": "pick.sx", "line": 3, "column": 5 }])
}

/// `out[i, j] = x[i, j] * w[j] + c`, where `x` is Unit.
pub(crate) fn scale() -> Program {
    let mut x = resource("x", "f32", &[2, 3], "input");
    x["domain"] = json!("Unit");
    x["check"] = json!({ "range": { "low": 0.0, "high": 1.0, "low_open": false, "high_open": false } });
    let arg = |len: u64, mode: &str| json!({ "dtype": "f32", "len": len, "mode": mode });
    program(json!({
        "graph": "scale",
        "resources": [x, resource("w", "f32", &[3], "param"), resource("c", "f32", &[], "constant"),
                      resource("out", "f32", &[2, 3], "output")],
        "kernels": [{ "name": "scale", "traps": 0,
            "args": [arg(6, "read"), arg(3, "read"), arg(1, "read"), arg(6, "write")],
            "kind": { "loop": { "dims": [2, 3], "along": [],
                "body": [load(0, &[3, 1]), load(1, &[0, 1]), load(2, &[0, 0]),
                         { "call": { "f": "mul", "args": [0, 1] } }, { "call": { "f": "add", "args": [3, 2] } }],
                "stores": [{ "value": 4, "access": access(3, &[3, 1]) }] } } }],
        "steps": [launch(&[0, 1, 2, 3], &[])],
        "slots": [], "sites": [], "origins": origins(),
    }))
}

/// `out[i] = w[ids[i]]`; what `ids` may be is found out while it runs.
pub(crate) fn pick() -> Program {
    program(json!({
        "graph": "pick",
        "resources": [resource("ids", "i64", &[2], "input"), resource("w", "f32", &[3], "param"),
                      resource("out", "f32", &[2], "output")],
        "kernels": [{ "name": "pick", "traps": 1,
            "args": [{ "dtype": "i64", "len": 2, "mode": "read" }, { "dtype": "f32", "len": 3, "mode": "read" },
                     { "dtype": "f32", "len": 2, "mode": "write" }],
            "kind": { "loop": { "dims": [2], "along": [],
                "body": [load(0, &[1]), { "bounded": { "x": 0, "size": 3, "trap": 0 } },
                         { "load": { "access": { "arg": 1, "at": { "offset": 0, "strides": [0] },
                                                 "gathered": [[1, 1]] } } }],
                "stores": [{ "value": 2, "access": access(2, &[1]) }] } } }],
        "steps": [launch(&[0, 1, 2], &[0])],
        "slots": [], "origins": origins(),
        "sites": [{ "operation": "index", "operand": "ids", "size": 3, "dims": [2],
                    "at": { "offset": 0, "strides": [1] }, "origin": 0 }],
    }))
}

/// `out = step * 10 + microbatch`.
pub(crate) fn count() -> Program {
    let arg = |mode: &str| json!({ "dtype": "i32", "len": 1, "mode": mode });
    program(json!({
        "graph": "count",
        "resources": [resource("step", "i32", &[], "context"), resource("microbatch", "i32", &[], "context"),
                      resource("out", "i32", &[], "output")],
        "kernels": [{ "name": "count", "traps": 0, "args": [arg("read"), arg("read"), arg("write")],
            "kind": { "loop": { "dims": [], "along": [],
                "body": [load(0, &[]), load(1, &[]), { "const": { "i32": 10 } },
                         { "call": { "f": "mul", "args": [0, 2] } }, { "call": { "f": "add", "args": [3, 1] } }],
                "stores": [{ "value": 4, "access": access(2, &[]) }] } } }],
        "steps": [launch(&[0, 1, 2], &[])],
        "slots": [], "sites": [], "origins": origins(),
    }))
}

/// A folder with `model.sxa` (three graphs), `scale.sxa` (one) and `apart.sxa` with its weights outside.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"));
        let programs = [scale(), pick(), count()];
        let one = contents(&programs[..1]);
        artifact::write(&folder.path("model.sxa"), &contents(&programs)).expect("there is room");
        artifact::write(&folder.path("scale.sxa"), &one).expect("there is room");
        artifact::write_with_weights(&folder.path("apart.sxa"), &one).expect("there is room");
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Exit status, stdout and stderr of `sxrun` in this folder.
    pub(crate) fn sxrun(&self, args: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_sxrun")).args(args).current_dir(self.0.path()).output();
        let output = output.expect("sxrun starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code().expect("an exit status"), text(output.stdout), text(output.stderr))
    }
}

pub(crate) fn contents(programs: &[Program]) -> Contents<'_> {
    let w: Vec<u8> = [1.0f32, 2.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let memory = |program: &Program| vec![Memory { target: Target::Cpu, bytes: program.buffer_bytes() }];
    Contents {
        compiler: "sxc 0.1.0".to_owned(),
        targets: vec![Target::Cpu],
        graphs: programs.iter().map(|program| Graph { program, memory: memory(program) }).collect(),
        params: vec![ParamValue {
            name: "w".to_owned(),
            dtype: DType::F32,
            shape: vec![3],
            bytes: Cow::Owned(w),
        }],
        constants: vec![NamedBytes {
            name: "c".to_owned(),
            bytes: Cow::Owned(0.5f32.to_le_bytes().to_vec()),
        }],
        entries: Vec::new(),
    }
}
