//! Files and streams of text, plain or compressed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flate2::bufread::GzDecoder;

use crate::error::{Fault, ReadError, ReadErrorKind};
use crate::signature::{HEAD, Kind, MARK, kind_of};

const BUFFER: usize = 1 << 18;

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// Whether `path` means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The compression of a stream, known by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            // A frame, or a skippable frame before it. No text has its 0.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, _, _, _, 0] => {
                Self::Zstd
            }
            _ => Self::None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// Decompressed text of a named input, without the byte order mark of UTF-8. The first bytes show input that is not
/// text; reading refuses it.
pub struct Source<'r> {
    /// The name in messages.
    pub name: String,
    reader: Box<dyn Read + Send + 'r>,
    compression: Compression,
    watch: Arc<Watch>,
    /// The first bytes of the text that nobody has taken yet.
    head: Option<Cursor<Vec<u8>>>,
    /// The kind of the source, if it is not text.
    kind: Option<Kind>,
    /// The failure that ended the head early.
    failure: Option<io::Error>,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.head().read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        if let Some((what, _)) = self.kind {
            return Err(io::Error::other(what));
        }
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.reader.read(buffer),
        }
    }
}

impl Source<'_> {
    /// The first bytes, read once.
    fn head(&mut self) -> &mut Cursor<Vec<u8>> {
        if self.head.is_none() {
            let mut bytes = Vec::with_capacity(HEAD);
            let reader = self.reader.by_ref();
            self.failure = reader.take(HEAD as u64).read_to_end(&mut bytes).err();
            self.kind = kind_of(&bytes);
            if self.kind.is_some() {
                bytes.clear();
            } else if bytes.starts_with(MARK) {
                bytes.drain(..MARK.len());
            }
            self.head = Some(Cursor::new(bytes));
        }
        self.head.get_or_insert_default()
    }

    /// Refuses input that is not text, before it is read.
    pub fn check(&mut self) -> Result<(), ReadError> {
        self.head();
        match self.kind {
            Some((what, _)) => Err(self.fault(&io::Error::other(what)).of(&self.name)),
            None => Ok(()),
        }
    }

    /// The first byte of the text that is not white space, if the head has one. It stays there to be read.
    pub fn first_byte(&mut self) -> Option<u8> {
        let head = self.head().get_ref();
        head.trim_ascii_start().first().copied()
    }

    /// The rest of the text. Refuses a long line with a NUL byte at once, since the line may have no end.
    pub fn read_all(mut self, limit: u64) -> Result<Vec<u8>, ReadError> {
        const PIECE: u64 = 1 << 20;
        let (mut text, mut line, mut nul) = (Vec::new(), 0, None);
        loop {
            let before = text.len();
            let wanted = PIECE.min(limit + 1 - before as u64);
            let read = self.by_ref().take(wanted).read_to_end(&mut text);
            let read = read.map_err(|error| self.fault(&error).of(&self.name))?;
            if read == 0 || text.len() as u64 > limit {
                break;
            }
            if let Some(end) = memchr::memrchr(b'\n', &text[before..]) {
                (line, nul) = (before + end + 1, None);
            }
            let from = before.max(line);
            nul = nul.or_else(|| memchr::memchr(0, &text[from..]).map(|at| from + at));
            if let Some(at) = nul.filter(|_| (text.len() - line) as u64 > PIECE) {
                let number = memchr::memchr_iter(b'\n', &text[..line]).count() as u64 + 1;
                let fault = Fault::new("text", "a NUL byte").at_column(at - line + 1);
                return Err(fault.at(&self.name, number));
            }
        }
        if text.len() as u64 > limit {
            let expected = format!("a file of at most {limit} bytes");
            let fault = Fault::new(expected, "more").kind(ReadErrorKind::TooLarge);
            return Err(fault.of(&self.name));
        }
        Ok(text)
    }
}

