CREATE TABLE t (id BIGINT, x BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT id FROM t WHERE x NOT IN (1, 2) OR x NOT IN (3, 4);
