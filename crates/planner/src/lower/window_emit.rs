//! When a window aggregate gives its results: what the options `table.exec.emit.*` mean together, and which aggregates read rows
//! that come with their windows.

use super::builder::{Builder, PendingWindow, Relation, duration};
use super::time_join::is_same_window;
use super::window_codes as codes;
use crate::expression::Tree;
use base::config::{EARLY_FIRE, EARLY_FIRE_DELAY, LATE_FIRE, LATE_FIRE_DELAY};
use base::plan::{NodeId, NodeKind, Window, WindowEmit, WindowKind, WindowProperty};
use base::{Error, Field, LogicalType, Result, TimeAttribute};
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

    /// The window whose bound a column is. An outer join can leave it out: then it is none.
    pub(super) fn present_window_of(&self, node: NodeId, column: usize) -> Option<(Window, WindowProperty)> {
        let is_present = self.fields(node).get(column).is_some_and(|field| !field.sql_type.nullable);
        self.window_of_node(node, column).filter(|_| is_present)
    }

    /// The window that an aggregate groups by, if its rows come with their windows from an operator below and are final; with
    /// what each key is of the window. The start of a session does not follow from its end, so that is no such window.
    pub(super) fn attached_window(
        &self,
        input: &Relation,
        keys: &[Tree],
    ) -> Option<(PendingWindow, Vec<Option<WindowProperty>>)> {
        // A row that changes is in the window of its time, before and after; other operators would change windows that are over.
        let is_table = matches!(self.drafts[input.node].node.kind, NodeKind::WindowTable(_));
        if input.window.is_some() || !is_table && !self.output(input.node).changelog.is_append_only() {
            return None;
        }
        if input.rank.as_ref().is_some_and(|rank| rank.window.is_none()) {
            return None;
        }
        let width = self.fields(input.node).len();
        let of = |key: &Tree| {
            let column = input.projection.get(key.as_column()?)?.as_column().filter(|column| *column < width)?;
            let (window, property) = self.present_window_of(input.node, column)?;
            Some((column, window, property))
        };
        let found: Vec<_> = keys.iter().map(of).collect();
        let bound = |wanted: WindowProperty| found.iter().flatten().find(|(_, _, property)| *property == wanted);
        let (_, window, _) = bound(WindowProperty::Start)?;
        let (end, other, _) = bound(WindowProperty::End)?;
        let fits = is_same_window(window, other)
            && !matches!(window.kind, WindowKind::Session { .. })
            && !window.is_processing_time;
        if !fits {
            return None;
        }
        let time = if window.time_zone.is_some() { LogicalType::TimestampLtz(3) } else { LogicalType::Timestamp(3) };
        let bound = |name: &str| Field::new(name, LogicalType::Timestamp(3).not_null());
        let fields = [
            bound("window_start"),
            bound("window_end"),
            Field { time: Some(TimeAttribute::Rowtime), ..Field::new("window_time", time.not_null()) },
        ];
        let properties = found.iter().map(|one| {
            let (_, key_window, property) = one.as_ref()?;
            is_same_window(key_window, window).then_some(*property)
        });
        let properties = properties.collect();
        let window = Window { time_column: *end, ..window.clone() };
        let pending =
            PendingWindow { window, legacy: false, partition: Vec::new(), attached: true, fields, late: None };
        Some((pending, properties))
    }
}