impl<'r> Source<'r> {
    /// Opens a file, or standard input for `-`. A decompressor may take `limit` bytes.
    pub fn open(path: &Path, limit: Option<u64>) -> Result<Source<'static>, ReadError> {
        if is_stdin(path) {
            return Source::new(io::stdin(), STDIN, limit);
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Source::new(file, &name, limit),
            Err(error) => Err(Fault::io(&error).of(&name)),
        }
    }

    /// A stream that messages call `name`. A decompressor may take `limit` bytes.
    pub fn new(
        reader: impl Read + Send + 'r,
        name: &str,
        limit: Option<u64>,
    ) -> Result<Self, ReadError> {
        let watch = Arc::new(Watch::default());
        let watched = Watched {
            reader,
            watch: Arc::clone(&watch),
        };
        let (compression, text) =
            decompress(watched, limit).map_err(|error| Fault::io(&error).of(name))?;
        Ok(Self {
            name: name.to_owned(),
            reader: text,
            compression,
            watch,
            head: None,
            kind: None,
            failure: None,
        })
    }

    /// Whether the bytes come out of a decompressor.
    pub fn is_compressed(&self) -> bool {
        self.compression != Compression::None
    }

    /// The fault behind a failed read: the system's, or the content's.
    pub fn fault(&self, error: &io::Error) -> Fault {
        if let Some((what, remedy)) = self.kind {
            let found = match self.compression {
                Compression::None => what.to_owned(),
                compression => format!("{what} within {} data", compression.name()),
            };
            let expected = "text in UTF-8, plain or compressed by gzip or zstd";
            let fault = Fault::new(expected, found);
            return match remedy {
                Some(remedy) => fault.remedy(remedy),
                None => fault,
            };
        }
        if self.watch.failed.load(Ordering::Relaxed) || self.compression == Compression::None {
            return Fault::io(error);
        }
        let format = self.compression.name();
        let bytes = self.watch.bytes.load(Ordering::Relaxed);
        if error.kind() == io::ErrorKind::UnexpectedEof {
            let expected = format!("more {format} data");
            let found = format!("the end of the file after {bytes} compressed bytes");
            return Fault::new(expected, found).kind(ReadErrorKind::Truncated);
        }
        let expected = format!("intact {format} data");
        let found = format!("{error}, within the first {bytes} compressed bytes");
        Fault::new(expected, found).kind(ReadErrorKind::Corrupt)
    }
}

type Decompressed<'r> = (Compression, Box<dyn Read + Send + 'r>);

fn decompress<'r>(
    mut reader: impl Read + Send + 'r,
    limit: Option<u64>,
) -> io::Result<Decompressed<'r>> {
    let mut head = Vec::with_capacity(8);
    reader.by_ref().take(8).read_to_end(&mut head)?;
    let compression = Compression::of(&head);
    let whole = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(reader));
    let text: Box<dyn Read + Send + 'r> = match compression {
        Compression::None => Box::new(whole),
        Compression::Gzip => Box::new(Members(Some(GzDecoder::new(whole)))),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(whole)?;
            decoder.window_log_max(window_log(limit))?;
            Box::new(decoder)
        }
    };
    Ok((compression, text))
}

/// The members of gzip data. Tapes and block devices fill the rest with zeros.
struct Members<R>(Option<GzDecoder<R>>);

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let length = member.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            let Some(mut rest) = self.0.take().map(GzDecoder::into_inner) else {
                break;
            };
            self.0 = more_than_zeros(&mut rest)?.then(|| GzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// Skips zeros. Returns whether other bytes follow.
fn more_than_zeros(rest: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.is_empty() {
            return Ok(false);
        }
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        if zeros < bytes.len() {
            rest.consume(zeros);
            return Ok(true);
        }
        rest.consume(zeros);
    }
}

/// Logarithm of the largest zstd window that may be read: at most the decoder's limit, and at most a quarter of the
/// memory `limit`. It is never below the 8 MiB that the format asks of every decoder.
fn window_log(limit: Option<u64>) -> u32 {
    let most = if size_of::<usize>() == 4 { 30 } else { 31 };
    limit.map_or(most, |limit| (limit / 4).max(1).ilog2().clamp(23, most))
}

