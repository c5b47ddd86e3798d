//! FOR SYSTEM_TIME AS OF now: which columns a table is asked by, and what of the condition is left.

use super::builder::{Builder, Draft, Identity, Relation, column_identity, columns, key_column, short_hash};
use super::join::{self, operands, shift};
use super::join_codes as codes;
use super::scan::table_name;
use crate::binder::names::is_lookup;
use crate::catalog::CatalogTable;
use crate::expression::{Compiled, Tree};
use crate::nodes::temporal::TemporalJoinNode;
use crate::table_source::catalog_table;
use base::lookup::{LookupProvider, LookupSpec};
use base::plan::{Distribution, Edge, JoinKind, LookupJoin, LookupRetry, Node, NodeId, NodeKind, Output};
use base::{ChangelogMode, ColumnKind, Error, Expression, Field, Result, RowType};
use datafusion_expr::LogicalPlan;
use std::sync::Arc;
use std::time::Duration;

/// The hint that says how a table is asked.
pub const LOOKUP: &str = "LOOKUP";

/// A table that is asked: its rows behind a filter and a projection.
struct Asked {
    table: Arc<CatalogTable>,
    /// Trees over the wanted columns; the node means nothing.
    relation: Relation,
    /// The wanted columns of the table.
    wanted: Vec<Field>,
    /// By which names a hint can call it.
    names: Vec<String>,
}

/// A column of the table and what it is compared with.
struct Key {
    column: usize,
    value: Tree,
}

