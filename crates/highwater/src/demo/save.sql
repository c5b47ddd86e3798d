CREATE TABLE saved (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = '${ORDERS_FOLDER}', 'format' = 'json');

SET 'parallelism.default' = '1';
INSERT INTO saved SELECT order_id, user_id, amount, order_time FROM orders;
