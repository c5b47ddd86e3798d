CREATE TABLE t (c0 BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT 5 AS c0 FROM (SELECT MIN(c0) AS m FROM t) AS r1;
