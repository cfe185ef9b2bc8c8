//! Working memory is made once a thread: it does not grow with calls.

use super::*;
use crate::device::cpu::buffer::WORKING;
use std::sync::atomic::Ordering;

/// More than all threads of this process use at once, in this test and those beside it.
const BOUND: i64 = 4_000;
const CALLS: usize = 10_000;

/// A sum and a maximum over a row that is long enough to be cut for threads.
fn long_row(length: usize) -> (Kernel, Vec<Data>) {
    let mut body = Build::default();
    let x = body.load(0, &[1]);
    let most = body.fold(FoldOp::Max, x);
    let sum = body.fold(FoldOp::Sum, x);
    let kind = KernelKind::Loop(Loop {
        dims: vec![],
        along: vec![length as u64],
        body: body.body,
        stores: vec![store(most, 1, &[0]), store(sum, 2, &[0])],
    });
    let one = || Data::F32(vec![0.0]);
    let data = vec![Random(7).data(DType::F32, length), one(), one()];
    (kernel(kind, &data, 1, 0), data)
}

fn calls_keep_what_they_work_on(mut team: Team) {
    let (kernel, mut data) = long_row(100_003);
    let ready = Ready::new(&kernel).expect("a kernel that has a meaning");
    assert!(ready.working_bytes() < 1 << 20, "{} bytes", ready.working_bytes());
    let args: Vec<Arg> = data
        .iter_mut()
        .map(|data| Arg { len: data.len() as u64, start: crate::device::output::start(data), shift: 0 })
        .collect();
    for _ in 0..CALLS {
        ready.run(&args, &Report::default(), &mut team);
    }
    let buffers = WORKING.load(Ordering::Relaxed);
    assert!(buffers < BOUND, "{buffers} buffers after {CALLS} calls");
}

#[test]
fn calls_of_several_threads_keep_what_they_work_on() {
    calls_keep_what_they_work_on(Team::of(4));
}

#[test]
fn calls_of_one_thread_keep_what_they_work_on() {
    calls_keep_what_they_work_on(Team::of(1));
}

/// The parts of a row are added in order, whoever sums them and however many are held at once.
#[test]
fn a_row_of_many_parts_is_summed_as_by_one_thread() {
    let (kernel, data) = long_row((64 << 10) * 600 + 5);
    let ready = Ready::new(&kernel).expect("a kernel that has a meaning");
    let sum = |team: &mut Team| {
        let mut data = data.clone();
        let start = |data: &mut Data| crate::device::output::start(data);
        let args: Vec<Arg> = data
            .iter_mut()
            .map(|data| Arg { len: data.len() as u64, start: start(data), shift: 0 })
            .collect();
        ready.run(&args, &Report::default(), team);
        data[1..].to_vec()
    };
    assert_eq!(sum(&mut Team::alone()), sum(&mut Team::of(3)));
}
