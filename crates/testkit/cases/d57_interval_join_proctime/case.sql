CREATE TABLE a (k INT, x INT, pt AS PROCTIME()) WITH ('connector'='oracle');
CREATE TABLE b (k INT, y INT, pt AS PROCTIME()) WITH ('connector'='oracle');
SELECT a.k, x, y FROM a JOIN b ON a.k = b.k AND a.pt BETWEEN b.pt - INTERVAL '1' HOUR AND b.pt + INTERVAL '1' HOUR;
SELECT a.k, x, y FROM a LEFT JOIN b ON a.k = b.k AND a.pt BETWEEN b.pt - INTERVAL '1' HOUR AND b.pt + INTERVAL '1' HOUR;
