CREATE TABLE user_score_cdc (
    user_id INT,
    name    STRING,
    score   INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'kafka',
    'topic' = 'user_score_cdc',
    'properties.bootstrap.servers' = '${KAFKA}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'debezium-json'
);

CREATE TABLE user_score_sink (
    user_id INT,
    name    STRING,
    score   INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_score_topic',
    'properties.bootstrap.servers' = '${KAFKA}',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'EXCEPT_KEY'
);

CREATE TABLE user_score_sink_all (
    user_id INT,
    name    STRING,
    score   INT,
    PRIMARY KEY (user_id) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_score_topic_all',
    'properties.bootstrap.servers' = '${KAFKA}',
    'key.format' = 'json',
    'value.format' = 'json'
);

CREATE TABLE orders_cdc (
    order_id  INT,
    user_name STRING,
    amount    INT,
    PRIMARY KEY (order_id) NOT ENFORCED
) WITH (
    'connector' = 'kafka',
    'topic' = 'orders_cdc',
    'properties.bootstrap.servers' = '${KAFKA}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'debezium-json'
);

CREATE TABLE user_amount_sink (
    user_name STRING,
    total     INT,
    PRIMARY KEY (user_name) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'user_amount_topic',
    'properties.bootstrap.servers' = '${KAFKA}',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'EXCEPT_KEY'
);

EXECUTE STATEMENT SET
BEGIN
    INSERT INTO user_score_sink     SELECT * FROM user_score_cdc;
    INSERT INTO user_score_sink_all SELECT * FROM user_score_cdc;
    INSERT INTO user_amount_sink    SELECT user_name, SUM(amount) AS total FROM orders_cdc GROUP BY user_name;
END;
