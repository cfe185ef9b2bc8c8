//! `sxrun` as its users meet it: what it prints, saves and refuses, and with which exit status.

mod folder;
mod inspect;

use folder::{Folder, access, contents, launch, load, origins, pick, program, resource, scale};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;
use sx_artifact::code::Target;
use sx_artifact::program::Program;
use sx_artifact::write::Contents;
use sx_files::artifact;

const X: &str = "x=2x3:f32=0 1 0.5 0.25 1 0";

#[test]
fn outputs_are_printed() {
    let folder = Folder::new();
    let cases: [(&[&str], &str); 5] = [
        (&["run", "scale.sxa", "--input", X], "out: [2, 3] f32\n[[0.5  2.5  2.5]\n [0.75 2.5  0.5]]\n"),
        (&["run", "apart.sxa", "--input", X], "out: [2, 3] f32\n[[0.5  2.5  2.5]\n [0.75 2.5  0.5]]\n"),
        (&["run", "model.sxa", "pick", "-i", "ids=2:i32=2 0"], "out: [2] f32 = [4.0 1.0]\n"),
        (&["run", "model.sxa", "count"], "out: [] i32 = 0\n"),
        (&["run", "model.sxa", "count", "--repeat", "3", "--microbatches", "2"], "out: [] i32 = 21\n"),
    ];
    for (args, printed) in cases {
        let (status, out, err) = folder.sxrun(args);
        // Columns are aligned: spaces at their start do not matter here.
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            (status, squeeze(&out).replace("[ ", "["), err.as_str()),
            (0, squeeze(printed), ""),
            "{args:?}"
        );
    }
    let (status, out, _) = folder.sxrun(&["run", "scale.sxa", "-i", X, "--json", "--device", "cpu"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((status, &document["outputs"]["out"]["elements"][1]), (0, &json!(2.5)));
    // An f32 has its own digits, not those of the f64 nearest to it.
    let (status, out, _) = folder.sxrun(&["run", "scale.sxa", "-i", "x=2x3:f32=0.1 0 0 0 0 0", "--json"]);
    assert!(status == 0 && out.contains("0.6,") && !out.contains("0.6000000"), "{out}");
}

#[test]
fn outputs_are_saved() {
    let folder = Folder::new();
    let (status, out, err) =
        folder.sxrun(&["run", "scale.sxa", "-i", X, "-o", "out.npz", "-o", "out=one.npy"]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "", "wrote out.npz\nwrote one.npy\n"));
    for value in ["@one.npy", "@out.npz:out"] {
        let (status, _, err) = folder.sxrun(&["run", "scale.sxa", "--input", &format!("x={value}")]);
        assert!(status == 1 && err.contains("has 2.5 at [0, 1]; every element must be in [0, 1]"), "{err}");
    }
}

