CREATE TABLE src (client_ip STRING, access_time TIMESTAMP(3), dt STRING)
WITH ('connector' = 'kafka', 'topic' = 'user_ippv', 'properties.bootstrap.servers' = '${KAFKA}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE result_total_pvuv_min (do_date STRING, do_min STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (do_date, do_min) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'result_total_pvuv_min');

INSERT INTO result_total_pvuv_min
SELECT do_date, DATE_FORMAT(access_time, 'HH:mm') AS do_min, pv, uv
FROM (SELECT dt AS do_date, COUNT(client_ip) AS pv, COUNT(DISTINCT client_ip) AS uv, MAX(access_time) AS access_time FROM src GROUP BY dt);
