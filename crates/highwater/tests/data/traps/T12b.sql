CREATE TABLE mysql_binlog_source (id BIGINT, data STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'kafka', 'topic' = 'mysql_binlog_topic', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE ods_user_behavior (user_id BIGINT, item_id BIGINT, PRIMARY KEY (user_id, item_id) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'ods_user_behavior');

INSERT INTO ods_user_behavior SELECT id, JSON_VALUE(data, '$.itemId' RETURNING BIGINT) FROM mysql_binlog_source;
