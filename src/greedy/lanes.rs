//! ColumnClasses judged eight at a time, one to a vector lane.
//!
//! Lanes never meet: a candidate's sums have one order, whichever lane it is
//! in, whoever its neighbours are and however wide the machine's vectors are.

/// ColumnClasses side by side.
pub(super) const LANES: usize = 8;

/// A number for each candidate of a block.
pub(super) type Lanes = [f64; LANES];

/// What a query contributes to equation (*), for each candidate of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct QuerySums {
    /// `u_Q . p_Q`
    pub(super) a: Lanes,
    /// `u_Q . T_Q u_Q`
    pub(super) b: Lanes,
    /// `p_Q . T_Q u_Q`
    pub(super) c: Lanes,
    /// `|T_Q u_Q|^2`
    pub(super) d: Lanes,
}

impl QuerySums {
    /// Adds one example: its `u`, `T u` and `p`.
    #[inline(always)]
    pub(super) fn add(&mut self, u: &Lanes, tu: &Lanes, p: f64) {
        for lane in 0..LANES {
            self.a[lane] += u[lane] * p;
            self.b[lane] += u[lane] * tu[lane];
            self.c[lane] += p * tu[lane];
            self.d[lane] += tu[lane] * tu[lane];
        }
    }
}

/// What does not depend on the query, for each candidate of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockTerms {
    /// `s = lambda + |v|^2 - |z|^2`
    pub(super) s: Lanes,
    /// `rho = v . r`
    pub(super) rho: Lanes,
    /// The query that holds the whole column, or `u32::MAX`.
    pub(super) sole: [u32; LANES],
    pub(super) lambda: f64,
}

impl BlockTerms {
    pub(super) fn new(lambda: f64) -> Self {
        Self {
            s: [lambda; LANES],
            rho: [0.0; LANES],
            sole: [u32::MAX; LANES],
            lambda,
        }
    }

    /// Adds a query's part of `e(S) - e(S + v)`, equation (*) of section 3.
    #[inline(always)]
    pub(super) fn add_gain(&self, query: u32, sums: &QuerySums, gain: &mut Lanes) {
        for (lane, gain) in gain.iter_mut().enumerate() {
            let beta = self.beta(lane, sums);
            let gained = beta * (2.0 * sums.c[lane] - beta * sums.d[lane]);
            // A feature that no other query has gets weight 0 without this one.
            *gain += if self.sole[lane] == query {
                0.0
            } else {
                gained
            };
        }
    }

    /// `beta_Q`: the coefficient of a candidate in the model trained without `Q`.
    #[inline(always)]
    fn beta(&self, lane: usize, sums: &QuerySums) -> f64 {
        // s - b_Q >= lambda but for rounding.
        let slack = (self.s[lane] - sums.b[lane]).max(self.lambda);
        (self.rho[lane] - sums.a[lane]) / slack
    }

    /// `beta_Q` for each candidate, 0 for one that no other query has.
    pub(super) fn betas(&self, query: u32, sums: &QuerySums) -> Lanes {
        std::array::from_fn(|lane| {
            if self.sole[lane] == query {
                0.0
            } else {
                self.beta(lane, sums)
            }
        })
    }
}
