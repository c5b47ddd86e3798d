-- Orders per minute: count and GMV, over files.
SET 'table.local-time-zone' = 'Asia/Shanghai';
SET 'table.exec.source.idle-timeout' = '2 s';

CREATE TABLE order_topic (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'filesystem',
    'path' = '${INPUT}',
    'format' = 'json',
    'json.timestamp-format.standard' = 'ISO-8601'
);

CREATE TABLE order_minute_sink (
    window_start TIMESTAMP(3),
    window_end   TIMESTAMP(3),
    order_count  BIGINT,
    total_amount DECIMAL(12, 2)
) WITH ('connector' = 'filesystem', 'path' = '${OUTPUT}', 'format' = 'json');

INSERT INTO order_minute_sink
SELECT
    TUMBLE_START(order_time, INTERVAL '1' MINUTE) AS window_start,
    TUMBLE_END(order_time, INTERVAL '1' MINUTE)   AS window_end,
    COUNT(order_id) AS order_count,
    SUM(amount) AS total_amount
FROM order_topic
GROUP BY TUMBLE(order_time, INTERVAL '1' MINUTE);
