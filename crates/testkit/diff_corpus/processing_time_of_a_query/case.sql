CREATE TABLE t (k BIGINT, v STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'I');
SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY p DESC) AS rn FROM (SELECT *, PROCTIME() AS p FROM t)) WHERE rn = 1;
