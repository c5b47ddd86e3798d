CREATE TABLE ods_orders (
    order_id STRING, item_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3), PRIMARY KEY (order_id) NOT ENFORCED,
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'upsert-kafka', 'topic' = 'ods_orders', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE g (item_id BIGINT, window_start TIMESTAMP(3), window_end TIMESTAMP(3), gmv DECIMAL(10, 2), PRIMARY KEY (item_id, window_start) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'g');

INSERT INTO g SELECT item_id, window_start, window_end, SUM(amount)
FROM TABLE(TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)) GROUP BY item_id, window_start, window_end;
