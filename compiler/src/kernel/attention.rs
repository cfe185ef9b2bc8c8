//! Attention: a product behind a softmax behind a product, without the scores ever being stored.

use super::body::BodyBuilder;
use super::finish::{self, finished_traps, outermost_first, store};
use super::index::{Idx, Term};
use super::lower::{AxisKey, Lowered, Lowering, Product, Retry};
use crate::ir::{Op, Value};
use std::collections::HashSet;
use sx_artifact::kernel::{Affine, Attention, Body, Const, Inst, KernelKind, Operand, ScalarType, Val};
use sx_artifact::scalar::ScalarFn;

/// Finishes a walk that met an attention.
pub fn lower(walk: &mut Lowering<'_>, product: Product, at: &[Idx], result: Val) -> Result<Lowered, Retry> {
    let node = walk.graph.node(product.node).clone();
    let Op::Attention(attention) = &node.op else { unreachable!("the walk met an attention") };
    let rank = product.at.len();
    let (query_at, value_at) = (product.at[rank - 2].clone(), product.at[rank - 1].clone());
    if query_at.terms.len() > 1 || value_at.terms.len() > 1 {
        return Err(Retry::Store(product.node.into()));
    }
    let size_of = |arg: Value, axis: usize| walk.graph.ty(arg).dims[axis].size;
    let (width, key_count) = (size_of(node.args[0], rank - 1), size_of(node.args[2], rank - 2));
    let epilogue = walk.new_body();
    let batch_at = product.at[..rank - 2].to_vec();
    let keys = walk.new_axis(AxisKey::Keys, key_count);
    let summed = walk.new_axis(AxisKey::Summed, width);
    let position = |last: [&Idx; 2]| batch_at.iter().chain(last).cloned().collect::<Vec<Idx>>();
    let query = operand(walk, node.args[0], &position([&query_at, &summed]))?;
    let key = operand(walk, node.args[1], &position([&summed, &keys]))?;
    let value = operand(walk, node.args[2], &position([&keys, &value_at]))?;
    let score_value = score(walk, attention, &node.args[3..], &position([&query_at, &keys]))?;
    let score = walk.new_body();

    let batch: Vec<u32> = batch_at.iter().flat_map(outermost_first).collect();
    let list = |idx: [&Idx; 2]| -> Vec<u32> {
        batch.iter().copied().chain(idx.into_iter().flat_map(outermost_first)).collect()
    };
    let finish_operand = |(code, value): &(BodyBuilder, Val), coords: [&Idx; 2]| {
        let (body, kept) = code.finish(&[*value], &list(coords));
        Operand { body: padded(body, &batch, coords), value: kept[0] }
    };
    let query = finish_operand(&query, [&query_at, &summed]);
    let key = finish_operand(&key, [&keys, &summed]);
    let value = finish_operand(&value, [&keys, &value_at]);
    let score = finish_operand(&(score, score_value), [&query_at, &keys]);
    let outer = list([&query_at, &value_at]);
    let (body, kept) = epilogue.finish(&[result], &outer);
    let mut stored = store(walk, at, kept[0], &outer);
    stored.access.at.strides = pad(&stored.access.at.strides, batch.len(), [&query_at, &value_at]);
    let size = |idx: &Idx| idx.coords().map(|c| walk.space.size(c)).product::<u64>();
    let (t, s) = (size(&query_at), key_count);
    let attention = Attention {
        batch: batch.iter().map(|&c| walk.space.size(c)).collect(),
        t,
        s,
        d: width,
        e: size(&value_at),
        causal: is_causal(&score, batch.len(), t, s),
        zero_hidden_rows: attention.zero_hidden_rows,
        query,
        key,
        value,
        score,
        epilogue: padded(body, &batch, [&query_at, &value_at]),
        stores: vec![stored],
    };
    let traps = finished_traps(walk, &outer);
    Ok(finish::lowered(walk, KernelKind::Attention(attention), traps))
}

/// The code of queries, keys or values. What may trap is stored first: a trap is told by its position in the result.
fn operand(walk: &mut Lowering<'_>, arg: Value, at: &[Idx]) -> Result<(BodyBuilder, Val), Retry> {
    let traps = walk.traps.len();
    let code = walk.operand(arg, at)?;
    if walk.traps.len() > traps { Err(Retry::Store(behind_views(walk, arg))) } else { Ok(code) }
}

fn behind_views(walk: &Lowering<'_>, arg: Value) -> Value {
    walk.analysis.computed_behind_views(arg).unwrap_or(arg)
}

