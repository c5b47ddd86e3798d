CREATE TABLE t (id BIGINT, k BIGINT, v BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT r1.id FROM t AS r1 WHERE EXISTS (SELECT 1 FROM (SELECT r3.id, ROW_NUMBER() OVER (ORDER BY r3.v) AS rn FROM t AS r3 WHERE r3.k = r1.k) AS r5 WHERE rn = 1 AND r5.id = r1.id);
