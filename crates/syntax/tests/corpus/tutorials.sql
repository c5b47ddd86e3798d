-- wordcount
-- 经典的 WordCount 例子
CREATE TEMPORARY TABLE lines (line STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '10');
CREATE TEMPORARY VIEW words AS SELECT word FROM lines CROSS JOIN UNNEST(SPLIT(line, ' ')) AS t (word);
SELECT word, COUNT(*) AS cnt FROM words GROUP BY word;

-- hello
SELECT 'Hello World';
SELECT 1 + 1 AS 结果, '你好，世界' AS 问候;
SHOW TABLES; SHOW CATALOGS; SHOW DATABASES; SHOW FUNCTIONS; SHOW MODULES; SHOW FULL MODULES; SHOW VIEWS; SHOW JARS; SHOW CURRENT CATALOG; SHOW CURRENT DATABASE;

-- datagen print
CREATE TABLE datagen (
 f_sequence INT,
 f_random INT,
 f_random_str STRING,
 ts AS localtimestamp,
 WATERMARK FOR ts AS ts
) WITH (
 'connector' = 'datagen',
 -- optional options --
 'rows-per-second'='5',
 'fields.f_sequence.kind'='sequence',
 'fields.f_sequence.start'='1',
 'fields.f_sequence.end'='1000',
 'fields.f_random.min'='1',
 'fields.f_random.max'='1000',
 'fields.f_random_str.length'='10'
);
CREATE TABLE print_table WITH ('connector' = 'print') LIKE datagen (EXCLUDING ALL);
INSERT INTO print_table SELECT f_sequence, f_random, f_random_str FROM datagen;

-- user behavior
CREATE TABLE user_behavior (
    user_id BIGINT,
    item_id BIGINT,
    category_id BIGINT,
    behavior STRING,
    ts TIMESTAMP(3),
    proctime AS PROCTIME(),   -- 通过计算列产生一个处理时间列
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND  -- 在 ts 上定义 watermark，ts 成为事件时间列
) WITH (
    'connector' = 'kafka',  -- 使用 kafka connector
    'topic' = 'user_behavior',  -- kafka topic
    'scan.startup.mode' = 'earliest-offset',  -- 从起始 offset 开始读取
    'properties.bootstrap.servers' = 'localhost:9094',  -- kafka broker 地址
    'format' = 'json'  -- 数据源格式为 json
);
CREATE TABLE buy_cnt_per_hour (hour_of_day BIGINT, buy_cnt BIGINT) WITH ('connector' = 'print');
INSERT INTO buy_cnt_per_hour
SELECT HOUR(TUMBLE_START(ts, INTERVAL '1' HOUR)), COUNT(*)
FROM user_behavior
WHERE behavior = 'buy'
GROUP BY TUMBLE(ts, INTERVAL '1' HOUR);
CREATE TABLE cumulative_uv (date_str STRING, time_str STRING, uv BIGINT, PRIMARY KEY (date_str, time_str) NOT ENFORCED) WITH ('connector' = 'upsert-kafka','topic'='uv','properties.bootstrap.servers'='localhost:9094','key.format'='json','value.format'='json');
INSERT INTO cumulative_uv
SELECT date_str, MAX(time_str), COUNT(DISTINCT user_id) as uv
FROM (
  SELECT
    DATE_FORMAT(ts, 'yyyy-MM-dd') as date_str,
    SUBSTR(DATE_FORMAT(ts, 'HH:mm'),1,4) || '0' as time_str,
    user_id
  FROM user_behavior)
GROUP BY date_str;

-- topcategory lookup
CREATE TABLE user_behavior (user_id BIGINT, item_id BIGINT, category_id BIGINT, behavior STRING, ts TIMESTAMP(3), proctime AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector'='kafka','topic'='user_behavior','properties.bootstrap.servers'='localhost:9094','format'='json','scan.startup.mode'='earliest-offset');
CREATE TABLE category_dim (sub_category_id BIGINT, parent_category_name STRING) WITH ('connector' = 'jdbc','url' = 'jdbc:mysql://localhost:3306/flink','table-name' = 'category','username' = 'root','password' = '123456','lookup.cache.max-rows' = '5000','lookup.cache.ttl' = '10min');
CREATE TABLE top_category (category_name STRING PRIMARY KEY NOT ENFORCED, buy_cnt BIGINT) WITH ('connector' = 'print');
CREATE VIEW rich_user_behavior AS
SELECT U.user_id, U.item_id, U.behavior, C.parent_category_name as category_name
FROM user_behavior AS U LEFT JOIN category_dim FOR SYSTEM_TIME AS OF U.proctime AS C
ON U.category_id = C.sub_category_id;
INSERT INTO top_category SELECT category_name, COUNT(*) buy_cnt FROM rich_user_behavior WHERE behavior = 'buy' GROUP BY category_name;

-- tumble tvf
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT window_start, window_end, SUM(amount) AS total FROM TABLE(
   TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES))
  GROUP BY window_start, window_end;
