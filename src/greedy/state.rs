//! The state of greedy leave-query-out selection, as sparse as the data
//! (`docs/derivation.md`, section 5).
//!
//! The selected columns `X_S` stay unchanged, by query and row, with `F F' = X_S' X_S + lambda I`. Every query `Q`
//! has `T_Q = (I - Phi_Q' Phi_Q)^-1`, `Phi = F^-1 X_S'`. A candidate `v` has
//!
//! ```text
//! z       = F^-1 X_S' v        theta = F'^-1 z
//! u       = v - X_S theta
//! ```
//!
//! and `T_Q u_Q`. Adding a feature with whitened row `phi`, `psi_Q = T_Q phi_Q` and
//! `nu_Q = 1 / (1 - phi_Q . psi_Q)` changes `T_Q` by
//!
//! ```text
//! T_Q <- T_Q + nu_Q psi_Q psi_Q'
//! ```

use std::num::Saturating;
use std::ops::Range;

use rayon::prelude::*;

use super::addition::{Addition, LastStep, NewFeature, OfQuery, add_to_query, fill_centred};
use super::matrices::{QueryMatrices, Transform};
use super::query_factors::QueryFactors;
use crate::data::{Column, Queries};
use crate::lambda::Lambda;
use crate::linalg::grown::Grown;
use crate::linalg::kernels::{self, LANES, Lanes};

/// The state of leave-query-out selection after `t` of at most `k` steps. It has data for each example, and nothing
/// for each candidate. Every rank that shares the columns has a copy.
///
/// Memory: [`State::memory`], about 15 bytes an entry of the selected columns, 8 a pair of examples of a query, 96
/// an example, and 320 a query.
#[derive(Debug, Clone)]
pub struct State {
    problem: Problem,
    /// Training residual `r = y^ - Phi' Phi y^`, `m`.
    residual: Vec<f64>,
    /// Leave-query-out residual `p_Q = T_Q r_Q`, `m`.
    holdout: Vec<f64>,
    /// `e(S)`
    error: f64,
    /// `X_{S,Q}` and `T_Q` of each query.
    matrices: Vec<QueryMatrices>,
    /// `F` with `eta = Phi y^`.
    grown: Grown,
    /// Factors of the selected features ([`Addition::factor`]).
    factors: Vec<f64>,
    last: Option<LastStep>,
    /// The largest `s` of any selected feature.
    largest_pivot: f64,
    /// The sum of `|v|^2` of the selected features.
    size: f64,
    /// Takes over if `T_Q` loses too many digits.
    query_factors: Option<Box<QueryFactors>>,
    /// The centred labels that the weights are fitted to, if they differ, and their model.
    refit: Option<(Vec<f64>, Grown)>,
}

/// The parts of the state that no step changes.
#[derive(Debug, Clone)]
struct Problem {
    lambda: Lambda,
    queries: Queries,
    /// Roots of the queries' weights by example, `m` numbers; `None`: all 1.
    weight_roots: Option<Vec<f64>>,
    /// Query-centred labels `y^`, times `weight_roots`, `m`.
    labels: Vec<f64>,
    /// Most steps.
    capacity: usize,
    /// Bytes that `QueryFactors` may take.
    spare: u64,
}

/// `L y`, times the roots of the queries' weights.
pub(super) fn centred_and_scaled(
    values: &[f64],
    queries: &Queries,
    weight_roots: Option<&[f64]>,
) -> Vec<f64> {
    let mut centred = queries.centred(values);
    for (value, root) in centred.iter_mut().zip(weight_roots.into_iter().flatten()) {
        *value *= root;
    }
    centred
}

/// The largest `trace(T_Q - I) s / lambda` before [`QueryFactors`] take over. About this multiple of one
/// operation's rounding is then lost.
const DELICATE: f64 = 1e8;

/// The largest sum of all `|v|^2 / lambda` before a new feature is refined. Its `u` has an error of some units of
/// rounding times this.
const STIFF: f64 = 1e3;

/// The same limit before it is refined twice more: the rounding of one refinement then shows in the weights.
const STIFFEST: f64 = 1e6;

/// Fewest queries of a task.
const QUERIES: usize = 32;

impl State {
    /// The state before the first of `capacity` steps, with queries of equal weight.
    pub fn new(labels: &[f64], queries: &Queries, lambda: Lambda, capacity: usize) -> Self {
        let labels = queries.centred(labels);
        Self::of_target(labels, queries, None, None, lambda, capacity)
    }

