//! Opening exactly the file that was looked at.
//!
//! Owns: walking to a resolved path directory by directory without following any link, reading there, and putting a new file in place.
//! Does not: resolve paths (`place`).
//!
//! **Invariant:** a link that appears on the way after the path was resolved makes the operation fail; it is never followed.

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

/// What to do where a directory on the way does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Fail.
    Fail,
    /// Make it.
    Make,
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link, a pipe, a device, a socket.
    Other,
}

/// A name in a directory that is held open.
#[derive(Debug)]
pub struct Spot {
    directory: OwnedFd,
    name: OsString,
}

impl Spot {
    /// Goes to a resolved, absolute path. `/` itself has no name and is an error.
    pub fn at(path: &Path, missing: Missing) -> io::Result<Self> {
        let mut names: Vec<&OsStr> = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(name) => names.push(name),
                Component::RootDir => names.clear(),
                _ => return Err(io::Error::from(io::ErrorKind::InvalidInput)),
            }
        }
        let name = names.pop().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
        let mut directory = rustix::fs::open("/", step(), Mode::empty())?;
        for part in names {
            directory = enter(&directory, part, missing)?;
        }
        Ok(Self { directory, name: name.to_owned() })
    }

    /// What stands there; `None` where nothing does.
    pub fn kind(&self) -> io::Result<Option<Kind>> {
        match rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                _ => Kind::Other,
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the regular file there for reading.
    pub fn open(&self) -> io::Result<File> {
        // NONBLOCK: opening a pipe that nobody writes to must not hang before it is found to be no file.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
    }

    /// All bytes of the file there, at most `most` of them (one more is an error); `None` where nothing stands there.
    pub fn read(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open() {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(Some(bytes)) }
    }

    /// Puts a file with these bytes there. Normally the new file is written beside it and takes its place at once, with the old one's
    /// permissions; a file with several names, of another owner, or in a directory that takes no new file is written in place.
    pub fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let old = match rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let Some(old) = old else { return self.beside(bytes, None).map_err(|(_, error)| error) };
        if FileType::from_raw_mode(old.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("not a regular file"));
        }
        // Taking the place of a read-only file would get round its protection.
        rustix::fs::accessat(&self.directory, &self.name, Access::WRITE_OK, AtFlags::empty())?;
        if old.st_nlink > 1 || old.st_uid != rustix::process::geteuid().as_raw() {
            return self.in_place(bytes);
        }
        match self.beside(bytes, Some(Mode::from_raw_mode(old.st_mode))) {
            Err((Stage::Creating, _)) => self.in_place(bytes),
            done => done.map_err(|(_, error)| error),
        }
    }

    fn in_place(&self, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::TRUNC | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty())?);
        file.write_all(bytes)?;
        file.sync_data()
    }

    fn beside(&self, bytes: &[u8], mode: Option<Mode>) -> Result<(), (Stage, io::Error)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let temporary = format!(".mcpane-{:x}-{:x}.tmp", std::process::id(), fastrand::u64(..));
        let file = rustix::fs::openat(&self.directory, &temporary, flags, Mode::from_raw_mode(0o666))
            .map_err(|error| (Stage::Creating, error.into()))?;
        let put = || -> io::Result<()> {
            let mut file = File::from(file);
            if let Some(mode) = mode {
                rustix::fs::fchmod(file.as_fd(), mode)?;
            }
            file.write_all(bytes)?;
            file.sync_data()?;
            rustix::fs::renameat(&self.directory, &temporary, &self.directory, &self.name)?;
            Ok(())
        };
        put().map_err(|error| {
            let _ = rustix::fs::unlinkat(&self.directory, &temporary, AtFlags::empty());
            (Stage::Filling, error)
        })
    }
}

enum Stage {
    Creating,
    Filling,
}

fn step() -> OFlags {
    // A directory that may be passed through but not listed can still be walked with PATH.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let access = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let access = OFlags::RDONLY;
    access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn enter(directory: &OwnedFd, name: &OsStr, missing: Missing) -> io::Result<OwnedFd> {
    match rustix::fs::openat(directory, name, step(), Mode::empty()) {
        Err(Errno::NOENT) if missing == Missing::Make => {
            match rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            Ok(rustix::fs::openat(directory, name, step(), Mode::empty())?)
        }
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn root() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        (dir, path)
    }

    #[test]
    fn a_link_on_the_way_is_not_followed() {
        let (_dir, root) = root();
        std::fs::create_dir(root.join("real")).unwrap();
        std::fs::write(root.join("real/file"), "secret").unwrap();
        symlink(root.join("real"), root.join("way")).unwrap();
        symlink(root.join("real/file"), root.join("last")).unwrap();
        assert!(Spot::at(&root.join("way/file"), Missing::Fail).is_err());
        let last = Spot::at(&root.join("last"), Missing::Fail).unwrap();
        assert_eq!(last.kind().unwrap(), Some(Kind::Other));
        assert!(last.open().is_err());
        assert!(last.replace(b"x").is_err());
        assert_eq!(std::fs::read_to_string(root.join("real/file")).unwrap(), "secret");
    }

    #[test]
    fn replaces_whole_keeps_permissions_and_leaves_nothing_behind() {
        let (_dir, root) = root();
        let path = root.join("deep/er/file.sh");
        Spot::at(&path, Missing::Make).unwrap().replace(b"one").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        let before = path.metadata().unwrap().ino();
        Spot::at(&path, Missing::Fail).unwrap().replace(b"two").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o751);
        assert_ne!(path.metadata().unwrap().ino(), before);
        assert_eq!(std::fs::read_dir(root.join("deep/er")).unwrap().count(), 1);
    }

    #[test]
    fn a_file_with_two_names_keeps_both() {
        let (_dir, root) = root();
        let (a, b) = (root.join("a"), root.join("b"));
        std::fs::write(&a, "old and longer").unwrap();
        std::fs::hard_link(&a, &b).unwrap();
        Spot::at(&a, Missing::Fail).unwrap().replace(b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&b).unwrap(), "new");
    }

    #[test]
    fn a_pipe_does_not_hang_and_is_no_file() {
        let (_dir, root) = root();
        let pipe = root.join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let spot = Spot::at(&pipe, Missing::Fail).unwrap();
        assert!(spot.open().is_err());
        assert!(spot.replace(b"x").is_err());
    }

    #[test]
    fn too_large_is_an_error_and_missing_is_none() {
        let (_dir, root) = root();
        std::fs::write(root.join("f"), "12345").unwrap();
        let spot = Spot::at(&root.join("f"), Missing::Fail).unwrap();
        assert_eq!(spot.read(5).unwrap().unwrap(), b"12345");
        assert_eq!(spot.read(4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(Spot::at(&root.join("g"), Missing::Fail).unwrap().read(4).unwrap(), None);
        assert!(Spot::at(Path::new("/"), Missing::Fail).is_err());
    }
}
