//! What a graph gives, and how far from it each element may be on a device.
//!
//! The values are the reference's. The distances follow from the operations: what `docs/numerics.md` promises of each,
//! and what it makes of the distances of its operands. Where an operation jumps (a comparison, `floor`, a conversion
//! to integers) and its operand is near the jump, nothing is known of the result: the distance is infinite.

use crate::close::Leeway;
use half::bf16;
use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::kernel::FoldOp;
use sx_artifact::tensor::{Data, Tensor};
use sx_compiler::ir::{Graph, Node, Op, Value, op};
use sx_compiler::ops::{Tolerance, Trap, rules};

/// A tensor, and for each element how far a device may be from it.
#[derive(Clone)]
pub struct Bounded {
    /// The reference's value.
    pub value: Arc<Tensor>,
    /// An f32 of the same shape; infinite where nothing is known.
    pub off: Arc<Tensor>,
}

/// The outputs of `graph` with their bounds, or the trap that it ends in.
pub fn outputs(graph: &Graph, inputs: &[Tensor], leeway: Leeway) -> Result<Vec<Bounded>, Trap> {
    let inputs: Vec<Bounded> = inputs.iter().map(|input| exact(Arc::new(input.clone()))).collect();
    run(graph, &inputs, leeway)
}

fn run(graph: &Graph, inputs: &[Bounded], leeway: Leeway) -> Result<Vec<Bounded>, Trap> {
    let mut values: Vec<Vec<Bounded>> = Vec::with_capacity(graph.nodes().len());
    let held = |values: &[Vec<Bounded>], v: Value| values[v.node.0 as usize][v.result as usize].clone();
    for id in graph.ids() {
        let node = graph.node(id);
        let results = match graph.inputs.iter().position(|&input| input == id) {
            Some(at) => vec![inputs[at].clone()],
            None => {
                let args: Vec<Bounded> = node.args.iter().map(|&arg| held(&values, arg)).collect();
                results(node, &args, leeway)?
            }
        };
        values.push(results);
    }
    Ok(graph.outputs.iter().map(|output| held(&values, output.value)).collect())
}

fn results(node: &Node, args: &[Bounded], leeway: Leeway) -> Result<Vec<Bounded>, Trap> {
    let region = match &node.op {
        Op::Composite(composite) => return run(&composite.region, args, leeway),
        op => op,
    };
    let values: Vec<&Tensor> = args.iter().map(|arg| &*arg.value).collect();
    let value = rules(region).reference(&values)?.remove(0);
    let off = match region {
        Op::Constant(_) | Op::Iota(_) => none(&value),
        Op::Map(_) => function(region, args, &value, leeway),
        Op::Cast(cast) => cast_off(*cast, &args[0], &value),
        Op::As(_) => (*args[0].off).clone(),
        Op::Reduce(reduce) => fold(reduce, &args[0], &value),
        Op::Matmul(_) => product(region, args, &value),
        Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Concat(_) => {
            let offs: Vec<&Tensor> = args.iter().map(|arg| &*arg.off).collect();
            rules(region).reference(&offs)?.remove(0)
        }
        // An index is exact, or else its row is any.
        Op::Index(_) | Op::Gather(_) if known(&args[1]) => {
            rules(region).reference(&[&args[0].off, &args[1].value])?.remove(0)
        }
        Op::Index(_) | Op::Gather(_) => each(&value, |_| f64::INFINITY),
        Op::Input(_) | Op::Param(_) | Op::Context(_) => panic!("a program of a test is given inputs alone"),
        Op::Attention(_) => panic!("a program of a test writes attention out: a pass records it"),
        Op::Composite(_) => unreachable!("its region was run"),
    };
    Ok(vec![Bounded { value: Arc::new(value), off: Arc::new(off) }])
}

fn exact(value: Arc<Tensor>) -> Bounded {
    let off = none(&value);
    Bounded { value, off: Arc::new(off) }
}

fn none(value: &Tensor) -> Tensor {
    each(value, |_| 0.0)
}

fn known(x: &Bounded) -> bool {
    numbers(&x.off).iter().all(|off| *off == 0.0)
}

/// A distance for each element, rounded up; what is no number is unknown.
fn each(value: &Tensor, off: impl Fn(usize) -> f64) -> Tensor {
    let up = |x: f64| if x.is_nan() { f32::INFINITY } else { (x as f32).next_up() };
    let offs = (0..value.len()).map(|at| match off(at) {
        0.0 => 0.0,
        x => up(x),
    });
    Tensor::new(value.shape(), offs.collect::<Vec<f32>>().into())
}

