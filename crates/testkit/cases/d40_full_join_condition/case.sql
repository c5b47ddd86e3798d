CREATE TABLE l (id INT, a INT) WITH ('connector'='oracle');
CREATE TABLE r (id INT, b INT) WITH ('connector'='oracle');
SELECT l.id, a, r.id AS rid, b FROM l FULL JOIN r ON l.id = r.id AND a < b;
SELECT l.id, a, r.id AS rid, b FROM l FULL JOIN r ON l.id = r.id;
SELECT l.id, a, r.id AS rid, b FROM l FULL JOIN r ON l.id = r.id AND a > 1 AND b > 1;
SELECT l.id, a, r.id AS rid, b FROM l RIGHT JOIN r ON l.id = r.id AND a < b;
