//! Data sets with some of their columns.

use super::{Dataset, DatasetError, FeatureNames};

impl Dataset<'_> {
    /// The data set of the 0-based `features` alone, which become columns 0, 1 and so on in the
    /// order given, with their names. Rows, labels and queries stay as they are. Copies 12 bytes
    /// an entry.
    ///
    /// # Errors
    /// [`DatasetError::Structure`] for a feature that is no column.
    pub fn project(&self, features: &[u32]) -> Result<Dataset<'static>, DatasetError> {
        let projected = self.gather(features)?;
        let names = self.names.as_ref();
        let Some(names) = names else {
            return Ok(projected);
        };
        let own = features
            .iter()
            .map(|&feature| names.of(feature).unwrap_or_default());
        projected.with_names(own.collect::<FeatureNames>())
    }

    /// The data set in which only the 0-based `features` have entries; all columns keep their
    /// numbers and names.
    ///
    /// # Errors
    /// [`DatasetError::Structure`] for a feature that is no column.
    pub fn keep(&self, features: &[u32]) -> Result<Dataset<'static>, DatasetError> {
        let mut features = features.to_vec();
        features.sort_unstable();
        features.dedup();
        let kept = self.gather(&features)?;
        let mut kept = kept.with_features(features, self.width)?;
        kept.names.clone_from(&self.names);
        Ok(kept)
    }

    /// These columns one after the other, without names.
    fn gather(&self, features: &[u32]) -> Result<Dataset<'static>, DatasetError> {
        if let Some(feature) = features.iter().find(|&&f| f as usize >= self.width) {
            let width = self.width;
            let message = format!("expected features below {width}, found {feature}");
            return Err(DatasetError::Structure(message));
        }
        let mut bounds = Vec::with_capacity(features.len() + 1);
        bounds.push(0);
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for &feature in features {
            if let Some(position) = self.position(feature) {
                let column = self.column(position);
                rows.extend_from_slice(column.rows);
                values.extend_from_slice(column.values);
            }
            bounds.push(rows.len());
        }
        let labels = self.labels.to_vec();
        let mut data = Dataset::from_csc(bounds, rows, values, labels, self.queries.clone())?;
        data.index_base = self.index_base;
        data.input_rows.clone_from(&self.input_rows);
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::ReadOptions;
    use super::*;

    fn data() -> Dataset<'static> {
        let text = "1 qid:a 1:0.5 7:1\n0 qid:a 2:2\n1 qid:b 2:3 7:-1\n";
        let data = ReadOptions::new().read_from(text.as_bytes(), "f");
        let names: FeatureNames = ["a", "b", "c", "d", "e", "f", "g"].into_iter().collect();
        data.unwrap().dataset.with_names(names).unwrap()
    }

    #[test]
    fn columns_are_renumbered_in_the_order_given() {
        let projected = data().project(&[6, 2, 1]).unwrap();
        assert_eq!((projected.width(), projected.nonzeros()), (3, 4));
        assert_eq!(projected.column(0).values, [1.0, -1.0]);
        assert!(projected.column(1).rows.is_empty());
        assert_eq!(projected.column(2).rows, [1, 2]);
        let names: Vec<_> = projected.names().unwrap().iter().collect();
        assert_eq!(names, ["g", "c", "b"]);
        assert_eq!(projected.labels(), data().labels());
        assert_eq!(projected.queries(), data().queries());
    }

    #[test]
    fn columns_that_are_kept_have_their_numbers() {
        let kept = data().keep(&[6, 1, 6]).unwrap();
        assert_eq!((kept.width(), kept.nonzeros()), (7, 4));
        assert_eq!(kept.position(0), None);
        assert_eq!(kept.column(kept.position(6).unwrap()).rows, [0, 2]);
        assert_eq!(kept.names().unwrap().len(), 7);
    }

    #[test]
    fn a_feature_that_is_no_column_is_refused() {
        assert!(data().project(&[7]).is_err());
        assert!(data().keep(&[7]).is_err());
        assert_eq!(data().project(&[]).unwrap().width(), 0);
    }
}
