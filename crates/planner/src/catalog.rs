//! The catalog: catalogs, databases, tables, views and functions of a session, in memory.
//!
//! A temporary object hides a permanent one of the same path, as in Flink.

use crate::binder::views::BoundOnce;
use crate::codes;
use crate::statement_codes;
use crate::user_functions::UserFunctions;
use base::connector::{ConnectorFactory, TableDescription};
use base::nearest::nearest;
use base::{Error, ObjectPath, Options, Result, RowType, TableDefinition};
use datafusion_expr::Expr;
use std::collections::BTreeMap;
use std::sync::Arc;
use syntax::statement;

/// The catalog that a session starts with.
pub const DEFAULT_CATALOG: &str = "default_catalog";
/// The database that a session starts with.
pub const DEFAULT_DATABASE: &str = "default_database";

/// A table, checked and ready to be planned.
#[derive(Debug, Clone)]
pub struct CatalogTable {
    /// What CREATE TABLE said; types are resolved, primary key columns are NOT NULL.
    pub definition: TableDefinition,
    /// The same as a tree, for LIKE and ALTER TABLE.
    pub declared: Arc<statement::TableDefinition>,
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
    /// Why it can be neither read nor written: it has no connector yet.
    pub incomplete: Option<Error>,
    /// Whether an OPTIONS hint has changed its options for one query.
    pub hinted: bool,
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
    /// Tells it from other tables of a job, and from itself with other options.
    pub fn identity(&self) -> String {
        match self.hinted {
            true => format!("{} {:?}", self.definition.path, self.definition.options),
            false => self.definition.path.to_string(),
        }
    }

    /// The positions of the primary key columns, in the order of the key.
    pub fn primary_key(&self) -> Vec<usize> {
        self.definition.primary_key.iter().filter_map(|name| self.row.index_of(name)).collect()
    }

    /// The positions of the columns that a sink writes.
    pub fn persisted(&self) -> Vec<usize> {
        self.definition.persisted().filter_map(|column| self.row.index_of(&column.name)).collect()
    }
}

/// A view: its query, whose meaning follows from what it reads at the time it is used.
#[derive(Debug, Clone)]
pub struct View {
    /// Full name.
    pub path: ObjectPath,
    /// The names of its columns, if the view gives them.
    pub columns: Vec<String>,
    /// COMMENT of these columns.
    pub column_comments: Vec<Option<String>>,
    /// The query; its stars stand for the columns that there were when the view was made.
    pub query: Box<syntax::ast::Query>,
    /// The query as written.
    pub sql: String,
    /// COMMENT.
    pub comment: Option<String>,
    /// Whether it was made by CREATE TEMPORARY VIEW.
    pub temporary: bool,
    /// The catalog and database that names of the query refer to.
    pub home: (String, String),
    /// What binding it gave.
    pub bound: BoundOnce,
}

impl View {
    /// An error of its query, told as one of the view if what the query reads is gone.
    pub fn broken(&self, error: Error) -> Error {
        use crate::binder::codes as names;
        let gone = [
            &codes::UNKNOWN_TABLE,
            &codes::UNKNOWN_TABLE_NEAR,
            &codes::NO_TABLES,
            &codes::UNKNOWN_COLUMN,
            &codes::UNKNOWN_COLUMN_LIST,
            &names::MISSING_TABLE,
            &names::MISSING_TABLE_NEAR,
            &names::MISSING_FIRST_TABLE,
            &names::UNKNOWN_CATALOG,
            &names::UNKNOWN_DATABASE,
            &names::UNKNOWN_COLUMN_EXPRESSION,
        ];
        match gone.iter().any(|code| code.code == error.code()) {
            true => Error::new(&statement_codes::VIEW_BROKEN, &[("name", &self.path.name)]).and([error]),
            false => error,
        }
    }
}

/// What a name in a database stands for.
#[derive(Debug, Clone)]
pub enum CatalogObject {
    /// A table.
    Table(Arc<CatalogTable>),
    /// A view.
    View(Arc<View>),
}

