CREATE TABLE mysql_binlog_source (
    id   BIGINT,
    data STRING,
    op   STRING METADATA FROM 'value.op' VIRTUAL,
    PRIMARY KEY (id) NOT ENFORCED
) WITH (
    'connector' = 'kafka',
    'topic' = 'mysql_binlog_topic',
    'properties.bootstrap.servers' = '${KAFKA}',
    'scan.startup.mode' = 'earliest-offset',
    'format' = 'debezium-json'
);

CREATE TABLE ods_user_behavior (
    user_id  BIGINT,
    item_id  BIGINT,
    behavior STRING,
    ts       TIMESTAMP(3),
    PRIMARY KEY (user_id, item_id, ts) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'ods_user_behavior',
    'properties.bootstrap.servers' = '${KAFKA}',
    'key.format' = 'json',
    'value.format' = 'json'
);

INSERT INTO ods_user_behavior
SELECT
    id AS user_id,
    CAST(JSON_VALUE(data, '$.itemId') AS BIGINT) AS item_id,
    JSON_VALUE(data, '$.behavior') AS behavior,
    CAST(JSON_VALUE(data, '$.timestamp') AS TIMESTAMP(3)) AS ts
FROM mysql_binlog_source
WHERE op IN ('c', 'u', 'd');
