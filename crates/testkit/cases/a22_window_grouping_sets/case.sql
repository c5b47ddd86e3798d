CREATE TABLE b (item STRING, sup STRING, price INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector'='oracle');
SELECT window_start, window_end, sup, SUM(price) AS p FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, GROUPING SETS ((sup), ());
SELECT window_start, window_end, item, sup, SUM(price) AS p, GROUPING_ID(item, sup) AS g FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, CUBE (item, sup);
SELECT window_start, window_end, sup, COUNT(*) AS n FROM TABLE(HOP(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) WHERE price > 1 GROUP BY window_start, window_end, ROLLUP (sup);
SELECT window_start, sup, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY GROUPING SETS ((window_start, window_end), (sup));
