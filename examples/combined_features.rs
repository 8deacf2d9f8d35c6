//! FS-BFS: features that are weighted sums of a few original ones, found by best-first search for
//! the NDCG@10 of the training queries (V. Dang and W. B. Croft, *Feature Selection for Document
//! Ranking using Best First Search and Coordinate Ascent*, SIGIR 2010 Workshop on Feature Generation
//! and Selection). The paper does not state its parameters. Those here bound the search:
//!
//! - a subset has at most six features, and grows by one with the best of 14 weights;
//! - its best extension has each weight polished once by coordinate ascent;
//! - three expansions without a better subset end the search. Its features are then taken out,
//!   and the next search begins with the best single feature that is left.
//!
//! RankRLS trains on the combined features, with lambda by validation NDCG@10. Eight combined features may need
//! forty original ones. So this is not a strategy: it saves no features.
//!
//! ```text
//! cargo run --release --example combined_features -- [TRAIN VALIDATION TEST]
//! ```
//!
//! Without files it combines twelve selected features of the corpus that comes with the crate.

use std::error::Error;
use std::path::Path;

use ndarray::{Array1, Array2, ArrayView1, Axis};
use rankrls::data::read::ReadOptions;
use rankrls::data::sample;
use rankrls::metrics::{Convention, Metric, evaluate};
use rankrls::{Dataset, GreedyRankRls, Lambda, RankRls};

const WEIGHTS: [f64; 14] = [
    -2.0, -1.0, -0.5, -0.2, -0.1, -0.05, -0.02, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0,
];
const LARGEST: usize = 6;
const STALE: usize = 3;

/// A weighted sum of columns, and its ranking.
#[derive(Clone)]
struct Subset {
    parts: Vec<(usize, f64)>,
    scores: Array1<f64>,
    ndcg: f64,
}

/// Dense data.
struct Table<'a> {
    data: &'a Dataset<'a>,
    columns: Array2<f64>,
}

impl<'a> Table<'a> {
    fn new(data: &'a Dataset<'_>) -> Self {
        let mut columns = Array2::zeros((data.width(), data.rows()));
        for position in 0..data.stored_columns() {
            for (row, value) in data.column(position).iter() {
                columns[(data.feature(position) as usize, row)] = value;
            }
        }
        Self { data, columns }
    }

