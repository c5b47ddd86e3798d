CREATE TABLE o (oid INT, cur STRING, ts TIMESTAMP(3), PRIMARY KEY (oid) NOT ENFORCED, WATERMARK FOR ts AS ts) WITH ('connector'='oracle','changelog-mode'='all');
CREATE TABLE r (cur STRING, rate INT, ut TIMESTAMP(3), PRIMARY KEY (cur) NOT ENFORCED, WATERMARK FOR ut AS ut) WITH ('connector'='oracle','changelog-mode'='upsert');
SELECT oid, o.cur, rate FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts ON o.cur = r.cur;
SELECT oid, o.cur, rate FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.ts AS x ON x.cur = o.cur AND x.rate > 1;
