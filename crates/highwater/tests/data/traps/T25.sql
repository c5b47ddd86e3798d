CREATE TABLE ods_orders (
    order_id STRING, item_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3), PRIMARY KEY (order_id) NOT ENFORCED,
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'upsert-kafka', 'topic' = 'ods_orders', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE k (item_id BIGINT, s DECIMAL(38, 2), PRIMARY KEY (item_id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'k');

EXPLAIN INSERT INTO k SELECT item_id, SUM(amount) FROM ods_orders GROUP BY item_id;