/// The elements as f64; truth values are 0 and 1.
fn numbers(x: &Tensor) -> Vec<f64> {
    match x.data() {
        Data::F32(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Data::Bf16(v) => v.iter().map(|x| x.to_f64()).collect(),
        Data::I32(v) => v.iter().map(|&x| f64::from(x)).collect(),
        Data::I64(v) => v.iter().map(|&x| x as f64).collect(),
        Data::Bool(v) => v.iter().map(|&x| f64::from(u8::from(x))).collect(),
    }
}

/// The distance between f32 values near `x`.
fn spacing(x: f64) -> f64 {
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    2f64.powi(exponent - 23)
}

/// What rounding a result that is already off adds: a unit of its dtype, for it may go the other way.
fn rounding(x: f64, dtype: DType) -> f64 {
    match dtype {
        DType::Bf16 => spacing(x) * 65536.0,
        _ => spacing(x),
    }
}

/// A function is tried at the ends of what its operands may be.
fn function(op: &Op, args: &[Bounded], value: &Tensor, leeway: Leeway) -> Tensor {
    let inexact = args.iter().any(|arg| !known(arg));
    let tried: Vec<Vec<f64>> = if inexact { ends(op, args) } else { Vec::new() };
    let center = numbers(value);
    let ulps = match rules(op).about().tolerance {
        Tolerance::Ulps(ulps) => f64::from(ulps),
        Tolerance::Rounded if leeway.rounds_loosely => 1.0,
        _ => 0.0,
    };
    let offs: Vec<Vec<f64>> = args.iter().map(|arg| numbers(&arg.off)).collect();
    let chooses = matches!(op, Op::Map(map) if map.f == sx_artifact::scalar::ScalarFn::Where);
    let chosen = if chooses { numbers(&args[0].value) } else { Vec::new() };
    each(value, |at| {
        let read = |arg: usize| !chooses || arg == 0 || (chosen[at] != 0.0) == (arg == 1);
        let off =
            offs.iter().enumerate().filter(|(arg, _)| read(*arg)).fold(0f64, |m, (_, off)| m.max(off[at]));
        let x = center[at];
        if off.is_infinite() {
            return f64::INFINITY;
        }
        let moved = if off == 0.0 { 0.0 } else { tried.iter().fold(0f64, |m, t| m.max(apart(x, t[at]))) };
        let subnormal = x.abs() < f64::from(f32::MIN_POSITIVE) && x != 0.0;
        let flushed = if subnormal && value.dtype().is_float() { f64::from(f32::MIN_POSITIVE) } else { 0.0 };
        let own = if ulps == 0.0 || !x.is_finite() { 0.0 } else { ulps * rounding(x, value.dtype()) };
        match value.dtype() {
            DType::F32 | DType::Bf16 if moved > 0.0 => moved + own + flushed + rounding(x, value.dtype()),
            DType::F32 | DType::Bf16 => own + flushed,
            DType::I32 | DType::I64 | DType::Bool if moved > 0.0 => f64::INFINITY,
            DType::I32 | DType::I64 | DType::Bool => 0.0,
        }
    })
}

/// How far `y` is from `x`: not at all if they are the same kind of value, unknown if they are not.
fn apart(x: f64, y: f64) -> f64 {
    match (x.is_nan(), y.is_nan()) {
        (true, true) => 0.0,
        (false, false) if x.to_bits() == y.to_bits() => 0.0,
        // Zeros of different signs.
        (false, false) if x == y => f64::from(f32::from_bits(1)),
        (false, false) => (x - y).abs(),
        _ => f64::INFINITY,
    }
}

/// The function where each operand is as small or as large as it may be, in every combination.
fn ends(op: &Op, args: &[Bounded]) -> Vec<Vec<f64>> {
    (0..1usize << args.len())
        .map(|corner| {
            let moved: Vec<Tensor> =
                args.iter().enumerate().map(|(at, arg)| shifted(arg, corner >> at & 1 == 1)).collect();
            let result = rules(op).reference(&moved.iter().collect::<Vec<_>>());
            result.map_or_else(|_| Vec::new(), |mut results| numbers(&results.remove(0)))
        })
        .collect()
}

/// Every element moved by as far as it may be off, outwards; integers and truth values as they are.
fn shifted(x: &Bounded, up: bool) -> Tensor {
    let offs = numbers(&x.off);
    let moved = |at: usize, x: f64| match (offs[at], up) {
        (off, _) if off == 0.0 || off.is_infinite() => x,
        (off, true) => x + off,
        (off, false) => x - off,
    };
    let data: Data = match x.value.data() {
        Data::F32(v) => {
            v.iter().enumerate().map(|(at, &x)| moved(at, f64::from(x)) as f32).collect::<Vec<_>>().into()
        }
        Data::Bf16(v) => {
            let of = |(at, x): (usize, &bf16)| bf16::from_f64(moved(at, x.to_f64()));
            v.iter().enumerate().map(of).collect::<Vec<_>>().into()
        }
        other => other.clone(),
    };
    Tensor::new(x.value.shape(), data)
}

fn cast_off(cast: op::Cast, x: &Bounded, value: &Tensor) -> Tensor {
    let (offs, before, after) = (numbers(&x.off), numbers(&x.value), numbers(value));
    if x.value.dtype() == cast.dtype {
        return (*x.off).clone();
    }
    let converted = |up| {
        let moved = shifted(x, up);
        let mut results = rules(&Op::Cast(cast)).reference(&[&moved]).expect("a conversion does not trap");
        numbers(&results.remove(0))
    };
    let (low, high) = (converted(false), converted(true));
    each(value, |at| match offs[at] {
        0.0 => 0.0,
        off if off.is_infinite() => f64::INFINITY,
        off if cast.dtype.is_float() && before[at].is_finite() => {
            off + if cast.dtype == DType::Bf16 { rounding(after[at], DType::Bf16) } else { 0.0 }
        }
        _ if low[at] == after[at] && high[at] == after[at] => 0.0,
        _ => f64::INFINITY,
    })
}

/// Magnitudes beyond this may overflow on the way in one order and not in another.
const LARGEST: f64 = 1e37;

fn fold(reduce: &op::Reduce, x: &Bounded, value: &Tensor) -> Tensor {
    let most = Op::Reduce(op::Reduce { op: FoldOp::Max, ..reduce.clone() });
    let sum = Op::Reduce(op::Reduce { op: FoldOp::Sum, ..reduce.clone() });
    let empty = x.value.is_empty();
    let over =
        |op: &Op, x: &Tensor| numbers(&rules(op).reference(&[x]).expect("a fold does not trap").remove(0));
    let unchanged = |op: &Op| if empty { vec![0.0; value.len()] } else { over(op, &x.off) };
    if reduce.axes.is_empty() || !value.dtype().is_float() || matches!(reduce.op, FoldOp::Max | FoldOp::Min) {
        let offs = unchanged(&most);
        return each(value, |at| {
            if value.dtype().is_float() || offs[at] == 0.0 { offs[at] } else { f64::INFINITY }
        });
    }
    let result = numbers(value);
    match reduce.op {
        FoldOp::Sum => {
            let offs = unchanged(&sum);
            let total = over(&sum, &map(&x.value, |x| if x.is_finite() { x.abs() } else { 0.0 }));
            each(value, |at| {
                summed(result[at], offs[at], 16.0 * spacing(total[at]), total[at], value.dtype())
            })
        }
        _ => {
            let prod = Op::Reduce(op::Reduce { op: FoldOp::Prod, ..reduce.clone() });
            let (off, n) = (numbers(&x.off), (x.value.len() / value.len().max(1)) as f64);
            let wide = |with: bool| {
                let magnitudes = numbers(&x.value);
                let data: Vec<f32> = magnitudes
                    .iter()
                    .zip(&off)
                    .map(|(x, off)| {
                        let x = if x.is_finite() { x.abs() } else { 1.0 };
                        (x + if with { *off } else { 0.0 }) as f32
                    })
                    .collect();
                over(&prod, &Tensor::new(x.value.shape(), data.into()))
            };
            let (total, wider) = (wide(false), wide(true));
            let unknown = unchanged(&most);
            each(value, |at| {
                let own = n * spacing(total[at]) + f64::from(f32::MIN_POSITIVE);
                let off = if unknown[at].is_infinite() { f64::INFINITY } else { wider[at] - total[at] };
                summed(result[at], off, own, wider[at], value.dtype())
            })
        }
    }
}

/// How far a sum of a `total` magnitude may be off.
fn summed(result: f64, off: f64, own: f64, total: f64, dtype: DType) -> f64 {
    if off.is_infinite() || off.is_nan() || total > LARGEST || (!total.is_finite() && result.is_finite()) {
        return f64::INFINITY;
    }
    if !result.is_finite() {
        return 0.0;
    }
    // A sum of zeros is a zero of either sign.
    if total == 0.0 && off == 0.0 {
        f64::from(f32::from_bits(1))
    } else {
        off + own + rounding(result, dtype)
    }
}

/// A float tensor with a function applied, as f32.
fn map(x: &Tensor, f: impl Fn(f64) -> f64) -> Tensor {
    Tensor::new(x.shape(), numbers(x).into_iter().map(|x| f(x) as f32).collect::<Vec<f32>>().into())
}

fn product(op: &Op, args: &[Bounded], value: &Tensor) -> Tensor {
    let (a, b) = (&args[0], &args[1]);
    let plain = Op::Matmul(op::Matmul { out_f32: false });
    let of = |a: &Tensor, b: &Tensor| {
        numbers(&rules(&plain).reference(&[a, b]).expect("a product does not trap").remove(0))
    };
    let sizes = |x: &Bounded| map(&x.value, |x| if x.is_finite() { x.abs() } else { 0.0 });
    if !value.dtype().is_float() {
        let unknown = |x: &Bounded| map(&x.off, |off| if off == 0.0 { 0.0 } else { 1.0 });
        let ones = |x: &Bounded| map(&x.value, |_| 1.0);
        let (left, right) = (of(&unknown(a), &ones(b)), of(&ones(a), &unknown(b)));
        return each(value, |at| if left[at] + right[at] == 0.0 { 0.0 } else { f64::INFINITY });
    }
    let total = of(&sizes(a), &sizes(b));
    // Both operands as large as they may be; 0 times unknown is unknown.
    let wide = |x: &Bounded| {
        let offs = numbers(&x.off);
        let size = numbers(&x.value).into_iter().zip(offs);
        let data: Vec<f32> =
            size.map(|(x, off)| (if x.is_finite() { x.abs() } else { 0.0 } + off) as f32).collect();
        Tensor::new(x.value.shape(), data.into())
    };
    let wider = of(&wide(a), &wide(b));
    let crossing = crossing(a, b, &of);
    let k = a.value.shape().last().map_or(1.0, |&k| k as f64);
    let result = numbers(value);
    let _ = op;
    each(value, |at| {
        let off =
            if wider[at].is_nan() || crossing[at] > 0.0 { f64::INFINITY } else { wider[at] - total[at] };
        let own = 4.0 * k.sqrt().max(1.0) * spacing(wider[at].min(f64::from(f32::MAX)));
        summed(result[at], off.max(0.0), own, wider[at], value.dtype())
    })
}

/// Positive where an infinity or a NaN meets a factor of unknown sign.
fn crossing(a: &Bounded, b: &Bounded, of: &dyn Fn(&Tensor, &Tensor) -> Vec<f64>) -> Vec<f64> {
    let unsure = |x: &Bounded| {
        let offs = numbers(&x.off);
        let data: Vec<f32> = numbers(&x.value)
            .into_iter()
            .zip(offs)
            .map(|(x, off)| if off > 0.0 && (off >= x.abs() || !x.is_finite()) { 1.0 } else { 0.0 })
            .collect();
        Tensor::new(x.value.shape(), data.into())
    };
    let wild = |x: &Bounded| map(&x.value, |x| if x.is_finite() { 0.0 } else { 1.0 });
    let (left, right) = (of(&unsure(a), &wild(b)), of(&wild(a), &unsure(b)));
    left.into_iter().zip(right).map(|(x, y)| x + y).collect()
}

/// The first element that is farther off than it may be, in words.
pub fn difference(want: &Bounded, got: &Tensor, leeway: Leeway) -> Option<String> {
    if (got.dtype(), got.shape()) != (want.value.dtype(), want.value.shape()) {
        let (value, shape) = (&want.value, got.shape());
        return Some(format!("{shape:?} {}, not {:?} {}", got.dtype(), value.shape(), value.dtype()));
    }
    let (offs, wanted, found) = (numbers(&want.off), numbers(&want.value), numbers(got));
    let smallest = f64::from(f32::MIN_POSITIVE);
    let fits = |at: usize| {
        let (off, x, y) = (offs[at], wanted[at], found[at]);
        match off {
            _ if off.is_infinite() || (x.is_nan() && y.is_nan()) => true,
            0.0 if leeway.flushes && x.abs() < smallest && y.abs() < smallest => {
                x == 0.0 || y == 0.0 || x == y
            }
            0.0 => x.to_bits() == y.to_bits(),
            _ => x == y || (x - y).abs() <= 2.0 * off + if leeway.flushes { smallest } else { 0.0 },
        }
    };
    let exact = !want.value.dtype().is_float();
    if exact && known(want) && want.value.data() != got.data() {
        let at = (0..wanted.len()).find(|&at| wanted[at] != found[at]).unwrap_or(0);
        return Some(format!("element {at} is {}, not {}", found[at], wanted[at]));
    }
    let at = (0..wanted.len()).find(|&at| !fits(at))?;
    Some(format!("element {at} is {:e}, not {:e}, and may be off by {:e}", found[at], wanted[at], offs[at]))
}

/// How many elements are compared, and how many there are.
pub fn compared(outputs: &[Bounded]) -> (u64, u64) {
    let known = |output: &Bounded| {
        let limit = |x: f64| 0.01 * x.abs().max(1.0);
        let pairs = numbers(&output.off).into_iter().zip(numbers(&output.value));
        pairs.filter(|(off, x)| *off == 0.0 || *off <= limit(*x)).count() as u64
    };
    (outputs.iter().map(known).sum(), outputs.iter().map(|output| output.value.len() as u64).sum())
}
