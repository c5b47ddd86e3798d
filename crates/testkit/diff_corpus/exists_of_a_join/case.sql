CREATE TABLE o (id BIGINT, a BIGINT, b BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE x (id BIGINT, v BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE y (id BIGINT, v BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT o.id FROM o WHERE EXISTS (SELECT 1 FROM x JOIN y ON x.v = y.v WHERE x.id = o.a AND y.id = o.b);