impl CatalogObject {
    /// What it is, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            CatalogObject::Table(_) => "table",
            CatalogObject::View(_) => "view",
        }
    }

    /// Whether the other one is this very object, not only one of its name.
    pub fn is_same(&self, other: &CatalogObject) -> bool {
        match (self, other) {
            (CatalogObject::Table(one), CatalogObject::Table(other)) => Arc::ptr_eq(one, other),
            (CatalogObject::View(one), CatalogObject::View(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    fn is_temporary(&self) -> bool {
        match self {
            CatalogObject::Table(table) => table.temporary,
            CatalogObject::View(view) => view.temporary,
        }
    }
}

/// COMMENT and options of a catalog or database.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Properties {
    /// COMMENT.
    pub comment: Option<String>,
    /// The WITH clause.
    pub options: Options,
}

#[derive(Debug, Clone, Default)]
struct Database {
    properties: Properties,
    objects: BTreeMap<String, CatalogObject>,
}

#[derive(Debug, Clone, Default)]
struct Catalog {
    properties: Properties,
    databases: BTreeMap<String, Database>,
}

/// The type of catalogs that live in memory, the only one of this version.
pub const IN_MEMORY: &str = "generic_in_memory";

/// All catalogs of a session, and which one it uses.
#[derive(Debug, Clone)]
pub struct Catalogs {
    catalogs: BTreeMap<String, Catalog>,
    temporary: BTreeMap<ObjectPath, CatalogObject>,
    /// The functions that statements have made.
    pub functions: UserFunctions,
    catalog: String,
    database: String,
}

impl Default for Catalogs {
    fn default() -> Self {
        let mut catalogs = Catalogs {
            catalogs: BTreeMap::new(),
            temporary: BTreeMap::new(),
            functions: UserFunctions::default(),
            catalog: DEFAULT_CATALOG.into(),
            database: DEFAULT_DATABASE.into(),
        };
        let options = [("type".to_string(), IN_MEMORY.to_string())].into_iter().collect();
        catalogs.insert_catalog(DEFAULT_CATALOG, Properties { comment: None, options }, DEFAULT_DATABASE);
        catalogs
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

    /// The object of this path, if there is one; a temporary one first.
    pub fn get(&self, path: &ObjectPath) -> Option<&CatalogObject> {
        self.temporary.get(path).or_else(|| self.permanent(path))
    }

    /// The object that CREATE of such an object would meet.
    pub fn existing(&self, path: &ObjectPath, temporary: bool) -> Option<&CatalogObject> {
        if temporary { self.temporary.get(path) } else { self.permanent(path) }
    }

    fn permanent(&self, path: &ObjectPath) -> Option<&CatalogObject> {
        self.catalogs.get(&path.catalog)?.databases.get(&path.database)?.objects.get(&path.name)
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

    /// The error that there is nothing of this path, with the nearest names.
    pub fn not_found(&self, path: &ObjectPath) -> Error {
        let here: Vec<&str> = self.objects(&path.catalog, &path.database).into_iter().map(|(name, _)| name).collect();
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
        let known = self.databases(&path.catalog);
        if !known.is_empty() && !known.contains(&path.database) {
            let arguments: [(&'static str, &dyn std::fmt::Display); 4] = [
                ("name", path),
                ("catalog", &path.catalog),
                ("database", &path.database),
                ("known", &known.join(", ")),
            ];
            return Err(Error::new(&crate::binder::codes::MISSING_DATABASE, &arguments));
        }
        let database = self.database_mut(&path.catalog, &path.database)?;
        if object.is_temporary() {
            self.temporary.insert(path.clone(), object);
        } else {
            database.objects.insert(path.name.clone(), object);
        }
        Ok(())
    }

    /// Removes the object that [`Self::get`] gives; `None` if there was none.
    pub fn remove(&mut self, path: &ObjectPath) -> Option<CatalogObject> {
        match self.temporary.remove(path) {
            Some(object) => Some(object),
            None => self.catalogs.get_mut(&path.catalog)?.databases.get_mut(&path.database)?.objects.remove(&path.name),
        }
    }

    fn catalog_mut(&mut self, catalog: &str) -> Result<&mut Catalog> {
        let known = self.catalogs();
        self.catalogs.get_mut(catalog).ok_or_else(|| unknown_space("catalog", catalog, &known))
    }

    fn database_mut(&mut self, catalog: &str, database: &str) -> Result<&mut Database> {
        let known = self.databases(catalog);
        let databases = &mut self.catalog_mut(catalog)?.databases;
        databases.get_mut(database).ok_or_else(|| unknown_space("database", database, &known))
    }

    /// The names of all catalogs.
    pub fn catalogs(&self) -> Vec<String> {
        self.catalogs.keys().cloned().collect()
    }

    /// The names of the databases of a catalog; empty if there is no such catalog.
    pub fn databases(&self, catalog: &str) -> Vec<String> {
        self.catalogs.get(catalog).map(|catalog| catalog.databases.keys().cloned().collect()).unwrap_or_default()
    }

    /// Names and objects of a database, by name; what is hidden by a temporary object is left out.
    pub fn objects(&self, catalog: &str, database: &str) -> Vec<(&str, &CatalogObject)> {
        let permanent = self.catalogs.get(catalog).and_then(|catalog| catalog.databases.get(database));
        let mut all: BTreeMap<&str, &CatalogObject> = permanent
            .into_iter()
            .flat_map(|database| &database.objects)
            .map(|(name, one)| (name.as_str(), one))
            .collect();
        all.extend(
            self.temporary
                .iter()
                .filter(|(path, _)| path.catalog == catalog && path.database == database)
                .map(|(path, object)| (path.name.as_str(), object)),
        );
        all.into_iter().collect()
    }

    /// COMMENT and options of a catalog.
    ///
    /// # Errors
    /// It does not exist.
    pub fn catalog_properties(&mut self, catalog: &str) -> Result<&mut Properties> {
        self.catalog_mut(catalog).map(|catalog| &mut catalog.properties)
    }

    /// COMMENT and options of a database.
    ///
    /// # Errors
    /// It does not exist.
    pub fn database_properties(&mut self, catalog: &str, database: &str) -> Result<&mut Properties> {
        self.database_mut(catalog, database).map(|database| &mut database.properties)
    }

    /// What [`Self::catalog_properties`] gives, to read.
    ///
    /// # Errors
    /// It does not exist.
    pub fn catalog(&self, catalog: &str) -> Result<&Properties> {
        let found = self.catalogs.get(catalog).map(|catalog| &catalog.properties);
        found.ok_or_else(|| unknown_space("catalog", catalog, &self.catalogs()))
    }

    /// What [`Self::database_properties`] gives, to read.
    ///
    /// # Errors
    /// It does not exist.
    pub fn database(&self, catalog: &str, database: &str) -> Result<&Properties> {
        self.catalog(catalog)?;
        let databases = self.catalogs.get(catalog).map(|catalog| &catalog.databases);
        let found = databases.and_then(|databases| databases.get(database)).map(|database| &database.properties);
        found.ok_or_else(|| unknown_space("database", database, &self.databases(catalog)))
    }

    fn insert_catalog(&mut self, name: &str, properties: Properties, database: &str) {
        let databases = [(database.to_string(), Database::default())].into();
        self.catalogs.insert(name.into(), Catalog { properties, databases });
    }

    /// Adds a catalog with one database.
    ///
    /// # Errors
    /// It exists and `if_not_exists` is not given.
    pub fn create_catalog(
        &mut self,
        name: &str,
        properties: Properties,
        database: &str,
        if_not_exists: bool,
    ) -> Result<()> {
        match self.catalogs.contains_key(name) {
            true if if_not_exists => Ok(()),
            true => Err(Error::new(&codes::ALREADY_EXISTS, &[("kind", &"catalog"), ("name", &name)])),
            false => {
                self.insert_catalog(name, properties, database);
                Ok(())
            }
        }
    }

    /// Removes a catalog and everything in it.
    ///
    /// # Errors
    /// It is missing or in use.
    pub fn drop_catalog(&mut self, name: &str, if_exists: bool) -> Result<()> {
        if !self.catalogs.contains_key(name) {
            return if if_exists { Ok(()) } else { Err(unknown_space("catalog", name, &self.catalogs())) };
        }
        if name == self.catalog {
            return Err(Error::new(&statement_codes::CATALOG_IN_USE, &[("name", &name)]));
        }
        self.catalogs.remove(name);
        self.temporary.retain(|path, _| path.catalog != name);
        self.functions.forget(name, None);
        Ok(())
    }

    /// Adds a database without comment and options.
    ///
    /// # Errors
    /// It exists and `if_not_exists` is not given, or its catalog does not exist.
    pub fn create_database(&mut self, catalog: &str, database: &str, if_not_exists: bool) -> Result<()> {
        self.add_database(catalog, database, Properties::default(), if_not_exists)
    }

    /// Adds a database.
    ///
    /// # Errors
    /// It exists and `if_not_exists` is not given, or its catalog does not exist.
    pub fn add_database(
        &mut self,
        catalog: &str,
        database: &str,
        properties: Properties,
        if_not_exists: bool,
    ) -> Result<()> {
        let databases = &mut self.catalog_mut(catalog)?.databases;
        match databases.contains_key(database) {
            true if if_not_exists => Ok(()),
            true => Err(Error::new(&codes::ALREADY_EXISTS, &[("kind", &"database"), ("name", &database)])),
            false => {
                databases.insert(database.into(), Database { properties, ..Database::default() });
                Ok(())
            }
        }
    }

    /// Removes a database.
    ///
    /// # Errors
    /// It is missing, in use, or not empty without `cascade`.
    pub fn drop_database(&mut self, catalog: &str, database: &str, if_exists: bool, cascade: bool) -> Result<()> {
        if self.database(catalog, database).is_err() {
            return if if_exists { Ok(()) } else { self.database(catalog, database).map(|_| ()) };
        }
        if catalog == self.catalog && database == self.database {
            return Err(Error::new(&codes::DATABASE_IN_USE, &[("name", &database)]));
        }
        let count = self.objects(catalog, database).len();
        if count > 0 && !cascade {
            return Err(Error::new(&codes::DATABASE_NOT_EMPTY, &[("name", &database), ("count", &count)]));
        }
        self.catalog_mut(catalog)?.databases.remove(database);
        self.temporary.retain(|path, _| path.catalog != catalog || path.database != database);
        self.functions.forget(catalog, Some(database));
        Ok(())
    }

    /// USE CATALOG.
    ///
    /// # Errors
    /// It does not exist.
    pub fn use_catalog(&mut self, catalog: &str) -> Result<()> {
        let wanted =
            self.catalog(catalog)?.options.get(DEFAULT_DATABASE_OPTION).unwrap_or(DEFAULT_DATABASE).to_string();
        let databases = self.databases(catalog);
        let database = match databases.contains(&wanted) {
            true => wanted,
            false => databases.into_iter().next().unwrap_or_default(),
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
        Catalogs { catalog: home.0.clone(), database: home.1.clone(), ..self.clone() }
    }
}

/// The option of a catalog that names the database with which it starts.
pub const DEFAULT_DATABASE_OPTION: &str = "default-database";

fn unknown_space(kind: &str, name: &str, known: &[String]) -> Error {
    match nearest(name, known.iter().map(String::as_str)).first() {
        Some(near) => {
            Error::new(&statement_codes::UNKNOWN_SPACE_NEAR, &[("kind", &kind), ("name", &name), ("nearest", near)])
        }
        None => {
            let upper = kind.to_uppercase();
            Error::new(&codes::UNKNOWN_SPACE, &[("kind", &kind), ("upper", &upper), ("name", &name)])
        }
    }
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
