//! The embedded corpus, made anew.

use rankrls::data::{DataHash, sample};
use rankrls::{Dataset, Queries};
use rankrls_parses::language::{CorpusOptions, generate_split};

#[test]
fn the_files_are_what_the_generator_makes() {
    let options = CorpusOptions {
        rows: 1000,
        vocabulary: 100,
        max_length: 12,
        max_parses: 12,
        attraction: 100,
        ..CorpusOptions::default()
    };
    let split = generate_split(&options, 1000, &|_| ()).unwrap();
    assert!(split.train.names.iter().eq(sample::names().iter()));
    for (made, read) in [(split.train, sample::train()), (split.test, sample::test())] {
        let queries = Queries::from_sizes(&made.sizes).unwrap();
        let queries = queries.with_ids(made.ids).unwrap();
        let made = Dataset::from_csc(made.indptr, made.rows, made.values, made.labels, queries);
        assert_eq!(DataHash::of(&made.unwrap()), DataHash::of(&read));
    }
}
