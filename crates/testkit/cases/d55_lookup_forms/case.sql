CREATE TABLE o (oid INT, cid INT, name STRING, pt AS PROCTIME()) WITH ('connector'='oracle');
CREATE TABLE dim (cid INT, name STRING, city STRING) WITH ('connector'='oracle');
SELECT oid, o.cid, d.name FROM o JOIN dim FOR SYSTEM_TIME AS OF o.pt AS d ON o.cid = d.cid;
SELECT oid, d.city FROM o LEFT JOIN dim FOR SYSTEM_TIME AS OF o.pt AS d ON o.cid + 1 = d.cid AND d.city = 'x';
SELECT oid, d.name, d.city FROM o LEFT JOIN dim FOR SYSTEM_TIME AS OF o.pt AS d ON o.cid = d.cid AND o.name = d.name AND o.oid > 2;
SELECT oid, d.name FROM o JOIN dim FOR SYSTEM_TIME AS OF o.pt AS d ON o.oid > d.cid;
SELECT d.city, COUNT(*) AS c FROM o JOIN dim FOR SYSTEM_TIME AS OF o.pt AS d ON d.cid = o.cid GROUP BY d.city;
SELECT oid, UPPER(d.name) AS u, d.cid FROM (SELECT * FROM o WHERE oid > 1) s LEFT JOIN dim FOR SYSTEM_TIME AS OF s.pt AS d ON d.cid = s.cid AND d.cid = 2;