SELECT window_start, window_end, SUM(amount) AS total FROM TABLE(
   TUMBLE(
     DATA => TABLE orders,
     TIMECOL => DESCRIPTOR(order_time),
     SIZE => INTERVAL '10' MINUTES))
  GROUP BY window_start, window_end;
SELECT * FROM HOP(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES);
SELECT window_start, window_end, SUM(amount) FROM CUMULATE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES) GROUP BY window_start, window_end;
SELECT window_start, window_end, user_id, SUM(amount) FROM SESSION(TABLE orders PARTITION BY user_id, DESCRIPTOR(order_time), INTERVAL '5' MINUTES) GROUP BY window_start, window_end, user_id;
SELECT window_start, window_end, city, SUM(amount) FROM TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES) GROUP BY window_start, window_end, GROUPING SETS ((city), ());
SELECT window_start, window_end, city, SUM(amount) FROM TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES, INTERVAL '1' MINUTES) GROUP BY window_start, window_end, ROLLUP(city);

-- topn
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY city ORDER BY amount DESC) AS row_num FROM orders)
WHERE row_num <= 5;
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) as rownum
 FROM (SELECT window_start, window_end, product, SUM(amount) as price, COUNT(*) as cnt FROM TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '10' MINUTES) GROUP BY window_start, window_end, product)
) WHERE rownum <= 3;
SELECT order_id, user_id, product FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY order_time ASC) AS row_num FROM orders) WHERE row_num = 1;

-- interval join
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE TABLE shipments (id BIGINT, order_id BIGINT, ship_time TIMESTAMP(3), WATERMARK FOR ship_time AS ship_time) WITH ('connector'='datagen');
SELECT * FROM orders o, shipments s WHERE o.order_id = s.order_id AND o.order_time BETWEEN s.ship_time - INTERVAL '4' HOUR AND s.ship_time;
SELECT o.order_id, s.id FROM orders o LEFT JOIN shipments s ON o.order_id = s.order_id AND s.ship_time BETWEEN o.order_time AND o.order_time + INTERVAL '4' HOUR;

-- versioned view
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE TABLE RatesHistory (currency_time TIMESTAMP(3), currency STRING, rate DECIMAL(38,10), WATERMARK FOR currency_time AS currency_time - INTERVAL '5' SECOND) WITH ('connector'='kafka','topic'='rates','scan.startup.mode'='earliest-offset','properties.bootstrap.servers'='localhost:9092','format'='json');
CREATE VIEW versioned_rates AS SELECT currency, rate, currency_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY currency ORDER BY currency_time DESC) AS rowNum FROM RatesHistory) WHERE rowNum = 1;
SELECT o.order_id, r.rate * o.amount FROM orders AS o JOIN versioned_rates FOR SYSTEM_TIME AS OF o.order_time AS r ON o.product = r.currency;

-- mysql cdc
-- Flink CDC 教程
SET 'execution.checkpointing.interval' = '3s';
CREATE TABLE products (
    id INT,
    name STRING,
    description STRING,
    PRIMARY KEY (id) NOT ENFORCED
  ) WITH (
    'connector' = 'mysql-cdc',
    'hostname' = 'localhost',
    'port' = '3306',
    'username' = 'root',
    'password' = '123456',
    'database-name' = 'mydb',
    'table-name' = 'products'
  );

-- paimon
CREATE CATALOG my_catalog WITH ('type'='paimon','warehouse'='file:/tmp/paimon');
USE CATALOG my_catalog;
CREATE TABLE word_count (word STRING PRIMARY KEY NOT ENFORCED, cnt BIGINT);

-- catalog
CREATE CATALOG cat1 WITH ('type' = 'generic_in_memory', 'default-database' = 'ods');
USE CATALOG cat1;
CREATE DATABASE IF NOT EXISTS dwd COMMENT '明细层' WITH ('k'='v');
USE dwd;
CREATE TABLE t1 (a INT COMMENT '编号', b STRING) COMMENT '测试表' WITH ('connector'='blackhole');
SHOW CREATE TABLE t1; DESCRIBE t1; DESC cat1.dwd.t1; SHOW COLUMNS FROM t1; SHOW TABLES FROM cat1.dwd LIKE 't%'; SHOW DATABASES LIKE 'd%'; DESCRIBE CATALOG cat1; DESC CATALOG EXTENDED cat1; SHOW CREATE CATALOG cat1; DESCRIBE DATABASE dwd;
ALTER DATABASE dwd SET ('k' = 'v2');
DROP TABLE IF EXISTS t1; USE CATALOG default_catalog; DROP DATABASE cat1.dwd CASCADE; DROP CATALOG cat1;

-- ctas
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE TABLE my_ctas_table WITH ('connector' = 'kafka','topic'='c','properties.bootstrap.servers'='localhost:9092','format'='json') AS SELECT order_id, product, amount FROM orders WHERE MOD(order_id, 10) = 0;
CREATE TABLE ctas2 (WATERMARK FOR order_time AS order_time - INTERVAL '1' SECOND) WITH ('connector' = 'blackhole') AS SELECT order_id, order_time FROM orders;
CREATE TABLE ctas3 (desc_col STRING, id, amount DOUBLE) WITH ('connector'='blackhole') AS SELECT order_id AS id, CAST(amount AS DOUBLE) AS amount FROM orders;
CREATE OR REPLACE TABLE ctas4 WITH ('connector'='blackhole') AS SELECT * FROM orders;

