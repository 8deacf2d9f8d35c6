//! The state of greedy leave-query-out selection: two `m x k` matrices
//! (`docs/derivation.md`, section 5).
//!
//! They are `Phi` (`t x m`), the whitened selected features, and for every query
//! `Q`, with `T_Q = (I - Phi_Q' Phi_Q)^-1`,
//!
//! ```text
//! H_Q = T_Q Phi_Q'      (rows of Q, t columns)
//! ```
//!
//! `T_Q = I + H_Q Phi_Q` by the push-through identity, and for a
//! candidate `v` with `z = Phi v` and `z_Q = Phi_Q v_Q`
//!
//! ```text
//! u_Q     = v_Q - Phi_Q' z
//! T_Q u_Q = v_Q - H_Q (z - z_Q)
//! ```
//!
//! so that a candidate costs two products with `m x k` matrices instead of
//! three, a query that the candidate does not touch needs no case of its own,
//! and one that holds the candidate alone gets `T_Q u_Q = v_Q` exactly.
//! Adding a feature with whitened row `phi`, `psi_Q = T_Q phi_Q` and
//! `nu_Q = 1 / (1 - phi_Q . psi_Q)` changes `H_Q` by
//!
//! ```text
//! H_Q <- [H_Q + nu_Q psi_Q (Phi_Q psi_Q)',  nu_Q psi_Q]
//! ```

use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::addition::{
    Addition, Examples, LastStep, NewFeature, add_to_query, fill_centred, project_holdout,
    push_along,
};
use super::folds::Folds;
use super::matrices::{Products, QueryMatrices, widen};
use crate::data::{Column, Queries};
use crate::lambda::Lambda;
use crate::linalg::grown::Grown;
use crate::linalg::kernels;

/// The knowledge of leave-query-out selection after `t` of at most `k` steps: per
/// example, nothing per candidate. Replicated where columns are partitioned.
///
/// Memory: [`State::memory`], about `16 m k` bytes.
#[derive(Debug, Clone)]
pub struct State {
    lambda: Lambda,
    queries: Queries,
    /// Roots of the queries' weights by example, `m`; `None`: all 1.
    scales: Option<Vec<f64>>,
    /// Query-centred labels `y^`, times `scales`, `m`.
    labels: Vec<f64>,
    /// Training residual `r = y^ - Phi' Phi y^`, `m`.
    residual: Vec<f64>,
    /// Leave-query-out residual `p_Q = T_Q r_Q`, `m`.
    holdout: Vec<f64>,
    /// `m` rows of `stride`, the first `t` in use: `Phi` by example.
    phi: Vec<f64>,
    /// `m` rows of `stride`, the first `t` in use: `H` by example.
    held: Vec<f64>,
    /// Numbers a row of `phi` and `held` has room for, before all are moved: rows close together are read
    /// faster.
    stride: usize,
    capacity: usize,
    /// `e(S)`, once somebody has asked.
    error: OnceLock<f64>,
    /// `[f_Q, g_Q]` of each query, `2 t` numbers each; there once somebody has asked.
    products: OnceLock<Vec<f64>>,
    /// `K` with `eta = Phi y^`.
    grown: Grown,
    /// Factors of the selected features ([`Addition::factor`]).
    factors: Vec<f64>,
    last: Option<LastStep>,
    /// `trace(T_Q - I)`, which is no less than its norm, `q`.
    traces: Vec<f64>,
    /// The largest `s` of a selected feature.
    largest_pivot: f64,
    /// Selected columns, to start `folds` from.
    selected: Vec<(Vec<u32>, Vec<f64>)>,
    /// Takes over when `Phi` and `H` lose too many digits.
    folds: Option<Box<Folds>>,
    /// Bytes that it may take.
    room: u64,
    /// The centred labels that the weights are fitted to, if these are others, and the model of them.
    refit: Option<(Vec<f64>, Grown)>,
}