    /// The state before the first step, for labels that are centred and times `weight_roots`, the roots
    /// of the queries' weights by example, with weights that are fitted to the target of `refit`,
    /// if there is one. All there is of an example in the state, and all that is added to it, is
    /// scaled by the root of its query's weight; only [`predictions`](Self::predictions) are in the
    /// units of the labels.
    pub(super) fn of_target(
        labels: Vec<f64>,
        queries: &Queries,
        weight_roots: Option<Vec<f64>>,
        refit: Option<(Vec<f64>, Grown)>,
        lambda: Lambda,
        capacity: usize,
    ) -> Self {
        Self {
            residual: labels.clone(),
            holdout: labels.clone(),
            error: squared(&labels),
            matrices: vec![QueryMatrices::default(); queries.len()],
            grown: Grown::new(lambda.value()),
            factors: Vec::new(),
            last: None,
            largest_pivot: 0.0,
            size: 0.0,
            query_factors: None,
            refit,
            problem: Problem {
                lambda,
                queries: queries.clone(),
                weight_roots,
                labels,
                capacity,
                spare: u64::MAX,
            },
        }
    }

    /// Most bytes of a state, from the numbers of examples, queries, numbers of [`transforms`](Self::transforms),
    /// and entries of the longest columns, as many as steps, and from the steps.
    pub fn memory(sizes: [usize; 4], capacity: usize) -> u64 {
        let [rows, queries, transforms, longest] = sizes.map(|size| Saturating(size as u64));
        let (k, times) = (Saturating(capacity as u64), Saturating::<u64>);
        let entries = longest.min(rows * k);
        let means = entries.min(queries * k);
        let transforms = times(8) * transforms;
        let others = times(96) * rows + times(320) * queries + times(4) * k * k;
        (times(15) * entries + times(16) * means + transforms + others).0
    }

    /// Most numbers of the matrices `T_Q` of all `queries` after `capacity` steps, made by `threads` threads.
    pub fn transforms(queries: &Queries, capacity: usize, threads: usize) -> usize {
        let sizes = queries.ranges().map(|rows| rows.len());
        let numbers = sizes.map(|rows| Transform::most_numbers(rows, capacity));
        let all = numbers.fold(0, usize::saturating_add);
        // Each thread has a matrix and its columns.
        let largest = queries.largest();
        let twice = if capacity.saturating_mul(2) < largest {
            0
        } else {
            largest.saturating_mul(largest) / 2
        };
        all.saturating_add(twice.saturating_mul(threads.min(queries.len())))
    }

    /// This state, with `spare` bytes for one factor a query.
    pub(super) fn with_spare(mut self, spare: u64) -> Self {
        self.problem.spare = spare;
        self
    }

    /// Bytes of one factor a query, if the data turn out to need it. They do if `lambda` is so small that leaving a
    /// query out amplifies rounding too much (`docs/derivation.md`).
    pub fn factors_memory(rows: usize, queries: usize, capacity: usize) -> u64 {
        QueryFactors::memory(rows, queries, capacity)
    }

    /// The state of the same data before the first step, with no room for features.
    pub(super) fn without_features(&self) -> Self {
        let Problem {
            labels,
            weight_roots,
            queries,
            lambda,
            ..
        } = self.problem.clone();
        Self::of_target(labels, &queries, weight_roots, None, lambda, 0)
    }

    /// The ridge parameter.
    pub fn lambda(&self) -> Lambda {
        self.problem.lambda
    }

    /// The partition of the examples into queries.
    pub fn queries(&self) -> &Queries {
        &self.problem.queries
    }

    /// Number of steps taken and of selected features, `t`.
    pub fn steps(&self) -> usize {
        self.grown.steps()
    }

    /// Most steps.
    pub fn capacity(&self) -> usize {
        self.problem.capacity
    }

    /// Query-centred labels `y^`, `m` numbers, times the roots of the queries' weights.
    pub fn labels(&self) -> &[f64] {
        &self.problem.labels
    }

    /// Residual on the training data `r`, query-centred, `m` numbers, times the roots of the queries' weights.
    pub fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// Leave-query-out residual `p`, query-centred, `m` numbers, times the roots of the queries' weights. It is
    /// `y^` less the predictions of the models trained without the example's own query.
    pub fn holdout(&self) -> &[f64] {
        &self.holdout
    }

