//! Bytes → an artifact. Nothing in the bytes is trusted: the container is accepted only where it is, to the
//! byte, what the writer makes, and an entry's data is used only after its digest has been checked.

use crate::dtype::DType;
use crate::error::Error;
use crate::layout::{self, Layout};
use crate::manifest::{self, Checksums, Digest, Entry, FORMAT, MANIFEST, Manifest, Param};
use crate::program::{Program, Resource, Role};
use crate::write;
use serde::Deserialize;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes that stay where they are while anybody holds them: a mapped file, or a vector.
pub type Owner = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// An open artifact. Cheap to open whatever its size: an entry's data is checked when it is first used.
pub struct Artifact {
    bytes: Owner,
    checksums: Checksums,
    path: Option<PathBuf>,
    manifest: Manifest,
    id: Digest,
    entries: HashMap<String, Located>,
    /// The file that holds the parameters, where this one does not.
    weights: Option<Arc<Artifact>>,
}

/// An entry of the file.
struct Located {
    range: Range<usize>,
    /// Position in the manifest's entries; `None` for the manifest itself.
    position: Option<usize>,
    /// Whether its digest was found right.
    checked: AtomicBool,
}

impl Artifact {
    /// The artifact that `owner` holds.
    pub fn from_bytes(owner: Owner) -> Result<Artifact, Error> {
        Artifact::from_bytes_with(owner, manifest::checksums)
    }

    /// The artifact that `owner` holds, whose entries are checked by `checksums`.
    pub fn from_bytes_with(owner: Owner, checksums: Checksums) -> Result<Artifact, Error> {
        let bytes = (*owner).as_ref();
        let encoded = manifest_of(bytes)?;
        let manifest = decode_manifest(encoded)?;
        let layout = write::layout(encoded, &manifest)?;
        same_structure(bytes, &manifest, &layout)?;
        let names = std::iter::once(MANIFEST).chain(manifest.entries.iter().map(|entry| &*entry.name));
        let entries = names.zip(&layout.entries).enumerate().map(|(number, (name, placed))| {
            let located = Located {
                range: placed.data as usize..placed.end as usize,
                position: number.checked_sub(1),
                checked: AtomicBool::new(number == 0),
            };
            (name.to_owned(), located)
        });
        let entries = entries.collect();
        let id = Digest::of(encoded);
        let bytes = owner.clone();
        Ok(Artifact { bytes, checksums, path: None, manifest, id, entries, weights: None })
    }

    /// Says where the bytes come from, for messages.
    pub fn at(self, path: &Path) -> Artifact {
        Artifact { path: Some(path.to_owned()), ..self }
    }

    /// Where the bytes come from, if that was said.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Identifies its contents: the digest of the manifest, which has the digests of everything else.
    pub fn id(&self) -> Digest {
        self.id
    }

