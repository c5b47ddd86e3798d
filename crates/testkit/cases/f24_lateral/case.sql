CREATE TABLE l (id INT, v INT) WITH ('connector'='oracle');
CREATE TABLE r (id INT, v INT) WITH ('connector'='oracle');
SELECT l.id, q.v FROM l, LATERAL (SELECT v FROM r WHERE r.id = l.id) AS q;
SELECT l.id, q.v FROM l LEFT JOIN LATERAL (SELECT v FROM r WHERE r.id = l.id) AS q ON TRUE;
SELECT l.id, q.s FROM l LEFT JOIN LATERAL (SELECT SUM(v) AS s FROM r WHERE r.id = l.id GROUP BY r.id) AS q ON TRUE;
SELECT l.id, q.m FROM l LEFT JOIN LATERAL (SELECT MAX(v) AS m FROM r WHERE r.id = l.id) AS q ON TRUE;
SELECT l.id, q.w FROM l LEFT JOIN LATERAL (SELECT v * 2 AS w FROM r WHERE r.id = l.id) AS q ON q.w > 4;
