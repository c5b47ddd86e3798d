CREATE TABLE a (id INT, k INT, av STRING) WITH ('connector'='oracle');
CREATE TABLE b (id INT, bv STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='oracle');
CREATE TABLE c (id INT, cv STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='oracle');
SELECT a.id, av, bv, cv FROM a LEFT JOIN b ON a.id = b.id LEFT JOIN c ON a.k = c.id;
SELECT a.id, av, bv, cv FROM a JOIN b ON a.id = b.id LEFT JOIN c ON b.id = c.id;
SELECT a.id, av, bv, cv FROM a RIGHT JOIN b ON a.id = b.id FULL JOIN c ON b.id = c.id;
SELECT a.id, t.bv FROM a LEFT JOIN (SELECT bv, COUNT(*) AS n FROM b GROUP BY bv) t ON a.av = t.bv;
SELECT /*+ STATE_TTL('a' = '1d', 'b' = '3d') */ a.id, bv FROM a JOIN b ON a.id = b.id;
SELECT /*+ BROADCAST(b) */ a.id, bv FROM a JOIN b ON a.id = b.id;
