CREATE TABLE t (k STRING, v INT, x BIGINT) WITH ('connector'='oracle');
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'table.optimizer.distinct-agg.split.bucket-num' = '4';
SELECT k, COUNT(DISTINCT x) AS dx, COUNT(*) AS c, SUM(v) AS s, MAX(v) AS m FROM t GROUP BY k;
SELECT COUNT(DISTINCT x) AS dx FROM t;
SELECT k, COUNT(DISTINCT x) FILTER (WHERE v > 1) AS dx, SUM(DISTINCT x) AS s FROM t GROUP BY k;
