//! Descriptions of the functions of JSON and VARIANT.

use super::{Entry, entry};
use crate::doc::Category;

pub(super) const JSON: &[Entry] = &[
    entry(
        Category::Json,
        "JSON_VALUE",
        "A scalar at a path of a JSON text; paths are strict unless they begin with lax.",
        "JSON 文本中某路径的标量；路径默认为 strict，除非以 lax 开头。",
        &[
            ("JSON_VALUE('{\"a\": {\"b\": 2}}', '$.a.b' RETURNING INT)", "2"),
            ("JSON_VALUE('{\"a\": 1}', 'lax $.b' DEFAULT 'd' ON EMPTY)", "d"),
        ],
    ),
    entry(
        Category::Json,
        "JSON_QUERY",
        "An object or array at a path, as JSON text or as an array of texts.",
        "某路径的对象或数组，返回 JSON 文本或文本数组。",
        &[
            ("JSON_QUERY('{\"a\": {\"b\": [1, 2]}}', '$.a.b')", "[1,2]"),
            ("JSON_QUERY('{\"a\": [\"x\",\"y\"]}', '$.a' RETURNING ARRAY<STRING>)", "[x, y]"),
        ],
    ),
    entry(
        Category::Json,
        "JSON_EXISTS",
        "Whether a path leads to a value.",
        "路径是否有值。",
        &[("JSON_EXISTS('{\"a\": 1}', '$.a')", "TRUE")],
    ),
    entry(
        Category::Json,
        "JSON_STRING",
        "A value as JSON text.",
        "将值转为 JSON 文本。",
        &[("JSON_STRING(MAP['b', 1, 'a', 2])", "{\"a\":2,\"b\":1}")],
    ),
    entry(
        Category::Json,
        "JSON_OBJECT",
        "A JSON object of keys and values, its keys in order.",
        "由键值构成的 JSON 对象，键有序。",
        &[
            ("JSON_OBJECT('b' VALUE 1, 'a' VALUE 'x')", "{\"a\":\"x\",\"b\":1}"),
            ("JSON_OBJECT(KEY 'a' VALUE CAST(NULL AS INT) ABSENT ON NULL)", "{}"),
        ],
    ),
    entry(
        Category::Json,
        "JSON_ARRAY",
        "A JSON array of values.",
        "由值构成的 JSON 数组。",
        &[("JSON_ARRAY(1, 'a')", "[1,\"a\"]")],
    ),
    entry(
        Category::Json,
        "JSON",
        "Inside JSON_OBJECT and JSON_ARRAY: a text that is JSON already.",
        "在 JSON_OBJECT 和 JSON_ARRAY 内：已经是 JSON 的文本。",
        &[("JSON_OBJECT('a' VALUE JSON('{\"x\":1}'))", "{\"a\":{\"x\":1}}")],
    ),
    entry(
        Category::Json,
        "JSON_QUOTE",
        "The text as a JSON string.",
        "将文本转为 JSON 字符串。",
        &[("JSON_QUOTE('a\"b')", "\"a\\\"b\"")],
    ),
    entry(
        Category::Json,
        "JSON_UNQUOTE",
        "The text of a JSON string; other texts stay.",
        "JSON 字符串的文本；其他文本不变。",
        &[("JSON_UNQUOTE('\"a\\\"b\"')", "a\"b")],
    ),
    entry(
        Category::Json,
        "IS JSON",
        "Whether the text is JSON; FALSE for NULL.",
        "文本是否为 JSON；NULL 为 FALSE。",
        &[("'{\"a\":1}' IS JSON", "TRUE")],
    ),
    entry(Category::Json, "IS JSON VALUE", "The same as IS JSON.", "同 IS JSON。", &[("'1' IS JSON VALUE", "TRUE")]),
    entry(
        Category::Json,
        "IS JSON OBJECT",
        "Whether the text is a JSON object.",
        "文本是否为 JSON 对象。",
        &[("'{\"a\":1}' IS JSON OBJECT", "TRUE")],
    ),
    entry(
        Category::Json,
        "IS JSON ARRAY",
        "Whether the text is a JSON array.",
        "文本是否为 JSON 数组。",
        &[("'[1]' IS JSON ARRAY", "TRUE")],
    ),
    entry(
        Category::Json,
        "IS JSON SCALAR",
        "Whether the text is a scalar of JSON.",
        "文本是否为 JSON 标量。",
        &[("'\"x\"' IS JSON SCALAR", "TRUE")],
    ),
    entry(
        Category::Json,
        "IS NOT JSON",
        "Whether the text is not JSON.",
        "文本是否不是 JSON。",
        &[("'bad' IS NOT JSON", "TRUE")],
    ),
    entry(
        Category::Json,
        "IS NOT JSON VALUE",
        "The same as IS NOT JSON.",
        "同 IS NOT JSON。",
        &[("'bad' IS NOT JSON VALUE", "TRUE")],
    ),
    entry(
        Category::Json,
        "IS NOT JSON OBJECT",
        "Whether the text is not a JSON object.",
        "文本是否不是 JSON 对象。",
        &[("'[1]' IS NOT JSON OBJECT", "TRUE")],
    ),
    entry(
        Category::Json,
        "IS NOT JSON ARRAY",
        "Whether the text is not a JSON array.",
        "文本是否不是 JSON 数组。",
        &[("'[1]' IS NOT JSON ARRAY", "FALSE")],
    ),
    entry(
        Category::Json,
        "IS NOT JSON SCALAR",
        "Whether the text is not a scalar of JSON.",
        "文本是否不是 JSON 标量。",
        &[("'{\"a\":1}' IS NOT JSON SCALAR", "TRUE")],
    ),
];

pub(super) const VARIANT: &[Entry] = &[
    entry(
        Category::Variant,
        "PARSE_JSON",
        "The VARIANT of a JSON text; an error if it is none. TRUE allows repeated names.",
        "将 JSON 文本解析为 VARIANT；无效时报错。第二个参数 TRUE 允许重复的键。",
        &[
            ("PARSE_JSON('{\"b\":1,\"a\":[1,2.50]}')", "{\"a\":[1,2.5],\"b\":1}"),
            ("PARSE_JSON('{\"a\":{\"b\":1}}')['a']", "{\"b\":1}"),
        ],
    ),
    entry(
        Category::Variant,
        "TRY_PARSE_JSON",
        "The VARIANT of a JSON text; NULL if it is none.",
        "将 JSON 文本解析为 VARIANT；无效时为 NULL。",
        &[("TRY_PARSE_JSON('bad')", "NULL")],
    ),
];
