CREATE TABLE a (k INT, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '30' SECOND) WITH ('connector'='oracle');
CREATE TABLE b (k INT, y INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '30' SECOND) WITH ('connector'='oracle');
SELECT a.k, x, y FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts + INTERVAL '10' SECOND;
SELECT a.k, x, y, b.k FROM a FULL JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts + INTERVAL '10' SECOND AND x < y;
CREATE VIEW j AS SELECT a.k, x, y, a.ts AS ats, b.ts AS bts FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts - INTERVAL '5' SECOND AND a.ts + INTERVAL '10' SECOND;
SELECT window_start, COUNT(*) AS c, COUNT(y) AS cy FROM TABLE(TUMBLE(TABLE j, DESCRIPTOR(ats), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