-- like
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE TABLE Orders_with_watermark (
    WATERMARK FOR order_time AS order_time - INTERVAL '10' SECOND
) WITH ('scan.startup.mode' = 'latest-offset')
LIKE orders (OVERWRITING WATERMARKS);
CREATE TABLE o2 WITH ('connector'='blackhole') LIKE orders (EXCLUDING ALL INCLUDING GENERATED);
CREATE TABLE o3 (extra STRING, PRIMARY KEY (order_id) NOT ENFORCED) WITH ('connector'='blackhole') LIKE orders (INCLUDING ALL OVERWRITING OPTIONS EXCLUDING CONSTRAINTS);
SHOW CREATE TABLE o3;

-- insert columns
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE TABLE s (a BIGINT, b STRING, c STRING) PARTITIONED BY (c) WITH ('connector'='filesystem','path'='/tmp/x','format'='json');
INSERT INTO s (b, a, c) SELECT city, order_id, '1' FROM orders;
INSERT INTO s PARTITION (c = '2024') SELECT order_id, city FROM orders;
INSERT INTO s VALUES (1, 'a', 'p'), (2, 'b', 'q');

-- match
CREATE TABLE Ticker (symbol STRING, price DECIMAL(10,2), tax INT, rowtime TIMESTAMP(3), WATERMARK FOR rowtime AS rowtime - INTERVAL '1' SECOND) WITH ('connector'='datagen');
SELECT *
FROM Ticker
    MATCH_RECOGNIZE (
        PARTITION BY symbol
        ORDER BY rowtime
        MEASURES
            START_ROW.rowtime AS start_tstamp,
            LAST(PRICE_DOWN.rowtime) AS bottom_tstamp,
            LAST(PRICE_UP.rowtime) AS end_tstamp
        ONE ROW PER MATCH
        AFTER MATCH SKIP TO LAST PRICE_UP
        PATTERN (START_ROW PRICE_DOWN+ PRICE_UP)
        DEFINE
            PRICE_DOWN AS
                (LAST(PRICE_DOWN.price, 1) IS NULL AND PRICE_DOWN.price < START_ROW.price) OR
                    PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1),
            PRICE_UP AS
                PRICE_UP.price > LAST(PRICE_DOWN.price, 1)
    ) MR;
SELECT T.aid, T.bid, T.cid FROM Ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rowtime MEASURES A.tax AS aid, B.tax AS bid, C.tax AS cid PATTERN (A B C) WITHIN INTERVAL '1' HOUR DEFINE A AS A.tax = 1, B AS B.tax = 2, C AS C.tax = 3) AS T;

-- json
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT JSON_VALUE('{"a": true}', '$.a' RETURNING BOOLEAN), JSON_QUERY('{"a":[1,2]}', '$.a' WITH WRAPPER), JSON_EXISTS('{"a":1}', '$.a'), JSON_OBJECT('k' VALUE city, 'v' : amount NULL ON NULL) , JSON_ARRAY(1,'2',city), JSON_OBJECT(KEY 'a' VALUE 1 ABSENT ON NULL), '{}' IS JSON OBJECT FROM orders;
SELECT JSON_OBJECTAGG(KEY city VALUE amount), JSON_ARRAYAGG(product) FROM orders;
SELECT JSON_VALUE(product, 'lax $.store.book[0].title' NULL ON EMPTY DEFAULT 'x' ON ERROR) FROM orders;

-- time
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT CURRENT_TIMESTAMP, NOW(), LOCALTIMESTAMP, CURRENT_DATE, CURRENT_TIME, LOCALTIME, UNIX_TIMESTAMP(), PROCTIME();
SELECT DATE_FORMAT(order_time, 'yyyy年MM月dd日 HH时'), TO_TIMESTAMP('2024-01-01 00:00:00'), TO_TIMESTAMP('2024/01/01','yyyy/MM/dd'), TO_DATE('2024-01-01'), FROM_UNIXTIME(1700000000), TO_TIMESTAMP_LTZ(1700000000000, 3), EXTRACT(HOUR FROM order_time), YEAR(order_time), QUARTER(order_time), MONTH(order_time), WEEK(order_time), DAYOFYEAR(order_time), DAYOFMONTH(order_time), DAYOFWEEK(order_time), HOUR(order_time), MINUTE(order_time), SECOND(order_time), TIMESTAMPADD(DAY, 1, order_time), TIMESTAMPDIFF(HOUR, order_time, order_time), FLOOR(order_time TO DAY), CEIL(order_time TO HOUR), CONVERT_TZ('2024-01-01 00:00:00','UTC','Asia/Shanghai'), order_time + INTERVAL '1 02:03' DAY TO MINUTE, DATE '2024-01-01' - INTERVAL '1' MONTH, TIMESTAMP '2024-01-01 00:00:00.123', TIME '12:00:00', INTERVAL '2-3' YEAR TO MONTH, (order_time, INTERVAL '1' HOUR) OVERLAPS (order_time, INTERVAL '1' DAY) FROM orders;

