//! Sessions side by side: each answers as it does alone, whichever thread calls it and whatever the others do.

use std::sync::Mutex;
use sx_runtime::device::{Device, cpu::Cpu};
use sx_runtime::{Model, Session, Tensor};
use sx_tests::{devices, program};

/// Kernels of every kind, large enough to be shared among threads, and one call that is refused.
const PROGRAM: &str = "
(import sx/nn)
(defgraph rows ((x [300 257]) (w [257 130]) (i [40] :i64))
  (let ((h (softmax (matmul (rms-norm x (sum w :axes [1])) w) :axis -1)))
    (index (* h (exp h)) i)))
(defgraph attend ((q [2 3 70 16]) (k [2 3 90 16]) (v [2 3 90 24])) (attention q k v))
(defgraph total ((x [1000003])) (sum (* x x)))";

struct KernelKind {
    graph: &'static str,
    inputs: Vec<(String, Tensor)>,
    answer: Vec<u8>,
}

fn work(model: &Model, graph: &'static str, device: &dyn Device) -> KernelKind {
    let mut session = Session::new(model, graph, device).expect("it is ready");
    let ports = session.inputs().to_vec();
    let value = |name: &str, shape: &[u64]| {
        let count = shape.iter().product::<u64>() as i64;
        let data = match name {
            "i" => (0..count).collect::<Vec<i64>>().into(),
            _ => (0..count).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect::<Vec<f32>>().into(),
        };
        Tensor::new(shape, data)
    };
    let inputs = ports.iter().map(|port| (port.name.clone(), value(&port.name, &port.shape)));
    let inputs: Vec<(String, Tensor)> = inputs.collect();
    let answer = run(&mut session, &inputs).expect("all indices are inside");
    KernelKind { graph, inputs, answer }
}

/// The bytes of the only output.
fn run(session: &mut Session, inputs: &[(String, Tensor)]) -> Result<Vec<u8>, sx_runtime::Error> {
    let inputs: Vec<(&str, Tensor)> = inputs.iter().map(|(name, x)| (name.as_str(), x.clone())).collect();
    let outputs = session.run(&inputs)?;
    Ok(outputs.iter().next().expect("an output").1.bytes().to_vec())
}

fn here() -> Vec<Box<dyn Device>> {
    let wgpu = devices::wgpu().into_iter().map(|device| Box::new(device) as Box<dyn Device>);
    std::iter::once(Box::new(Cpu) as Box<dyn Device>).chain(wgpu).collect()
}

#[test]
fn sessions_on_threads_of_their_own_answer_as_they_do_alone() {
    let model = program::model("sessions.sx", PROGRAM);
    for device in here() {
        let works = ["rows", "attend", "total"].map(|graph| work(&model, graph, &*device));
        let calls = if device.name() == "cpu" { 30 } else { 3 };
        std::thread::scope(|scope| {
            for work in works.iter().chain(&works) {
                let (model, device) = (&model, &*device);
                scope.spawn(move || {
                    let mut session = Session::new(model, work.graph, device).expect("it is ready");
                    for _ in 0..calls {
                        let answer = run(&mut session, &work.inputs).expect("all indices are inside");
                        assert!(answer == work.answer, "{} on {}", work.graph, device.name());
                    }
                });
            }
        });
    }
}

/// Names are escaped where they name entries of the artifact.
#[test]
fn graphs_of_any_name_run() {
    for name in ["naïve", "グラフ", "..", "a/../b", "step!", "%2E", "*"] {
        let model = program::model("names.sx", &format!("(defgraph {name} ((x [2])) (+ x x))"));
        for device in here() {
            let mut session = Session::new(&model, name, &*device).expect("it is ready");
            let outputs =
                session.run(&[("x", Tensor::new(&[2], vec![1.0f32, 2.5].into()))]).expect("it runs");
            let doubled = Tensor::new(&[2], vec![2.0f32, 5.0].into());
            assert_eq!(outputs.iter().next().map(|(_, y)| y), Some(&doubled), "{name}");
        }
    }
}

/// Calls come from one thread after another, some are refused, and those after them are right.
#[test]
fn a_session_goes_from_thread_to_thread_and_on_after_a_refusal() {
    let model = program::model("sessions.sx", PROGRAM);
    for device in here() {
        let work = work(&model, "rows", &*device);
        let session = Mutex::new(Session::new(&model, "rows", &*device).expect("it is ready"));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        let mut wrong = work.inputs.clone();
                        wrong[2].1 = Tensor::new(&[40], vec![300i64; 40].into());
                        let mut session = session.lock().expect("no call panics");
                        let refused = run(&mut session, &wrong).expect_err("row 300 is outside").to_string();
                        assert!(refused.contains("outside its axis of size 300"), "{refused}");
                        let answer = run(&mut session, &work.inputs).expect("all indices are inside");
                        assert!(answer == work.answer, "{}", device.name());
                    }
                });
            }
        });
    }
}
