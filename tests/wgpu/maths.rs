//! The maths library on every device: its bounds over millions of arguments, and its special values.

use super::cases::{self, Case, Close, tensor};
use super::program;
use sx_artifact::dtype::DType;
use sx_artifact::scalar::ScalarFn;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::codegen::wgsl::generate;
use sx_runtime::device::cpu::Cpu;
use sx_runtime::device::{Context, Device, Prepare};
use sx_tests::compiled::Memory;
use sx_tests::devices;
use sx_tests::maths::special::{self, SPECIAL};
use sx_tests::maths::{Sample, Worst, functions, meaning};

/// What a function is given: the special arguments first, then the sample; and what it should give.
struct Trial {
    f: ScalarFn,
    args: Vec<(f32, f32)>,
    want: Vec<f64>,
}

impl Trial {
    fn of(f: ScalarFn) -> Trial {
        let special = specials(f).map(|&(_, x, y, _)| (x, y));
        let sample = Sample::QUICK;
        let args: Vec<(f32, f32)> = special.chain((0..sample.len(f)).map(|at| sample.at(f, at))).collect();
        let want = |&(x, y): &(f32, f32)| meaning(f, x.into(), y.into());
        Trial { f, want: args.iter().map(want).collect(), args }
    }

    /// A kernel that computes all of it.
    fn case(&self) -> Case {
        let (x, y): (Vec<f32>, Vec<f32>) = self.args.iter().copied().unzip();
        let inputs = if self.f.arity() == 2 { vec![tensor(x), tensor(y)] } else { vec![tensor(x)] };
        cases::table(self.f.name(), inputs, &[self.f], DType::F32, Close::Ulps(0.0))
    }

    /// What a device gave that it may not give. It may take a subnormal argument for zero if it `flushes`.
    fn complaints(&self, device: &str, flushes: bool, got: &Tensor) -> Vec<String> {
        let Data::F32(got) = got.data() else { return vec![format!("{}: no floats", self.f.name())] };
        let special =
            specials(self.f).zip(got).filter_map(|(&special, &got)| special::complaint(special, got));
        let mut wrong: Vec<String> = special.collect();
        let mut worst = Worst::default();
        for ((&(x, y), &got), &want) in self.args.iter().zip(got).zip(&self.want) {
            if !(flushes && (x.is_subnormal() || y.is_subnormal())) {
                worst.see((x, y), got, want);
            }
        }
        println!("{device}: {} {:.2} ulp over {}", self.f.name(), worst.ulps, self.args.len());
        wrong.extend(worst.complaint(self.f));
        wrong.into_iter().map(|wrong| format!("{device}: {wrong}")).collect()
    }
}

fn specials(f: ScalarFn) -> impl Iterator<Item = &'static (ScalarFn, f32, f32, f32)> {
    SPECIAL.iter().filter(move |special| special.0 == f)
}

#[test]
fn functions_keep_their_bounds_on_every_device() {
    let trials: Vec<Trial> = functions().map(Trial::of).collect();
    let cases: Vec<Case> = trials.iter().map(Trial::case).collect();
    let program = program(&cases);
    let files = Memory(generate(&program).unwrap().files);
    let inputs: Vec<&Tensor> = cases.iter().flat_map(|case| &case.inputs).collect();
    let mut wrong = vec![];
    let mut run = |device: &dyn Device, name: &str, flushes: bool| {
        let mut ready = device.prepare(Prepare { program: &program, contents: &files }).unwrap();
        let outputs = ready.call(&inputs, Context::default(), Vec::new()).unwrap();
        for (trial, output) in trials.iter().zip(&outputs) {
            wrong.extend(trial.complaints(name, flushes, output));
        }
    };
    run(&Cpu, "cpu", false);
    // Given WGSL, a driver may put floating-point code in another order.
    for (wgsl, how) in [(false, ""), (true, " given WGSL")] {
        for device in devices::wgpu_as(wgsl, None) {
            run(&device, &format!("{}{how}", device.name()), true);
        }
    }
    sx_tests::assert_none(&wrong);
}