    fn column(&self, feature: usize) -> ArrayView1<'_, f64> {
        self.columns.index_axis(Axis(0), feature)
    }

    /// Mean NDCG@10, or 0 if no query has a value.
    fn ndcg(&self, scores: &[f64]) -> Result<f64, Box<dyn Error>> {
        let metric: Metric = "ndcg@10".parse()?;
        let labels = self.data.labels();
        let found = evaluate(
            &[metric],
            labels,
            scores,
            self.data.queries(),
            Convention::Standard,
        )?;
        Ok(found[0].1.mean.unwrap_or(0.0))
    }

    fn combined(&self, parts: &[(usize, f64)]) -> Array1<f64> {
        let mut scores = Array1::zeros(self.data.rows());
        for &(feature, weight) in parts {
            scores.scaled_add(weight, &self.column(feature));
        }
        scores
    }

    fn subset(&self, parts: Vec<(usize, f64)>) -> Result<Subset, Box<dyn Error>> {
        let scores = self.combined(&parts);
        let ndcg = self.ndcg(scores.as_slice().unwrap_or_default())?;
        Ok(Subset {
            parts,
            scores,
            ndcg,
        })
    }

    /// The best of `subset` with one of the `open` features.
    fn extended(&self, subset: &Subset, open: &[usize]) -> Result<Option<Subset>, Box<dyn Error>> {
        let own = |feature: &usize| subset.parts.iter().any(|part| part.0 == *feature);
        let mut best: Option<(f64, usize, f64)> = None;
        for &feature in open.iter().filter(|feature| !own(feature)) {
            for weight in WEIGHTS {
                let scores = &subset.scores + &(weight * &self.column(feature));
                let ndcg = self.ndcg(scores.as_slice().unwrap_or_default())?;
                if best.is_none_or(|best| ndcg > best.0) {
                    best = Some((ndcg, feature, weight));
                }
            }
        }
        let Some((_, feature, weight)) = best else {
            return Ok(None);
        };
        let mut parts = subset.parts.clone();
        parts.push((feature, weight));
        let mut best = self.subset(parts)?;
        for place in 0..best.parts.len() {
            for factor in [0.5, 0.8, 1.25, 2.0] {
                let mut parts = best.parts.clone();
                parts[place].1 *= factor;
                let found = self.subset(parts)?;
                if found.ndcg > best.ndcg {
                    best = found;
                }
            }
        }
        Ok(Some(best))
    }

    /// The best subset of `open` features in the search.
    fn search(&self, open: &[usize]) -> Result<Subset, Box<dyn Error>> {
        let mut queue = Vec::new();
        for &feature in open {
            queue.push(self.subset(vec![(feature, 1.0)])?);
        }
        let better = |a: &Subset, b: &Subset| a.ndcg.total_cmp(&b.ndcg);
        queue.sort_by(better);
        let mut best = queue.last().ok_or("no features")?.clone();
        let mut stale = 0;
        while let Some(subset) = queue.pop().filter(|_| stale < STALE) {
            if subset.parts.len() == LARGEST {
                stale += 1;
                continue;
            }
            let Some(found) = self.extended(&subset, open)? else {
                break;
            };
            stale = if found.ndcg > best.ndcg { 0 } else { stale + 1 };
            if found.ndcg > best.ndcg {
                best = found.clone();
            }
            let place = queue.partition_point(|other| other.ndcg <= found.ndcg);
            queue.insert(place, found);
        }
        Ok(best)
    }

    /// The subsets as columns of data.
    fn project(&self, subsets: &[Subset]) -> Result<Dataset<'static>, Box<dyn Error>> {
        let mut x = Array2::zeros((self.data.rows(), subsets.len()));
        for (mut column, subset) in x.columns_mut().into_iter().zip(subsets) {
            column.assign(&self.combined(&subset.parts));
        }
        let (labels, queries) = (self.data.labels(), self.data.queries().clone());
        let all: Vec<usize> = (0..queries.len()).collect();
        // A copy that borrows nothing.
        Ok(Dataset::from_dense(x.view(), labels, queries)?.queries_subset(&all)?)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<_> = std::env::args_os().skip(1).collect();
    let [train, validation, test] = match &paths[..] {
        [train, others @ ..] if others.len() == 2 => {
            let train = ReadOptions::new().read(Path::new(train))?.dataset;
            let options = ReadOptions::new().width(train.width());
            let read = |path| options.read(Path::new(path));
            [train, read(&others[0])?.dataset, read(&others[1])?.dataset]
        }
        _ => {
            let (train, test) = (sample::train(), sample::test());
            let model = GreedyRankRls::new(12, Lambda::new(16.0)?).fit(&train)?;
            let (train, test) = (model.project(&train)?, model.project(&test)?);
            [train.clone(), train, test]
        }
    };
    let [train, validation, test] = [&train, &validation, &test].map(Table::new);
    let mut open: Vec<usize> = (0..train.data.width()).collect();
    open.retain(|&feature| train.column(feature).iter().any(|value| *value != 0.0));
    let mut subsets = Vec::new();
    while !open.is_empty() && subsets.len() < 8 {
        let subset = train.search(&open)?;
        open.retain(|feature| subset.parts.iter().all(|part| part.0 != *feature));
        let parts = subset.parts.iter();
        let parts: Vec<String> = parts
            .map(|(feature, weight)| format!("{weight:.4} x{}", feature + 1))
            .collect();
        println!("training NDCG@10 {:.4}: {}", subset.ndcg, parts.join(" + "));
        subsets.push(subset);
    }
    println!("\ncombined  original  lambda  validation    test");
    for count in 1..=subsets.len() {
        let taken = &subsets[..count];
        let original: usize = taken.iter().map(|subset| subset.parts.len()).sum();
        let (data, held_out, new) = (
            train.project(taken)?,
            validation.project(taken)?,
            test.project(taken)?,
        );
        let mut best: Option<(f64, f64, f64)> = None;
        for lambda in (-5..=10).map(|power| 2_f64.powi(power)) {
            let params = RankRls {
                lambdas: Lambda::new(lambda)?.into(),
                ..RankRls::default()
            };
            let model = params.fit(&data)?;
            let value = validation.ndcg(&model.scores(&held_out))?;
            if best.is_none_or(|best| value > best.0) {
                best = Some((value, lambda, test.ndcg(&model.scores(&new))?));
            }
        }
        if let Some((value, lambda, tested)) = best {
            println!("{count:8} {original:9} {lambda:7} {value:11.4} {tested:7.4}");
        }
    }
    Ok(())
}