/// `L y`, times the roots of the queries' weights.
pub(super) fn centred_and_scaled(
    values: &[f64],
    queries: &Queries,
    scales: Option<&[f64]>,
) -> Vec<f64> {
    let mut centred = queries.centred(values);
    for (value, scale) in centred.iter_mut().zip(scales.into_iter().flatten()) {
        *value *= scale;
    }
    centred
}

/// How much `trace(T_Q - I) s / lambda` may be before [`Folds`] take over: about this times the
/// rounding of one operation is lost.
const DELICATE: f64 = 1e8;

/// Steps that the first rows of the matrices have room for, and more at least when they grow.
const LEAST_GROWTH: usize = 8;

impl State {
    /// The state before the first of `capacity` steps, with queries that count alike.
    pub fn new(labels: &[f64], queries: &Queries, lambda: Lambda, capacity: usize) -> Self {
        let labels = queries.centred(labels);
        Self::of_target(labels, queries, None, None, lambda, capacity)
    }

    /// The state before the first step, for labels that are centred and times `scales`, the roots
    /// of the queries' weights by example, with weights that are fitted to the target of `refit`,
    /// if there is one. All there is of an example in the state, and all that is added to it, is
    /// scaled by the root of its query's weight; only [`predictions`](Self::predictions) are in the
    /// units of the labels.
    pub(super) fn of_target(
        labels: Vec<f64>,
        queries: &Queries,
        scales: Option<Vec<f64>>,
        refit: Option<(Vec<f64>, Grown)>,
        lambda: Lambda,
        capacity: usize,
    ) -> Self {
        let cells = labels.len() * capacity;
        Self {
            lambda,
            scales,
            residual: labels.clone(),
            holdout: labels.clone(),
            labels,
            phi: vec![0.0; cells],
            held: vec![0.0; cells],
            stride: 0,
            capacity,
            error: OnceLock::new(),
            products: OnceLock::new(),
            grown: Grown::new(lambda.value()),
            factors: Vec::with_capacity(capacity),
            last: None,
            traces: vec![0.0; queries.len()],
            largest_pivot: 0.0,
            selected: Vec::new(),
            folds: None,
            room: u64::MAX,
            refit,
            queries: queries.clone(),
        }
    }

    /// Bytes a state takes for `rows` examples and `capacity` steps.
    pub fn memory(rows: usize, capacity: usize) -> u64 {
        let (rows, capacity) = (rows as u64, capacity as u64);
        let cells = rows.saturating_mul(capacity.saturating_mul(2).saturating_add(9));
        cells
            .saturating_add(capacity.saturating_mul(capacity) / 2)
            .saturating_mul(8)
    }

    /// This state, where one factor a query may take `room` bytes.
    pub(super) fn with_room(self, room: u64) -> Self {
        Self { room, ..self }
    }

    /// Bytes that one factor a query takes, if the data turn out to need it: where `lambda` is
    /// so small that leaving a query out amplifies rounding too much (`docs/derivation.md`).
    pub fn folds_memory(rows: usize, queries: usize, capacity: usize) -> u64 {
        Folds::memory(rows, queries, capacity)
    }

    /// The state of the same data before the first step, without room for one.
    pub(super) fn without_features(&self) -> Self {
        let (labels, scales) = (self.labels.clone(), self.scales.clone());
        Self::of_target(labels, &self.queries, scales, None, self.lambda, 0)
    }

    /// The ridge parameter.
    pub fn lambda(&self) -> Lambda {
        self.lambda
    }

    /// The partition of the examples.
    pub fn queries(&self) -> &Queries {
        &self.queries
    }

    /// Steps taken: the number of selected features `t`.
    pub fn steps(&self) -> usize {
        self.grown.steps()
    }

    /// Most steps that can be taken.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Query-centred labels `y^`, `m`, times the roots of the queries' weights.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// Residual on the training data `r`, query-centred, `m`, times the roots of the queries'
    /// weights.
    pub fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// Leave-query-out residual `p`, query-centred, `m`: `y^` less the predictions of the
    /// models trained without the example's own query, times the roots of the queries' weights.
    pub fn holdout(&self) -> &[f64] {
        &self.holdout
    }

