//! The problems that the Kafka connectors report: code, who must act, and texts in English and Chinese.

use base::{Domain, ErrorCode, Text};

/// No broker answers at the addresses given.
pub const BROKER_UNREACHABLE: ErrorCode = ErrorCode {
    code: "HW-C070",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "no Kafka broker answers at {servers} (table {table}, topic {topic})",
        why: "{cause}",
        fix: "start the broker, or correct 'properties.bootstrap.servers'; host and port must be reachable from this machine",
    },
    zh: Text {
        what: "{servers} 上没有 Kafka broker 应答（表 {table}，主题 {topic}）",
        why: "{cause}",
        fix: "请启动 broker，或更正 'properties.bootstrap.servers'；该地址和端口必须能从本机访问",
    },
};

/// A topic that is not there.
pub const TOPIC_UNKNOWN: ErrorCode = ErrorCode {
    code: "HW-C071",
    domain: Domain::User,
    retry: true,
    en: Text {
        what: "topic '{topic}' of table {table} does not exist",
        why: "the broker at {servers} does not have it; its topics: {known}",
        fix: "create it: kafka-topics.sh --bootstrap-server {servers} --create --topic {topic} --partitions 1; or correct 'topic' (nearest: {nearest})",
    },
    zh: Text {
        what: "表 {table} 的主题 '{topic}' 不存在",
        why: "{servers} 上的 broker 没有该主题；已有主题：{known}",
        fix: "请创建：kafka-topics.sh --bootstrap-server {servers} --create --topic {topic} --partitions 1；或更正 'topic'（最接近的：{nearest}）",
    },
};

/// No topic has a name that fits the pattern.
pub const PATTERN_MATCHES_NOTHING: ErrorCode = ErrorCode {
    code: "HW-C072",
    domain: Domain::User,
    retry: true,
    en: Text {
        what: "no topic fits 'topic-pattern' = '{pattern}' of table {table}",
        why: "the broker at {servers} has these topics: {known}",
        fix: "correct the pattern; it must match the whole name",
    },
    zh: Text {
        what: "没有主题匹配表 {table} 的 'topic-pattern' = '{pattern}'",
        why: "{servers} 上的 broker 有这些主题：{known}",
        fix: "请更正模式；它必须匹配完整的主题名",
    },
};

/// The broker names an address that cannot be reached.
pub const ADVERTISED_UNREACHABLE: ErrorCode = ErrorCode {
    code: "HW-C073",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "the broker at {servers} sends readers and writers of topic '{topic}' to {advertised}, where nothing can be reached",
        why: "{cause}; a Kafka client only asks 'properties.bootstrap.servers' for the address of the partition's leader, and the broker's setting advertised.listeners says {advertised} (table {table})",
        fix: "set advertised.listeners of the broker to an address that this machine reaches, for example advertised.listeners=PLAINTEXT://{servers}, and restart it; or run where {advertised} is the broker",
    },
    zh: Text {
        what: "{servers} 上的 broker 让主题 '{topic}' 的客户端连接 {advertised}，而该地址无法访问",
        why: "{cause}；Kafka 客户端只向 'properties.bootstrap.servers' 询问分区 leader 的地址，而 broker 的 advertised.listeners 配置为 {advertised}（表 {table}）",
        fix: "请把 broker 的 advertised.listeners 设为本机可访问的地址，例如 advertised.listeners=PLAINTEXT://{servers}，然后重启 broker；或在 {advertised} 就是该 broker 的机器上运行",
    },
};

/// The broker does not accept the user or what the user does.
pub const NOT_AUTHORISED: ErrorCode = ErrorCode {
    code: "HW-C074",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "user {user} may not {action} topic '{topic}' (table {table})",
        why: "the broker at {servers} says: {cause}",
        fix: "allow it on the broker: kafka-acls.sh --bootstrap-server {servers} --add --allow-principal User:{user} --operation {operation} --topic {topic}",
    },
    zh: Text {
        what: "用户 {user} 无权对主题 '{topic}' 执行 {action}（表 {table}）",
        why: "{servers} 上的 broker 返回：{cause}",
        fix: "请在 broker 上授权：kafka-acls.sh --bootstrap-server {servers} --add --allow-principal User:{user} --operation {operation} --topic {topic}",
    },
};

