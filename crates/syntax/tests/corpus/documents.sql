SELECT
    o.order_id,
    o.amount,
    o.order_time,
    u.user_name,
    u.user_level
FROM fact_orders AS o
LEFT JOIN dim_user FOR SYSTEM_TIME AS OF o.order_time AS u
    ON o.user_id = u.user_id;
CREATE TABLE dim_user (
    user_id     BIGINT,
    user_name   STRING,
    user_level  STRING,
    update_time TIMESTAMP(3),
    PRIMARY KEY (user_id) NOT ENFORCED,
    WATERMARK FOR update_time AS update_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'dim_user',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json'
);
CREATE TABLE fact_orders (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'fact_orders',
    'properties.bootstrap.servers' = '1',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);
CREATE TABLE dwd_order_user (
    order_id   STRING,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    user_name  STRING,
    user_level STRING
) WITH (
    'connector' = 'kafka',
    'topic' = 'dwd_order_user',
    'properties.bootstrap.servers' = '1',
    'format' = 'json'
);
INSERT INTO dwd_order_user
SELECT o.order_id, o.amount, o.order_time, u.user_name, u.user_level
FROM fact_orders AS o
LEFT JOIN dim_user FOR SYSTEM_TIME AS OF o.order_time AS u
  ON o.user_id = u.user_id;
INSERT INTO dws_item_gmv_per_min
SELECT
    item_id,
    window_start,
    window_end,
    SUM(amount) AS gmv
FROM TABLE(
    TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL 1 MINUTE)
)
GROUP BY item_id, window_start, window_end;
SET 'table.exec.source.idle-timeout' = '2 s';
SET 'table.exec.sink.require-on-conflict' = 'false';
CREATE TABLE ods_orders (
    order_id   STRING,
    item_id    BIGINT,
    sales_name STRING,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED,
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'ods_orders',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json'
);
CREATE TABLE dws_item_gmv_per_min (
    item_id      BIGINT,
    window_start TIMESTAMP(3),
    window_end   TIMESTAMP(3),
    gmv          DECIMAL(10, 2),
    PRIMARY KEY (item_id, window_start) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'dws_item_gmv_per_min',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json'
);
CREATE TABLE dws_sales_total (
    sales_name   STRING,
    order_count  BIGINT,
    total_amount DECIMAL(12, 2),
    PRIMARY KEY (sales_name) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'dws_sales_total',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json'
);
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO dws_item_gmv_per_min
    SELECT item_id, window_start, window_end, SUM(amount) AS gmv
    FROM TABLE(TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE))
    GROUP BY item_id, window_start, window_end;
    INSERT INTO dws_sales_total
    SELECT sales_name, COUNT(*) AS order_count, SUM(amount) AS total_amount
    FROM ods_orders
    GROUP BY sales_name;
END;
CREATE TABLE mysql_binlog_source (
    id BIGINT,
    data STRING,
    op STRING METADATA FROM 'value.source.op'
) WITH (
    'connector' = 'kafka',
    'topic' = 'mysql_binlog_topic',
    'format' = 'debezium-json'
);
INSERT INTO ods_user_behavior
SELECT
    id AS user_id,
    JSON_VALUE(data, '$.itemId') AS item_id,
    JSON_VALUE(data, '$.behavior') AS behavior,
    CAST(JSON_VALUE(data, '$.timestamp') AS TIMESTAMP(3)) AS ts
FROM mysql_binlog_source
WHERE op IN ('c', 'u', 'd');
CREATE TABLE mysql_binlog_source (
    id   BIGINT,
    data STRING,
    op   STRING METADATA FROM 'value.op' VIRTUAL,
    PRIMARY KEY (id) NOT ENFORCED
) WITH (
    'connector' = 'kafka',
    'topic' = 'mysql_binlog_topic',
    'properties.bootstrap.servers' = '1',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'debezium-json'
);
CREATE TABLE ods_user_behavior (
    user_id  BIGINT,
    item_id  BIGINT,
    behavior STRING,
    ts       TIMESTAMP(3),
    PRIMARY KEY (user_id, item_id, ts) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'ods_user_behavior',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json'
);
INSERT INTO ods_user_behavior
SELECT
    id AS user_id,
    CAST(JSON_VALUE(data, '$.itemId') AS BIGINT) AS item_id,
    JSON_VALUE(data, '$.behavior') AS behavior,
    CAST(JSON_VALUE(data, '$.timestamp') AS TIMESTAMP(3)) AS ts
FROM mysql_binlog_source
WHERE op IN ('c', 'u', 'd');
CREATE TABLE user_score_sink (
    user_id INT,
    name STRING,
    score INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_score_topic',
    'properties.bootstrap.servers' = 'localhost:9092',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'EXCEPT_KEY'
);
SELECT user, SUM(amount) FROM Orders GROUP BY user;
CREATE TABLE user_score_cdc (
    user_id INT,
    name    STRING,
    score   INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'kafka',
    'topic' = 'user_score_cdc',
    'properties.bootstrap.servers' = '1',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'debezium-json'
);
CREATE TABLE user_score_sink (
    user_id INT,
    name    STRING,
    score   INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_score_topic',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'EXCEPT_KEY'
);
CREATE TABLE user_score_sink_all (
    user_id INT,
    name    STRING,
    score   INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_score_topic_all',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json'
);
CREATE TABLE orders_cdc (
    order_id  INT,
    user_name STRING,
    amount    INT,
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'kafka',
    'topic' = 'orders_cdc',
    'properties.bootstrap.servers' = '1',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'debezium-json'
);
CREATE TABLE user_amount_sink (
    user_name STRING,
    total     INT,
    PRIMARY KEY (user_name) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_amount_topic',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'EXCEPT_KEY'
);
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO user_score_sink     SELECT * FROM user_score_cdc;
    INSERT INTO user_score_sink_all SELECT * FROM user_score_cdc;
    INSERT INTO user_amount_sink    SELECT user_name, SUM(amount) AS total FROM orders_cdc GROUP BY user_name;
END;
SET 'execution.checkpointing.interval' = '60s';
SET 'table.exec.sink.upsert-materialize' = 'NONE';
CREATE TABLE ods_orders_cdc (
    order_id BIGINT, user_id BIGINT, item_id BIGINT,
    amount DECIMAL(10,2), status STRING, create_time TIMESTAMP(3),
    update_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector'='mysql-cdc', 'hostname'='192.168.1.50', 'port'='3306',
    'username'='cdc_user', 'password'='***',
    'database-name'='shop', 'table-name'='orders',
    'scan.incremental.snapshot.enabled'='true'
);
CREATE TABLE kafka_ods_orders (
    order_id BIGINT, user_id BIGINT, item_id BIGINT,
    amount DECIMAL(10,2), status STRING, create_time TIMESTAMP(3),
    update_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector'='upsert-kafka',
    'topic'='ods_orders',
    'properties.bootstrap.servers'='kafka:9092',
    'key.format'='json', 'value.format'='json'
);
EXECUTE STATEMENT SET
BEGIN
INSERT INTO kafka_ods_orders SELECT * FROM ods_orders_cdc;
INSERT INTO ice.lakehouse.ods_orders SELECT * FROM ods_orders_cdc;
END;
CREATE TABLE dim_user_lookup (
    user_id BIGINT, user_name STRING, city STRING, level INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector'='jdbc',
    'url'='jdbc:mysql://192.168.1.50:3306/shop',
    'table-name'='users',
    'lookup.cache.max-rows'='100000',
    'lookup.cache.ttl'='10min',
    'lookup.max-retries'='3'
);
INSERT INTO dwd_order_wide
SELECT
    o.order_id, o.user_id, u.user_name, u.city, u.level,
    o.item_id, o.amount, o.status, o.create_time