impl Builder<'_> {
    /// Every left row with the right rows as of now.
    ///
    /// # Errors
    /// A table that cannot be asked, or not by these columns.
    pub fn join_now(&mut self, node: &TemporalJoinNode, mut left: Relation) -> Result<Relation> {
        let Some(asked) = self.asked(&node.right)? else {
            return Err(Error::new(&codes::LOOKUP_TABLE, &[("table", &"of the query"), ("connector", &"a query")]));
        };
        let name = table_name(&asked.table.definition.path);
        let width = left.fields.len();
        let condition = self.temporal_condition(node, &left, &asked.relation)?;
        let mut parts = join::take_apart(condition, width);
        let keys = lookup_keys(&mut parts, &asked, width)?;
        if keys.is_empty() {
            return Err(Error::new(&codes::LOOKUP_KEY, &[("table", &name)]));
        }
        let provider = self.lookup_provider(&asked, &keys, &name)?;
        if !node.is_outer {
            for tree in std::mem::take(&mut parts.left) {
                left = self.filter(left, &tree);
            }
        }
        let (names, values): (Vec<String>, Vec<Tree>) =
            keys.iter().map(|key| (asked.wanted[key.column].name.clone(), key.value.clone())).unzip();
        let input = self.join_input(left, values)?;
        let below = self.fields(input.node).len();
        // Trees over both sides as trees over the columns of the operator.
        let over = |tree: &Tree| {
            tree.replace(&mut |leaf| match leaf {
                Tree::Column { index, sql_type } if *index < width => {
                    Some(Tree::Column { index: input.columns[*index], sql_type: sql_type.clone() })
                }
                Tree::Column { index, .. } => {
                    let tree = asked.relation.projection.get(index - width)?;
                    Some(shift(tree, |column| below + column))
                }
                _ => None,
            })
        };
        let mut rest: Vec<Tree> = parts.left.iter().chain(&parts.rest).map(over).collect();
        rest.extend(parts.right.iter().map(|tree| over(&shift(tree, |column| column + width))));
        rest.extend(asked.relation.conditions.iter().map(|tree| shift(tree, |column| below + column)));
        if rest.iter().any(|tree| !tree.hidden().is_empty()) {
            return Err(Error::unsupported("NOW(), RAND() and the like in the condition of a lookup"));
        }
        if node.is_outer && asked.relation.projection.iter().any(|tree| tree.as_column().is_none()) {
            return Err(Error::unsupported("computed columns of a table that a LEFT JOIN looks up"));
        }
        let visible: Vec<Tree> = (0..width + asked.relation.fields.len())
            .map(|index| {
                let field = if index < width {
                    &self.fields(input.node)[input.columns[index]]
                } else {
                    &asked.relation.fields[index - width]
                };
                over(&Tree::Column { index, sql_type: field.sql_type.clone() })
            })
            .collect();
        let retry = self.lookup_retry(&asked);
        let made = self.lookup_node(
            input.node,
            &asked,
            Parts { provider, name, is_outer: node.is_outer, keys: input.keys, names, rest, retry },
        );
        // A column of a padded row can be NULL.
        let made_fields = self.fields(made).to_vec();
        let visible: Vec<Tree> = visible
            .iter()
            .map(|tree| {
                tree.replace(&mut |leaf| match leaf {
                    Tree::Column { index, .. } => {
                        Some(Tree::Column { index: *index, sql_type: made_fields[*index].sql_type.clone() })
                    }
                    _ => None,
                })
            })
            .collect();
        let fields = visible.iter().enumerate().map(|(index, tree)| match tree.as_column() {
            Some(place) => made_fields[place].clone(),
            None => Field::new(asked.relation.fields[index - width].name.clone(), tree.sql_type()),
        });
        let fields = fields.collect();
        Ok(Relation { node: made, window: None, rank: None, conditions: Vec::new(), projection: visible, fields })
    }

    /// Whether a plan is a table that knows the present only, whatever time is asked for.
    pub fn is_only_asked(&self, plan: &LogicalPlan) -> bool {
        let asked = self.asked(plan).ok().flatten();
        asked.is_some_and(|asked| asked.table.watermark.is_none() && is_lookup(&asked.table))
    }

    /// Whether a plan reads no more than a table that can be asked for rows.
    pub fn can_be_asked(&self, plan: &LogicalPlan) -> bool {
        match plan {
            LogicalPlan::TableScan(scan) => catalog_table(scan.source.as_ref()).is_some_and(|table| {
                let all = table.definition.columns.iter().filter(|column| matches!(column.kind, ColumnKind::Physical));
                let all = all.map(|column| Field::new(column.name.clone(), column.sql_type.clone()));
                let output = RowType::new(all.collect());
                let keys = RowType::new(output.fields().iter().take(1).cloned().collect());
                let lookup = LookupSpec { keys, output };
                !matches!(table.factory.lookup(&table.definition, &lookup, &self.context.connector), Ok(None))
            }),
            LogicalPlan::SubqueryAlias(alias) => self.can_be_asked(&alias.input),
            LogicalPlan::Projection(projection) => self.can_be_asked(&projection.input),
            LogicalPlan::Filter(filter) => self.can_be_asked(&filter.input),
            _ => false,
        }
    }

    /// The table behind names, projections and filters.
    fn asked(&self, plan: &LogicalPlan) -> Result<Option<Asked>> {
        match plan {
            LogicalPlan::SubqueryAlias(alias) => {
                let asked = self.asked(&alias.input)?;
                Ok(asked.map(|mut asked| {
                    asked.names.push(alias.alias.table().to_string());
                    asked
                }))
            }
            LogicalPlan::Projection(projection) => {
                let Some(mut asked) = self.asked(&projection.input)? else { return Ok(None) };
                let trees = self.compile_all(&asked.relation, projection.input.schema(), &projection.expr)?;
                let named = super::query::names(&projection.schema).into_iter().zip(&trees);
                asked.relation.fields = named
                    .map(|(name, tree)| match tree.as_column() {
                        Some(column) => Field { name, ..asked.relation.fields[column].clone() },
                        None => Field::new(name, tree.sql_type()),
                    })
                    .collect();
                asked.relation.projection = trees.iter().map(|tree| tree.over(&asked.relation.projection)).collect();
                Ok(Some(asked))
            }
            LogicalPlan::Filter(filter) => {
                let Some(mut asked) = self.asked(&filter.input)? else { return Ok(None) };
                let tree = self.compile_one(&asked.relation, filter.input.schema(), &filter.predicate)?;
                asked.relation.conditions.push(tree.over(&asked.relation.projection));
                Ok(Some(asked))
            }
            LogicalPlan::TableScan(scan) => {
                let Some(table) = catalog_table(scan.source.as_ref()) else { return Ok(None) };
                let wanted: Vec<usize> = match &scan.projection {
                    Some(projection) => projection.clone(),
                    None => (0..table.row.len()).collect(),
                };
                let wanted: Vec<Field> = wanted.iter().map(|&column| table.row.fields()[column].clone()).collect();
                let is_physical = |field: &Field| {
                    let columns = &table.definition.columns;
                    columns
                        .iter()
                        .any(|column| column.name == field.name && matches!(column.kind, ColumnKind::Physical))
                };
                if let Some(other) = wanted.iter().find(|field| !is_physical(field)) {
                    return Err(Error::unsupported(format!(
                        "the computed or metadata column {} of a lookup",
                        other.name
                    )));
                }
                let relation = Relation {
                    node: NodeId::MAX,
                    window: None,
                    rank: None,
                    conditions: Vec::new(),
                    projection: columns(&wanted),
                    fields: wanted.clone(),
                };
                let names = vec![table.definition.path.name.clone()];
                Ok(Some(Asked { table: table.clone(), relation, wanted, names }))
            }
            _ => Ok(None),
        }
    }

    fn lookup_provider(&self, asked: &Asked, keys: &[Key], name: &str) -> Result<Arc<dyn LookupProvider>> {
        let keys = keys.iter().map(|key| {
            let field = &asked.wanted[key.column];
            Field::new(field.name.clone(), key.value.sql_type())
        });
        let spec = LookupSpec { keys: RowType::new(keys.collect()), output: RowType::new(asked.wanted.clone()) };
        let table = &asked.table;
        let provider = table.factory.lookup(&table.definition, &spec, &self.context.connector)?;
        provider
            .ok_or_else(|| Error::new(&codes::LOOKUP_TABLE, &[("table", &name), ("connector", &table.factory.name())]))
    }

    /// What the LOOKUP hint of a table says about keys without a row.
    fn lookup_retry(&self, asked: &Asked) -> Option<LookupRetry> {
        let option = |hint: &base::config::PlanHint, key: &str| {
            hint.options.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        let hint = self.context.config.hints.iter().find(|hint| {
            let table = option(hint, "table");
            hint.name == LOOKUP && table.is_some_and(|table| asked.names.contains(&table))
        })?;
        let misses =
            option(hint, "retry-predicate").is_some_and(|predicate| predicate.eq_ignore_ascii_case("lookup_miss"));
        misses.then(|| LookupRetry {
            attempts: option(hint, "max-attempts").and_then(|attempts| attempts.trim().parse().ok()).unwrap_or(3),
            delay: option(hint, "fixed-delay")
                .and_then(|delay| base::options::parse_duration(&delay))
                .unwrap_or(Duration::from_secs(1)),
        })
    }

    fn lookup_node(&mut self, input: NodeId, asked: &Asked, parts: Parts) -> NodeId {
        let Parts { provider, name, is_outer, keys, names: key_names, rest, retry } = parts;
        let below = self.identity(input).clone();
        let mut fields = self.fields(input).to_vec();
        let mut identities = below.columns.clone();
        for field in &asked.wanted {
            let sql_type = field.sql_type.with_nullable(field.sql_type.nullable || is_outer);
            fields.push(Field { sql_type, time: None, ..field.clone() });
            identities.push(column_identity(format!("{} of {name}", field.name)));
        }
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        let condition: Option<Arc<dyn Expression>> = match rest.as_slice() {
            [] => None,
            parts => {
                let tree = if let [one] = parts { one.clone() } else { Tree::and(parts.to_vec()) };
                Some(Arc::new(Compiled::new(tree, &names, &identities, &self.context.functions)))
            }
        };
        let key_text: Vec<String> = key_names
            .iter()
            .zip(&keys)
            .map(|(key, &column)| format!("{key} = {}", below.columns.get(column).map_or("?", String::as_str)))
            .collect();
        let condition_text = condition.as_ref().map_or_else(String::new, |condition| condition.digest());
        let kind = if is_outer { JoinKind::Left } else { JoinKind::Inner };
        let text = format!("{kind:?} {name} [{}] [{condition_text}]", key_text.join(", "));
        let digest = format!("LookupJoin({text}, input={} [{}])", below.rows, below.columns.join(", "));
        let anchor = format!("lookup-{}", short_hash(&format!("{text} {}", below.anchor)));
        // Asked by a whole key, a table gives one row at most.
        let primary = &asked.table.definition.primary_key;
        let is_one = !primary.is_empty() && primary.iter().all(|column| key_names.contains(column));
        let upsert_keys = if is_one { self.output(input).upsert_keys.clone() } else { Vec::new() };
        let draft = Draft {
            spread: self.drafts[input].spread.clone(),
            identity: Identity {
                rows: short_hash(&format!("lookup {text} {}", below.rows)),
                columns: identities,
                anchor: anchor.clone(),
            },
            node: Node {
                operator_id: anchor,
                digest,
                inputs: vec![Edge { node: input, distribution: Distribution::Forward }],
                output: Output { row: RowType::new(fields), changelog: ChangelogMode::APPEND, upsert_keys },
                kind: NodeKind::LookupJoin(LookupJoin {
                    table: name,
                    provider,
                    is_outer,
                    keys,
                    key_names,
                    condition,
                    retry,
                }),
            },
        };
        self.push(draft, false)
    }
}

