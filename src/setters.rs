//! Setters of options that are given one by one.

/// A setter for each field that is named, with the type of what it takes: `impl Into<Option<T>>`
/// for a field of type `Option<T>`.
macro_rules! setters {
    ($($(#[$doc:meta])+ $name:ident: $type:ty => $($field:tt).+;)+) => {$(
        $(#[$doc])+
        #[must_use]
        pub fn $name(mut self, $name: $type) -> Self {
            self.$($field).+ = $name.into();
            self
        }
    )+};
}

pub(crate) use setters;
