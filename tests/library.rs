//! The library's functions of rows keep the bounds that `docs/numerics.md` states, however far the rows are from 0, in
//! f32 and under bf16, by every way of running a graph. The answers are computed in f64, by other formulas.

#![allow(clippy::print_stdout, reason = "what is measured is what the page says")]

use half::bf16;
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};
use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;
use sx_tests::{assert_none, compiled, devices, program};

const ROWS: usize = 3;
const LENGTH: usize = 257;
/// The id that cross-entropy picks in each row.
const IDS: [i32; ROWS] = [0, 5, 256];

/// A function of rows `x`, with `ids`, and a `scale` and a `shift` for each column, which are the first row and the second.
struct Function {
    body: &'static str,
    /// How far off it may be, in units of the last place of f32.
    ulps: f64,
    /// Its values of one row (given the row, its id, the scale and the shift), and the number in whose last place the
    /// error is counted.
    of: fn(Row<'_>) -> Vec<(f64, f64)>,
}

#[derive(Clone, Copy)]
struct Row<'a> {
    x: &'a [f64],
    id: usize,
    scale: &'a [f64],
    shift: &'a [f64],
}

impl Row<'_> {
    fn mean(self) -> f64 {
        self.x.iter().sum::<f64>() / self.x.len() as f64
    }

    fn variance(self) -> f64 {
        let mean = self.mean();
        self.x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / self.x.len() as f64
    }

    fn logsumexp(self) -> f64 {
        let top = self.x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        top + self.x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
    }

    fn whitened(self) -> impl Iterator<Item = f64> {
        let (mean, deviation) = (self.mean(), (self.variance() + 1e-5).sqrt());
        self.x.iter().map(move |x| (x - mean) / deviation)
    }

    fn by_rms(self) -> impl Iterator<Item = f64> {
        let square = self.x.iter().map(|x| x * x).sum::<f64>() / self.x.len() as f64;
        self.x.iter().map(move |x| x / (square + 1e-6).sqrt())
    }
}

/// An error counted in the last place of the value.
fn own(y: f64) -> (f64, f64) {
    (y, y.abs())
}

/// An error counted in the last place of the value, or of 1 where that is more.
fn beside_one(y: f64) -> (f64, f64) {
    (y, y.abs().max(1.0))
}

const FUNCTIONS: [Function; 13] = [
    Function {
        body: "(mean x :axes [1])",
        ulps: 2.0,
        of: |row| vec![(row.mean(), row.x.iter().map(|x| x.abs()).sum::<f64>() / row.x.len() as f64)],
    },
    Function { body: "(var x :axes [1])", ulps: 4.0, of: |row| vec![own(row.variance())] },
    Function { body: "(std x :axes [1])", ulps: 4.0, of: |row| vec![own(row.variance().sqrt())] },
    Function {
        body: "(norm x :axes [1])",
        ulps: 4.0,
        of: |row| vec![own(row.x.iter().map(|x| x * x).sum::<f64>().sqrt())],
    },
    Function { body: "(logsumexp x :axes [1])", ulps: 4.0, of: |row| vec![beside_one(row.logsumexp())] },
    Function {
        body: "(softmax x)",
        ulps: 8.0,
        of: |row| row.x.iter().map(|x| own((x - row.logsumexp()).exp())).collect(),
    },
    Function {
        body: "(log-softmax x)",
        ulps: 4.0,
        of: |row| row.x.iter().map(|x| beside_one(x - row.logsumexp())).collect(),
    },
    Function {
        body: "(cross-entropy x ids :reduce :none)",
        ulps: 4.0,
        of: |row| vec![beside_one(row.logsumexp() - row.x[row.id])],
    },
    Function { body: "(layer-norm x nil)", ulps: 6.0, of: |row| row.whitened().map(beside_one).collect() },
    Function {
        body: "(layer-norm x scale)",
        ulps: 6.0,
        of: |row| {
            let scaled = row.whitened().zip(row.scale);
            scaled.map(|(y, scale)| (y * scale, (y * scale).abs().max(scale.abs()))).collect()
        },
    },
    Function {
        body: "(layer-norm x scale shift)",
        ulps: 6.0,
        of: |row| {
            let scaled = row.whitened().zip(row.scale).zip(row.shift);
            let most = |y: f64, scale: f64, shift: f64| (y * scale).abs().max(scale.abs()).max(shift.abs());
            scaled.map(|((y, scale), shift)| (y * scale + shift, most(y, *scale, *shift))).collect()
        },
    },
    Function { body: "(rms-norm x nil)", ulps: 4.0, of: |row| row.by_rms().map(own).collect() },
    Function {
        body: "(rms-norm x scale)",
        ulps: 4.0,
        of: |row| row.by_rms().zip(row.scale).map(|(y, scale)| own(y * scale)).collect(),
    },
];

/// Where rows lie and how wide they are, in f32 and, with fewer digits, in bf16.
const PLACES: [(DType, f64, f64); 8] = [
    (DType::F32, 0.0, 1.0),
    (DType::F32, -100.0, 1.0),
    (DType::F32, 1e4, 1.0),
    (DType::F32, 1e6, 1.0),
    (DType::F32, 0.0, 1e-3),
    (DType::Bf16, 0.0, 1.0),
    (DType::Bf16, 100.0, 1.5),
    (DType::Bf16, -1e4, 150.0),
];