-- types
CREATE TABLE all_types (a CHAR(3), b VARCHAR(10), c STRING, d BOOLEAN, e BINARY(2), f VARBINARY(10), g BYTES, h DECIMAL(10,2), h2 DEC(5), h3 NUMERIC(38,18), i TINYINT, j SMALLINT, k INT, k2 INTEGER, l BIGINT, m FLOAT, n DOUBLE, n2 DOUBLE PRECISION, o DATE, p TIME(3), q TIMESTAMP, r TIMESTAMP(9) WITHOUT TIME ZONE, s TIMESTAMP_LTZ(3), s2 TIMESTAMP(3) WITH LOCAL TIME ZONE, v ARRAY<INT NOT NULL>, w MAP<STRING, ARRAY<INT>>, x MULTISET<STRING>, y ROW<a INT, b ROW<c STRING COMMENT '内层'>>, z ROW(a INT, b STRING), aa INT ARRAY, bb INT MULTISET) WITH ('connector'='blackhole');
DESCRIBE all_types;

-- case group
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT city, SUM(CASE WHEN amount > 100 THEN 1 ELSE 0 END) AS big, SUM(IF(amount > 100, amount, 0)) AS s, COUNT(*) FILTER (WHERE amount > 10) f, COUNT(DISTINCT user_id) uv, LISTAGG(product, ','), LISTAGG(DISTINCT product), AVG(amount), MAX(order_time), STDDEV_POP(amount), VAR_SAMP(amount), FIRST_VALUE(product), LAST_VALUE(product), COLLECT(product) FROM orders GROUP BY city HAVING COUNT(*) > 1;
SELECT city, product, SUM(amount), GROUPING(city), GROUPING_ID(city, product) FROM orders GROUP BY CUBE (city, product);
SELECT DISTINCT city FROM orders;
SELECT COUNT(DISTINCT city), COUNT(DISTINCT CONCAT(city, product)) FROM orders;

-- over
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT order_id, order_time, amount,
  SUM(amount) OVER (PARTITION BY product ORDER BY order_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS one_hour_prod_amount_sum
FROM orders;
SELECT order_id, SUM(amount) OVER w AS sum_amount, AVG(amount) OVER w AS avg_amount FROM orders WINDOW w AS (PARTITION BY product ORDER BY order_time RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW);
SELECT order_id, LAG(amount, 1, 0) OVER (PARTITION BY user_id ORDER BY order_time) FROM orders;
SELECT window_time, gmv, LAG(gmv) OVER (ORDER BY window_time) AS 上期 FROM (SELECT window_time, SUM(amount) gmv FROM TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' DAY) GROUP BY window_start, window_end, window_time);

-- joins
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE TABLE users (id BIGINT, name STRING, city STRING, update_time TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='kafka','topic'='users','properties.bootstrap.servers'='localhost:9092','format'='debezium-json','scan.startup.mode'='earliest-offset');
SELECT o.*, u.name FROM orders o INNER JOIN users u ON o.user_id = u.id;
SELECT o.*, u.name FROM orders o LEFT OUTER JOIN users u ON o.user_id = u.id;
SELECT o.order_id, u.name FROM orders o RIGHT JOIN users u ON o.user_id = u.id;
SELECT o.order_id, u.name FROM orders o FULL OUTER JOIN users u ON o.user_id = u.id;
SELECT * FROM orders CROSS JOIN users;
SELECT * FROM orders WHERE user_id IN (SELECT id FROM users WHERE city = '北京');
SELECT * FROM orders o WHERE EXISTS (SELECT 1 FROM users u WHERE u.id = o.user_id);
SELECT * FROM orders o WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = o.user_id);
SELECT * FROM orders NATURAL JOIN (SELECT id AS user_id, name FROM users) x;
SELECT order_id FROM orders JOIN (SELECT id AS user_id, name FROM users) AS u USING (user_id);

-- cte
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
WITH 北京订单 AS (SELECT * FROM orders WHERE city = '北京'), t2 (a, b) AS (SELECT user_id, SUM(amount) FROM 北京订单 GROUP BY user_id) SELECT * FROM t2 WHERE b > 100;
CREATE TABLE snk (a STRING, b BIGINT) WITH ('connector'='print');
INSERT INTO snk WITH x AS (SELECT city, COUNT(*) c FROM orders GROUP BY city) SELECT * FROM x;

-- sets
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT user_id FROM orders UNION SELECT order_id FROM orders;
SELECT user_id FROM orders UNION ALL SELECT order_id FROM orders;
(SELECT user_id FROM orders) INTERSECT (SELECT order_id FROM orders);
(SELECT user_id FROM orders) EXCEPT ALL (SELECT order_id FROM orders);

-- values
SELECT order_id, price FROM (VALUES (1, 2.0), (2, 3.1)) AS t (order_id, price);
VALUES 1, 2, 3;
VALUES (1, 'a');
SELECT * FROM (VALUES ('张三', 18), ('李四', 20)) AS t(姓名, 年龄) WHERE 年龄 >= 20;

-- unnest
CREATE TABLE o (id INT, tags ARRAY<STRING>, items ARRAY<ROW<sku STRING, qty INT>>, kv MAP<STRING,INT>) WITH ('connector'='datagen');
SELECT id, tag FROM o CROSS JOIN UNNEST(tags) AS t (tag);
SELECT id, sku, qty FROM o, UNNEST(items) AS t (sku, qty);
SELECT id, k, v FROM o LEFT JOIN UNNEST(kv) AS t (k, v) ON TRUE;
SELECT id, tag, n FROM o CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, n);
SELECT id, items[1].sku, kv['a'], CARDINALITY(tags) FROM o;

