//! A folder in which the program runs.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// The program under test. `RANKRLS_COMMAND` names it, as in continuous integration. Otherwise it is built with
/// these tests.
pub(crate) fn program() -> OsString {
    env::var_os("RANKRLS_COMMAND").unwrap_or_else(|| env!("CARGO_BIN_EXE_rankrls").into())
}

pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and makes missing folders.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The program with arguments separated by blanks. Programs in the folder come before others.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(program());
        let others = env::var_os("PATH").unwrap_or_default();
        let paths = [self.0.path().to_owned()].into_iter();
        let paths = env::join_paths(paths.chain(env::split_paths(&others)));
        command
            .env("PATH", paths.unwrap())
            .current_dir(self.0.path())
            .args(arguments.split_whitespace());
        command
    }
}
