//! CREATE TABLE ... LIKE: the definition of one table worked into that of another.

use crate::binder::positions::{Positions, locate};
use crate::statement_codes;
use crate::table_codes::DUPLICATE_COLUMN;
use base::{Error, Result};
use syntax::Span;
use syntax::ast::Spanned;
use syntax::statement::{Column, ColumnKind, CreateTable, Like, LikeStrategy, TableDefinition};

/// What LIKE does with each feature; Flink's defaults are INCLUDING ALL and OVERWRITING OPTIONS.
struct Strategies<'a>(&'a Like);

impl Strategies<'_> {
    fn of(&self, feature: &str) -> LikeStrategy {
        let find = |wanted: &str| self.0.options.iter().rev().find(|option| option.feature == wanted);
        match find(feature).or_else(|| find("ALL")) {
            Some(option) => option.strategy,
            None if feature == "OPTIONS" => LikeStrategy::Overwriting,
            None => LikeStrategy::Including,
        }
    }
}

/// The whole definition of the new table. `base` is the table after LIKE.
///
/// # Errors
/// What both define, unless the statement says which one counts.
pub fn merge(
    create: &CreateTable,
    like: &Like,
    base: &TableDefinition,
    positions: &Positions<'_>,
) -> Result<TableDefinition> {
    let own = &create.definition;
    let strategies = Strategies(like);
    refuse_overwriting(like, positions)?;
    let conflict = |what: String, feature: &str, overwriting: bool, span: Span| {
        let word = if overwriting { "OVERWRITING" } else { "EXCLUDING" };
        let arguments: [(&'static str, &dyn std::fmt::Display); 4] = [
            ("table", &create.name),
            ("what", &what),
            ("other", &like.table),
            ("clause", &format!("{word} {feature}")),
        ];
        Err(locate(Error::new(&statement_codes::LIKE_CONFLICT, &arguments), Some(positions), span))
    };
    let mut columns: Vec<Column> = Vec::new();
    for column in &base.columns {
        let strategy = feature_of(column).map_or(LikeStrategy::Including, |feature| strategies.of(feature));
        let again = own.columns.iter().find(|own| own.name.value == column.name.value);
        match (strategy, again) {
            (LikeStrategy::Excluding, _) => {}
            (LikeStrategy::Overwriting, Some(own)) if feature_of(own) == feature_of(column) => {}
            (_, Some(own)) => {
                let feature = feature_of(column);
                let what = format!("column {}", own.name.value);
                return match feature {
                    Some(feature) => conflict(what, feature, true, own.span),
                    // Physical columns are always taken: no clause helps.
                    None => {
                        let error = Error::new(&DUPLICATE_COLUMN, &[("name", &own.name.value)]);
                        Err(locate(error, Some(positions), own.span))
                    }
                };
            }
            (_, None) => columns.push(without_place(column)),
        }
    }
    columns.extend(own.columns.iter().cloned());
    let mut merged = TableDefinition { columns, ..own.clone() };
    if strategies.of("CONSTRAINTS") != LikeStrategy::Excluding
        && let Some(key) = &base.primary_key
    {
        match &own.primary_key {
            Some(own) => return conflict("a PRIMARY KEY".into(), "CONSTRAINTS", false, own.span),
            None => merged.primary_key = Some(key.clone()),
        }
    }
    match (strategies.of("WATERMARKS"), &base.watermark, &own.watermark) {
        (LikeStrategy::Including, Some(_), Some(own)) => {
            return conflict("a WATERMARK".into(), "WATERMARKS", true, own.span);
        }
        (LikeStrategy::Including | LikeStrategy::Overwriting, Some(watermark), None) => {
            merged.watermark = Some(watermark.clone());
        }
        _ => {}
    }
    if strategies.of("PARTITIONS") != LikeStrategy::Excluding && !base.partitioned_by.is_empty() {
        match own.partitioned_by.is_empty() {
            true => merged.partitioned_by = base.partitioned_by.clone(),
            false => return conflict("PARTITIONED BY".into(), "PARTITIONS", false, create.name.span()),
        }
    }
    if strategies.of("DISTRIBUTION") != LikeStrategy::Excluding && base.distribution.is_some() {
        match own.distribution {
            None => merged.distribution = base.distribution.clone(),
            Some(_) => return conflict("DISTRIBUTED BY".into(), "DISTRIBUTION", false, create.name.span()),
        }
    }
    let strategy = strategies.of("OPTIONS");
    if strategy != LikeStrategy::Excluding {
        for option in &base.options {
            match own.options.iter().find(|own| own.key == option.key) {
                None => merged.options.push(option.clone()),
                Some(_) if strategy == LikeStrategy::Overwriting => {}
                Some(own) => {
                    return conflict(format!("the option '{}'", own.key), "OPTIONS", true, own.key_span);
                }
            }
        }
    }
    Ok(merged)
}

/// OVERWRITING is for what can be replaced piece by piece.
fn refuse_overwriting(like: &Like, positions: &Positions<'_>) -> Result<()> {
    let wrong = like.options.iter().find(|option| {
        option.strategy == LikeStrategy::Overwriting
            && matches!(option.feature.as_str(), "ALL" | "CONSTRAINTS" | "DISTRIBUTION" | "PARTITIONS")
    });
    match wrong {
        None => Ok(()),
        Some(option) => {
            let feature = format!("OVERWRITING {}", option.feature);
            Err(locate(Error::unsupported(feature), Some(positions), like.table.span()))
        }
    }
}

fn feature_of(column: &Column) -> Option<&'static str> {
    match column.kind {
        ColumnKind::Computed(_) => Some("GENERATED"),
        ColumnKind::Metadata { .. } => Some("METADATA"),
        ColumnKind::Physical(_) | ColumnKind::Named => None,
    }
}

fn without_place(column: &Column) -> Column {
    Column { position: None, ..column.clone() }
}