    /// The length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        (*self.bytes).as_ref().len() as u64
    }

    /// What holds the bytes. Ranges of [`Artifact::entry_range`] are ranges of it.
    pub fn owner(&self) -> &Owner {
        &self.bytes
    }

    /// The data of an entry, checked against its digest.
    pub fn entry(&self, name: &str) -> Result<&[u8], Error> {
        self.entry_range(name).map(|range| &(*self.bytes).as_ref()[range])
    }

    /// Where the data of an entry lies, after it was checked against its digest.
    pub fn entry_range(&self, name: &str) -> Result<Range<usize>, Error> {
        let located = self.located(name)?;
        self.check(&[located])?;
        Ok(located.range.clone())
    }

    fn located(&self, name: &str) -> Result<&Located, Error> {
        self.entries.get(name).ok_or_else(|| Error::Missing {
            what: format!("entry `{name}`"),
            help: "`sxrun inspect` lists what it has".to_owned(),
        })
    }

    /// Whether there is an entry of this name.
    pub fn has_entry(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Checks the data of every entry, that every program makes sense, and that truth values are 0 or 1.
    pub fn verify(&self) -> Result<(), Error> {
        let names: Vec<String> = self.manifest.entries.iter().map(|entry| entry.name.clone()).collect();
        self.verify_entries(&names)?;
        for graph in &self.manifest.graphs {
            let program = self.program(&graph.name)?;
            let mut constants = program.resources.iter().filter(|resource| resource.role == Role::Constant);
            constants.try_for_each(|constant| self.stored(constant).map(drop))?;
        }
        if self.manifest.weights.is_none() {
            self.manifest.params.iter().try_for_each(|param| self.param(&param.name).map(drop))?;
        }
        match &self.weights {
            Some(weights) => weights.verify().map_err(|error| error.of_weights(weights.path())),
            None => Ok(()),
        }
    }

    /// Checks the data of these entries together.
    pub fn verify_entries(&self, names: &[String]) -> Result<(), Error> {
        let located: Result<Vec<&Located>, Error> = names.iter().map(|name| self.located(name)).collect();
        self.check(&located?)
    }

    /// The program of `graph`: decoded, validated, and in keeping with the manifest.
    pub fn program(&self, graph: &str) -> Result<Program, Error> {
        let described = self.manifest.graphs.iter().find(|known| known.name == graph);
        let described = described.ok_or_else(|| Error::Missing {
            what: format!("graph `{graph}`"),
            help: self.graphs_in_words(),
        })?;
        let name = manifest::program_entry(graph);
        let bytes = self.entry(&name)?;
        let program: Program =
            serde_json::from_slice(bytes).map_err(|error| Error::entry(&name, error.to_string()))?;
        if write::encode(&program) != bytes {
            return Err(Error::entry(&name, "it is not written as the compiler writes it"));
        }
        program.validate().map_err(|invalid| Error::entry(&name, invalid.to_string()))?;
        let same = program.graph == graph
            && manifest::ports(&program, &Role::Input) == described.inputs
            && manifest::ports(&program, &Role::Output) == described.outputs;
        if !same {
            return Err(Error::entry(&name, "its graph, inputs or outputs are not those of the manifest"));
        }
        self.check_stored(&program, &name)?;
        Ok(program)
    }

    /// A parameter and its elements, without padding.
    pub fn param(&self, name: &str) -> Result<(&Param, &[u8]), Error> {
        let (param, file) = self.param_file(name)?;
        let range = file.elements(&manifest::param_entry(name), param.dtype);
        let bytes = range.map(|range| &(*file.bytes).as_ref()[range]);
        match self.weights {
            Some(_) => Ok((param, bytes.map_err(|error| error.of_weights(file.path()))?)),
            None => Ok((param, bytes?)),
        }
    }

    /// The stored elements of a parameter or constant: what holds their bytes, and where they lie in it. Refused
    /// where their digest differs, or where a byte of a `bool` is neither 0 nor 1.
    pub fn stored(&self, resource: &Resource) -> Result<(Owner, Range<usize>), Error> {
        let (file, entry) = match resource.role {
            Role::Param => (self.param_file(&resource.name)?.1, manifest::param_entry(&resource.name)),
            Role::Constant => (self, manifest::constant_entry(&resource.name)),
            Role::Input | Role::Output | Role::State | Role::Scratch { .. } | Role::Context => {
                return Err(Error::Missing {
                    what: format!("stored value for `{}`", resource.name),
                    help: "only parameters and constants have one".to_owned(),
                });
            }
        };
        let range = file.elements(&entry, resource.dtype);
        let foreign = self.manifest.weights.is_some() && resource.role == Role::Param;
        let range = range.map_err(|error| if foreign { error.of_weights(file.path()) } else { error })?;
        Ok((file.bytes.clone(), range))
    }

    /// Where the elements of an entry lie, after its digest and the bytes of truth values were checked.
    fn elements(&self, entry: &str, dtype: DType) -> Result<Range<usize>, Error> {
        let range = self.entry_range(entry)?;
        let odd = |bytes: &[u8]| bytes.iter().position(|&byte| byte > 1);
        match dtype {
            DType::Bool => match odd(&(*self.bytes).as_ref()[range.clone()]) {
                Some(at) => Err(Error::entry(entry, format!("element {at} of bool is neither 0 nor 1"))),
                None => Ok(range),
            },
            DType::F32 | DType::Bf16 | DType::I32 | DType::I64 => Ok(range),
        }
    }

    /// A parameter and the file that holds it: this one, or the one with its weights.
    pub fn param_file(&self, name: &str) -> Result<(&Param, &Artifact), Error> {
        let missing = || Error::Missing {
            what: format!("parameter `{name}`"),
            help: "`sxrun inspect` lists what it has".to_owned(),
        };
        let place = self.manifest.params.binary_search_by(|param| (*param.name).cmp(name));
        let param = &self.manifest.params[place.map_err(|_| missing())?];
        match (&self.weights, self.manifest.weights) {
            (Some(weights), _) => Ok((param, weights)),
            (None, None) => Ok((param, self)),
            (None, Some(_)) => Err(Error::Missing {
                what: format!("parameter `{name}` in it: its weights are in a file of their own"),
                help: self.where_weights_go(),
            }),
        }
    }

    /// Takes the parameters from `weights`, which must be the file that was built with this artifact.
    pub fn attach_weights(&mut self, weights: Artifact) -> Result<(), Error> {
        let Some(wanted) = self.manifest.weights else {
            return Err(Error::Missing {
                what: "weights elsewhere: it holds them itself".to_owned(),
                help: "leave out the file of weights".to_owned(),
            });
        };
        let fits = weights.manifest.params == self.manifest.params && weights.manifest.weights.is_none();
        if wanted != weights.id || !fits {
            return Err(Error::ForeignWeights {
                path: weights.path.unwrap_or_else(|| PathBuf::from("the file of weights")),
                wanted: wanted.to_string(),
                found: weights.id.to_string(),
            });
        }
        self.weights = Some(Arc::new(weights));
        Ok(())
    }

    /// Compares the data of entries that were not checked before with their digests.
    fn check(&self, located: &[&Located]) -> Result<(), Error> {
        // Relaxed is enough: the flag guards no other memory, and a second check gives the same answer.
        let unchecked = located.iter().filter(|it| !it.checked.load(Ordering::Relaxed));
        let unchecked: Vec<(&Located, &Entry)> = unchecked
            .filter_map(|it| it.position.map(|position| (*it, &self.manifest.entries[position])))
            .collect();
        let bytes = (*self.bytes).as_ref();
        let data: Vec<&[u8]> = unchecked.iter().map(|(it, _)| &bytes[it.range.clone()]).collect();
        for ((located, entry), found) in unchecked.into_iter().zip((self.checksums)(&data)) {
            let fault = match () {
                () if found.blake3 != entry.blake3 => {
                    "its bytes are not those that were written (the digest differs)"
                }
                () if found.crc32 != entry.crc32 => "its CRC-32 differs",
                () => {
                    located.checked.store(true, Ordering::Relaxed);
                    continue;
                }
            };
            return Err(Error::entry(&entry.name, fault));
        }
        Ok(())
    }

    /// What `program` reads of the artifact is there, in the form in which it reads it.
    fn check_stored(&self, program: &Program, entry: &str) -> Result<(), Error> {
        for resource in &program.resources {
            let fits = match resource.role {
                Role::Param => self.manifest.params.iter().any(|param| {
                    param.name == resource.name
                        && param.dtype == resource.dtype
                        && param.shape == resource.shape
                }),
                Role::Constant => {
                    self.entries.get(&manifest::constant_entry(&resource.name)).is_some_and(|it| {
                        write::element_bytes(resource.dtype, &resource.shape) == Some(it.range.len() as u64)
                    })
                }
                Role::Input | Role::Output | Role::State | Role::Scratch { .. } | Role::Context => true,
            };
            if !fits {
                let what =
                    format!("`{}` is not stored with the dtype and shape it is used with", resource.name);
                return Err(Error::entry(entry, what));
            }
        }
        Ok(())
    }

    /// What to do where the file with the weights is not there.
    fn where_weights_go(&self) -> String {
        match &self.path {
            Some(path) => format!(
                "`sxc build --external-weights` wrote it beside the artifact: put it at `{}`, or name it with \
                 `--weights`",
                write::weights_path(path).display()
            ),
            None => {
                "attach the file that `sxc build --external-weights` wrote beside the artifact".to_owned()
            }
        }
    }

    fn graphs_in_words(&self) -> String {
        let names: Vec<String> =
            self.manifest.graphs.iter().map(|graph| format!("`{}`", graph.name)).collect();
        match names.len() {
            0 => "it holds only weights: name the artifact that uses them".to_owned(),
            1 => format!("it has {}", names[0]),
            _ => format!("it has {}", names.join(", ")),
        }
    }
}