#[test]
fn refusals_name_the_cause_and_the_next_step() {
    let folder = Folder::new();
    std::fs::write(
        folder.path("cut.sxa"),
        &std::fs::read(folder.path("scale.sxa")).expect("it is there")[..900],
    )
    .expect("there is room");
    std::fs::remove_file(folder.path("apart.weights")).expect("it was written");
    std::fs::write(folder.path("model.sx"), "(defgraph f ((x [2])) x)").expect("there is room");
    let cases: [(&[&str], i32, &str); 19] = [
        (
            &["run", "model.sx"],
            1,
            "is a program, and `sxrun` runs what is built of it; `sxc build model.sx` makes",
        ),
        (&["run", "scale.sxa", "-i", X, "-o", "out=a.npy", "-o", "a.npy"], 2, "written twice"),
        (&["run", "scale.sxa", "-i", "z=1", "-o", "all.txt"], 1, "tensors are kept in `.npy`"),
        (&["run", "model.sxa"], 1, "several graphs; name one of `scale`, `pick`, `count`"),
        (&["run", "model.sxa", "skale"], 1, "no graph `skale`; it has `scale`, `pick`, `count`"),
        (&["run", "scale.sxa"], 1, "these inputs are missing: `x` [2, 3] f32 Unit"),
        (&["run", "scale.sxa", "-i", "y=1"], 1, "there is no input `y`; the graph takes `x`"),
        (&["run", "scale.sxa", "-i", "x"], 2, "write `--input NAME=VALUE`"),
        (&["run", "scale.sxa", "-i", "x=3:f32=1 2 3"], 1, "takes the shape [2, 3] and is given [3]"),
        (&["run", "scale.sxa", "-i", "x=random", "-i", "x=random"], 1, "`x` is given twice"),
        (&["run", "scale.sxa", "-i", "x=@none.npy"], 1, "cannot read `none.npy`: there is no such file"),
        (
            &["run", "scale.sxa", "-i", "x=random", "-o", "y=y.npy"],
            1,
            "there is no output `y`; the graph gives `out`",
        ),
        (
            &["run", "model.sxa", "pick", "-i", "ids=2:i64=0 3"],
            1,
            "`index` at pick.sx:3:5: `ids` has 3 at position 1, outside its axis of size 3",
        ),
        (
            &["run", "scale.sxa", "-i", "x=random", "--device", "nonesuch"],
            3,
            "there is no device `nonesuch` here",
        ),
        (&["run", "none.sxa"], 1, "cannot read `none.sxa`: there is no such file"),
        (&["run", "cut.sxa"], 1, "the artifact is cut off"),
        (
            &["run", "apart.sxa", "-i", "x=random"],
            1,
            "put it at `apart.weights`, or name it with `--weights`",
        ),
        (&["run", "scale.sxa", "--nonesuch"], 2, "unexpected argument"),
        (&["inspect", "cut.sxa"], 1, "the artifact is cut off"),
    ];
    for (args, status, part) in cases {
        let (found, out, err) = folder.sxrun(args);
        assert_eq!((found, out.as_str()), (status, ""), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
}

#[test]
fn artifacts_that_are_not_right_say_so() {
    let folder = Folder::new();
    let good = std::fs::read(folder.path("scale.sxa")).expect("it was written");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path(name), bytes).expect("there is room");
    write("empty.sxa", b"");
    write("text.sxa", b"(defgraph f ((x [2])) x)");
    let mut changed = good.clone();
    let at = changed.windows(4).rposition(|four| four == 0.5f32.to_le_bytes()).expect("the constant");
    changed[at] ^= 1;
    write("changed.sxa", &changed);
    // A reader knows a newer format by its number, whatever else has changed.
    let manifest = b"{ \"format\": 9 }";
    let mut newer = good[..64].to_vec();
    // The CRC-32 of that manifest.
    newer[14..18].copy_from_slice(&0xDFC5_6996u32.to_le_bytes());
    newer[18..22].copy_from_slice(&(manifest.len() as u32).to_le_bytes());
    newer[22..26].copy_from_slice(&(manifest.len() as u32).to_le_bytes());
    newer.extend(manifest);
    write("newer.sxa", &newer);
    let programs = [scale()];
    let other = Contents { targets: vec![Target::Wgpu], ..contents(&programs) };
    artifact::write(&folder.path("other.sxa"), &other).expect("there is room");
    let cases = [
        ("empty.sxa", "not an sx artifact: the file is empty"),
        ("text.sxa", "not an sx artifact"),
        ("changed.sxa", "the artifact's entry `constants/c` is damaged"),
        ("newer.sxa", "has format version 9 and this program reads versions up to"),
        ("other.sxa", "no code for `cpu`: that needs the target `cpu` and it was built for `wgpu`"),
    ];
    for (name, part) in cases {
        let (status, out, err) = folder.sxrun(&["run", name, "-i", X, "--device", "cpu"]);
        assert_eq!((status, out.as_str()), (1, ""), "{name}: {err}");
        assert!(err.contains(part), "{name}: {err}");
    }
}

#[test]
fn weights_of_their_own_are_checked_and_named() {
    let folder = Folder::new();
    let run = |case: &str, part: &str| {
        let (status, out, err) = folder.sxrun(&["run", "apart.sxa", "-i", X]);
        assert_eq!((status, out.as_str()), (1, ""), "{case}: {err}");
        assert!(err.contains("apart.weights") && err.contains(part), "{case}: {err}");
    };
    let good = std::fs::read(folder.path("apart.weights")).expect("it was written");
    let write = |bytes: &[u8]| std::fs::write(folder.path("apart.weights"), bytes).expect("there is room");
    write(&good[..good.len() - 1]);
    run("cut", "the artifact is cut off");
    let mut changed = good.clone();
    let at = changed.windows(4).rposition(|four| four == 4.0f32.to_le_bytes()).expect("a weight");
    changed[at] ^= 1;
    write(&changed);
    run("changed", "its bytes are not those that were written");
    let programs = [scale(), pick()];
    let mut others = contents(&programs);
    others.params[0].bytes = Cow::Owned(vec![0; 12]);
    artifact::write_with_weights(&folder.path("other.sxa"), &others).expect("there is room");
    std::fs::rename(folder.path("other.weights"), folder.path("apart.weights")).expect("a rename");
    run("foreign", "does not hold the weights that the artifact was built with");
}

#[test]
fn calls_are_measured() {
    let folder = Folder::new();
    let args = ["run", "model.sxa", "count", "--repeat", "3", "--microbatches", "2", "--metrics", "m.jsonl"];
    let (status, _, err) = folder.sxrun(&args);
    assert_eq!(status, 0, "{err}");
    let text = std::fs::read_to_string(folder.path("m.jsonl")).expect("the metrics");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 6);
    let last = &lines[5];
    assert_eq!((&last["call"], &last["step"], &last["microbatch"]), (&json!(6), &json!(2), &json!(1)));
    assert_eq!(last["device"], "cpu");
    assert!(last["milliseconds"].as_f64().is_some_and(|time| time > 0.0), "{last}");
    let (status, _, err) = folder.sxrun(&["run", "model.sxa", "count", "--metrics", "./model.sxa"]);
    assert!(status == 2 && err.contains("is what is run"), "{err}");
    let (status, _, err) = folder.sxrun(&["run", "model.sxa", "count", "--metrics", "gone/m.jsonl"]);
    assert!(status == 1 && err.contains("there is no such folder"), "{err}");
}

