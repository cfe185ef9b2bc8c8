//! Attention: a product behind a softmax behind a product, without the scores ever being stored.

use super::body::BodyBuilder;
use super::finish::{self, finished_traps, outermost_first, store};
use super::index::{Idx, Term};
use super::lower::{AxisKey, Lowered, Lowering, Product, Retry};
use sx_artifact::kernel::{Affine, Attention, Body, Const, Inst, KernelKind, Operand, Val};
use sx_artifact::scalar::ScalarFn;

/// Finishes a walk that met the second product of an attention.
pub fn lower(walk: &mut Lowering<'_>, product: Product, at: &[Idx], result: Val) -> Result<Lowered, Retry> {
    let node = walk.graph.node(product.node).clone();
    let rank = product.at.len();
    let scores = walk.graph.node(node.args[0].node).args[0];
    let key_count = walk.graph.ty(scores).dims[rank - 1].size;
    let (query_at, value_at) = (product.at[rank - 2].clone(), product.at[rank - 1].clone());
    if query_at.terms.len() > 1 || value_at.terms.len() > 1 {
        return Err(Retry::Store(product.node.into()));
    }
    let epilogue = walk.new_body();
    let epilogue_traps = walk.traps.len();
    let batch_at = product.at[..rank - 2].to_vec();
    let keys = walk.new_axis(AxisKey::Keys, key_count);
    let position = |last: [&Idx; 2]| batch_at.iter().chain(last).cloned().collect::<Vec<Idx>>();

    walk.in_score = true;
    let score_value = walk.value(scores, &position([&query_at, &keys]), None)?;
    walk.in_score = false;
    let score = walk.new_body();
    let Some(inner) = walk.scores.clone() else { return Err(Retry::Store(scores)) };
    if inner.at != position([&query_at, &keys]) {
        return Err(Retry::Store(inner.node.into()));
    }
    let (left, right) = (walk.graph.node(inner.node).args[0], walk.graph.node(inner.node).args[1]);
    let width = walk.graph.ty(left).dims[rank - 1].size;
    let summed = walk.new_axis(AxisKey::Summed, width);
    let query = walk.operand(left, &position([&query_at, &summed]))?;
    let key = walk.operand(right, &position([&summed, &keys]))?;
    let value = walk.operand(node.args[1], &position([&keys, &value_at]))?;
    if walk.traps.len() > epilogue_traps {
        return Err(Retry::Store(scores));
    }

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

/// An attention's coordinates are always all there, also those of size 1.
fn padded(mut body: Body, batch: &[u32], coords: [&Idx; 2]) -> Body {
    for inst in &mut body.insts {
        super::body::for_each_affine(inst, |affine| {
            affine.strides = pad(&affine.strides, batch.len(), coords);
        });
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
    insts[args[2].0 as usize] == hidden && requires_past(insts, args[0], batch, s as i64 - t as i64)
}

/// Whether `condition` is false wherever key - query > `ahead`.
fn requires_past(insts: &[Inst], condition: Val, batch: usize, ahead: i64) -> bool {
    let Inst::Call { f, args } = &insts[condition.0 as usize] else { return false };
    let (low, high, slack) = match f {
        ScalarFn::And => return args.iter().any(|&arg| requires_past(insts, arg, batch, ahead)),
        ScalarFn::Le => (args[0], args[1], 0),
        ScalarFn::Lt => (args[0], args[1], -1),
        ScalarFn::Ge => (args[1], args[0], 0),
        ScalarFn::Gt => (args[1], args[0], -1),
        _ => return false,
    };
    // The condition is low - high <= slack; it must be key - query <= ahead.
    let (Some(low), Some(high)) = (affine(insts, low), affine(insts, high)) else { return false };
    let difference: Vec<i64> = low.strides.iter().zip(&high.strides).map(|(a, b)| a - b).collect();
    let (query, key) = (batch, batch + 1);
    let shape = difference.iter().enumerate().all(|(i, &stride)| {
        stride
            == if i == key {
                1
            } else if i == query {
                -1
            } else {
                0
            }
    });
    shape && slack - (low.offset - high.offset) <= ahead
}

fn affine(insts: &[Inst], val: Val) -> Option<Affine> {
    match &insts[val.0 as usize] {
        Inst::Index { at, .. } => Some(at.clone()),
        Inst::Convert { x, .. } => affine(insts, *x),
        _ => None,
    }
}