FROM kafka_ods_orders AS o
LEFT JOIN dim_user_lookup FOR SYSTEM_TIME AS OF o.proctime AS u
ON o.user_id = u.user_id;
CREATE TABLE dws_city_gmv (
    window_start TIMESTAMP(3), window_end TIMESTAMP(3),
    city STRING, order_cnt BIGINT, gmv DECIMAL(20,2), uv BIGINT,
    PRIMARY KEY (window_start, city) NOT ENFORCED
) WITH (
    'connector'='starrocks',
    'jdbc-url'='jdbc:mysql://sr-fe:9030',
    'load-url'='sr-fe:8030',
    'database-name'='rt_dw', 'table-name'='dws_city_gmv',
    'username'='root', 'password'='',
    'sink.buffer-flush.interval-ms'='5000'
);
INSERT INTO dws_city_gmv
SELECT
    window_start, window_end, city,
    COUNT(DISTINCT order_id) AS order_cnt,
    SUM(amount) AS gmv,
    COUNT(DISTINCT user_id) AS uv
FROM TABLE(
    TUMBLE(TABLE dwd_order_wide, DESCRIPTOR(create_time), INTERVAL '5' MINUTE)
)
WHERE status = 'paid'
GROUP BY window_start, window_end, city;
CREATE OR REPLACE TABLE ice.lakehouse.dws_city_gmv_daily AS
SELECT
    DATE(create_time) AS dt, city,
    COUNT(DISTINCT order_id) AS order_cnt,
    SUM(amount) AS gmv,
    COUNT(DISTINCT user_id) AS uv
FROM ice.lakehouse.dwd_order_wide
WHERE status = 'paid' AND DATE(create_time) = '1'
GROUP BY DATE(create_time), city;
SELECT
    r.dt, r.city,
    r.gmv AS rt_gmv,
    b.gmv AS batch_gmv,
    ROUND(ABS(r.gmv - b.gmv) / NULLIF(b.gmv,0) * 100, 4) AS diff_pct
FROM (SELECT dt, city, SUM(gmv) gmv FROM starrocks.rt_dw.dws_city_gmv
      WHERE dt='1' GROUP BY dt, city) r
FULL OUTER JOIN ice.lakehouse.dws_city_gmv_daily b
ON r.dt = b.dt AND r.city = b.city
WHERE ABS(COALESCE(r.gmv,0) - COALESCE(b.gmv,0)) / NULLIF(b.gmv,1) > 0.001;
CREATE OR REPLACE TABLE ice.lakehouse.dws_city_gmv_daily AS
SELECT
    DATE(create_time) AS dt, city,
    COUNT(DISTINCT order_id) AS order_cnt,
    SUM(amount) AS gmv,
    COUNT(DISTINCT user_id) AS uv
