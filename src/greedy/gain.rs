//! Equation (*) of `docs/derivation.md`, section 4, for several candidates side by side.

/// The sums that a query adds to equation (*), for each candidate.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuerySums<const N: usize> {
    /// `u_Q . p_Q`
    pub(super) a: [f64; N],
    /// `u_Q . T_Q u_Q`
    pub(super) b: [f64; N],
    /// `p_Q . T_Q u_Q`
    pub(super) c: [f64; N],
    /// `|T_Q u_Q|^2`
    pub(super) d: [f64; N],
}

impl<const N: usize> Default for QuerySums<N> {
    fn default() -> Self {
        let zeros = [0.0; N];
        Self {
            a: zeros,
            b: zeros,
            c: zeros,
            d: zeros,
        }
    }
}

impl<const N: usize> QuerySums<N> {
    /// The sums of a query with these `u_Q`, `T_Q u_Q` and `p_Q`.
    #[inline(always)]
    pub(super) fn of(u: &[[f64; N]], tu: &[[f64; N]], p: &[f64]) -> Self {
        let mut sums = Self::default();
        for ((u, tu), &p) in u.iter().zip(tu).zip(p) {
            sums.add(u, tu, p);
        }
        sums
    }

    /// Adds an example: its `u`, `T u` and `p`.
    #[inline(always)]
    pub(super) fn add(&mut self, u: &[f64; N], tu: &[f64; N], p: f64) {
        for lane in 0..N {
            self.a[lane] += u[lane] * p;
            self.b[lane] += u[lane] * tu[lane];
            self.c[lane] += p * tu[lane];
            self.d[lane] += tu[lane] * tu[lane];
        }
    }

    /// Copies one candidate's sums from `other`.
    #[inline(always)]
    pub(super) fn take_lane(&mut self, lane: usize, other: &Self) {
        self.a[lane] = other.a[lane];
        self.b[lane] = other.b[lane];
        self.c[lane] = other.c[lane];
        self.d[lane] = other.d[lane];
    }

    /// Adds an example if the terms already have the sums of the other queries. `a` and `b` would remove the query
    /// from them again, and stay 0.
    #[inline(always)]
    pub(super) fn add_left_out(&mut self, tu: &[f64; N], p: f64) {
        for (lane, tu) in tu.iter().enumerate() {
            self.c[lane] += p * tu;
            self.d[lane] += tu * tu;
        }
    }
}

/// The terms of equation (*) besides a query's sums, for each candidate. They are the same for all queries, unless
/// each query has its own factor (`query_factors.rs`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms<const N: usize> {
    /// `s = lambda + |v|^2 - |z|^2`
    pub(super) s: [f64; N],
    /// `rho = v . r`
    pub(super) rho: [f64; N],
    /// The only query of the column, or `u32::MAX`.
    pub(super) sole: [u32; N],
    pub(super) lambda: f64,
}

impl<const N: usize> Terms<N> {
    /// The terms of zero columns.
    pub(super) fn new(lambda: f64) -> Self {
        Self {
            s: [lambda; N],
            rho: [0.0; N],
            sole: [u32::MAX; N],
            lambda,
        }
    }

    /// `beta_Q`, the weight of each candidate in the model trained without `Q`. It is 0 if no other query has the
    /// candidate.
    #[inline(always)]
    pub(super) fn betas(&self, query: u32, sums: &QuerySums<N>) -> [f64; N] {
        let mut betas = [0.0; N];
        for (lane, beta) in betas.iter_mut().enumerate() {
            if self.sole[lane] != query {
                // s - b_Q >= lambda, except for rounding (section 6).
                let slack = (self.s[lane] - sums.b[lane]).max(self.lambda);
                *beta = (self.rho[lane] - sums.a[lane]) / slack;
            }
        }
        betas
    }

    /// `2 beta_Q c_Q - beta_Q^2 d_Q`, the query's part of `e(S) - e(S + v)`.
    #[inline(always)]
    pub(super) fn gained(&self, query: u32, sums: &QuerySums<N>) -> [f64; N] {
        let mut gained = self.betas(query, sums);
        for (lane, gained) in gained.iter_mut().enumerate() {
            let beta = *gained;
            *gained = beta * (2.0 * sums.c[lane] - beta * sums.d[lane]);
        }
        gained
    }
}