/// A file size limit stands for a disk that fills.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_changes_nothing() {
    let folder = Folder::new();
    for name in ["old.npz", "old.npy", "old.safetensors"] {
        std::fs::write(folder.path(name), name).expect("a small file");
    }
    let before = std::fs::read_dir(folder.0.path()).expect("the folder").count();
    for output in ["-o old.npz", "-o out=old.npy", "-o old.safetensors", "--metrics m.jsonl"] {
        let line = format!("ulimit -f 0; exec \"$0\" run scale.sxa -i '{X}' {output}");
        let done = Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_sxrun")])
            .current_dir(folder.0.path())
            .output()
            .expect("a shell");
        let err = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(1), "{output}: {err}");
        assert!(err.contains("raise the limit (`ulimit -f`)"), "{output}: {err}");
        for name in ["old.npz", "old.npy", "old.safetensors"] {
            assert_eq!(std::fs::read_to_string(folder.path(name)).expect("the old file"), name);
        }
    }
    std::fs::remove_file(folder.path("m.jsonl")).expect("the metrics, which hold what had room");
    assert_eq!(std::fs::read_dir(folder.0.path()).expect("the folder").count(), before);
}

/// `out = x` of a size that no machine has.
fn endless() -> Program {
    const SIZE: u64 = 1 << 40;
    let arg =
        |mode: &str| json!({ "dtype": "f32", "len": if mode == "read" { 1 } else { SIZE }, "mode": mode });
    program(json!({
        "graph": "endless",
        "resources": [resource("x", "f32", &[], "input"), resource("out", "f32", &[SIZE], "output")],
        "kernels": [{ "name": "repeat", "traps": 0, "args": [arg("read"), arg("write")],
            "kind": { "loop": { "dims": [SIZE], "along": [], "body": [load(0, &[0])],
                "stores": [{ "value": 0, "access": access(1, &[1]) }] } } }],
        "steps": [launch(&[0, 1], &[])],
        "slots": [], "sites": [], "origins": origins(),
    }))
}

