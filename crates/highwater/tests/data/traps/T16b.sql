CREATE TABLE kafka_ods_orders (order_id BIGINT, user_id BIGINT, amount DECIMAL(10, 2), create_time TIMESTAMP(3), PRIMARY KEY (order_id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'ods_orders');

SELECT window_start, SUM(amount) FROM TABLE(TUMBLE(TABLE kafka_ods_orders, DESCRIPTOR(create_time), INTERVAL '5' MINUTE)) GROUP BY window_start, window_end;
