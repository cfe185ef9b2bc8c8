//! Tensors in files and on the command line, against files that NumPy made (`vectors/make.py`).

use half::bf16;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;
use sx_artifact::check;
use sx_artifact::dtype::DType;
use sx_artifact::program::Check;
use sx_artifact::tensor::{Data, Tensor};
use sx_files::tensors::{self, Rounding, Value, Want};

#[derive(Deserialize)]
struct Case {
    file: String,
    key: Option<String>,
    dtype: DType,
    round: bool,
    shape: Vec<u64>,
    values: Option<Vec<i64>>,
    error: Option<String>,
}

fn want<'a>(dtype: DType, shape: &'a [u64], check: Option<&'a Check>) -> Want<'a> {
    Want { name: "input", dtype, shape, check }
}

/// Floats as the bits of f32, everything else as integers.
fn bits(tensor: &Tensor) -> Vec<i64> {
    match tensor.data() {
        Data::F32(values) => values.iter().map(|x| i64::from(x.to_bits())).collect(),
        Data::Bf16(values) => values.iter().map(|x| i64::from(x.to_f32().to_bits())).collect(),
        Data::I32(values) => values.iter().map(|&x| i64::from(x)).collect(),
        Data::I64(values) => values.clone(),
        Data::Bool(values) => values.iter().map(|&x| i64::from(x)).collect(),
    }
}

#[test]
fn files_that_numpy_made() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("the expectations are committed");
    let cases: Vec<Case> = serde_json::from_str(&text).expect("a list of cases");
    assert!(cases.len() > 50);
    for case in cases {
        let file = folder.join(&case.file).display().to_string();
        let text = case.key.iter().fold(format!("@{file}"), |text, key| format!("{text}:{key}"));
        let rounding = if case.round { Rounding::Round } else { Rounding::Refuse };
        let value = Value::parse(&text).expect("a file");
        let found = value.load(&want(case.dtype, &case.shape, None), rounding);
        match (found, case.values, case.error) {
            (Ok(tensor), Some(values), None) => assert_eq!(bits(&tensor), values, "{text} as {}", case.dtype),
            (Err(error), None, Some(part)) => {
                assert!(error.to_string().contains(&part), "{text} as {}: {error}", case.dtype);
            }
            (found, _, _) => panic!("{text} as {}: {found:?}", case.dtype),
        }
    }
}

