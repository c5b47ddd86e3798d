-- The demo through Kafka: generated orders go to one topic, a job counts them per minute into another, and a query shows
-- that one as a table.
CREATE TABLE order_topic (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'highwater_demo_orders',
    'properties.bootstrap.servers' = '${KAFKA}',
    'key.format' = 'json',
    'key.fields' = 'order_id',                        -- spreads the orders evenly over the partitions
    'value.format' = 'json',
    'scan.startup.mode' = '${STARTUP}',
    'scan.startup.timestamp-millis' = '${NOW_MS}'
);

CREATE TABLE minute_gmv (
    window_start TIMESTAMP(3),
    window_end   TIMESTAMP(3),
    order_count  BIGINT,
    gmv          DECIMAL(38, 2),
    PRIMARY KEY (window_start, window_end) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'highwater_demo_minute_gmv',
    'properties.bootstrap.servers' = '${KAFKA}',
    'key.format' = 'json',
    'value.format' = 'json'
);

-- One writer: several would send the orders of one second seconds apart while they connect.
SET 'pipeline.name' = 'generate';
SET 'parallelism.default' = '1';
INSERT INTO order_topic SELECT order_id, user_id, amount, order_time FROM orders;

SET 'pipeline.name' = 'count';
RESET 'parallelism.default';
INSERT INTO minute_gmv
SELECT
    TUMBLE_START(order_time, INTERVAL '1' MINUTE),
    TUMBLE_END(order_time, INTERVAL '1' MINUTE),
    COUNT(order_id),
    SUM(amount)
FROM order_topic
GROUP BY TUMBLE(order_time, INTERVAL '1' MINUTE);

SET 'pipeline.name' = 'show';
SELECT window_start, window_end, order_count, gmv FROM minute_gmv;