    /// Leave-query-out predictions, query-centred, `m` numbers, in the units of the labels.
    pub fn predictions(&self) -> Vec<f64> {
        let predictions = self.labels().iter().zip(&self.holdout);
        self.unscaled(predictions.map(|(label, residual)| label - residual))
    }

    /// Query-centred labels, `m` numbers, in the units of the labels.
    pub fn centred_labels(&self) -> Vec<f64> {
        self.unscaled(self.labels().iter().copied())
    }

    /// Root of the weight of `query`.
    pub(super) fn weight_root(&self, query: usize) -> f64 {
        let first = self.queries().range(query).start;
        let weight_roots = self.problem.weight_roots.as_ref();
        weight_roots.map_or(1.0, |weight_roots| weight_roots[first])
    }

    /// Values of `m` examples, divided by the roots of the queries' weights.
    fn unscaled(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        match &self.problem.weight_roots {
            None => values.collect(),
            Some(weight_roots) => values.zip(weight_roots).map(|(v, root)| v / root).collect(),
        }
    }

    /// Leave-query-out error `e(S) = sum_Q |p_Q|^2` (the paper's equation 7), with the queries' weights.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// `X_{S,Q}` and `T_Q` of each query.
    pub(super) fn matrices(&self) -> &[QueryMatrices] {
        &self.matrices
    }

    /// The effect of the last step. `None` before the first step.
    pub fn last(&self) -> Option<&LastStep> {
        self.last.as_ref()
    }

    /// `z = Phi v` into `z` (`t` numbers), for any column that centres to `v`. Takes O(t^2), and the entries of
    /// selected columns in its rows.
    pub fn project(&self, column: Column<'_>, z: &mut [f64]) {
        self.products(column, z);
        self.grown.solve(z);
    }

    /// `X_S' v` into `x`.
    pub(super) fn products(&self, column: Column<'_>, x: &mut [f64]) {
        x.fill(0.0);
        add_products(self.queries(), &self.matrices, column, x);
    }

    /// `(X_S' X_S + lambda I)^-1 x` in place of `x`.
    pub(super) fn solve(&self, x: &mut [f64]) {
        self.grown.solve(x);
        self.grown.solve_transposed(x);
    }

