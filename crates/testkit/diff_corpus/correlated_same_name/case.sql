CREATE TABLE t0 (c0 BIGINT NOT NULL, c1 STRING, PRIMARY KEY (c0) NOT ENFORCED) WITH ('connector' = 'oracle', 'changelog-mode' = 'upsert');
CREATE TABLE t1 (c0 BIGINT, c1 BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT r1.c0 AS c0, (SELECT COUNT(*) AS c0 FROM t1 AS r3 WHERE (r3.c0 = r1.c0)) AS c1 FROM t0 AS r1 WHERE NOT EXISTS (SELECT 1 AS c0 FROM t1 AS r2 WHERE (r2.c1 = r1.c0));