-- functions
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT UPPER(city), LOWER(city), CHAR_LENGTH(city), TRIM(city), TRIM(LEADING 'a' FROM city), LTRIM(city), RPAD(city, 10, '*'), CONCAT(city, product), CONCAT_WS('-', city, product), SUBSTRING(city FROM 1 FOR 2), SUBSTR(city, 1), POSITION('a' IN city), REPLACE(city,'a','b'), REGEXP_REPLACE(city, '\d+', ''), REGEXP_EXTRACT(city, '(a)(b)', 1), REGEXP(city, 'x'), SPLIT_INDEX(city, ',', 0), REVERSE(city), REPEAT(city, 2), INITCAP(city), OVERLAY(city PLACING 'x' FROM 1 FOR 1), ASCII(city), CHR(97), MD5(city), SHA256(city), TO_BASE64(city), FROM_BASE64(city), LEFT(city, 1), RIGHT(city, 1), INSTR(city, 'a'), LOCATE('a', city), PARSE_URL('http://a/b?q=1','QUERY','q'), STR_TO_MAP('a=1,b=2'), UUID(), city LIKE '北%' ESCAPE '!', city SIMILAR TO 'a|b', city NOT LIKE 'x', city IS NOT NULL, COALESCE(city, '未知'), NULLIF(city, ''), IFNULL(city, 'x') FROM orders;
SELECT ABS(amount), POWER(amount, 2), SQRT(amount), LN(amount), LOG10(amount), LOG(2, amount), EXP(1), CEIL(amount), FLOOR(amount), ROUND(amount, 1), TRUNCATE(amount, 1), MOD(order_id, 3), order_id % 3, SIGN(amount), PI(), E(), RAND(), RAND(1), RAND_INTEGER(10), GREATEST(1,2), LEAST(1,2), BIN(4), HEX('a'), SIN(1), RADIANS(1.0), DEGREES(1.0) FROM orders;

-- udf
CREATE FUNCTION my_udf AS 'com.example.MyUdf' LANGUAGE JAVA;

-- alter
CREATE TABLE t (a INT, b STRING, ts TIMESTAMP(3)) WITH ('connector'='blackhole');
ALTER TABLE t ADD c STRING AFTER a;
ALTER TABLE t ADD (d INT COMMENT '新列' FIRST, e AS a + 1);
ALTER TABLE t MODIFY b VARCHAR(20);
ALTER TABLE t ADD WATERMARK FOR ts AS ts - INTERVAL '1' SECOND;
ALTER TABLE t DROP WATERMARK;
ALTER TABLE t ADD PRIMARY KEY (a) NOT ENFORCED;
ALTER TABLE t DROP PRIMARY KEY;
ALTER TABLE t RENAME c TO cc;
ALTER TABLE t DROP cc;
ALTER TABLE t DROP (d, e);
ALTER TABLE t SET ('connector'='print');
ALTER TABLE t RESET ('print-identifier');
ALTER TABLE t RENAME TO t2;
DESCRIBE t2;
CREATE VIEW v AS SELECT a FROM t2;
ALTER VIEW v RENAME TO v2;
ALTER VIEW v2 AS SELECT b FROM t2;
DROP VIEW IF EXISTS v2;
DROP TABLE t2;

-- set
SET 'sql-client.execution.result-mode' = 'tableau';
SET sql-client.execution.result-mode=changelog;
SET execution.runtime-mode = streaming;
SET 'parallelism.default' = '4';
SET 'pipeline.name' = '我的作业';
SET 'table.exec.state.ttl' = '1 d';
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '5 s';
SET 'table.exec.mini-batch.size' = '5000';
SET 'table.optimizer.agg-phase-strategy' = 'TWO_PHASE';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'execution.checkpointing.interval' = '1min';
SET 'execution.checkpointing.mode' = 'EXACTLY_ONCE';
SET 'state.backend.type' = 'rocksdb';
SET 'execution.checkpointing.dir' = 'file:///tmp/ck';
SET 'table.local-time-zone' = 'Asia/Shanghai';
SET 'restart-strategy.type' = 'fixed-delay';
SET 'table.exec.source.idle-timeout' = '30s';
SET 'sql-client.verbose' = 'true';
SET; RESET 'table.exec.state.ttl'; RESET;