#[test]
fn a_graph_too_large_for_the_device_says_so() {
    let folder = Folder::new();
    artifact::write(&folder.path("endless.sxa"), &contents(&[endless()])).expect("there is room");
    let (status, out, err) = folder.sxrun(&["run", "endless.sxa", "-i", "x=1"]);
    assert_eq!((status, out.as_str()), (3, ""), "{err}");
    assert!(err.contains("`endless` needs 4398046511104 bytes, and `cpu` has"), "{err}");
    let (status, out, _) = folder.sxrun(&["devices", "endless.sxa"]);
    assert!(status == 0 && out.contains("the artifact does not fit: `endless` needs"), "{out}");
}

#[test]
fn without_a_driver_there_is_the_processor() {
    let folder = Folder::new();
    let run = |file: &str, device: &str| {
        let args = ["run", file, "-i", X, "--device", device];
        let output = Command::new(env!("CARGO_BIN_EXE_sxrun"))
            .args(args)
            .current_dir(folder.0.path())
            .env("VK_DRIVER_FILES", "/nonexistent.json")
            .env("VK_ICD_FILENAMES", "/nonexistent.json")
            .output()
            .expect("sxrun starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run("scale.sxa", "auto"), (Some(0), String::new()));
    let (status, err) = run("scale.sxa", "wgpu");
    assert_eq!(status, Some(3), "{err}");
    assert!(err.contains("install a Vulkan driver") && err.contains("the device `cpu`"), "{err}");
    // The artifact is sound, and this machine has nothing that runs it: that is the device's fault.
    let programs = [scale()];
    let other = Contents { targets: vec![Target::Wgpu], ..contents(&programs) };
    artifact::write(&folder.path("other.sxa"), &other).expect("there is room");
    let (status, err) = run("other.sxa", "auto");
    assert_eq!(status, Some(3), "{err}");
    assert!(err.contains("was built for `wgpu`, and no device here runs that; there is `cpu`"), "{err}");
    assert!(err.contains("build it with `--target cpu`"), "{err}");
}

#[test]
fn a_reader_that_has_read_enough_is_no_error() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sxrun"))
        .args(["inspect", "model.sxa"])
        .current_dir(folder.0.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("sxrun starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn other_commands() {
    let folder = Folder::new();
    let (status, out, _) = folder.sxrun(&["inspect", "model.sxa"]);
    assert!(status == 0 && out.contains("memory  64 bytes on cpu"), "{out}");
    let (status, out, _) = folder.sxrun(&["inspect", "model.sxa", "--json"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((status, &document["graphs"][1]["inputs"][0]["name"]), (0, &json!("ids")));
    let (status, out, _) = folder.sxrun(&["devices", "model.sxa", "--json"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((status, &document["devices"][0]["fits"]), (0, &json!(true)));
    let (status, out, _) = folder.sxrun(&["bench", "scale.sxa", "--runs", "20", "--json"]);
    let document: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((status, &document["warm"]["runs"]), (0, &json!(20)));
    let kernels = document["kernels"].as_array().expect("the launches");
    assert!(kernels.len() == 1 && kernels[0]["kernel"] == "scale", "{document}");
    assert!(kernels[0]["seconds"].as_f64().is_some_and(|time| time > 0.0), "{document}");
    assert!(document["ceiling"]["flops-per-second"].as_f64().is_some_and(|rate| rate > 0.0), "{document}");
    for shell in ["bash", "zsh", "fish"] {
        let (status, out, _) = folder.sxrun(&["completions", shell]);
        assert!(status == 0 && out.contains("inspect"), "{shell}");
    }
}

/// Every option that a `--help` lists stands on the page about the commands.
#[test]
fn the_page_about_the_commands_has_every_option() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/commands.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let folder = Folder::new();
    for command in ["run", "devices", "inspect", "bench", "completions"] {
        let (_, help, _) = folder.sxrun(&[command, "--help"]);
        assert!(page.contains(command), "{command}");
        for option in
            help.split(|c: char| c != '-' && !c.is_ascii_lowercase()).filter(|it| it.starts_with("--"))
        {
            assert!(page.contains(option), "`sxrun {command} {option}`");
        }
    }
}
