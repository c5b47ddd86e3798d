CREATE TABLE t0 (c0 STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE t1 (c0 STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT c0 FROM t0 WHERE CAST(NULL AS STRING) NOT IN (SELECT c0 FROM t1) OR 'z' NOT IN (SELECT c0 FROM t1);
