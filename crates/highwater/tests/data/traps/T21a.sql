CREATE TABLE dws_city_gmv (window_start TIMESTAMP(3), window_end TIMESTAMP(3), city STRING, order_cnt BIGINT, gmv DECIMAL(20, 2), uv BIGINT,
    PRIMARY KEY (window_start, city) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${KAFKA}', 'key.format' = 'json', 'value.format' = 'json', 'topic' = 'dws_city_gmv');

SELECT dt, city, SUM(gmv) gmv FROM dws_city_gmv WHERE dt = '2026-09-01' GROUP BY dt, city;
