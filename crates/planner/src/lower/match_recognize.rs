//! MATCH_RECOGNIZE: what is read of the rows of a match, by the operator; what is computed of that, behind it.

use super::builder::{Builder, Draft, Identity, Relation, column_identity, columns, short_hash};
use super::query::names;
use crate::binder::match_codes as codes;
use crate::binder::match_recognize::{is_offset, offset_of, shown};
use crate::bridge::{external, flink_aggregate, typed_field};
use crate::changelog::updating_operator;
use crate::expression::{self, Compiled, Tree, from_datafusion};
use crate::nodes::match_recognize::{ANY_VARIABLE, MatchNode, Skip};
use crate::pattern_functions::{FIRST, ROWTIME, ROWTIME_OF};
use base::plan::{
    AfterMatch, Distribution, Edge, MatchRecognize, Node, NodeId, NodeKind, Output, PatternCondition, PatternReference,
    PatternText, PatternValue, PatternVariable, SortKey,
};
use base::{ChangelogMode, Error, Expression, Field, Result, RowType, SqlType, TimeAttribute};
use datafusion_common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion_common::{Column, DFSchema, TableReference};
use datafusion_expr::{Expr, UserDefinedLogicalNodeCore};
use std::sync::Arc;

/// The qualifier of what is read, while an expression over it is compiled.
const READ: &str = "$read";

/// What expressions read of a match, each once.
#[derive(Default)]
struct Reads {
    references: Vec<PatternReference>,
    /// For people, and to find those that are there.
    texts: Vec<String>,
    /// Over the identities of columns.
    identities: Vec<String>,
    times: Vec<Option<TimeAttribute>>,
}

impl Reads {
    fn place(
        &mut self,
        reference: PatternReference,
        text: String,
        identity: String,
        time: Option<TimeAttribute>,
    ) -> Expr {
        let known = self.identities.iter().zip(&self.references);
        let known = known.enumerate().find(|(_, (known, read))| **known == identity && read.result == reference.result);
        let place = known.map_or(self.references.len(), |(place, _)| place);
        if place == self.references.len() {
            self.references.push(reference);
            self.texts.push(text);
            self.identities.push(identity);
            self.times.push(time);
        }
        Expr::Column(Column::new(Some(READ), format!("r{place}")))
    }

    fn types(&self) -> Vec<SqlType> {
        self.references.iter().map(|reference| reference.result.clone()).collect()
    }

    fn schema(&self) -> Result<DFSchema> {
        let field = |(place, reference): (usize, &PatternReference)| {
            (Some(TableReference::bare(READ)), typed_field(&format!("r{place}"), &reference.result))
        };
        let fields = self.references.iter().enumerate().map(field).collect();
        DFSchema::new_with_metadata(fields, Default::default()).map_err(from_datafusion)
    }
}

/// The columns that a match is read of.
struct Source<'n> {
    node: &'n MatchNode,
    /// The columns of the operator's input.
    fields: &'n [Field],
    identities: &'n [String],
}

impl Source<'_> {
    /// The variable and the column of the input behind a column of a row of the match.
    fn column(&self, column: &Column) -> Result<(Option<usize>, usize)> {
        let variable = match column.relation.as_ref().map(TableReference::table) {
            None | Some(ANY_VARIABLE) => None,
            Some(name) => {
                let known = self.node.clauses.variables.iter().position(|variable| variable.name == name);
                Some(known.ok_or_else(|| Error::internal(format!("no variable {name}")))?)
            }
        };
        let at = self.node.columns.iter().find(|known| known.name == column.name);
        let index = at.and_then(|column| self.node.input.schema().maybe_index_of_column(column));
        Ok((variable, index.ok_or_else(|| Error::internal(format!("no column {column}")))?))
    }

    /// The type of a column of a row of a match.
    fn sql_type(&self, column: &Column, measured: bool) -> Result<SqlType> {
        let index = self.node.rows.index_of_column(column).map_err(from_datafusion)?;
        let sql_type = SqlType::from_arrow(self.node.rows.field(index))?;
        // While a match grows, any variable may have no row yet.
        Ok(if measured { sql_type } else { sql_type.with_nullable(true) })
    }

    fn variable_name(&self, variable: Option<usize>) -> &str {
        variable
            .and_then(|variable| self.node.clauses.variables.get(variable))
            .map_or(ANY_VARIABLE, |known| &known.name)
    }
}

