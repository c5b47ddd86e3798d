//! Character sets of ENCODE and DECODE, by the names that Java knows them under.
//!
//! What a character set does not have is written as `?` and read as U+FFFD. The tables of the web's encodings serve where
//! they are those of Java; the few places where they are not are put right here.

use encoding_rs::Encoding;

/// What stands for bytes that are no character.
const REPLACEMENT: char = '\u{fffd}';

/// A character set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Charset {
    Utf8,
    Ascii,
    Latin1,
    Utf16 {
        big_endian: bool,
        /// Whether a byte order mark is written, and read.
        mark: bool,
    },
    Utf32 {
        big_endian: bool,
        mark: bool,
    },
    /// Two bytes at most: GB18030 without its longer forms.
    Gbk,
    /// One byte each; the web reads unused bytes as control characters, Java does not.
    Windows(&'static Encoding),
    Other(&'static Encoding),
}

impl Charset {
    /// The character set of a name; `None` if it is unknown. Letter case does not matter.
    pub fn of(name: &str) -> Option<Charset> {
        use encoding_rs as e;
        let folded: String = name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect();
        // Without its separators `-8` would be a name too.
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return None;
        }
        let utf16 = |big_endian, mark| Charset::Utf16 { big_endian, mark };
        let utf32 = |big_endian, mark| Charset::Utf32 { big_endian, mark };
        Some(match folded.as_str() {
            "utf8" | "unicode11utf8" => Charset::Utf8,
            "usascii" | "ascii" | "iso646us" | "ascii7" | "cp367" | "ibm367" | "646" => Charset::Ascii,
            "iso88591" | "latin1" | "l1" | "88591" | "cp819" | "ibm819" | "819" => Charset::Latin1,
            "utf16" | "unicode" => utf16(true, true),
            "utf16be" | "xutf16be" | "iso10646ucs2" => utf16(true, false),
            "utf16le" | "xutf16le" => utf16(false, false),
            "xutf16lebom" => utf16(false, true),
            // No mark is written, but one is read.
            "utf32" => utf32(true, true),
            "utf32be" | "xutf32be" => utf32(true, false),
            "utf32le" | "xutf32le" => utf32(false, false),
            "gbk" | "cp936" | "windows936" | "gb2312" | "euccn" | "eucgb" => Charset::Gbk,
            "gb18030" | "gb180302022" => Charset::Other(e::GB18030),
            "big5" | "csbig5" => Charset::Other(e::BIG5),
            "shiftjis" | "sjis" | "windows31j" | "ms932" | "csshiftjis" => Charset::Other(e::SHIFT_JIS),
            "eucjp" => Charset::Other(e::EUC_JP),
            "euckr" | "ksc5601" | "xwindows949" | "ms949" | "windows949" => Charset::Other(e::EUC_KR),
            "windows1250" | "cp1250" => Charset::Windows(e::WINDOWS_1250),
            "windows1251" | "cp1251" => Charset::Windows(e::WINDOWS_1251),
            "windows1252" | "cp1252" => Charset::Windows(e::WINDOWS_1252),
            "windows1253" | "cp1253" => Charset::Windows(e::WINDOWS_1253),
            "windows1254" | "cp1254" => Charset::Windows(e::WINDOWS_1254),
            "windows1257" | "cp1257" => Charset::Windows(e::WINDOWS_1257),
            "koi8r" => Charset::Other(e::KOI8_R),
            "koi8u" => Charset::Other(e::KOI8_U),
            "iso88592" | "latin2" => Charset::Other(e::ISO_8859_2),
            "iso88594" | "latin4" => Charset::Other(e::ISO_8859_4),
            "iso88595" | "cyrillic" => Charset::Other(e::ISO_8859_5),
            "iso885913" => Charset::Other(e::ISO_8859_13),
            "iso885915" | "latin9" => Charset::Other(e::ISO_8859_15),
            _ => return None,
        })
    }

    /// Appends the bytes of a text.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Charset::Utf8 => out.extend_from_slice(text.as_bytes()),
            Charset::Ascii => out.extend(text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' })),
            Charset::Latin1 => out.extend(text.chars().map(|c| u8::try_from(c).unwrap_or(b'?'))),
            Charset::Utf16 { big_endian, mark } => {
                let mark = mark.then_some(0xfeff);
                for unit in mark.into_iter().chain(text.encode_utf16()) {
                    out.extend(if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
                }
            }
            Charset::Utf32 { big_endian, .. } => {
                for c in text.chars().map(u32::from) {
                    out.extend(if big_endian { c.to_be_bytes() } else { c.to_le_bytes() });
                }
            }
            Charset::Gbk => each(encoding_rs::GB18030, text, out, |_, bytes| bytes.len() <= 2),
            Charset::Windows(encoding) => each(encoding, text, out, |c, _| !c.is_control() || c.is_ascii()),
            Charset::Other(encoding) => each(encoding, text, out, |_, _| true),
        }
    }

    /// Appends the text of bytes.
    pub fn decode(self, bytes: &[u8], out: &mut String) {
        match self {
            Charset::Utf8 => out.push_str(&String::from_utf8_lossy(bytes)),
            Charset::Ascii => {
                out.extend(bytes.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { REPLACEMENT }))
            }
            Charset::Latin1 => out.extend(bytes.iter().map(|byte| char::from(*byte))),
            Charset::Utf16 { big_endian, mark } => {
                let (big_endian, bytes) = match bytes {
                    [0xff, 0xfe, rest @ ..] if mark => (false, rest),
                    [0xfe, 0xff, rest @ ..] if mark => (true, rest),
                    _ => (big_endian, bytes),
                };
                let (pairs, rest) = bytes.as_chunks::<2>();
                let units =
                    pairs.iter().map(|b| if big_endian { u16::from_be_bytes(*b) } else { u16::from_le_bytes(*b) });
                out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(REPLACEMENT)));
                out.extend((!rest.is_empty()).then_some(REPLACEMENT));
            }
            Charset::Utf32 { big_endian, mark } => {
                let (big_endian, bytes) = match bytes {
                    [0xff, 0xfe, 0, 0, rest @ ..] if mark => (false, rest),
                    [0, 0, 0xfe, 0xff, rest @ ..] if mark => (true, rest),
                    _ => (big_endian, bytes),
                };
                let (words, rest) = bytes.as_chunks::<4>();
                let words =
                    words.iter().map(|b| if big_endian { u32::from_be_bytes(*b) } else { u32::from_le_bytes(*b) });
                out.extend(words.map(|word| char::from_u32(word).unwrap_or(REPLACEMENT)));
                out.extend((!rest.is_empty()).then_some(REPLACEMENT));
            }
            Charset::Gbk => decode_gbk(bytes, out),
            Charset::Windows(encoding) => {
                let (text, _) = encoding.decode_without_bom_handling(bytes);
                out.extend(text.chars().map(|c| if c.is_control() && !c.is_ascii() { REPLACEMENT } else { c }));
            }
            Charset::Other(encoding) => out.push_str(&encoding.decode_without_bom_handling(bytes).0),
        }
    }
}

/// Encodes character by character; what the encoding or `keeps` does not have becomes `?`.
fn each(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>, keeps: impl Fn(char, &[u8]) -> bool) {
    let mut buffer = [0; 4];
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c as u8);
            continue;
        }
        let (bytes, _, is_missing) = encoding.encode(c.encode_utf8(&mut buffer));
        if is_missing || !keeps(c, &bytes) {
            out.push(b'?');
        } else {
            out.extend_from_slice(&bytes);
        }
    }
}

/// The web reads 0x80 as the sign of the euro, and a pair that is none as one or two characters.
fn decode_gbk(bytes: &[u8], out: &mut String) {
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (0x00..=0x7f, _) => out.push(char::from(*first)),
            (0x81..=0xfe, [second, after @ ..]) => {
                rest = after;
                let pair = [*first, *second];
                match encoding_rs::GBK.decode_without_bom_handling_and_without_replacement(&pair) {
                    Some(text) => out.push_str(&text),
                    None => out.push(REPLACEMENT),
                }
            }
            _ => out.push(REPLACEMENT),
        }
    }
}
