//! An index outside its axis, on every device: refused by name, position and value.

use sx_runtime::device::{Device, cpu::Cpu};
use sx_runtime::{Model, Session, Tensor};
use sx_tests::{devices, program};

/// Rows, a reversed operand, and an operand that the axes of the result do not follow in order.
const PROGRAM: &str = "
(defgraph rows ((t [5 3]) (i [4] :i64)) (index t i))
(defgraph turned ((t [5 3]) (i [2 2] :i64)) (index t (transpose i [1 0])))
(defgraph row ((t [5]) (i [4] :i64)) (sum (index t i)))";

fn refusal(model: &Model, device: &dyn Device, graph: &str, indices: [i64; 4]) -> String {
    let mut session = Session::new(model, graph, device).expect("it is ready");
    let shape = |at: usize| session.inputs()[at].shape.clone();
    let table = Tensor::new(&shape(0), vec![1.0f32; shape(0).iter().product::<u64>() as usize].into());
    let inputs = [("t", table), ("i", Tensor::new(&shape(1), indices.to_vec().into()))];
    session.run(&inputs).expect_err("an index is outside").to_string()
}

#[test]
fn an_index_outside_its_axis_is_told_by_its_position_in_the_operand() {
    let model = program::model("traps.sx", PROGRAM);
    let mut all: Vec<Box<dyn Device>> = vec![Box::new(Cpu)];
    all.extend(devices::wgpu().into_iter().map(|device| Box::new(device) as Box<dyn Device>));
    for device in &all {
        for (graph, indices, value, position) in [
            ("rows", [0, 1, 7, 2], 7, 2),
            ("rows", [-1, 1, 2, 3], -1, 0),
            ("turned", [0, 5, 2, 3], 5, 2),
            ("turned", [0, 1, i64::MAX, 3], i64::MAX, 1),
            ("row", [0, 1, 2, 5], 5, 3),
        ] {
            let message = refusal(&model, &**device, graph, indices);
            // Positions are the operand's own: one that was computed goes by its operation.
            let operand = if graph == "turned" { "transpose" } else { "i" };
            let expected =
                format!("`{operand}` has {value} at position {position}, outside its axis of size 5");
            assert!(message.contains(&expected), "{} on {}: {message}", graph, device.name());
        }
    }
}

/// An index that no output needs is not computed: not by the devices, and not by the reference.
#[test]
fn an_id_that_nobody_reads_is_not_refused() {
    const UNREAD: &str = "
(defgraph g ((t [4]) (i [1] :i32)) (let ((_row (index t i))) (* t 2)))
(defgraph h ((t [4]) (i [1] :i32)) (let ((_sizes (shape (gather t i)))) (+ t (zeros [4]))))";
    let checked = program::check("unread.sx", UNREAD, &sx_tests::root());
    let module = checked.module.as_ref().expect("a program without errors");
    let model = program::model("unread.sx", UNREAD);
    let table = || Tensor::new(&[4], vec![1.0f32, 2.0, 3.0, 4.0].into());
    let ids = || Tensor::new(&[1], vec![9i32].into());
    let mut all: Vec<Box<dyn Device>> = vec![Box::new(Cpu)];
    all.extend(devices::wgpu().into_iter().map(|device| Box::new(device) as Box<dyn Device>));
    for graph in &module.graphs {
        let expected = sx_tests::reference(graph, &[table(), ids()]).expect("nothing that is needed traps");
        for device in &all {
            let mut session = Session::new(&model, &graph.name, &**device).expect("it is ready");
            let outputs = session.run(&[("t", table()), ("i", ids())]).expect("nothing traps");
            assert_eq!(expected[0], outputs["out"], "{} on {}", graph.name, device.name());
        }
    }
}
