CREATE TABLE d (user_id BIGINT, user_name STRING, PRIMARY KEY (user_id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'dim_user');

SELECT * FROM d WHERE value IS NOT NULL;
