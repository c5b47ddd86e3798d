CREATE TABLE t0 (c0 BIGINT, c1 STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE t1 (c0 BIGINT, c1 STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT r1.c0 AS c0, r3.c0 AS c1 FROM (SELECT r2.c0 AS c0, COUNT(*) AS c1 FROM t0 AS r2 GROUP BY r2.c0) AS r1 FULL JOIN (SELECT r4.c0 AS c0, COUNT(*) AS c1 FROM t1 AS r4 GROUP BY r4.c0) AS r3 ON (r1.c0 = r3.c0);
