//! Artifacts in files: what is written is there whole or not at all, and other programs read it.

#[path = "../../artifact/tests/common/mod.rs"]
#[allow(dead_code, reason = "each test crate uses its own part of it")]
mod common;

use std::path::Path;
use std::process::Command;
use sx_artifact::write::weights_path;
use sx_files::artifact;

const WEIGHT: [u8; 12] = [0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64];

#[test]
fn weights_in_a_file_of_their_own() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.sxa");
    let programs = [common::program("main")];
    artifact::write_with_weights(&path, &common::contents(&programs, &WEIGHT)).expect("there is room");
    let mut model = artifact::open(&path).expect("the writer's bytes are accepted");
    let message = model.param("layer.0.weight").expect_err("the weights are elsewhere").to_string();
    assert!(message.contains("--weights"), "{message}");
    let weights = artifact::open(&weights_path(&path)).expect("the writer's bytes are accepted");
    model.attach_weights(weights).expect("they belong together");
    assert_eq!(model.param("layer.0.weight").expect("there is this parameter").1, WEIGHT);
    model.verify().expect("nothing is damaged");

    let other: [u8; 12] = [7; 12];
    artifact::write_with_weights(&folder.path().join("other.sxa"), &common::contents(&programs, &other))
        .expect("there is room");
    let foreign =
        artifact::open(&folder.path().join("other.weights")).expect("the writer's bytes are accepted");
    assert!(model.attach_weights(foreign).is_err());
}

/// Info-ZIP and Python are the independent readers; what is not installed is said.
#[test]
fn other_programs_read_the_zip() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.sxa");
    let programs = [common::program("main")];
    artifact::write(&path, &common::contents(&programs, &WEIGHT)).expect("there is room");
    let python = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; \
                  assert z.read('constants/c0') == b'\\0\\0\\x80?'";
    let path = path.to_str().expect("a name in ASCII");
    run_if_there("unzip", &["-t", path]);
    run_if_there("python3", &["-c", python, path]);
}

fn run_if_there(program: &str, args: &[&str]) {
    match Command::new(program).args(args).output() {
        Ok(output) => {
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr))
        }
        Err(_) => eprintln!("skipped: {program} is not installed"),
    }
}

/// The child half of the next test.
#[test]
fn child_writes_under_a_limit() {
    let Ok(path) = std::env::var("SX_TEST_WRITE_TO") else { return };
    let weight = vec![1; 1 << 20];
    let error =
        artifact::write(Path::new(&path), &common::contents(&[], &weight)).expect_err("there is a limit");
    std::fs::write(format!("{path}.message"), error.to_string()).expect("a small file is allowed");
}

/// A file size limit stands for a disk that fills: an error, the old file as it was, and nothing left behind.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("model.sxa");
    std::fs::write(&path, "old").expect("a small file");
    let this = std::env::current_exe().expect("this test's program");
    let status = Command::new("sh")
        .args(["-c", "ulimit -f 100; exec \"$0\" --exact child_writes_under_a_limit"])
        .arg(this)
        .env("SX_TEST_WRITE_TO", &path)
        .status()
        .expect("a shell");
    assert!(status.success());
    let message =
        std::fs::read_to_string(folder.path().join("model.sxa.message")).expect("the child's message");
    assert!(message.contains("ulimit -f"), "{message}");
    assert_eq!(std::fs::read_to_string(&path).expect("the old file"), "old");
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 2);
}

#[test]
fn a_write_that_fails_half_way_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("file");
    let result = sx_files::atomic::write(&path, 9, |out| {
        out.write_all(b"half")?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    assert!(result.is_err());
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
