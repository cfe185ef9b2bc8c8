//! Fusion changes no value, and a function over rows is one launch, however long they are.

use sx_artifact::program::Step;
use sx_artifact::tensor::{Data, Tensor};
use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;
use sx_tests::close::same_within_rounding;
use sx_tests::{compiled, devices, program};

/// However many operands it has, a kernel reads no more buffers than every device has.
#[test]
fn a_concatenation_of_many_reads_few_buffers_at_a_time() {
    const PARTS: usize = 150;
    let given: String = (0..PARTS).map(|i| format!("(x{i} [{} 2])", i % 3)).collect();
    let names: Vec<String> = (0..PARTS).map(|i| format!("x{i}")).collect();
    let views: Vec<String> = (0..PARTS).map(|i| format!("(* 2 (slice x8 0 {} 2))", i % 2)).collect();
    for body in [&names, &views] {
        let graph = program::graph(&given, &format!("(concat 0 [{}])", body.join(" ")));
        let inputs = program::values(&graph, 3);
        let program = compiled::planned(&graph).expect("a valid program").program;
        let most = program.kernels.iter().map(|kernel| kernel.args.len()).max();
        assert!(most <= Some(7), "{most:?} buffers");
        let want = sx_tests::reference(&graph, &inputs).expect("nothing traps");
        for device in devices::wgpu().iter().map(|device| device as &dyn Device).chain([&Cpu as &dyn Device])
        {
            let got = compiled::on_device(device, &graph, &inputs);
            assert_eq!(got.as_ref(), Ok(&want), "{}", device.name());
        }
    }
}

/// Grouping looks at what a choice changes, not at the whole graph again: each of these took minutes.
#[test]
fn long_graphs_are_grouped_in_good_time() {
    let bodies = ["(softmax (* y y) :axis (mod i 2))", "(relu (matmul y x))", "(- y (sum y :axes [0]))"];
    for body in bodies {
        let body = format!("(let ((y x)) (dotimes (i 400) (set! y {body})) y)");
        let graph = program::graph("(x [8 8])", &body);
        let start = std::time::Instant::now();
        compiled::planned(&graph).expect("a valid program");
        assert!(start.elapsed().as_secs() < 60, "{body} takes {:?}", start.elapsed());
    }
}

/// Functions of rows `x`, with one `id` for each and one `scale` and `shift` for each column.
const ROWS: [&str; 8] = [
    "(softmax x)",
    "(log-softmax x)",
    "(cross-entropy x ids :reduce :none)",
    "(layer-norm x scale shift)",
    "(rms-norm x scale)",
    "(layer-norm (+ x x) nil)",
    "(norm x :axes [-1])",
    "(std x :axes [-1])",
];

fn launches(graph: &sx_compiler::ir::Graph) -> usize {
    let program = compiled::planned(graph).expect("a valid program").program;
    program.steps.iter().filter(|step| matches!(step, Step::Launch(_))).count()
}

/// What is reduced over the rows afterwards comes from one launch as well.
#[test]
fn a_sum_over_rows_is_one_launch_more() {
    for body in ROWS.iter().chain(&["(logsumexp x :axes [-1])", "(var x :axes [-1])"]) {
        let given = "(x [30 100]) (ids [30] :i32) (scale [100]) (shift [100])";
        let graph = program::graph(given, &format!("(mean {body})"));
        assert!(launches(&graph) <= 2, "{} launches of the mean of {body}", launches(&graph));
    }
}

/// How many rows, and their length: as long as they get in one launch, and a prime number of elements.
const SIZES: [(u64, u64); 3] = [(1, 65_536), (3, 65_521), (33, 65_536)];

#[test]
fn a_function_over_long_rows_is_one_launch_and_right_on_every_device() {
    let found = devices::wgpu();
    let devices: Vec<&dyn Device> =
        found.iter().map(|device| device as &dyn Device).chain([&Cpu as &dyn Device]).collect();
    for (rows, length) in SIZES {
        for body in ROWS {
            let given =
                format!("(x [{rows} {length}]) (ids [{rows}] :i32) (scale [{length}]) (shift [{length}])");
            let graph = program::graph(&given, body);
            let inputs = program::values(&graph, length as usize);
            assert_eq!(launches(&graph), 1, "launches of {body} over {rows} rows of {length}");
            let want = sx_tests::reference(&graph, &inputs).expect("nothing traps").remove(0);
            for device in &devices {
                let got = compiled::on_device(*device, &graph, &inputs);
                let got = got.unwrap_or_else(|error| panic!("{}: {body}: {error}", device.name()));
                if let Some(far) = farthest(&want, &got[0]) {
                    panic!("{body} over {rows} rows of {length} on {}: {far}", device.name());
                }
            }
        }
    }
}

/// An element that is farther than the rounding of a sum over its row and of the functions allows.
fn farthest(want: &Tensor, got: &Tensor) -> Option<String> {
    let (Data::F32(want), Data::F32(got)) = (want.data(), got.data()) else {
        return Some("no floats".to_owned());
    };
    let largest = want.iter().fold(0f32, |most, x| most.max(x.abs()));
    let near = |x: f32, y: f32| (x - y).abs() <= 1e-5 * x.abs() + 1e-6 * largest;
    let at = want.iter().zip(got).position(|(&x, &y)| !near(x, y))?;
    Some(format!("{} at {at}, not {}", got[at], want[at]))
}

