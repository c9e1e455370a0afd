//! Files that are the user's alone: 0600 in 0700 directories, replaced as a whole, safe against a second mcpane.
//!
//! Owns: reading such a file ([`read`], [`open`]), adding to one ([`append`]), writing one atomically ([`write`]) and changing one under a lock
//! ([`update`]). Does not know what is in them. Below everyone who keeps state on disk.
//!
//! **Invariants:** a reader sees the old file or the new one, never a mixture; what another process wrote between our reading and our writing is
//! not lost, because both happen under the lock; a symlink (dotfile managers make them) keeps pointing where it did. Nothing here waits for, or reads
//! without end, what stands where a file should: a pipe, a device, a directory is an error.

use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long another process may hold a file.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(10);

/// Makes a directory and what is missing above it, open to the user only. What exists is left as it is.
pub fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Largest file that is kept as one text.
const MOST: u64 = 16 * 1024 * 1024;

/// Opens what must be a regular file.
fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe without this waits for somebody at its other end; of a file it changes nothing.
    let file = options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().read(true), path)
}

/// Opens a file for reading and for adding to its end.
pub fn reopen(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().read(true).append(true), path)
}

/// Opens a file for adding to its end, or makes it. Its directory must be there.
pub fn append(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().append(true).create(true).mode(0o600), path)
}

/// The text of a file; `None` where there is none. More than [`MOST`] bytes, and what is no UTF-8, are errors.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    String::from_utf8(bytes).map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))
}

/// Replaces a file, or makes it. Its directory is made if it is missing.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    replace(&real(path), text)
}

/// Changes a file: gives its text (`None` if there is no file) to `change`, and writes what comes back (`None` leaves it as it is). Nobody
/// else who uses this function changes the file in between. An error of `change` leaves the file alone.
pub fn update<T, E: From<io::Error>>(
    path: &Path,
    change: impl FnOnce(Option<String>) -> Result<(Option<String>, T), E>,
) -> Result<T, E> {
    let path = real(path);
    let _lock = lock(&path)?;
    let before = read(&path)?;
    let (after, result) = change(before)?;
    if let Some(text) = after {
        replace(&path, &text)?;
    }
    Ok(result)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let directory = directory(path);
    create_dir(directory)?;
    // `tempfile` makes its files 0600.
    let mut file = tempfile::Builder::new().prefix(".mcpane-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // Without this the new name may be lost with the power; some file systems do not know it.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

/// The lock of a file; it ends when it is dropped, and with the process in any case.
fn lock(path: &Path) -> io::Result<File> {
    let directory = directory(path);
    create_dir(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = append(&directory.join(format!(".{name}.lock")))?;
    let tries = PATIENCE.as_millis() / PAUSE.as_millis();
    for _ in 0..tries {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::WouldBlock, format!("{} is held by another process", path.display())))
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a chain of symlinks ends, also when nothing is there yet.
fn real(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..16 {
        match fs::read_link(&path) {
            Ok(target) => path = directory(&path).join(target),
            Err(_) => break,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn add(path: &Path, line: &str) -> io::Result<()> {
        update(path, |before| Ok((Some(before.unwrap_or_default() + line), ())))
    }

    #[test]
    fn files_and_directories_are_the_users_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a/b/file");
        write(&path, "one").unwrap();
        add(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "onetwo");
        assert_eq!((mode(&path), mode(&root.path().join("a")), mode(&root.path().join("a/b"))), (0o600, 0o700, 0o700));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write(&path, "three").unwrap();
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn symlinks_stay() {
        let root = tempfile::tempdir().unwrap();
        let link = root.path().join("link");
        std::os::unix::fs::symlink("real", &link).unwrap();
        write(&link, "x").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(root.path().join("real")).unwrap(), "x");
    }

    #[test]
    fn what_is_no_file_is_an_error_at_once() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        );
        made.unwrap();
        fs::create_dir(at("directory")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        for name in ["pipe", "directory", "endless", "loop"] {
            let path = at(name);
            assert!(read(&path).is_err() && append(&path).is_err() && reopen(&path).is_err(), "{name}");
            assert!(update(&path, |before| Ok::<_, io::Error>((before, ()))).is_err(), "{name}");
        }
        assert_eq!(read(&at("nothing")).unwrap(), None);
        File::create(at("huge")).unwrap().set_len(MOST + 1).unwrap();
        assert_eq!(read(&at("huge")).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_failed_change_leaves_the_file_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        write(&path, "x").unwrap();
        let failed: io::Result<()> = update(&path, |_| Err(io::Error::other("no")));
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
        update(&path, |_| Ok::<_, io::Error>((None, ()))).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
    }

    #[test]
    fn no_change_is_lost_between_many_writers() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || (0..10).for_each(|n| add(path, &format!("{writer}.{n}\n")).unwrap()));
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 40);
        let left: Vec<_> = fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
    }
}
