CREATE TABLE l (id INT, a STRING) WITH ('connector'='oracle');
CREATE TABLE r (id INT, b STRING) WITH ('connector'='oracle');
SELECT id, a FROM l WHERE id IN (SELECT id FROM r);
SELECT id, a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.id = l.id AND r.b <> l.a);
SELECT id, a FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.id = l.id AND r.b <> l.a);
SELECT id, a FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.id = l.id);