    /// `z = Phi v` of up to eight columns, one a lane: `t` rows.
    pub(super) fn coordinates(&self, columns: &[Column<'_>]) -> Vec<Lanes> {
        let (mut z, mut x) = (vec![[0.0; LANES]; self.steps()], vec![0.0; self.steps()]);
        for (lane, &column) in columns.iter().enumerate() {
            self.products(column, &mut x);
            for (z, x) in z.iter_mut().zip(&x) {
                z[lane] = *x;
            }
        }
        solve_lanes(&self.grown, &mut z);
        z
    }

    /// `(X_S' X_S + lambda I)^-1 x` of eight vectors.
    pub(super) fn solved(&self, mut x: Vec<Lanes>) -> Vec<Lanes> {
        solve_lanes(&self.grown, &mut x);
        self.thetas(x)
    }

    /// `theta = F'^-1 z`, in place of `z`.
    pub(super) fn thetas(&self, mut z: Vec<Lanes>) -> Vec<Lanes> {
        solve_transposed_lanes(&self.grown, &mut z);
        z
    }

    /// `X_S' y` for `y` with the sum 0 in every query. Runs of queries are in parallel, and added in order.
    pub(super) fn products_of(&self, y: &[f64]) -> Vec<f64> {
        let products = |run: Range<usize>| {
            let mut products = vec![0.0; self.steps()];
            for query in run {
                let rows = self.queries().range(query);
                add_products_of(&self.matrices[query], &y[rows], &mut products);
            }
            products
        };
        let runs = self.queries().tasks().into_par_iter();
        let found: Vec<Vec<f64>> = runs.map(products).collect();
        let mut sum = vec![0.0; self.steps()];
        for products in &found {
            kernels::add_scaled(&mut sum, 1.0, products);
        }
        sum
    }

    /// `u = y - Phi' Phi y` in place of `y`, from the products `X_S' y`, in parallel. Returns `z = Phi y` and
    /// `theta = F'^-1 z`. The products of `u` less `lambda theta` are 0, except for rounding. Each turn subtracts
    /// the rest.
    pub(super) fn residualise(
        &self,
        mut products: Vec<f64>,
        y: &mut [f64],
        turns: usize,
    ) -> [Vec<f64>; 2] {
        let (mut z, mut theta) = (vec![0.0; self.steps()], vec![0.0; self.steps()]);
        for turn in 0..turns {
            if turn > 0 {
                products = self.products_of(y);
                kernels::add_scaled(&mut products, -self.lambda().value(), &theta);
            }
            self.grown.solve(&mut products);
            kernels::add_scaled(&mut z, 1.0, &products);
            self.grown.solve_transposed(&mut products);
            kernels::add_scaled(&mut theta, 1.0, &products);
            let change = products.as_chunks::<1>().0;
            let parts = self.queries().split_mut(y).zip(&self.matrices);
            let parts: Vec<_> = parts.collect();
            let parts = parts.into_par_iter().with_min_len(QUERIES);
            parts.for_each(|(y, matrices)| {
                take_off(matrices, change, y);
            });
        }
        [z, theta]
    }

    /// Adds a feature, in parallel over queries. Takes O(t^2), and the entries of selected columns and of `T_Q`.
    ///
    /// # Panics
    /// If all `capacity` steps have been taken.
    pub fn add(&mut self, addition: Addition<'_>) {
        let (column, capacity) = (addition.column, self.capacity());
        assert!(self.steps() < capacity, "room for {capacity} steps");
        let none = || LastStep::none(&self.problem.queries);
        let mut last = self.last.take().unwrap_or_else(none);
        let along = |u: &[f64]| kernels::sparse_dot(column.rows, column.values, u);
        let mut products = vec![0.0; self.steps()];
        self.products(column, &mut products);
        self.centre(column, &mut last.phi);
        let squared_norm = along(&last.phi);
        if let Some((target, grown)) = &mut self.refit {
            grown.grow(&mut products.clone(), squared_norm, along(target));
        }
        self.size += squared_norm;
        let stiffness = self.size / self.lambda().value();
        let turns = 1 + usize::from(stiffness > STIFF) + 2 * usize::from(stiffness > STIFFEST);
        let [z, theta] = self.residualise(products, &mut last.phi, turns);
        // v . u = |v|^2 - |z|^2 is negative only by rounding.
        let pivot = self.lambda().value() + along(&last.phi).max(0.0);
        let root = pivot.sqrt();
        last.eta = along(&self.residual) / root;
        last.weights = theta.iter().map(|theta| -theta / root).collect();
        last.weights.push(1.0 / root);
        let feature = NewFeature {
            step: self.steps(),
            root,
            eta: last.eta,
            least_slack: self.lambda().value() / pivot,
            sole_query: self.sole_query(column),
            has_factors: self.query_factors.is_some(),
        };
        self.add_to_queries(&feature, column, &mut last);
        self.largest_pivot = self.largest_pivot.max(pivot);
        self.grown.push(&z, root, last.eta);
        self.factors.push(addition.factor);
        self.last = Some(last);
        self.update_folds();
        self.error = squared(&self.holdout);
    }

    /// Adds the feature to each query, in parallel.
    fn add_to_queries(&mut self, feature: &NewFeature, column: Column<'_>, last: &mut LastStep) {
        let queries = &self.problem.queries;
        let rows = queries.split_mut(&mut self.residual);
        let rows = rows.zip(queries.split_mut(&mut self.holdout));
        let new = queries.split_mut(&mut last.phi);
        let new = new.zip(queries.split_mut(&mut last.psi));
        let numbers = last.leverage.iter_mut().zip(&mut last.nu);
        let all = queries
            .ranges()
            .zip(&mut self.matrices)
            .zip(rows)
            .zip(new)
            .zip(numbers);
        let mut rest = column;
        let of_query = all.map(
            |((((range, matrices), (residual, holdout)), (phi, psi)), (leverage, nu))| OfQuery {
                first: range.start,
                entries: rest.take_rows_below(range.end),
                matrices,
                residual,
                holdout,
                phi,
                psi,
                leverage,
                nu,
            },
        );
        let of_queries: Vec<_> = of_query.collect();
        let of_queries = of_queries.into_par_iter().with_min_len(QUERIES);
        of_queries.for_each(|query| add_to_query(feature, query));
    }

    /// The largest trace of any `T_Q - I`.
    fn largest_trace(&self) -> f64 {
        let traces = self.matrices.iter().map(|matrices| matrices.trace);
        traces.fold(0.0, f64::max)
    }

    /// The possible effect of rounding on the leave-query-out error of a candidate with `|v|^2 <= longest`, or on a
    /// bound on it, as a share of the error before.
    pub(super) fn rounding(&self, longest: f64) -> f64 {
        let stiffness = self.largest_pivot.max(longest) / self.lambda().value();
        1e-12 + 16.0 * f64::EPSILON * (1.0 + self.largest_trace()) * stiffness
    }

    /// The largest amplification of rounding: see [`QueryFactors`].
    fn amplification(&self) -> f64 {
        self.largest_trace() * self.largest_pivot / self.lambda().value()
    }

    /// The [`QueryFactors`], if they must judge candidates.
    pub(super) fn query_factors(&self) -> Option<&QueryFactors> {
        self.query_factors.as_deref()
    }

    /// Bytes of one factor a query if it is needed, and the spare bytes, which are too few.
    pub(super) fn missing_spare(&self) -> Option<(u64, u64)> {
        let (queries, spare) = (self.queries(), self.problem.spare);
        let bytes = Self::factors_memory(queries.rows(), queries.len(), self.capacity());
        let needed = self.query_factors.is_none() && self.amplification() > DELICATE;
        (needed && bytes > spare).then_some((bytes, spare))
    }

    fn update_folds(&mut self) {
        if self.query_factors.is_none() && self.amplification() <= DELICATE
            || self.missing_spare().is_some()
        {
            return;
        }
        let mut missing = self.steps() - 1..self.steps();
        let mut factors = self.query_factors.take().unwrap_or_else(|| {
            missing.start = 0;
            self.holdout.clone_from(&self.problem.labels);
            let (queries, lambda) = (&self.problem.queries, self.lambda().value());
            Box::new(QueryFactors::new(queries, lambda, self.capacity()))
        });
        let mut centred = vec![0.0; self.labels().len()];
        for step in missing {
            let (rows, values) = self.selected(step);
            let column = Column {
                rows: &rows,
                values: &values,
            };
            self.centre(column, &mut centred);
            let sums = factors.sums(column, &self.matrices, &self.problem.labels);
            factors.add(&sums, &centred, &mut self.holdout);
        }
        self.query_factors = Some(factors);
    }

    /// The column that a step added.
    fn selected(&self, step: usize) -> (Vec<u32>, Vec<f64>) {
        let entries = |(rows, matrices): (Range<usize>, &'_ QueryMatrices)| {
            let values = (0..rows.len()).map(|row| matrices.selected.entry(row, step));
            // Rows count in 32 bits.
            let numbers = (u32::try_from(rows.start).unwrap_or(u32::MAX)..).zip(values);
            numbers
                .filter(|(_, value)| *value != 0.0)
                .collect::<Vec<_>>()
        };
        let all = self.queries().ranges().zip(&self.matrices);
        all.flat_map(entries).unzip()
    }

    /// Writes the centred column, `m` numbers, into `v`.
    fn centre(&self, column: Column<'_>, v: &mut [f64]) {
        let mut entries = column;
        for rows in self.queries().ranges() {
            let entries = entries.take_rows_below(rows.end);
            fill_centred(entries, rows.start, &mut v[rows]);
        }
    }

    /// The first row of the only query of the column.
    fn sole_query(&self, column: Column<'_>) -> Option<usize> {
        let (&first, &last) = (column.rows.first()?, column.rows.last()?);
        let rows = self.queries().range(self.queries().of_row(first as usize));
        ((last as usize) < rows.end).then_some(rows.start)
    }

    /// The factor by which weights and leave-query-out error may amplify rounding: the condition number of `X_S'
    /// X_S + lambda I`. If there is a factor for each query, also the condition numbers without a query. It
    /// estimates the order of magnitude, from 1 on. About its number of digits are lost (`docs/derivation.md`,
    /// section 10). O(t^2), or O(q t^2).
    pub fn condition(&self) -> f64 {
        let factors = self.query_factors.iter().map(|factors| factors.condition());
        factors.fold(self.grown.condition(), f64::max)
    }

    /// Weights of the selected features in order of selection: back substitution with the
    /// Cholesky factor, O(t^2).
    pub fn weights(&self) -> Vec<f64> {
        let refit = self.refit.as_ref().map(|(_, grown)| grown);
        let mut weights = refit.unwrap_or(&self.grown).weights();
        for (weight, factor) in weights.iter_mut().zip(&self.factors) {
            *weight *= factor;
        }
        weights
    }
}

/// The sum of squares, in order.
fn squared(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

#[multiversion::multiversion(targets = "simd")]
fn add_products(queries: &Queries, matrices: &[QueryMatrices], column: Column<'_>, x: &mut [f64]) {
    for (query, rows, entries) in column.by_query(queries) {
        let selected = &matrices[query].selected;
        selected.add_products(entries, rows.start, x);
    }
}

#[multiversion::multiversion(targets = "simd")]
fn add_products_of(query: &QueryMatrices, y: &[f64], x: &mut [f64]) {
    query.selected.add_products_of(y, x);
}

#[multiversion::multiversion(targets = "simd")]
fn take_off(query: &QueryMatrices, theta: &[[f64; 1]], u: &mut [f64]) {
    query.selected.take_off(theta, u.as_chunks_mut::<1>().0);
}

#[multiversion::multiversion(targets = "simd")]
fn solve_lanes(factor: &Grown, x: &mut [Lanes]) {
    factor.solve_lanes(x);
}

#[multiversion::multiversion(targets = "simd")]
fn solve_transposed_lanes(factor: &Grown, x: &mut [Lanes]) {
    factor.solve_transposed_lanes(x);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnClasses;
    use crate::data::parsed;

    const DATA: &str = "1 qid:1 1:1 3:1\n0 qid:1 2:1\n0.5 qid:1 1:2 2:1\n\
        1 qid:2 2:3 3:1\n0 qid:2 1:1\n0 qid:3 3:2\n1 qid:3 1:1 2:1\n";

    fn state(lambda: f64) -> State {
        let data = parsed(DATA);
        let candidates = ColumnClasses::new(&data);
        let lambda = Lambda::new(lambda).unwrap();
        let mut state = State::new(data.labels(), data.queries(), lambda, candidates.len());
        for candidate in 0..candidates.len() {
            let (feature, column) = (candidates.feature(candidate), candidates.column(candidate));
            state.add(Addition {
                feature,
                column,
                factor: candidates.factor(candidate),
            });
        }
        state
    }

    /// Checks that `a` and `b` agree to a share of `1e-9`.
    fn assert_close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{a} and {b}");
    }

    #[test]
    fn transforms_are_inverse_to_what_the_features_explain() {
        // (I - Phi_Q' Phi_Q) T_Q y_Q = y_Q, with Phi' Phi = I - the residual map of `explain`.
        let state = state(0.5);
        for (query, range) in state.queries().ranges().enumerate() {
            let y: Vec<f64> = range.clone().map(|row| (row * row) as f64 - 3.0).collect();
            let mut y: Vec<[f64; 1]> = y.into_iter().map(|y| [y]).collect();
            crate::linalg::centring::centre_rows(&mut y);
            let mut transformed = y.clone();
            state.matrices()[query]
                .transform
                .apply(&y, &mut transformed);
            let mut found = vec![0.0; state.labels().len()];
            found[range.clone()].copy_from_slice(transformed.as_flattened());
            let products = state.products_of(&found);
            state.residualise(products, &mut found, 2);
            for (found, expected) in found[range].iter().zip(&y) {
                assert_close(*found, expected[0]);
            }
        }
    }

    #[test]
    fn the_factors_say_what_the_matrices_say() {
        let (fine, coarse) = (state(0.5), state(0.5));
        let mut factors = QueryFactors::new(fine.queries(), 0.5, fine.capacity());
        let mut holdout = fine.labels().to_vec();
        let mut centred = vec![0.0; holdout.len()];
        for step in 0..fine.steps() {
            let (rows, values) = fine.selected(step);
            let column = Column {
                rows: &rows,
                values: &values,
            };
            fine.centre(column, &mut centred);
            let sums = factors.sums(column, fine.matrices(), fine.labels());
            factors.add(&sums, &centred, &mut holdout);
        }
        for (fine, coarse) in holdout.iter().zip(&coarse.holdout) {
            assert_close(*fine, *coarse);
        }
    }
}
