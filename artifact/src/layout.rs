//! The zip structure around the entries, as a pure function of their names, lengths and checksums.
//!
//! Writer and reader share it: the writer writes these bytes, the reader makes them again from the manifest
//! and compares. So there is one encoding of a given set of entries, and nothing in the file goes unread.
//!
//! An entry is a local header, its data at a multiple of [`ALIGN`], and nothing between it and the next
//! header. The directory and its end record follow the last entry.

use crate::error::Error;

/// Where an entry's data starts: at a multiple of this, so that mapped tensors are aligned for any vector unit.
pub const ALIGN: u64 = 64;

/// What the zip structure says of an entry.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The name.
    pub name: &'a str,
    /// How many bytes of data it has.
    pub length: u64,
    /// Their CRC-32.
    pub crc32: u32,
}

/// Where an entry lies.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Where its local header starts.
    pub header: u64,
    /// The header: all bytes from `header` to `data`.
    pub head: Vec<u8>,
    /// Where its data starts.
    pub data: u64,
    /// Where its data ends.
    pub end: u64,
}

/// The whole structure of a file.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The entries, in order.
    pub entries: Vec<Placed>,
    /// Directory and end records: the file's last bytes.
    pub tail: Vec<u8>,
    /// The length of the file.
    pub length: u64,
}

/// 1980-01-01, the first day that a zip file can name.
const DATE: u16 = 0x0021;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// What a reader must know: 1.0, or 4.5 for 64-bit sizes.
const NEEDS: u16 = 10;
const NEEDS_64: u16 = 45;
/// Made by a Unix program that knows 4.5.
const MADE_BY: u16 = 3 << 8 | 45;
/// A regular file that anybody may read.
const ATTRIBUTES: u32 = 0o100_644 << 16;
/// The extra field that moves data to its alignment; its content is zeros.
const PADDING: u16 = 0x7873;
/// The extra field with 64-bit sizes.
const ZIP64: u16 = 1;
/// From here on a size, offset or count is written in its 64-bit field.
const BIG: u64 = 0xFFFF_FFFF;
const MANY: u64 = 0xFFFF;

/// The first four bytes of every artifact.
pub const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
const END_64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR_64: [u8; 4] = *b"PK\x06\x07";

/// Lays `items` out. Fails where their lengths do not fit a file, which only a hostile manifest says.
pub fn of(items: &[Item<'_>]) -> Result<Layout, Error> {
    let too_long = || Error::container("the entries together are longer than any file");
    let mut entries = Vec::with_capacity(items.len());
    let mut at = 0u64;
    for item in items {
        let head = local_header(item, at);
        let data = at + head.len() as u64;
        let end = data.checked_add(item.length).filter(|&end| end <= i64::MAX as u64).ok_or_else(too_long)?;
        entries.push(Placed { header: at, head, data, end });
        at = end;
    }
    let mut tail = Vec::new();
    for (item, placed) in items.iter().zip(&entries) {
        central_header(item, placed.header, &mut tail);
    }
    let directory = tail.len() as u64;
    end_records(items.len() as u64, at, directory, &mut tail);
    let length = at + tail.len() as u64;
    Ok(Layout { entries, tail, length })
}

/// The fields that local and central headers share.
fn common(item: &Item<'_>, extra: usize, out: &mut Vec<u8>) {
    let length = item.length.min(BIG) as u32;
    put16(out, FLAGS);
    put16(out, 0); // stored
    put16(out, 0); // midnight
    put16(out, DATE);
    put32(out, item.crc32);
    put32(out, length);
    put32(out, length);
    put16(out, item.name.len() as u16);
    put16(out, extra as u16);
}

fn local_header(item: &Item<'_>, at: u64) -> Vec<u8> {
    let mut extra = Vec::new();
    if item.length >= BIG {
        put16(&mut extra, ZIP64);
        put16(&mut extra, 16);
        put64(&mut extra, item.length);
        put64(&mut extra, item.length);
    }
    let bare = at + 30 + item.name.len() as u64 + extra.len() as u64;
    let mut pad = (ALIGN - bare % ALIGN) % ALIGN;
    if pad > 0 {
        // An extra field has a header of four bytes.
        pad += if pad < 4 { ALIGN } else { 0 };
        put16(&mut extra, PADDING);
        put16(&mut extra, pad as u16 - 4);
        extra.resize(extra.len() + pad as usize - 4, 0);
    }
    let mut out = Vec::with_capacity(30 + item.name.len() + extra.len());
    out.extend(LOCAL);
    put16(&mut out, if item.length >= BIG { NEEDS_64 } else { NEEDS });
    common(item, extra.len(), &mut out);
    out.extend(item.name.as_bytes());
    out.extend(extra);
    out
}

fn central_header(item: &Item<'_>, header: u64, out: &mut Vec<u8>) {
    let mut extra = Vec::new();
    if item.length >= BIG {
        put64(&mut extra, item.length);
        put64(&mut extra, item.length);
    }
    if header >= BIG {
        put64(&mut extra, header);
    }
    let big = !extra.is_empty();
    if big {
        let mut with_header = Vec::new();
        put16(&mut with_header, ZIP64);
        put16(&mut with_header, extra.len() as u16);
        with_header.extend(extra);
        extra = with_header;
    }
    out.extend(CENTRAL);
    put16(out, MADE_BY);
    put16(out, if big { NEEDS_64 } else { NEEDS });
    common(item, extra.len(), out);
    put16(out, 0); // no comment
    put16(out, 0); // the first disk
    put16(out, 0); // no internal attributes
    put32(out, ATTRIBUTES);
    put32(out, header.min(BIG) as u32);
    out.extend(item.name.as_bytes());
    out.extend(extra);
}

/// The directory of `count` entries starts at `at` and has `size` bytes.
fn end_records(count: u64, at: u64, size: u64, out: &mut Vec<u8>) {
    if count >= MANY || at >= BIG || size >= BIG {
        out.extend(END_64);
        put64(out, 44); // bytes of this record that follow
        put16(out, MADE_BY);
        put16(out, NEEDS_64);
        put32(out, 0);
        put32(out, 0);
        put64(out, count);
        put64(out, count);
        put64(out, size);
        put64(out, at);
        out.extend(LOCATOR_64);
        put32(out, 0);
        put64(out, at + size);
        put32(out, 1);
    }
    out.extend(END);
    put16(out, 0);
    put16(out, 0);
    put16(out, count.min(MANY) as u16);
    put16(out, count.min(MANY) as u16);
    put32(out, size.min(BIG) as u32);
    put32(out, at.min(BIG) as u32);
    put16(out, 0); // no comment
}

/// What the first local header states, if it is whole.
pub fn first(bytes: &[u8]) -> Option<Item<'_>> {
    let header: &[u8; 30] = bytes.first_chunk()?;
    let u32_at = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let name = bytes.get(30..30 + usize::from(u16::from_le_bytes([header[26], header[27]])))?;
    let name = std::str::from_utf8(name).unwrap_or_default();
    Some(Item { name, length: u64::from(u32_at(22)), crc32: u32_at(14) })
}

