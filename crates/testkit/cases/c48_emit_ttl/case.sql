SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 s';
SET 'table.exec.state.ttl' = '20 s';
CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='oracle');
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS ws, SUM(v) AS s FROM t GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
SET 'table.exec.emit.early-fire.enabled' = 'true';
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS ws, SUM(v) AS s FROM t GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