-- canal
CREATE TABLE topic_products (id BIGINT, name STRING, description STRING, weight DECIMAL(10, 2), origin_ts TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL, db STRING METADATA FROM 'value.database' VIRTUAL) WITH ('connector'='kafka','topic'='products_binlog','properties.bootstrap.servers'='localhost:9092','properties.group.id'='testGroup','value.format'='canal-json');
SELECT name, AVG(weight) FROM topic_products GROUP BY name;
CREATE TABLE m (id BIGINT, name STRING) WITH ('connector'='kafka','topic'='m','properties.bootstrap.servers'='localhost:9092','format'='maxwell-json');
SELECT COUNT(*) FROM m;
CREATE TABLE og (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='kafka','topic'='m','properties.bootstrap.servers'='localhost:9092','format'='ogg-json');
SELECT COUNT(*) FROM og;

-- kafka meta
CREATE TABLE KafkaTable (
  `event_time` TIMESTAMP(3) METADATA FROM 'timestamp',
  `partition` BIGINT METADATA VIRTUAL,
  `offset` BIGINT METADATA VIRTUAL,
  `user_id` BIGINT,
  `item_id` BIGINT,
  `behavior` STRING,
  headers MAP<STRING, BYTES> METADATA
) WITH (
  'connector' = 'kafka',
  'topic' = 'user_behavior',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.group.id' = 'testGroup',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'csv'
);
SELECT `partition`, MAX(`offset`) FROM KafkaTable GROUP BY `partition`;

-- upsert kafka
CREATE TABLE pageviews_per_region (user_region STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (user_region) NOT ENFORCED) WITH ('connector' = 'upsert-kafka','topic' = 'pageviews_per_region','properties.bootstrap.servers' = 'localhost:9092','key.format' = 'avro','value.format' = 'avro');

-- upsert kafka json
CREATE TABLE pageviews (user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP(3), user_region STRING, WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND) WITH ('connector' = 'kafka','topic' = 'pageviews','properties.bootstrap.servers' = 'localhost:9092','format' = 'json');
CREATE TABLE pageviews_per_region (user_region STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (user_region) NOT ENFORCED) WITH ('connector' = 'upsert-kafka','topic' = 'pageviews_per_region','properties.bootstrap.servers' = 'localhost:9092','key.format' = 'json','value.format' = 'json','key.fields-prefix'='k_','value.fields-include'='ALL');
INSERT INTO pageviews_per_region SELECT user_region, COUNT(*), COUNT(DISTINCT user_id) FROM pageviews GROUP BY user_region;

-- filesystem
CREATE TABLE fs_table (user_id STRING, order_amount DOUBLE, dt STRING, `hour` STRING) PARTITIONED BY (dt, `hour`) WITH ('connector'='filesystem','path'='file:///tmp/out','format'='csv','csv.field-delimiter'='|','sink.partition-commit.delay'='1 h','sink.partition-commit.policy.kind'='success-file');
CREATE TABLE fs_src (user_id STRING, order_amount DOUBLE) WITH ('connector'='filesystem','path'='/tmp/in.csv','format'='csv','csv.ignore-parse-errors'='true');
INSERT INTO fs_table SELECT user_id, order_amount, DATE_FORMAT(LOCALTIMESTAMP, 'yyyy-MM-dd'), DATE_FORMAT(LOCALTIMESTAMP, 'HH') FROM fs_src;

-- seconds kill
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
-- 每分钟 GMV 及累计 GMV（同时输出）
CREATE TABLE dws (`窗口开始` TIMESTAMP(3), `成交额` DECIMAL(38,2)) WITH ('connector'='print');
INSERT INTO dws SELECT window_start, SUM(amount) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE, INTERVAL '1' DAY)) GROUP BY window_start, window_end;

-- legacy
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT HOP_START(order_time, INTERVAL '1' MINUTE, INTERVAL '1' HOUR), HOP_END(order_time, INTERVAL '1' MINUTE, INTERVAL '1' HOUR), HOP_ROWTIME(order_time, INTERVAL '1' MINUTE, INTERVAL '1' HOUR), SUM(amount) FROM orders GROUP BY HOP(order_time, INTERVAL '1' MINUTE, INTERVAL '1' HOUR), city;
SELECT SESSION_START(order_time, INTERVAL '10' MINUTE), user_id, COUNT(*) FROM orders GROUP BY SESSION(order_time, INTERVAL '10' MINUTE), user_id;

-- dedup
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT order_id, user_id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY order_time DESC) rn FROM orders) WHERE rn = 1;

-- lag dt
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT dt, gmv, LAG(gmv) OVER (ORDER BY dt) FROM (SELECT DATE_FORMAT(order_time,'yyyy-MM-dd') dt, SUM(amount) gmv FROM orders GROUP BY DATE_FORMAT(order_time,'yyyy-MM-dd'));

