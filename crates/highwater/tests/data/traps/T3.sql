CREATE TABLE src (user_id STRING, client_ip STRING, pagecode STRING) WITH ('connector' = 'kafka', 'topic' = 'user_ippv', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE sink_upsert_tidb (user_id INT, client_ip STRING, page_code STRING, PRIMARY KEY (user_id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:mysql://${TIDB_HOST}:${TIDB_PORT}/bi', 'table-name' = 'result_user_behavior');

INSERT INTO sink_upsert_tidb SELECT user_id, client_ip, pagecode FROM src;