/// Writes the scores from the dot products, and gives their value.
fn score(
    walk: &mut Lowering<'_>,
    attention: &crate::ir::op::Attention,
    others: &[Value],
    at: &[Idx],
) -> Result<Val, Retry> {
    let region = &attention.score;
    let traps = walk.traps.len();
    let mut values: Vec<Val> = Vec::with_capacity(region.nodes().len());
    for id in region.ids() {
        let node = region.node(id);
        let args = || node.args.iter().map(|arg| values[arg.node.0 as usize]).collect::<Vec<Val>>();
        let value = match (&node.op, region.inputs.iter().position(|&input| input == id)) {
            (_, Some(0)) => walk.body.inst(Inst::Acc { reg: ScalarType::F32 }, ScalarType::F32),
            (_, Some(other)) => {
                let value = walk.value(others[other - 1], at, None)?;
                if walk.traps.len() > traps {
                    return Err(Retry::Store(behind_views(walk, others[other - 1])));
                }
                value
            }
            (Op::Map(map), None) => {
                let value = walk.body.call(map.f, args());
                let rounds = crate::ops::scalar::def(map.f).rounds;
                if rounds { walk.body.rounded(value, node.results[0].dtype) } else { value }
            }
            (_, None) => args()[0],
        };
        values.push(value);
    }
    Ok(values[region.outputs[0].value.node.0 as usize])
}

/// An attention's coordinates are always all there, also those of size 1.
fn padded(mut body: Body, batch: &[u32], coords: [&Idx; 2]) -> Body {
    for affine in body.insts.iter_mut().filter_map(Inst::affine_mut) {
        affine.strides = pad(&affine.strides, batch.len(), coords);
    }
    body
}

fn pad(strides: &[i64], batch: usize, coords: [&Idx; 2]) -> Vec<i64> {
    let mut padded = strides[..batch].to_vec();
    let mut rest = strides[batch..].iter();
    for idx in coords {
        let present = idx.terms.iter().any(|(term, _)| matches!(term, Term::Coord(_)));
        padded.push(if present { rest.next().copied().unwrap_or(0) } else { 0 });
    }
    padded
}

/// Whether the score is -inf for every key after the query's own, counted from the ends.
fn is_causal(score: &Operand, batch: usize, t: u64, s: u64) -> bool {
    let insts = &score.body.insts;
    let Inst::Call { f: ScalarFn::Where, args } = &insts[score.value.0 as usize] else { return false };
    let hidden = Inst::Const(Const::F32(f32::NEG_INFINITY.to_bits()));
    if insts[args[2].0 as usize] != hidden {
        return false;
    }
    // The condition is one test, or all of several: one of them is enough.
    let mut seen = HashSet::from([args[0]]);
    let mut waiting = vec![args[0]];
    while let Some(condition) = waiting.pop() {
        let Inst::Call { f, args } = &insts[condition.0 as usize] else { continue };
        if *f == ScalarFn::And {
            waiting.extend(args.iter().copied().filter(|arg| seen.insert(*arg)));
        } else if requires_past(insts, *f, args, batch, s as i64 - t as i64) {
            return true;
        }
    }
    false
}

/// Whether a comparison is false wherever key - query > `ahead`.
fn requires_past(insts: &[Inst], f: ScalarFn, args: &[Val], batch: usize, ahead: i64) -> bool {
    let (low, high, slack) = match f {
        ScalarFn::Le => (args[0], args[1], 0),
        ScalarFn::Lt => (args[0], args[1], -1),
        ScalarFn::Ge => (args[1], args[0], 0),
        ScalarFn::Gt => (args[1], args[0], -1),
        _ => return false,
    };
    // The condition is low - high <= slack; it must be key - query <= ahead.
    let (Some(low), Some(high)) = (affine(insts, low), affine(insts, high)) else { return false };
    let (query, key) = (batch, batch + 1);
    let wanted = |at: usize| i64::from(at == key) - i64::from(at == query);
    let differences = low.strides.iter().zip(&high.strides).map(|(a, b)| a - b);
    differences.enumerate().all(|(at, stride)| stride == wanted(at))
        && slack - (low.offset - high.offset) <= ahead
}

fn affine(insts: &[Inst], val: Val) -> Option<Affine> {
    match &insts[val.0 as usize] {
        Inst::Index { at, .. } => Some(at.clone()),
        Inst::Convert { x, .. } => affine(insts, *x),
        _ => None,
    }
}