/// Numbers of about a normal distribution, as the dtype has them.
fn numbers(dtype: DType, middle: f64, width: f64) -> Vec<f64> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let count = ROWS * LENGTH;
    let any: Vec<f64> =
        (0..count).map(|_| middle + width * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0)).collect();
    match dtype {
        DType::Bf16 => any.iter().map(|&x| bf16::from_f64(x).to_f64()).collect(),
        _ => any.iter().map(|&x| f64::from(x as f32)).collect(),
    }
}

fn tensor(dtype: DType, shape: &[u64], x: &[f64]) -> Tensor {
    let data: Data = match dtype {
        DType::Bf16 => x.iter().map(|&x| bf16::from_f64(x)).collect::<Vec<_>>().into(),
        _ => x.iter().map(|&x| x as f32).collect::<Vec<_>>().into(),
    };
    Tensor::new(shape, data)
}

/// The spacing of floats with so many digits after the first, at `x`.
fn spacing(x: f64, digits: i32) -> f64 {
    2f64.powi(x.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor() as i32 - digits)
}

/// How far a result is off, in ulp of f32 beyond what rounding it to its dtype accounts for.
fn off(got: &Tensor, want: &[(f64, f64)]) -> f64 {
    let elements: Vec<(f64, f64)> = match got.data() {
        Data::F32(y) => y.iter().map(|&y| (f64::from(y), 0.0)).collect(),
        Data::Bf16(y) => {
            let half =
                |(y, want): (&bf16, &(f64, f64))| (y.to_f64(), spacing(want.0.max(y.to_f64()), 7) / 2.0);
            y.iter().zip(want).map(half).collect()
        }
        _ => vec![],
    };
    assert_eq!(elements.len(), want.len(), "floats of the right shape");
    let each = elements.iter().zip(want).map(|((y, rounding), (want, scale))| {
        let beyond = ((y - want).abs() - rounding).max(0.0);
        if y.is_finite() { beyond / spacing(*scale, 23) } else { f64::INFINITY }
    });
    each.fold(0.0, f64::max)
}

/// What every way of running it gives.
fn results(body: &str, dtype: DType, x: &[f64], devices: &[&dyn Device]) -> Vec<(String, Tensor)> {
    let (rows, length) = (ROWS as u64, LENGTH as u64);
    let name = if dtype == DType::Bf16 { ":bf16" } else { ":f32" };
    let given = format!(
        "(x [{rows} {length}] {name}) (ids [{rows}] :i32) (scale [{length}] {name}) (shift [{length}] {name})"
    );
    let graph = program::graph(&given, body);
    let inputs = [
        tensor(dtype, &[rows, length], x),
        Tensor::new(&[rows], IDS.to_vec().into()),
        tensor(dtype, &[length], &x[..LENGTH]),
        tensor(dtype, &[length], &x[LENGTH..2 * LENGTH]),
    ];
    let mut found = vec![
        ("reference".to_owned(), sx_tests::reference(&graph, &inputs)),
        ("interpreter".to_owned(), compiled::interpreted(&graph, &inputs)),
    ];
    found.extend(
        devices
            .iter()
            .map(|device| (device.name().to_owned(), compiled::on_device(*device, &graph, &inputs))),
    );
    let answer = |(way, result): (String, Result<Vec<Tensor>, String>)| {
        let result = result.unwrap_or_else(|error| panic!("{body} on {way}: {error}"));
        (way, result[0].clone())
    };
    found.into_iter().map(answer).collect()
}

#[test]
fn functions_of_rows_keep_their_bounds() {
    let wgpu = devices::wgpu();
    let devices: Vec<&dyn Device> =
        wgpu.iter().map(|device| device as &dyn Device).chain([&Cpu as &dyn Device]).collect();
    let mut wrong = vec![];
    for function in &FUNCTIONS {
        let mut worst: f64 = 0.0;
        for (dtype, middle, width) in PLACES {
            let x = numbers(dtype, middle, width);
            let rows = x.chunks(LENGTH).zip(IDS);
            let want: Vec<(f64, f64)> = rows
                .flat_map(|(row, id)| {
                    let (scale, shift) = (&x[..LENGTH], &x[LENGTH..2 * LENGTH]);
                    (function.of)(Row { x: row, id: id as usize, scale, shift })
                })
                .collect();
            for (way, got) in results(function.body, dtype, &x, &devices) {
                let ulps = off(&got, &want);
                worst = worst.max(ulps);
                if ulps > function.ulps {
                    let body = function.body;
                    wrong.push(format!("{body} of {dtype} around {middle} on {way}: {ulps:.1} ulp"));
                }
            }
        }
        println!("{}: {worst:.2} of {} ulp", function.body, function.ulps);
    }
    assert_none(&wrong);
}

/// Squares of these overflow, or vanish.
#[test]
fn a_norm_is_finite_where_its_square_is_not() {
    let wgpu = devices::wgpu();
    let devices: Vec<&dyn Device> =
        wgpu.iter().map(|device| device as &dyn Device).chain([&Cpu as &dyn Device]).collect();
    for size in [1e30, 1e-30, 1e19, 1e-19, 1e12, 1e-12, 1e-36] {
        let x = numbers(DType::F32, 0.0, size);
        let want: Vec<(f64, f64)> =
            x.chunks(LENGTH).map(|row| own(row.iter().map(|x| x * x).sum::<f64>().sqrt())).collect();
        for (way, got) in results("(norm x :axes [1])", DType::F32, &x, &devices) {
            let ulps = off(&got, &want);
            assert!(ulps <= 4.0, "the norm of rows of {size:e} on {way}: {ulps} ulp");
        }
    }
}
