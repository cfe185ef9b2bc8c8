//! Programs and their data → an artifact. The same contents give the same bytes.

use crate::code::Target;
use crate::dtype::DType;
use crate::error::Error;
use crate::layout::{self, Item, Layout};
use crate::manifest::{self, Checksums, Digest, Entry, FORMAT, MANIFEST, Manifest, Memory, Param};
use crate::program::{Program, Role};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What an artifact is made of. The order of the lists does not matter, but for that of `graphs`.
#[derive(Clone, Debug)]
pub struct Contents<'a> {
    /// The compiler and its version, such as `sxc 0.1.0`.
    pub compiler: String,
    /// The targets there is code for.
    pub targets: Vec<Target>,
    /// The graphs, in the order of the source.
    pub graphs: Vec<Graph<'a>>,
    /// The learned values. Their bytes are often slices of a mapped file: they are never copied.
    pub params: Vec<ParamValue<'a>>,
    /// The values of [`Role::Constant`] resources, by the name of the resource, which means the same in all
    /// graphs.
    pub constants: Vec<NamedBytes<'a>>,
    /// Everything else, by the full name of the entry: `kernels/…`, `programs/GRAPH.wgpu.json`, `golden/…`.
    pub entries: Vec<NamedBytes<'a>>,
}

/// A graph and what it needs.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    /// What is executed.
    pub program: &'a Program,
    /// The bytes it asks of each target's device.
    pub memory: Vec<Memory>,
}

/// A learned value: `dtype.size()` bytes for each element, row-major, little-endian.
#[derive(Clone, Debug)]
pub struct ParamValue<'a> {
    /// The name.
    pub name: String,
    /// The dtype.
    pub dtype: DType,
    /// The shape.
    pub shape: Vec<u64>,
    /// The elements.
    pub bytes: Cow<'a, [u8]>,
}

/// Bytes with a name.
#[derive(Clone, Debug)]
pub struct NamedBytes<'a> {
    /// The name.
    pub name: String,
    /// The bytes.
    pub bytes: Cow<'a, [u8]>,
}

/// The artifact as bytes: for tests and small artifacts.
pub fn to_bytes(contents: &Contents<'_>) -> Result<Vec<u8>, Error> {
    let file = Assembled::new(contents, Params::Inside, manifest::checksums)?;
    let mut bytes = Vec::new();
    file.emit(&mut bytes).expect("a vector takes any bytes");
    Ok(bytes)
}

/// Where the parameters of an artifact lie that does not hold them: beside it, as `FILE.weights`.
pub fn weights_path(artifact: &Path) -> PathBuf {
    artifact.with_extension("weights")
}

/// Where the parameters go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Params {
    /// Into the artifact itself.
    Inside,
    /// To the file with this id, which [`Assembled::weights`] makes.
    Outside(Digest),
}

/// A file that is ready to be written.
pub struct Assembled<'a> {
    manifest: Vec<u8>,
    /// The other entries, in order.
    data: Vec<Cow<'a, [u8]>>,
    layout: Layout,
}

impl<'a> Assembled<'a> {
    /// The artifact. The digests of its entries are made by `checksums`.
    pub fn new(
        contents: &'a Contents<'_>,
        params: Params,
        checksums: Checksums,
    ) -> Result<Assembled<'a>, Error> {
        check(contents)?;
        let mut entries: Vec<(String, Cow<'a, [u8]>)> = Vec::new();
        for Graph { program, .. } in &contents.graphs {
            entries.push((manifest::program_entry(&program.graph), Cow::Owned(encode(program))));
        }
        for NamedBytes { name, bytes } in &contents.constants {
            entries.push((manifest::constant_entry(name), Cow::Borrowed(bytes)));
        }
        for NamedBytes { name, bytes } in &contents.entries {
            entries.push((name.clone(), Cow::Borrowed(bytes)));
        }
        let weights = match params {
            Params::Inside => None,
            Params::Outside(id) => Some(id),
        };
        if weights.is_none() {
            entries.extend(param_entries(contents));
        }
        let graphs = contents.graphs.iter().map(|graph| manifest::Graph {
            name: graph.program.graph.clone(),
            inputs: manifest::ports(graph.program, &Role::Input),
            outputs: manifest::ports(graph.program, &Role::Output),
            memory: graph.memory.clone(),
        });
        let targets = contents.targets.clone();
        let heading = Heading { targets, graphs: graphs.collect(), weights };
        Assembled::of(contents, heading, entries, checksums)
    }

