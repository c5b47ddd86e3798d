CREATE TABLE source_ods_fact_user_ippv (
    user_id     STRING,
    client_ip   STRING,
    client_info STRING,
    pagecode    STRING,
    access_time TIMESTAMP(3),
    dt          STRING,
    WATERMARK FOR access_time AS access_time - INTERVAL '5' SECOND
) WITH (
    'connector' = 'kafka',
    'topic' = 'user_ippv',
    'scan.startup.mode' = 'earliest-offset',
    'properties.group.id' = 'group1',
    'properties.bootstrap.servers' = '${KAFKA}',
    'format' = 'json',
    'json.fail-on-missing-field' = 'false',
    'json.ignore-parse-errors' = 'true'
);

CREATE TABLE result_total_pvuv_min (
    do_date     STRING,
    do_min      STRING,
    pv          BIGINT,
    uv          BIGINT,
    currenttime TIMESTAMP,
    PRIMARY KEY (do_date, do_min) NOT ENFORCED
) WITH (
    'connector' = 'upsert-kafka',
    'topic' = 'result_total_pvuv_min',
    'properties.bootstrap.servers' = '${KAFKA}',
    'key.format' = 'json',
    'value.format' = 'json',
    'value.fields-include' = 'ALL'
);

CREATE VIEW view_total_pvuv_min AS
SELECT
    dt AS do_date,
    DATE_FORMAT(access_time, 'HH:mm') AS do_min,
    COUNT(client_ip) AS pv,
    COUNT(DISTINCT client_ip) AS uv
FROM source_ods_fact_user_ippv
GROUP BY dt, DATE_FORMAT(access_time, 'HH:mm');

INSERT INTO result_total_pvuv_min
SELECT do_date, do_min, pv, uv, CURRENT_TIMESTAMP AS currenttime
FROM view_total_pvuv_min;
