//! The maths library's bounds on this machine.
//!
//! `SX_SCAN=1 cargo test --release --workspace --test system maths:: -- --nocapture` goes through every argument that
//! matters, which takes minutes, and prints what the table in `docs/numerics.md` says.

#![allow(clippy::print_stdout, reason = "a scan is run for what it prints")]

use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::{Graph, Marks, Type, Value};
use sx_compiler::ops::Builder;
use sx_runtime::device::cpu::Cpu;
use sx_tests::maths::special::{self, SPECIAL};
use sx_tests::maths::{Sample, Worst, functions, meaning};
use sx_tests::{compiled, sample};

/// How many arguments the device is given at once.
const BATCH: u64 = 1 << 20;

/// The function of each argument, or each pair, as the CPU computes it.
fn computed(f: ScalarFn, args: &[(f32, f32)]) -> Vec<f32> {
    let mut graph = Graph::new("maths");
    let origin = sample::nowhere(&mut graph);
    let mut b = Builder::at(&mut graph, origin, Marks::default());
    let shape = [args.len() as u64];
    let names = &["x", "y"][..f.arity()];
    let inputs: Vec<Value> =
        names.iter().map(|name| sample::input(&mut b, name, Type::plain(DType::F32, &shape))).collect();
    let result = b.map(f, &inputs).expect("it takes floats");
    sample::output(&mut graph, "out", result);
    let (x, y): (Vec<f32>, Vec<f32>) = args.iter().copied().unzip();
    let tensors = [x, y].map(|values| Tensor::new(&shape, values.into()));
    let outputs = compiled::on_device(&Cpu, &graph, &tensors[..f.arity()]).expect("the CPU runs it");
    let Data::F32(values) = outputs[0].data() else { panic!("{} gives floats", f.name()) };
    values.to_vec()
}

/// The largest distance over a sample.
fn worst(f: ScalarFn, sample: Sample) -> Worst {
    let mut worst = Worst::default();
    for start in (0..sample.len(f)).step_by(BATCH as usize) {
        let places = start..(start + BATCH).min(sample.len(f));
        let args: Vec<(f32, f32)> = places.map(|at| sample.at(f, at)).collect();
        for (&(x, y), got) in args.iter().zip(computed(f, &args)) {
            worst.see((x, y), got, meaning(f, f64::from(x), f64::from(y)));
        }
    }
    worst
}

#[test]
fn functions_keep_their_bounds() {
    let full = std::env::var_os("SX_SCAN").is_some();
    let sample = if full { Sample::FULL } else { Sample::QUICK };
    let mut wrong = vec![];
    for f in functions() {
        let worst = worst(f, sample);
        println!("{}: {:.2} ulp over {} at {:e}", f.name(), worst.ulps, sample.len(f), worst.at.0);
        wrong.extend(worst.complaint(f));
    }
    sx_tests::assert_none(&wrong);
}

#[test]
fn special_values_are_the_promised_ones() {
    let of = |&special: &(ScalarFn, f32, f32, f32)| {
        special::complaint(special, computed(special.0, &[(special.1, special.2)])[0])
    };
    let wrong: Vec<String> = SPECIAL.iter().filter_map(of).collect();
    sx_tests::assert_none(&wrong);
}

#[test]
fn the_meaning_of_erf_is_right() {
    // From mpmath with 40 digits.
    let known = [
        (1e-8, 1.128_379_167_095_512_6e-08),
        (0.25, 0.276_326_390_168_236_96),
        (0.9, 0.796_908_212_422_832_2),
        (1.5, 0.966_105_146_475_310_8),
        (2.75, 0.999_899_378_077_880_3),
        (2.999, 0.999_977_769_831_400_2),
        (3.001, 0.999_978_048_339_082_2),
        (3.9, 0.999_999_965_207_751_4),
        (5.0, 0.999_999_999_998_462_6),
    ];
    for (x, want) in known {
        let got = meaning(ScalarFn::Erf, x, 0.0);
        assert!((got - want).abs() <= 1e-12 * want, "erf {x}: {got}");
    }
}