-- scalar sub
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE TABLE users (id BIGINT, name STRING, city STRING, update_time TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='kafka','topic'='users','properties.bootstrap.servers'='localhost:9092','format'='debezium-json','scan.startup.mode'='earliest-offset');
SELECT order_id, (SELECT COUNT(*) FROM users) FROM orders;
SELECT * FROM orders WHERE amount > (SELECT AVG(amount) FROM orders);
SELECT order_id, (SELECT name FROM users WHERE id = user_id) FROM orders;

-- order limit
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT * FROM orders ORDER BY order_time LIMIT 10;
SELECT * FROM orders ORDER BY order_time ASC;
SELECT * FROM orders LIMIT 5;
SELECT * FROM orders FETCH FIRST 5 ROWS ONLY;
SELECT city, COUNT(*) c FROM orders GROUP BY city ORDER BY c DESC LIMIT 10 OFFSET 2;

-- batch
SET 'execution.runtime-mode' = 'batch';
CREATE TABLE t (a INT, b STRING) WITH ('connector'='datagen','number-of-rows'='10');
SELECT b, SUM(a) FROM t GROUP BY b ORDER BY 2 DESC LIMIT 3;
SELECT a, NTILE(4) OVER (ORDER BY a), LEAD(a) OVER (ORDER BY a), PERCENT_RANK() OVER (ORDER BY a) FROM t;

-- window join
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT L.order_id, R.order_id, COALESCE(L.window_start, R.window_start) FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES))) L FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES))) R ON L.user_id = R.user_id AND L.window_start = R.window_start AND L.window_end = R.window_end;
SELECT * FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES))) L WHERE L.user_id IN (SELECT user_id FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES))) R WHERE L.window_start = R.window_start AND L.window_end = R.window_end);

-- ctas like comments
CREATE TABLE IF NOT EXISTS `ods_订单` (
  `订单号` STRING COMMENT '主键，全局唯一',
  `金额` DECIMAL(18, 2) COMMENT '单位：元',
  `下单时间` TIMESTAMP(3) COMMENT 'it''s time',
  CONSTRAINT `pk` PRIMARY KEY (`订单号`) NOT ENFORCED
) COMMENT '订单表；含分号' DISTRIBUTED BY (`订单号`) INTO 4 BUCKETS WITH ('connector' = 'blackhole');

-- pk inline
CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('connector'='blackhole');
CREATE TABLE t2 (id INT NOT NULL, v STRING NULL, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='blackhole');
CREATE TEMPORARY TABLE IF NOT EXISTS t3 (a INT METADATA, b AS UPPER('x') COMMENT 'c') WITH ('connector'='blackhole');

-- iceberg
CREATE CATALOG hadoop_catalog WITH ('type'='iceberg','catalog-type'='hadoop','warehouse'='hdfs://nn:8020/warehouse/path','property-version'='1');

-- hive
CREATE CATALOG myhive WITH ('type' = 'hive','default-database' = 'mydatabase','hive-conf-dir' = '/opt/hive-conf');

-- jdbc catalog
CREATE CATALOG my_catalog WITH('type' = 'jdbc','default-database' = 'd','username' = 'u','password' = 'p','base-url' = 'jdbc:mysql://h:3306');

-- es
CREATE TABLE myUserTable (user_id STRING, user_name STRING, uv BIGINT, pv BIGINT, PRIMARY KEY (user_id) NOT ENFORCED) WITH ('connector' = 'elasticsearch-7','hosts' = 'http://localhost:9200','index' = 'users');

-- delete update
CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('connector'='blackhole');
UPDATE t SET v = 'x' WHERE id = 1;

-- case insens
create table T1 (Id int, NAME string) with ('connector'='datagen');
select Id, NAME from T1 where Id is not null and NAME <> '' and Id between 1 and 3 and Id not in (5,6);
Select Count(*) From T1;

-- ident
CREATE TABLE `my-table` (`select` INT, `a b` STRING, `中文列` STRING, _x INT, x1$ INT) WITH ('connector'='datagen');
SELECT t.`select`, t.`a b`, 中文列, _x, t.x1$ FROM `my-table` AS t;
SELECT `default_catalog`.`default_database`.`my-table`.`select` FROM default_catalog.default_database.`my-table`;

-- nested
CREATE TABLE k (id STRING, payload ROW<before ROW<id INT, name STRING>, after ROW<id INT, name STRING>, op STRING, ts_ms BIGINT>) WITH ('connector'='kafka','topic'='k','properties.bootstrap.servers'='h:1','format'='json');
SELECT payload.after.id, payload.after.name AS 名称, k.payload.op, TO_TIMESTAMP_LTZ(payload.ts_ms, 3) FROM k WHERE payload.op IN ('c','u');
SELECT payload.* FROM k;
SELECT CAST(ROW(1,'a') AS ROW<x INT, y STRING>).x, MAP['a',1]['a'], ARRAY[1,2][1] FROM k;

