CREATE TABLE a (k INT, x INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='oracle');
CREATE TABLE b (k INT, y INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='oracle');
CREATE VIEW v AS SELECT k, y, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM b) WHERE n = 1;
SELECT a.k, x, y FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '10' SECOND;
SELECT a.k, x, y FROM a LEFT JOIN v FOR SYSTEM_TIME AS OF a.ts ON a.k = v.k;
SELECT a.k, x, y FROM a JOIN v FOR SYSTEM_TIME AS OF a.ts ON a.k = v.k AND a.x = v.y;
CREATE VIEW j AS SELECT a.k, x, y, a.ts AS ats FROM a JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '10' SECOND;
SELECT k, x, y, CURRENT_WATERMARK(ats) AS w FROM j;
