CREATE TABLE t (c0 BIGINT, c1 STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT a.c1, q.c1 AS other, q.c0 AS same FROM t AS a JOIN LATERAL (SELECT d.c0, d.c1 FROM (SELECT b.c0, b.c1 FROM t AS b WHERE b.c0 = a.c0 UNION ALL SELECT b.c0, 'u' FROM t AS b WHERE b.c0 = a.c0) AS d WHERE d.c1 <> a.c1) AS q ON TRUE;
