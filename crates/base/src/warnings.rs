//! Where warnings of running jobs go.

use crate::error::Error;
use std::fmt;
use std::sync::Arc;

/// Takes problems that do not stop a job, from whichever part notices them. Cheap to clone; without a listener they are
/// not kept.
#[derive(Clone, Default)]
pub struct Warnings(Option<Arc<dyn Fn(Error) + Send + Sync>>);

impl Warnings {
    /// Gives every warning to `listener`, which must not block.
    pub fn new(listener: impl Fn(Error) + Send + Sync + 'static) -> Warnings {
        Warnings(Some(Arc::new(listener)))
    }

    /// Gives on a warning.
    pub fn send(&self, warning: Error) {
        if let Some(listener) = &self.0 {
            listener(warning);
        }
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Warnings(listener)" } else { "Warnings(none)" })
    }
}