/// The progress of a reader, shared across threads.
#[derive(Debug, Default)]
struct Watch {
    bytes: AtomicU64,
    failed: AtomicBool,
}

struct Watched<R> {
    reader: R,
    watch: Arc<Watch>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.reader.read(buffer);
        match &result {
            Ok(bytes) => {
                self.watch.bytes.fetch_add(*bytes as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.watch.failed.store(true, Ordering::Relaxed),
        }
        result
    }
}

/// The whole text of a file, or of standard input for `-`, decompressed and without a byte order mark.
pub fn read_whole(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    Source::open(path, Some(limit))?.read_all(limit)
}

/// Refuses a path that leads to anything but a regular file: a pipe or a device may never end.
fn check_regular(path: &Path) -> Result<(), ReadError> {
    let kind = match fs::metadata(path) {
        Ok(found) if found.is_dir() => "a folder",
        Ok(found) if !found.is_file() => "a pipe or a device",
        _ => return Ok(()),
    };
    Err(Fault::new("a regular file", kind).of(&path.display().to_string()))
}

/// The whole of a regular file, decompressed.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    check_regular(path)?;
    read_whole(path, limit)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;

    use super::*;

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zst(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn text_within(bytes: &[u8], limit: Option<u64>) -> Result<Vec<u8>, Fault> {
        let mut source = Source::new(bytes, "x", limit).unwrap();
        let mut text = Vec::new();
        match source.read_to_end(&mut text) {
            Ok(_) => Ok(text),
            Err(error) => Err(source.fault(&error)),
        }
    }

    #[test]
    fn a_text_that_is_read_whole_is_judged_as_it_comes() {
        let endless = (&b"a\nbc"[..]).chain(io::repeat(0));
        let source = Source::new(endless, "f", None).unwrap();
        let error = source.read_all(1 << 40).unwrap_err().to_string();
        assert_eq!(error, "f:2:3: expected text, found a NUL byte");
        let source = Source::new(&b"a\nb\0c\n"[..], "f", None).unwrap();
        assert_eq!(source.read_all(6).unwrap(), b"a\nb\0c\n");
    }

    #[test]
    fn compression_is_known_by_the_first_bytes_of_members_and_frames() {
        let skipped = [0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
        for (bytes, text) in [
            (b"".to_vec(), &b""[..]),
            (b"1".to_vec(), b"1"),
            (b"12 3".to_vec(), b"12 3"),
            (b"\x1f".to_vec(), b"\x1f"),
            (b"(\xb5/".to_vec(), b"(\xb5/"),
            (gz(b""), b""),
            (zst(b"abc"), b"abc"),
            ([gz(b"ab"), gz(b""), gz(b"c")].concat(), b"abc"),
            (
                [&skipped, &zst(b"ab")[..], &skipped, &zst(b"c")].concat(),
                b"abc",
            ),
        ] {
            assert_eq!(text_within(&bytes, None).unwrap(), text);
        }
    }

    #[test]
    fn what_follows_compressed_data_and_is_none_is_refused() {
        for (whole, other) in [(gz(b"ab"), zst(b"c")), (zst(b"ab"), gz(b"c"))] {
            for junk in [&b"\n"[..], b"\x1fx", b"\x28\xb5x", b"junk", &other] {
                let fault = text_within(&[&whole, junk].concat(), None).unwrap_err();
                let cut = fault.kind == ReadErrorKind::Truncated && junk.len() < 10;
                assert!(cut || fault.kind == ReadErrorKind::Corrupt, "{fault:?}");
            }
        }
    }

    #[test]
    fn marks_are_passed_over_and_what_is_no_text_is_named() {
        let marked = b"\xef\xbb\xbfab";
        for bytes in [marked.to_vec(), gz(marked), zst(marked)] {
            assert_eq!(text_within(&bytes, None).unwrap(), b"ab");
        }
        // Only the mark at the beginning is dropped.
        let twice = [&marked[..], marked].concat();
        assert_eq!(
            text_within(&twice, None).unwrap(),
            [b"ab", &marked[..]].concat()
        );
        assert_eq!(text_within(&marked[..2], None).unwrap(), &marked[..2]);
        for (bytes, found) in [
            (b"BZh91AY&SY\x89".to_vec(), "bzip2 data"),
            (gz(&gz(b"ab")), "gzip data within gzip data"),
            (zst(&gz(b"ab")), "gzip data within zstd data"),
            (gz(b"a\0b\0"), "UTF-16 text within gzip data"),
        ] {
            let fault = text_within(&bytes, None).unwrap_err();
            assert_eq!(fault.of("x").found(), found);
        }
    }

    #[test]
    fn a_large_window_is_read() {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(30).unwrap();
        encoder.write_all(b"abc").unwrap();
        let bytes = encoder.finish().unwrap();
        assert_eq!(text_within(&bytes, None).unwrap(), b"abc");
        let found = text_within(&bytes, Some(1 << 29)).unwrap_err().of("x");
        assert!(found.found().contains("too much memory"), "{found}");
    }

    #[test]
    fn a_cut_off_stream_is_told_from_a_damaged_one() {
        let noise: Vec<u8> = (0..100_000u32)
            .flat_map(|i| format!("{} ", i.wrapping_mul(2_654_435_761)).into_bytes())
            .collect();
        for whole in [gz(&noise), zst(&noise), [gz(b"a"), gz(&noise)].concat()] {
            for end in [5, 12, 40, whole.len() / 2, whole.len() - 1] {
                let fault = text_within(&whole[..end], None).unwrap_err();
                assert_eq!(fault.kind, ReadErrorKind::Truncated, "{end}");
            }
            let mut damaged = whole.clone();
            let middle = damaged.len() / 2;
            damaged[middle..middle + 40].fill(0xff);
            let fault = text_within(&damaged, None).unwrap_err();
            assert_eq!(fault.kind, ReadErrorKind::Corrupt);
        }
    }

    #[test]
    fn a_failing_file_is_no_damaged_data() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::from(io::ErrorKind::UnexpectedEof))
            }
        }
        let bytes = gz(&[b'a'; 1000]);
        let mut source = Source::new(bytes[..20].chain(Failing), "x", None).unwrap();
        let error = source.read_to_end(&mut Vec::new()).unwrap_err();
        let kind = source.fault(&error).kind;
        assert_eq!(kind, ReadErrorKind::Io(io::ErrorKind::UnexpectedEof));
    }

    #[test]
    fn missing_files_and_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Source::open(&folder.path().join("absent.svm"), None);
        let error = error.err().unwrap();
        assert_eq!(error.kind(), ReadErrorKind::Io(io::ErrorKind::NotFound));
        assert!(error.to_string().contains("absent.svm"));
        assert!(Source::open(folder.path(), None).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&pipe, Path::new("/dev/zero"), folder.path()] {
            let error = read_regular(path, 10).unwrap_err().to_string();
            assert!(error.contains("expected a regular file"), "{error}");
        }
    }

    #[test]
    fn whole_files_have_a_limit() {
        let whole = |bytes: &[u8], limit| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            std::fs::write(&path, bytes).unwrap();
            read_whole(&path, limit)
        };
        assert_eq!(whole(b"abc", 3).unwrap(), b"abc");
        assert_eq!(whole(&gz(b"abc"), 3).unwrap(), b"abc");
        let kind = |bytes: &[u8]| whole(bytes, 3).unwrap_err().kind();
        assert_eq!(kind(b"abcd"), ReadErrorKind::TooLarge);
        assert_eq!(kind(&zst(&[b'a'; 1000])), ReadErrorKind::TooLarge);
        let cut = &gz(b"abc")[..12];
        assert_eq!(kind(cut), ReadErrorKind::Truncated);
    }
}
