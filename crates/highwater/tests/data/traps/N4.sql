CREATE TABLE b (id BIGINT, data STRING, op STRING METADATA FROM 'value.op' VIRTUAL) WITH ('connector' = 'kafka', 'topic' = 'mysql_binlog_topic', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'debezium-json', 'scan.startup.mode' = 'earliest-offset');
SELECT id FROM b WHERE op IN ('c', 'u', 'd');
