//! Errors of the command line.

use base::{Domain, ErrorCode, Text};

/// A variable without a value.
pub const MISSING_VARIABLE: ErrorCode = ErrorCode {
    code: "HW-L001",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "variable {name} has no value",
        why: "the script uses {reference}, and no -D {name}=... was given",
        fix: "highwater run {script} -D {name}=...",
    },
    zh: Text {
        what: "变量 {name} 没有值",
        why: "脚本使用了 {reference}，但没有给出 -D {name}=...",
        fix: "highwater run {script} -D {name}=...",
    },
};

/// A script without a statement that runs.
pub const NOTHING_TO_RUN: ErrorCode = ErrorCode {
    code: "HW-L002",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{script} starts no job",
        why: "it has neither an INSERT nor a SELECT",
        fix: "add for example: INSERT INTO my_sink SELECT * FROM my_source;",
    },
    zh: Text {
        what: "{script} 没有启动任何作业",
        why: "脚本里既没有 INSERT 也没有 SELECT",
        fix: "例如加上：INSERT INTO my_sink SELECT * FROM my_source;",
    },
};

/// No job of that name.
pub const NO_SUCH_JOB: ErrorCode = ErrorCode {
    code: "HW-L003",
    domain: Domain::User,
    retry: false,
    en: Text { what: "no running job {job}", why: "running jobs in {path}: {running}", fix: "highwater status" },
    zh: Text {
        what: "没有正在运行的作业 {job}", why: "{path} 中正在运行的作业：{running}", fix: "highwater status"
    },
};

/// Several jobs, and none was named.
pub const WHICH_JOB: ErrorCode = ErrorCode {
    code: "HW-L004",
    domain: Domain::User,
    retry: false,
    en: Text { what: "several jobs are running", why: "running jobs: {running}", fix: "name one: highwater stop JOB" },
    zh: Text {
        what: "有多个作业正在运行",
        why: "正在运行的作业：{running}",
        fix: "请指定其中一个：highwater stop JOB",
    },
};

/// A job that does not answer.
pub const NO_ANSWER: ErrorCode = ErrorCode {
    code: "HW-L005",
    domain: Domain::External,
    retry: true,
    en: Text { what: "job {job} did not answer", why: "{cause}", fix: "look at the terminal or log of process {pid}" },
    zh: Text { what: "作业 {job} 没有响应", why: "{cause}", fix: "请查看进程 {pid} 的终端或日志" },
};

/// A script that is not text.
pub const NOT_TEXT: ErrorCode = ErrorCode {
    code: "HW-L006",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{script} is not UTF-8 text",
        why: "the byte at offset {offset} does not belong to UTF-8",
        fix: "save the script as UTF-8, for example: iconv -f GBK -t UTF-8 {script}",
    },
    zh: Text {
        what: "{script} 不是 UTF-8 文本",
        why: "偏移 {offset} 处的字节不是合法的 UTF-8",
        fix: "请将脚本另存为 UTF-8，例如：iconv -f GBK -t UTF-8 {script}",
    },
};

/// Late rows of a job, as a warning at its end.
pub const LATE_ROWS: ErrorCode = ErrorCode {
    code: "HW-L007",
    domain: Domain::Data,
    retry: false,
    en: Text {
        what: "{operator} dropped {count} late row(s)",
        why: "they arrived after the watermark had closed their window; the first: {sample}",
        fix: "allow more disorder in the WATERMARK clause of the source table",
    },
    zh: Text {
        what: "{operator} 丢弃了 {count} 行迟到数据",
        why: "这些行到达时 watermark 已经关闭了它们的窗口；第一行：{sample}",
        fix: "请在源表的 WATERMARK 子句中放宽乱序时间",
    },
};

/// Records that were left out, as a warning at the end of a job.
pub const REJECTED_ROWS: ErrorCode = ErrorCode {
    code: "HW-L008",
    domain: Domain::Data,
    retry: false,
    en: Text { what: "{operator} left out {count} record(s)", why: "{sample} (the first of them)", fix: "" },
    zh: Text { what: "{operator} 跳过了 {count} 条记录", why: "{sample}（第一条）", fix: "" },
};

/// Nothing to stop.
pub const NOTHING_RUNS: ErrorCode = ErrorCode {
    code: "HW-L009",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "no job is running",
        why: "no running job is known in the state folder {path}",
        fix: "give the --state-dir that the job was started with, if it was another",
    },
    zh: Text {
        what: "没有正在运行的作业",
        why: "状态目录 {path} 中没有正在运行的作业",
        fix: "如果作业使用了其他 --state-dir，请给出同一个目录",
    },
};

/// A job that goes on (note).
pub const RESUMED: ErrorCode = ErrorCode {
    code: "HW-L010",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "job {job} goes on from checkpoint {epoch}",
        why: "it was taken at {time} UTC; {kept} operator(s) keep their state, {new} begin without{list}",
        fix: "to begin anew instead: highwater run ... --fresh",
    },
    zh: Text {
        what: "作业 {job} 从检查点 {epoch} 继续",
        why: "该检查点完成于 {time} UTC；{kept} 个算子保留状态，{new} 个从空状态开始{list}",
        fix: "如需从头开始：highwater run ... --fresh",
    },
};

/// A second run of the same job.
pub const ALREADY_RUNNING: ErrorCode = ErrorCode {
    code: "HW-L011",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "{job} is already running",
        why: "process {pid} runs it, and two at once would spoil each other's state",
        fix: "highwater stop {job}; or give this run a name of its own: SET 'pipeline.name' = '...';",
    },
    zh: Text {
        what: "{job} 已在运行",
        why: "进程 {pid} 正在运行它，同时运行两个会破坏彼此的状态",
        fix: "highwater stop {job}；或为本次运行另起名字：SET 'pipeline.name' = '...';",
    },
};

