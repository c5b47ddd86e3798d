-- WATERMARK expressions: NULL moves nothing, other columns, falling values, conditions, computed columns
CREATE TABLE n (v INT, ts TIMESTAMP(3), w TIMESTAMP(3), WATERMARK FOR ts AS w) WITH ('connector'='oracle', 'table'='t');
CREATE TABLE c (v INT, ts TIMESTAMP(3), w TIMESTAMP(3), WATERMARK FOR ts AS CASE WHEN v > 2 THEN ts ELSE ts - INTERVAL '1' MINUTE END) WITH ('connector'='oracle', 'table'='t');
CREATE TABLE g (v INT, ts TIMESTAMP(3), w TIMESTAMP(3), r AS COALESCE(w, ts), WATERMARK FOR r AS r + INTERVAL '1' SECOND) WITH ('connector'='oracle', 'table'='t');
CREATE TABLE p (v INT, ts TIMESTAMP(3), w TIMESTAMP(3), d AS CAST(DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:00') AS TIMESTAMP(3)), WATERMARK FOR d AS d) WITH ('connector'='oracle', 'table'='t');
SELECT v, ts, CURRENT_WATERMARK(ts) AS wm FROM n;
SELECT v, ts, CURRENT_WATERMARK(ts) AS wm FROM c;
SELECT v, r, CURRENT_WATERMARK(r) AS wm FROM g;
SELECT v, d, CURRENT_WATERMARK(d) AS wm FROM p;
SELECT window_start, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE n, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE c, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE g, DESCRIPTOR(r), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) AS c, SUM(v) AS s FROM TABLE(TUMBLE(TABLE p, DESCRIPTOR(d), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
