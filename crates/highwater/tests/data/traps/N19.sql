CREATE TABLE order_topic (
    order_id STRING, user_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'order_topic', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE order_minute_sink (
    window_start TIMESTAMP(3), window_end TIMESTAMP(3), order_count BIGINT, total_amount DECIMAL(12, 2),
    PRIMARY KEY (window_start, window_end) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'order_minute_result');

INSERT INTO order_minute_sink SELECT window_start, window_end, COUNT(order_id), SUM(amount)
FROM TABLE(TUMBLE(TABLE order_topic, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end ON CONFLICT DO DEDUPLICATE;
