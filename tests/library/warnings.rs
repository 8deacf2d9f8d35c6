//! Warnings of values that were read, and mean something else.

use rankrls::data::read::{Format, Loaded, ReadOptions, TableOptions};
use rankrls::{Dataset, Warning};

/// A table of queries of four rows, with a column `x` of these cells beside another.
fn table(cells: &[String]) -> Loaded {
    let row = |(row, cell): (usize, &String)| {
        format!("{},q{},\"{cell}\",0.{}\n", row % 3, row / 4, row * 7 % 13)
    };
    let rows: String = cells.iter().enumerate().map(row).collect();
    let table = TableOptions {
        label: Some("grade".to_owned()),
        query: Some("query".to_owned()),
        missing: "0".parse().ok(),
        ..TableOptions::default()
    };
    let options = ReadOptions::new().format(Format::Csv).table(table);
    options
        .read_from(format!("grade,query,x,y\n{rows}").as_bytes(), "f")
        .unwrap()
}

#[test]
fn points_between_thousands_are_told_from_decimal_points() {
    let found =
        |cells: &[String]| Warning::of_thousands(&table(cells)).map(|warning| warning.to_string());
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let many = |cell: &dyn Fn(usize) -> String| (0..150).map(cell).collect::<Vec<_>>();
    let prices = |row: usize| match row % 5 {
        0 => format!("{}9", 20 + row % 70),
        _ => format!("{}.{}9", 1 + row % 30, 20 + row % 70),
    };
    let seconds = |row: usize| match row % 7 {
        0 => (10 + row % 9).to_string(),
        _ => (12.0 + row as f64 / 1000.0).to_string(),
    };
    for (cells, first) in [
        (
            words("800 1.234 950 2.500 12 12.050 0 NA"),
            "\"1.234\" on line 3",
        ),
        (
            words("-800 -1.230 950 2.500 12 -999.000"),
            "\"-1.230\" on line 3",
        ),
        (many(&prices), "\"2.219\" on line 3"),
    ] {
        let told = found(&cells).unwrap();
        assert!(
            told.contains(&format!("such as {first} in the column \"x\", ")),
            "{told}"
        );
    }
    for sound in [
        // All have three digits, none ends in a zero, or few are of either kind.
        words("1.250 12.500 3.000 4.125 5.000 2.750"),
        many(&seconds),
        words("12 15.233 14 13.125 11 16.875"),
        words("1.500 2 3 2.250"),
        words("1.500 2.250 3.000 4"),
        words("-1 1.250 -1 12.500 3.000 -1 4.125 999 2.750 999"),
        // Other numbers are beside them.
        words("800 1.234 950 2.500 12 12.050 0.125"),
        words("800 1.234 950 2.500 12 12.050 1200"),
        words("800 1.234 950 2.500 12 12.050 1.5"),
        words("800 1.234 950 2.500 12 12.050 1e3"),
        words("800 1.234 950 2.500 12 12.050 012"),
        words("1 2 3 4 5 6 7"),
    ] {
        assert_eq!(found(&sound), None, "{sound:?}");
    }
}

#[test]
fn dates_as_numbers_are_told() {
    let told = |value: &dyn Fn(usize) -> f64| {
        let cells: Vec<String> = (0..60).map(|row| value(row).to_string()).collect();
        let warnings = table(&cells).dataset.warnings();
        warnings
            .iter()
            .any(|warning| warning.text.contains("dates as numbers"))
    };
    let date = |row: usize| {
        let (year, month, day) = (2015 + row * 7 % 9, 1 + row * 5 % 12, 1 + row * 11 % 28);
        (year * 10_000 + month * 100 + day) as f64
    };
    for dates in [
        &date as &dyn Fn(usize) -> f64,
        // Of three months, and with the mean of a query, or nothing, in the place of one.
        &|row| (20_231_200 + row % 2 * 8900 + 1 + row * 11 % 28) as f64,
        &|row| if row == 8 { 20_190_711.3 } else { date(row) },
        &|row| if row % 4 == 3 { 0.0 } else { date(row) },
    ] {
        assert!(told(dates));
    }
    for sound in [
        &(|row| date(row) * 10.0) as &dyn Fn(usize) -> f64,
        &|row| date(row) + 50.0,
        &|row| 1.6e9 + (row * row) as f64 * 1e5,
        &|row| 1.6e12 + (row * row) as f64 * 1e8,
        &|row| (20_240_101 + row * 7 % 28) as f64,
        &|row| 2e7 + (row * row * 7919 % 1_000_003) as f64,
        &|row| if row % 5 == 0 { 3.0 } else { date(row) },
        &|row| {
            if row % 2 == 0 {
                20_210_705.0
            } else {
                20_220_705.0
            }
        },
        &|row| (2000 + row) as f64,
    ] {
        assert!(!told(sound));
    }
}

/// Data of three columns with values of these sizes.
fn sized(sizes: &[f64]) -> Dataset<'static> {
    let row = |row: usize| {
        let value = |column: usize| ((row * 7 + column * 5) % 32) as f64;
        let pair = |(column, size): (usize, &f64)| {
            format!(" {}:{}", column + 1, size * value(column).sqrt())
        };
        let pairs: String = sizes.iter().enumerate().map(pair).collect();
        format!("{} qid:{}{pairs}\n", row * 5 % 7 % 4, row / 4)
    };
    let text: String = (0..32).map(row).collect();
    ReadOptions::new()
        .read_from(text.as_bytes(), "f")
        .unwrap()
        .dataset
}

#[test]
fn columns_that_leave_no_squares_to_others_are_named_at_an_edge() {
    let told = |sizes: &[f64], chosen: f64| {
        let tried = [1.0, 2.0, 4.0].map(|lambda| (lambda, Some(lambda)));
        let warning = Warning::of_edge("lambda", chosen, tried, Some(&sized(sizes)));
        warning
            .map(|warning| warning.to_string())
            .unwrap_or_default()
    };
    for (sizes, names) in [
        (&[1.0, 2e7, 1.0, 3.0][..], "column 2,"),
        (&[1.0, 200.0], "column 2,"),
        (&[5e4, 1.0, 2.0, 6e4, 1.0], "column 4 and column 1,"),
    ] {
        for edge in [1.0, 4.0] {
            let told = told(sizes, edge);
            assert!(
                told.contains(&format!("; beside {names} whose values")),
                "{told}"
            );
        }
        assert_eq!(told(sizes, 2.0), "");
    }
    for sound in [
        &[1.0, 20.0][..],
        &[1e4, 2e4, 1.0],
        &[1e6],
        &[1.0, 3.0, 10.0, 0.1],
    ] {
        let told = told(sound, 1.0);
        assert!(told.ends_with("a smaller one may do better"), "{told}");
    }
}
