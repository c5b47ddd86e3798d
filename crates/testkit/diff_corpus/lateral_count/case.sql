CREATE TABLE t (k BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE f (k BIGINT, d BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT t.k, q.n, q.s, q.more FROM t, LATERAL (SELECT COUNT(*) AS n, SUM(d) AS s, COUNT(*) + 1 AS more FROM f WHERE f.k = t.k) AS q;
