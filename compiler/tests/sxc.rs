//! The command as a user meets it: exit statuses, what stands on stdout, what on stderr, and which files.

use std::fs;
use std::io::Write;
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
    write("half.sx", b"(defgraph half ((x [2] :bf16)) x)");
    write("empty.sx", b" \n");
    write("binary.sx", b"(def a\n \xff\xfe)");
    write("none.sx", b"(def a 1)\n");
    write("ugly.sx", b"(defun f(x)   ; note\n(+ x\n1))");
    write("open.sx", b"(defun f (x)\n  (+ x 1)\n");
    write("importer.sx", b"(import \"good.sx\") (defgraph g ((x [2])) (double x))");
    write("large.sx", b"(defgraph g ((x [9000 8192])) (sum x))");
    write("nul.sx", b"(defgraph f ((x [2])) \0x)");
    write("mark.sx", b"\xef\xbb\xbf(defgraph f ((x [2])) x)\r\n");
    write("lines.sx", b"(defgraph f ((x [2]))\r\n  (+ x y))\r\n");
    write("deep.sx", "(".repeat(100_000).as_bytes());
    write("endless.sx", b"(defun f (x) (f x)) (defgraph g ((x [2])) (f x))");
    write("macro.sx", b"(defmacro m (x) `(m ,x)) (defgraph g ((x [2])) (m x))");
    write("huge.sx", b"(def x 999999999999999999999999)");
    write("shape.sx", b"(defgraph g ((x [99999999999 99999999999])) x)");
    write("uncalled.sx", b"(defun f (x) (undefined x))");
    write("memory.sx", b"(defgraph g ((x [2])) (sum (param \"w\" [999999999999999] :init 1)))");
    write("wide.sx", b"(defgraph g ((x [])) (+ 1 (broadcast-to x [999999999999999])))");
    let tensor = |name: &str, dtype: &str, shape: &str, bytes: usize| {
        format!("\"{name}\":{{\"dtype\":\"{dtype}\",\"shape\":{shape},\"data_offsets\":[0,{bytes}]}}")
    };
    let weights = |name: &str, header: String, bytes: usize| {
        let header = format!("{{{header}}}");
        let length = (header.len() as u64).to_le_bytes();
        write(name, &[&length, header.as_bytes(), &vec![0; bytes]].concat());
    };
    weights("w.safetensors", tensor("w", "F32", "[2]", 8), 8);
    weights("shape.safetensors", tensor("w", "F32", "[3]", 12), 12);
    weights("dtype.safetensors", tensor("w", "I32", "[2]", 8), 8);
    // A file with an input and something else.
    let extra = "\"y\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}";
    weights("inputs.safetensors", tensor("x", "F32", "[2]", 8) + "," + extra, 16);
    let w = tensor("w", "F32", "[2]", 8);
    weights("twice.safetensors", format!("{w},{w}"), 8);
    weights("other.safetensors", tensor("layer.w", "F32", "[2]", 8), 8);
    write("w.npz", b"PK\x03\x04 and so on");
    write("w.npy", b"\x93NUMPY and so on");
    write("unused.sx", b"(defgraph f ((x [2]) (y [2])) x)");
    write("axis.sx", b"(defaxis V 2) (defgraph f ((x [V])) (* 2 x))");
    write("reader.sx", b"(import \"/dev/zero\") (import \"pipe.sx\") (import \"folder.sx\")");
    fs::create_dir(folder.path().join("folder.sx")).expect("a folder");
    let made = Command::new("mkfifo").arg(folder.path().join("pipe.sx")).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe");
    let sparse = fs::File::create(folder.path().join("sparse.sx")).expect("a file");
    sparse.set_len(1 << 40).expect("a file of nothing");
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

