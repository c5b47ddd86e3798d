//! Providers for connectors that can be declared, validated and planned, but do not run in this version.

use base::connector::*;
use base::{BoxFuture, Error, Result};

/// A source or sink whose start is refused by name.
#[derive(Debug)]
pub(crate) struct NotRunnable(pub &'static str);

impl NotRunnable {
    fn refusal(&self) -> Error {
        Error::unsupported(format!("running a job with connector '{}'", self.0))
    }
}

impl SourceProvider for NotRunnable {
    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Err(self.refusal()) })
    }

    fn reader(&self, _: Instance, _: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        Err(self.refusal())
    }
}

impl SinkProvider for NotRunnable {
    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Err(self.refusal()) })
    }

    fn writer(&self, _: Instance, _: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Err(self.refusal())
    }
}
