//! Every kind of operation over a covering sample of shapes, on the CPU and on every Vulkan driver, against the
//! reference. The committed answers of `ops/` are small; these cross the borders of words, workgroups and tiles.

use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};
use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;
use sx_tests::cases::Case;
use sx_tests::close::{Leeway, hold};
use sx_tests::{compiled, devices, program, reference};

/// Integers are below it, so that they are ids of the axes here.
const IDS: usize = 9;

/// Inputs and an expression over them.
#[rustfmt::skip]
const SAMPLE: &[(&str, &str)] = &[
    // Maps: a workgroup has 64 invocations, of which each takes a few elements.
    ("(x [])", "(exp x)"),
    ("(x [0])", "(exp x)"),
    ("(x [257])", "(tanh x)"),
    ("(x [65537])", "(sqrt (abs x))"),
    ("(x [3]) (y [])", "(* x y)"),
    ("(x [257 1]) (y [1 129])", "(+ x y)"),
    ("(x [3 1 5]) (y [7 1])", "(- x y)"),
    ("(x [2 0 3]) (y [3])", "(maximum x y)"),
    // Several elements in a word.
    ("(x [257]) (y [257])", "(< x y)"),
    ("(x [7 1]) (y [11])", "(>= x y)"),
    ("(x [3] :bf16)", "(neg x)"),
    ("(x [65537] :bf16)", "(* x x)"),
    ("(x [13 5] :bf16) (y [5] :bf16)", "(+ x y)"),
    ("(x [5 3] :bool) (y [3] :bool)", "(and x y)"),
    ("(x [257] :bool)", "(not x)"),
    ("(x [257] :i64) (y [257] :i64)", "(* x y)"),
    ("(x [67 3] :i32) (y [3] :i32)", "(- x y)"),
    ("(c [257 1] :bool) (x [3]) (y [])", "(where c x y)"),
    ("(c [13] :bool) (x [13] :i64) (y [13] :i64)", "(where c x y)"),
    ("(x [257])", "(cast x :i64)"),
    ("(x [129] :i64)", "(cast x :bf16)"),
    ("(x [7 37] :bool)", "(cast x :f32)"),
    ("(x [65537] :i32)", "(cast (> x 1) :i32)"),
    // Movement.
    ("(x [1])", "(broadcast-to x [257])"),
    ("(x [5 1] :bool)", "(broadcast-to x [3 5 7])"),
    ("(x [257 6])", "(reshape x [6 257])"),
    ("(x [257 65])", "(transpose x [1 0])"),
    ("(x [3 129 5] :bf16)", "(transpose x [2 0 1])"),
    ("(x [2 3 5 7] :bool)", "(transpose x [3 1 0 2])"),
    ("(x [3 67] :i64)", "(transpose x [1 0])"),
    ("(x [258])", "(slice x 0 1 258)"),
    ("(x [257 7] :bf16)", "(slice x -1 2 5)"),
    ("(x [13 11] :bool)", "(slice x -2 3 10)"),
    // Every second element, and every third row.
    ("(x [514])", "(slice (reshape x [257 2]) 1 1 2)"),
    ("(x [39 5])", "(slice (reshape x [13 3 5]) 1 2 3)"),
    ("(x [257]) (y [1]) (z [3])", "(concat 0 [x y z])"),
    ("(x [5 3] :bf16) (y [5 258] :bf16)", "(concat -1 [x y])"),
    ("(x [3 5] :bool) (y [2 5] :bool)", "(concat -2 [x y])"),
    ("(x [0 3]) (y [129 3])", "(concat 0 [x y])"),
    ("(x [65537])", "(+ x (cast (iota [65537]) :f32))"),
    ("(x [3 257] :i64)", "(+ x (iota [3 257] :axis -2 :dtype :i64))"),
    ("(x [257 3]) (i [65] :i32)", "(index x i)"),
    ("(x [1 5] :bool) (i [3 7] :i64)", "(index x (* i 0))"),
    ("(x [257 1 2] :bf16) (i [] :i64)", "(index x i)"),
    ("(x [5 9]) (i [5 257] :i64)", "(gather x i :axis -1)"),
    ("(x [9 65] :i64) (i [3 65] :i32)", "(gather x i :axis 0)"),
    // Reductions, over the first, the last, inner, several and all axes, and over nothing.
    ("(x [])", "(sum x)"),
    ("(x [0 5])", "(sum x)"),
    ("(x [0 5])", "(sum x :axes [0])"),
    ("(x [5 0] :bool)", "(all x :axes [1])"),
    ("(x [1 1])", "(max x :axes [-1])"),
    ("(x [65537])", "(sum x)"),
    ("(x [257 257])", "(sum x :axes [0 1])"),
    ("(x [65537 3])", "(sum x :axes [0])"),
    ("(x [3 65537])", "(max x :axes [-1] :keepdims true)"),
    ("(x [257 13])", "(sum x :axes [0] :keepdims true)"),
    ("(x [3 257 5])", "(min x :axes [1])"),
    ("(x [3 67 5])", "(sum x :axes [0 -1])"),
    ("(x [2 1009] :bf16)", "(sum x :axes [1])"),
    ("(x [257 5] :bf16)", "(max x :axes [0])"),
    ("(x [5 257] :i64)", "(sum x :axes [-1])"),
    ("(x [129 3] :i64)", "(min x :axes [0])"),
    ("(x [65] :i32)", "(prod (+ 1 (* 2 x)))"),
    ("(x [257 5] :bool)", "(any x :axes [0])"),
    ("(x [5 257] :bool)", "(all x :axes [1])"),
    ("(x [17] :f32)", "(prod x)"),
    // Products: a tile of a GPU has 64 rows and columns, one of a CPU 8 columns.
    ("(x [1 1]) (y [1 1])", "(matmul x y)"),
    ("(x [0 3]) (y [3 2])", "(matmul x y)"),
    ("(x [2 0]) (y [0 3])", "(matmul x y)"),
    ("(x [7 13]) (y [13 5])", "(matmul x y)"),
    ("(x [65 64]) (y [64 129])", "(matmul x y)"),
    ("(x [63 257]) (y [257 1])", "(matmul x y)"),
    ("(x [1 257]) (y [257 67])", "(matmul x y)"),
    ("(x [129 3]) (y [3 130])", "(matmul x y)"),
    ("(x [17 33]) (y [31 33])", "(matmul x (transpose y [1 0]))"),
    ("(x [33 17]) (y [33 31])", "(matmul (transpose x [1 0]) y)"),
    ("(x [2 3 9 17]) (y [17 65])", "(matmul x y)"),
    ("(x [3 1 5 7]) (y [4 7 9])", "(matmul x y)"),
    ("(x [9 67] :bf16) (y [67 24] :bf16)", "(matmul x y)"),
    ("(x [9 67] :bf16) (y [67 23] :bf16)", "(matmul x y :out :f32)"),
    ("(x [9 17] :i32) (y [17 65] :i32)", "(matmul x y)"),
    ("(x [5 65] :i64) (y [65 3] :i64)", "(matmul x y)"),
];

