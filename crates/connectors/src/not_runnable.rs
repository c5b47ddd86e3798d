//! Providers for connectors that can be declared, validated and planned, but do not run in this version.

use crate::codes;
use base::connector::*;
use base::lookup::{LookupProvider, LookupReader};
use base::{BoxFuture, Error, Result};

/// A source, sink or lookup table whose start is refused by name.
#[derive(Debug)]
pub(crate) struct NotRunnable(pub &'static str);

impl NotRunnable {
    fn error(&self) -> Error {
        Error::new(&codes::NOT_RUNNABLE, &[("connector", &self.0)])
    }
}

impl SourceProvider for NotRunnable {
    fn refusal(&self) -> Option<Error> {
        Some(self.error())
    }

    fn start<'a>(&'a self, _: &'a [SplitState]) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Err(self.error()) })
    }

    fn reader(&self, _: Instance, _: &[SplitState]) -> Result<Box<dyn SourceReader>> {
        Err(self.error())
    }
}

impl SinkProvider for NotRunnable {
    fn refusal(&self) -> Option<Error> {
        Some(self.error())
    }

    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Err(self.error()) })
    }

    fn writer(&self, _: Instance, _: &[Vec<u8>]) -> Result<Box<dyn SinkWriter>> {
        Err(self.error())
    }
}

impl LookupProvider for NotRunnable {
    fn refusal(&self) -> Option<Error> {
        Some(self.error())
    }

    fn start<'a>(&'a self) -> BoxFuture<'a, Result<Vec<Error>>> {
        Box::pin(async { Err(self.error()) })
    }

    fn reader(&self, _: Instance) -> Result<Box<dyn LookupReader>> {
        Err(self.error())
    }
}
