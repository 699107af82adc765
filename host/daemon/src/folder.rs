//! When a file of the configuration has changed.
//!
//! The folders are watched, not the files: a file that is exchanged for another one, or reached by a link that is turned,
//! is none of which the watch knew. An event in a folder is only a reason to look whether the files hold what they held.
use crate::config::{ReloadSettings, FILE_BYTES_MAX};
use crate::{log, Config};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

/// With events that do not end, files are looked at after so many times the quiet that is waited for.
const QUIET_TIMES_MAX: u32 = 10;

/// Hashes of what files hold; `None` for one that cannot be read.
type Contents = BTreeMap<PathBuf, Option<u64>>;

/// Waits for changes of a configuration and of all files that it names.
pub struct FolderWatch {
    file: PathBuf,
    contents: Contents,
    quiet: Duration,
    active: Option<Active>,
}

/// A watch of the system, and the folders that it watches.
struct Active {
    watcher: RecommendedWatcher,
    events: mpsc::Receiver<()>,
    folders: BTreeSet<PathBuf>,
}

impl FolderWatch {
    /// Looks at the files; nothing is watched yet.
    pub fn new(file: &Path) -> Self {
        let mut watch = FolderWatch {
            file: file.to_owned(),
            contents: Contents::from([(file.to_owned(), None)]),
            quiet: Duration::ZERO,
            active: None,
        };
        watch.look();
        watch
    }

    /// Looks at the files, so that only what changes from here on is a change.
    pub fn look(&mut self) {
        // what a broken file names is not known: the files are those from before
        let files = Config::files(&self.file).unwrap_or_else(|| self.contents.keys().cloned().collect());
        if let Some(active) = &mut self.active {
            active.follow(&files);
        }
        self.contents = files.into_iter().map(|file| (file.clone(), content(&file))).collect();
    }

    /// Watches, or no longer, as the configuration has it.
    pub fn follow(&mut self, settings: ReloadSettings) {
        self.quiet = Duration::from_millis(settings.quiet_ms);
        if !settings.watch {
            self.active = None;
        } else if self.active.is_none() {
            match Active::start() {
                Ok(mut active) => {
                    active.follow(&self.contents.keys().cloned().collect::<Vec<_>>());
                    self.active = Some(active);
                }
                Err(error) => failed(&self.file, &error),
            }
        }
    }

    /// Waits until a file holds something else, and nothing has changed for a while. May be dropped at any time.
    pub async fn changed(&mut self) {
        loop {
            let Some(active) = &mut self.active else {
                return std::future::pending().await;
            };
            if active.events.recv().await.is_none() {
                self.active = None;
                continue;
            }
            for _ in 0..QUIET_TIMES_MAX {
                tokio::time::sleep(self.quiet).await;
                if active.events.try_recv().is_err() {
                    break;
                }
            }
            let before = self.contents.clone();
            self.look();
            if self.contents != before {
                return;
            }
        }
    }
}

impl Active {
    fn start() -> notify::Result<Self> {
        // one event is as good as many
        let (sender, events) = mpsc::channel(1);
        // for whatever changed before the watch began
        let _ = sender.try_send(());
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // an error may mean that events were lost; a file that is only read, as by us, is none
            if !event.is_ok_and(|e| matches!(e.kind, EventKind::Access(_))) {
                let _ = sender.try_send(());
            }
        })?;
        Ok(Active { watcher, events, folders: BTreeSet::new() })
    }

    /// Watches the folders of these files, and no others.
    fn follow(&mut self, files: &[PathBuf]) {
        let folders: BTreeSet<PathBuf> = files.iter().flat_map(|file| folders(file)).collect();
        for folder in self.folders.difference(&folders) {
            // a folder that is gone is not watched any more as it is
            let _ = self.watcher.unwatch(folder);
        }
        // also those from before: one that was made anew is another folder
        for folder in &folders {
            if let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                failed(folder, &error);
            }
        }
        self.folders = folders;
    }
}

fn failed(path: &Path, error: &notify::Error) {
    let path = path.display().to_string();
    log::event(
        "error",
        "watch_failed",
        &[("path", &path), ("why", &error.to_string()), ("remedy", "reload by SIGHUP")],
    );
}

/// Where changes of a file show: its folder, and that of the file which a link stands for.
fn folders(file: &Path) -> impl Iterator<Item = PathBuf> {
    let real = std::fs::canonicalize(file).ok();
    [Some(file.to_owned()), real].into_iter().flatten().filter_map(|file| {
        // the nearest one that is there, in case the folder is gone
        let there = file.ancestors().skip(1).find(|f| f.as_os_str().is_empty() || f.is_dir())?;
        Some(if there.as_os_str().is_empty() { PathBuf::from(".") } else { there.to_owned() })
    })
}

fn content(file: &Path) -> Option<u64> {
    let meta = std::fs::metadata(file).ok().filter(|m| m.is_file())?;
    let mut hasher = DefaultHasher::new();
    if meta.len() > FILE_BYTES_MAX {
        // refused anyway; another length may be a better one
        meta.len().hash(&mut hasher);
    } else {
        std::fs::read(file).ok()?.hash(&mut hasher);
    }
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail aloud")]
    use super::*;

    #[test]
    fn only_what_files_hold_is_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let file = folder.path().join("f.toml");
        put("f.toml", "policy = \"p.toml\"\n[[engine]]\nname = \"e\"\nkind = \"chat\"\nkey_file = \"k\"\n");
        put("p.toml", "[[tenant]]\nname = \"t\"\nkey_file = \"t.key\"\n");
        put("k", "1");
        let mut watch = FolderWatch::new(&file);
        let names: Vec<_> = watch.contents.keys().map(|p| p.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["f.toml", "k", "p.toml", "t.key"]);
        let mut changes = |name: &str, text: &str| {
            put(name, text);
            let before = watch.contents.clone();
            watch.look();
            watch.contents != before
        };
        assert!(!changes("k", "1") && !changes("other", "1"));
        assert!(changes("k", "2") && changes("t.key", "s") && !changes("t.key", "s"));
        // a broken file forgets nothing of what it named
        assert!(changes("f.toml", "policy = ") && changes("k", "3"));
        std::fs::remove_file(folder.path().join("k")).unwrap();
        assert!(changes("other", "2"));
    }

    #[test]
    fn a_folder_that_is_gone_is_waited_for_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("a/b/f.toml");
        assert_eq!(folders(&gone).collect::<Vec<_>>(), [folder.path().to_owned()]);
        assert_eq!(folders(Path::new("f.toml")).next(), Some(PathBuf::from(".")));
    }
}
