//! Included columns, which a selection takes first, without a search.

use rankrls_files::Parameter;

use super::GreedyRankRls;
use crate::columns::ColumnClasses;
use crate::data::{ColumnName, Dataset, Feature, shown};
use crate::error::{Error, Result, ensure};

const INCLUDE: Parameter = Parameter::Include;

impl GreedyRankRls {
    /// The columns to include.
    pub(crate) fn included(&self) -> &[ColumnName] {
        self.include.as_deref().unwrap_or_default()
    }

    /// Refuses more columns to include than features.
    pub fn check_included(&self) -> Result<()> {
        let (count, k) = (self.included().len(), self.k);
        ensure!(
            count <= k,
            options,
            "{INCLUDE}: expected at most k columns, as they count among the features; found {count}, and k is {k}"
        );
        Ok(())
    }

    /// These options with the columns to include as numbers, as `data` count, so that their names are sought once.
    /// Refuses columns that the data do not have, and one that is named twice.
    pub fn counted(&self, data: &Dataset<'_>) -> Result<Self> {
        let number = |feature| ColumnName::Number(data.index_base().file_index(feature));
        let numbers: Vec<ColumnName> = self
            .included_features(data)?
            .into_iter()
            .map(number)
            .collect();
        Ok(Self {
            include: Some(numbers).filter(|numbers| !numbers.is_empty()),
            ..self.clone()
        })
    }

    /// The columns to include.
    pub(crate) fn included_features(&self, data: &Dataset<'_>) -> Result<Vec<Feature>> {
        let found = data.features_called(self.included());
        found.map_err(|error| error.within(format_args!("{INCLUDE}: ")))
    }

    /// The columns to include, which must belong to different candidates of `data`.
    pub(super) fn included_among(
        &self,
        candidates: &ColumnClasses,
        data: &Dataset<'_>,
    ) -> Result<Vec<Feature>> {
        let features = self.included_features(data)?;
        let representing = candidates.representing(&features);
        let shown = |feature: Feature| shown(candidates.file_index(feature), data.names(), feature);
        for (place, &feature) in features.iter().enumerate() {
            let Some(own) = representing[place] else {
                return Err(Error::options(format!(
                    "{INCLUDE}: column {} is constant within every query, so that it cannot help: leave it out",
                    shown(feature)
                )));
            };
            let earlier = representing[..place]
                .iter()
                .position(|&other| other == Some(own));
            if let Some(earlier) = earlier {
                return Err(Error::options(format!(
                    "{INCLUDE}: column {} equals column {} but for a constant in each query and its sign: include \
                     one of them",
                    shown(feature),
                    shown(features[earlier])
                )));
            }
        }
        Ok(features)
    }
}