/// The broker does not let the client in.
pub const NOT_AUTHENTICATED: ErrorCode = ErrorCode {
    code: "HW-C075",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "the broker at {servers} does not accept the login of user {user} (table {table})",
        why: "{cause}",
        fix: "check 'properties.security.protocol', 'properties.sasl.mechanism' and the user and password in 'properties.sasl.jaas.config' (or 'properties.sasl.username' and 'properties.sasl.password')",
    },
    zh: Text {
        what: "{servers} 上的 broker 不接受用户 {user} 的登录（表 {table}）",
        why: "{cause}",
        fix: "请检查 'properties.security.protocol'、'properties.sasl.mechanism' 以及 'properties.sasl.jaas.config' 中的用户名和密码（或 'properties.sasl.username' 与 'properties.sasl.password'）",
    },
};

/// A client property that librdkafka or the Java client does not take.
pub const BAD_PROPERTY: ErrorCode = ErrorCode {
    code: "HW-C076",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the Kafka client does not take 'properties.{key}' = '{value}'",
        why: "{cause}",
        fix: "correct the property or remove it",
    },
    zh: Text {
        what: "Kafka 客户端不接受 'properties.{key}' = '{value}'", why: "{cause}", fix: "请更正或删除该属性"
    },
};

/// A consumer group without a position, and no rule what to do then.
pub const NO_GROUP_OFFSET: ErrorCode = ErrorCode {
    code: "HW-C077",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "consumer group {group} has no position in partition {partition} of topic '{topic}' (table {table})",
        why: "'{key}' is 'group-offsets' (the default of Flink as well), and nobody has committed an offset for this group",
        fix: "say where to begin: 'scan.startup.mode' = 'earliest-offset' or 'latest-offset'; or 'properties.auto.offset.reset' = 'earliest'",
    },
    zh: Text {
        what: "消费组 {group} 在主题 '{topic}' 的分区 {partition} 上没有位点（表 {table}）",
        why: "'{key}' 为 'group-offsets'（与 Flink 的默认值相同），而该消费组从未提交过位点",
        fix: "请指定起点：'scan.startup.mode' = 'earliest-offset' 或 'latest-offset'；或设置 'properties.auto.offset.reset' = 'earliest'",
    },
};

/// A position that the broker does not have (any more).
pub const OFFSET_GONE: ErrorCode = ErrorCode {
    code: "HW-C078",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "offset {offset} of topic '{topic}' partition {partition} is not there (table {table})",
        why: "the broker holds offsets {low} to {high}: older records were deleted by retention, or the topic was created anew",
        fix: "nothing is skipped silently: say where to begin, for example 'scan.startup.mode' = 'earliest-offset', and start the job anew",
    },
    zh: Text {
        what: "主题 '{topic}' 分区 {partition} 的位点 {offset} 不存在（表 {table}）",
        why: "broker 上的位点范围是 {low} 到 {high}：更早的记录已按保留策略删除，或主题被重新创建",
        fix: "不会静默跳过记录：请指定起点，例如 'scan.startup.mode' = 'earliest-offset'，然后重新开始作业",
    },
};

/// A topic that was deleted while it was read.
pub const TOPIC_GONE: ErrorCode = ErrorCode {
    code: "HW-C079",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "topic '{topic}' of table {table} was deleted while the job was using it",
        why: "the broker at {servers} does not know it any more ({cause})",
        fix: "create the topic again and start the job anew, or remove the table from the job",
    },
    zh: Text {
        what: "表 {table} 的主题 '{topic}' 在作业使用期间被删除",
        why: "{servers} 上的 broker 已不存在该主题（{cause}）",
        fix: "请重新创建主题并重新开始作业，或从作业中移除该表",
    },
};

/// A partition of a specific-offsets list that the topic does not have.
pub const NO_SUCH_PARTITION: ErrorCode = ErrorCode {
    code: "HW-C080",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{key}' names partition {partition}, which topic '{topic}' does not have",
        why: "the topic has {count} partitions, numbered from 0 (table {table})",
        fix: "remove the partition from the list",
    },
    zh: Text {
        what: "'{key}' 指定了分区 {partition}，而主题 '{topic}' 没有该分区",
        why: "该主题有 {count} 个分区，从 0 开始编号（表 {table}）",
        fix: "请从列表中删除该分区",
    },
};

