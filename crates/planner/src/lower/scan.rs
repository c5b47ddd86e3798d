//! Scans: every table is read once per job, with only the columns that some query needs.

use super::builder::{Builder, Draft, Identity, Relation, column_identity, columns, short_hash};
use crate::catalog::CatalogTable;
use crate::changelog;
use crate::codes;
use crate::expression::{Compiled, Compiler, Tree, from_datafusion};
use crate::lower::codes as own;
use crate::table_source::catalog_table;
use base::connector::{ScanSpec, SourceDescription};
use base::plan::{
    Calc, ChangelogNormalize, Distribution, Edge, Node, NodeId, NodeKind, Output, Scan, WatermarkStrategy,
};
use base::watermark_options::WatermarkOptions;
use base::{ChangelogMode, ColumnKind, Error, Field, ObjectPath, Result, RowType};
use datafusion_common::DFSchema;
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_expr::LogicalPlan;
use datafusion_expr::logical_plan::TableScan;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What all queries of a job together read of one table.
#[derive(Debug, Clone)]
pub struct Reads {
    /// The table.
    pub table: Arc<CatalogTable>,
    columns: BTreeSet<usize>,
}

/// The name of a table for people: short if it is where every script starts.
pub fn table_name(path: &ObjectPath) -> String {
    if path.catalog == crate::catalog::DEFAULT_CATALOG && path.database == crate::catalog::DEFAULT_DATABASE {
        path.name.clone()
    } else {
        format!("{}.{}.{}", path.catalog, path.database, path.name)
    }
}

