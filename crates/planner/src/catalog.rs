//! The catalog: catalogs, databases, tables and views of a session, in memory.

use crate::codes;
use base::connector::{ConnectorFactory, TableDescription};
use base::nearest::nearest;
use base::{Error, ObjectPath, Result, RowType, TableDefinition};
use datafusion_expr::Expr;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The catalog that a session starts with.
pub const DEFAULT_CATALOG: &str = "default_catalog";
/// The database that a session starts with.
pub const DEFAULT_DATABASE: &str = "default_database";

/// A table, checked and ready to be planned.
#[derive(Debug, Clone)]
pub struct CatalogTable {
    /// What CREATE TABLE said; types are resolved, primary key columns are NOT NULL.
    pub definition: TableDefinition,
    /// Its connector.
    pub factory: Arc<dyn ConnectorFactory>,
    /// What the connector says about it.
    pub description: TableDescription,
    /// All columns in declared order, with time attributes.
    pub row: RowType,
    /// Per column, the expression of a computed column over the physical and metadata columns, as columns of [`Self::row`]
    /// by plain name; `None` for other columns.
    pub computed: Vec<Option<Expr>>,
    /// The WATERMARK clause.
    pub watermark: Option<BoundWatermark>,
    /// Whether it was made by CREATE TEMPORARY TABLE.
    pub temporary: bool,
}

/// A WATERMARK clause whose expression is bound.
#[derive(Debug, Clone)]
pub struct BoundWatermark {
    /// The rowtime column, a position in [`CatalogTable::row`].
    pub column: usize,
    /// The watermark of a row, over any column of the row by plain name.
    pub expression: Expr,
    /// The expression as written.
    pub sql: String,
}

impl CatalogTable {
    /// The positions of the primary key columns, in the order of the key.
    pub fn primary_key(&self) -> Vec<usize> {
        self.definition.primary_key.iter().filter_map(|name| self.row.index_of(name)).collect()
    }

    /// The positions of the columns that a sink writes.
    pub fn persisted(&self) -> Vec<usize> {
        self.definition.persisted().filter_map(|column| self.row.index_of(&column.name)).collect()
    }
}

/// A view: the text of its query, bound anew wherever it is used.
#[derive(Debug, Clone)]
pub struct View {
    /// Full name.
    pub path: ObjectPath,
    /// The names of its columns, if the view gives them.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<syntax::ast::Query>,
    /// The query as written.
    pub sql: String,
    /// COMMENT.
    pub comment: Option<String>,
    /// Whether it was made by CREATE TEMPORARY VIEW.
    pub temporary: bool,
    /// The catalog and database that names of the query refer to.
    pub home: (String, String),
}

/// What a name in a database stands for.
#[derive(Debug, Clone)]
pub enum CatalogObject {
    /// A table.
    Table(Arc<CatalogTable>),
    /// A view.
    View(Arc<View>),
}

type Database = BTreeMap<String, CatalogObject>;

/// All catalogs of a session, and which one it uses.
#[derive(Debug, Clone)]
pub struct Catalogs {
    catalogs: BTreeMap<String, BTreeMap<String, Database>>,
    catalog: String,
    database: String,
}

impl Default for Catalogs {
    fn default() -> Self {
        let databases = [(DEFAULT_DATABASE.to_string(), Database::new())].into();
        Catalogs {
            catalogs: [(DEFAULT_CATALOG.to_string(), databases)].into(),
            catalog: DEFAULT_CATALOG.into(),
            database: DEFAULT_DATABASE.into(),
        }
    }
}

impl Catalogs {
    /// The current catalog.
    pub fn current_catalog(&self) -> &str {
        &self.catalog
    }

    /// The current database.
    pub fn current_database(&self) -> &str {
        &self.database
    }

    /// The full path of a name of one to three parts.
    ///
    /// # Errors
    /// More than three parts.
    pub fn path(&self, parts: &[String]) -> Result<ObjectPath> {
        let (catalog, database, name) = match parts {
            [name] => (self.catalog.clone(), self.database.clone(), name.clone()),
            [database, name] => (self.catalog.clone(), database.clone(), name.clone()),
            [catalog, database, name] => (catalog.clone(), database.clone(), name.clone()),
            _ => return Err(Error::new(&codes::BAD_NAME, &[("name", &parts.join("."))])),
        };
        Ok(ObjectPath { catalog, database, name })
    }

    /// The object of this path, if there is one.
    pub fn get(&self, path: &ObjectPath) -> Option<&CatalogObject> {
        self.catalogs.get(&path.catalog)?.get(&path.database)?.get(&path.name)
    }

    /// The object of this path.
    ///
    /// # Errors
    /// There is none: the error names the nearest ones.
    pub fn object(&self, path: &ObjectPath) -> Result<&CatalogObject> {
        self.get(path).ok_or_else(|| self.not_found(path))
    }

    /// The table of this path.
    ///
    /// # Errors
    /// There is none, or it is a view.
    pub fn table(&self, path: &ObjectPath) -> Result<&Arc<CatalogTable>> {
        match self.object(path)? {
            CatalogObject::Table(table) => Ok(table),
            CatalogObject::View(_) => {
                Err(Error::new(&codes::NOT_A_TABLE, &[("name", &path.name), ("kind", &"a view"), ("wanted", &"table")]))
            }
        }
    }