/// A record that could not be delivered.
pub const NOT_DELIVERED: ErrorCode = ErrorCode {
    code: "HW-C081",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "a record for topic '{topic}' could not be written (table {table})",
        why: "{cause}",
        fix: "see the broker's log, then start the job again: rows since its last checkpoint are written once more; 'properties.delivery.timeout.ms' says how long it is tried",
    },
    zh: Text {
        what: "发往主题 '{topic}' 的记录无法写入（表 {table}）",
        why: "{cause}",
        fix: "请查看 broker 日志，然后重新启动作业：最近检查点之后的行会再次写入；'properties.delivery.timeout.ms' 决定重试时长",
    },
};

/// A record that is too large for broker or client.
pub const TOO_LARGE: ErrorCode = ErrorCode {
    code: "HW-C082",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a record of {size} bytes is too large for topic '{topic}' (table {table})",
        why: "{cause}",
        fix: "raise 'properties.max.request.size' of the table and max.message.bytes of the topic, or write smaller rows",
    },
    zh: Text {
        what: "{size} 字节的记录对主题 '{topic}' 来说过大（表 {table}）",
        why: "{cause}",
        fix: "请调大表的 'properties.max.request.size' 和主题的 max.message.bytes，或写入更小的行",
    },
};

/// A topic of an upsert table that the broker does not compact.
pub const NOT_COMPACTED: ErrorCode = ErrorCode {
    code: "HW-C083",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "topic '{topic}' of upsert table {table} is not compacted (cleanup.policy={policy})",
        why: "the topic holds the content of a table: with this policy the broker deletes old records, and with them rows that never changed since",
        fix: "kafka-configs.sh --bootstrap-server {servers} --alter --topic {topic} --add-config cleanup.policy=compact",
    },
    zh: Text {
        what: "upsert 表 {table} 的主题 '{topic}' 未启用压实（cleanup.policy={policy}）",
        why: "该主题保存的是一张表的内容：在此策略下 broker 会删除旧记录，从未再变更过的行也会随之丢失",
        fix: "kafka-configs.sh --bootstrap-server {servers} --alter --topic {topic} --add-config cleanup.policy=compact",
    },
};

/// A record of an upsert topic without a key.
pub const NO_KEY: ErrorCode = ErrorCode {
    code: "HW-C084",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a record of table {table} has no key",
        why: "{reason}",
        fix: "write the topic with keys; or read it with 'connector' = 'kafka' and columns that can be NULL",
    },
    zh: Text {
        what: "表 {table} 的一条记录没有键",
        why: "{reason}",
        fix: "请带键写入该主题；或改用 'connector' = 'kafka' 并将列声明为可为 NULL",
    },
};

/// A sink row whose topic column is NULL or names a topic outside the list.
pub const BAD_TARGET_TOPIC: ErrorCode = ErrorCode {
    code: "HW-C085",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a row of table {table} names the topic {topic}",
        why: "its column for metadata 'topic' must hold one of the topics in 'topic': {known}",
        fix: "add the topic to option 'topic', or leave such rows out",
    },
    zh: Text {
        what: "表 {table} 的一行指定了主题 {topic}",
        why: "其元数据 'topic' 列的值必须是选项 'topic' 中的主题之一：{known}",
        fix: "请把该主题加入选项 'topic'，或过滤掉这样的行",
    },
};

/// Buffering with one of its two options only.
pub const BUFFER_NEEDS_BOTH: ErrorCode = ErrorCode {
    code: "HW-C086",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "'{key}' of table {table} has no effect",
        why: "changes are gathered only if both 'sink.buffer-flush.max-rows' and 'sink.buffer-flush.interval' are above 0",
        fix: "set '{other}' as well, or remove '{key}'",
    },
    zh: Text {
        what: "表 {table} 的 '{key}' 不起作用",
        why: "只有 'sink.buffer-flush.max-rows' 和 'sink.buffer-flush.interval' 都大于 0 时才会缓存变更",
        fix: "请同时设置 '{other}'，或删除 '{key}'",
    },
};

