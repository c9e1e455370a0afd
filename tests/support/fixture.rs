//! Where the fixture server is.
//!
//! Include it with `#[path = "../support/fixture.rs"] mod fixture;`.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

/// The fixture server's program. `cargo test` builds it; `cargo test --test NAME` does not, so that an old one is refused here.
pub fn fixture() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let path = exe.parent().and_then(Path::parent).unwrap().join("examples/fixture_server");
    let modified = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources =
        ["tests/support/fixture_server", "src/demo_server"].map(|dir| std::fs::read_dir(root.join(dir)).unwrap());
    let newest = sources.into_iter().flatten().flatten().filter_map(|entry| modified(&entry.path())).max();
    let newest = newest.max(modified(&root.join("src/guard.rs")));
    assert!(modified(&path) > newest, "{} is missing or old: cargo build --example fixture_server", path.display());
    path
}
