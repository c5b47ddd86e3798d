CREATE TABLE t0 (c0 STRING NOT NULL, c1 BIGINT, PRIMARY KEY (c0) NOT ENFORCED) WITH ('connector' = 'oracle', 'changelog-mode' = 'upsert');
CREATE TABLE t1 (c0 BIGINT NOT NULL, c1 DECIMAL(10, 2), PRIMARY KEY (c0) NOT ENFORCED) WITH ('connector' = 'oracle', 'changelog-mode' = 'upsert');
SELECT (r1.c0 - r1.c0) AS c0 FROM (SELECT CAST(NULL AS DECIMAL(10, 2)) AS c0 FROM t1 AS r2) AS r1 CROSS JOIN (SELECT r5.c0 AS c0 FROM t0 AS r5 RIGHT JOIN t1 AS r6 ON (r5.c1 = r6.c0)) AS r3;
