CREATE TABLE t (c0 BIGINT, c1 BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT r1.c1, (SELECT r4.c0 FROM t AS r4 WHERE r4.c0 = r1.c1 ORDER BY c0 LIMIT 1) AS c0 FROM t AS r1;