/// A client property that has no meaning here.
pub const PROPERTY_WITHOUT_EFFECT: ErrorCode = ErrorCode {
    code: "HW-C087",
    domain: Domain::User,
    retry: false,
    en: Text { what: "'properties.{key}' of table {table} has no effect", why: "{reason}", fix: "it can be removed" },
    zh: Text { what: "表 {table} 的 'properties.{key}' 不起作用", why: "{reason}", fix: "可以删除该属性" },
};

/// A request that no new try would make succeed.
pub const REQUEST_FAILED: ErrorCode = ErrorCode {
    code: "HW-C088",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "topic '{topic}' of table {table} cannot be used",
        why: "the Kafka client says: {cause} (broker {servers})",
        fix: "see the broker's log; trying again would not help",
    },
    zh: Text {
        what: "表 {table} 的主题 '{topic}' 无法使用",
        why: "Kafka 客户端返回：{cause}（broker {servers}）",
        fix: "请查看 broker 日志；重试无济于事",
    },
};

/// A record time that the client takes for "now".
pub const TIME_ZERO: ErrorCode = ErrorCode {
    code: "HW-C089",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "a row of table {table} has the record time 1970-01-01 00:00:00.000 UTC",
        why: "the Kafka client takes this time for 'now', so readers would see another one",
        fix: "write another time, or NULL for the time of writing",
    },
    zh: Text {
        what: "表 {table} 的一行的消息时间为 1970-01-01 00:00:00.000 UTC",
        why: "Kafka 客户端会把该时间当作“当前时间”，读取方将看到另一个时间",
        fix: "请写入其他时间，或写 NULL 表示写入时刻",
    },
};

/// The brokers do not answer while a job runs.
pub const BROKER_AWAY: ErrorCode = ErrorCode {
    code: "HW-C090",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "no broker of table {table} answers any more ({servers})",
        why: "{cause}",
        fix: "the job waits and goes on by itself when a broker is back",
    },
    zh: Text {
        what: "表 {table} 的 broker 均不再应答（{servers}）",
        why: "{cause}",
        fix: "作业正在等待，broker 恢复后会自动继续",
    },
};

/// The brokers answer again.
pub const BROKER_BACK: ErrorCode = ErrorCode {
    code: "HW-C091",
    domain: Domain::External,
    retry: false,
    en: Text { what: "a broker of table {table} answers again after {seconds} s", why: "", fix: "" },
    zh: Text { what: "表 {table} 的 broker 在 {seconds} 秒后恢复应答", why: "", fix: "" },
};

/// A primary key that a plain topic cannot keep.
pub const NO_PRIMARY_KEY: ErrorCode = ErrorCode {
    code: "HW-C092",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} of connector 'kafka' with format '{format}' cannot have a PRIMARY KEY",
        why: "every record of the topic is a row of its own, so nothing keeps a key unique",
        fix: "remove PRIMARY KEY; or use 'connector' = 'upsert-kafka' if a record replaces the one with the same key",
    },
    zh: Text {
        what: "connector 'kafka' 且格式为 '{format}' 的表 {table} 不能定义 PRIMARY KEY",
        why: "主题中的每条记录都是独立的一行，无法保证键唯一",
        fix: "请删除 PRIMARY KEY；若新记录会替换相同键的记录，请使用 'connector' = 'upsert-kafka'",
    },
};

/// A startup option of a table that is always read as a whole.
pub const READ_AS_A_WHOLE: ErrorCode = ErrorCode {
    code: "HW-C093",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "upsert table {table} does not take '{key}'",
        why: "its rows are what all records of the topic have left, so connector 'upsert-kafka' always reads from the beginning",
        fix: "remove '{key}'; to read the records themselves use 'connector' = 'kafka'",
    },
    zh: Text {
        what: "upsert 表 {table} 不接受 '{key}'",
        why: "它的行由主题的全部记录得出，因此 connector 'upsert-kafka' 总是从头读取",
        fix: "请删除 '{key}'；若要读取记录本身，请使用 'connector' = 'kafka'",
    },
};