/// Adds what a query reads.
pub fn collect(plan: &LogicalPlan, reads: &mut BTreeMap<String, Reads>) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Some(table) = catalog_table(scan.source.as_ref())
        {
            let entry = reads
                .entry(table.identity())
                .or_insert_with(|| Reads { table: table.clone(), columns: BTreeSet::new() });
            match &scan.projection {
                Some(projection) => entry.columns.extend(projection),
                None => entry.columns.extend(0..table.row.len()),
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .map_err(from_datafusion)?;
    Ok(())
}

impl Builder<'_> {
    /// The relation of a table scan.
    pub fn scan(&mut self, scan: &TableScan) -> Result<Relation> {
        let table = catalog_table(scan.source.as_ref())
            .ok_or_else(|| Error::internal(format!("{} is no table of the catalog", scan.table_name)))?
            .clone();
        if scan.fetch.is_some() {
            return Err(Error::unsupported("LIMIT"));
        }
        if !scan.filters.is_empty() {
            return Err(Error::internal("a filter was pushed into a scan"));
        }
        let key = table.identity();
        let (node, available) = match self.scans.get(&key) {
            Some(known) => known.clone(),
            None => {
                let reads = self.reads.get(&key).cloned().ok_or_else(|| Error::internal("a scan was not collected"))?;
                let calls = self.random_calls.get();
                let scanned = self.scan_node(&reads)?;
                // Every reader of random columns has random numbers of its own.
                if self.random_calls.get() == calls {
                    self.scans.insert(key, scanned.clone());
                }
                scanned
            }
        };
        let wanted: Vec<usize> = match &scan.projection {
            Some(projection) => projection.clone(),
            None => (0..table.row.len()).collect(),
        };
        let all = columns(self.fields(node));
        let mut projection = Vec::with_capacity(wanted.len());
        let mut fields = Vec::with_capacity(wanted.len());
        for column in wanted {
            let place = available
                .iter()
                .position(|known| *known == column)
                .ok_or_else(|| Error::internal("a scanned column was not collected"))?;
            projection.push(all[place].clone());
            fields.push(self.fields(node)[place].clone());
        }
        Ok(Relation { node, window: None, rank: None, conditions: Vec::new(), projection, fields })
    }

    /// The node that reads a table, and which columns of the table it gives.
    pub fn scan_node(&mut self, reads: &Reads) -> Result<(NodeId, Vec<usize>)> {
        let table = &reads.table;
        let definition = &table.definition;
        let name = table_name(&definition.path);
        let source = table.description.source.clone().ok_or_else(|| {
            Error::new(&codes::NOT_A_SOURCE, &[("table", &name), ("connector", &table.factory.name())])
        })?;
        let upsert = source.changelog.is_upsert();
        if upsert && definition.primary_key.is_empty() {
            return Err(Error::new(&own::UPSERT_SOURCE_KEY, &[("table", &name)]));
        }
        let compiled = TableExpressions::compile(table, &self.random_calls)?;
        let mut output = reads.columns.clone();
        let repeats =
            self.context.cdc_duplicates && !source.changelog.is_append_only() && !definition.primary_key.is_empty();
        if upsert || repeats {
            output.extend(table.primary_key());
        }
        if let Some((column, tree)) = &compiled.watermark {
            output.insert(*column);
            output.extend(tree.columns());
        }
        if output.is_empty() {
            // Rows must have a column to be counted by.
            output.extend(cheapest(table));
        }
        let output: Vec<usize> = output.into_iter().collect();
        let node = self.scan_draft(table, &source, name, &compiled, &output)?;
        if !upsert && !repeats {
            return Ok((node, output));
        }
        let keys: Vec<usize> =
            table.primary_key().iter().filter_map(|key| output.iter().position(|column| column == key)).collect();
        let node = if upsert { node } else { changelog::drop_update_before(&mut self.drafts, node) };
        Ok((self.normalize(node, keys, repeats, &[]), output))
    }

    fn scan_draft(
        &mut self,
        table: &CatalogTable,
        source: &SourceDescription,
        name: String,
        compiled: &TableExpressions,
        output: &[usize],
    ) -> Result<NodeId> {
        let read = Read::new(table, compiled, output, source)?;
        let trees: Vec<Tree> =
            output.iter().map(|&column| read.tree(table, compiled, column)).collect::<Result<_>>()?;
        let fields: Vec<Field> = output
            .iter()
            .zip(&trees)
            .map(|(&column, tree)| {
                let field = &table.row.fields()[column];
                // A source may know less than the table says: a metadata column that can be NULL stays nullable.
                let nullable = field.sql_type.nullable || tree.sql_type().nullable;
                Field { sql_type: field.sql_type.with_nullable(nullable), ..field.clone() }
            })
            .collect();
        let row = RowType::new(fields.clone());
        let plain = read.spec.metadata.is_empty()
            && trees.len() == read.spec.output.len()
            && trees.iter().enumerate().all(|(index, tree)| tree.as_column() == Some(index));
        let mut spec = read.spec.clone();
        if plain {
            // No projection puts the rows into their final form, so the source makes it.
            spec.output = row.clone();
        }
        let read_names: Vec<String> = spec.output.fields().iter().map(|field| field.name.clone()).collect();
        let projection: Option<Calc> =
            (!plain).then(|| self.compile_calc(&[], &trees, spec.output.fields(), &read_names));
        let mut identities: Vec<String> = Vec::with_capacity(fields.len());
        for (index, field) in fields.iter().enumerate() {
            identities.push(match &projection {
                Some(calc) if compiled.computed[output[index]].is_some() => {
                    column_identity(calc.projection[index].digest())
                }
                _ => field.name.clone(),
            });
        }
        let watermark = self.watermark(table, compiled, &fields, output, &identities)?;
        let options = &table.definition.options;
        let deciding = options.iter().filter(|(key, _)| table.factory.decides(key, options));
        let options: Vec<String> = deciding.map(|(key, value)| format!("{key}={value}")).collect();
        let rows = short_hash(&format!("{} {options:?}", table.definition.path));
        let provider = table.factory.source(&table.definition, &spec, &self.context.connector)?;
        let options = WatermarkOptions::from_options(&table.definition.options)?;
        let key: Option<Vec<usize>> = table
            .primary_key()
            .iter()
            .map(|key| output.iter().position(|column| column == key))
            .collect::<Option<Vec<_>>>()
            .filter(|key| !key.is_empty());
        let parallelism_max = provider.splits_max();
        let draft = Draft {
            spread: None,
            identity: Identity { rows: rows.clone(), columns: identities, anchor: format!("scan-{name}") },
            node: Node {
                operator_id: format!("scan-{name}"),
                digest: format!("Scan({}, {rows})", table.definition.path),
                kind: NodeKind::Scan(Scan {
                    table: name,
                    provider,
                    read: spec.output,
                    projection,
                    watermark,
                    bounded: source.bounded,
                    replayable: source.replayable,
                    parallelism_max,
                    idle_timeout: options.idle_timeout,
                    alignment: options.alignment,
                }),
                inputs: Vec::new(),
                output: Output { row, changelog: source.changelog, upsert_keys: key.into_iter().collect() },
            },
        };
        let node = self.push(draft, true);
        self.note_operation(node, table, output);
        Ok(node)
    }

    fn watermark(
        &self,
        table: &CatalogTable,
        compiled: &TableExpressions,
        fields: &[Field],
        output: &[usize],
        identities: &[String],
    ) -> Result<Option<WatermarkStrategy>> {
        let (Some((column, tree)), Some(clause)) = (&compiled.watermark, &table.watermark) else { return Ok(None) };
        let place = |column: usize| {
            output
                .iter()
                .position(|known| *known == column)
                .ok_or_else(|| Error::internal("a watermark column is missing"))
        };
        if !tree.hidden().is_empty() {
            return Err(Error::unsupported("a WATERMARK expression that reads the clock"));
        }
        let mut places = Vec::new();
        for column in tree.columns() {
            places.push((column, place(column)?));
        }
        let tree = tree.replace(&mut |leaf| match leaf {
            Tree::Column { index, sql_type } => {
                let (_, place) = places.iter().find(|(column, _)| column == index)?;
                Some(Tree::Column { index: *place, sql_type: sql_type.clone() })
            }
            _ => None,
        });
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        let expression = Compiled::new(tree, &names, identities, &self.context.functions);
        let sql = format!("{} AS {}", table.row.fields()[*column].name, clause.sql);
        Ok(Some(WatermarkStrategy { column: place(*column)?, expression: Arc::new(expression), sql }))
    }

    /// Makes a full changelog of keyed changes, of the rows for which `conditions` hold.
    fn normalize(&mut self, input: NodeId, keys: Vec<usize>, drops_repeats: bool, conditions: &[Tree]) -> NodeId {
        let below = self.identity(input).clone();
        let names: Vec<&str> = keys.iter().map(|&key| below.columns[key].as_str()).collect();
        let condition = self.compile_calc(conditions, &[], self.fields(input), &below.columns).condition;
        let (mut text, mut rows) = (format!("keys=[{}]", names.join(", ")), below.rows.clone());
        if let Some(condition) = &condition {
            text.push_str(&format!(", where {}", condition.digest()));
            rows = short_hash(&format!("{rows} where {}", condition.digest()));
        }
        let anchor = format!("normalize-{}", short_hash(&format!("{text} {}", below.anchor)));
        let draft = Draft {
            spread: Some(keys.clone()),
            node: Node {
                operator_id: anchor.clone(),
                digest: format!("ChangelogNormalize({text}, input={})", below.rows),
                kind: NodeKind::ChangelogNormalize(ChangelogNormalize {
                    keys: keys.clone(),
                    drops_repeats,
                    condition,
                    state_ttl: self.context.config.state_ttl,
                }),
                inputs: vec![Edge { node: input, distribution: Distribution::Hash(keys.clone()) }],
                output: Output {
                    row: self.output(input).row.clone(),
                    changelog: ChangelogMode::ALL,
                    upsert_keys: vec![keys],
                },
            },
            identity: Identity { rows, columns: below.columns, anchor },
        };
        self.push(draft, true)
    }

    /// Lets the normalisation that a relation reads keep only the rows that pass its filter: a row that enters or leaves
    /// it is then an insert or a delete, and needs no old row.
    pub fn filter_normalized(&mut self, relation: &mut Relation) {
        let node = &self.drafts[relation.node].node;
        let NodeKind::ChangelogNormalize(normalize) = &node.kind else { return };
        let pushed = |condition: &Tree| condition.hidden().is_empty() && condition.is_deterministic();
        if normalize.condition.is_some() || relation.conditions.is_empty() || !relation.conditions.iter().all(pushed) {
            return;
        }
        let Some(input) = node.inputs.first().map(|edge| edge.node) else { return };
        let (keys, drops_repeats) = (normalize.keys.clone(), normalize.drops_repeats);
        let conditions = std::mem::take(&mut relation.conditions);
        relation.node = self.normalize(input, keys, drops_repeats, &conditions);
    }
}

