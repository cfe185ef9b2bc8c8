//! Tensors for people: name, shape, dtype, and values, large ones abbreviated as NumPy does.

use std::fmt::Write;
use sx_artifact::tensor::Tensor;

/// From this many elements on, only the ends of each axis are shown.
const FULL: usize = 1000;
/// How many elements at each end.
const EDGE: usize = 3;
/// How long a line of elements may be.
const WIDTH: usize = 100;

/// `name: [2, 3] f32` and the values, on the same line where there are few.
pub fn tensor(name: &str, tensor: &Tensor) -> String {
    let head = format!("{name}: {:?} {}", tensor.shape(), tensor.dtype());
    let body = values(tensor);
    match body.contains('\n') || head.len() + body.len() + 3 > WIDTH {
        true => format!("{head}\n{body}"),
        false => format!("{head} = {body}"),
    }
}

/// The values in nested brackets.
pub fn values(tensor: &Tensor) -> String {
    let brief = tensor.len() > FULL;
    let mut shown = Shown { tensor, brief, width: 0, out: String::new() };
    shown.width = shown.widest(0, 0);
    shown.axis(0, 0);
    shown.out
}

struct Shown<'a> {
    tensor: &'a Tensor,
    brief: bool,
    /// Of the widest element that is shown.
    width: usize,
    out: String,
}

impl Shown<'_> {
    /// The positions along an axis that are shown; `None` is an ellipsis.
    fn positions(&self, axis: usize) -> Vec<Option<usize>> {
        let size = self.tensor.shape()[axis] as usize;
        match self.brief && size > 2 * EDGE {
            true => (0..EDGE).map(Some).chain([None]).chain((size - EDGE..size).map(Some)).collect(),
            false => (0..size).map(Some).collect(),
        }
    }

    /// How many elements one step along `axis` skips.
    fn stride(&self, axis: usize) -> usize {
        self.tensor.shape()[axis + 1..].iter().product::<u64>() as usize
    }

    fn widest(&self, axis: usize, at: usize) -> usize {
        if axis == self.tensor.shape().len() {
            return self.tensor.data().element(at).len();
        }
        let stride = self.stride(axis);
        let positions = self.positions(axis).into_iter().flatten();
        positions.map(|position| self.widest(axis + 1, at + position * stride)).max().unwrap_or(0)
    }

    fn axis(&mut self, axis: usize, at: usize) {
        let rank = self.tensor.shape().len();
        if axis == rank {
            let text = self.tensor.data().element(at);
            // A single number needs no column.
            let width = if rank == 0 { 0 } else { self.width };
            write!(self.out, "{text:>width$}").expect("a string takes any text");
            return;
        }
        let last = axis + 1 == rank;
        let indent = " ".repeat(axis + 1);
        let stride = self.stride(axis);
        let mut line = self.out.len();
        self.out.push('[');
        for (number, position) in self.positions(axis).into_iter().enumerate() {
            let full_line = self.out.len() - line + self.width + 1 + rank > WIDTH;
            if number > 0 && (!last || full_line) {
                // NumPy's: a blank line more for each axis between.
                let breaks = if last { 1 } else { rank - axis - 1 };
                self.out.push_str(&"\n".repeat(breaks));
                line = self.out.len();
                self.out.push_str(&indent);
            } else if number > 0 {
                self.out.push(' ');
            }
            match position {
                Some(position) => self.axis(axis + 1, at + position * stride),
                None => self.out.push_str("..."),
            }
        }
        self.out.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sx_artifact::tensor::Data;

    #[test]
    fn printed_tensors() {
        let of = |shape: &[u64], data: Data| tensor("out", &Tensor::new(shape, data));
        let floats = |count: u32| Data::F32((0..count).map(|x| x as f32 / 2.0).collect());
        let cases = [
            (of(&[], Data::F32(vec![0.1])), "out: [] f32 = 0.1"),
            (of(&[3], Data::I64(vec![1, -20, 3])), "out: [3] i64 = [  1 -20   3]"),
            (of(&[0, 4], floats(0)), "out: [0, 4] f32 = []"),
            (of(&[2, 3], floats(6)), "out: [2, 3] f32\n[[0.0 0.5 1.0]\n [1.5 2.0 2.5]]"),
            (
                of(&[2, 1, 2], Data::Bool(vec![true, false, true, true])),
                "out: [2, 1, 2] bool\n[[[ true false]]\n\n [[ true  true]]]",
            ),
            (of(&[2], Data::F32(vec![f32::NAN, f32::NEG_INFINITY])), "out: [2] f32 = [ nan -inf]"),
            (of(&[2000], floats(2000)), "out: [2000] f32 = [  0.0   0.5   1.0 ... 998.5 999.0 999.5]"),
        ];
        for (printed, expected) in cases {
            assert_eq!(printed, expected);
        }
        let lines = of(&[40], floats(40));
        assert!(lines.lines().count() > 2 && lines.lines().all(|line| line.len() <= WIDTH), "{lines}");
    }
}
