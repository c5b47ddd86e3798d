CREATE TABLE ods_orders (
    order_id STRING, item_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3), PRIMARY KEY (order_id) NOT ENFORCED,
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'upsert-kafka', 'topic' = 'ods_orders', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE dws_city_gmv (window_start TIMESTAMP(3), window_end TIMESTAMP(3), city STRING, order_cnt BIGINT, gmv DECIMAL(20, 2), uv BIGINT,
    PRIMARY KEY (window_start, city) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'dws_city_gmv');

INSERT INTO dws_city_gmv SELECT window_start, window_end, order_id, COUNT(*), SUM(amount), COUNT(DISTINCT item_id)
FROM TABLE(TUMBLE(TABLE ods_orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end, order_id;