/// A job that had come to its end (note).
pub const FINISHED_BEFORE: ErrorCode = ErrorCode {
    code: "HW-L012",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "job {job} had come to its end and is not started again",
        why: "the run that it belongs to was not over",
        fix: "to begin anew instead: highwater run ... --fresh",
    },
    zh: Text {
        what: "作业 {job} 此前已完成，不再启动",
        why: "它所属的运行当时尚未结束",
        fix: "如需从头开始：highwater run ... --fresh",
    },
};

/// Saved state of jobs that the script does not have.
pub const JOBS_GONE: ErrorCode = ErrorCode {
    code: "HW-L013",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the script has no use for the saved state of {count} job(s)",
        why: "a job's state is known by the tables that it writes; dropped:\n{list}",
        fix: "run the script as it was; or leave these states: highwater run ... --allow-non-restored-state; \
              or begin anew: highwater run ... --fresh",
    },
    zh: Text {
        what: "脚本不再使用 {count} 个作业已保存的状态",
        why: "作业的状态以其写入的表识别；被丢弃的：\n{list}",
        fix: "请运行原来的脚本；或不使用这些状态：highwater run ... --allow-non-restored-state；\
              或从头开始：highwater run ... --fresh",
    },
};

/// No checkpoint of that number.
pub const NO_CHECKPOINT: ErrorCode = ErrorCode {
    code: "HW-L014",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "there is no checkpoint {epoch}",
        why: "nothing is saved in {path}",
        fix: "leave out --checkpoint",
    },
    zh: Text {
        what: "没有检查点 {epoch}", why: "{path} 中没有已保存的状态", fix: "请去掉 --checkpoint"
    },
};

/// A savepoint is written.
pub const SAVEPOINT_WRITTEN: ErrorCode = ErrorCode {
    code: "HW-L015",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "savepoint of {run} is in {path}",
        why: "it holds the state of all jobs of the run at their last checkpoint",
        fix: "to begin with it: highwater run SCRIPT --from {path}",
    },
    zh: Text {
        what: "{run} 的保存点位于 {path}",
        why: "其中保存了该运行的全部作业在最近一次检查点时的状态",
        fix: "从它开始运行：highwater run SCRIPT --from {path}",
    },
};

/// A savepoint could not be taken.
pub const SAVEPOINT_FAILED: ErrorCode = ErrorCode {
    code: "HW-L016",
    domain: Domain::External,
    retry: false,
    en: Text { what: "no savepoint of {run} was written", why: "{cause}", fix: "highwater status {run}" },
    zh: Text { what: "未能写入 {run} 的保存点", why: "{cause}", fix: "highwater status {run}" },
};

/// A script that keeps no state.
pub const NOTHING_SAVED: ErrorCode = ErrorCode {
    code: "HW-L017",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "there is no state to save",
        why: "results of SELECT, batch jobs, and scripts from standard input without 'pipeline.name' keep none",
        fix: "run the script from a file, with INSERT INTO",
    },
    zh: Text {
        what: "没有可保存的状态",
        why: "SELECT 的结果、批作业以及来自标准输入且没有 'pipeline.name' 的脚本不保存状态",
        fix: "请从文件运行脚本，并使用 INSERT INTO",
    },
};

/// `--from` for a job that has state already.
pub const STATE_OF_ITS_OWN: ErrorCode = ErrorCode {
    code: "HW-L018",
    domain: Domain::User,
    retry: false,
    en: Text {
        what: "the script has saved state of its own",
        why: "it is in {path}, and --from would put the savepoint in its place",
        fix: "leave out --from to go on where the script was; or give its own state up: add --fresh",
    },
    zh: Text {
        what: "该脚本已有自己的保存状态",
        why: "状态位于 {path}，而 --from 会用保存点替换它",
        fix: "去掉 --from 即可从原处继续；或加上 --fresh 放弃自己的状态",
    },
};

/// Several things could be meant.
pub const WHICH_STATE: ErrorCode = ErrorCode {
    code: "HW-L019",
    domain: Domain::User,
    retry: false,
    en: Text { what: "say which {what} is meant", why: "there are: {choices}", fix: "{fix}" },
    zh: Text { what: "请指明是哪一个 {what}", why: "可选：{choices}", fix: "{fix}" },
};

/// No saved state of that name.
pub const NO_STATE: ErrorCode = ErrorCode {
    code: "HW-L020",
    domain: Domain::User,
    retry: false,
    en: Text { what: "no saved state of {what}", why: "there is: {choices}", fix: "highwater state ls" },
    zh: Text { what: "没有 {what} 的保存状态", why: "现有：{choices}", fix: "highwater state ls" },
};

/// Every code of this crate, for the catalogue's test.
#[allow(dead_code)] // the test includes this file
pub const CODES: &[&ErrorCode] = &[
    &MISSING_VARIABLE,
    &NOTHING_TO_RUN,
    &NO_SUCH_JOB,
    &WHICH_JOB,
    &NO_ANSWER,
    &NOT_TEXT,
    &LATE_ROWS,
    &REJECTED_ROWS,
    &NOTHING_RUNS,
    &RESUMED,
    &ALREADY_RUNNING,
    &FINISHED_BEFORE,
    &JOBS_GONE,
    &NO_CHECKPOINT,
    &SAVEPOINT_WRITTEN,
    &SAVEPOINT_FAILED,
    &NOTHING_SAVED,
    &STATE_OF_ITS_OWN,
    &WHICH_STATE,
    &NO_STATE,
];