/// As [`sxc`], with something on stdin.
fn fed(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sxc"));
    command
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("sxc starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("sxc reads it");
    child.wait_with_output().expect("sxc ends")
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
        (
            &["eval", "good.sx", "double", "--input", "x=2:f32=1 2.5", "--json"],
            0,
            "{\"graph\":\"double\",\"device\":\"reference\",\"outputs\":{\"out\":{\"dtype\":\"f32\",\"shape\":[2],\"elements\":[2.0,5.0]}}}",
            "",
        ),
        (&["eval", "good.sx", "-i", "x=2:f32=0.1 0.15", "--json"], 0, "\"elements\":[0.2,0.3]", ""),
        (&["eval", "half.sx", "-i", "x=2:f32=0.5 0.1", "--round-inputs"], 0, "0.100097656", ""),
        (
            &["eval", "half.sx", "-i", "x=2:f32=0.5 0.1"],
            1,
            "",
            "has 0.1 at [1]; every element must be a bf16",
        ),
        (&["eval", "good.sx"], 1, "", "these inputs are missing: `x` [2] f32"),
        (&["eval", "good.sx", "--input", "y=1"], 1, "", "there is no input `y`; the graph takes `x`"),
        (&["eval", "good.sx", "-i", "x=random", "-i", "x=random"], 1, "", "the input `x` is given twice"),
        (&["eval", "good.sx", "--inputs", "inputs.safetensors"], 0, "out: [2] f32 = [0.0 0.0]", ""),
        (&["eval", "good.sx", "--input", "x"], 2, "", "NAME=VALUE"),
        (&["eval", "good.sx", "--input", "x=3:f32=1 2 3"], 1, "", "[3]"),
        (&["eval", "good.sx", "nope"], 1, "", "E-GRAPH-005"),
        (&["eval", "good.sx", "--input", "x=@gone.npy"], 1, "", "gone.npy"),
        (&["build", "weight.sx"], 1, "", "E-PARAM-003"),
        (&["build", "good.sx", "--target", "cuda"], 3, "", "makes no code for `cuda`"),
        (&["build", "good.sx", "--weights", "gone.safetensors"], 1, "", "gone.safetensors"),
        (&["build", "good.sx", "-o", "gone/a.sxa"], 1, "", "gone/a.sxa"),
        (&["build", "good.sx", "-o", "gone/a.sxa"], 1, "", "there is no such folder; make it first"),
        (&["build", "good.sx", "-o", "good.sx"], 2, "", "`good.sx` is read for this artifact"),
        (&["build", "good.sx", "-o", "./good.sx"], 2, "", "`good.sx` is read for this artifact"),
        (&["build", "good.sx", "-o", "good.sx/a.sxa"], 1, "", "not a folder"),
        (&["build", "good.sx", "-o", "."], 1, "", "it is a folder"),
        (&["build", "importer.sx", "-o", "good.sx"], 2, "", "`good.sx` is read for this artifact"),
        (&["build", "weight.sx", "--weights", "w.safetensors", "-o", "w.safetensors"], 2, "", "is read for"),
        (&["build", "weight.sx", "--weights", "empty.sx"], 1, "", "`empty.sx`: it is not a safetensors file"),
        (&["build", "weight.sx", "--weights", "shape.safetensors"], 1, "", "`shape.safetensors` it is [3]"),
        (&["build", "weight.sx", "--weights", "dtype.safetensors"], 1, "", "`dtype.safetensors` it is i32"),
        (&["build", "weight.sx", "--weights", "twice.safetensors"], 1, "", "`w` stands twice in it"),
        (&["check", "good.sx", "--fits", "webgpu"], 0, "", "0 errors"),
        (
            &["check", "large.sx", "--fits", "webgpu"],
            1,
            "",
            "error[E-FIT-001]: the input `x` [9000, 8192] f32",
        ),
        (&["check", "large.sx", "--fits", "webgpu", "--json"], 1, "\"code\":\"E-FIT-001\"", ""),
        (&["check", "large.sx", "--fits", "vulkan"], 0, "", "0 errors"),
        (&["check", "good.sx", "--fits", "abacus"], 2, "", "webgpu-compat"),
        (&["check", "nul.sx"], 1, "", "error[E-READ-006]: the character U+0000"),
        (&["check", "mark.sx"], 0, "", "0 errors"),
        (&["check", "lines.sx"], 1, "", "--> lines.sx:2:8"),
        (&["check", "deep.sx"], 1, "", "error[E-READ-007]"),
        (&["check", "endless.sx"], 1, "", "error[E-EVAL-002]"),
        (&["check", "macro.sx"], 1, "", "error[E-EVAL-002]"),
        (&["check", "huge.sx"], 1, "", "error[E-READ-005]"),
        (&["check", "shape.sx"], 1, "", "has more elements than can be counted"),
        (&["check", "uncalled.sx"], 1, "", "error[E-NAME-001]: `undefined` is not defined"),
        (&["build", "memory.sx"], 1, "", "more than this machine's memory holds"),
        (&["eval", "wide.sx", "--input", "x=1"], 3, "", "more than this machine's memory holds"),
        (&["build", "wide.sx"], 1, "", "error[E-FIT-002]"),
        (&["emit", "good.sx", "--target", "ptx", "-o", "k"], 2, "", "[possible values: wgsl, msl, spirv]"),
        (&["fmt", "--check", "good.sx"], 0, "", ""),
        (&["fmt", "--check", "ugly.sx", "good.sx"], 1, "ugly.sx\n", ""),
        (&["fmt", "open.sx"], 1, "", "E-READ-001"),
        (&["explain", "e-dim-001"], 0, "# E-DIM-001: shapes do not fit", ""),
        (&["explain", "E-DIM-01"], 2, "", "did you mean `E-DIM-00"),
        (&["explain"], 0, "E-READ-001 ", ""),
        (&["doc", "softmax"], 0, "(softmax x", ""),
        (&["doc", "layer-norm"], 0, "May be left out: shift, :eps (then 1e-5).", ""),
        (&["doc", "Prob"], 0, "(Prob :over AXIS)", ""),
        (&["doc", "&context"], 0, "(getf name :step)", ""),
        (&["doc", "sofmax"], 2, "", "did you mean `softmax`?"),
        (&["doc", "matmul", "--json"], 0, "\"name\":\"matmul\"", ""),
        (&["completions", "bash"], 0, "_sxc()", ""),
        (&["completions", "bash"], 0, "layer-norm", ""),
        (&["completions", "zsh"], 0, "E-DIM-001", ""),
        (&["check", "/dev/zero"], 1, "", "it is not a regular file"),
        (&["check", "/dev/zero"], 1, "", "help: give what it holds on stdin, with `-` as the file"),
        (&["check", "reader.sx"], 1, "", "`/dev/zero` cannot be read: its name does not end in `.sx`"),
        (&["check", "reader.sx"], 1, "", "`pipe.sx` cannot be read: it is not a regular file"),
        (&["check", "reader.sx"], 1, "", "`folder.sx` cannot be read: it is a folder"),
        (&["check", "sparse.sx"], 1, "", "it has more than 16 MiB"),
        (&["check", "unused.sx"], 0, "", "warning[W-GRAPH-001]: the input `y` is never used"),
        (&["check", "unused.sx", "--json"], 0, "\"severity\":\"warning\"", ""),
        (
            &["check", "unused.sx", "--deny", "warnings"],
            1,
            "",
            "0 errors, 1 warning, and warnings are denied",
        ),
        (&["build", "unused.sx", "--deny", "warnings"], 1, "", "warnings are denied"),
        (&["ir", "unused.sx", "--deny", "warnings"], 1, "", "warnings are denied"),
        (&["emit", "unused.sx", "--target", "msl", "-o", "k", "--deny", "warnings"], 1, "", "are denied"),
        (&["eval", "unused.sx", "--deny", "warnings"], 1, "", "warnings are denied"),
        (&["ir", "axis.sx"], 0, "axes V=#1", ""),
        (&["build", "weight.sx", "--weights", "other.safetensors"], 1, "", "a key that is near is `layer.w`"),
        (&["build", "weight.sx", "--weights", "other.safetensors"], 1, "", "used by no parameter: `layer.w`"),
        (&["build", "weight.sx", "--weights", "w.npz"], 1, "", "safetensors.numpy"),
        (&["build", "weight.sx", "--weights", "w.npy"], 1, "", "`w.npy` is a `.npy` array"),
        (&["eval", "good.sx", "--inputs", "other.safetensors"], 1, "", "the file's `layer.w` are no inputs"),
        (&["build", "-"], 2, "", "name it with `-o FILE.sxa`, or `-o -` for stdout"),
        (&["build", "good.sx", "-o", "-", "--json"], 2, "", "leave `--json` out"),
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

/// A file size limit stands for a disk that fills. Whichever of the files meets it, the old ones stay.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_changes_nothing() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let program = "(defgraph g ((x [1 2])) (matmul x (param \"w\" [2 N] :init 1.5)))";
    for (name, size) in [("small.sx", "3"), ("great.sx", "90000")] {
        fs::write(path(name), program.replace('N', size)).expect("a program");
    }
    for name in ["old.sxa", "old.weights"] {
        fs::write(path(name), name).expect("a small file");
    }
    let before = fs::read_dir(folder.path()).expect("the folder").count();
    // The artifact of the small program is larger than its weights, those of the great one are larger.
    for args in ["small.sx", "small.sx --external-weights", "great.sx --external-weights"] {
        let line = format!("ulimit -f 8; exec \"$0\" build {args} -o old.sxa");
        let output = Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_sxc")])
            .current_dir(folder.path())
            .output()
            .expect("a shell");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args}: {stderr}");
        assert!(stderr.contains("raise the limit (`ulimit -f`)"), "{args}: {stderr}");
        for name in ["old.sxa", "old.weights"] {
            assert_eq!(fs::read_to_string(path(name)).expect("the old file"), name, "{args}");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), before, "{args}");
    }
}

