//! Tests of the catalogs.

use super::*;

fn path(name: &str) -> ObjectPath {
    Catalogs::default().path(&[name.to_string()]).unwrap()
}

#[test]
fn names_are_completed() {
    let catalogs = Catalogs::default();
    let full = catalogs.path(&["db".into(), "t".into()]).unwrap();
    assert_eq!(full.to_string(), "`default_catalog`.`db`.`t`");
    assert_eq!(catalogs.path(&["a".into(), "b".into(), "c".into(), "d".into()]).unwrap_err().code(), "HW-P001");
}

#[test]
fn a_missing_table_names_what_there_is() {
    let mut catalogs = Catalogs::default();
    assert_eq!(catalogs.object(&path("t")).unwrap_err().code(), "HW-P004");
    let view = View {
        path: path("orders"),
        columns: Vec::new(),
        column_comments: Vec::new(),
        query: match syntax::parse_statement("SELECT 1").unwrap() {
            syntax::Statement::Query(query) => query,
            other => panic!("{other:?}"),
        },
        sql: "SELECT 1".into(),
        comment: None,
        temporary: false,
        home: (DEFAULT_CATALOG.into(), DEFAULT_DATABASE.into()),
        bound: Default::default(),
    };
    catalogs.put(&path("orders"), CatalogObject::View(Arc::new(view))).unwrap();
    let error = catalogs.object(&path("order")).unwrap_err();
    assert_eq!(error.code(), "HW-P003");
    assert!(error.to_string().contains("did you mean orders?"), "{error}");
    assert_eq!(catalogs.table(&path("orders")).unwrap_err().code(), "HW-P008");
}

#[test]
fn databases_are_made_used_and_dropped() {
    let mut catalogs = Catalogs::default();
    catalogs.create_database(DEFAULT_CATALOG, "db", false).unwrap();
    assert_eq!(catalogs.create_database(DEFAULT_CATALOG, "db", false).unwrap_err().code(), "HW-P010");
    catalogs.create_database(DEFAULT_CATALOG, "db", true).unwrap();
    catalogs.use_database(&["db".into()]).unwrap();
    assert_eq!(catalogs.current_database(), "db");
    assert_eq!(catalogs.drop_database(DEFAULT_CATALOG, "db", false, false).unwrap_err().code(), "HW-P011");
    catalogs.use_database(&[DEFAULT_CATALOG.into(), DEFAULT_DATABASE.into()]).unwrap();
    catalogs.drop_database(DEFAULT_CATALOG, "db", false, false).unwrap();
    assert_eq!(catalogs.use_database(&["db".into()]).unwrap_err().code(), "HW-P009");
}
