//! Where what is written goes, and what it leaves of what stood there.

use super::*;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

fn put(path: &Path, text: &str) -> io::Result<()> {
    write(path, text.len() as u64, |out| out.write_all(text.as_bytes()))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder");
    let name = |entry: io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn modes_stay_and_a_new_file_has_the_usual_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for mode in [0o600, 0o755, 0o640] {
        let path = folder.path().join(format!("{mode:o}"));
        fs::write(&path, "old").expect("a small file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("our own file");
        put(&path, "new").expect("there is room");
        assert_eq!(fs::metadata(&path).expect("the file").mode() & 0o7777, mode);
        assert_eq!(fs::read_to_string(&path).expect("the file"), "new");
    }
    let plain = folder.path().join("plain");
    fs::write(&plain, "").expect("a small file");
    let fresh = folder.path().join("fresh");
    put(&fresh, "new").expect("there is room");
    let mode = |path: &Path| fs::metadata(path).expect("the file").mode();
    assert_eq!(mode(&fresh), mode(&plain));
    assert_eq!(names(folder.path()), ["600", "640", "755", "fresh", "plain"]);
}

#[test]
fn links_are_followed_and_stay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("inner")).expect("a folder");
    fs::write(at("inner/file"), "old").expect("a small file");
    symlink("inner/file", at("one")).expect("a link");
    symlink("one", at("two")).expect("a link");
    symlink("inner/none", at("dangling")).expect("a link");
    put(&at("two"), "new").expect("there is room");
    put(&at("dangling"), "made").expect("there is room");
    assert_eq!(fs::read_to_string(at("inner/file")).expect("the file"), "new");
    assert_eq!(fs::read_to_string(at("inner/none")).expect("the file"), "made");
    for link in ["one", "two", "dangling"] {
        assert!(fs::symlink_metadata(at(link)).expect("the link").is_symlink(), "{link}");
    }
    symlink("circle", at("circle")).expect("a link");
    assert!(put(&at("circle"), "never").is_err());
}

#[test]
fn devices_and_pipes_are_written_through() {
    put(Path::new("/dev/null"), "nothing").expect("it takes all");
    assert!(fs::metadata("/dev/null").expect("the device").file_type().is_char_device());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = folder.path().join("null");
    symlink("/dev/null", &link).expect("a link");
    put(&link, "nothing").expect("it takes all");
    assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("cat");
    put(&pipe, "through").expect("somebody reads");
    let read = reader.wait_with_output().expect("its end");
    assert_eq!(read.stdout, b"through");
    assert!(fs::metadata(&pipe).expect("the pipe").file_type().is_fifo());
}

/// The child half of the next test: writes until it is stopped, to a file with a name or without.
#[test]
fn child_writes_without_an_end() {
    let Ok(path) = std::env::var("SX_TEST_ENDLESS") else { return };
    let path = Path::new(&path);
    let content = match std::env::var("SX_TEST_NAMED") {
        Ok(_) => Content::Named(Temporary::in_folder(folder(path)).expect("there is room")),
        Err(_) => Content::in_folder(folder(path)).expect("there is room"),
    };
    let mut file = content.file().expect("a file");
    file.write_all(b"half").expect("there is room");
    fs::write(path.with_extension("ready"), "").expect("a small file");
    loop {
        std::thread::park();
    }
}

#[test]
fn a_process_that_is_stopped_leaves_nothing() {
    for (signal, named) in [("INT", true), ("TERM", true), ("TERM", false), ("KILL", false)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        let mut command = Command::new(std::env::current_exe().expect("this test's program"));
        command.args(["--exact", "atomic::tests::child_writes_without_an_end"]).env("SX_TEST_ENDLESS", &path);
        if named {
            command.env("SX_TEST_NAMED", "1");
        }
        let mut child = command.stdout(Stdio::null()).spawn().expect("this test's program");
        while !path.with_extension("ready").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(killed.expect("kill").success());
        assert!(!child.wait().expect("its end").success());
        let unnamed_here = Content::in_folder(folder.path()).is_ok_and(|it| !matches!(it, Content::Named(_)));
        if named || unnamed_here {
            assert_eq!(names(folder.path()), ["file.ready"], "{signal}");
        }
    }
}
