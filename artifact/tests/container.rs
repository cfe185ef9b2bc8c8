//! The container: what is written is read, everything else is refused.

#[allow(dead_code, reason = "each test crate uses its own part of it")]
mod common;

use std::sync::Arc;
use sx_artifact::dtype::DType;
use sx_artifact::error::Error;
use sx_artifact::manifest::Manifest;
use sx_artifact::program::{Program, Resource, Role};
use sx_artifact::read::Artifact;
use sx_artifact::write::{self, NamedBytes, ParamValue};

const WEIGHT: [u8; 12] = [0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64];

fn sample() -> Vec<u8> {
    let programs = [common::program("main"), common::program("odd name/..")];
    write::to_bytes(&common::contents(&programs, &WEIGHT)).expect("these contents fit together")
}

fn open(bytes: &[u8]) -> Result<Artifact, Error> {
    Artifact::from_bytes(Arc::new(bytes.to_vec()))
}

/// Everything that a user of the artifact could come across.
fn use_all(bytes: &[u8]) -> Result<(), Error> {
    open(bytes)?.verify()
}

#[test]
fn what_is_written_is_read() {
    let artifact = open(&sample()).expect("the writer's bytes are accepted");
    for graph in ["main", "odd name/.."] {
        assert_eq!(artifact.program(graph).expect("there is this graph"), common::program(graph));
    }
    let (param, bytes) = artifact.param("layer.0.weight").expect("there is this parameter");
    assert_eq!((param.shape.as_slice(), bytes), (&[3u64][..], &WEIGHT[..]));
    assert_eq!(artifact.entry("kernels/wgsl/main/scale.wgsl").expect("an entry"), b"fn scale() {}\n");
    assert_eq!(artifact.entry("constants/c0").expect("an entry"), [0, 0, 128, 63]);
    artifact.verify().expect("nothing is damaged");
    for entry in &artifact.manifest().entries {
        let range = artifact.entry_range(&entry.name).expect("an entry");
        assert_eq!(range.start % 64, 0, "{} is aligned", entry.name);
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let artifact = open(&sample()).expect("the writer's bytes are accepted");
    let message = artifact.program("mian").expect_err("no such graph").to_string();
    assert_eq!(message, "the artifact has no graph `mian`; it has `main`, `odd name/..`");
    assert!(artifact.param("bias").is_err());
    assert!(artifact.entry("params/bias").is_err());
}

#[test]
fn the_same_contents_in_another_order_give_the_same_bytes() {
    let programs = [common::program("main")];
    let mut contents = common::contents(&programs, &WEIGHT);
    let bytes = write::to_bytes(&contents).expect("these contents fit together");
    contents.entries.reverse();
    assert_eq!(bytes, write::to_bytes(&contents).expect("these contents fit together"));
}

/// Flips in a small artifact: half anywhere, half in headers, padding and manifest. Each is an error that names
/// an entry or the container.
#[test]
fn every_flipped_byte_is_found() {
    let good = sample();
    let artifact = open(&good).expect("the writer's bytes are accepted");
    let mut data = vec![false; good.len()];
    for entry in &artifact.manifest().entries {
        data[artifact.entry_range(&entry.name).expect("an entry")].fill(true);
    }
    let around: Vec<usize> = (0..good.len()).filter(|&at| !data[at]).collect();
    let mut random = Random(1);
    for number in 0..2000 {
        let at = match number % 2 {
            0 => random.below(good.len()),
            _ => around[random.below(around.len())],
        };
        let mut bad = good.clone();
        bad[at] ^= 1 + random.below(255) as u8;
        let error = use_all(&bad).expect_err(&format!("byte {at} was changed and nobody saw it"));
        let message = error.to_string();
        assert!(message.contains("artifact"), "{message}");
    }
}

#[test]
fn every_truncation_is_found() {
    let good = sample();
    let mut random = Random(2);
    let ends = (0..good.len()).take(70).chain((0..200).map(|_| random.below(good.len())));
    for end in ends.collect::<Vec<_>>() {
        let message = use_all(&good[..end]).expect_err("something is missing").to_string();
        assert!(message.contains("artifact"), "{end}: {message}");
    }
    let longer = [&good[..], &[0]].concat();
    let message = use_all(&longer).expect_err("something is too much").to_string();
    assert!(message.contains("1 bytes follow"), "{message}");
}

#[test]
fn other_files_are_told_apart() {
    let zip = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0aX".to_vec();
    let cases: [(&[u8], &str); 3] = [
        (b"", "not an sx artifact: the file is empty; `sxc build` makes one"),
        (b"(defgraph main)", "not an sx artifact: it does not begin as one; `sxc build` makes one"),
        (
            &zip,
            "not an sx artifact: it is a zip file, but its first entry is not `manifest.json`; `sxc build` makes one",
        ),
    ];
    for (bytes, message) in cases {
        assert_eq!(open(bytes).err().map(|error| error.to_string()).as_deref(), Some(message));
    }
}

/// The reader knows a newer format by its number alone, whatever else its manifest holds.
#[test]
fn a_newer_format_says_so() {
    let manifest = b"{ \"format\": 7, \"shape\": [\"of\", \"things\"] }";
    let mut bytes = vec![0; 64];
    bytes[..4].copy_from_slice(b"PK\x03\x04");
    bytes[14..18].copy_from_slice(&crc32fast::hash(manifest).to_le_bytes());
    bytes[22..26].copy_from_slice(&(manifest.len() as u32).to_le_bytes());
    bytes[26] = 13;
    bytes[30..43].copy_from_slice(b"manifest.json");
    bytes.extend(manifest);
    assert!(matches!(open(&bytes), Err(Error::Newer { found: 7, known: 1 })));
}

/// A program that is not what our encoder writes is refused though its digest is right.
#[test]
fn contents_that_do_not_fit_are_refused() {
    let mut programs: Vec<Program> = vec![common::program("main")];
    programs[0].resources[1].shape = vec![4];
    let bytes =
        write::to_bytes(&common::contents(&programs, &WEIGHT)).expect("the writer trusts the compiler");
    let message = use_all(&bytes).expect_err("the kernel and the parameter differ").to_string();
    assert!(message.contains("`programs/main.json`") && message.contains("layer.0.weight"), "{message}");
    let short = write::to_bytes(&common::contents(&[], &WEIGHT[..10]));
    assert!(matches!(short, Err(Error::Contents { .. })));
}

/// Bytes of truth values reach typed slices, in which anything but 0 and 1 is undefined.
#[test]
fn truth_values_are_0_or_1() {
    let with = |role: Role, name: &str| {
        let mut program = common::program("main");
        let mask = Resource { dtype: DType::Bool, ..common::resource(name, role, &[3]) };
        program.resources.push(mask);
        vec![program]
    };
    let bytes = |value: u8| vec![0, 1, value];
    for value in [1, 2, 255] {
        let programs = with(Role::Param, "mask");
        let mut contents = common::contents(&programs, &WEIGHT);
        let (name, shape) = ("mask".to_owned(), vec![3]);
        contents.params.push(ParamValue { name, dtype: DType::Bool, shape, bytes: bytes(value).into() });
        let param = write::to_bytes(&contents).expect("the writer trusts the compiler");
        let programs = with(Role::Constant, "mask");
        let mut contents = common::contents(&programs, &WEIGHT);
        contents.constants.push(NamedBytes { name: "mask".to_owned(), bytes: bytes(value).into() });
        let constant = write::to_bytes(&contents).expect("the writer trusts the compiler");
        for (entry, file) in [("params/mask", param), ("constants/mask", constant)] {
            let artifact = open(&file).expect("its digests are right");
            let program = artifact.program("main").expect("a sound program");
            let mask = program.resources.last().expect("the mask");
            let results = [artifact.stored(mask).map(drop), artifact.verify()];
            for result in results {
                match result {
                    Ok(()) => assert_eq!(value, 1),
                    Err(error) => {
                        let wanted = format!("`{entry}` is damaged: element 2 of bool is neither 0 nor 1");
                        assert!(value > 1 && error.to_string().contains(&wanted), "{error}");
                    }
                }
            }
        }
    }
}

/// A size that no memory holds has no bytes, and neither has an entry that is not there.
#[test]
fn a_parameter_beyond_all_memory_is_refused() {
    let program = common::program("main");
    let bytes = write::to_bytes(&common::contents(std::slice::from_ref(&program), &WEIGHT)).expect("fits");
    let artifact = open(&bytes).expect("a sound artifact");
    let mut manifest = serde_json::to_value(artifact.manifest()).expect("a manifest is JSON");
    manifest["params"][0]["shape"] = serde_json::json!([1u64 << 63, 1u64 << 63]);
    let entries = manifest["entries"].as_array_mut().expect("a list");
    entries.retain(|entry| entry["name"] != "params/layer.0.weight");
    let manifest: Manifest = serde_json::from_value(manifest).expect("a manifest");
    let mut encoded = serde_json::to_vec_pretty(&manifest).expect("a manifest is JSON");
    encoded.push(b'\n');
    let mut bytes = vec![0; 64];
    bytes[..4].copy_from_slice(b"PK\x03\x04");
    bytes[14..18].copy_from_slice(&crc32fast::hash(&encoded).to_le_bytes());
    bytes[22..26].copy_from_slice(&(encoded.len() as u32).to_le_bytes());
    bytes[26] = 13;
    bytes[30..43].copy_from_slice(b"manifest.json");
    bytes.extend(encoded);
    let message = open(&bytes).map(drop).expect_err("no memory holds it").to_string();
    assert!(message.contains("the parameter `layer.0.weight` is larger than any memory"), "{message}");
}

/// A small generator: the same changes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % end as u64) as usize
    }
}
