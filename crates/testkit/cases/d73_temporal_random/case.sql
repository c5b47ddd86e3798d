CREATE TABLE o (oid INT, k STRING, amt INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector'='oracle');
CREATE TABLE r (k STRING, rate INT, ut TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED, WATERMARK FOR ut AS ut - INTERVAL '2' SECOND) WITH ('connector'='oracle','changelog-mode'='all');
SELECT oid, o.k, rate, v.ut FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS v ON o.k = v.k;
SELECT oid, o.k, rate FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.ts AS v ON o.k = v.k;
SELECT oid, rate FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.ts AS v ON v.k = o.k AND v.rate > 30 AND o.amt > 2;
SELECT oid, rate FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS v ON o.k = v.k WHERE rate < 60 AND amt <> 4;
