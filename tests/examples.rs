//! The numbered examples and the classifier of digits answer what their comments say, on the reference and on the CPU.

use std::path::PathBuf;
use sx_artifact::code::Target;
use sx_runtime::device::Device;
use sx_runtime::device::cpu::Cpu;
use sx_tests::example::{Example, agree};
use sx_tests::{assert_none, devices, files, shown};

/// The programs; the sentence encoder has tests of its own.
fn programs() -> Vec<PathBuf> {
    let paths: Vec<_> =
        files("examples", ".sx").into_iter().filter(|path| !path.ends_with("minilm/minilm.sx")).collect();
    assert!(paths.len() >= 6, "the examples are not where they were: {paths:?}");
    paths
}

#[test]
fn the_memory_an_artifact_states_is_what_is_asked_of_the_device() {
    let wgpu = devices::wgpu();
    let mut here: Vec<&dyn Device> = wgpu.iter().map(|device| device as &dyn Device).collect();
    here.push(&Cpu);
    let mut wrong = Vec::new();
    for path in programs() {
        let built = Example::read(&path).and_then(|example| example.build(&[Target::Cpu, Target::Wgpu]));
        match built.and_then(|built| built.memory(&here).map_err(|error| error.to_string())) {
            Err(error) => wrong.push(format!("{}: {error}", shown(&path))),
            Ok(found) => wrong.extend(found.iter().filter(|(_, stated, asked)| stated != asked).map(
                |(device, stated, asked)| {
                    format!("{} on {device}: {stated} bytes are stated, {asked} are asked for", shown(&path))
                },
            )),
        }
    }
    assert_none(&wrong);
}

#[test]
fn examples_answer_what_their_comments_say() {
    let mut wrong = Vec::new();
    for path in &programs() {
        let answers = || -> Result<Vec<(&str, String, String)>, String> {
            let example = Example::read(path)?;
            let built = example.build(&[Target::Cpu])?;
            let expected = example.answer.clone();
            Ok(vec![("reference", built.reference()?, expected.clone()), ("cpu", built.on("cpu")?, expected)])
        };
        match answers() {
            Err(error) => wrong.push(format!("{}: {error}", shown(path))),
            Ok(answers) => wrong.extend(answers.iter().filter(|(_, is, said)| !agree(is, said)).map(
                |(device, is, said)| {
                    format!("{} on {device}:\n{is}\nbut its comments say\n{said}", shown(path))
                },
            )),
        }
    }
    assert_none(&wrong);
}
