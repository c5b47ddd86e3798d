CREATE TABLE order_topic (
    order_id STRING, user_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'order_topic', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');

SELECT DATE(order_time) AS dt, SUM(amount) FROM order_topic GROUP BY DATE(order_time);
