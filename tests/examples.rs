//! The numbered examples and the classifier of digits answer what their comments say, on the reference and on the CPU.

use sx_compiler::compile::Target;
use sx_tests::example::{Example, agree};
use sx_tests::{assert_none, files, shown};

#[test]
fn examples_answer_what_their_comments_say() {
    let paths: Vec<_> =
        files("examples", ".sx").into_iter().filter(|path| !path.ends_with("minilm/minilm.sx")).collect();
    assert!(paths.len() >= 6, "the examples are not where they were: {paths:?}");
    let mut wrong = Vec::new();
    for path in &paths {
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
