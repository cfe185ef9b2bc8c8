//! Whole texts kept as snapshots: `INSTA_UPDATE=always` writes what is so now, and the difference is read like code.

/// Compares `text` with the snapshot `FOLDER/NAME.snap`; the folder is relative to that of the tests.
pub(crate) fn check(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path(folder);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