    /// The file that holds only the parameters.
    pub fn weights(contents: &'a Contents<'_>, checksums: Checksums) -> Result<Assembled<'a>, Error> {
        check(contents)?;
        let heading = Heading { targets: Vec::new(), graphs: Vec::new(), weights: None };
        Assembled::of(contents, heading, param_entries(contents).collect(), checksums)
    }

    fn of(
        contents: &Contents<'_>,
        heading: Heading,
        mut entries: Vec<(String, Cow<'a, [u8]>)>,
        checksums: Checksums,
    ) -> Result<Assembled<'a>, Error> {
        for (name, _) in &entries {
            if manifest::order(name).is_none() {
                return Err(Error::contents(format!("`{name}` cannot name an entry")));
            }
        }
        entries.sort_by(|(a, _), (b, _)| manifest::order(a).cmp(&manifest::order(b)));
        // Graphs may share a constant: the same bytes under the same name are one entry.
        entries.dedup();
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::contents(format!("two different entries are called `{}`", pair[0].0)));
        }
        let bytes: Vec<&[u8]> = entries.iter().map(|(_, bytes)| &**bytes).collect();
        let described = entries.iter().zip(checksums(&bytes)).map(|((name, bytes), sum)| Entry {
            name: name.clone(),
            length: bytes.len() as u64,
            crc32: sum.crc32,
            blake3: sum.blake3,
        });
        let manifest = Manifest {
            format: FORMAT,
            compiler: contents.compiler.clone(),
            targets: heading.targets,
            graphs: heading.graphs,
            params: sorted_params(contents),
            weights: heading.weights,
            entries: described.collect(),
        };
        let encoded = manifest::encode(&manifest);
        let layout = layout(&encoded, &manifest)?;
        let data = entries.into_iter().map(|(_, bytes)| bytes).collect();
        Ok(Assembled { manifest: encoded, data, layout })
    }

    /// What identifies the file.
    pub fn id(&self) -> Digest {
        Digest::of(&self.manifest)
    }

    /// How many bytes the file has.
    pub fn file_len(&self) -> u64 {
        self.layout.length
    }

    /// Writes the file to `out`.
    pub fn emit(&self, out: &mut dyn Write) -> io::Result<()> {
        let data = std::iter::once(&*self.manifest).chain(self.data.iter().map(|bytes| &**bytes));
        for (placed, bytes) in self.layout.entries.iter().zip(data) {
            out.write_all(&placed.head)?;
            out.write_all(bytes)?;
        }
        out.write_all(&self.layout.tail)
    }
}

/// What the manifest says apart from parameters and entries.
struct Heading {
    targets: Vec<Target>,
    graphs: Vec<manifest::Graph>,
    weights: Option<Digest>,
}

/// The structure of the file that `manifest`, encoded as `encoded`, describes.
pub(crate) fn layout(encoded: &[u8], manifest: &Manifest) -> Result<Layout, Error> {
    let first = Item { name: MANIFEST, length: encoded.len() as u64, crc32: crc32fast::hash(encoded) };
    let others = manifest.entries.iter().map(|entry| Item {
        name: &entry.name,
        length: entry.length,
        crc32: entry.crc32,
    });
    layout::of(&std::iter::once(first).chain(others).collect::<Vec<_>>())
}

/// A program as the bytes of its entry.
pub(crate) fn encode(program: &Program) -> Vec<u8> {
    serde_json::to_vec(program).expect("a program has only string keys")
}

fn param_entries<'a>(contents: &'a Contents<'_>) -> impl Iterator<Item = (String, Cow<'a, [u8]>)> {
    contents.params.iter().map(|param| (manifest::param_entry(&param.name), Cow::Borrowed(&*param.bytes)))
}

fn sorted_params(contents: &Contents<'_>) -> Vec<Param> {
    let describe = |param: &ParamValue<'_>| Param {
        name: param.name.clone(),
        dtype: param.dtype,
        shape: param.shape.clone(),
    };
    let mut params: Vec<Param> = contents.params.iter().map(describe).collect();
    params.sort_by(|a, b| a.name.cmp(&b.name));
    params
}

/// Refuses what the reader would refuse, so that a mistake is found where it is made.
fn check(contents: &Contents<'_>) -> Result<(), Error> {
    for param in &contents.params {
        if element_bytes(param.dtype, &param.shape) != Some(param.bytes.len() as u64) {
            let ParamValue { name, dtype, shape, bytes } = param;
            let what =
                format!("parameter `{name}` is {shape:?} {dtype} and comes with {} bytes", bytes.len());
            return Err(Error::contents(what));
        }
    }
    Ok(())
}

/// Bytes of the elements of a tensor, without padding; `None` where no memory could hold them.
pub(crate) fn element_bytes(dtype: DType, shape: &[u64]) -> Option<u64> {
    let count = shape.iter().try_fold(1u64, |n, &size| n.checked_mul(size))?;
    count.checked_mul(dtype.size() as u64)
}