/// The bytes of the manifest's entry, by the first header alone.
fn manifest_of(bytes: &[u8]) -> Result<&[u8], Error> {
    let not = |because| Err(Error::NotAnArtifact { because });
    if bytes.is_empty() {
        return not("the file is empty");
    }
    let is_prefix = bytes.len() < 4 && layout::LOCAL.starts_with(bytes);
    if !bytes.starts_with(&layout::LOCAL) && !is_prefix {
        return not("it does not begin as one");
    }
    let Some(first) = layout::first(bytes) else {
        return Err(Error::Truncated { expected: 64, found: bytes.len() as u64 });
    };
    if first.name != MANIFEST {
        return not("it is a zip file, but its first entry is not `manifest.json`");
    }
    // The manifest is the first entry, so where its data starts does not depend on what it says.
    let start = layout::ALIGN;
    let end = start + first.length;
    match bytes.get(start as usize..end as usize) {
        Some(encoded) if crc32fast::hash(encoded) == first.crc32 => Ok(encoded),
        Some(_) => Err(Error::entry(MANIFEST, "its CRC-32 differs")),
        None => Err(Error::Truncated { expected: end, found: bytes.len() as u64 }),
    }
}

fn decode_manifest(encoded: &[u8]) -> Result<Manifest, Error> {
    /// The part that every version has.
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let damaged = |what: String| Error::entry(MANIFEST, what);
    let Version { format } = serde_json::from_slice(encoded).map_err(|error| damaged(error.to_string()))?;
    if format > FORMAT {
        return Err(Error::Newer { found: format, known: FORMAT });
    }
    if format == 0 {
        return Err(damaged("there is no format version 0".to_owned()));
    }
    let manifest: Manifest = serde_json::from_slice(encoded).map_err(|error| damaged(error.to_string()))?;
    if manifest::encode(&manifest) != encoded {
        return Err(damaged("it is not written as the compiler writes it".to_owned()));
    }
    check_manifest(&manifest).map_err(damaged)?;
    Ok(manifest)
}

