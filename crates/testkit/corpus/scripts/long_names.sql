CREATE TABLE t (r ROW<a ROW<b ROW<c ROW<d ROW<e INT>>>>>) WITH ('connector' = 'oracle');
SELECT t.r.a.b.c.d.e FROM t;
SELECT r.a.b.c.d.e FROM t;
SELECT default_catalog.default_database.t.r.a.b.c.d.e FROM t;
SELECT v.v.v.v.v.v;
SELECT v.v.v.v.v.v FROM t;
