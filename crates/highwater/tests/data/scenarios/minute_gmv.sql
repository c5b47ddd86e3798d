SET 'table.local-time-zone' = 'Asia/Shanghai';
SET 'table.exec.source.idle-timeout' = '2 s';

CREATE TABLE order_topic (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'order_topic',
    'properties.bootstrap.servers' = '${KAFKA}',
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
    'properties.bootstrap.servers' = '${KAFKA}',
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
