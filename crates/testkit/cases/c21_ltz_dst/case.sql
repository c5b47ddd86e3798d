-- rowtime TIMESTAMP_LTZ in a zone with daylight saving: windows follow the clock on the wall on both days of change
SET 'table.local-time-zone' = 'America/New_York';
CREATE TABLE t (v INT, ts BIGINT, rt AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR rt AS rt - INTERVAL '1' SECOND) WITH ('connector'='oracle');
SELECT window_start, window_end, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(rt), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
SELECT window_start, window_end, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(rt), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
SELECT window_start, window_end, COUNT(*) AS c, SUM(v) AS s FROM TABLE(HOP(TABLE t, DESCRIPTOR(rt), INTERVAL '1' HOUR, INTERVAL '2' HOUR)) GROUP BY window_start, window_end;
SELECT window_start, window_end, COUNT(*) AS c, SUM(v) AS s FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(rt), INTERVAL '12' HOUR, INTERVAL '1' DAY)) GROUP BY window_start, window_end;
SELECT TUMBLE_START(rt, INTERVAL '1' HOUR) AS s, TUMBLE_END(rt, INTERVAL '1' HOUR) AS e, COUNT(*) AS c FROM t GROUP BY TUMBLE(rt, INTERVAL '1' HOUR);
SELECT rt, CURRENT_WATERMARK(rt) AS wm, v FROM t;
