CREATE TABLE order_topic (
    order_id STRING, user_id BIGINT, amount DECIMAL(10, 2), order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'order_topic', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE w (order_id STRING PRIMARY KEY NOT ENFORCED, user_id BIGINT, user_name STRING, amount DECIMAL(10, 2)) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'w');

INSERT INTO w SELECT order_id, user_id, amount FROM order_topic;
