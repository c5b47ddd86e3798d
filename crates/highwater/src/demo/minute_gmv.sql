SELECT
    TUMBLE_START(order_time, INTERVAL '1' MINUTE) AS window_start,
    TUMBLE_END(order_time, INTERVAL '1' MINUTE)   AS window_end,
    COUNT(order_id) AS order_count,
    SUM(amount)     AS gmv
FROM orders
GROUP BY TUMBLE(order_time, INTERVAL '1' MINUTE);
