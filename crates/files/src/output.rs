//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

use crate::location::{end, is_descriptor};
use crate::unfinished::Unfinished;

/// Level of zstd. Level and one thread are fixed because files are compared byte by byte.
const ZSTD_LEVEL: i32 = 3;

/// Level of gzip, fixed for the same reason.
const GZIP_LEVEL: u32 = 6;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// The compression of a file, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

impl Compression {
    /// The compression that the ending of `path` names, in capitals or not.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?;
        let is = |known: &str| ending.eq_ignore_ascii_case(known);
        match () {
            () if is("gz") => Some(Self::Gzip),
            () if is("zst") => Some(Self::Zstd),
            () => None,
        }
    }
}

/// A file to write, compressed by its [ending](Compression).
///
/// The bytes go to a file beside it, which takes the name in [`finish`](Self::finish). Until then, and after a
/// drop, an older file keeps the name. A symbolic link keeps its target, even a target that does not exist yet. A
/// device or pipe is written directly. An open descriptor, such as `/dev/stdout`, is appended to.
pub struct Output(Encoder);

/// A complete file that has no name yet. Dropping it deletes it.
#[derive(Debug)]
pub struct CompleteOutput(Target);

enum Encoder {
    Plain(BufWriter<Target>),
    Gzip(GzEncoder<BufWriter<Target>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<Target>>),
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Output")
    }
}

#[derive(Debug)]
enum Target {
    Replaced(Unfinished),
    Direct(File),
}

impl Target {
    /// Opens a path without links.
    fn open(path: &Path) -> io::Result<Self> {
        if is_descriptor(path) {
            return File::options().append(true).open(path).map(Self::Direct);
        }
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                File::options().write(true).open(path).map(Self::Direct)
            }
            _ => Unfinished::create(path).map(Self::Replaced),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Replaced(file) => file.content().write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Replaced(file) => file.content().flush(),
            Self::Direct(file) => file.flush(),
        }
    }
}

impl Output {
    /// Whether a new file replaces the one at `path`. Pipes, devices and descriptors are written to instead.
    pub fn replaces(path: &Path) -> bool {
        let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file());
        !is_special && end(path).is_ok_and(|end| !is_descriptor(&end))
    }

    /// Tries out what the system will have to allow for the file at `path`, and leaves nothing behind. A name that
    /// would fail at the end fails here. Opens and closes a pipe or device. Returns the path to which links lead.
    pub fn check(path: &Path) -> io::Result<PathBuf> {
        let end = end(path)?;
        match Target::open(&end)? {
            Target::Replaced(mut file) => {
                // A full disk fails here.
                file.content().write_all(b"\n")?;
                file.give_up()?;
            }
            Target::Direct(_) => {}
        }
        Ok(end)
    }

    /// Begins to write the file at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::encode(path, Target::open(&end(path)?)?)
    }

    /// Begins to write the file at `path`, which led to `end` when it was [checked](Self::check). The file replaces
    /// whatever is there now, even a link.
    pub fn create_at(path: &Path, end: &Path) -> io::Result<Self> {
        if is_descriptor(end) {
            return Self::encode(path, Target::open(end)?);
        }
        Self::encode(path, Target::Replaced(Unfinished::create(end)?))
    }

    /// Writes to `target`, compressed by the ending of `path`.
    fn encode(path: &Path, target: Target) -> io::Result<Self> {
        let target = BufWriter::with_capacity(BUFFER, target);
        Ok(Self(match Compression::of(path) {
            Some(Compression::Gzip) => {
                Encoder::Gzip(GzEncoder::new(target, flate2::Compression::new(GZIP_LEVEL)))
            }
            Some(Compression::Zstd) => {
                let mut encoder = zstd::stream::write::Encoder::new(target, ZSTD_LEVEL)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            None => Encoder::Plain(target),
        }))
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> io::Result<()> {
        let mut complete = self.complete()?;
        complete.appear()?;
        complete.sync()
    }

    /// Completes the file on disk, without its name. Files that belong together are all completed before the first
    /// of them [appears](CompleteOutput::appear).
    pub fn complete(self) -> io::Result<CompleteOutput> {
        let buffer = match self.0 {
            Encoder::Plain(buffer) => buffer,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
        };
        let mut target = buffer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        match &mut target {
            Target::Replaced(file) => file.complete()?,
            Target::Direct(file) => file.flush()?,
        }
        Ok(CompleteOutput(target))
    }
}

impl CompleteOutput {
    /// Deletes the older file of this name, so that no older file stands beside a new one.
    pub fn make_room(&self) -> io::Result<()> {
        match &self.0 {
            Target::Replaced(file) => file.make_room(),
            Target::Direct(_) => Ok(()),
        }
    }

    /// Gives the file its name, and does nothing else.
    pub fn appear(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Replaced(file) => file.appear(),
            Target::Direct(_) => Ok(()),
        }
    }

    /// Syncs the name to disk.
    pub fn sync(self) -> io::Result<()> {
        match self.0 {
            Target::Replaced(file) => file.sync_name(),
            Target::Direct(_) => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Encoder::Plain(writer) => writer.write(bytes),
            Encoder::Gzip(writer) => writer.write(bytes),
            Encoder::Zstd(writer) => writer.write(bytes),
        }
    }

    /// Does not flush the compressors: that costs compression and completes nothing.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Encoder::Plain(writer) => writer.flush(),
            Encoder::Gzip(_) | Encoder::Zstd(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_whole;

    #[test]
    fn a_file_appears_when_it_is_finished_compressed_as_its_extension_says() {
        let folder = tempfile::tempdir().unwrap();
        for (name, magic) in [
            ("a.svm", &b"1 "[..]),
            ("a.gz", &[0x1f, 0x8b]),
            ("b.svm.GZ", &[0x1f, 0x8b]),
            ("a.zst", &[0x28]),
            ("b.Zst", &[0x28]),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, "old").unwrap();
            let mut output = Output::create(&path).unwrap();
            output.write_all(&vec![b'x'; 200_000]).unwrap();
            drop(output);
            assert_eq!(fs::read(&path).unwrap(), b"old");
            let mut output = Output::create(&path).unwrap();
            output.write_all(b"1 qid:a 3:0.5\n").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"old");
            output.finish().unwrap();
            assert!(fs::read(&path).unwrap().starts_with(magic));
            assert_eq!(read_whole(&path, 100).unwrap(), b"1 qid:a 3:0.5\n");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
        assert!(Output::create(Path::new("absent/folder/file")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{FileTypeExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        let mut output = Output::create(&link).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // A later link at this place is replaced, since it may lead to the input.
        let late = folder.path().join("late");
        let end = Output::check(&late).unwrap();
        symlink(&file, &late).unwrap();
        let mut output = Output::create_at(&late, &end).unwrap();
        output.write_all(b"late").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&late).unwrap().is_file());
        let null = Path::new("/dev/null");
        let mut output = Output::create(null).unwrap();
        output.write_all(b"new").unwrap();
        output.finish().unwrap();
        assert!(fs::metadata(null).unwrap().file_type().is_char_device());
    }
}
