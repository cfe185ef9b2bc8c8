//! NumPy's `.npy`: a magic, a header in Python's literal syntax, and the elements.

use super::raw::{Raw, RawKind};
use std::borrow::Cow;
use std::io::{self, Write};
use sx_artifact::dtype::DType;
use sx_artifact::tensor::{Data, Tensor};

const MAGIC: &[u8] = b"\x93NUMPY";

/// What a file begins with: its header, and where its elements start.
fn head(bytes: &[u8]) -> Result<(Header, usize), String> {
    let cut = || "it ends within its header".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is not a NumPy file: it does not begin as one")?;
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let (length, rest) = match (major, minor) {
        (1, 0) => {
            rest.split_first_chunk().map(|(&length, rest)| (usize::from(u16::from_le_bytes(length)), rest))
        }
        (2 | 3, 0) => {
            rest.split_first_chunk().map(|(&length, rest)| (u32::from_le_bytes(length) as usize, rest))
        }
        _ => return Err(format!("NumPy format {major}.{minor} is not read, only 1.0, 2.0 and 3.0")),
    }
    .ok_or_else(cut)?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = Header::parse(std::str::from_utf8(header).map_err(|_| "its header is not text")?)?;
    Ok((header, bytes.len() - data.len()))
}

/// The shape that a file's first bytes announce, and how many bytes all of it has; none where no file has so many.
pub(super) fn announced(bytes: &[u8]) -> Result<(Vec<u64>, Option<u64>), String> {
    let (header, start) = head(bytes)?;
    let (kind, _) = element_type(&header.descr)?;
    let elements = elements(&header.shape, kind);
    Ok((header.shape, elements.and_then(|bytes| bytes.checked_add(start as u64))))
}

/// Bytes of the elements.
fn elements(shape: &[u64], kind: RawKind) -> Option<u64> {
    let count = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size));
    count.and_then(|count| count.checked_mul(kind.size() as u64))
}

/// Reads a whole file. The elements are borrowed where they are already row-major and little-endian.
pub fn parse(bytes: &[u8]) -> Result<Raw<'_>, String> {
    let (header, start) = head(bytes)?;
    let data = &bytes[start..];
    let (kind, big) = element_type(&header.descr)?;
    if elements(&header.shape, kind) != Some(data.len() as u64) {
        let Header { shape, descr, .. } = header;
        return Err(format!("its header says {shape:?} of `{descr}` and {} bytes follow", data.len()));
    }
    let mut elements = Cow::Borrowed(data);
    if big && kind.size() > 1 {
        elements.to_mut().chunks_exact_mut(kind.size()).for_each(<[u8]>::reverse);
    }
    if header.fortran && header.shape.len() > 1 {
        elements = Cow::Owned(row_major(&elements, &header.shape, kind.size()));
    }
    Ok(Raw { kind, shape: header.shape, bytes: elements })
}

/// The elements of a column-major tensor, row-major.
fn row_major(from: &[u8], shape: &[u64], size: usize) -> Vec<u8> {
    let mut to = Vec::with_capacity(from.len());
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for &axis in shape {
        strides.push(stride);
        stride *= axis as usize;
    }
    let mut position = vec![0u64; shape.len()];
    let mut at = 0;
    for _ in 0..from.len() / size {
        to.extend(&from[at * size..][..size]);
        for axis in (0..shape.len()).rev() {
            position[axis] += 1;
            at += strides[axis];
            if position[axis] < shape[axis] {
                break;
            }
            at -= strides[axis] * shape[axis] as usize;
            position[axis] = 0;
        }
    }
    to
}

/// The element type that a `descr` names, and whether it is big-endian.
fn element_type(descr: &str) -> Result<(RawKind, bool), String> {
    let (order, code) = descr.split_at_checked(1).ok_or("its header names no element type")?;
    let kind = match code {
        "f2" => RawKind::F16,
        "f4" => RawKind::F32,
        "f8" => RawKind::F64,
        "i1" => RawKind::I8,
        "i2" => RawKind::I16,
        "i4" => RawKind::I32,
        "i8" => RawKind::I64,
        "u1" => RawKind::U8,
        "u2" => RawKind::U16,
        "u4" => RawKind::U32,
        "u8" => RawKind::U64,
        "b1" => RawKind::Bool,
        "V2" => RawKind::Void2,
        _ if code.starts_with('O') => return Err("it holds Python objects, which are not read".to_owned()),
        _ => return Err(format!("elements of type `{descr}` are not read; store floats, integers or bools")),
    };
    match order {
        "<" | "|" | "=" => Ok((kind, false)),
        ">" => Ok((kind, true)),
        _ => Err(format!("elements of type `{descr}` are not read; store floats, integers or bools")),
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<u64>,
}

impl Header {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, keys in any order.
    fn parse(text: &str) -> Result<Header, String> {
        let mut rest = Python(text.trim());
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        rest.expect("{")?;
        while !rest.accept("}") {
            let key = rest.string()?;
            rest.expect(":")?;
            match key {
                "descr" if rest.0.starts_with('[') => {
                    return Err("it holds structured elements, which are not read".to_owned());
                }
                "descr" => descr = Some(rest.string()?.to_owned()),
                "fortran_order" => fortran = Some(rest.truth()?),
                "shape" => shape = Some(rest.sizes()?),
                _ => return Err(format!("its header has an unknown key `{key}`")),
            }
            if !rest.accept(",") && !rest.0.starts_with('}') {
                return Err(odd());
            }
        }
        match (descr, fortran, shape, rest.0.is_empty()) {
            (Some(descr), Some(fortran), Some(shape), true) => Ok(Header { descr, fortran, shape }),
            _ => Err(odd()),
        }
    }
}

fn odd() -> String {
    "its header is not as NumPy writes it".to_owned()
}

/// What is left of a Python literal; never begins with a space.
struct Python<'a>(&'a str);