    /// Leave-query-out predictions, query-centred, `m`, in the units of the labels.
    pub fn predictions(&self) -> Vec<f64> {
        let predictions = self.labels.iter().zip(&self.holdout);
        self.unscaled(predictions.map(|(label, residual)| label - residual))
    }

    /// Query-centred labels, `m`, in the units of the labels.
    pub fn centred_labels(&self) -> Vec<f64> {
        self.unscaled(self.labels.iter().copied())
    }

    /// Root of the weight of `query`.
    pub(super) fn scale(&self, query: usize) -> f64 {
        let first = self.queries.range(query).start;
        self.scales.as_ref().map_or(1.0, |scales| scales[first])
    }

    /// `m` values of examples without the roots of the queries' weights.
    fn unscaled(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        match &self.scales {
            None => values.collect(),
            Some(scales) => values.zip(scales).map(|(v, scale)| v / scale).collect(),
        }
    }

    /// Leave-query-out error `e(S) = sum_Q |p_Q|^2` (the paper's equation 7), weighted as
    /// queries are.
    pub fn error(&self) -> f64 {
        let squares = self.holdout.iter().map(|residual| residual * residual);
        *self.error.get_or_init(|| squares.sum())
    }

    /// Row `example` of `Phi'`: `t` numbers.
    pub fn phi(&self, example: usize) -> &[f64] {
        let start = example * self.stride;
        &self.phi[start..start + self.steps()]
    }

    /// Row `example` of `H`: `t` numbers.
    pub fn held(&self, example: usize) -> &[f64] {
        let start = example * self.stride;
        &self.held[start..start + self.steps()]
    }

