//! The problems that state can have.

use base::{Domain, ErrorCode, Text};

/// A table of a checkpoint has other columns than the operator that takes it over.
pub const STATE_COLUMNS_DIFFER: ErrorCode = ErrorCode {
    code: "HW-X100",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the saved state of {table} does not fit the statement any more",
        why: "column {column} is {found} in the checkpoint, the statement needs {expected}",
        fix: "run the script as it was, or start it without the checkpoint",
    },
    zh: Text {
        what: "{table} 已保存的状态与当前语句不符",
        why: "检查点中的列 {column} 是 {found}，语句需要 {expected}",
        fix: "请运行原来的脚本，或不带检查点重新启动",
    },
};

/// A checkpoint file that is not what was written.
pub const CHECKPOINT_DAMAGED: ErrorCode = ErrorCode {
    code: "HW-X101",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "checkpoint file {path} is damaged",
        why: "{cause}",
        fix: "put the file back from a copy, or give up the saved state: highwater run ... --fresh",
    },
    zh: Text {
        what: "检查点文件 {path} 已损坏",
        why: "{cause}",
        fix: "请从备份恢复该文件，或放弃已保存的状态：highwater run ... --fresh",
    },
};

/// A checkpoint file of another version.
pub const CHECKPOINT_VERSION: ErrorCode = ErrorCode {
    code: "HW-X102",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "this version cannot read {what}",
        why: "it was written by another version of Highwater",
        fix: "run the version that wrote it, or give up the saved state: highwater run ... --fresh",
    },
    zh: Text {
        what: "当前版本无法读取 {what}",
        why: "它由其他版本的 Highwater 写入",
        fix: "请使用写入它的版本运行，或放弃已保存的状态：highwater run ... --fresh",
    },
};

/// A folder of checkpoints that another process has.
pub const CHECKPOINTS_IN_USE: ErrorCode = ErrorCode {
    code: "HW-X103",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the checkpoints in {path} are in use",
        why: "another process runs this job",
        fix: "stop it first: highwater stop; or give one of them another name: SET 'pipeline.name' = '...';",
    },
    zh: Text {
        what: "{path} 中的检查点正在使用",
        why: "另一个进程正在运行该作业",
        fix: "请先停止它：highwater stop；或为其中一个另起名字：SET 'pipeline.name' = '...';",
    },
};

/// A file of the cache that is not what was written.
pub const CACHE_DAMAGED: ErrorCode = ErrorCode {
    code: "HW-X104",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "the cached state in {path} is damaged",
        why: "the file was changed, or the disk gives other bytes than were written",
        fix: "keep others away from the state folder and check the disk; the job goes on from its last checkpoint",
    },
    zh: Text {
        what: "{path} 中缓存的状态已损坏",
        why: "文件被改动，或磁盘返回的内容与写入的不同",
        fix: "请勿改动状态目录，并检查磁盘；作业会从最近的检查点继续",
    },
};

/// An object store that does not answer, or says that it cannot now.
pub const STORE_AWAY: ErrorCode = ErrorCode {
    code: "HW-X106",
    domain: Domain::External,
    retry: true,
    en: Text {
        what: "could not {action} {address}: the object store does not answer",
        why: "{cause}",
        fix: "check 's3.endpoint' and the network; a running job goes on when the store is back",
    },
    zh: Text {
        what: "无法{action} {address}：对象存储没有响应",
        why: "{cause}",
        fix: "请检查 's3.endpoint' 和网络；存储恢复后运行中的作业会继续",
    },
};

/// An object store that does not take these keys, or this request.
pub const STORE_REFUSES: ErrorCode = ErrorCode {
    code: "HW-X107",
    domain: Domain::External,
    retry: false,
    en: Text {
        what: "could not {action} {address}: the object store refuses it",
        why: "{cause}",
        fix: "check the keys ('s3.access-key' and 's3.secret-key', or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), what they allow (list, get, put, delete), and 's3.region'",
    },
    zh: Text {
        what: "无法{action} {address}：对象存储拒绝了请求",
        why: "{cause}",
        fix: "请检查密钥（'s3.access-key' 与 's3.secret-key'，或 AWS_ACCESS_KEY_ID 与 AWS_SECRET_ACCESS_KEY）及其权限（list、get、put、delete），以及 's3.region'",
    },
};

/// A bucket that is not there.
pub const BUCKET_MISSING: ErrorCode = ErrorCode {
    code: "HW-X108",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "could not {action} {address}: there is no such bucket",
        why: "{cause}",
        fix: "create the bucket, or correct 'state.checkpoints.dir', 's3.endpoint' or 's3.region'",
    },
    zh: Text {
        what: "无法{action} {address}：bucket 不存在",
        why: "{cause}",
        fix: "请创建该 bucket，或更正 'state.checkpoints.dir'、's3.endpoint' 或 's3.region'",
    },
};

/// Checkpoints that a run of a later start has taken over.
pub const ANOTHER_RUN: ErrorCode = ErrorCode {
    code: "HW-X109",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "another run has taken over the checkpoints in {address}",
        why: "the same job was started once more, here or on another machine, and the newest run goes on; what this one has done since its last checkpoint is not committed",
        fix: "run the job once; if both are to run, give one of them another name: SET 'pipeline.name' = '...';",
    },
    zh: Text {
        what: "{address} 中的检查点已被另一个运行实例接管",
        why: "同一作业在本机或另一台机器上再次启动，由最新的实例继续运行；本实例自上一个检查点以来的处理结果不会提交",
        fix: "同一作业只运行一个实例；若要同时运行，请为其中一个另起名字：SET 'pipeline.name' = '...';",
    },
};

/// Every code of this crate.
pub const CODES: &[&ErrorCode] = &[
    &STATE_COLUMNS_DIFFER,
    &CHECKPOINT_DAMAGED,
    &CHECKPOINT_VERSION,
    &CHECKPOINTS_IN_USE,
    &CACHE_DAMAGED,
    &STORE_AWAY,
    &STORE_REFUSES,
    &BUCKET_MISSING,
    &ANOTHER_RUN,
];
