-- Orders as a shop would send them: log-normal amounts, 10 000 users of whom ten are hot, up to 4 s of disorder,
-- and five in a thousand orders so late that their minute has already been closed.
CREATE TABLE orders (
    order_id   STRING,
    user_id    BIGINT,
    amount     DECIMAL(10, 2),
    order_time TIMESTAMP(3),
    WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'datagen',
    'number-of-rows' = '${ORDERS}',
    'rows-per-second' = '${RATE}',
    'seed' = '42',
    'event-time.start' = '2024-11-20 15:00:00',
    'event-time.step' = '100 ms',
    'disorder.max' = '4 s',
    'late.ratio' = '0.005',
    'late.by' = '90 s',
    'fields.order_id.kind' = 'sequence', 'fields.order_id.start' = '1', 'fields.order_id.format' = 'ORD%08d',
    'fields.user_id.min' = '1', 'fields.user_id.max' = '10000',
    'fields.user_id.distribution' = 'hot-keys', 'fields.user_id.hot.count' = '10', 'fields.user_id.hot.share' = '0.2',
    'fields.amount.distribution' = 'lognormal', 'fields.amount.mu' = '3', 'fields.amount.sigma' = '0.8',
    'fields.order_time.kind' = 'event-time'
);