#[test]
fn two_files_with_one_weight_are_told() {
    let folder = folder();
    fs::copy(folder.path().join("w.safetensors"), folder.path().join("v.safetensors")).expect("a copy");
    let files = ["--weights", "w.safetensors", "--weights", "v.safetensors"];
    let output = sxc(folder.path(), &[&["build", "weight.sx"][..], &files].concat());
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("`w` stands in `w.safetensors` and in `v.safetensors`"), "{stderr}");
}

#[test]
fn code_is_written_a_file_a_kernel() {
    let folder = folder();
    let mut counts = Vec::new();
    for target in ["wgsl", "msl", "spirv"] {
        let output = sxc(folder.path(), &["emit", "good.sx", "--target", target, "-o", target]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let graph = fs::read_dir(folder.path().join(target).join("double")).expect("a folder for the graph");
        let count = graph.count();
        assert!(count > 0 && text(&output.stderr).contains(&format!("wrote {count} kernel")), "{target}");
        counts.push(count);
    }
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[1], counts[2]);
}

/// `-` is stdin where a program is read, and stdout where something is written.
#[test]
fn programs_come_from_stdin_and_artifacts_go_to_stdout() {
    let folder = folder();
    let run = |args: &[&str], input: &str| {
        let output = fed(folder.path(), args, input);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        output.stdout
    };
    assert!(text(&run(&["ir", "-"], GOOD)).starts_with("graph \"double\""));
    assert_eq!(text(&run(&["eval", "-", "-i", "x=2:f32=1 2"], GOOD)), "out: [2] f32 = [2.0 4.0]\n");
    assert_eq!(run(&["check", "-"], GOOD), b"");
    run(&["emit", "-", "--target", "msl", "-o", "k"], GOOD);
    run(&["check", "-"], "(import \"good.sx\") (defgraph g ((x [2])) (double x))");
    let piped = run(&["build", "-", "-o", "-"], GOOD);
    run(&["build", "-", "-o", "named.sxa"], GOOD);
    assert!(piped == fs::read(folder.path().join("named.sxa")).expect("the artifact"), "the same bytes");
    let wrong = fed(folder.path(), &["check", "-"], BAD);
    assert!(text(&wrong.stderr).contains("--> stdin:2:3"), "{}", text(&wrong.stderr));
}