FROM ice.lakehouse.dwd_order_wide
WHERE status = 'paid' AND DATE(create_time) = DATE '1'
GROUP BY DATE(create_time), city;
CREATE CATALOG ice WITH (
    'type' = 'iceberg', 'catalog-type' = '1', 'uri' = '1', 'warehouse' = '1'
);
CREATE DATABASE IF NOT EXISTS ice.lakehouse;
CREATE TABLE IF NOT EXISTS ice.lakehouse.ods_orders (
    order_id BIGINT, user_id BIGINT, item_id BIGINT,
    amount DECIMAL(10, 2), status STRING, create_time TIMESTAMP(3), update_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');
CREATE TABLE IF NOT EXISTS ice.lakehouse.dwd_order_wide (
    order_id BIGINT, user_id BIGINT, user_name STRING, city STRING, user_level INT, item_id BIGINT,
    amount DECIMAL(10, 2), status STRING, create_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');
CREATE TABLE ods_orders_cdc (
    order_id BIGINT, user_id BIGINT, item_id BIGINT,
    amount DECIMAL(10, 2), status STRING, create_time TIMESTAMP(3), update_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'mysql-cdc', 'hostname' = '1', 'port' = '1',
    'username' = '1', 'password' = '1',
    'database-name' = 'shop', 'table-name' = 'orders',
    'scan.incremental.snapshot.enabled' = 'true'
);
CREATE TABLE kafka_ods_orders (
    order_id BIGINT, user_id BIGINT, item_id BIGINT,
    amount DECIMAL(10, 2), status STRING, create_time TIMESTAMP(3), update_time TIMESTAMP(3),
    proctime AS PROCTIME(),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'ods_orders',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json', 'value.format' = 'json'
);
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO kafka_ods_orders SELECT * FROM ods_orders_cdc;
    INSERT INTO ice.lakehouse.ods_orders SELECT * FROM ods_orders_cdc;
END;
CREATE TABLE dim_user_lookup (
    user_id BIGINT, user_name STRING, city STRING, level INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://1:1/shop',
    'table-name' = 'users',
    'username' = '1', 'password' = '1',
    'lookup.cache.max-rows' = '100000',
    'lookup.cache.ttl' = '10min',
    'lookup.max-retries' = '3'
);
CREATE TABLE dwd_order_wide (
    order_id BIGINT, user_id BIGINT, user_name STRING, city STRING, user_level INT, item_id BIGINT,
    amount DECIMAL(10, 2), status STRING, create_time TIMESTAMP(3),
    WATERMARK FOR create_time AS create_time - INTERVAL '5' SECOND,
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'dwd_order_wide',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO dwd_order_wide
SELECT o.order_id, o.user_id, u.user_name, u.city, u.level, o.item_id, o.amount, o.status, o.create_time
FROM kafka_ods_orders AS o
LEFT JOIN dim_user_lookup FOR SYSTEM_TIME AS OF o.proctime AS u
  ON o.user_id = u.user_id;
INSERT INTO ice.lakehouse.dwd_order_wide
SELECT order_id, user_id, user_name, city, user_level, item_id, amount, status, create_time FROM dwd_order_wide;
CREATE TABLE dws_city_gmv (
    window_start TIMESTAMP(3), window_end TIMESTAMP(3),
    city STRING, order_cnt BIGINT, gmv DECIMAL(20, 2), uv BIGINT,
    PRIMARY KEY (window_start, city) NOT ENFORCED
) WITH (
    'connector' = 'starrocks',
    'jdbc-url' = 'jdbc:mysql://1',
    'load-url' = '1',
    'database-name' = 'rt_dw', 'table-name' = 'dws_city_gmv',
    'username' = '1', 'password' = '1',
    'sink.buffer-flush.interval-ms' = '5000'
);
INSERT INTO dws_city_gmv
SELECT
    window_start, window_end, city,
    COUNT(DISTINCT order_id) AS order_cnt,
    SUM(amount) AS gmv,
    COUNT(DISTINCT user_id) AS uv
FROM TABLE(TUMBLE(TABLE dwd_order_wide, DESCRIPTOR(create_time), INTERVAL '5' MINUTE))
WHERE status = 'paid'
GROUP BY window_start, window_end, city;
CREATE TABLE dws_city_gmv (
    window_start TIMESTAMP(3), window_end TIMESTAMP(3),
    city STRING, order_cnt BIGINT, gmv DECIMAL(20, 2), uv BIGINT,
    PRIMARY KEY (window_start, city) NOT ENFORCED
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://1:1/rt_dw',
    'table-name' = 'dws_city_gmv',
    'username' = '1', 'password' = '1'
);
SELECT
    COALESCE(r.dt, b.dt) AS dt,
    COALESCE(r.city, b.city) AS city,
    r.gmv AS rt_gmv,
    b.gmv AS batch_gmv,
    ROUND(ABS(r.gmv - b.gmv) / NULLIF(ABS(b.gmv), 0) * 100, 4) AS diff_pct
FROM (
    SELECT CAST(window_start AS DATE) AS dt, city, SUM(gmv) AS gmv
    FROM dws_city_gmv
    WHERE CAST(window_start AS DATE) = DATE '1'
    GROUP BY CAST(window_start AS DATE), city
) AS r
FULL OUTER JOIN ice.lakehouse.dws_city_gmv_daily AS b
  ON r.dt = b.dt AND r.city = b.city
WHERE r.gmv IS NULL OR b.gmv IS NULL
   OR (b.gmv = 0 AND r.gmv <> 0)
   OR ABS(r.gmv - b.gmv) > 0.001 * ABS(b.gmv);
CREATE TABLE ice.lakehouse.orders (
    order_id BIGINT,
    user_id BIGINT,
    amount DECIMAL(10,2),
    status STRING,
    create_time TIMESTAMP
)
USING iceberg
PARTITIONED BY (days(create_time))
TBLPROPERTIES (
    'write.format.default' = 'parquet',
    'write.parquet.compression-codec'= 'zstd',
    'write.target-file-size-bytes' = '134217728',
    'format-version' = '2'
);
INSERT INTO ice.lakehouse.orders VALUES
(1, 1001, 299.00, 'paid', TIMESTAMP '2026-09-01 10:00:00'),
(2, 1002, 1599.00,'pending', TIMESTAMP '2026-09-01 11:30:00'),
(3, 1001, 89.50, 'paid', TIMESTAMP '2026-09-02 09:15:00');
UPDATE ice.lakehouse.orders SET status = 'paid' WHERE order_id = 2;
DELETE FROM ice.lakehouse.orders WHERE user_id = 1002;
MERGE INTO ice.lakehouse.orders t
USING (SELECT 1 AS order_id, 1001 AS user_id, 399.00 AS amount,
'refund' AS status, TIMESTAMP '2026-09-03 12:00:00' AS create_time) s
ON t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET t.status = s.status, t.amount = s.amount
WHEN NOT MATCHED THEN INSERT *;
SELECT snapshot_id, committed_at, operation, summary
FROM ice.lakehouse.orders.snapshots;
SELECT * FROM ice.lakehouse.orders
TIMESTAMP AS OF '2026-09-01 12:00:00';
SELECT * FROM ice.lakehouse.orders VERSION AS OF 8712345678901234;
CALL ice.system.rollback_to_snapshot('lakehouse.orders', 8712345678901234);
SELECT * FROM ice.lakehouse.orders
VERSION AS OF 8712345678901234;
SELECT snapshot_id FROM ice.lakehouse.orders.snapshots ORDER BY committed_at DESC LIMIT 1;
DELETE FROM ice.lakehouse.orders WHERE 1=1;
SELECT COUNT(*) FROM ice.lakehouse.orders;
CALL ice.system.rewrite_data_files(
table => 'lakehouse.orders',
strategy=> 'binpack',
options => map('target-file-size-bytes','134217728',
'min-input-files','5')
);
CALL ice.system.rewrite_data_files(
table => 'lakehouse.orders',
strategy => 'sort',
sort_order => 'user_id ASC NULLS LAST'
);
CALL ice.system.expire_snapshots(
table => 'lakehouse.orders',
older_than => TIMESTAMP '2026-09-01 00:00:00',
retain_last => 10
);
CALL ice.system.remove_orphan_files(
table => 'lakehouse.orders',
older_than => TIMESTAMP '2026-09-01 00:00:00'
);
CALL ice.system.rewrite_manifests('lakehouse.orders');
CREATE TABLE orders (ts TIMESTAMP, amount DOUBLE)
PARTITIONED BY (days(ts));
SELECT * FROM orders WHERE ts >= '2026-09-01';
ALTER TABLE orders SET PARTITION SPEC (months(ts));
ALTER TABLE orders SET PARTITION SPEC (days(ts));
CREATE TABLE ice.lakehouse.orders (
    order_id    BIGINT,
    user_id     BIGINT,
    amount      DECIMAL(10, 2),
    status      STRING,
    create_time TIMESTAMP
)
USING iceberg
PARTITIONED BY (days(create_time))
TBLPROPERTIES (
    'write.format.default' = 'parquet',
    'write.parquet.compression-codec' = 'zstd',
    'write.target-file-size-bytes' = '134217728',
    'format-version' = '2'
);
INSERT INTO ice.lakehouse.orders VALUES
    (1, 1001, 299.00,  'paid',    TIMESTAMP '2026-09-01 10:00:00'),
    (2, 1002, 1599.00, 'pending', TIMESTAMP '2026-09-01 11:30:00'),
    (3, 1001, 89.50,   'paid',    TIMESTAMP '2026-09-02 09:15:00');
SELECT order_id, user_id, amount, status, create_time FROM ice.lakehouse.orders;
SELECT committed_at FROM ice.lakehouse.orders.snapshots ORDER BY committed_at DESC LIMIT 1;
MERGE INTO ice.lakehouse.orders t
USING (SELECT 1 AS order_id, 1001 AS user_id, 399.00 AS amount,
              'refund' AS status, TIMESTAMP '2026-09-03 12:00:00' AS create_time) s
ON t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET t.status = s.status, t.amount = s.amount
WHEN NOT MATCHED THEN INSERT *;
MERGE INTO ice.lakehouse.orders t
USING (SELECT 4 AS order_id, 1004 AS user_id, 12.34 AS amount,
              'paid' AS status, TIMESTAMP '2026-09-03 12:00:00' AS create_time) s
ON t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET t.status = s.status, t.amount = s.amount
WHEN NOT MATCHED THEN INSERT *;
MERGE INTO ice.lakehouse.orders t
USING (SELECT 1 AS order_id, 1.00 AS amount UNION ALL SELECT 1, 2.00) s
ON t.order_id = s.order_id
WHEN MATCHED THEN UPDATE SET t.amount = s.amount;
SELECT order_id, user_id, amount, status, create_time FROM ice.lakehouse.orders VERSION AS OF 1;
SELECT order_id, user_id, amount, status, create_time FROM ice.lakehouse.orders TIMESTAMP AS OF '1';
SELECT * FROM ice.lakehouse.orders TIMESTAMP AS OF '2020-01-01 00:00:00';
SELECT COUNT(*) FROM ice.lakehouse.orders.snapshots;
DELETE FROM ice.lakehouse.orders WHERE 1 = 1;
CALL ice.system.rollback_to_snapshot('lakehouse.orders', 1);
INSERT INTO ice.lakehouse.orders VALUES (11, 1011, 11.00, 'paid', TIMESTAMP '2026-09-02 10:00:01');
INSERT INTO ice.lakehouse.orders VALUES (12, 1012, 12.00, 'paid', TIMESTAMP '2026-09-02 10:00:02');
INSERT INTO ice.lakehouse.orders VALUES (13, 1013, 13.00, 'paid', TIMESTAMP '2026-09-02 10:00:03');
INSERT INTO ice.lakehouse.orders VALUES (14, 1014, 14.00, 'paid', TIMESTAMP '2026-09-02 10:00:04');
INSERT INTO ice.lakehouse.orders VALUES (15, 1015, 15.00, 'paid', TIMESTAMP '2026-09-02 10:00:05');
INSERT INTO ice.lakehouse.orders VALUES (16, 1016, 16.00, 'paid', TIMESTAMP '2026-09-02 10:00:06');
SELECT COUNT(*) FROM ice.lakehouse.orders.files WHERE content = 0 AND partition.create_time_day = DATE '2026-09-02';
CALL ice.system.rewrite_data_files(
    table => 'lakehouse.orders',
    strategy => 'binpack',
    options => map('target-file-size-bytes', '134217728', 'min-input-files', '5')
);
CALL ice.system.rewrite_data_files(
    table => 'lakehouse.orders',
    strategy => 'sort',
    sort_order => 'user_id ASC NULLS LAST'
);
CALL ice.system.expire_snapshots(
    table => 'lakehouse.orders',
    older_than => TIMESTAMP '1',
    retain_last => 10
);
CALL ice.system.expire_snapshots(table => 'lakehouse.orders', older_than => TIMESTAMP '1', retain_last => 1);
SELECT * FROM ice.lakehouse.orders VERSION AS OF 1;
CALL ice.system.remove_orphan_files(
    table => 'lakehouse.orders',
    older_than => TIMESTAMP '1'
);
CALL ice.system.remove_orphan_files(table => 'lakehouse.orders', older_than => TIMESTAMP '1');
CREATE TABLE ice.lakehouse.events_pe (ts TIMESTAMP, amount DOUBLE)
USING iceberg
PARTITIONED BY (months(ts));
INSERT INTO ice.lakehouse.events_pe VALUES (TIMESTAMP '2026-08-15 10:00:00', 1.5), (TIMESTAMP '2026-08-31 23:59:59.999999', 2.5), (TIMESTAMP '2026-09-01 00:00:00', 3.5);
ALTER TABLE ice.lakehouse.events_pe SET PARTITION SPEC (days(ts));
INSERT INTO ice.lakehouse.events_pe VALUES (TIMESTAMP '2026-09-01 12:00:00', 4.5), (TIMESTAMP '2026-09-02 00:00:00', 5.5);
SELECT ts, amount FROM ice.lakehouse.events_pe;
SELECT ts, amount FROM ice.lakehouse.events_pe WHERE ts >= '2026-09-01';
SELECT spec_id, COUNT(*) AS files, SUM(record_count) AS records FROM ice.lakehouse.events_pe.files GROUP BY spec_id;
SET 'execution.checkpointing.interval' = '30s';
SET 'execution.checkpointing.mode' = 'EXACTLY_ONCE';
CREATE TABLE mysql_orders (
    order_id    BIGINT,
    user_id     BIGINT,
    amount      DECIMAL(10, 2),
    status      STRING,
    update_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'mysql-cdc',
    'hostname' = '192.168.1.50',
    'port' = '3306',
    'username' = 'cdc_user',
    'password' = 'StrongPass123!',
    'database-name' = 'shop',
    'table-name' = 'orders',
    'server-time-zone' = 'Asia/Shanghai',
    'scan.incremental.snapshot.enabled' = 'true',
    'scan.incremental.snapshot.chunk.size' = '8096',
    'scan.startup.mode' = 'initial'
);
CREATE CATALOG ice WITH (
    'type' = 'iceberg',
    'catalog-type' = 'hive',
    'uri' = 'thrift://172.16.146.220:9083',
    'warehouse' = 'hdfs:///lab/iceberg'
);
CREATE TABLE IF NOT EXISTS ice.lakehouse.ods_orders (
    order_id    BIGINT,
    user_id     BIGINT,
    amount      DECIMAL(10, 2),
    status      STRING,
    update_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'format-version' = '2',
    'write.upsert.enabled' = 'true',
    'write.distribution-mode' = 'hash'
);
INSERT INTO ice.lakehouse.ods_orders
SELECT order_id, user_id, amount, status, update_time FROM mysql_orders;
CREATE TABLE mysql_orders (
    order_id    BIGINT,
    user_id     BIGINT,
    amount      DECIMAL(10, 2),
    status      STRING,
    update_time TIMESTAMP(3),
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'mysql-cdc',
    'hostname' = '1',
    'port' = '1',
    'username' = '1',
    'password' = '1',
    'database-name' = 'shop',
    'table-name' = 'orders',
    'server-time-zone' = 'Asia/Shanghai',
    'scan.incremental.snapshot.enabled' = 'true',
    'scan.incremental.snapshot.chunk.size' = '1',
    'scan.startup.mode' = 'initial'
);
CREATE CATALOG ice WITH (
    'type' = 'iceberg',
    'catalog-type' = '1',
    'uri' = '1',
    'warehouse' = '1'
);
CREATE TABLE dim_user (
    sk_user_id BIGINT,
    user_id BIGINT,
    user_name STRING,
    city STRING,
    start_date DATE,
    end_date DATE,
    is_current BOOLEAN
) USING iceberg;
MERGE INTO dim_user t
USING stg_user s
ON t.user_id = s.user_id AND t.is_current = true
WHEN MATCHED AND (t.city <> s.city OR t.user_name <> s.user_name)
THEN UPDATE SET t.end_date = CURRENT_DATE() - INTERVAL 1 DAY,
                t.is_current = false;
INSERT INTO dim_user
SELECT
    hash(s.user_id, CURRENT_DATE()) AS sk_user_id,
    s.user_id, s.user_name, s.city,
    CURRENT_DATE() AS start_date,
    DATE '9999-12-31' AS end_date,
    true AS is_current
FROM stg_user s
LEFT JOIN dim_user t ON s.user_id = t.user_id AND t.is_current = true
WHERE t.user_id IS NULL
   OR t.city <> s.city OR t.user_name <> s.user_name;
SELECT sk_user_id, user_id, user_name, city, start_date, end_date, is_current FROM dim_user;
SELECT COUNT(*) FROM (SELECT user_id FROM dim_user GROUP BY user_id HAVING SUM(CASE WHEN is_current THEN 1 ELSE 0 END) <> 1) x;
SELECT COUNT(*) FROM dim_user a JOIN dim_user b ON a.user_id = b.user_id AND a.sk_user_id < b.sk_user_id
 AND a.start_date <= b.end_date AND b.start_date <= a.end_date;
SELECT COUNT(*) FROM dim_user WHERE end_date < start_date;
SELECT COUNT(*) - COUNT(DISTINCT sk_user_id) FROM dim_user;
SELECT o.order_id, d.sk_user_id, d.city FROM orders o JOIN dim_user d
  ON o.user_id = d.user_id AND o.order_date BETWEEN d.start_date AND d.end_date;
MERGE INTO dim_user t
USING stg_user s
ON t.user_id = s.user_id AND t.is_current = true AND t.start_date = DATE '1'
WHEN MATCHED AND (t.city IS DISTINCT FROM s.city OR t.user_name IS DISTINCT FROM s.user_name)
THEN UPDATE SET t.city = s.city, t.user_name = s.user_name;
MERGE INTO dim_user t
USING stg_user s
ON t.user_id = s.user_id AND t.is_current = true
WHEN MATCHED AND (t.city IS DISTINCT FROM s.city OR t.user_name IS DISTINCT FROM s.user_name)
THEN UPDATE SET t.end_date = DATE '1' - INTERVAL '1' DAY, t.is_current = false;
INSERT INTO dim_user
SELECT
    (SELECT COALESCE(MAX(sk_user_id), 1000) FROM dim_user)
        + ROW_NUMBER() OVER (ORDER BY s.user_id) AS sk_user_id,
    s.user_id, s.user_name, s.city,
    DATE '1' AS start_date,
    DATE '9999-12-31' AS end_date,
    true AS is_current
FROM stg_user s
LEFT JOIN dim_user t ON s.user_id = t.user_id AND t.is_current = true
WHERE t.user_id IS NULL;
USE ice.lakehouse;
CREATE TABLE dim_user (
    sk_user_id BIGINT,
    user_id    BIGINT,
    user_name  STRING,
    city       STRING,
    start_date DATE,
    end_date   DATE,
    is_current BOOLEAN
) USING iceberg;
CREATE TABLE stg_user (user_id BIGINT, user_name STRING, city STRING) USING iceberg;
CREATE TABLE user_behavior (
    user_id  BIGINT,
    behavior STRING,
    order_id STRING,
    ts       TIMESTAMP(3),
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'user_behavior',
    'properties.bootstrap.servers' = '1',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);
CREATE TABLE unpaid_alert (
    user_id  BIGINT,
    cnt      INT,
    first_ts TIMESTAMP(3),
    last_ts  TIMESTAMP(3)
) WITH (
    'connector' = 'kafka',
    'topic' = 'unpaid_alert',
    'properties.bootstrap.servers' = '1',
    'format' = 'json'
);
CREATE VIEW order_or_pay AS
SELECT user_id, behavior, order_id, ts FROM user_behavior WHERE behavior IN ('order', 'pay');
INSERT INTO unpaid_alert
SELECT user_id, 3 AS cnt, first_ts, last_ts
FROM order_or_pay
MATCH_RECOGNIZE (
    PARTITION BY user_id
    ORDER BY ts
    MEASURES
        FIRST(A.ts) AS first_ts,
        LAST(A.ts)  AS last_ts
    ONE ROW PER MATCH
    AFTER MATCH SKIP PAST LAST ROW
    PATTERN (A{3}) WITHIN INTERVAL '30' MINUTE
    DEFINE A AS A.behavior = 'order'
) AS m;
CREATE CATALOG ice WITH (
  'type'='iceberg',
  'catalog-type'='rest',
  'uri'='http://catalog:8181',
  'warehouse'='s3://bucket/wh'
);
CREATE TABLE ice.db.events (
  id BIGINT,
  ts TIMESTAMP(6),
  payload STRING,
  PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (days(ts));
INSERT INTO ice.db.events SELECT id, ts, payload FROM kafka_src;
CREATE TABLE ice.db.users (
  uid BIGINT,
  name STRING,
  updated_at TIMESTAMP(6),
  PRIMARY KEY (uid) NOT ENFORCED
) WITH ('write.upsert.enabled'='true');
CREATE TABLE mysql_users (
  uid BIGINT, name STRING, updated_at TIMESTAMP(3),
  PRIMARY KEY (uid) NOT ENFORCED
) WITH ('connector'='mysql-cdc', 'hostname'='...', 'database-name'='app', 'table-name'='users');
INSERT INTO ice.db.users SELECT * FROM mysql_users;
SET 'execution.checkpointing.interval' = '5s';
CREATE CATALOG ice WITH (
    'type' = 'iceberg',
    'catalog-type' = 'rest',
    'uri' = '1',
    'warehouse' = '1'
);
CREATE DATABASE IF NOT EXISTS ice.db;
CREATE TABLE kafka_src (
    id      BIGINT,
    ts      TIMESTAMP(6),
    payload STRING
) WITH (
    'connector' = 'kafka',
    'topic' = 'events_topic',
    'properties.bootstrap.servers' = '1',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'json'
);
CREATE TABLE ice.db.events (
    id      BIGINT,
    ts      TIMESTAMP(6),
    payload STRING,
    PRIMARY KEY (id) NOT ENFORCED
) PARTITIONED BY (days(ts));
CREATE TABLE mysql_users (
    uid        BIGINT,
    name       STRING,
    updated_at TIMESTAMP(3),
    PRIMARY KEY (uid) NOT ENFORCED
) WITH (
    'connector' = 'mysql-cdc', 'hostname' = '1', 'port' = '1',
    'username' = '1', 'password' = '1',
    'database-name' = 'app', 'table-name' = 'users'
);
CREATE TABLE ice.db.users (
    uid        BIGINT,
    name       STRING,
    updated_at TIMESTAMP(6),
    PRIMARY KEY (uid) NOT ENFORCED
) WITH ('write.upsert.enabled' = 'true');
CREATE TABLE ice.db.users_by_day (
    uid        BIGINT,
    name       STRING,
    updated_at TIMESTAMP(6),
    PRIMARY KEY (uid) NOT ENFORCED
) PARTITIONED BY (days(updated_at)) WITH ('write.upsert.enabled' = 'true');
EXECUTE STATEMENT SET
BEGIN
    INSERT INTO ice.db.users        SELECT * FROM mysql_users;
    INSERT INTO ice.db.users_by_day SELECT * FROM mysql_users;
END;
SET 'table.local-time-zone' = 'Asia/Shanghai';
CREATE TABLE order_topic (
    order_id STRING,
    user_id BIGINT,
    amount DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'order_topic',
    'properties.bootstrap.servers' = 'kafka:9092',
    'properties.group.id' = 'order_group',
    'format' = 'json',
    'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE order_minute_sink (
    window_start TIMESTAMP(3),
    window_end TIMESTAMP(3),
    order_count BIGINT,
    total_amount DECIMAL(12, 2),
    PRIMARY KEY (window_start, window_end) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'order_minute_result',
    'properties.bootstrap.servers' = 'kafka:9092',
    'key.format' = 'json',
    'value.format' = 'json'
);
INSERT INTO order_minute_sink
SELECT
    TUMBLE_START(order_time, INTERVAL '1' MINUTE) AS window_start,
    TUMBLE_END(order_time, INTERVAL '1' MINUTE) AS window_end,
    COUNT(order_id) AS order_count,
    SUM(amount) AS total_amount
FROM order_topic
GROUP BY TUMBLE(order_time, INTERVAL '1' MINUTE);
CREATE TABLE order_topic (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'order_topic',
    'properties.bootstrap.servers' = '1',
    'properties.group.id' = 'order_group',
    'format' = 'json',
    'json.timestamp-format.standard' = 'ISO-8601',
    'scan.startup.mode' = 'earliest-offset'
);
CREATE TABLE order_minute_sink (
    window_start TIMESTAMP(3),
    window_end   TIMESTAMP(3),
    order_count  BIGINT,
    total_amount DECIMAL(12, 2),
    PRIMARY KEY (window_start, window_end) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'order_minute_result',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json'
);
INSERT INTO order_minute_sink
SELECT
    TUMBLE_START(order_time, INTERVAL '1' MINUTE) AS window_start,
    TUMBLE_END(order_time, INTERVAL '1' MINUTE)   AS window_end,
    COUNT(order_id) AS order_count,
    SUM(amount) AS total_amount
FROM order_topic
GROUP BY TUMBLE(order_time, INTERVAL '1' MINUTE);
SET 'table.exec.emit.late-fire.enabled' = 'true';
SET 'table.exec.emit.late-fire.delay' = '0 s';
SET 'table.exec.emit.allow-lateness' = '90 s';
CREATE TABLE payment_topic (
    payment_id STRING,
    order_id STRING,
    pay_amount DECIMAL(10, 2),
    pay_time TIMESTAMP(3),
    WATERMARK FOR pay_time AS pay_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'payment_topic',
    'properties.bootstrap.servers' = 'kafka:9092',
    'format' = 'json',
    'scan.startup.mode' = 'earliest-offset'
);
CREATE VIEW order_payment_detail AS
SELECT o.order_id, o.user_id, o.amount, p.payment_id, p.pay_time
FROM order_topic AS o
JOIN payment_topic AS p
  ON o.order_id = p.order_id
 AND p.pay_time BETWEEN o.order_time - INTERVAL '10' MINUTE AND o.order_time + INTERVAL '10' MINUTE;
CREATE TABLE dim_user (
    user_id BIGINT PRIMARY KEY NOT ENFORCED,
    user_name STRING,
    city STRING
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://mysql:3306/rt_dw',
    'table-name' = 'dim_user',
    'username' = 'root',
    'password' = '123456',
    'lookup.cache.max-rows' = '10000',
    'lookup.cache.ttl' = '10min'
);
SELECT d.order_id, d.user_id, d.amount, d.pay_time, u.user_name, u.city
FROM order_payment_detail AS d
JOIN dim_user FOR SYSTEM_TIME AS OF d.pay_time AS u
  ON d.user_id = u.user_id;
CREATE TABLE order_wide_sink (
    order_id STRING PRIMARY KEY NOT ENFORCED,
    user_id BIGINT,
    user_name STRING,
    city STRING,
    amount DECIMAL(10, 2),
    payment_id STRING,
    pay_time TIMESTAMP(3)
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://mysql:3306/rt_dw',
    'table-name' = 'order_wide_sink',
    'username' = 'root',
    'password' = '123456'
);
CREATE TABLE payment_topic (
    payment_id STRING,
    order_id   STRING,
    pay_amount DECIMAL(10, 2),
    pay_time   TIMESTAMP(3),
    WATERMARK FOR pay_time AS pay_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'payment_topic',
    'properties.bootstrap.servers' = '1',
    'format' = 'json',
    'json.timestamp-format.standard' = 'ISO-8601',
    'scan.startup.mode' = 'earliest-offset'
);
CREATE VIEW order_payment_detail AS
SELECT
    o.order_id, o.user_id, o.amount, p.payment_id, p.pay_time,
    PROCTIME() AS proc_time
FROM order_topic AS o
JOIN payment_topic AS p
  ON o.order_id = p.order_id
 AND p.pay_time BETWEEN o.order_time - INTERVAL '10' MINUTE
                    AND o.order_time + INTERVAL '10' MINUTE;
CREATE TABLE dim_user (
    user_id   BIGINT PRIMARY KEY NOT ENFORCED,
    user_name STRING,
    city      STRING
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://1:1/rt_dw',
    'table-name' = 'dim_user',
    'username' = '1',
    'password' = '1',
    'lookup.cache.max-rows' = '10000',
    'lookup.cache.ttl' = '10min'
);
CREATE TABLE order_wide_sink (
    order_id   STRING PRIMARY KEY NOT ENFORCED,
    user_id    BIGINT,
    user_name  STRING,
    city       STRING,
    amount     DECIMAL(10, 2),
    payment_id STRING,
    pay_time   TIMESTAMP(3)
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://1:1/rt_dw',
    'table-name' = 'order_wide_sink',
    'username' = '1',
    'password' = '1'
);
INSERT INTO order_wide_sink
SELECT d.order_id, d.user_id, u.user_name, u.city, d.amount, d.payment_id, d.pay_time
FROM order_payment_detail AS d
JOIN dim_user FOR SYSTEM_TIME AS OF d.proc_time AS u
  ON d.user_id = u.user_id;
CREATE TABLE source_ods_fact_user_ippv (
    user_id     STRING,
    client_ip   STRING,
    client_info STRING,
    pagecode    STRING,
    access_time TIMESTAMP,
    dt          STRING,
    WATERMARK FOR access_time AS access_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'user_ippv',
    'scan.startup.mode' = 'earliest-offset',
    'properties.group.id' = 'group1',
    'properties.bootstrap.servers' = 'xxx:9092',
    'format' = 'json',
    'json.fail-on-missing-field' = 'false',
    'json.ignore-parse-errors' = 'true'
);
CREATE TABLE result_total_pvuv_min (
    do_date     STRING,
    do_min      STRING,
    pv          BIGINT,
    uv          BIGINT,
    currenttime TIMESTAMP,
    PRIMARY KEY (do_date, do_min) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'result_total_pvuv_min',
    'properties.bootstrap.servers' = 'xxx:9092',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'ALL'
);
CREATE VIEW view_total_pvuv_min AS
SELECT
    dt AS do_date,
    COUNT(client_ip) AS pv,
    COUNT(DISTINCT client_ip) AS uv,
    MAX(access_time) AS access_time
FROM source_ods_fact_user_ippv
GROUP BY dt;
INSERT INTO result_total_pvuv_min
SELECT
    do_date,
    CAST(DATE_FORMAT(access_time, 'HH:mm') AS STRING) AS do_min,
    pv,
    uv,
    CURRENT_TIMESTAMP AS currenttime
FROM view_total_pvuv_min;
CREATE TABLE source_ods_fact_user_ippv (
    user_id     STRING,
    client_ip   STRING,
    client_info STRING,
    pagecode    STRING,
    access_time TIMESTAMP(3),
    dt          STRING,
    WATERMARK FOR access_time AS access_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'user_ippv',
    'scan.startup.mode' = 'earliest-offset',
    'properties.group.id' = 'group1',
    'properties.bootstrap.servers' = '1',
    'format' = 'json',
    'json.fail-on-missing-field' = 'false',
    'json.ignore-parse-errors' = 'true'
);
CREATE TABLE result_total_pvuv_min (
    do_date     STRING,
    do_min      STRING,
    pv          BIGINT,
    uv          BIGINT,
    currenttime TIMESTAMP,
    PRIMARY KEY (do_date, do_min) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'result_total_pvuv_min',
    'properties.bootstrap.servers' = '1',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'ALL'
);
CREATE VIEW view_total_pvuv_min AS
SELECT
    dt AS do_date,
    DATE_FORMAT(access_time, 'HH:mm') AS do_min,
    COUNT(client_ip) AS pv,
    COUNT(DISTINCT client_ip) AS uv
FROM source_ods_fact_user_ippv
GROUP BY dt, DATE_FORMAT(access_time, 'HH:mm');
INSERT INTO result_total_pvuv_min
SELECT do_date, do_min, pv, uv, CURRENT_TIMESTAMP AS currenttime
FROM view_total_pvuv_min;
CREATE TABLE sink_upsert_tidb (
    user_id     INT,
    client_ip   STRING,
    client_info STRING,
    page_code   STRING,
    access_time TIMESTAMP,
    dt          STRING,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://xxx:4000/bi',
    'username' = 'bi_rw',
    'password' = 'xxx',
    'table-name' = 'result_user_behavior'
);
INSERT INTO sink_upsert_tidb
SELECT user_id, client_ip, client_info, pagecode, access_time, dt
FROM source_ods_fact_user_ippv;
CREATE TABLE sink_upsert_tidb (
    user_id     INT,
    client_ip   STRING,
    client_info STRING,
    page_code   STRING,
    access_time TIMESTAMP,
    dt          STRING,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'jdbc',
    'url' = 'jdbc:mysql://1:1/bi',
    'username' = '1',
    'password' = '1',
    'table-name' = 'result_user_behavior'
);
INSERT INTO sink_upsert_tidb
SELECT
    CAST(user_id AS INT) AS user_id,
    client_ip,
    client_info,
    pagecode AS page_code,
    access_time,
    dt
FROM source_ods_fact_user_ippv;
CREATE TABLE order_topic (
    order_id STRING, user_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'order_topic', 'properties.bootstrap.servers' = '1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE w (order_id STRING PRIMARY KEY NOT ENFORCED, user_id BIGINT, user_name STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'w');
INSERT INTO w SELECT order_id, user_id, amount FROM order_topic;
CREATE TABLE all_tables (order_id BIGINT, amount DECIMAL(10, 2), PRIMARY KEY (order_id) NOT ENFORCED)
WITH ('connector' = 'mysql-cdc', 'hostname' = '1', 'username' = '1', 'password' = '1', 'database-name' = 'shop', 'table-name' = '.*');
SELECT * FROM all_tables;
CALL ice.system.remove_orphan_files(table => 'lakehouse.orders', older_than => TIMESTAMP '2999-01-01 00:00:00');
CREATE CATALOG ice WITH ('type' = 'iceberg', 'catalog-type' = '1', 'uri' = '1', 'warehouse' = '1');
CREATE TABLE kafka_src (id BIGINT, ts TIMESTAMP(6)) WITH ('connector' = 'kafka', 'topic' = 'events_topic', 'properties.bootstrap.servers' = '1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE ice.db.e (id BIGINT, ts TIMESTAMP(6), PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO ice.db.e SELECT id, ts FROM kafka_src;
CREATE TABLE order_minute_sink (
    window_start TIMESTAMP(3), window_end TIMESTAMP(3), order_count BIGINT, total_amount DECIMAL(12, 2),
    PRIMARY KEY (window_start, window_end) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'order_minute_result');
INSERT INTO order_minute_sink SELECT window_start, window_end, COUNT(order_id), SUM(amount)
FROM TABLE(TUMBLE(TABLE order_topic, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end ON CONFLICT DO DEDUPLICATE;
SELECT CAST(TIMESTAMP '2024-11-20 15:00:00' AS STRING), CAST(TO_TIMESTAMP_LTZ(1732086000000, 3) AS STRING);
CREATE TABLE ods_orders (
    order_id STRING, item_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3), PRIMARY KEY (order_id) NOT ENFORCED,
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'upsert-kafka', 'topic' = 'ods_orders', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE dws_city_gmv (window_start TIMESTAMP(3), window_end TIMESTAMP(3), city STRING, order_cnt BIGINT, gmv DECIMAL(20, 2), uv BIGINT,
    PRIMARY KEY (window_start, city) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'dws_city_gmv');
INSERT INTO dws_city_gmv SELECT window_start, window_end, CAST(NULL AS STRING), COUNT(*), SUM(amount), 0 FROM TABLE(TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;
SELECT DATE(order_time) AS dt, SUM(amount) FROM order_topic GROUP BY DATE(order_time);
CREATE TABLE b (id BIGINT, data STRING, op STRING METADATA FROM 'value.op' VIRTUAL) WITH ('connector' = 'kafka', 'topic' = 'mysql_binlog_topic', 'properties.bootstrap.servers' = '1', 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
SELECT id FROM b WHERE op IN ('c', 'u', 'd');
CREATE TABLE ice.nodb.t (id BIGINT);
CREATE TABLE t1 (client_ip STRING, access_time TIMESTAMP,
    WATERMARK FOR access_time AS access_time - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'user_ippv', 'properties.bootstrap.servers' = '1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
SELECT item_id, window_start, SUM(amount)
FROM TABLE(TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL 1 MINUTE)) GROUP BY item_id, window_start, window_end;
CREATE TABLE b (id BIGINT, data STRING, op STRING METADATA FROM 'value.source.op')
WITH ('connector' = 'kafka', 'topic' = 'mysql_binlog_topic', 'properties.bootstrap.servers' = '1', 'format' = 'debezium-json');
CREATE TABLE mysql_binlog_source (id BIGINT, data STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'kafka', 'topic' = 'mysql_binlog_topic', 'properties.bootstrap.servers' = '1', 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE ods_user_behavior (user_id BIGINT, item_id BIGINT, PRIMARY KEY (user_id, item_id) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'ods_user_behavior');
INSERT INTO ods_user_behavior SELECT id, JSON_VALUE(data, '$.itemId') FROM mysql_binlog_source;
INSERT INTO ods_user_behavior SELECT id, JSON_VALUE(data, '$.itemId' RETURNING BIGINT) FROM mysql_binlog_source;
CREATE TABLE dim_user (user_id BIGINT, user_name STRING, update_time TIMESTAMP(3), PRIMARY KEY (user_id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'dim_user');
CREATE TABLE fact_orders (order_id STRING, user_id BIGINT, order_time TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = 'fact_orders', 'properties.bootstrap.servers' = '1', 'format' = 'json');
SELECT o.order_id, u.user_name FROM fact_orders o LEFT JOIN dim_user FOR SYSTEM_TIME AS OF o.order_time AS u ON o.user_id = u.user_id;
CREATE TABLE d (user_id BIGINT, user_name STRING, PRIMARY KEY (user_id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'dim_user');
SELECT * FROM d WHERE value IS NOT NULL;
CREATE TABLE g (item_id BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), gmv DECIMAL(10, 2), PRIMARY KEY (item_id, window_start) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'g');
INSERT INTO g SELECT item_id, window_start, window_end, SUM(amount)
FROM TABLE(TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)) GROUP BY item_id, window_start, window_end;
CREATE TABLE kafka_ods_orders (order_id BIGINT, user_id BIGINT, amount DECIMAL(10, 2), create_time TIMESTAMP(3), PRIMARY KEY (order_id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'ods_orders');
CREATE TABLE dim_user (user_id BIGINT PRIMARY KEY NOT ENFORCED, user_name STRING, city STRING)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://1:1/rt_dw', 'table-name' = 'dim_user',
      'username' = '1', 'password' = '1');
SELECT o.order_id, u.city FROM kafka_ods_orders AS o LEFT JOIN dim_user FOR SYSTEM_TIME AS OF o.proctime AS u ON o.user_id = u.user_id;
SELECT window_start, SUM(amount) FROM TABLE(TUMBLE(TABLE kafka_ods_orders, DESCRIPTOR(create_time), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;
INSERT INTO dws_city_gmv SELECT window_start, window_end, order_id, COUNT(*), SUM(amount), COUNT(DISTINCT item_id)
FROM TABLE(TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, order_id;
CREATE TABLE ice.db.events (id BIGINT, ts TIMESTAMP(6), payload STRING, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (days(ts));
CREATE TABLE ice.db.users_by_day (uid BIGINT, name STRING, updated_at TIMESTAMP(6), PRIMARY KEY (uid) NOT ENFORCED)
PARTITIONED BY (days(updated_at)) WITH ('write.upsert.enabled' = 'true');
CREATE TABLE src (client_ip STRING, access_time TIMESTAMP(3), dt STRING)
WITH ('connector' = 'kafka', 'topic' = 'user_ippv', 'properties.bootstrap.servers' = '1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE result_total_pvuv_min (do_date STRING, do_min STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (do_date, do_min) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'result_total_pvuv_min');
INSERT INTO result_total_pvuv_min
SELECT do_date, DATE_FORMAT(access_time, 'HH:mm') AS do_min, pv, uv
FROM (SELECT dt AS do_date, COUNT(client_ip) AS pv, COUNT(DISTINCT client_ip) AS uv, MAX(access_time) AS access_time FROM src GROUP BY dt);
SELECT dt, city, SUM(gmv) gmv FROM dws_city_gmv WHERE dt = '2026-09-01' GROUP BY dt, city;
CREATE VIEW r AS SELECT * FROM (VALUES (DATE '2026-09-01', 'Chengdu', CAST(70 AS DECIMAL(20, 2)))) AS v(dt, city, gmv);
CREATE VIEW b AS SELECT * FROM (VALUES (DATE '2026-09-01', 'Hangzhou', CAST(80 AS DECIMAL(20, 2)))) AS v(dt, city, gmv);
SELECT r.dt, r.city, r.gmv, b.gmv FROM r FULL OUTER JOIN b ON r.dt = b.dt AND r.city = b.city
WHERE ABS(COALESCE(r.gmv, 0) - COALESCE(b.gmv, 0)) / NULLIF(b.gmv, 1) > 0.001;
CREATE TABLE ice.db.stg_user (user_id BIGINT, user_name STRING, city STRING);
CREATE TABLE ice.db.dim_user (sk_user_id BIGINT, user_id BIGINT, user_name STRING, city STRING);
INSERT INTO ice.db.dim_user SELECT hash(user_id, CURRENT_DATE()), user_id, user_name, city FROM ice.db.stg_user;
CREATE TABLE eo (order_id STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'kafka', 'topic' = 'eo', 'properties.bootstrap.servers' = '1', 'format' = 'json',
    'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'job1', 'properties.transaction.timeout.ms' = '3600000');
INSERT INTO eo SELECT order_id, amount FROM order_topic;
CREATE TABLE k (item_id BIGINT, s DECIMAL(38, 2), PRIMARY KEY (item_id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '1', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'k');
EXPLAIN INSERT INTO k SELECT item_id, SUM(amount) FROM ods_orders GROUP BY item_id;
CREATE TABLE src (user_id STRING, client_ip STRING, pagecode STRING) WITH ('connector' = 'kafka', 'topic' = 'user_ippv', 'properties.bootstrap.servers' = '1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE sink_upsert_tidb (user_id INT, client_ip STRING, page_code STRING, PRIMARY KEY (user_id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://1:1/bi', 'table-name' = 'result_user_behavior');
INSERT INTO sink_upsert_tidb SELECT user_id, client_ip, pagecode FROM src;
SELECT * FROM order_topic;
CREATE TABLE pinned (order_time TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = 'order_topic', 'properties.bootstrap.servers' = '1', 'format' = 'json',
    'json.timestamp-format.standard' = 'SQL', 'scan.startup.mode' = 'earliest-offset');
SELECT * FROM pinned;
INSERT INTO order_minute_sink
SELECT TUMBLE_START(order_time, INTERVAL '1' MINUTE), TUMBLE_END(order_time, INTERVAL '1' MINUTE), COUNT(order_id), SUM(amount)
FROM order_topic GROUP BY TUMBLE(order_time, INTERVAL '1' MINUTE);
INSERT INTO order_minute_sink
SELECT window_start, window_end, COUNT(order_id), SUM(amount)
FROM TABLE(TUMBLE(TABLE order_topic, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;
CREATE TABLE payment_topic (
    payment_id STRING, order_id STRING, pay_amount DECIMAL(10, 2), pay_time TIMESTAMP(3),
    WATERMARK FOR pay_time AS pay_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'payment_topic', 'properties.bootstrap.servers' = '1', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
SELECT o.order_id, p.payment_id FROM order_topic o JOIN payment_topic p ON o.order_id = p.order_id
 AND p.pay_time >= o.order_time AND p.pay_time < o.order_time + INTERVAL '1' HOUR;
SELECT o.order_id, p.payment_id FROM order_topic o JOIN payment_topic p ON o.order_id = p.order_id
 AND p.pay_time >= o.order_time;
CREATE VIEW order_payment_detail AS
SELECT o.order_id, o.user_id, o.amount, p.pay_time FROM order_topic o JOIN payment_topic p ON o.order_id = p.order_id
 AND p.pay_time BETWEEN o.order_time - INTERVAL '10' MINUTE AND o.order_time + INTERVAL '10' MINUTE;
SELECT d.order_id, u.city FROM order_payment_detail AS d JOIN dim_user FOR SYSTEM_TIME AS OF d.pay_time AS u ON d.user_id = u.user_id;
CREATE TABLE d (user_id BIGINT PRIMARY KEY NOT ENFORCED, user_name STRING) WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://1:1/rt_dw', 'table-name' = 'dim_user');
