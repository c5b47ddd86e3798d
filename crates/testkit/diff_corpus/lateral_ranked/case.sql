CREATE TABLE t (c0 BIGINT, c1 BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT r1.c0 AS c0, r1.c1 AS c1, r6.c0 AS c2, r6.c1 AS c3 FROM t AS r1 CROSS JOIN LATERAL (SELECT r5.c0, r5.c1 FROM (SELECT r3.c0, r3.c1, ROW_NUMBER() OVER (ORDER BY r3.c1 DESC) AS rn FROM t AS r3 WHERE r3.c0 = r1.c0) AS r5 WHERE rn = 1) AS r6;
