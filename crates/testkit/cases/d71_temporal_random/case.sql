CREATE TABLE o (oid INT, k STRING, amt INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND) WITH ('connector'='oracle');
CREATE TABLE r (k STRING, rate INT, ut TIMESTAMP(3), WATERMARK FOR ut AS ut - INTERVAL '3' SECOND) WITH ('connector'='oracle');
CREATE VIEW v AS SELECT k, rate, ut FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ut DESC) AS n FROM r) WHERE n = 1;
SELECT oid, o.k, rate, v.ut FROM o JOIN v FOR SYSTEM_TIME AS OF o.ts ON o.k = v.k;
SELECT oid, o.k, rate FROM o LEFT JOIN v FOR SYSTEM_TIME AS OF o.ts ON o.k = v.k;
SELECT oid, rate FROM o LEFT JOIN v FOR SYSTEM_TIME AS OF o.ts ON v.k = o.k AND v.rate > 30 AND o.amt > 2;
SELECT oid, rate FROM o JOIN v FOR SYSTEM_TIME AS OF o.ts ON o.k = v.k WHERE rate < 60 AND amt <> 4;