/// What the manifest says makes sense by itself.
fn check_manifest(manifest: &Manifest) -> Result<(), String> {
    for entry in &manifest.entries {
        if manifest::order(&entry.name).is_none() {
            return Err(format!("{:?} cannot name an entry", entry.name));
        }
    }
    let in_order = |a: &str, b: &str| manifest::order(a) < manifest::order(b);
    if let Some(pair) = manifest.entries.windows(2).find(|pair| !in_order(&pair[0].name, &pair[1].name)) {
        return Err(format!("the entry `{}` is not in its place", pair[1].name));
    }
    if let Some(pair) = manifest.params.windows(2).find(|pair| pair[0].name >= pair[1].name) {
        return Err(format!("the parameter `{}` is not in its place", pair[1].name));
    }
    let lengths: HashMap<&str, u64> =
        manifest.entries.iter().map(|entry| (&*entry.name, entry.length)).collect();
    for param in &manifest.params {
        let stored = lengths.get(&*manifest::param_entry(&param.name)).copied();
        let bytes = write::element_bytes(param.dtype, &param.shape)
            .ok_or_else(|| format!("the parameter `{}` is larger than any memory", param.name))?;
        if stored != manifest.weights.is_none().then_some(bytes) {
            return Err(format!("the parameter `{}` and its entry differ in size", param.name));
        }
    }
    for (number, graph) in manifest.graphs.iter().enumerate() {
        if !lengths.contains_key(&*manifest::program_entry(&graph.name)) {
            return Err(format!("the graph `{}` has no program", graph.name));
        }
        if manifest.graphs[..number].iter().any(|earlier| earlier.name == graph.name) {
            return Err(format!("two graphs are called `{}`", graph.name));
        }
    }
    Ok(())
}

/// The file is, around its data, what the writer makes of this manifest.
fn same_structure(bytes: &[u8], manifest: &Manifest, layout: &Layout) -> Result<(), Error> {
    let found = bytes.len() as u64;
    let head = &layout.entries[0];
    if bytes.get(..head.data as usize) != Some(&head.head[..]) {
        return Err(Error::container("the header of `manifest.json` does not belong to it"));
    }
    if found < layout.length {
        return Err(Error::Truncated { expected: layout.length, found });
    }
    if found > layout.length {
        let more = found - layout.length;
        return Err(Error::container(format!("{more} bytes follow where the file should end")));
    }
    for (entry, placed) in manifest.entries.iter().zip(&layout.entries[1..]) {
        if bytes[placed.header as usize..placed.data as usize] != placed.head {
            return Err(Error::container(format!("the header of `{}` does not belong to it", entry.name)));
        }
    }
    if bytes[(layout.length as usize - layout.tail.len())..] != layout.tail {
        return Err(Error::container("the directory at the end does not belong to the entries"));
    }
    Ok(())
}
