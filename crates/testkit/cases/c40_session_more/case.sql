CREATE TABLE t (k STRING, v INT, u STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='oracle');
SELECT k, window_start, window_end, COUNT(DISTINCT u) AS du, SUM(v) AS s, MAX(v) AS mx, COUNT(*) FILTER (WHERE v > 1) AS c FROM TABLE(SESSION(DATA => TABLE t PARTITION BY k, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end;
SELECT k, u, window_start, window_end, SUM(v) AS s FROM TABLE(SESSION(TABLE t PARTITION BY (k, u), DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, u, window_start, window_end;
SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, k HAVING SUM(v) > 4;
SELECT window_start, window_end, k, u, v FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND));
SELECT k, window_start, SUM(v) AS s FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start;
SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE(SESSION(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end;
SELECT window_start, window_end, SUM(v) AS s FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT k, SESSION_START(ts, INTERVAL '5' SECOND), SESSION_END(ts, INTERVAL '5' SECOND), SUM(v) FROM t WHERE v < 100 GROUP BY k, SESSION(ts, INTERVAL '5' SECOND);
