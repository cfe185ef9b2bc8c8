//! What is printed reads back as the same, and what is no kernel is refused with its line.

use super::*;
use crate::kernel::{Const, Inst, KernelKind};
use crate::scalar::ScalarFn;

const LOOP: &str = "\
kernel rows of a table
  traps 2
  #0 read f32[12]
  #1 read i64[3]
  #2 write bf16[12]
  #3 write f32[3]
  for [3] along [4]
    v0 = #1[c0]
    v1 = v0 below 3 or trap 1
    v2 = i64 4*c0 + c1 + -7
    v3 = -2i64
    v4 = >= v2 v3
    v5 = #0[c1 + -1 + 4*v1 + 0*v1] if v4
    v6 = max v5
    v7 = i32 v2
    v8 = i32 0
    v9 = v8 below 18446744073709551615
    v10 = bf16 v5
    v11 = bool v9
    v12 = where v11 v10 v5
    v13 = -0.0
    v14 = 1e-45
    v15 = -inf
    v16 = NaN
    v17 = NaN(0xffc00001)
    v18 = false
    v19 = 7i32
    store #2[4*c0 + c1] = v12
    store #3[c0] = v6
";

const CONTRACTION: &str = "\
kernel \"a\\nname\"
  #0 read i32[6]
  #1 write i32[4]
  contract batch [] m [2] n [2] k [3, 1]
  lhs
    v0 = #0[3*c0 + c1]
    give v0
  rhs
    v0 = #0[c0 + 3*c2]
    v1 = neg v0
    give v1
  epilogue
    v0 = acc i32
    store #1[2*c0 + c1] = v0
";

const ATTENTION: &str = "\
kernel a
  #0 read f32[20]
  #1 write f32[6]
  attention batch [1] t 2 s 5 d 4 e 3 causal zero-hidden-rows
  query
    v0 = 1.0
    give v0
  key
    v0 = #0[4*c1 + c2]
    give v0
  value
    v0 = 0.5
    give v0
  score
    v0 = acc f32
    give v0
  epilogue
    v0 = acc f32
    store #1[3*c1 + c2] = v0
";

#[test]
fn what_is_printed_reads_back() {
    for text in [LOOP, CONTRACTION, ATTENTION] {
        let kernel = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(print(&kernel), text);
        assert_eq!(read(&print(&kernel)), Ok(kernel));
    }
}

/// Every function, and floats of every kind.
#[test]
fn each_function_and_float_reads_back() {
    let mut kernel = read(LOOP).expect("a kernel");
    let KernelKind::Loop(it) = &mut kernel.kind else { panic!("a loop") };
    for &f in ScalarFn::ALL {
        let args = (0..f.arity()).map(|at| crate::kernel::Val(at as u32)).collect();
        it.body.insts.push(Inst::Call { f, args });
    }
    for bits in (0..=u32::MAX).step_by(9_999_991).chain([0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xff80_0000])
    {
        it.body.insts.push(Inst::Const(Const::F32(bits)));
    }
    assert_eq!(read(&print(&kernel)), Ok(kernel));
}

#[test]
fn what_is_no_kernel_is_refused_with_its_line() {
    let cases = [
        ("", 0, "the text ends where `kernel NAME` should follow"),
        ("kernal a", 1, "a kernel begins with `kernel NAME`"),
        ("kernel a\n\n  #1 read f32[3]", 3, "argument 0 is written `#0 read f32[12]`"),
        ("kernel a\n#0 read f64[3]", 2, "argument 0 is written"),
        ("kernel a\nloop [3]", 2, "`loop [3]` is none of `for`, `contract` and `attention`"),
        ("kernel a\nfor 3", 2, "a list of sizes"),
        ("kernel a\nfor [3] across [4]", 2, "`across [4]` is not known here"),
        ("kernel a\nfor [3]\nv1 = 1.0", 3, "the next value is v0, not v1"),
        ("kernel a\nfor [3]\nv0 = frob v1", 3, "`frob v1` is no instruction"),
        ("kernel a\nfor [3]\nv0 = #0[c1]", 3, "there is no coordinate c1: the section has 1"),
        ("kernel a\nfor [3]\nv0 = #0[c0] if c0", 3, "`c0` is no value"),
        ("kernel a\nfor [3]\nv0 = NaN(0x00000000)", 3, "is no instruction"),
        ("kernel a\nfor [3]\nv0 = 99999999999i32", 3, "is no instruction"),
        ("kernel a\nfor [3]\nstore #0[c0] v1", 3, "a store is written `store #1[c0] = v0`"),
        ("kernel a\nfor [3]\nv0 = 1.0\nend", 4, "`end` follows the end of the kernel"),
        ("kernel a\ncontract batch [] m [] n []", 2, "`k` should follow"),
        ("kernel a\ncontract batch [] m [] n [] k []\nrhs", 3, "the section `lhs` should begin"),
        ("kernel a\ncontract batch [] m [] n [] k []\nlhs\nv0 = 1.0", 4, "the lhs ends with `give v0`"),
    ];
    for (text, line, what) in cases {
        let error = read(text).expect_err(what);
        assert!(error.line == line && error.what.contains(what), "{text}: {error}");
    }
}
