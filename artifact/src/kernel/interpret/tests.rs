//! Known answers of kernels.

use super::*;
use crate::kernel::text;

fn run_text(kernel: &str, reads: &[Data]) -> Result<Vec<Data>, Stop> {
    let kernel = text::read(kernel).unwrap_or_else(|error| panic!("{error}\n{kernel}"));
    let reads: Vec<Tensor> =
        reads.iter().map(|data| Tensor::new(&[data.len() as u64], data.clone())).collect();
    let reads: Vec<&Tensor> = reads.iter().collect();
    run(&kernel, &reads).map(|written| written.iter().map(|tensor| tensor.data().clone()).collect())
}

fn floats(values: &[f32]) -> Data {
    Data::F32(values.to_vec())
}

#[test]
fn a_softmax_is_one_loop() {
    let kernel = "kernel softmax
        #0 read f32[4]
        #1 write f32[4]
        #2 write f32[2]
        for [2] along [2]
          v0 = #0[2*c0 + c1]
          v1 = max v0
          v2 = - v0 v1
          v3 = exp v2
          v4 = sum v3
          v5 = / v3 v4
          store #1[2*c0 + c1] = v5
          store #2[c0] = v1";
    let result = run_text(kernel, &[floats(&[1.0, 1.0, 3.0, f32::NEG_INFINITY])]);
    assert_eq!(result, Ok(vec![floats(&[0.5, 0.5, 1.0, 0.0]), floats(&[1.0, 3.0])]));
}

/// Nothing along the rows: folds give their identity, and what is read once a row is still read.
#[test]
fn folds_of_nothing_give_the_identity() {
    let kernel = "kernel empty
        traps 1
        #0 read f32[0]
        #1 read i64[2]
        #2 write f32[2]
        #3 write f32[2]
        #4 write i64[2]
        for [2] along [0]
          v0 = #0[c1]
          v1 = sum v0
          v2 = max v0
          v3 = #1[c0]
          v4 = v3 below 9 or trap 0
          v5 = prod v4
          store #2[c0] = v1
          store #3[c0] = v2
          store #4[c0] = v5";
    let identities = [floats(&[0.0, 0.0]), floats(&[f32::NEG_INFINITY; 2]), Data::I64(vec![1, 1])];
    let result = run_text(kernel, &[floats(&[]), Data::I64(vec![3, 4])]);
    assert_eq!(result, Ok(identities.to_vec()));
    let trap = Trap { trap: 0, position: 0, value: -1, size: 9 };
    assert_eq!(run_text(kernel, &[floats(&[]), Data::I64(vec![3, -1])]), Err(Stop::Trap(trap)));
}

/// A trap's position is 0 along the coordinates that the index does not follow, and the first by position wins.
#[test]
fn the_first_refused_index_is_told() {
    let kernel = "kernel rows
        traps 1
        #0 read i32[3]
        #1 read f32[8]
        #2 write f32[12]
        for [3, 4]
          v0 = #0[c0]
          v1 = v0 below 2 or trap 0
          v2 = #1[c1 + 4*v1]
          store #2[4*c0 + c1] = v2";
    let table = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let refused = run_text(kernel, &[Data::I32(vec![0, 2, -1]), table.clone()]);
    assert_eq!(refused, Err(Stop::Trap(Trap { trap: 0, position: 4, value: 2, size: 2 })));
    let rows = run_text(kernel, &[Data::I32(vec![1, 0, 1]), table]);
    assert_eq!(rows, Ok(vec![floats(&[4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])]));
}

#[test]
fn guards_clamps_and_conversions() {
    let kernel = "kernel mixed
        #0 read f32[2]
        #1 write f32[4]
        #2 write i32[4]
        #3 write bool[4]
        for [4]
          v0 = i64 c0
          v1 = 2i64
          v2 = < v0 v1
          v3 = #0[c0] if v2
          v4 = i32 v3
          v5 = i32 2*c0 + -1
          v6 = v5 below 3
          v7 = + v4 v6
          store #1[c0] = v3
          store #2[c0] = v7
          store #3[-1*c0 + 3] = v2";
    let result = run_text(kernel, &[floats(&[2.5, f32::NAN])]);
    let expected = [
        floats(&[2.5, f32::NAN, 0.0, 0.0]),
        Data::I32(vec![2, 1, 2, 2]),
        Data::Bool(vec![false, false, true, true]),
    ];
    assert_eq!(result, Ok(expected.to_vec()));
}

#[test]
fn a_product_and_its_epilogue() {
    let kernel = "kernel product
        #0 read i32[4]
        #1 write i32[4]
        contract batch [] m [2] n [2] k [2]
        lhs
          v0 = #0[2*c0 + c1]
          give v0
        rhs
          v0 = #0[2*c0 + c1]
          give v0
        epilogue
          v0 = acc i32
          v1 = neg v0
          store #1[2*c0 + c1] = v1";
    assert_eq!(
        run_text(kernel, &[Data::I32(vec![1, 2, 3, 4])]),
        Ok(vec![Data::I32(vec![-7, -10, -15, -22])])
    );
}

#[test]
fn attention_hides_keys() {
    let kernel = |zero: &str| {
        format!(
            "kernel attention
             #0 read f32[2]
             #1 read f32[2]
             #2 write f32[2]
             attention batch [] t 2 s 2 d 1 e 1{zero}
             query
               v0 = 1.0
               give v0
             key
               v0 = 0.0
               give v0
             value
               v0 = #0[c0]
               give v0
             score
               v0 = acc f32
               v1 = #1[c0]
               v2 = + v0 v1
               give v2
             epilogue
               v0 = acc f32
               store #2[c0] = v0"
        )
    };
    let reads = [floats(&[2.0, 4.0]), floats(&[0.0, f32::NEG_INFINITY])];
    assert_eq!(run_text(&kernel(" zero-hidden-rows"), &reads), Ok(vec![floats(&[3.0, 0.0])]));
    let Ok(result) = run_text(&kernel(""), &reads) else { panic!("no trap") };
    assert!(matches!(&result[0], Data::F32(v) if v[0] == 3.0 && v[1].is_nan()));
}

#[test]
fn what_is_not_written_is_told() {
    let kernel = "kernel half
        #0 write f32[4]
        for [2]
          v0 = 1.0
          store #0[2*c0] = v0";
    assert_eq!(run_text(kernel, &[]), Err(Stop::Unwritten { arg: 0, element: 1 }));
}
