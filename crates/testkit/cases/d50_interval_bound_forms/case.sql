CREATE TABLE a (k INT, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='oracle');
CREATE TABLE b (k INT, y INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' SECOND) WITH ('connector'='oracle');
SELECT a.k, x, y FROM a JOIN b ON a.k = b.k AND a.ts = b.ts;
SELECT a.k, x, y FROM a JOIN b ON a.k = b.k AND a.ts > b.ts - INTERVAL '10' SECOND AND a.ts < b.ts + INTERVAL '5' SECOND;
SELECT a.k, x, y FROM a JOIN b ON a.k = b.k WHERE a.ts - INTERVAL '10' SECOND <= b.ts AND b.ts <= a.ts AND x < y;
SELECT a.k, x, y FROM a LEFT JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '10' SECOND AND b.ts + INTERVAL '10' SECOND AND x <> y AND x > 1;
SELECT a.k, x, y FROM a LEFT JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts + INTERVAL '10' SECOND AND b.ts - INTERVAL '10' SECOND;
SELECT a.k, x, y FROM a JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts + INTERVAL '5' SECOND AND b.ts + INTERVAL '20' SECOND;
SELECT k, x FROM a WHERE EXISTS (SELECT * FROM b WHERE a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '10' SECOND AND b.ts);
