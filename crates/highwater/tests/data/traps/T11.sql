CREATE TABLE b (id BIGINT, data STRING, op STRING METADATA FROM 'value.source.op')
WITH ('connector' = 'kafka', 'topic' = 'mysql_binlog_topic', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'debezium-json');
