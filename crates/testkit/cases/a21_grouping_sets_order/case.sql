CREATE TABLE t (a STRING, b STRING, c STRING, d STRING) WITH ('connector'='oracle');
SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY CUBE (a, b, c);
SELECT a, b, c, d, COUNT(*) AS n FROM t GROUP BY CUBE (a, b, c, d);
SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((b, c), (a), (c), (a, c));
SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((c), (b), (a));
SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((a), (b, c));
SELECT a, b, c, COUNT(*) AS n FROM t GROUP BY CUBE (a, b), c;
SELECT a, b, c, d, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b), ROLLUP (c, d);
SELECT c, a, COUNT(*) AS n, GROUPING_ID(a, c) AS g, GROUP_ID() AS gi FROM t GROUP BY CUBE (a, c);