/// The physical column that costs the least to decode.
fn cheapest(table: &CatalogTable) -> Option<usize> {
    let physical = || table.definition.physical().filter_map(|column| table.row.index_of(&column.name));
    let fixed = physical().find(|&index| table.row.fields()[index].sql_type.arrow().is_primitive());
    fixed.or_else(|| physical().next()).or((!table.row.is_empty()).then_some(0))
}

/// The expressions of a table over the columns of its row.
struct TableExpressions {
    computed: Vec<Option<Tree>>,
    watermark: Option<(usize, Tree)>,
}

impl TableExpressions {
    fn compile(table: &CatalogTable, random_calls: &std::cell::Cell<usize>) -> Result<TableExpressions> {
        let schema = DFSchema::from_unqualified_fields(
            crate::bridge::typed_schema(&table.row).fields().clone(),
            Default::default(),
        )
        .map_err(from_datafusion)?;
        let types: Vec<_> = table.row.fields().iter().map(|field| field.sql_type.clone()).collect();
        let compiler = Compiler { schema: &schema, types: &types, random_calls };
        let computed = table
            .computed
            .iter()
            .map(|expr| expr.as_ref().map(|expr| compiler.compile(expr)).transpose())
            .collect::<Result<_>>()?;
        let watermark = match &table.watermark {
            None => None,
            Some(clause) => Some((clause.column, compiler.compile(&clause.expression)?)),
        };
        Ok(TableExpressions { computed, watermark })
    }
}

