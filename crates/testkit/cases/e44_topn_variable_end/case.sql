CREATE TABLE t (cat STRING, id INT, v INT, n BIGINT) WITH ('connector'='oracle');
SELECT cat, id, v, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cat ORDER BY v DESC) AS rn FROM t) WHERE rn <= n;
SELECT cat, id, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cat ORDER BY v DESC) AS rn FROM t) WHERE rn <= n;
SELECT cat, id, v, n, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cat, n ORDER BY v DESC) AS rn FROM t) WHERE rn <= n;
SELECT cat, id, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cat, n ORDER BY v DESC) AS rn FROM t) WHERE rn < n;
