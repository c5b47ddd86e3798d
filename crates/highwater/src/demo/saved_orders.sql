-- Order count and GMV per minute. Orders that come after their minute was closed are dropped and counted:
-- change the 5 seconds below and run again.
SET 'sql-client.execution.result-mode' = 'table';

CREATE TABLE orders (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${ORDERS_FOLDER}', 'format' = 'json');