/// What a lookup is made of.
struct Parts {
    provider: Arc<dyn LookupProvider>,
    name: String,
    is_outer: bool,
    keys: Vec<usize>,
    names: Vec<String>,
    rest: Vec<Tree>,
    retry: Option<LookupRetry>,
}

/// The columns that a table is asked by; what cannot be asked becomes a condition.
fn lookup_keys(parts: &mut join::Parts, asked: &Asked, width: usize) -> Result<Vec<Key>> {
    let mut keys: Vec<Key> = Vec::new();
    let column_of = |tree: &Tree, value: &Tree| {
        let column = key_column(&tree.over(&asked.relation.projection))?;
        let same = asked.wanted[column].sql_type.arrow() == value.sql_type().arrow();
        same.then_some(column)
    };
    for equality in std::mem::take(&mut parts.keys) {
        let column = column_of(&equality.right, &equality.left).filter(|_| !equality.null_safe);
        match column.filter(|column| keys.iter().all(|key| key.column != *column)) {
            Some(column) => keys.push(Key { column, value: equality.left }),
            None => {
                let right = shift(&equality.right, |column| column + width);
                parts.rest.push(join::equality(equality.left, right, equality.null_safe)?);
            }
        }
    }
    for tree in &parts.right {
        let Some((one, other, false)) = operands(tree) else { continue };
        let (own, value) = if other.is_constant() { (one, other) } else { (other, one) };
        if !value.is_constant() {
            continue;
        }
        let column = column_of(own, value).filter(|column| keys.iter().all(|key| key.column != *column));
        keys.extend(column.map(|column| Key { column, value: value.clone() }));
    }
    Ok(keys)
}
