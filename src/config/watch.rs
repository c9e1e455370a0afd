//! Notices that a configuration file changed while the program runs.
//!
//! Owns: watching the directories that the files lie in (so that files that are replaced, as editors do, and files that appear are seen), and telling the
//! owner which files have another *content* than before. Does not read them for their meaning.
//!
//! **Invariants:** idle costs nothing: one thread blocks on the system's events and has no timer. A burst of events is one call, after [`QUIET`] without
//! events, at the latest after [`LATEST`]. Events about other files of the same directories, and a file saved without a change, call nobody.

use super::report;
use notify::{Event, RecursiveMode, Watcher as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time without events after which a burst is over.
pub const QUIET: Duration = Duration::from_millis(150);
/// Time after which a burst that does not end is reported.
pub const LATEST: Duration = Duration::from_secs(2);

enum Message {
    Event(notify::Result<Event>),
    Stop,
}

/// Watches while it lives.
pub struct Watch {
    stop: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches these files, existing or not. `changed` is called on a thread of its own, with the files whose content is another than at the
    /// last call (at first: than now); it must not wait for whoever drops the watch, since dropping waits for it. The error is the system's: no watching, nothing else is lost.
    pub fn start(files: Vec<PathBuf>, changed: impl FnMut(Vec<PathBuf>) + Send + 'static) -> notify::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let events = sender.clone();
        let watcher = notify::recommended_watcher(move |event| {
            let _ = events.send(Message::Event(event));
        })?;
        let mut watched = Watched { watcher, directories: BTreeSet::new(), files: Vec::new() };
        watched.files = files.into_iter().map(|path| (content(&path), path)).collect();
        watched.attach();
        // Between reading the contents and watching, something may have changed: `attach` comes first for whatever exists by now.
        for (known, path) in &mut watched.files {
            *known = content(path);
        }
        let thread = std::thread::Builder::new()
            .name("watch".into())
            .spawn(move || watched.run(&receiver, changed))
            .map_err(notify::Error::io)?;
        Ok(Self { stop: sender, thread: Some(thread) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.stop.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Watched {
    watcher: notify::RecommendedWatcher,
    directories: BTreeSet<PathBuf>,
    /// Files with the content they had when it was last looked at.
    files: Vec<(Content, PathBuf)>,
}

/// What is told apart: absence, unreadability, and texts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Absent,
    Unreadable,
    Text(String),
}

fn content(path: &Path) -> Content {
    match report::read(path) {
        Ok(Some(text)) => Content::Text(text),
        Ok(None) => Content::Absent,
        Err(_) => Content::Unreadable,
    }
}

impl Watched {
    fn run(mut self, receiver: &Receiver<Message>, mut changed: impl FnMut(Vec<PathBuf>)) {
        while let Ok(Message::Event(event)) = receiver.recv() {
            if !self.concerns(&event) {
                continue;
            }
            if !settle(receiver) {
                return;
            }
            self.attach();
            let news = self.news();
            if !news.is_empty() {
                changed(news);
            }
        }
    }

    /// Whether an event can have to do with our files: it names one, or a directory above one, or nothing that is certain.
    fn concerns(&self, event: &notify::Result<Event>) -> bool {
        let Ok(event) = event else { return true };
        if event.kind.is_access() {
            return false;
        }
        let ours = |path: &PathBuf| {
            let Some(name) = path.file_name() else { return true };
            self.files.iter().any(|(_, file)| file.iter().any(|part| part == name))
                || self.directories.contains(path)
                || self
                    .files
                    .iter()
                    .any(|(_, file)| file.read_link().is_ok_and(|target| target.file_name() == Some(name)))
        };
        event.need_rescan() || event.paths.is_empty() || event.paths.iter().any(ours)
    }

    /// Watches what exists of the directories that the files lie in; where one is missing, the nearest above it, to see it appear.
    fn attach(&mut self) {
        let mut wanted = BTreeSet::new();
        for (_, file) in &self.files {
            let real = file.canonicalize().ok();
            for path in [Some(file.as_path()), real.as_deref()].into_iter().flatten() {
                wanted.extend(path.ancestors().skip(1).find(|directory| directory.is_dir()).map(Path::to_path_buf));
            }
        }
        for gone in self.directories.difference(&wanted) {
            let _ = self.watcher.unwatch(gone);
        }
        // A directory that was removed and made again has the same name but is no longer watched: watch it anew.
        self.directories =
            wanted.into_iter().filter(|d| self.watcher.watch(d, RecursiveMode::NonRecursive).is_ok()).collect();
    }

    fn news(&mut self) -> Vec<PathBuf> {
        let mut news = Vec::new();
        for (known, path) in &mut self.files {
            let now = content(path);
            if now != *known {
                *known = now;
                news.push(path.clone());
            }
        }
        news
    }
}

/// Waits for a burst to end; `false` when watching is over.
fn settle(receiver: &Receiver<Message>) -> bool {
    let end = Instant::now() + LATEST;
    loop {
        let wait = QUIET.min(end.saturating_duration_since(Instant::now()));
        match receiver.recv_timeout(wait) {
            Ok(Message::Event(_)) if Instant::now() < end => {}
            Ok(Message::Event(_)) | Err(RecvTimeoutError::Timeout) => return true,
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Long enough for a busy machine.
    const PATIENCE: Duration = Duration::from_secs(20);

    fn watch(files: &[PathBuf]) -> (Watch, Receiver<Vec<PathBuf>>) {
        let (sender, receiver) = mpsc::channel();
        let watch = Watch::start(files.to_vec(), move |news| sender.send(news).unwrap()).unwrap();
        (watch, receiver)
    }

    /// As editors save: a new file takes the name of the old one.
    fn save(path: &Path, text: &str) {
        let new = path.with_extension("tmp~");
        fs::write(&new, text).unwrap();
        fs::rename(&new, path).unwrap();
    }

    /// The one file that the next call names.
    fn next(receiver: &Receiver<Vec<PathBuf>>) -> PathBuf {
        let mut news = receiver.recv_timeout(PATIENCE).unwrap();
        assert_eq!(news.len(), 1);
        news.remove(0)
    }

    fn quiet(receiver: &Receiver<Vec<PathBuf>>) -> bool {
        receiver.recv_timeout(QUIET * 5).is_err()
    }

    #[test]
    fn sees_files_saved_by_renaming_and_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        fs::write(&file, "1").unwrap();
        let (_watch, news) = watch(std::slice::from_ref(&file));
        for text in ["2", "3"] {
            save(&file, text);
            assert_eq!(next(&news), file);
        }
        fs::write(&file, "4").unwrap();
        assert_eq!(next(&news), file);
        fs::remove_file(&file).unwrap();
        assert_eq!(next(&news), file);
    }

    #[test]
    fn sees_a_file_appear_in_a_directory_that_did_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(".mcpane/mcp.json");
        let (_watch, news) = watch(std::slice::from_ref(&file));
        fs::create_dir(dir.path().join(".mcpane")).unwrap();
        fs::write(&file, "1").unwrap();
        assert_eq!(next(&news), file);
        save(&file, "2");
        assert_eq!(next(&news), file);
        fs::remove_dir_all(dir.path().join(".mcpane")).unwrap();
        assert_eq!(next(&news), file);
        fs::create_dir(dir.path().join(".mcpane")).unwrap();
        save(&file, "3");
        assert_eq!(next(&news), file);
    }

    #[test]
    fn sees_the_file_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("dotfiles/x.toml"), dir.path().join("config.toml"));
        fs::create_dir(dir.path().join("dotfiles")).unwrap();
        fs::write(&real, "1").unwrap();
        symlink("dotfiles/x.toml", &link).unwrap();
        let (_watch, news) = watch(std::slice::from_ref(&link));
        save(&real, "2");
        assert_eq!(next(&news), link);
    }

    #[test]
    fn tells_nothing_of_other_files_and_of_saves_without_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcp.json");
        fs::write(&file, "1").unwrap();
        let (_watch, news) = watch(std::slice::from_ref(&file));
        fs::write(dir.path().join("other"), "x").unwrap();
        save(&file, "1");
        assert!(quiet(&news));
        save(&file, "2");
        assert!(news.recv_timeout(PATIENCE).is_ok());
    }

    #[test]
    fn a_burst_is_one_call() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        let (_watch, news) = watch(&[one.clone(), two.clone()]);
        for n in 0..50 {
            fs::write(&one, n.to_string()).unwrap();
            fs::write(&two, n.to_string()).unwrap();
        }
        let mut calls = vec![news.recv_timeout(PATIENCE).unwrap()];
        while let Ok(more) = news.recv_timeout(QUIET * 5) {
            calls.push(more);
        }
        assert!(calls.len() <= 2, "{calls:?}");
        let mut seen: Vec<PathBuf> = calls.concat();
        seen.sort();
        seen.dedup();
        assert_eq!(seen, [one, two]);
    }

    #[test]
    fn ends_when_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let (watch, news) = watch(&[dir.path().join("x")]);
        drop(watch);
        assert_eq!(news.recv(), Err(mpsc::RecvError), "the thread is gone, and the callback with it");
    }
}
