//! The command as a user meets it: exit statuses, what stands on stdout, what on stderr, and which files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const GOOD: &str = "(defgraph double ((x [2]))\n  (* 2.0 x))\n";
const BAD: &str = "(defgraph f ((x [2]))\n  (+ x (zeros [3])))\n";

/// A folder with a good program, a bad one and some that are neither.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let write =
        |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("a written file");
    write("good.sx", GOOD.as_bytes());
    write("bad.sx", BAD.as_bytes());
    write("empty.sx", b" \n");
    write("binary.sx", b"(def a\n \xff\xfe)");
    write("none.sx", b"(def a 1)\n");
    write("ugly.sx", b"(defun f(x)   ; note\n(+ x\n1))");
    write("open.sx", b"(defun f (x)\n  (+ x 1)\n");
    write("weight.sx", b"(defgraph g ((x [2])) (* x (param \"w\" [2])))");
    folder
}

fn sxc(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sxc"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("sxc starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn every_answer_has_its_status_and_its_words() {
    let folder = folder();
    // Arguments, status, a part of stdout, a part of stderr.
    let cases: &[(&[&str], i32, &str, &str)] = &[
        (&["--version"], 0, "sxc 0.1.0", ""),
        (&["--help"], 0, "Example:", ""),
        (&["build", "--help"], 0, "Example:", ""),
        (&[], 2, "", "Usage: sxc"),
        (&["frobnicate"], 2, "", "unrecognized subcommand"),
        (&["check"], 2, "", "FILE.sx"),
        (&["check", "good.sx", "--dim", "b"], 2, "", "NAME=N"),
        (&["check", "good.sx"], 0, "", "0 errors, 0 warnings"),
        (&["-q", "check", "good.sx"], 0, "", ""),
        (&["check", "bad.sx"], 1, "", "error[E-DIM-001]"),
        (&["check", "bad.sx"], 1, "", "1 error, 0 warnings"),
        (&["check", "bad.sx", "--json"], 1, "\"code\":\"E-DIM-001\"", ""),
        (&["check", "open.sx"], 1, "", "error[E-READ-001]"),
        (&["check", "gone.sx"], 1, "", "`gone.sx` cannot be read: there is no such file"),
        (&["check", "."], 1, "", "it is a folder"),
        (&["check", "empty.sx"], 1, "", "`empty.sx` is empty"),
        (&["check", "binary.sx"], 1, "", "line 2 has the byte 0xff"),
        (&["ir", "good.sx"], 0, "graph \"double\"", ""),
        (&["ir", "good.sx", "--after", "plan"], 0, "launch", ""),
        (&["ir", "good.sx", "--after", "fuse"], 0, "kernel", ""),
        (&["ir", "good.sx", "--dot"], 0, "digraph", ""),
        (&["ir", "good.sx", "--json"], 0, "{\"graphs\":[", ""),
        (&["ir", "good.sx", "--dot", "--after", "plan"], 2, "", "--after simplify"),
        (&["ir", "good.sx", "--graph", "f"], 1, "", "E-GRAPH-005"),
        (&["ir", "none.sx"], 1, "", "has no graph"),
        (&["eval", "good.sx", "--input", "x=2:f32=1 2.5"], 0, "out: [2] f32 = [2.0 5.0]", ""),
        (&["eval", "good.sx", "double", "--input", "x=2:f32=1 2.5", "--json"], 0, "\"values\":[2.0,5.0]", ""),
        (&["eval", "good.sx"], 1, "", "inputs without a value: `x` [2] f32"),
        (&["eval", "good.sx", "--input", "y=1"], 1, "", "the graph has no input `y`"),
        (&["eval", "good.sx", "--input", "x"], 2, "", "NAME=VALUE"),
        (&["eval", "good.sx", "--input", "x=3:f32=1 2 3"], 1, "", "[3]"),
        (&["eval", "good.sx", "nope"], 1, "", "E-GRAPH-005"),
        (&["eval", "good.sx", "--input", "x=@gone.npy"], 1, "", "gone.npy"),
        (&["build", "weight.sx"], 1, "", "E-PARAM-003"),
        (&["build", "good.sx", "--target", "cuda"], 3, "", "makes no code for `cuda`"),
        (&["build", "good.sx", "--weights", "gone.safetensors"], 1, "", "gone.safetensors"),
        (&["build", "good.sx", "-o", "gone/a.sxa"], 1, "", "gone/a.sxa"),
        (&["build", "good.sx", "-o", "good.sx"], 2, "", "the program itself"),
        (&["emit", "good.sx", "--target", "ptx", "-o", "k"], 3, "", "makes no code for `cuda`"),
        (&["fmt", "--check", "good.sx"], 0, "", ""),
        (&["fmt", "--check", "ugly.sx", "good.sx"], 1, "ugly.sx\n", ""),
        (&["fmt", "open.sx"], 1, "", "E-READ-001"),
        (&["explain", "e-dim-001"], 0, "# E-DIM-001: shapes do not fit", ""),
        (&["explain", "E-DIM-01"], 2, "", "did you mean `E-DIM-00"),
        (&["explain"], 0, "E-READ-001 ", ""),
        (&["doc", "softmax"], 0, "(softmax x", ""),
        (&["doc", "sofmax"], 2, "", "did you mean `softmax`?"),
        (&["doc", "matmul", "--json"], 0, "\"name\":\"matmul\"", ""),
        (&["completions", "bash"], 0, "_sxc()", ""),
        (&["init", "."], 1, "", "is not empty"),
    ];
    for (args, status, out, err) in cases {
        let output = sxc(folder.path(), args);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        let shown = format!("sxc {}\n{stdout}{stderr}", args.join(" "));
        assert_eq!(output.status.code(), Some(*status), "{shown}");
        assert!(stdout.contains(out) && stderr.contains(err), "`{out}` and `{err}` in: {shown}");
        assert!(!out.is_empty() || stdout.is_empty(), "nothing should stand on stdout: {shown}");
        assert!(!stderr.contains("bug"), "{shown}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("good.sx")).expect("the program"), GOOD);
}

#[test]
fn colours_are_there_when_asked_for() {
    let folder = folder();
    let coloured = |args: &[&str]| sxc(folder.path(), args).stderr.contains(&0x1b);
    assert!(coloured(&["check", "bad.sx", "--color", "always"]));
    assert!(!coloured(&["check", "bad.sx", "--color", "never"]));
    assert!(!coloured(&["check", "bad.sx"]), "a pipe is no terminal");
}

#[test]
fn a_file_is_laid_out_in_place_and_stays_so() {
    let folder = folder();
    let path = folder.path().join("ugly.sx");
    assert!(sxc(folder.path(), &["fmt", "ugly.sx"]).status.success());
    let once = fs::read_to_string(&path).expect("the program");
    assert_eq!(once, "(defun f (x)  ; note\n  (+ x\n     1))\n");
    assert!(sxc(folder.path(), &["fmt", "ugly.sx"]).status.success());
    assert_eq!(fs::read_to_string(&path).expect("the program"), once);
}

#[test]
fn a_new_project_builds_and_says_how_to_run_it() {
    let folder = folder();
    let made = sxc(folder.path(), &["init", "hello"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stderr).contains("sxrun run hello/model.sxa"));
    for args in [
        &["check", "hello/model.sx"][..],
        &["fmt", "--check", "hello/model.sx"],
        &["build", "hello/model.sx"],
    ] {
        let output = sxc(folder.path(), args);
        assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
    }
    assert!(folder.path().join("hello/model.sxa").exists());
    let first = fs::read(folder.path().join("hello/model.sxa")).expect("the artifact");
    assert!(sxc(folder.path(), &["build", "hello/model.sx", "-o", "again.sxa"]).status.success());
    assert_eq!(first, fs::read(folder.path().join("again.sxa")).expect("the artifact"), "the same bytes");
}

#[test]
fn code_is_written_a_file_a_kernel() {
    let folder = folder();
    let output = sxc(folder.path(), &["emit", "good.sx", "--target", "wgsl", "-o", "kernels"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("kernel"));
    let graph = fs::read_dir(folder.path().join("kernels/double")).expect("a folder for the graph");
    assert!(graph.count() > 0);
}
