-- Number of orders and GMV of each minute.
CREATE TABLE orders (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = '${DATA}', 'format' = 'json');

CREATE TABLE minute_gmv (
    window_start TIMESTAMP(3),
    order_count  BIGINT,
    gmv          DECIMAL(38, 2)
) WITH ('connector' = 'print');

INSERT INTO minute_gmv
SELECT TUMBLE_START(order_time, INTERVAL '1' MINUTE), COUNT(order_id), SUM(amount)
FROM orders
GROUP BY TUMBLE(order_time, INTERVAL '1' MINUTE);
