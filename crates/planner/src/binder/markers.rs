//! Markers of group windows: `TUMBLE_START(ts, size)` and the like, while a statement is bound.
//!
//! They have the right types and can be compared, so that SELECT and GROUP BY find each other. Afterwards
//! [`super::group_window`] turns them into columns of a window table.

use crate::bridge::{external, typed_field, with_time};
use crate::codes;
use crate::lower::window_codes;
use arrow::datatypes::{DataType, FieldRef};
use base::types::TimeAttribute;
use base::{Error, Field, LogicalType};
use datafusion_common::{Result, exec_err};
use datafusion_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a marker reads of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowPart {
    /// `_START`
    Start,
    /// `_END`
    End,
    /// `_ROWTIME`
    Rowtime,
    /// `_PROCTIME`
    Proctime,
    /// Its last moment, where the query does not ask for it.
    Time,
}

/// A marker function.
#[derive(Debug)]
pub struct WindowMarker {
    name: &'static str,
    /// `TUMBLE`, `HOP` or `SESSION`.
    pub window: &'static str,
    /// What it reads.
    pub part: WindowPart,
    signature: Signature,
}

const MARKERS: [(&str, &str, WindowPart); 15] = [
    ("TUMBLE_START", "TUMBLE", WindowPart::Start),
    ("TUMBLE_END", "TUMBLE", WindowPart::End),
    ("TUMBLE_ROWTIME", "TUMBLE", WindowPart::Rowtime),
    ("TUMBLE_PROCTIME", "TUMBLE", WindowPart::Proctime),
    ("TUMBLE_TIME$", "TUMBLE", WindowPart::Time),
    ("HOP_START", "HOP", WindowPart::Start),
    ("HOP_END", "HOP", WindowPart::End),
    ("HOP_ROWTIME", "HOP", WindowPart::Rowtime),
    ("HOP_PROCTIME", "HOP", WindowPart::Proctime),
    ("HOP_TIME$", "HOP", WindowPart::Time),
    ("SESSION_START", "SESSION", WindowPart::Start),
    ("SESSION_END", "SESSION", WindowPart::End),
    ("SESSION_ROWTIME", "SESSION", WindowPart::Rowtime),
    ("SESSION_PROCTIME", "SESSION", WindowPart::Proctime),
    ("SESSION_TIME$", "SESSION", WindowPart::Time),
];

/// The markers that a group window groups by; `asked` says whether the query names a marker.
pub fn group_window_markers(window: &str, asked: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let of_window = || MARKERS.iter().filter(|(_, of, _)| *of == window);
    let bounds = of_window().filter(|(_, _, part)| matches!(part, WindowPart::Start | WindowPart::End));
    // Only one of them can be a column: which one depends on the time column, which is not known yet.
    let times = of_window().filter(|(name, _, part)| match part {
        WindowPart::Rowtime | WindowPart::Proctime => asked(name),
        WindowPart::Time => true,
        WindowPart::Start | WindowPart::End => false,
    });
    bounds.chain(times.take(1)).map(|(name, ..)| *name).collect()
}

/// Whether a function is one of the markers.
pub fn is_group_window_function(name: &str) -> bool {
    MARKERS.iter().any(|(marker, ..)| *marker == name)
}

/// The marker of this name.
pub fn window_marker(name: &str) -> Option<Arc<ScalarUDF>> {
    let (name, window, part) = MARKERS.iter().find(|(marker, ..)| *marker == name)?;
    let signature = Signature::user_defined(Volatility::Immutable);
    Some(Arc::new(ScalarUDF::new_from_impl(WindowMarker { name, window, part: *part, signature })))
}

/// The marker behind a function.
pub fn as_window_marker(function: &ScalarUDF) -> Option<&WindowMarker> {
    function.inner().as_any().downcast_ref()
}

/// The type and time attribute of a window's time column.
///
/// # Errors
/// It is no time attribute.
pub fn check_time_column(function: &str, column: &str, field: &arrow::datatypes::Field) -> base::Result<Field> {
    let field = Field::from_arrow(field)?;
    match field.time {
        Some(TimeAttribute::Rowtime | TimeAttribute::Proctime) => Ok(field),
        None => Err(Error::new(
            &codes::NOT_TIME_ATTRIBUTE,
            &[("function", &function), ("column", &column), ("type", &field.sql_type.logical)],
        )),
    }
}

impl PartialEq for WindowMarker {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for WindowMarker {}

impl Hash for WindowMarker {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for WindowMarker {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(types.to_vec())
    }

    fn return_type(&self, _types: &[DataType]) -> Result<DataType> {
        exec_err!("the type of {} follows from its fields", self.name)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let Some(time) = arguments.arg_fields.first() else {
            let (problem, example) = ("the time column is missing", "TUMBLE(ts, INTERVAL '1' MINUTE)");
            return Err(external(Error::new(
                &codes::WINDOW_ARGUMENT,
                &[("function", &self.window), ("problem", &problem), ("example", &example)],
            )));
        };
        let time = check_time_column(self.window, time.name(), time).map_err(external)?;
        let is_processing_time = time.time == Some(TimeAttribute::Proctime);
        match self.part {
            WindowPart::Start | WindowPart::End => {
                return Ok(typed_field(self.name, &LogicalType::Timestamp(3).not_null()));
            }
            WindowPart::Rowtime if is_processing_time => {
                return Err(external(Error::new(
                    &window_codes::PROCTIME_WINDOW_ROWTIME,
                    &[("function", &self.name), ("window", &self.window), ("column", &time.name)],
                )));
            }
            WindowPart::Proctime if !is_processing_time => {
                return Err(external(Error::unsupported(format!("{} of a window by event time", self.name))));
            }
            WindowPart::Rowtime | WindowPart::Proctime | WindowPart::Time => {}
        }
        let logical = match time.sql_type.logical {
            LogicalType::TimestampLtz(_) => LogicalType::TimestampLtz(3),
            _ => LogicalType::Timestamp(3),
        };
        // Flink's own type: a rowtime is nullable, unlike the ends of the window.
        let sql_type = logical.nullable().with_nullable(!is_processing_time);
        let time = if is_processing_time { "proctime" } else { "rowtime" };
        Ok(with_time(&typed_field(self.name, &sql_type), time))
    }

    fn invoke_with_args(&self, _arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        exec_err!("{} was not replaced", self.name)
    }
}
