CREATE TABLE o (id BIGINT, n BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE i (k BIGINT, v BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT o.id, o.n IN (SELECT COUNT(*) FROM i WHERE i.k = o.id) AS found, EXISTS (SELECT MAX(v) FROM i WHERE i.k = o.id) AS there, o.n >= ALL (SELECT COUNT(*) FROM i WHERE i.k = o.id) AS most, (SELECT v FROM i WHERE i.k = o.id ORDER BY v DESC LIMIT 1) AS top FROM o WHERE o.n NOT IN (SELECT COUNT(*) + 5 FROM i WHERE i.k = o.id);
