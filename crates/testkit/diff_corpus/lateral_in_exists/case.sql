CREATE TABLE t1 (c0 BIGINT, c1 STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE t2 (c0 BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT r1.c1 AS c0 FROM t1 AS r1 WHERE NOT EXISTS (SELECT 1 AS c0 FROM (SELECT r3.c0 AS c0 FROM t1 AS r3 CROSS JOIN LATERAL (SELECT r4.c0 AS c0 FROM t2 AS r4 WHERE r4.c0 = r3.c0) AS r5) AS r2 WHERE r2.c0 = r1.c0);