/// What an artifact holds does not depend on where its sources lie.
#[test]
fn the_same_sources_give_the_same_artifact_in_any_folder() {
    let artifact = |folder: &Path, file: &str| {
        let output = sxc(folder, &["build", file, "-o", "-"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        output.stdout
    };
    let (one, two) = (folder(), folder());
    let here = artifact(one.path(), "importer.sx");
    let path = two.path().join("importer.sx");
    let there = artifact(one.path(), &path.to_string_lossy());
    assert!(here == there, "the same bytes");
    let words = String::from_utf8_lossy(&there).into_owned();
    assert!(words.contains("\"file\":\"good.sx\"") && !words.contains(&*two.path().to_string_lossy()));
}

/// Every option that a `--help` lists stands on the page about the commands.
#[test]
fn the_page_about_the_commands_has_every_option() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/commands.md");
    let page = fs::read_to_string(page).expect("the page");
    let folder = folder();
    for command in ["build", "check", "ir", "eval", "emit", "fmt", "explain", "doc", "init", "completions"] {
        let help = text(&sxc(folder.path(), &[command, "--help"]).stdout);
        assert!(page.contains(command), "{command}");
        for option in
            help.split(|c: char| c != '-' && !c.is_ascii_lowercase()).filter(|it| it.starts_with("--"))
        {
            assert!(page.contains(option), "`sxc {command} {option}`");
        }
    }
}
