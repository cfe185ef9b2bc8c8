//! The manifest: what an artifact says of itself, and the digest of every other entry.

use crate::code::Target;
use crate::dtype::DType;
use crate::program::{Check, Program, Resource, Role};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the format that is written here. Readers accept this and every earlier one.
pub const FORMAT: u32 = 1;

/// The name of the manifest's own entry, always the first.
pub const MANIFEST: &str = "manifest.json";

/// The description of an artifact, entry `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format's version, first so that every reader finds it.
    pub format: u32,
    /// The compiler that made it and its version, such as `sxc 0.1.0`.
    pub compiler: String,
    /// The targets it has code for, each once.
    pub targets: Vec<Target>,
    /// The graphs, in the order of the source.
    pub graphs: Vec<Graph>,
    /// The learned values, sorted by name.
    pub params: Vec<Param>,
    /// The id of the file that holds the parameters, where they lie outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Digest>,
    /// Every other entry, in the order of the file.
    pub entries: Vec<Entry>,
}

/// A graph that the artifact exports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The name.
    pub name: String,
    /// What a call takes, in order.
    pub inputs: Vec<Port>,
    /// What a call gives, in order.
    pub outputs: Vec<Port>,
    /// What it needs of each target's device.
    pub memory: Vec<Memory>,
}

/// An input or output of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// The name.
    pub name: String,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<u64>,
    /// The declared domain, such as `Prob over C`; empty for any numbers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub domain: String,
    /// What is checked of an input's values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
}

impl Port {
    /// What the manifest says of an input or output resource.
    pub fn of(resource: &Resource) -> Port {
        Port {
            name: resource.name.clone(),
            dtype: resource.dtype,
            shape: resource.shape.clone(),
            domain: resource.domain.clone(),
            check: resource.check.clone(),
        }
    }
}

/// The ports of `program` with this role, in order.
pub fn ports(program: &Program, role: &Role) -> Vec<Port> {
    program.resources.iter().filter(|resource| resource.role == *role).map(Port::of).collect()
}

/// The bytes that a graph asks of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The target.
    pub target: Target,
    /// All its buffers together, parameters included.
    pub bytes: u64,
}

/// A learned value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// The name: the entry `params/NAME` holds its elements.
    pub name: String,
    /// The dtype of its elements.
    pub dtype: DType,
    /// The size of each axis.
    pub shape: Vec<u64>,
}

/// One entry of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// How many bytes it has.
    pub length: u64,
    /// Their CRC-32, which the zip structure repeats.
    pub crc32: u32,
    /// Their BLAKE3 digest.
    pub blake3: Digest,
}

/// A BLAKE3 digest, in JSON 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(*blake3::hash(bytes).as_bytes())
    }
}

/// What the manifest has of an entry's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// Their CRC-32.
    pub crc32: u32,
    /// Their BLAKE3 digest.
    pub blake3: Digest,
}

/// The checksums of several entries, in their order. Readers and writers take such a function: [`checksums`] goes
/// through them one by one, and where there are threads another may use them.
pub type Checksums = fn(&[&[u8]]) -> Vec<Checksum>;

/// The checksums of `entries`, one by one.
pub fn checksums(entries: &[&[u8]]) -> Vec<Checksum> {
    let of = |bytes: &&[u8]| Checksum { crc32: crc32fast::hash(bytes), blake3: Digest::of(bytes) };
    entries.iter().map(of).collect()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Digest, Self::Error> {
        blake3::Hash::from_hex(&text)
            .map(|hash| Digest(*hash.as_bytes()))
            .map_err(|_| "not 64 hexadecimal digits")
    }
}

/// The name of the entry for `name` in `folder`: letters, digits, `_`, `-` and `.` stand for themselves, every
/// other byte is `%` and two digits, so that any name is a single safe file name.
pub fn entry_name(folder: &str, name: &str) -> String {
    let mut entry = format!("{folder}/");
    let only_dots = name.bytes().all(|byte| byte == b'.');
    for byte in name.bytes() {
        match byte {
            b'.' if only_dots => entry += "%2E",
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => entry.push(char::from(byte)),
            _ => entry += &format!("%{byte:02X}"),
        }
    }
    entry
}

/// The entry that holds the program of `graph`.
pub fn program_entry(graph: &str) -> String {
    entry_name("programs", graph) + ".json"
}

/// The entry that holds the parameter `name`.
pub fn param_entry(name: &str) -> String {
    entry_name("params", name)
}

/// The entry that holds the constant `name`.
pub fn constant_entry(name: &str) -> String {
    entry_name("constants", name)
}

/// The folders of an artifact, in the order of the file: what is small and read first comes first.
pub const FOLDERS: [&str; 5] = ["programs", "kernels", "constants", "params", "golden"];

/// Where an entry stands in the file: by folder, then by name. `None` where the name cannot be an entry's.
pub fn order(name: &str) -> Option<(usize, &str)> {
    let folder = name.split('/').next()?;
    let rank = FOLDERS.iter().position(|known| *known == folder)?;
    let safe = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
    };
    (name.split('/').count() > 1 && name.split('/').all(safe) && name.len() <= MAX_NAME)
        .then_some((rank, name))
}

/// The longest entry name, so that headers stay small.
const MAX_NAME: usize = 1 << 12;

/// The manifest as the bytes of its entry.
pub(crate) fn encode(manifest: &Manifest) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(manifest).expect("a manifest has only string keys");
    bytes.push(b'\n');
    bytes
}