impl Builder<'_> {
    /// The relation of MATCH_RECOGNIZE: the partition columns, then the measures.
    ///
    /// # Errors
    /// An input with updates.
    pub fn match_recognize(&mut self, node: &MatchNode) -> Result<Relation> {
        let mut input = self.lower(&node.input)?;
        self.settle_window(&mut input)?;
        let below = self.node(input)?;
        if !self.output(below).changelog.is_append_only() {
            let cause = updating_operator(&self.drafts, below);
            return Err(Error::new(&codes::MATCH_UPDATES, &[("cause", &cause)]));
        }
        let clauses = &node.clauses;
        if clauses.within_ms.is_none() {
            self.warnings.push(Error::new(&codes::MATCH_UNBOUNDED, &[("pattern", &clauses.pattern)]));
        }
        let schema = node.input.schema();
        let place = |column: &Column| schema.index_of_column(column).map_err(from_datafusion);
        let fields = self.fields(below).to_vec();
        let identities = self.identity(below).columns.clone();
        let source = Source { node, fields: &fields, identities: &identities };
        let partition = clauses.partition.iter().map(place).collect::<Result<Vec<_>>>()?;
        let mut order = Vec::new();
        for key in &clauses.order {
            let column = place(&key.column)?;
            order.push(SortKey { column, descending: key.descending, nulls_first: key.nulls_first });
        }
        let time = order.remove(0).column;
        // The query calls MAX(ts) a time attribute, too.
        if fields[time].time.is_none() {
            return Err(Error::new(&codes::MATCH_ORDER, &[("found", &format_args!("{}", fields[time]))]));
        }
        let rowtime = (fields[time].time == Some(TimeAttribute::Rowtime)).then_some(time);
        let mut variables = Vec::with_capacity(clauses.variables.len());
        let (mut define, mut define_digest) = (Vec::new(), Vec::new());
        for variable in &clauses.variables {
            let condition =
                variable.condition.as_ref().map(|condition| self.condition(&source, condition)).transpose()?;
            if let Some(condition) = &condition {
                define.push(format!("{}={}", variable.name, condition.expression.sql()));
                define_digest.push(format!("{}={}", variable.name, condition.expression.digest()));
            }
            variables.push(PatternVariable {
                name: variable.name.clone(),
                min: variable.min,
                max: variable.max,
                is_greedy: variable.is_greedy,
                condition,
            });
        }
        let mut reads = Reads::default();
        let mut measures = Vec::with_capacity(clauses.measures.len());
        for measure in &clauses.measures {
            measures.push(self.read(&source, &measure.expr, &mut reads, true)?);
        }
        let (types, read_schema) = (reads.types(), reads.schema()?);
        let measures: Vec<Tree> =
            measures.iter().map(|expr| self.compile_over(&read_schema, &types, expr)).collect::<Result<_>>()?;
        let measured = measures.iter().zip(&clauses.measures);
        let text = PatternText {
            measures: measured
                .map(|(tree, measure)| format!("FINAL({}) AS {}", expression::sql(tree, &reads.texts), measure.name))
                .collect(),
            pattern: clauses.pattern.clone(),
            define,
        };
        let pattern = MatchRecognize {
            partition: partition.clone(),
            rowtime,
            order,
            variables,
            within_ms: clauses.within_ms,
            skip: match clauses.skip {
                Skip::PastLastRow => AfterMatch::PastLastRow,
                Skip::ToNextRow => AfterMatch::ToNextRow,
                Skip::ToFirst(variable) => AfterMatch::ToFirst(variable),
                Skip::ToLast(variable) => AfterMatch::ToLast(variable),
            },
            output: reads.references.clone(),
            text,
        };
        let matched = self.match_node(below, pattern, &reads, &measures, node, &define_digest.join(", "));
        let mut trees: Vec<Tree> = columns(self.fields(matched)).into_iter().take(partition.len()).collect();
        let behind = columns(&self.fields(matched)[partition.len()..]);
        let behind: Vec<Tree> = behind
            .into_iter()
            .map(|tree| match tree {
                Tree::Column { index, sql_type } => Tree::Column { index: index + partition.len(), sql_type },
                other => other,
            })
            .collect();
        trees.extend(measures.iter().map(|tree| tree.over(&behind)));
        let relation = self.relation(matched);
        let mut relation = self.project(relation, trees, names(node.schema()))?;
        for (field, measure) in relation.fields[partition.len()..].iter_mut().zip(&clauses.measures) {
            field.time = measure.sql_type.time;
        }
        Ok(relation)
    }

    fn match_node(
        &mut self,
        below: NodeId,
        pattern: MatchRecognize,
        reads: &Reads,
        measures: &[Tree],
        node: &MatchNode,
        define: &str,
    ) -> NodeId {
        let identity = self.identity(below).clone();
        let mut fields: Vec<Field> =
            pattern.partition.iter().map(|&column| self.fields(below)[column].clone()).collect();
        for (index, reference) in reads.references.iter().enumerate() {
            let named = measures.iter().position(|tree| tree.as_column() == Some(index));
            let name = named.map_or_else(|| format!("$f{index}"), |place| node.clauses.measures[place].name.clone());
            fields.push(Field { time: reads.times[index], ..Field::new(name, reference.result.clone()) });
        }
        let name = |column: usize| identity.columns[column].as_str();
        let partition: Vec<&str> = pattern.partition.iter().map(|&column| name(column)).collect();
        let order: Vec<String> = pattern
            .order
            .iter()
            .map(|key| format!("{} {} {}", name(key.column), key.descending, key.nulls_first))
            .collect();
        let what = format!(
            "partition=[{}], order=[{} {}], pattern=[{}], within=[{:?}], skip=[{:?}], define=[{define}]",
            partition.join(", "),
            pattern.rowtime.map_or("PROCTIME", name),
            order.join(", "),
            pattern.text.pattern,
            pattern.within_ms,
            pattern.skip,
        );
        // Matches that are open depend on the columns that are kept of their rows.
        let all = identity.columns.join(", ");
        let digest = format!("Match({what}, [{}], [{all}], input={})", reads.identities.join(", "), identity.rows);
        let anchor = format!("match-{}", short_hash(&format!("{what} {}", identity.anchor)));
        let rows = short_hash(&format!("Match({what}, input={})", identity.rows));
        let mut identities: Vec<String> = partition.iter().map(|name| name.to_string()).collect();
        identities.extend(reads.identities.iter().map(|read| column_identity(format!("{read} of {rows}"))));
        let distribution = Distribution::Hash(pattern.partition.clone());
        let draft = Draft {
            spread: Some((0..pattern.partition.len()).collect()),
            identity: Identity { rows, columns: identities, anchor: anchor.clone() },
            node: Node {
                operator_id: anchor,
                digest,
                inputs: vec![Edge { node: below, distribution }],
                output: Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys: Vec::new() },
                kind: NodeKind::MatchRecognize(pattern),
            },
        };
        self.push(draft, true)
    }

    fn condition(&self, source: &Source<'_>, expr: &Expr) -> Result<PatternCondition> {
        let mut reads = Reads::default();
        let over = self.read(source, expr, &mut reads, false)?;
        let tree = self.compile_over(&reads.schema()?, &reads.types(), &over)?;
        if !tree.hidden().is_empty() {
            return Err(Error::unsupported(format!("functions of time or chance in DEFINE: {}", shown(expr))));
        }
        let compiled = Compiled::new(tree, &reads.texts, &reads.identities, &self.context.functions);
        Ok(PatternCondition { reads: reads.references, expression: Arc::new(compiled) })
    }

    /// An expression over what it reads of a match.
    fn read(&self, source: &Source<'_>, expr: &Expr, reads: &mut Reads, measured: bool) -> Result<Expr> {
        let read = expr.clone().transform_down(|part| {
            let read = match &part {
                Expr::Column(column) => self.read_row(source, column, None, reads, measured),
                Expr::AggregateFunction(_) => self.read_aggregate(source, &part, reads),
                Expr::ScalarFunction(call) if is_offset(&part) => {
                    return self.read_offset(source, call, reads, measured).map(jump).map_err(external);
                }
                _ => return Ok(Transformed::no(part)),
            };
            read.map(jump).map_err(external)
        });
        read.map(|read| read.data).map_err(from_datafusion)
    }

    /// A column of one row. `offset` is that of FIRST (true) or LAST; without it, the last row is meant.
    fn read_row(
        &self,
        source: &Source<'_>,
        column: &Column,
        offset: Option<(bool, u32)>,
        reads: &mut Reads,
        measured: bool,
    ) -> Result<Expr> {
        let (variable, index) = source.column(column)?;
        let (is_first, offset_rows) = offset.unwrap_or((false, 0));
        let sql_type = source.sql_type(column, measured && offset_rows == 0)?;
        let (value, function) = match is_first {
            true => (PatternValue::First { column: index, offset: offset_rows }, "FIRST"),
            false => (PatternValue::Last { column: index, offset: offset_rows }, "LAST"),
        };
        let name = source.variable_name(variable);
        let plain = format!("{name}.{}", column.name);
        let text = if offset.is_some() { format!("{function}({plain}, {offset_rows})") } else { plain };
        let identity = format!("{function}({name}.{}, {offset_rows})", source.identities[index]);
        let time = source.fields[index].time.filter(|time| *time == TimeAttribute::Rowtime);
        Ok(reads.place(PatternReference { variable, value, result: sql_type }, text, identity, time))
    }

    /// FIRST, LAST, MATCH_ROWTIME.
    fn read_offset(
        &self,
        source: &Source<'_>,
        call: &datafusion_expr::expr::ScalarFunction,
        reads: &mut Reads,
        measured: bool,
    ) -> Result<Expr> {
        let argument = call.args.first().ok_or_else(|| Error::internal("an offset of nothing"))?;
        if [ROWTIME, ROWTIME_OF].contains(&call.func.name())
            && let Expr::Column(column) = argument
        {
            let (variable, index) = source.column(column)?;
            let result = match call.func.name() == ROWTIME {
                true => base::LogicalType::Timestamp(3).not_null().with_nullable(!measured),
                false => source.sql_type(column, measured)?,
            };
            // While a match grows, its time is that of the row that is looked at.
            let value = match measured {
                true => PatternValue::Rowtime,
                false => PatternValue::Last { column: index, offset: 0 },
            };
            let identity = format!("MATCH_ROWTIME({})", source.identities[index]);
            let reference = PatternReference { variable, value, result };
            return Ok(reads.place(reference, "MATCH_ROWTIME()".into(), identity, Some(TimeAttribute::Rowtime)));
        }
        let offset = offset_of(&call.args).ok_or_else(|| Error::internal("an offset that is no constant"))?;
        let offset = Some((call.func.name() == FIRST, offset));
        let read = argument.clone().transform_down(|part| match &part {
            Expr::Column(column) => self.read_row(source, column, offset, reads, measured).map(jump).map_err(external),
            _ => Ok(Transformed::no(part)),
        });
        read.map(|read| read.data).map_err(from_datafusion)
    }

    fn read_aggregate(&self, source: &Source<'_>, expr: &Expr, reads: &mut Reads) -> Result<Expr> {
        let Expr::AggregateFunction(call) = expr else { return Err(Error::internal("no aggregate")) };
        let function = flink_aggregate(&call.func)
            .ok_or_else(|| Error::internal(format!("{} is not one of our aggregates", call.func.name())))?
            .clone();
        let width = source.node.columns.len();
        let types: Vec<SqlType> =
            source.node.rows.fields().iter().map(|field| SqlType::from_arrow(field)).collect::<Result<_>>()?;
        let mut variable = None;
        let (mut arguments, mut texts, mut identities) = (Vec::new(), Vec::new(), Vec::new());
        let names: Vec<String> = source.fields.iter().map(|field| field.name.clone()).collect();
        for argument in &call.params.args {
            for column in argument.column_refs() {
                variable = source.column(column)?.0;
            }
            let tree = self.compile_over(&source.node.rows, &types, argument)?;
            if !tree.hidden().is_empty() {
                return Err(Error::unsupported("functions of time or chance in an aggregate of MATCH_RECOGNIZE"));
            }
            // From the rows of a match to the columns of the input, in the types that these have.
            let places: Vec<Option<usize>> = (0..types.len())
                .map(|index| source.node.input.schema().maybe_index_of_column(&source.node.columns[index % width]))
                .collect();
            let tree = tree.replace(&mut |leaf| match leaf {
                Tree::Column { index, .. } => {
                    let index = places.get(*index).copied().flatten()?;
                    Some(Tree::Column { index, sql_type: source.fields[index].sql_type.clone() })
                }
                _ => None,
            });
            let prefix = source.variable_name(variable);
            let qualified = |names: &[String]| names.iter().map(|name| format!("{prefix}.{name}")).collect::<Vec<_>>();
            let compiled = Compiled::new(tree, &qualified(&names), source.identities, &self.context.functions);
            texts.push(compiled.sql());
            identities.push(compiled.digest());
            arguments.push(Arc::new(compiled) as Arc<dyn Expression>);
        }
        if function.name() == "COUNT" && arguments.iter().all(|argument| argument.columns().is_empty()) {
            arguments.clear();
        }
        let result =
            function.return_type(&arguments.iter().map(|argument| argument.sql_type().clone()).collect::<Vec<_>>())?;
        let inside = if texts.is_empty() { "*".to_string() } else { texts.join(", ") };
        let text = format!("{}({inside})", function.name());
        let identity = format!(
            "{}({} {})",
            function.name(),
            source.variable_name(variable),
            if arguments.is_empty() { "*".to_string() } else { identities.join(", ") }
        );
        let value = PatternValue::Aggregate { function, arguments };
        Ok(reads.place(PatternReference { variable, value, result }, text, identity, None))
    }
}

/// What stands in the place of a part; nothing in it is looked at.
fn jump(expr: Expr) -> Transformed<Expr> {
    Transformed::new(expr, true, TreeNodeRecursion::Jump)
}

#[cfg(test)]
#[path = "match_recognize_tests.rs"]
mod tests;
