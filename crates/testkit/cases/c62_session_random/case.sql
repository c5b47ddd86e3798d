CREATE TABLE t (id INT, k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector'='oracle','changelog-mode'='all');
SELECT k, window_start, window_end, COUNT(*) AS n, SUM(v) AS s, MIN(v) AS mi, MAX(v) AS ma, COUNT(DISTINCT v) AS d FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY k, window_start, window_end;
SELECT window_start, window_end, COUNT(*) AS n, AVG(v) AS s FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY window_start, window_end;
SELECT k, SESSION_START(ts, INTERVAL '3' SECOND) AS s, SESSION_END(ts, INTERVAL '3' SECOND) AS e, COUNT(v) AS n, LISTAGG(CAST(v AS STRING)) AS l FROM t GROUP BY k, SESSION(ts, INTERVAL '3' SECOND);
