//! Keyed state and timers of operators.

/// The state of one operator instance at a barrier.
#[derive(Debug, Clone, Default)]
pub struct OperatorSnapshot {}
