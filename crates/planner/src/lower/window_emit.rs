//! When a window gives its result besides at its end: what the options `table.exec.emit.*` mean together.

use super::builder::{Builder, duration};
use super::window_codes as codes;
use base::config::{EARLY_FIRE, EARLY_FIRE_DELAY, LATE_FIRE, LATE_FIRE_DELAY};
use base::plan::{Window, WindowEmit, WindowKind};
use base::{Error, Result};
use std::time::Duration;

impl Builder<'_> {
    /// When this window fires.
    ///
    /// # Errors
    /// Options that do not go together.
    pub fn window_emit(&self, window: &Window) -> Result<WindowEmit> {
        let options = self.context.config.emit;
        let (early, late) = (options.early_fire, options.late_fire);
        if !early && !late {
            return Ok(WindowEmit::default());
        }
        if matches!(window.kind, WindowKind::Session { .. }) {
            let option = if early { EARLY_FIRE } else { LATE_FIRE };
            return Err(Error::new(&codes::EMIT_SESSION, &[("option", &option.spec.key)]));
        }
        let delay = |enabled: bool, delay: Option<Duration>, option: &str, key: &str| match (enabled, delay) {
            (true, None) => Err(Error::new(&codes::EMIT_DELAY, &[("option", &option), ("delay", &key)])),
            (true, delay) => Ok(delay),
            (false, _) => Ok(None),
        };
        let early = delay(early, options.early_delay, EARLY_FIRE.spec.key, EARLY_FIRE_DELAY.spec.key)?;
        let late = delay(late, options.late_delay, LATE_FIRE.spec.key, LATE_FIRE_DELAY.spec.key)?;
        let Some(late) = late.filter(|_| !window.is_processing_time) else {
            return Ok(WindowEmit { early, late: None, lateness: Duration::ZERO });
        };
        let lateness = options.allow_lateness.or(self.context.config.state_ttl).unwrap_or_default();
        if lateness.is_zero() {
            return Err(Error::new(&codes::EMIT_LATENESS, &[]));
        }
        if lateness < late {
            let text = |time: Duration| duration(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
            let (late, lateness) = (text(late), text(lateness));
            return Err(Error::new(&codes::EMIT_LATENESS_DELAY, &[("delay", &late), ("lateness", &lateness)]));
        }
        Ok(WindowEmit { early, late: Some(late), lateness })
    }
}