impl<'a> Python<'a> {
    fn accept(&mut self, token: &str) -> bool {
        match self.0.strip_prefix(token) {
            Some(rest) => {
                self.0 = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) { Ok(()) } else { Err(odd()) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = self.0.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or_else(odd)?;
        let (string, rest) = self.0[1..].split_once(quote).ok_or_else(odd)?;
        self.0 = rest.trim_start();
        Ok(string)
    }

    fn truth(&mut self) -> Result<bool, String> {
        match (self.accept("True"), self.accept("False")) {
            (true, _) => Ok(true),
            (false, true) => Ok(false),
            (false, false) => Err(odd()),
        }
    }

    fn sizes(&mut self) -> Result<Vec<u64>, String> {
        let mut sizes = Vec::new();
        self.expect("(")?;
        while !self.accept(")") {
            let digits = self.0.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.0.len());
            sizes.push(self.0[..digits].parse().map_err(|_| odd())?);
            self.0 = self.0[digits..].trim_start();
            // Python 2 wrote long integers so.
            self.accept("L");
            if !self.accept(",") && !self.0.starts_with(')') {
                return Err(odd());
            }
        }
        Ok(sizes)
    }
}

/// A tensor as a `.npy` file, not yet written.
pub(super) struct Encoded<'a> {
    head: Vec<u8>,
    elements: Cow<'a, [u8]>,
}

impl<'a> Encoded<'a> {
    pub(super) fn new(tensor: &'a Tensor) -> Encoded<'a> {
        let descr = match tensor.dtype() {
            DType::F32 | DType::Bf16 => "<f4",
            DType::I32 => "<i4",
            DType::I64 => "<i8",
            DType::Bool => "|b1",
        };
        let sizes: Vec<String> = tensor.shape().iter().map(u64::to_string).collect();
        let shape = match sizes.as_slice() {
            [one] => format!("({one},)"),
            _ => format!("({})", sizes.join(", ")),
        };
        let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        // Magic, version and length take 10 bytes; the elements start at a multiple of 64, after a newline.
        let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
        text += &" ".repeat(length - 1 - text.len());
        text.push('\n');
        let length = u16::try_from(text.len()).expect("ranks are far too small for a header of 64 KiB");
        let head = [MAGIC, &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat();
        let elements = match tensor.data() {
            Data::Bf16(values) => {
                let widened: Vec<f32> = values.iter().map(|x| x.to_f32()).collect();
                Cow::Owned(bytemuck::allocation::pod_collect_to_vec(&widened))
            }
            Data::F32(_) | Data::I32(_) | Data::I64(_) | Data::Bool(_) => Cow::Borrowed(tensor.bytes()),
        };
        Encoded { head, elements }
    }

    pub(super) fn len(&self) -> u64 {
        (self.head.len() + self.elements.len()) as u64
    }

    pub(super) fn crc32(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.head);
        hasher.update(&self.elements);
        hasher.finalize()
    }

    pub(super) fn emit(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.head)?;
        out.write_all(&self.elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let header = |descr: &str, fortran, shape: &[u64]| {
            Ok(Header { descr: descr.to_owned(), fortran, shape: shape.to_vec() })
        };
        let cases = [
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  \n",
                header("<f4", false, &[2, 3]),
            ),
            ("{\"shape\": (7,), \"fortran_order\": True, \"descr\": \"|b1\"}", header("|b1", true, &[7])),
            ("{'descr': '>i8', 'fortran_order': False, 'shape': ()}", header(">i8", false, &[])),
            ("{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L)}", header("<i2", false, &[2, 3])),
            ("{'descr': '<f4', 'shape': (2, 3)}", Err(odd())),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}", Err(odd())),
            ("{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", Err(odd())),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", Err(odd())),
            ("{", Err(odd())),
            ("", Err(odd())),
        ];
        for (text, expected) in cases {
            assert_eq!(Header::parse(text), expected, "{text}");
        }
    }
}
