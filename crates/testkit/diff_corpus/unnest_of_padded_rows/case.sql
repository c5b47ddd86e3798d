CREATE TABLE t2 (c0 BIGINT, c1 BIGINT NOT NULL) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE t3 (c0 BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT r3.c0 AS c0, r4.c0 AS c1 FROM t2 AS r2 FULL JOIN t3 AS r3 ON (r2.c0 = r3.c0) CROSS JOIN UNNEST(ARRAY[r2.c1, r2.c1]) AS r4 (c0) WHERE r4.c0 IS NOT NULL;
