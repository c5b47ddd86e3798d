//! Tables that a query reads and nobody has defined: their definition, as far as the query tells it.

use super::super::codes as own;
use super::expressions::Use;
use crate::catalog::Catalogs;
use base::nearest::nearest;
use base::{Error, ObjectPath};
use syntax::Span;

/// A table that does not exist.
#[derive(Debug)]
pub struct Missing {
    /// Its path.
    pub path: ObjectPath,
    /// Where it stands first.
    pub span: Span,
    /// Its name as written.
    parts: Vec<String>,
    columns: Vec<MissingColumn>,
    key: Vec<String>,
}

#[derive(Debug)]
struct MissingColumn {
    name: String,
    sql_type: Option<String>,
    purpose: Option<Use>,
}

impl Missing {
    /// A table of which only the name is known.
    pub fn new(path: ObjectPath, parts: Vec<String>, span: Span) -> Missing {
        Missing { path, span, parts, columns: Vec::new(), key: Vec::new() }
    }

    fn column(&mut self, name: &str) -> &mut MissingColumn {
        let known = self.columns.iter().position(|column| column.name == name);
        let index = known.unwrap_or_else(|| {
            self.columns.push(MissingColumn { name: name.to_string(), sql_type: None, purpose: None });
            self.columns.len() - 1
        });
        &mut self.columns[index]
    }

    /// Remembers that a column is used.
    pub fn used(&mut self, name: &str) {
        self.column(name);
    }

    /// Remembers what a column is used for.
    pub fn guess(&mut self, name: &str, purpose: Use) {
        let column = self.column(name);
        if column.purpose != Some(Use::Rowtime) {
            column.purpose = Some(purpose);
        }
    }

    /// Remembers the type of what a column is compared with.
    pub fn set_type(&mut self, name: &str, sql_type: String) {
        self.column(name).sql_type = Some(sql_type);
    }

    /// Remembers that windows are cut by a column.
    pub fn set_rowtime(&mut self, name: &str) {
        self.column(name).purpose = Some(Use::Rowtime);
    }

    /// Remembers that rows are looked up by a column.
    pub fn set_key(&mut self, name: &str) {
        if !self.key.iter().any(|known| known == name) {
            self.key.push(name.to_string());
        }
    }

    /// The CREATE TABLE that is missing.
    pub fn skeleton(&self) -> String {
        let mut elements: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                let sql_type = match (&column.sql_type, column.purpose) {
                    (Some(sql_type), _) => sql_type.clone(),
                    (None, Some(Use::Rowtime | Use::Time)) => "TIMESTAMP(3)".to_string(),
                    (None, purpose) => guessed_type(&column.name, purpose).to_string(),
                };
                format!("{} {sql_type}", column.name)
            })
            .collect();
        if elements.is_empty() {
            elements.push("...".to_string());
        }
        let rowtime = self.columns.iter().find(|column| column.purpose == Some(Use::Rowtime));
        elements.extend(rowtime.map(|column| format!("WATERMARK FOR {0} AS {0} - INTERVAL '5' SECOND", column.name)));
        if !self.key.is_empty() {
            elements.push(format!("PRIMARY KEY ({}) NOT ENFORCED", self.key.join(", ")));
        }
        format!("CREATE TABLE {} (\n  {}\n) WITH ('connector' = '...');", self.parts.join("."), elements.join(",\n  "))
    }

    /// What to tell: the catalog, the database or the table is missing.
    pub fn error(&self, catalogs: &Catalogs) -> Error {
        let name = self.parts.join(".");
        let skeleton = self.skeleton();
        let (catalog, database) = (&self.path.catalog, &self.path.database);
        let known = catalogs.catalogs();
        if !known.contains(catalog) {
            let known = known.join(", ");
            return Error::new(
                &own::UNKNOWN_CATALOG,
                &[("name", &name), ("catalog", catalog), ("known", &known), ("skeleton", &skeleton)],
            );
        }
        let databases = catalogs.databases(catalog);
        if !databases.contains(database) {
            let known = databases.join(", ");
            let near = nearest(database, databases.iter().map(String::as_str));
            let near = near.first().map_or_else(|| "-".to_string(), |near| (*near).to_string());
            return Error::new(
                &own::UNKNOWN_DATABASE,
                &[
                    ("name", &name),
                    ("catalog", catalog),
                    ("database", database),
                    ("known", &known),
                    ("nearest", &near),
                    ("skeleton", &skeleton),
                ],
            );
        }
        let objects = catalogs.objects(catalog, database);
        let names: Vec<&str> = objects.iter().map(|(name, _)| *name).collect();
        let near = nearest(&self.path.name, names.iter().copied());
        match (near.is_empty(), names.is_empty()) {
            (false, _) => {
                let near = near.join(", ");
                Error::new(&own::MISSING_TABLE_NEAR, &[("name", &name), ("nearest", &near), ("skeleton", &skeleton)])
            }
            (true, true) => Error::new(&own::MISSING_FIRST_TABLE, &[("name", &name), ("skeleton", &skeleton)]),
            (true, false) => {
                let names = names.join(", ");
                Error::new(&own::MISSING_TABLE, &[("name", &name), ("names", &names), ("skeleton", &skeleton)])
            }
        }
    }
}

/// A type by the habits of those who name columns.
fn guessed_type(name: &str, purpose: Option<Use>) -> &'static str {
    let name = name.to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name == *ending || name.ends_with(&format!("_{ending}")));
    if purpose == Some(Use::Text) && !ends(&["time", "ts", "at", "date"]) {
        "STRING"
    } else if ends(&["time", "ts", "timestamp", "at"]) {
        "TIMESTAMP(3)"
    } else if ends(&["date", "day", "dt"]) {
        "DATE"
    } else if ends(&["amount", "price", "gmv", "money", "fee", "amt", "pay", "total"]) || purpose == Some(Use::Amount) {
        "DECIMAL(10, 2)"
    } else if ends(&["id", "cnt", "count", "num", "qty", "quantity", "uv", "pv"]) || purpose == Some(Use::Whole) {
        "BIGINT"
    } else {
        "STRING"
    }
}