/// What the connector reads, and where each column of the table is in it.
struct Read {
    spec: ScanSpec,
    places: BTreeMap<usize, usize>,
}

impl Read {
    fn new(
        table: &CatalogTable,
        compiled: &TableExpressions,
        output: &[usize],
        source: &SourceDescription,
    ) -> Result<Read> {
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        for &column in output {
            match compiled.computed.get(column).and_then(Option::as_ref) {
                Some(tree) => needed.extend(tree.columns()),
                None => {
                    needed.insert(column);
                }
            }
        }
        if needed.is_empty() {
            needed.extend(cheapest(table));
        }
        let mut places = BTreeMap::new();
        let (mut physical, mut metadata) = (Vec::new(), Vec::new());
        let mut fields = Vec::new();
        for &column in &needed {
            let definition = &table.definition.columns[column];
            if definition.kind == ColumnKind::Physical {
                places.insert(column, fields.len());
                physical.push(definition.name.clone());
                fields.push(Field::new(definition.name.clone(), table.row.fields()[column].sql_type.clone()));
            }
        }
        for &column in &needed {
            let definition = &table.definition.columns[column];
            match &definition.kind {
                ColumnKind::Physical => {}
                ColumnKind::Metadata { key, .. } => {
                    let known = metadata.iter().position(|known| known == key);
                    let place = known.unwrap_or(metadata.len());
                    places.insert(column, physical.len() + place);
                    if known.is_none() {
                        let offered = source
                            .metadata
                            .iter()
                            .find(|offered| offered.key == *key)
                            .ok_or_else(|| Error::internal(format!("metadata key {key} was not checked")))?;
                        metadata.push(key.clone());
                        fields.push(Field::new(key.clone(), offered.sql_type.clone()));
                    }
                }
                ColumnKind::Computed { .. } => {
                    return Err(Error::new(&codes::COMPUTED_COLUMN, &[("name", &"?"), ("other", &definition.name)]));
                }
            }
        }
        Ok(Read { spec: ScanSpec { physical, metadata, output: RowType::new(fields) }, places })
    }

    /// A column of the table over what the connector reads.
    fn tree(&self, table: &CatalogTable, compiled: &TableExpressions, column: usize) -> Result<Tree> {
        if let Some(tree) = compiled.computed.get(column).and_then(Option::as_ref) {
            let mut result = Ok(());
            let tree = tree.replace(&mut |leaf| match leaf {
                Tree::Column { index, .. } => match self.stored(table, *index) {
                    Ok(tree) => Some(tree),
                    Err(error) => {
                        result = Err(error);
                        None
                    }
                },
                _ => None,
            });
            return result.map(|()| tree);
        }
        self.stored(table, column)
    }

    fn stored(&self, table: &CatalogTable, column: usize) -> Result<Tree> {
        let index = *self.places.get(&column).ok_or_else(|| Error::internal("a column of the table is not read"))?;
        let read = &self.spec.output.fields()[index].sql_type;
        let declared = &table.row.fields()[column].sql_type;
        let tree = Tree::Column { index, sql_type: read.clone() };
        if read.logical == declared.logical {
            return Ok(tree);
        }
        let sql_type = declared.with_nullable(read.nullable);
        Ok(Tree::Cast { input: Box::new(tree), sql_type, try_cast: false })
    }
}