/// Rows of a checkpoint that could not be committed.
pub const NOT_COMMITTED: ErrorCode = ErrorCode {
    code: "HW-C094",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "the rows of a checkpoint could not be committed to Kafka (table {table})",
        why: "{cause} (broker {servers})",
        fix: "see the broker's log; the rows are in the checkpoint: the job, or its next start, commits them once, as soon as a broker answers",
    },
    zh: Text {
        what: "检查点中的行无法提交到 Kafka（表 {table}）",
        why: "{cause}（broker {servers}）",
        fix: "请查看 broker 日志；这些行保存在检查点中：broker 恢复应答后，作业（或下次启动时）会提交它们，且只提交一次",
    },
};

/// Another instance uses the transactional id.
pub const FENCED: ErrorCode = ErrorCode {
    code: "HW-C095",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "another instance has taken the transactional id '{id}' of table {table}",
        why: "{other}; the broker lets only the newest one write",
        fix: "if both are to run, give this table a 'sink.transactional-id-prefix' of its own (now '{prefix}'); otherwise stop one of them",
    },
    zh: Text {
        what: "表 {table} 的事务 id '{id}' 已被另一个实例占用",
        why: "{other}；broker 只允许最新的实例写入",
        fix: "若两者都要运行，请为该表设置独有的 'sink.transactional-id-prefix'（当前为 '{prefix}'）；否则请停止其中一个",
    },
};

/// The transactional id belonged to a run that did not end.
pub const TAKEN_OVER: ErrorCode = ErrorCode {
    code: "HW-C096",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "the transactional id '{id}' of table {table} belonged to another run, which has not ended well",
        why: "it was {other}; what its checkpoints had not committed is not written by this run",
        fix: "if that run is still at work, it fails at its next commit: every job needs a 'sink.transactional-id-prefix' of its own",
    },
    zh: Text {
        what: "表 {table} 的事务 id '{id}' 属于另一次未正常结束的运行",
        why: "那是 {other}；其检查点尚未提交的行不会由本次运行写入",
        fix: "如果那次运行仍在工作，它会在下一次提交时失败：每个作业都需要独有的 'sink.transactional-id-prefix'",
    },
};

/// More is committed than the checkpoint knows of.
pub const PROGRESS_AHEAD: ErrorCode = ErrorCode {
    code: "HW-C097",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} cannot go on from checkpoint {epoch}: the rows of checkpoint {committed} are committed already",
        why: "they would be written twice, and what Kafka has committed cannot be taken back (progress topic '{topic}')",
        fix: "go on from the newest checkpoint (without --checkpoint), or begin anew with --fresh; to write the rows after checkpoint {epoch} again all the same, give the table another 'sink.transactional-id-prefix'",
    },
    zh: Text {
        what: "表 {table} 无法从检查点 {epoch} 继续：检查点 {committed} 的行已经提交",
        why: "这些行会被写入两次，而 Kafka 已提交的内容无法撤回（进度主题 '{topic}'）",
        fix: "请从最新的检查点继续（不使用 --checkpoint），或用 --fresh 重新开始；若仍要再次写入检查点 {epoch} 之后的行，请为该表设置另一个 'sink.transactional-id-prefix'",
    },
};

/// The progress topic does not know what it knew.
pub const PROGRESS_LOST: ErrorCode = ErrorCode {
    code: "HW-C098",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "topic '{topic}' does not say any more what table {table} has committed",
        why: "the checkpoint knows of commits up to checkpoint {epoch}: the topic was deleted or its records were; whether the last rows are written is unknown",
        fix: "begin anew with --fresh; or give the table another 'sink.transactional-id-prefix': then the rows of the last checkpoint are written again, perhaps twice",
    },
    zh: Text {
        what: "主题 '{topic}' 不再记录表 {table} 已提交的进度",
        why: "检查点知道的提交至少到检查点 {epoch}：该主题或其记录已被删除；无法得知最后的行是否已写入",
        fix: "请用 --fresh 重新开始；或为该表设置另一个 'sink.transactional-id-prefix'：那样最后一个检查点的行会再次写入，可能重复",
    },
};