/// Bodies over `x`, `y`, `q`, `k` and `v`: long chains that use an input again and again, and operands without elements.
const EXTREMES: [(&str, &str); 7] = [
    ("(x [4])", "(let ((y x)) (dotimes (i 150) (set! y (+ (sin y) x))) y)"),
    ("(x [4])", "(let ((y x)) (dotimes (i 450) (set! y (+ y x))) y)"),
    ("(x [4])", "(let ((y x)) (dotimes (i 250) (set! y (* 0.5 (+ (reshape y [2 2]) (reshape x [2 2]))))) y)"),
    ("(x [2 0]) (y [0 3])", "(matmul (exp x) y)"),
    ("(x [2 0]) (y [0 3])", "(+ (matmul (cos x) (exp y)) (sum (sin x) :axes [1] :keepdims true))"),
    (
        "(x [2 0]) (y [0 3]) (z [3 3])",
        "(matmul (tanh (matmul (concat 1 [(exp x) (sin x)]) (concat 0 [y (cos y)]))) (exp z))",
    ),
    ("(q [1 2 3 0]) (k [1 2 6 0]) (v [1 2 6 5])", "(attention (exp q) (sin k) (cos v))"),
];

#[test]
fn long_chains_and_operands_without_elements_have_valid_programs() {
    for (given, body) in EXTREMES {
        let graph = program::graph(given, body);
        let inputs = program::values(&graph, 1);
        let want = sx_tests::reference(&graph, &inputs).expect("nothing traps");
        for device in devices::wgpu().iter().map(|device| device as &dyn Device).chain([&Cpu as &dyn Device])
        {
            let got = compiled::on_device(device, &graph, &inputs);
            let got = got.unwrap_or_else(|error| panic!("{}: {body}: {error}", device.name()));
            let same = same_within_rounding(&want[0], &got[0]);
            assert!(same, "{body} on {}: {got:?}, not {want:?}", device.name());
        }
    }
}

/// Attentions whose rows and widths are several stored axes, or one stored axis read several times; scores that others
/// read, too; masks that hide every key, biases from everywhere.
const LAYOUTS: [(&str, &str); 13] = [
    (
        "(q [1 1 1 2]) (k [2 2 2]) (v [2 2 2])",
        "(let ((rows (lambda (x) (reshape (transpose x [2 0 1]) [1 1 4 2])))) (attention q (rows k) (rows v)))",
    ),
    (
        "(q [1 1 1 2]) (k [2 2]) (v [2 2])",
        "(let ((twice (lambda (x) (reshape (broadcast-to (reshape x [2 1 2]) [2 2 2]) [1 1 4 2])))) \
         (attention q (twice k) (twice v)))",
    ),
    (
        "(x [1 4 2 3])",
        "(let ((places (reshape (transpose x [0 2 3 1]) [1 1 6 4]))) (attention places places places))",
    ),
    ("(q [1 1 2 4]) (k [1 1 3 4]) (v [2 3 3])", "(attention q k (reshape (transpose v [1 2 0]) [1 1 3 6]))"),
    (
        "(q [2 3 2]) (k [3 2 2]) (v [1 1 3 2])",
        "(attention (reshape (transpose q [1 0 2]) [1 1 3 4]) (reshape (transpose k [0 2 1]) [1 1 3 4]) v)",
    ),
    ("(q [1 2 9 4]) (k [1 2 9 4]) (v [1 2 9 3])", "(attention q k v :mask (< (iota [9 9] :axis 0) 4))"),
    (
        "(q [1 2 9 4]) (k [1 2 9 4]) (v [1 2 9 3])",
        "(attention q k v :causal true :mask (> (iota [9 9] :axis 1) 2))",
    ),
    ("(q [1 2 3 4]) (k [1 2 0 4]) (v [1 2 0 3])", "(attention (exp q) k v)"),
    (
        "(q [1 1 2 2]) (k [1 1 2 2]) (v [1 1 2 2]) (b [3]) (i [2 2] :i32)",
        "(attention q k v :bias (index b i))",
    ),
    (
        "(q [1 4 2 2]) (k [1 2 3 2]) (v [1 2 3 2]) (b [4 1 3])",
        "(attention q k v :bias (* b b) :mask (> b 0))",
    ),
    (
        "(q [1 1 2 2]) (k [1 1 2 2]) (v [1 1 2 2]) (w [1 1 2 2])",
        "(+ (attention q k v) (* (attention q k w :causal true) (matmul q (transpose k [0 1 3 2]))))",
    ),
    (
        "(q [1 1 3 2]) (k [1 1 3 2]) (v [1 1 3 3])",
        "(let ((w (softmax (matmul q (transpose k [0 1 3 2]))))) (+ (matmul w v) w))",
    ),
    ("(x [2 0])", "(concat 0 [(reshape (softmax x) [0 1]) (ones [1 1])])"),
];

#[test]
fn attention_reads_rows_and_widths_in_any_layout() {
    for (given, body) in LAYOUTS {
        let graph = program::graph(given, body);
        let inputs = program::values(&graph, 1);
        let want = sx_tests::reference(&graph, &inputs).expect("nothing traps").remove(0);
        let found = devices::wgpu();
        let devices = found.iter().map(|device| device as &dyn Device).chain([&Cpu as &dyn Device]);
        let ways = devices.map(|device| (device.name(), compiled::on_device(device, &graph, &inputs)));
        for (way, got) in ways.chain([("kernels", compiled::interpreted(&graph, &inputs))]) {
            let got = got.unwrap_or_else(|error| panic!("{way}: {body}: {error}"));
            if let Some(far) = farthest(&want, &got[0]) {
                panic!("{body} on {way}: {far}");
            }
        }
    }
}