-- proctime window
CREATE TABLE s (a INT, pt AS PROCTIME()) WITH ('connector'='datagen');
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(pt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT TUMBLE_PROCTIME(pt, INTERVAL '1' MINUTE), COUNT(*) FROM s GROUP BY TUMBLE(pt, INTERVAL '1' MINUTE);

-- ltz
SET 'table.local-time-zone' = 'Asia/Shanghai';
CREATE TABLE e (ts BIGINT, id INT, time_ltz AS TO_TIMESTAMP_LTZ(ts, 3), WATERMARK FOR time_ltz AS time_ltz - INTERVAL '5' SECOND) WITH ('connector'='datagen');
SELECT DATE_FORMAT(window_start, 'yyyy-MM-dd'), COUNT(DISTINCT id) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(time_ltz), INTERVAL '1' DAY, INTERVAL '-8' HOUR)) GROUP BY window_start, window_end;
CREATE TABLE e2 (ts BIGINT, id INT, t AS TO_TIMESTAMP(FROM_UNIXTIME(ts / 1000, 'yyyy-MM-dd HH:mm:ss')), WATERMARK FOR t AS t - INTERVAL '5' SECOND) WITH ('connector'='datagen');
SELECT COUNT(*) FROM e2 GROUP BY TUMBLE(t, INTERVAL '5' SECOND);

-- cast
SELECT CAST('1' AS INT), TRY_CAST('a' AS INT), CAST(1 AS STRING), CAST(1.5 AS INT), CAST('2024-01-01' AS DATE), CAST('2024-01-01 10:00:00' AS TIMESTAMP(3)), CAST(TRUE AS INT), CAST(ARRAY[1,2] AS ARRAY<STRING>), CAST(NULL AS BIGINT), CAST(X'41' AS STRING), TYPEOF(1), CAST(1 AS DECIMAL(10,2));

-- window agg cascade
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE VIEW window1 AS SELECT window_start AS window_5mintumble_start, window_end AS window_5mintumble_end, window_time AS rowtime, SUM(amount) AS partial_price FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES)) GROUP BY user_id, window_start, window_end, window_time;
SELECT window_start, window_end, SUM(partial_price) AS total_price FROM TABLE(TUMBLE(TABLE window1, DESCRIPTOR(rowtime), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end;

-- add jar
ADD JAR '/path/hello.jar';

-- analyze
CREATE TABLE t (a INT) WITH ('connector'='datagen');
ANALYZE TABLE t COMPUTE STATISTICS;

-- call
CALL sys.compact('db.t');

-- truncate
CREATE TABLE t (a INT) WITH ('connector'='blackhole');
TRUNCATE TABLE t;

-- materialized
CREATE MATERIALIZED TABLE mt PARTITIONED BY (ds) FRESHNESS = INTERVAL '1' HOUR AS SELECT 1 AS a, '2' AS ds;

-- ontime interval plural
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
SELECT order_time + INTERVAL '1' HOURS, order_time - INTERVAL '30' MINUTES, INTERVAL '10' DAYS, INTERVAL '1 10' DAY TO HOUR, INTERVAL '10:30' MINUTE TO SECOND FROM orders;
SELECT TIMESTAMPADD(MINUTE, 5, order_time), CEIL(order_time TO MONTH), DATE_FORMAT(order_time, 'yyyyMMdd'), CAST(DATE_FORMAT(order_time, 'yyyyMMdd') AS INT) FROM orders;

-- split agg mini
SET 'table.optimizer.distinct-agg.split.enabled'='true';
CREATE TABLE t (day_str STRING, user_id BIGINT, flag STRING) WITH ('connector'='datagen');
SELECT day_str, SUM(cnt) FROM (SELECT day_str, COUNT(DISTINCT user_id) as cnt FROM t GROUP BY day_str, MOD(HASH_CODE(user_id), 1024)) GROUP BY day_str;
SELECT day_str, COUNT(DISTINCT user_id) AS total_uv, COUNT(DISTINCT user_id) FILTER (WHERE flag IN ('android', 'iphone')) AS app_uv FROM t GROUP BY day_str;

-- view columns
CREATE TABLE orders (
  order_id BIGINT, user_id BIGINT, product STRING, city STRING, amount DECIMAL(10,2), order_time TIMESTAMP(3),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka','topic' = 'orders','properties.bootstrap.servers' = 'localhost:9092','properties.group.id' = 'g','scan.startup.mode' = 'earliest-offset','format' = 'json');
CREATE VIEW IF NOT EXISTS v (城市 COMMENT '市', 总额) COMMENT '视图' AS SELECT city, SUM(amount) FROM orders GROUP BY city;
SHOW CREATE VIEW v; DESCRIBE v; SHOW VIEWS;
SELECT * FROM v WHERE 总额 > 10;
CREATE TEMPORARY VIEW v2 AS SELECT * FROM v;
DROP TEMPORARY VIEW v2;

-- system fn calls
SELECT IF(1 > 0, 'a', 'b'), CASE 1 WHEN 1 THEN 'x' ELSE 'y' END, 1 BETWEEN SYMMETRIC 2 AND 0, 'a' IS DISTINCT FROM 'b', (1,2) = (1,2), NOT TRUE IS TRUE, x'ff', U&'\4e2d', 'a' || 'b', 7 / 2, 7 % 2, -5, +5, 1e3, .5, 1.;