    /// The rows of `query` in `Phi'`, `H` and `p`.
    pub(super) fn query_matrices(&self, query: usize) -> QueryMatrices<'_> {
        let rows = self.queries.range(query);
        let cells = rows.start * self.stride..rows.end * self.stride;
        QueryMatrices {
            phi: &self.phi[cells.clone()],
            held: &self.held[cells],
            stride: self.stride,
            holdout: &self.holdout[rows],
        }
    }

    /// `f_Q = Phi_Q p_Q` and `g_Q = H_Q' p_Q` of all queries, which the [`Products`] tell apart. The first to
    /// ask waits O(m t) for them; [`add`](Self::add) keeps them then.
    pub(super) fn products(&self) -> Products<'_> {
        let steps = self.steps();
        let products = self.products.get_or_init(|| {
            let mut products = Vec::with_capacity(2 * self.capacity * self.queries.len());
            products.resize(2 * steps * self.queries.len(), 0.0);
            let of_queries = products.par_chunks_exact_mut(2 * steps.max(1)).enumerate();
            of_queries.for_each(|(query, products)| {
                project_holdout(&self.query_matrices(query), products);
            });
            products
        });
        Products::new(products, steps)
    }

    /// The effect of the last step; `None` before the first.
    pub fn last(&self) -> Option<&LastStep> {
        self.last.as_ref()
    }

    /// `z = Phi v` into `z` (`t` numbers), for any column that centres to `v`. O(t nnz).
    pub fn project(&self, column: Column<'_>, z: &mut [f64]) {
        z.fill(0.0);
        kernels::project(column.rows, column.values, &self.phi, self.stride, z);
    }

    /// `z = Phi v` (`t` numbers), in parallel: each number is summed as by [`project`](Self::project).
    fn projected(&self, column: Column<'_>) -> Vec<f64> {
        const FEATURES: usize = 16;
        let mut z = vec![0.0; self.steps()];
        let parts = z.par_chunks_mut(FEATURES).enumerate();
        parts.for_each(|(part, z)| {
            let phi = &self.phi[FEATURES * part..];
            kernels::project(column.rows, column.values, phi, self.stride, z);
        });
        z
    }

    /// The last entries of `z = Phi v` into `newest`, as many as it has. O(nnz) for each.
    pub(super) fn project_newest(&self, column: Column<'_>, newest: &mut [f64]) {
        if let ([newest], Some(last)) = (&mut *newest, &self.last) {
            // The same numbers, side by side.
            *newest = kernels::sparse_dot(column.rows, column.values, &last.phi);
            return;
        }
        newest.fill(0.0);
        let phi = self.phi.get(self.steps() - newest.len()..);
        let phi = phi.unwrap_or_default();
        kernels::project(column.rows, column.values, phi, self.stride, newest);
    }

    /// Adds a feature: O(m t) time, in parallel over queries.
    ///
    /// # Panics
    /// When all `capacity` steps have been taken.
    pub fn add(&mut self, addition: Addition<'_>) {
        assert!(
            self.steps() < self.capacity,
            "room for {} steps",
            self.capacity
        );
        self.make_room();
        let column = addition.column;
        let mut last = self
            .last
            .take()
            .unwrap_or_else(|| LastStep::none(&self.queries));
        self.refit(column);
        let z = self.projected(column);
        let tasks = self.tasks(column);
        // v . u = |v|^2 - |z|^2 is not negative, but for rounding.
        let pivot = self.lambda.value() + self.along(&tasks, &z).max(0.0);
        let root = pivot.sqrt();
        last.eta = kernels::sparse_dot(column.rows, column.values, &self.residual) / root;
        let feature = NewFeature {
            z: &z,
            root,
            eta: last.eta,
            least_slack: self.lambda.value() / pivot,
            sole_query: self.sole_query(column),
            folded: self.folds.is_some(),
        };
        self.add_to_queries(&feature, tasks, &mut last);
        self.largest_pivot = self.largest_pivot.max(pivot);
        self.grown.push(&z, root, last.eta);
        self.factors.push(addition.factor);
        self.selected
            .push((column.rows.to_vec(), column.values.to_vec()));
        self.last = Some(last);
        self.update_folds();
        self.error = OnceLock::new();
    }

    /// Makes room for another step: O(m t) each time that `t` has grown by half.
    fn make_room(&mut self) {
        let steps = self.steps();
        if steps == self.stride {
            let stride = (steps + (steps / 2).max(LEAST_GROWTH)).min(self.capacity);
            for matrix in [&mut self.phi, &mut self.held] {
                widen(matrix, self.labels.len(), [steps, stride]);
            }
            self.stride = stride;
        }
    }

    /// `trace(T_Q - I)`, which is no less than its norm.
    pub(super) fn trace(&self, query: usize) -> f64 {
        self.traces[query]
    }

    /// The change that rounding may have made to the leave-query-out error of a candidate with
    /// `|v|^2 <= longest`, or to a bound on it, as a share of the error before.
    pub(super) fn rounding(&self, longest: f64) -> f64 {
        let trace = self.traces.iter().copied().fold(0.0, f64::max);
        let stiffness = self.largest_pivot.max(longest) / self.lambda.value();
        1e-12 + 16.0 * f64::EPSILON * (1.0 + trace) * stiffness
    }

    /// The factor by which rounding is amplified in the worst case: see [`Folds`].
    fn loss(&self) -> f64 {
        let trace = self.traces.iter().copied().fold(0.0, f64::max);
        trace * self.largest_pivot / self.lambda.value()
    }

    /// Whether candidates have to be judged by [`Folds`]: see there.
    pub(super) fn folds(&self) -> Option<&Folds> {
        self.folds.as_deref()
    }

    /// Bytes of one factor a query where it is needed, and the room, which does not do for it.
    pub(super) fn missing_room(&self) -> Option<(u64, u64)> {
        let bytes = Self::folds_memory(self.labels.len(), self.queries.len(), self.capacity);
        let needed = self.folds.is_none() && self.loss() > DELICATE;
        (needed && bytes > self.room).then_some((bytes, self.room))
    }

    fn update_folds(&mut self) {
        if self.folds.is_none() && self.loss() <= DELICATE || self.missing_room().is_some() {
            return;
        }
        let mut missing = self.selected.len() - 1..self.selected.len();
        let mut folds = self.folds.take().unwrap_or_else(|| {
            missing.start = 0;
            self.holdout.clone_from(&self.labels);
            self.products = OnceLock::new();
            Box::new(Folds::new(
                &self.queries,
                self.lambda.value(),
                self.capacity,
            ))
        });
        let mut centred = vec![0.0; self.labels.len()];
        for (rows, values) in &self.selected[missing] {
            let column = Column { rows, values };
            self.spread(column, &mut centred);
            folds.add(column, &centred, &self.labels, &mut self.holdout);
        }
        self.folds = Some(folds);
    }

    /// The centred column, `m` numbers, into `v`.
    fn spread(&self, column: Column<'_>, v: &mut [f64]) {
        let mut entries = column;
        for rows in self.queries.ranges() {
            let entries = entries.take_rows_below(rows.end);
            fill_centred(entries, rows.start, &mut v[rows]);
        }
    }

    /// Runs of queries for one task each, with the entries of a column there.
    fn tasks<'c>(&self, column: Column<'c>) -> Vec<(Range<usize>, Column<'c>)> {
        let mut entries = column;
        let task = |run: Range<usize>| {
            let entries = entries.take_rows_below(self.queries.rows_of(&run).end);
            (run, entries)
        };
        self.queries.tasks().into_iter().map(task).collect()
    }

    /// `v . u`, `u = v - Phi' z`: O(nnz t), in parallel over queries.
    fn along(&self, tasks: &[(Range<usize>, Column<'_>)], z: &[f64]) -> f64 {
        let (queries, largest) = (&self.queries, self.queries.largest());
        let terms_of = |&(ref run, mut entries): &(Range<usize>, Column<'_>)| {
            let mut terms = Vec::with_capacity(entries.rows.len());
            let mut v = vec![0.0; largest];
            for rows in run.clone().map(|query| queries.range(query)) {
                let entries = entries.take_rows_below(rows.end);
                if !entries.rows.is_empty() {
                    let phi = (&self.phi[rows.start * self.stride..], self.stride);
                    let room = (&mut v[..rows.len()], &mut terms);
                    push_along(entries, rows.start, phi, z, room);
                }
            }
            terms
        };
        let terms: Vec<Vec<f64>> = tasks.par_iter().map(terms_of).collect();
        terms.into_iter().flatten().sum()
    }

    fn sole_query(&self, column: Column<'_>) -> Option<usize> {
        let (&first, &last) = (column.rows.first()?, column.rows.last()?);
        let query = self.queries.of_row(first as usize);
        (last < self.queries.offsets()[query + 1]).then_some(query)
    }

    /// Adds the feature to each query, in parallel.
    fn add_to_queries(
        &mut self,
        feature: &NewFeature<'_>,
        tasks: Vec<(Range<usize>, Column<'_>)>,
        last: &mut LastStep,
    ) {
        let of_query = 2 * (feature.z.len() + 1);
        let mut products = self.products.take().filter(|_| !feature.folded);
        if let Some(products) = &mut products {
            products.resize(of_query * self.queries.len(), 0.0);
        }
        let mut examples = Examples {
            stride: self.stride,
            phi: &mut self.phi,
            held: &mut self.held,
            residual: &mut self.residual,
            holdout: &mut self.holdout,
            new_phi: &mut last.phi,
            psi: &mut last.psi,
            products: products.as_deref_mut().unwrap_or_default(),
            of_query,
        };
        let queries = &self.queries;
        let with_examples = |(run, entries): (Range<usize>, _)| {
            let rows = queries.rows_of(&run).len();
            let examples = examples.take(run.len(), rows);
            (run, entries, examples)
        };
        let tasks: Vec<_> = tasks.into_iter().map(with_examples).collect();
        let add = |(run, mut entries, mut examples): (Range<usize>, Column<'_>, Examples<'_>)| {
            let add = |query| {
                let rows = queries.range(query);
                let entries = entries.take_rows_below(rows.end);
                let examples = examples.take(1, rows.len());
                add_to_query(feature, (query, rows.start), entries, examples)
            };
            run.map(add).collect::<Vec<_>>()
        };
        let found: Vec<Vec<_>> = tasks.into_par_iter().map(add).collect();
        for (query, found) in found.into_iter().flatten().enumerate() {
            if let Some(found) = found {
                (last.leverage[query], last.nu[query]) = (found.leverage, found.nu);
                self.traces[query] += found.trace;
            }
        }
        self.products = products.map(OnceLock::from).unwrap_or_default();
    }

    /// Adds a feature to the model of other labels, if there is one: O(m), and O(nnz) for each before it.
    fn refit(&mut self, column: Column<'_>) {
        let Some((target, mut grown)) = self.refit.take() else {
            return;
        };
        let mut centred = vec![0.0; self.labels.len()];
        self.spread(column, &mut centred);
        let selected = self.selected.iter();
        let products = selected.map(|(rows, values)| kernels::sparse_dot(rows, values, &centred));
        let mut products: Vec<f64> = products.collect();
        let with = |v: &[f64]| kernels::sparse_dot(column.rows, column.values, v);
        grown.grow(&mut products, with(&centred), with(&target));
        self.refit = Some((target, grown));
    }

    /// The factor by which rounding may be amplified in the weights and the leave-query-out error: the
    /// condition number of `X_S X_S' + lambda I`, or that of the same without a query where there
    /// is a factor for each. An estimate of the order of magnitude, from 1 on. About as many digits
    /// are lost as it has (`docs/derivation.md`, section 10). O(t^2), or O(q t^2).
    pub fn condition(&self) -> f64 {
        let folds = self.folds.iter().map(|folds| folds.condition());
        folds.fold(self.grown.condition(), f64::max)
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

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis};

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

    /// `a` and `b` agree to a share of `1e-9`.
    fn assert_close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{a} and {b}");
    }

    #[test]
    fn h_is_phi_without_the_query() {
        // T_Q = (I - Phi_Q' Phi_Q)^-1 and H_Q = T_Q Phi_Q', so (I - Phi_Q' Phi_Q) H_Q = Phi_Q'.
        let state = state(0.5);
        let shape = (state.labels.len(), state.steps());
        let phi = Array2::from_shape_fn(shape, |(example, step)| state.phi(example)[step]);
        let held = Array2::from_shape_fn(shape, |(example, step)| state.held(example)[step]);
        for range in state.queries().ranges() {
            let phi = phi.slice_axis(Axis(0), range.clone().into());
            let held = held.slice_axis(Axis(0), range.into());
            let product = &held - &phi.dot(&phi.t().dot(&held));
            for (found, expected) in product.iter().zip(&phi) {
                assert_close(*found, *expected);
            }
        }
    }

    #[test]
    fn the_factors_say_what_the_matrices_say() {
        let (mut fine, coarse) = (state(0.5), state(0.5));
        let mut folds = Folds::new(&fine.queries, 0.5, fine.capacity);
        fine.holdout.clone_from(&fine.labels);
        let selected = std::mem::take(&mut fine.selected);
        let mut centred = vec![0.0; fine.labels.len()];
        for (rows, values) in &selected {
            let column = Column { rows, values };
            fine.spread(column, &mut centred);
            folds.add(column, &centred, &fine.labels, &mut fine.holdout);
        }
        for (fine, coarse) in fine.holdout.iter().zip(&coarse.holdout) {
            assert_close(*fine, *coarse);
        }
    }
}