#[test]
fn values_on_the_command_line() {
    let parse = |text: &str, dtype, shape: &[u64]| {
        let value = Value::parse(text).map_err(|error| error.to_string())?;
        value.load(&want(dtype, shape, None), Rounding::Refuse).map_err(|error| error.to_string())
    };
    let floats = |shape: &[u64], values: &[f32]| Tensor::new(shape, Data::F32(values.to_vec()));
    let good: [(&str, DType, &[u64], Tensor); 8] = [
        ("0.5", DType::F32, &[], floats(&[], &[0.5])),
        ("-3", DType::I64, &[], Tensor::new(&[], Data::I64(vec![-3]))),
        ("true", DType::Bool, &[], Tensor::new(&[], Data::Bool(vec![true]))),
        ("2x3:f32=1 2 3 4 5 6", DType::F32, &[2, 3], floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ("2=inf, -1e-3", DType::F32, &[2], floats(&[2], &[f32::INFINITY, -1e-3])),
        ("0x3:f32=", DType::F32, &[0, 3], floats(&[0, 3], &[])),
        ("2:i32=1 2", DType::I64, &[2], Tensor::new(&[2], Data::I64(vec![1, 2]))),
        (
            "2:bf16=1 0.1",
            DType::Bf16,
            &[2],
            Tensor::new(&[2], Data::Bf16(vec![bf16::ONE, bf16::from_f32(0.1)])),
        ),
    ];
    for (text, dtype, shape, tensor) in good {
        assert_eq!(parse(text, dtype, shape), Ok(tensor), "{text}");
    }
    let bad: [(&str, DType, &[u64], &str); 9] = [
        ("2x3:f32=1 2 3", DType::F32, &[2, 3], "the shape [2, 3] does not have 3 elements"),
        ("3:f32=1 2 3", DType::F32, &[2, 3], "input `input` takes the shape [2, 3] and is given [3]"),
        ("2:f33=1 2", DType::F32, &[2], "there is no dtype `f33`"),
        ("2:f32=1 x", DType::F32, &[2], "`x` is not a number"),
        ("2:i32=1 2", DType::F32, &[2], "takes f32 and is given i32"),
        ("1.5", DType::I32, &[], "is 1.5; it must be a whole number that fits i32"),
        ("3000000000", DType::I32, &[], "is 3000000000"),
        ("randomly", DType::F32, &[], "`random:SEED`"),
        ("@no such file.npy", DType::F32, &[], "cannot read `no such file.npy`: there is no such file"),
    ];
    for (text, dtype, shape, part) in bad {
        let message = parse(text, dtype, shape).expect_err(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}

/// What an f32 literal is to a bf16 input an f32 file is too: exact, or rounded where that is allowed.
#[test]
fn literals_are_rounded_where_it_is_allowed() {
    let load = |text: &str, dtype, rounding| {
        let value = Value::parse(text).expect("a literal");
        value.load(&want(dtype, &[2], None), rounding).map_err(|error| error.to_string())
    };
    let bf16s = |values: [f32; 2]| Tensor::new(&[2], Data::Bf16(values.map(bf16::from_f32).to_vec()));
    assert_eq!(load("2:f32=1 0.5", DType::Bf16, Rounding::Refuse), Ok(bf16s([1.0, 0.5])));
    assert_eq!(load("2:f32=1 0.1", DType::Bf16, Rounding::Round), Ok(bf16s([1.0, 0.1])));
    let message = load("2:f32=1 0.1", DType::Bf16, Rounding::Refuse).expect_err("0.1 is no bf16");
    assert!(message.contains("has 0.1 at [1]") && message.contains("`--round-inputs`"), "{message}");
    let widened = Tensor::new(&[2], Data::F32(vec![1.0, bf16::from_f32(0.1).to_f32()]));
    assert_eq!(load("2:bf16=1 0.1", DType::F32, Rounding::Refuse), Ok(widened));
    let message = load("2:i64=1 3000000000", DType::I32, Rounding::Round).expect_err("that is no i32");
    assert!(message.contains("has 3000000000 at [1]"), "{message}");
}

#[test]
fn domains_are_checked_and_random_values_lie_in_them() {
    let range = |low: Option<f64>, high: Option<f64>, open| Check::Range {
        low,
        high,
        low_open: open,
        high_open: open,
    };
    let nan = f32::NAN;
    // Values inside, values outside, and the words for what is inside.
    let cases: [(Check, &[f32], &[f32], &str); 7] = [
        (range(Some(0.0), Some(1.0), false), &[0.0, 1.0, 0.5], &[-0.1, 1.1, nan, f32::INFINITY], "in [0, 1]"),
        (range(Some(0.0), Some(1.0), true), &[0.5], &[0.0, 1.0], "in (0, 1)"),
        (range(Some(0.05), Some(10.0), false), &[0.05, 10.0], &[0.04], "in [0.05, 10]"),
        (range(Some(0.0), None, true), &[1e30, f32::INFINITY], &[0.0, -1.0], "in (0, inf)"),
        (Check::Binary, &[0.0, 1.0], &[0.5, nan], "0 or 1"),
        (Check::Additive, &[0.0, f32::NEG_INFINITY], &[-1.0], "0 or -inf"),
        (Check::Prob { over: 0 }, &[1.0], &[0.5, -1.0], "sum to 1 along axis 0"),
    ];
    for (check, inside, outside, words) in cases {
        let ask = |x: f32| {
            let wanted = want(DType::F32, &[1], Some(&check));
            check::demand(&wanted, &Tensor::new(&[1], Data::F32(vec![x])))
        };
        inside.iter().for_each(|&x| assert!(ask(x).is_ok(), "{x} {check:?}"));
        for &x in outside {
            let message = ask(x).expect_err("outside").to_string();
            assert!(message.contains(words), "{message}");
        }
        for dtype in [DType::F32, DType::Bf16] {
            for seed in 0..20 {
                let wanted = want(dtype, &[3, 5], Some(&check));
                let tensor = Value::Random { seed }.load(&wanted, Rounding::Refuse).expect("always there");
                check::demand(&wanted, &tensor).expect("random values lie in the domain");
            }
        }
    }
    let index = Check::Index { size: 10 };
    let wanted = want(DType::I64, &[2, 2], Some(&index));
    let ids = Tensor::new(&[2, 2], Data::I64(vec![0, 9, 10, -1]));
    let message = check::demand(&wanted, &ids).expect_err("10 is outside").to_string();
    assert_eq!(message, "has 10 at [1, 0]; every element must be an index from 0 to 9");
    let tensor = Value::Random { seed: 3 }.load(&wanted, Rounding::Refuse).expect("always there");
    check::demand(&wanted, &tensor).expect("random values lie in the domain");
}

/// What is written is read again, and NumPy reads it too where it is installed.
#[test]
fn written_files_are_read_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let f32 = Tensor::new(&[2, 2], Data::F32(vec![0.1, f32::NAN, -0.0, f32::INFINITY]));
    let bf16 = Tensor::new(&[3], Data::Bf16([0.5, 1.0078125, -2.0].map(bf16::from_f32).to_vec()));
    let i64 = Tensor::new(&[], Data::I64(vec![i64::MIN]));
    let i32 = Tensor::new(&[0, 2], Data::I32(vec![]));
    let bool = Tensor::new(&[1, 1], Data::Bool(vec![true]));
    let all = [("a", &f32), ("b.c", &bf16), ("d", &i64), ("e", &i32), ("f", &bool)];
    let read = |path: &Path, key: &str, like: &Tensor| {
        let value = Value::File { path: path.to_owned(), key: Some(key.to_owned()) };
        let tensor = value.load(&want(like.dtype(), like.shape(), None), Rounding::Refuse);
        assert_eq!(tensor.expect("it was just written"), *like, "{key} of {}", path.display());
    };
    for file in ["out.npz", "out.safetensors"] {
        let path = folder.path().join(file);
        tensors::save(&path, &all).expect("there is room");
        all.iter().for_each(|(key, tensor)| read(&path, key, tensor));
    }
    let path = folder.path().join("out.npy");
    tensors::save(&path, &all[..1]).expect("there is room");
    let value = Value::parse(&format!("@{}", path.display())).expect("a file");
    assert_eq!(value.load(&want(DType::F32, &[2, 2], None), Rounding::Refuse).expect("just written"), f32);
    assert!(tensors::save(&path, &all).is_err());
    assert!(tensors::save(&folder.path().join("out.txt"), &all).is_err());

    let script = "import sys, numpy; z = numpy.load(sys.argv[1]); \
                  assert z['a'].shape == (2, 2) and z['b.c'].dtype == 'f4' and z['b.c'][1] == 1.0078125; \
                  assert z['d'] == -2**63 and z['e'].shape == (0, 2) and z['f'].dtype == bool and z['f'].all()";
    let numpy = |script: &str| {
        Command::new("python3").args(["-c", script]).arg(folder.path().join("out.npz")).output()
    };
    match numpy("import numpy") {
        Ok(output) if output.status.success() => {
            let output = numpy(script).expect("python3 is there");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        _ => eprintln!("skipped: NumPy is not installed"),
    }
}

/// What NumPy would not write is refused, not read by halves.
#[test]
fn files_that_are_not_whole_and_single_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(path(name), bytes).expect("there is room");
    let read = |name: &str| std::fs::read(path(name)).expect("it was written");
    let tensor = Tensor::new(&[2], Data::F32(vec![1.0, 2.0]));
    tensors::save(&path("one.npy"), &[("a", &tensor)]).expect("there is room");
    tensors::save(&path("two.npz"), &[("a", &tensor), ("b", &tensor)]).expect("there is room");

    write("more.npy", &[&read("one.npy")[..], b"more"].concat());
    // Both the entry's own header and the directory name `b.npy`: both now say `a.npy`.
    let two = read("two.npz");
    let replaced = |from: &[u8], to: &[u8]| {
        let mut bytes = two.clone();
        while let Some(at) = bytes.windows(from.len()).rposition(|part| part == from) {
            bytes[at..at + from.len()].copy_from_slice(to);
        }
        bytes
    };
    write("twice.npz", &replaced(b"b.npy", b"a.npy"));
    let mut changed = two.clone();
    let at = changed.windows(4).rposition(|four| four == 2.0f32.to_le_bytes()).expect("an element");
    changed[at] ^= 1;
    write("changed.npz", &changed);

    let cases = [
        ("@more.npy", "its header says [2] of `<f4` and 12 bytes follow"),
        ("@twice.npz:a", "two of its tensors have the same name; save it again"),
        ("@changed.npz:b", "`b` cannot be unpacked"),
    ];
    for (text, part) in cases {
        let file = text.replace('@', &format!("@{}/", folder.path().display()));
        let value = Value::parse(&file).expect("a file");
        let error = value.load(&want(DType::F32, &[2], None), Rounding::Refuse).expect_err(text);
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
    assert!(tensors::names(&path("twice.npz")).is_err());
}