/// The id of a sink has changed, and what it had committed is unknown.
pub const PROGRESS_UNKNOWN: ErrorCode = ErrorCode {
    code: "HW-C099",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the rows of checkpoint {epoch} are written to table {table} again, perhaps twice",
        why: "the sink had the transactional id '{earlier}' and has '{id}' now; what it committed under the earlier one does not fit the checkpoint or cannot be read",
        fix: "keep 'sink.transactional-id-prefix' and the names of the tables while a job goes on",
    },
    zh: Text {
        what: "检查点 {epoch} 的行会再次写入表 {table}，可能重复",
        why: "该 sink 的事务 id 曾为 '{earlier}'，现为 '{id}'；以前的 id 提交的进度与检查点不符或无法读取",
        fix: "作业继续运行期间，请保持 'sink.transactional-id-prefix' 和表名不变",
    },
};

/// The progress topic cannot be made or used.
pub const PROGRESS_TOPIC: ErrorCode = ErrorCode {
    code: "HW-C100",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "the progress topic '{topic}' of table {table} cannot be used",
        why: "{cause}",
        fix: "create it: kafka-topics.sh --bootstrap-server {servers} --create --topic {topic} --partitions 1 --replication-factor {replication} --config cleanup.policy=compact; if it is there: kafka-configs.sh --bootstrap-server {servers} --alter --topic {topic} --add-config cleanup.policy=compact",
    },
    zh: Text {
        what: "表 {table} 的进度主题 '{topic}' 无法使用",
        why: "{cause}",
        fix: "请创建：kafka-topics.sh --bootstrap-server {servers} --create --topic {topic} --partitions 1 --replication-factor {replication} --config cleanup.policy=compact；若已存在：kafka-configs.sh --bootstrap-server {servers} --alter --topic {topic} --add-config cleanup.policy=compact",
    },
};

/// The broker allows shorter transactions only.
pub const TRANSACTION_SHORTENED: ErrorCode = ErrorCode {
    code: "HW-C101",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "table {table} uses a transaction timeout of {allowed} ms instead of 'properties.transaction.timeout.ms' = '{asked}'",
        why: "the broker at {servers} allows no more: its transaction.max.timeout.ms is {allowed}",
        fix: "nothing has to be done, since a transaction is open only during a commit; set 'properties.transaction.timeout.ms' = '{allowed}' or remove it, or raise transaction.max.timeout.ms of the broker to {asked}",
    },
    zh: Text {
        what: "表 {table} 使用 {allowed} 毫秒的事务超时，而不是 'properties.transaction.timeout.ms' = '{asked}'",
        why: "{servers} 上的 broker 最多允许 {allowed}（transaction.max.timeout.ms）",
        fix: "无需处理，因为事务只在提交期间打开；可设置 'properties.transaction.timeout.ms' = '{allowed}' 或删除该项，或将 broker 的 transaction.max.timeout.ms 提高到 {asked}",
    },
};

/// The broker refuses the transaction timeout.
pub const TRANSACTION_TOO_LONG: ErrorCode = ErrorCode {
    code: "HW-C102",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the broker at {servers} refuses transactions of {asked} ms (table {table})",
        why: "its transaction.max.timeout.ms is less, and it does not tell this user how much",
        fix: "set 'properties.transaction.timeout.ms' to at most the broker's transaction.max.timeout.ms",
    },
    zh: Text {
        what: "{servers} 上的 broker 拒绝 {asked} 毫秒的事务（表 {table}）",
        why: "其 transaction.max.timeout.ms 更小，且未向该用户透露具体值",
        fix: "请把 'properties.transaction.timeout.ms' 设为不超过 broker 的 transaction.max.timeout.ms",
    },
};

/// The user may not write transactions.
pub const TRANSACTIONS_FORBIDDEN: ErrorCode = ErrorCode {
    code: "HW-C103",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "user {user} may not write transactions with the id '{id}' (table {table})",
        why: "the broker at {servers} says: transactional id authorization failed",
        fix: "allow it on the broker: kafka-acls.sh --bootstrap-server {servers} --add --allow-principal User:{user} --operation Write --operation Describe --transactional-id {id}",
    },
    zh: Text {
        what: "用户 {user} 无权使用事务 id '{id}'（表 {table}）",
        why: "{servers} 上的 broker 返回：transactional id authorization failed",
        fix: "请在 broker 上授权：kafka-acls.sh --bootstrap-server {servers} --add --allow-principal User:{user} --operation Write --operation Describe --transactional-id {id}",
    },
};

