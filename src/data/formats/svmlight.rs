//! svmlight / LETOR text.

use rankrls_files::error::ReadError;
use rankrls_files::input::Source;

use super::build::build;
use super::options::{Loaded, ReadOptions};
use super::parsed::Grammar;
use super::text::Text;
use crate::data::missing::Missing;

pub(super) fn read(source: Source<'_>, options: &ReadOptions) -> Result<Loaded, ReadError> {
    let base = options.base;
    let grammar = Grammar {
        first: base.first(),
        width: options.width,
        missing: options.table.missing.map(Missing::in_place),
        unlabelled: options.unlabelled,
    };
    let text = Text::read(source, options, grammar)?;
    build(text, base, options)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::io::{self, Write as _};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use rayon::prelude::*;

    use rankrls_files::{Place, ReadErrorKind, Remedy};

    use super::super::compressed::{gz, zst};
    use super::super::options::TableOptions;
    use super::super::token::LARGEST_INDEX;
    use super::super::write::write_svmlight;
    use super::*;
    use crate::data::{Dataset, IndexBase, Queries};

    fn read(text: impl AsRef<[u8]>) -> Result<Loaded, ReadError> {
        ReadOptions::new().read_from(text.as_ref(), "f")
    }

    /// The whole data set, row by row.
    fn rows(data: &Dataset<'_>) -> Vec<String> {
        let mut rows: Vec<String> = data.labels().iter().map(f64::to_string).collect();
        for (query, range) in data.queries().ranges().enumerate() {
            for row in range {
                let id = data.queries().id(query).unwrap_or("-");
                write!(rows[row], " {id}").unwrap();
            }
        }
        for position in 0..data.stored_columns() {
            for (row, value) in data.column(position).iter() {
                write!(rows[row], " {}:{value}", data.feature(position)).unwrap();
            }
        }
        rows
    }

    #[test]
    fn legal_oddities_are_read() {
        let whole = ["1 a 0:0.5 2:2", "-2 a 0:1", "0 b"];
        let plain = "1 qid:a 1:0.5 3:2\n-2 qid:a 1:1\n0 qid:b\n";
        let crlf = plain.replace('\n', "\r\n");
        for text in [
            plain,
            plain.trim_end(),
            &crlf,
            crlf.trim_end_matches('\n'),
            &format!("# made by\n#\n{plain}"),
            "\n1 qid:a 1:0.5 3:2\n\n \t\n-2 qid:a 1:1\n0 qid:b\n\n",
            "1 qid:a 1:0.5 3:2 #docid = 3:x # y\n-2 qid:a 1:1\t#x\n0 qid:b #\n",
            "\t1  qid:a \t1:0.5   3:2 \n -2\tqid:a\t1:1\t\n0 qid:b  \n",
            // Zeros are dropped.
            "1 qid:a 1:0.5 2:0 3:2\n-2 qid:a 1:1 2:-0.0\n0 qid:b 3:0e5\n",
            "+1 qid:a 1:.5 003:2e0\n-2.0 qid:a 1:1.\n0e7 qid:b\n",
        ] {
            let data = read(text).unwrap().dataset;
            assert_eq!(rows(&data), whole, "{text}");
            assert_eq!((data.width(), data.nonzeros()), (3, 3), "{text}");
            assert_eq!(data.input_rows(), None);
        }
        let latin = b"1 qid:a 1:0.5 3:2 # caf\xe9\n-2 qid:a 1:1\n0 qid:b\n";
        assert_eq!(rows(&read(latin).unwrap().dataset), whole);
    }

    #[test]
    fn queries_indices_and_widths_are_as_written() {
        use IndexBase::{One, Zero};
        let far = format!("1 {LARGEST_INDEX}:1\n");
        for (text, base, expected, width) in [
            ("1 1:1\n2\n", One, "1 - 0:1\n2 -", 1),
            ("1 1:1 4:1\n", One, "1 - 0:1 3:1", 4),
            ("1 0:1 4:1\n", Zero, "1 - 0:1 4:1", 5),
            ("1\n0\n", One, "1 -\n0 -", 0),
            ("1 7:0\n0\n", One, "1 -\n0 -", 7),
            ("1 qid:9\n1 qid:09\n", One, "1 9\n1 09", 0),
            ("1 qid:-1.5x:\n1 qid:ü\n", One, "1 -1.5x:\n1 ü", 0),
            // The largest index costs nothing.
            (&far, One, "1 - 4294967293:1", 4_294_967_294),
            (&far, Zero, "1 - 4294967294:1", 4_294_967_295),
        ] {
            let data = read_based(text, base);
            assert_eq!(rows(&data).join("\n"), expected);
            assert_eq!((data.width(), data.index_base()), (width, base), "{text}");
        }
        assert_eq!(read("1\n2\n").unwrap().dataset.queries().ids(), None);
    }

    /// Refused text, and its message.
    #[rustfmt::skip]
    const REFUSED: &[(&[u8], &str)] = &[
        (b"x 1:1\n", r#"f:1:1: expected a label, a decimal number, found "x""#),
        (b"# h\n\n 1:1\n", r#"f:3:2: expected a label, a decimal number, found "1:1""#),
        (b"1_0 1:1\n", r#"f:1:1: expected a label, a decimal number, found "1_0""#),
        (b"0x1\n", r#"f:1:1: expected a label, a decimal number, found "0x1""#),
        (b"qid:1 1:1\n", r#"f:1:1: expected a label, a decimal number, found "qid:1""#),
        (b"\xff\x01\n", r#"f:1:1: expected a label, a decimal number, found "\xff\u{1}""#),
        (b"\xff\x00\n", "f:1:2: expected text, found a NUL byte"),
        (b"nan qid:1\n", r#"f:1:1: expected a finite label, found "nan""#),
        (b"1\n-inf\n", r#"f:2:1: expected a finite label, found "-inf""#),
        (b"1e999\n", r#"f:1:1: expected a finite label, found "1e999""#),
        (b"1 2:1 3\n", r#"f:1:7: expected a pair index:value, found "3""#),
        (b"1 qid:1 abc\n", r#"f:1:9: expected a pair index:value after the query identifier, which has no blanks, found "abc""#),
        (b"1 qid:star  wars: 4 1:2\n", r#"f:1:13: expected a pair index:value after the query identifier, which has no blanks, found "wars:""#),
        (b"1 qid:alien\t3 1:2\n", r#"f:1:13: expected a pair index:value after the query identifier, which has no blanks, found "3""#),
        (b"1 qid:1 1:1 abc\n", r#"f:1:13: expected a pair index:value, found "abc""#),
        (b"1 -1:2\n", r#"f:1:3: expected a pair index:value, found "-1:2""#),
        (b"1 qid:1 sid:2 1:1\n", r#"f:1:9: expected a pair index:value after the query identifier, which has no blanks, found "sid:2""#),
        (b"1 cost:2 1:1\n", r#"f:1:3: expected a pair index:value, found "cost:2""#),
        (b"1 3 : 4\n", r#"f:1:3: expected a pair index:value, found "3""#),
        (b"1 1:1\r 2:1\n", r"f:1:6: expected lines that end in LF or CR LF, found CR alone"),
        (b"1 1:1 # a\r2 1:1 # b\r", r"f:1:10: expected lines that end in LF or CR LF, found CR alone"),
        (b"1 1:1\n1 1:2\0\0", "f:2:6: expected text, found a NUL byte"),
        (b"1 1:\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:""#),
        (b"1 1: 2:1\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:""#),
        (b"1 1:2:3\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:2:3""#),
        (b"1 1:1_0\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:1_0""#),
        (b"1 1:0x1f\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:0x1f""#),
        (b"1 1:NULL\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:NULL" (to read missing values as 0, pass --missing=0; as the mean of their query, --missing=mean)"#),
        (b"1 1:1.234,5\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:1.234,5" (write a decimal point, and no separators of thousands)"#),
        (b"1 1:2,5\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:2,5" (write a decimal point, and no separators of thousands)"#),
        (b"1 1:NaN\n", r#"f:1:3: expected a finite value, found "1:NaN" (to read missing values as 0, pass --missing=0; as the mean of their query, --missing=mean)"#),
        (b"1 1:1e200\n", r#"f:1:3: expected a value whose square is finite, found "1:1e200""#),
        (b"1 1:1e300\n", r#"f:1:3: expected a value, found "1:1e300", which stands for a missing value (to read missing values as 0, pass --missing=0; as the mean of their query, --missing=mean)"#),
        (b"query,grade,x\na,1,2\n", r#"f:1:1: expected a label, a decimal number, found "query,grade,x""#),
        (b"query\tgrade\tx\n", r#"f:1:1: expected a label, a decimal number, found "query""#),
        (b"1 1:1 2:-Infinity\n", r#"f:1:7: expected a finite value, found "2:-Infinity""#),
        (b"1 1:1e400\n", r#"f:1:3: expected a value, found "1:1e400", which stands for a missing value (to read missing values as 0, pass --missing=0; as the mean of their query, --missing=mean)"#),
        (b"1 qid:1 0:1 1:1\n", r#"f:1:9: expected indices that count from 1, found "0:1" (if the file counts its columns from 0, pass --zero-based)"#),
        (b"1 3:1 3:1\n", r#"f:1:7: expected each index once in a row, and 3 was there already, found "3:1""#),
        (b"1 3:0 3:1\n", r#"f:1:7: expected each index once in a row, and 3 was there already, found "3:1""#),
        (b"1 3:1 2:1\n", r#"f:1:7: expected an index above 3, the one before it, found "2:1""#),
        (b"1 3:1 0:1\n", r#"f:1:7: expected an index above 3, the one before it, found "0:1""#),
        (b"1 4294967295:1\n", r#"f:1:3: expected an index of at most 4294967294, found "4294967295:1""#),
        (b"1 1:1 4294967297:1\n", r#"f:1:7: expected an index of at most 4294967294, found "4294967297:1""#),
        (b"1 18446744073709551617:1\n", r#"f:1:3: expected an index of at most 4294967294, found "18446744073709551617:1""#),
        (b"1 qid:\n", "f:1:3: expected a query identifier, found none"),
        (b"1 qid:a\xff 1:1\n", r#"f:1:3: expected a query identifier in UTF-8, found "a\xff""#),
        (b"1 qid:a qid:b\n", r#"f:1:9: expected the query identifier once, right after the label, found "qid:b""#),
        (b"1 1:1 qid:a\n", r#"f:1:7: expected the query identifier once, right after the label, found "qid:a""#),
        (b"1 qid:a 1:1\n# x\n1 2:1\n", r#"f:3:3: expected a qid after the label, as on line 1, found "2:1" (give every row a qid, or none)"#),
        (b"1 qid:a 1:1\n10\n", "f:2:3: expected a qid after the label, as on line 1, found the end of the line (give every row a qid, or none)"),
        (b"\n1 2:1\n1 qid:a 1:1\n", r#"f:3:3: expected no qid, as on line 2, found "qid:a" (give every row a qid, or none)"#),
        (b"1,3 1:1\n", r#"f:1:1: expected a label, a decimal number, found "1,3""#),
        (b"1#x 1:1\n", r#"f:1:1: expected a label, a decimal number, found "1#x""#),
        (b"1 1:1#x\n", r#"f:1:3: expected a value, a decimal number, after the colon, found "1:1#x""#),
        (b"1 qid:c# 1:1\n", r#"f:1:3: expected a query identifier without #, which begins a comment after a blank, found "c#""#),
        (b"1 qid:NaN 1:1\n", r#"f:1:3: expected a query identifier, found "NaN", a missing value"#),
        (b"1 qid:1\xc2\xa0 1:1\n", r#"f:1:3: expected a query identifier of characters that can be seen, found "1\u{a0}""#),
        (b"1 qid:1\x0c1:1\n", r#"f:1:3: expected a query identifier of characters that can be seen, found "1\u{c}1:1""#),
        (b"1 qid:1,1:1 2:1\n", r#"f:1:3: expected a query identifier that does not end in INDEX:VALUE, as a pair without a blank before it does, found "1,1:1""#),
    ];

    #[test]
    fn everything_else_is_refused_with_its_place() {
        for text in [&b""[..], b"\n\n", b"# only comments\n", &gz(b"")] {
            let error = read(text).unwrap_err().to_string();
            assert_eq!(error, "f: expected at least one row, found none");
        }
        for &(text, message) in REFUSED {
            for chunk in [1, 16, 1 << 20] {
                let options = ReadOptions::new().chunk(chunk);
                let error = options.read_from(text, "f").unwrap_err();
                let text = error.to_string();
                // At a path, it may be a table.
                assert_eq!(text.split(" (if it is a table").next(), Some(message));
                let Place { line, column } = error.place().unwrap();
                assert!(message.starts_with(&format!("{}:{line}:{column}: ", error.name())));
            }
        }
    }

    #[test]
    fn missing_values_are_what_was_said() {
        let read = |missing, text: &str| {
            let missing = Some(missing);
            let table = TableOptions {
                missing,
                ..TableOptions::default()
            };
            let read = ReadOptions::new().table(table);
            read.read_from(text.as_bytes(), "f")
                .map(|loaded| rows(&loaded.dataset))
        };
        let (zero, other) = (Missing::Value(0.0), Missing::Value(-1.0));
        let text = "1 qid:a 1:NULL 2:3 3:NULL\n0 qid:a 1:2 2:NULL # NULL\n";
        for (missing, expected) in [
            (zero, ["1 a 1:3", "0 a 0:2"]),
            (other, ["1 a 0:-1 1:3 2:-1", "0 a 0:2 1:-1"]),
            // A value that is not written is 0, not missing.
            (Missing::Mean, ["1 a 0:2 1:3", "0 a 0:2 1:3"]),
        ] {
            assert_eq!(read(missing, text).unwrap(), expected);
        }
        let words = "null nan NA -1.#IND ? 1.7976931348623157e308 -3.4028235e38";
        for word in words.split(' ') {
            let text = format!("1 1:{word} 2:3\n");
            let error = self::read(&text).unwrap_err();
            assert_eq!(error.remedy(), Some(&Remedy::ReadMissing), "{error}");
            assert_eq!(read(other, &text).unwrap(), ["1 - 0:-1 1:3"]);
        }
        for text in ["1 1:NULLS", "1 1:", "1 1:inf", "1 1:1e200", "NULL 1:1"] {
            assert!(read(zero, text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_first_bad_line_wins() {
        for (text, expected, line) in [
            ("1 qid:a\n1 qid:b\n1 qid:b x\n1 qid:a\n", "a pair", 3),
            ("1 qid:a\n1\n1 qid:b\n1 qid:a\nx\n", "a qid", 2),
            ("1 qid:a\n1 qid:b\n1 qid:a\n1\nx\n", "a qid", 4),
            ("1\n1 qid:a\n1 qid:b\n1 qid:a\n", "no qid", 2),
        ] {
            for chunk in [1, 4, 12, 20, 1 << 20] {
                let options = ReadOptions::new().chunk(chunk);
                let error = options.read_from(text.as_bytes(), "f").unwrap_err();
                assert!(error.expected().starts_with(expected), "{error}");
                assert_eq!(error.place().unwrap().line, line);
            }
        }
    }

    /// Many rows of several lengths, with oddities.
    fn long_text() -> String {
        let row = |number: usize| {
            let pairs = (1..number % 40).map(|index| format!(" {}:{}", index * index, number % 7));
            let pairs: String = pairs.collect::<Vec<_>>().concat();
            let comment = if number.is_multiple_of(5) { " # x" } else { "" };
            format!("{number} qid:{}{pairs}{comment}\n", number / 3)
        };
        (0..300).map(row).collect::<Vec<_>>().concat()
    }

    fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(work)
    }

    #[test]
    fn chunks_and_threads_make_no_difference() {
        let text = long_text();
        let expected = rows(&read(&text).unwrap().dataset);
        let plain = text.clone().into_bytes();
        for bytes in [&plain, &gz(&plain), &zst(&plain)] {
            for chunk in [1, 16, 100, 5000] {
                let options = ReadOptions::new().chunk(chunk);
                let data = options.read_from(&bytes[..], "f").unwrap().dataset;
                assert_eq!(rows(&data), expected, "{chunk}");
            }
        }
        // Read files side by side in a small pool.
        let options = ReadOptions::new().chunk(100);
        let read = |_| options.read_from(&plain[..], "f").unwrap().dataset.rows();
        let rows: Vec<_> = in_pool(2, || (0..8).into_par_iter().map(read).collect());
        assert_eq!(rows, [300; 8]);
        let place = Place {
            line: 301,
            column: 9,
        };
        let text = long_text() + "1 qid:x 1:y\n" + &long_text() + "oops\n";
        for threads in [1, 2, 7] {
            for chunk in [16, 1000, 1 << 20] {
                let options = ReadOptions::new().chunk(chunk);
                let read = in_pool(threads, || options.read_from(text.as_bytes(), "f"));
                let error = read.unwrap_err();
                assert_eq!(error.place(), Some(place));
                assert_eq!(error.kind(), ReadErrorKind::Malformed);
            }
        }
    }

    #[test]
    fn a_line_longer_than_many_chunks_is_a_row() {
        let pairs: Vec<String> = (1..300_000).map(|index| format!("{index}:1")).collect();
        let text = format!("1 {}\n2 1:1\n", pairs.join(" "));
        let options = ReadOptions::new().chunk(1000);
        let loaded = options.read_from(text.as_bytes(), "f").unwrap();
        assert_eq!(loaded.dataset.nonzeros(), 300_000);
    }

    #[test]
    fn a_bad_line_before_the_end_of_a_cut_file_wins() {
        let bytes = gz(b"1 1:1\n1 2:x\n1 3:1\n");
        let kind = |end: usize| read(&bytes[..end]).unwrap_err().kind();
        assert_eq!(kind(bytes.len() - 3), ReadErrorKind::Malformed);
        assert_eq!(kind(11), ReadErrorKind::Truncated);
    }

    #[test]
    fn damage_that_reads_as_text_is_called_damage() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(long_text().as_bytes()).unwrap();
        let mut bytes = encoder.finish().unwrap();
        let at = memchr::memmem::find(&bytes, b" 1:").unwrap();
        bytes[at + 1] = b'x';
        for chunk in [16, 1000, 1 << 20] {
            let options = ReadOptions::new().chunk(chunk);
            let error = options.read_from(&bytes[..], "f").unwrap_err();
            assert_eq!(error.kind(), ReadErrorKind::Corrupt, "{error}");
            assert!(error.to_string().contains("intact gzip data"), "{error}");
        }
    }

    #[test]
    fn columns_beyond_the_width_are_dropped_and_counted() {
        let text = b"1 1:1 5:1 6:0 9:1\n2 2:1 9:2\n";
        for chunk in [1, 100] {
            let options = ReadOptions::new().width(4).chunk(chunk);
            let loaded = options.read_from(&text[..], "f").unwrap();
            assert_eq!(rows(&loaded.dataset), ["1 - 0:1", "2 - 1:1"]);
            assert_eq!(loaded.dataset.width(), 4);
            assert_eq!((loaded.dropped_entries, loaded.dropped_columns), (3, 2));
        }
        for (width, dropped) in [(20, 0), (0, 5)] {
            let loaded = ReadOptions::new().width(width).read_from(&text[..], "f");
            let loaded = loaded.unwrap();
            assert_eq!(loaded.dataset.width(), width);
            assert_eq!(loaded.dropped_entries, dropped);
        }
    }

    #[test]
    fn regrouping_moves_rows_to_their_queries() {
        let text = b"1 qid:b 1:1\n2 qid:a 2:1\n3 qid:b 1:3\n4 qid:c\n5 qid:a 1:5\n";
        let whole = ["1 b 0:1", "3 b 0:3", "2 a 1:1", "5 a 0:5", "4 c"];
        for chunk in [1, 100] {
            let options = ReadOptions::new().chunk(chunk);
            let loaded = options.read_from(&text[..], "f").unwrap();
            let data = loaded.dataset;
            assert_eq!(rows(&data), whole);
            assert_eq!(data.input_rows(), Some(&[0, 2, 1, 4, 3][..]));
            assert_eq!(loaded.returned, Some(("b".to_owned(), 3)));
        }
    }

    #[test]
    fn a_limit_stops_what_would_not_fit() {
        let text = long_text();
        let read = |bytes: &[u8], limit: u64| {
            let options = ReadOptions::new().memory(limit);
            options.read_from(bytes, "f")
        };
        assert!(read(text.as_bytes(), 1 << 20).is_ok());
        let first = read(text.as_bytes(), 50_000).unwrap_err().to_string();
        assert!(first.contains("at most 50000 bytes"), "{first}");
        for _ in 0..20 {
            let again = read(text.as_bytes(), 50_000).unwrap_err();
            assert!(again.place().unwrap().line > 1);
            assert_eq!(again.to_string(), first);
        }
        let rows = zst("1 1:1\n".repeat(10_000_000).as_bytes());
        for (bomb, limit) in [
            (zst(&vec![b'1'; 50_000_000]), 1_000_000),
            (rows, 10_000_000),
        ] {
            let error = read(&bomb, limit).unwrap_err();
            assert_eq!(error.kind(), ReadErrorKind::TooLarge);
        }
    }

    /// Bytes that are often almost a legal file.
    fn nearly() -> impl Strategy<Value = Vec<u8>> {
        let tokens = prop_oneof![
            20 => "[0-9]{1,3}:[0-9.]{1,3} ".prop_map(String::into_bytes),
            5 => "\n[0-9] (qid:[ab] )?".prop_map(String::into_bytes),
            2 => "[ #:.\r\n\tqid0-9e+-]{1,6}".prop_map(String::into_bytes),
            1 => vec(any::<u8>(), 0..4),
        ];
        vec(tokens, 0..40).prop_map(|tokens| tokens.concat())
    }

    proptest! {
        #[test]
        fn any_bytes_give_one_outcome(bytes in nearly(), chunk in 1..64usize) {
            let outcome = |chunk| {
                let options = ReadOptions::new().chunk(chunk);
                let loaded = options.read_from(&bytes[..], "f");
                loaded.map(|loaded| rows(&loaded.dataset)).map_err(|error| error.to_string())
            };
            prop_assert_eq!(outcome(chunk), outcome(1 << 20));
        }
    }

    fn written(dataset: &Dataset<'_>) -> String {
        let mut text = Vec::new();
        write_svmlight(dataset, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn read_based(text: &str, base: IndexBase) -> Dataset<'static> {
        let options = ReadOptions::new().zero_based(base == IndexBase::Zero);
        options.read_from(text.as_bytes(), "f").unwrap().dataset
    }

    #[test]
    fn what_was_read_is_written() {
        use IndexBase::{One, Zero};
        for (base, text) in [
            (One, "1 qid:a 1:0.5 4000000000:2\n-2.5 qid:b\n"),
            (One, "1 1:1\n2\n"),
            (One, "1 qid:x\n"),
            (One, "1 4294967294:1\n"),
            (Zero, "1 0:1 4294967294:1\n"),
        ] {
            assert_eq!(written(&read_based(text, base)), text);
        }
        // Nameless queries are numbered.
        let queries = Queries::from_sizes(&[1, 2]).unwrap();
        let data = Dataset::from_csr(&[0; 4], &[], &[], 0, vec![1.0, 2.0, 3.0], queries).unwrap();
        assert_eq!(written(&data), "1 qid:1\n2 qid:2\n3 qid:2\n");
    }

    #[test]
    fn an_index_that_would_not_read_back_is_refused() {
        let (last, width) = (u32::MAX - 1, u32::MAX as usize);
        let queries = Queries::single(1).unwrap();
        let data = Dataset::from_csr(&[0, 1], &[last], &[1.0], width, vec![0.0], queries).unwrap();
        assert!(write_svmlight(&data, io::sink()).is_err());
        let zero_based = data.with_index_base(IndexBase::Zero);
        assert!(write_svmlight(&zero_based, io::sink()).is_ok());
    }
}
