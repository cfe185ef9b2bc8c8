//! Known answers and laws.

use super::*;

fn loop_kernel(
    dims: &[u64],
    along: &[u64],
    build: Build,
    stores: Vec<Store>,
    data: &[Data],
    reads: usize,
) -> Kernel {
    let work =
        KernelKind::Loop(Loop { dims: dims.to_vec(), along: along.to_vec(), body: build.body, stores });
    kernel(work, data, reads, 1)
}

/// A sum of `n` elements for each of `rows` rows, elements a row `step` apart.
fn sums(x: Vec<f32>, rows: u64, n: u64, strides: [i64; 2]) -> Vec<f32> {
    let mut build = Build::default();
    let v = build.load(0, &strides);
    let sum = build.fold(FoldOp::Sum, v);
    let mut data = vec![Data::from(x), Data::from(vec![0f32; rows as usize])];
    let kernel = loop_kernel(&[rows], &[n], build, vec![store(sum, 1, &[1, 0])], &data, 1);
    run(&kernel, &mut data);
    match data.pop() {
        Some(Data::F32(sums)) => sums,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sum_has_one_order_however_rows_lie() {
    let mut random = Random(3);
    for n in [0, 1, 2, 31, 32, 33, 511, 512, 513, 1500, 70_001] {
        let rows = 17;
        let x: Vec<f32> = (0..n * rows).map(|_| random.float()).collect();
        let across: Vec<f32> = (0..n * rows).map(|i| x[(i % rows * n + i / rows) as usize]).collect();
        let a = sums(x.clone(), rows, n, [n as i64, 1]);
        let b = sums(across, rows, n, [1, rows as i64]);
        assert_eq!(
            a.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            b.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        );
        // A single long row is cut for threads.
        let alone = sums(x[..n as usize].to_vec(), 1, n, [n as i64, 1]);
        assert_eq!(alone[0].to_bits(), a[0].to_bits());
    }
}

#[test]
fn a_sum_of_many_equal_elements_is_close() {
    for n in [1u64 << 12, 1 << 20, (1 << 20) + 77] {
        let sum = sums(vec![0.1; n as usize], 1, n, [n as i64, 1])[0] as f64;
        let exact = 0.1f32 as f64 * n as f64;
        let ulp = exact * 2f64.powi(-23);
        assert!((sum - exact).abs() <= 16.0 * ulp, "{n}: {sum} for {exact}");
    }
}

#[test]
fn the_order_of_a_sum_is_the_documented_one() {
    fn tree(parts: &[f32]) -> f32 {
        match parts {
            [] => 0.0,
            [one] => *one,
            _ => {
                let p = parts.len().next_power_of_two() / 2;
                tree(&parts[..p]) + tree(&parts[p..])
            }
        }
    }
    let mut random = Random(5);
    for n in [0, 7, 600, 5000, 200_000] {
        let x: Vec<f32> = (0..n).map(|_| random.float()).collect();
        let chunks = x.chunks(512).map(|chunk| {
            let mut lanes = [0f32; 32];
            chunk.iter().enumerate().for_each(|(i, x)| lanes[i % 32] += x);
            for half in [16, 8, 4, 2, 1] {
                (0..half).for_each(|j| lanes[j] += lanes[j + half]);
            }
            lanes[0]
        });
        let expected = tree(&chunks.collect::<Vec<_>>());
        assert_eq!(sums(x, 1, n, [n as i64, 1])[0].to_bits(), expected.to_bits(), "{n}");
    }
}

#[test]
fn folds_of_nothing_give_the_identity() {
    let mut build = Build::default();
    let x = build.load(0, &[0, 1]);
    let i = build.load(1, &[0, 1]);
    let folds = [
        build.fold(FoldOp::Sum, x),
        build.fold(FoldOp::Max, x),
        build.fold(FoldOp::Prod, x),
        build.fold(FoldOp::Min, i),
    ];
    let mut data: Vec<Data> = vec![Vec::<f32>::new().into(), Vec::<i32>::new().into()];
    data.extend([vec![9f32; 2].into(), vec![9f32; 2].into(), vec![9f32; 2].into(), vec![9i32; 2].into()]);
    let stores = folds.iter().enumerate().map(|(at, &v)| store(v, at as u32 + 2, &[1, 0])).collect();
    run(&loop_kernel(&[2], &[0], build, stores, &data, 2), &mut data);
    assert_eq!(data[2], vec![0f32; 2].into());
    assert_eq!(data[3], vec![f32::NEG_INFINITY; 2].into());
    assert_eq!(data[4], vec![1f32; 2].into());
    assert_eq!(data[5], vec![i32::MAX; 2].into());
}

/// Applies a function to columns of values.
fn apply(f: ScalarFn, args: Vec<Data>, result: Data) -> Data {
    let n = result.len() as u64;
    let mut build = Build::default();
    let loads: Vec<Val> = (0..args.len()).map(|i| build.load(i as u32, &[1])).collect();
    let v = build.call(f, &loads);
    let reads = args.len();
    let mut data = args;
    data.push(result);
    let kernel = loop_kernel(&[n], &[], build, vec![store(v, reads as u32, &[1])], &data, reads);
    run(&kernel, &mut data);
    data.remove(reads)
}

#[test]
fn edge_values_have_the_language_s_meaning() {
    use ScalarFn::*;
    let nan = f32::NAN;
    let f = |f, x: &[f32], y: &[f32], expected: &[f32]| {
        let got = apply(f, vec![x.to_vec().into(), y.to_vec().into()], vec![0f32; x.len()].into());
        assert!(close(&got, &expected.to_vec().into(), 0.0), "{f:?}: {got:?}");
    };
    f(Maximum, &[nan, 1.0, 2.0, -0.0], &[1.0, nan, 3.0, 0.0], &[nan, nan, 3.0, 0.0]);
    f(Minimum, &[nan, 1.0, 2.0, 0.0], &[1.0, nan, 3.0, -0.0], &[nan, nan, 2.0, -0.0]);
    f(
        Mod,
        &[5.5, -5.5, 5.5, -5.5, 1.0, 4.0],
        &[3.0, 3.0, -3.0, -3.0, 0.0, 2.0],
        &[2.5, 0.5, -0.5, -2.5, nan, 0.0],
    );
    let i = |f, x: &[i32], y: &[i32], expected: &[i32]| {
        let got = apply(f, vec![x.to_vec().into(), y.to_vec().into()], vec![0i32; x.len()].into());
        assert_eq!(got, expected.to_vec().into(), "{f:?}");
    };
    i(Div, &[7, -7, 5, i32::MIN], &[2, 2, 0, -1], &[3, -3, 0, i32::MIN]);
    i(Mod, &[7, -7, 7, -7, 5, i32::MIN], &[3, 3, -3, -3, 0, -1], &[1, 2, -2, -1, 0, 0]);
    i(Mul, &[i32::MAX, 3], &[2, -4], &[-2, -12]);
    i(Pow, &[3, -1, 2, 0, 7], &[4, -3, -1, -1, 0], &[81, -1, 0, 0, 1]);
    let round = apply(Round, vec![vec![0.5f32, 1.5, 2.5, -0.5].into()], vec![0f32; 4].into());
    assert_eq!(round, vec![0f32, 2.0, 2.0, -0.0].into());
    let compare = apply(Lt, vec![vec![nan, 1.0].into(), vec![1.0f32, 2.0].into()], vec![false; 2].into());
    assert_eq!(compare, vec![false, true].into());
}

#[test]
fn casts_truncate_saturate_and_wrap() {
    let cast = |x: Data, to: ScalarType, result: Data| {
        let mut build = Build::default();
        let v = build.load(0, &[1]);
        let v = build.push(Inst::Convert { to, x: v });
        let mut data = vec![x, result];
        let n = data[1].len() as u64;
        run(&loop_kernel(&[n], &[], build, vec![store(v, 1, &[1])], &data, 1), &mut data);
        data.remove(1)
    };
    let floats: Vec<f32> = vec![1.9, -1.9, f32::NAN, 3e9, -3e9, f32::INFINITY];
    assert_eq!(
        cast(floats.clone().into(), ScalarType::I32, vec![0i32; 6].into()),
        vec![1, -1, 0, i32::MAX, i32::MIN, i32::MAX].into()
    );
    assert_eq!(cast(floats.into(), ScalarType::Bool, vec![false; 6].into()), vec![true; 6].into());
    assert_eq!(
        cast(vec![1i64 << 32 | 5, -1].into(), ScalarType::I32, vec![0i32; 2].into()),
        vec![5, -1].into()
    );
    assert_eq!(
        cast(vec![0i64, -2].into(), ScalarType::Bool, vec![false; 2].into()),
        vec![false, true].into()
    );
}

#[test]
fn a_softmax_is_right_on_long_rows_and_nan_where_all_is_hidden() {
    for n in [1u64, 5, 1000, 1024, 5000, 70_000] {
        let rows = 3u64;
        let mut random = Random(n);
        let mut x: Vec<f32> = (0..rows * n).map(|_| random.float() * 5.0).collect();
        x[..n as usize].fill(f32::NEG_INFINITY);
        let mut build = Build::default();
        let v = build.load(0, &[n as i64, 1]);
        let max = build.fold(FoldOp::Max, v);
        let d = build.call(ScalarFn::Sub, &[v, max]);
        let e = build.call(ScalarFn::Exp, &[d]);
        let sum = build.fold(FoldOp::Sum, e);
        let y = build.call(ScalarFn::Div, &[e, sum]);
        let mut data = vec![Data::from(x.clone()), Data::from(vec![0f32; x.len()])];
        run(&loop_kernel(&[rows], &[n], build, vec![store(y, 1, &[n as i64, 1])], &data, 1), &mut data);
        let Data::F32(y) = &data[1] else { panic!("floats") };
        assert!(y[..n as usize].iter().all(|y| y.is_nan()));
        for row in 1..rows as usize {
            let (x, y) = (&x[row * n as usize..][..n as usize], &y[row * n as usize..][..n as usize]);
            let sum: f64 = x.iter().map(|&x| (x as f64).exp()).sum();
            for (x, y) in x.iter().zip(y) {
                let exact = (*x as f64).exp() / sum;
                assert!((*y as f64 - exact).abs() <= 1e-6 * exact + 1e-12, "{n}: {y} for {exact}");
            }
        }
    }
}

#[test]
fn the_first_refused_index_is_reported_by_its_position() {
    // Rows of a table at computed indices; the indices do not follow the columns.
    let mut ids = vec![0i64; 5000];
    (ids[4321], ids[1234]) = (99, -1);
    let (rows, columns) = (ids.len() as u64, 100u64);
    let mut build = Build::default();
    let id = build.load(0, &[1, 0]);
    let row = build.push(Inst::Bounded { x: id, size: 7, trap: Some(0) });
    let mut place = access(1, 0, &[0, 1]);
    place.gathered.push((row, columns as i64));
    let v = build.push(Inst::Load { access: place, guard: None });
    let mut data: Vec<Data> =
        vec![ids.into(), vec![1f32; 700].into(), vec![0f32; (rows * columns) as usize].into()];
    let stores = vec![store(v, 2, &[columns as i64, 1])];
    let trap = run(&loop_kernel(&[rows, columns], &[], build, stores, &data, 2), &mut data);
    assert_eq!(trap, Some(Trap { trap: 0, position: 1234 * columns, value: -1 }));
}