/// Rows that nobody sees before the end.
pub const VISIBLE_AT_THE_END: ErrorCode = ErrorCode {
    code: "HW-C104",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "rows of table {table} can be read only when the job ends or is stopped",
        why: "with 'sink.delivery-guarantee' = 'exactly-once' a checkpoint commits them, and 'execution.checkpointing.interval' is 0",
        fix: "SET 'execution.checkpointing.interval' = '10 s';",
    },
    zh: Text {
        what: "表 {table} 的行要到作业结束或停止时才能读到",
        why: "'sink.delivery-guarantee' = 'exactly-once' 由检查点提交，而 'execution.checkpointing.interval' 为 0",
        fix: "SET 'execution.checkpointing.interval' = '10 s';",
    },
};

/// Too many bytes wait for their commit.
pub const TOO_MUCH_WAITS: ErrorCode = ErrorCode {
    code: "HW-C105",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "more than {bytes} bytes of rows of table {table} wait for the commit of their checkpoint",
        why: "with 'sink.delivery-guarantee' = 'exactly-once' rows are kept in memory until their checkpoint is complete, and checkpoints are too slow for this many rows",
        fix: "see why checkpoints take long, or raise '{key}'",
    },
    zh: Text {
        what: "表 {table} 有超过 {bytes} 字节的行等待其检查点提交",
        why: "'sink.delivery-guarantee' = 'exactly-once' 时，行在检查点完成前保存在内存中，而检查点跟不上行的数量",
        fix: "请检查检查点为何耗时，或调大 '{key}'",
    },
};

/// A checkpoint holds what another sink has left.
pub const FOREIGN_STATE: ErrorCode = ErrorCode {
    code: "HW-C106",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the checkpoint holds rows or state of table {table} that another connector has left",
        why: "the table had another connector, or another version of the program has written the checkpoint",
        fix: "run the script as it was until it has stopped in order, or begin anew with --fresh",
    },
    zh: Text {
        what: "检查点中有表 {table} 的另一个 connector 留下的行或状态",
        why: "该表曾使用另一个 connector，或检查点由程序的另一个版本写入",
        fix: "请用原来的脚本运行直到正常停止，或用 --fresh 重新开始",
    },
};

/// Every code of the Kafka connectors, for the catalogue page and its test.
pub const CODES: &[&ErrorCode] = &[
    &BROKER_UNREACHABLE,
    &TOPIC_UNKNOWN,
    &PATTERN_MATCHES_NOTHING,
    &ADVERTISED_UNREACHABLE,
    &NOT_AUTHORISED,
    &NOT_AUTHENTICATED,
    &BAD_PROPERTY,
    &NO_GROUP_OFFSET,
    &OFFSET_GONE,
    &TOPIC_GONE,
    &NO_SUCH_PARTITION,
    &NOT_DELIVERED,
    &TOO_LARGE,
    &NOT_COMPACTED,
    &NO_KEY,
    &BAD_TARGET_TOPIC,
    &BUFFER_NEEDS_BOTH,
    &PROPERTY_WITHOUT_EFFECT,
    &REQUEST_FAILED,
    &TIME_ZERO,
    &BROKER_AWAY,
    &BROKER_BACK,
    &NO_PRIMARY_KEY,
    &READ_AS_A_WHOLE,
    &NOT_COMMITTED,
    &FENCED,
    &TAKEN_OVER,
    &PROGRESS_AHEAD,
    &PROGRESS_LOST,
    &PROGRESS_UNKNOWN,
    &PROGRESS_TOPIC,
    &TRANSACTION_SHORTENED,
    &TRANSACTION_TOO_LONG,
    &TRANSACTIONS_FORBIDDEN,
    &VISIBLE_AT_THE_END,
    &TOO_MUCH_WAITS,
    &FOREIGN_STATE,
];
