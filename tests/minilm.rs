//! The sentence encoder with its real weights: the vectors of four sentences, on every device there is.
//!
//! `SX_MINILM` is the folder with the weights; without it the test says so and passes.

#![allow(clippy::print_stdout, reason = "tests print why they skip")]

use std::path::PathBuf;

use sx_artifact::code::Target;
use sx_artifact::dtype::DType;
use sx_artifact::program::Step;
use sx_artifact::tensor::{Data, Tensor};
use sx_files::tensors::{Rounding, Value, Want};
use sx_runtime::device;
use sx_tests::example::{Built, Example};
use sx_tests::root;

/// How many launches a layer of the encoder may take, and what is before and behind the layers.
const LAYER: usize = 12;
const LAYERS: usize = 6;
const REST: usize = 10;
/// How far a vector's elements may be from the expected ones.
const BOUND: f32 = 2e-5;

/// The encoder, compiled for every target; nothing where its weights are not installed.
fn encoder() -> Option<Built> {
    let Some(folder) = std::env::var_os("SX_MINILM").map(PathBuf::from) else {
        println!("skipped: SX_MINILM does not say where the encoder's weights are");
        return None;
    };
    let weights = folder.join("model.safetensors");
    if !weights.exists() {
        println!("skipped: there is no {}", weights.display());
        return None;
    }
    let comments = format!(
        "; sxc build minilm.sx --dim b=4 --dim t=11 --weights '{}'\n; sxrun run minilm.sxa --inputs '{}'\n",
        weights.display(),
        expected().display()
    );
    let example = Example::with(&comments, &root().join("examples/minilm/minilm.sx"));
    Some(example.and_then(|it| it.build(&[Target::Cpu, Target::Wgpu])).expect("the encoder compiles"))
}

#[test]
fn sentences_have_the_expected_vectors_on_every_device() {
    let Some(built) = encoder() else { return };
    let vectors = loaded(expected());
    for name in devices() {
        let outputs = built.run(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Data::F32(given) = outputs["out"].data() else { panic!("{name}: the vectors are not f32") };
        assert_eq!(given.len(), vectors.len());
        let far = given.iter().zip(&vectors).map(|(a, b)| (a - b).abs());
        // A NaN is far from everything.
        let far = far.fold(0.0, |most, one| if one <= most { most } else { one });
        println!("{name}: {far:e} from the expected vectors");
        assert!(far <= BOUND, "{name}: {far:e} from the expected vectors");
        assert_eq!(ranking(given), ranking(&vectors), "{name}");
    }
}

#[test]
fn a_layer_is_at_most_12_launches() {
    let Some(built) = encoder() else { return };
    let program = built.model.artifact().program("embed").expect("the artifact has the graph");
    let launches = program.steps.iter().filter(|step| matches!(step, Step::Launch(_))).count();
    assert!(launches <= LAYERS * LAYER + REST, "{launches} launches");
}

/// The sentences as tokens, and their vectors.
fn expected() -> PathBuf {
    root().join("tests/minilm/expected.npz")
}

/// The processor, and each Vulkan driver.
fn devices() -> Vec<String> {
    let devices = device::devices();
    if let Some(reason) = &devices.no_gpu {
        println!("skipped: {reason}");
    }
    devices.found.into_iter().map(|found| found.id).collect()
}

fn loaded(path: PathBuf) -> Vec<f32> {
    let want = Want { name: "out", dtype: DType::F32, shape: &[4, 384], check: None };
    let value = Value::File { path, key: Some("out".to_owned()) };
    let tensor: Tensor = value.load(&want, Rounding::Refuse).expect("the expected vectors");
    match tensor.data() {
        Data::F32(values) => values.clone(),
        _ => unreachable!("asked for as f32"),
    }
}

/// For each sentence, the others from the nearest to the farthest.
fn ranking(vectors: &[f32]) -> Vec<Vec<usize>> {
    let rows: Vec<&[f32]> = vectors.chunks(384).collect();
    let cosine = |a: usize, b: usize| rows[a].iter().zip(rows[b]).map(|(x, y)| x * y).sum::<f32>();
    let one = |of: usize| {
        let mut others: Vec<usize> = (0..rows.len()).filter(|&other| other != of).collect();
        others.sort_by(|&a, &b| cosine(of, b).total_cmp(&cosine(of, a)));
        others
    };
    (0..rows.len()).map(one).collect()
}