fn put16(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, value: u64) {
    out.extend(value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes around the limits of the 32-bit fields, without their bytes.
    #[test]
    fn data_is_aligned_and_follows_its_header_whatever_the_sizes() {
        let lengths = [0, 1, 63, 64, 65, BIG - 1, BIG, BIG + 1, 5 << 30];
        for first in lengths {
            for second in lengths {
                for name_length in 1..70 {
                    let name = "n".repeat(name_length);
                    let items = [
                        Item { name: &name, length: first, crc32: 1 },
                        Item { name: "b", length: second, crc32: 2 },
                    ];
                    let layout = of(&items).expect("these fit");
                    assert_eq!(layout.entries[0].header, 0);
                    assert_eq!(layout.entries[0].end, layout.entries[1].header);
                    for placed in &layout.entries {
                        assert_eq!(placed.data % ALIGN, 0, "{first} {second} {name_length}");
                        assert_eq!(placed.header + placed.head.len() as u64, placed.data);
                    }
                    assert_eq!(layout.entries[1].end + layout.tail.len() as u64, layout.length);
                }
            }
        }
    }

    #[test]
    fn lengths_that_no_file_has_are_refused() {
        let items = [Item { name: "a", length: u64::MAX, crc32: 0 }, Item { name: "b", length: 9, crc32: 0 }];
        assert!(of(&items).is_err());
    }

    /// Python follows the 64-bit fields: an entry that lies behind 5 GiB is found and read. The file has a hole
    /// there, so it takes no room.
    #[test]
    fn entries_behind_4_gib_are_found_by_others() {
        use std::io::{Seek, SeekFrom, Write};
        let content = b"behind";
        let big = Item { name: "params/big", length: 5 << 30, crc32: 0 };
        let small = Item { name: "params/small", length: 6, crc32: crc32fast::hash(content) };
        let layout = of(&[big, small]).expect("these fit");
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut put = |at: u64, bytes: &[u8]| {
            file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes)).expect("there is room");
        };
        layout.entries.iter().for_each(|placed| put(placed.header, &placed.head));
        put(layout.entries[1].data, content);
        put(layout.entries[1].end, &layout.tail);
        assert_eq!(file.as_file().metadata().expect("its length").len(), layout.length);
        let script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); \
                      assert z.getinfo('params/big').file_size == 5 << 30; \
                      assert z.read('params/small') == b'behind'";
        match std::process::Command::new("python3").args(["-c", script]).arg(file.path()).output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
            Err(_) => eprintln!("skipped: python3 is not installed"),
        }
    }
}
