CREATE TABLE states (s STRING) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
CREATE TABLE cities (s STRING, name STRING, pop BIGINT) WITH ('connector' = 'oracle', 'changelog-mode' = 'all');
SELECT states.s, c.name, c.pop FROM states, LATERAL (SELECT name, pop FROM cities WHERE cities.s = states.s ORDER BY pop DESC LIMIT 2) AS c;