/// Indices outside their axis, each with the place that is told.
const TRAPS: &[(&str, &str, usize)] = &[
    ("(x [5 3]) (i [257] :i32)", "(index x i)", 256),
    ("(x [3 5]) (i [3 129] :i64)", "(gather x i :axis -1)", 386),
];

fn case((inputs, body): &(&str, &str)) -> Case {
    let graph = program::graph(inputs, body);
    let inputs = program::values(&graph, IDS);
    let expected = reference(&graph, &inputs).unwrap_or_else(|trap| panic!("{body}: {trap}")).remove(0);
    let name = format!("{body} of {:?}", inputs.iter().map(Tensor::shape).collect::<Vec<_>>());
    Case { kind: body.to_string(), form: name.clone(), name, graph, inputs, expected, subnormal: false }
}

#[test]
fn operations_hold_over_shapes() {
    let cases: Vec<Case> = SAMPLE.iter().map(case).collect();
    hold("cpu", Leeway::NONE, &cases, |case| compiled::on_device(&Cpu, &case.graph, &case.inputs));
    for device in devices::wgpu() {
        let run = |case: &Case| compiled::on_device(&device, &case.graph, &case.inputs);
        hold(device.name(), Leeway::WGPU, &cases, run);
    }
}

/// The inputs with ids that are valid but for one.
fn spoilt(mut inputs: Vec<Tensor>, place: usize, wrong: i32) -> Vec<Tensor> {
    let id = |at: usize| if at == place { wrong } else { at as i32 % 3 };
    let ids = 0..inputs[1].len();
    let data: Data = match inputs[1].dtype() {
        DType::I32 => ids.map(id).collect::<Vec<_>>().into(),
        _ => ids.map(|at| i64::from(id(at))).collect::<Vec<_>>().into(),
    };
    inputs[1] = Tensor::new(inputs[1].shape(), data);
    inputs
}

#[test]
fn indices_outside_their_axis_are_refused_by_their_place() {
    let found = devices::wgpu();
    let all = found.iter().map(|device| device as &dyn Device).chain([&Cpu as &dyn Device]);
    for (device, &(inputs, body, place)) in
        all.flat_map(|device| TRAPS.iter().map(move |trap| (device, trap)))
    {
        let graph = program::graph(inputs, body);
        for wrong in [-1, 5, i32::MIN] {
            let result =
                compiled::on_device(device, &graph, &spoilt(program::values(&graph, IDS), place, wrong));
            let error = result.expect_err("an index outside its axis is refused");
            let told = format!("value {wrong} at position {place}");
            assert!(error.contains(&told), "{}: {body}: {error}", device.name());
        }
    }
}