    fn not_found(&self, path: &ObjectPath) -> Error {
        let here: Vec<&str> = self
            .catalogs
            .get(&path.catalog)
            .and_then(|databases| databases.get(&path.database))
            .map(|database| database.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let near = nearest(&path.name, here.iter().copied());
        if here.is_empty() {
            return Error::new(
                &codes::NO_TABLES,
                &[("name", &path.name), ("database", &format!("{}.{}", path.catalog, path.database))],
            );
        }
        let (code, shown) =
            if near.is_empty() { (&codes::UNKNOWN_TABLE, here) } else { (&codes::UNKNOWN_TABLE_NEAR, near) };
        Error::new(code, &[("name", &path.name), ("names", &shown.join(", "))])
    }

    /// Adds an object, replacing one of the same name.
    ///
    /// # Errors
    /// Its catalog or database does not exist.
    pub fn put(&mut self, path: &ObjectPath, object: CatalogObject) -> Result<()> {
        self.database_mut(&path.catalog, &path.database)?.insert(path.name.clone(), object);
        Ok(())
    }

    /// Removes an object; `None` if there was none.
    pub fn remove(&mut self, path: &ObjectPath) -> Option<CatalogObject> {
        self.catalogs.get_mut(&path.catalog)?.get_mut(&path.database)?.remove(&path.name)
    }

    fn database_mut(&mut self, catalog: &str, database: &str) -> Result<&mut Database> {
        let known: Vec<String> = self.databases(catalog);
        self.catalogs
            .get_mut(catalog)
            .ok_or_else(|| unknown_space("catalog", catalog))?
            .get_mut(database)
            .ok_or_else(|| unknown_space("database", database).with("known", known.join(", ")))
    }

    /// The names of all catalogs.
    pub fn catalogs(&self) -> Vec<String> {
        self.catalogs.keys().cloned().collect()
    }

    /// The names of the databases of a catalog; empty if there is no such catalog.
    pub fn databases(&self, catalog: &str) -> Vec<String> {
        self.catalogs.get(catalog).map(|databases| databases.keys().cloned().collect()).unwrap_or_default()
    }

    /// Names and objects of a database, by name.
    pub fn objects(&self, catalog: &str, database: &str) -> Vec<(&str, &CatalogObject)> {
        self.catalogs
            .get(catalog)
            .and_then(|databases| databases.get(database))
            .map(|objects| objects.iter().map(|(name, object)| (name.as_str(), object)).collect())
            .unwrap_or_default()
    }

    /// Adds a database.
    ///
    /// # Errors
    /// It exists and `if_not_exists` is not given, or its catalog does not exist.
    pub fn create_database(&mut self, catalog: &str, database: &str, if_not_exists: bool) -> Result<()> {
        let databases = self.catalogs.get_mut(catalog).ok_or_else(|| unknown_space("catalog", catalog))?;
        if databases.contains_key(database) {
            if if_not_exists {
                return Ok(());
            }
            return Err(Error::new(&codes::ALREADY_EXISTS, &[("kind", &"database"), ("name", &database)]));
        }
        databases.insert(database.into(), Database::new());
        Ok(())
    }

    /// Removes a database.
    ///
    /// # Errors
    /// It is missing, in use, or not empty without `cascade`.
    pub fn drop_database(&mut self, catalog: &str, database: &str, if_exists: bool, cascade: bool) -> Result<()> {
        let databases = self.catalogs.get_mut(catalog).ok_or_else(|| unknown_space("catalog", catalog))?;
        match databases.get(database) {
            None if if_exists => Ok(()),
            None => Err(unknown_space("database", database)),
            Some(_) if catalog == self.catalog && database == self.database => {
                Err(Error::new(&codes::DATABASE_IN_USE, &[("name", &database)]))
            }
            Some(objects) if !objects.is_empty() && !cascade => {
                Err(Error::new(&codes::DATABASE_NOT_EMPTY, &[("name", &database), ("count", &objects.len())]))
            }
            Some(_) => {
                databases.remove(database);
                Ok(())
            }
        }
    }

    /// USE CATALOG.
    ///
    /// # Errors
    /// It does not exist.
    pub fn use_catalog(&mut self, catalog: &str) -> Result<()> {
        let databases = self.catalogs.get(catalog).ok_or_else(|| unknown_space("catalog", catalog))?;
        let database = if databases.contains_key(DEFAULT_DATABASE) {
            DEFAULT_DATABASE.to_string()
        } else {
            databases.keys().next().cloned().unwrap_or_default()
        };
        self.catalog = catalog.into();
        self.database = database;
        Ok(())
    }

    /// USE, with the name of a database or of a catalog and its database.
    ///
    /// # Errors
    /// It does not exist.
    pub fn use_database(&mut self, parts: &[String]) -> Result<()> {
        let (catalog, database) = match parts {
            [database] => (self.catalog.clone(), database.clone()),
            [catalog, database] => (catalog.clone(), database.clone()),
            _ => return Err(Error::new(&codes::BAD_NAME, &[("name", &parts.join("."))])),
        };
        self.database_mut(&catalog, &database)?;
        self.catalog = catalog;
        self.database = database;
        Ok(())
    }

    /// The same catalogs seen from another current database: where a view was made.
    pub fn at_home(&self, home: &(String, String)) -> Catalogs {
        Catalogs { catalogs: self.catalogs.clone(), catalog: home.0.clone(), database: home.1.clone() }
    }
}

fn unknown_space(kind: &str, name: &str) -> Error {
    Error::new(&codes::UNKNOWN_SPACE, &[("kind", &kind), ("name", &name)])
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
