//! MD5, SHA1 and the SHA-2 family as lower-case hexadecimal text.
//!
//! The four algorithms share one shape (pad, then fold blocks into a state), written here once instead of three
//! dependencies.

use crate::call::{Call, Signature};
use arrow::array::ArrayRef;
use base::{LogicalType, Result, SqlType};
use std::fmt::Write;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

fn by_bits(bits: i64) -> Option<Algorithm> {
    Some(match bits {
        224 => Algorithm::Sha224,
        256 => Algorithm::Sha256,
        384 => Algorithm::Sha384,
        512 => Algorithm::Sha512,
        _ => return None,
    })
}

pub(crate) fn result(signature: &Signature) -> Result<SqlType> {
    let length = match signature.function.name {
        "MD5" => 32,
        "SHA1" => 40,
        "SHA224" => 56,
        "SHA256" => 64,
        "SHA384" => 96,
        "SHA512" => 128,
        _ => {
            signature.arity(2..=2)?;
            check_bytes(signature)?;
            signature.integer(1)?;
            return signature.strict(LogicalType::VarChar(128));
        }
    };
    signature.arity(1..=1)?;
    check_bytes(signature)?;
    signature.strict(LogicalType::Char(length))
}

/// A text, or binary.
fn check_bytes(signature: &Signature) -> Result<()> {
    signature.check(0, |logical| logical.is_string() || crate::types::is_binary(logical))
}

pub(crate) fn evaluate(call: &Call) -> Result<ArrayRef> {
    let fixed = match call.name {
        "MD5" => Some(Algorithm::Md5),
        "SHA1" => Some(Algorithm::Sha1),
        "SHA224" => by_bits(224),
        "SHA256" => by_bits(256),
        "SHA384" => by_bits(384),
        "SHA512" => by_bits(512),
        _ => None,
    };
    let array = &call.arguments[0];
    let bits = if call.len() == 2 { Some(call.longs(1)?) } else { None };
    call.write_texts(|row, out| {
        let Some(message) = super::encodings::bytes(array, row) else { return Ok(false) };
        let algorithm = match (fixed, &bits) {
            (Some(algorithm), _) => algorithm,
            (None, Some(bits)) => {
                let Some(bits) = bits.get(row) else { return Ok(false) };
                by_bits(bits).ok_or_else(|| call.bad_value(&bits, &"the length must be 224, 256, 384 or 512"))?
            }
            (None, None) => return Ok(false),
        };
        for byte in digest(algorithm, message) {
            // Writing to a String cannot fail.
            let _ = write!(out, "{byte:02x}");
        }
        Ok(true)
    })
}

/// The message, a one bit, zeros, and the length in bits at the end of a block.
fn padded(message: &[u8], block: usize, big_endian: bool) -> Vec<u8> {
    let length_bytes = block / 8;
    let mut out = message.to_vec();
    out.push(0x80);
    while out.len() % block != block - length_bytes {
        out.push(0);
    }
    let bits = (message.len() as u128) * 8;
    if big_endian {
        out.extend_from_slice(&bits.to_be_bytes()[16 - length_bytes..]);
    } else {
        out.extend_from_slice(&bits.to_le_bytes()[..length_bytes]);
    }
    out
}

fn digest(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    match algorithm {
        Algorithm::Md5 => md5(message),
        Algorithm::Sha1 => sha1(message),
        Algorithm::Sha224 => {
            // The second 32 bits of the fractional parts that SHA-384 starts from.
            let start = roots(9, 2).map(|root| root as u32);
            sha2_short(message, start)[..28].to_vec()
        }
        Algorithm::Sha256 => sha2_short(message, roots(1, 2).map(|root| (root >> 32) as u32)),
        Algorithm::Sha384 => sha2_long(message, roots(9, 2))[..48].to_vec(),
        Algorithm::Sha512 => sha2_long(message, roots(1, 2)),
    }
}

fn md5(message: &[u8]) -> Vec<u8> {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded(message, 64, false).chunks_exact(64) {
        let word =
            |at: usize| u32::from_le_bytes([block[at * 4], block[at * 4 + 1], block[at * 4 + 2], block[at * 4 + 3]]);
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64 {
            let (mixed, at) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), (7 * step) % 16),
            };
            let constant = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(word(at));
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4])));
        }
        for (value, add) in state.iter_mut().zip([a, b, c, d]) {
            *value = value.wrapping_add(add);
        }
    }
    state.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn sha1(message: &[u8]) -> Vec<u8> {
    let mut state: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in padded(message, 64, true).chunks_exact(64) {
        let mut words = [0u32; 80];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for at in 16..80 {
            words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (step, word) in words.iter().enumerate() {
            let (mixed, constant): (u32, u32) = match step / 20 {
                0 => ((b & c) | (!b & d), 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let sum = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e).wrapping_add(constant).wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
        }
        for (value, add) in state.iter_mut().zip([a, b, c, d, e]) {
            *value = value.wrapping_add(add);
        }
    }
    state.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The `index`-th prime, from 1.
fn prime(index: usize) -> u64 {
    let is_prime = |n: &u64| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    (2u64..).filter(is_prime).nth(index - 1).unwrap_or(2)
}

/// The first 64 bits after the point of the square (2) or cube (3) root of a prime.
fn root_bits(index: usize, degree: u32) -> u64 {
    // The largest r with r^degree <= prime * 2^(64 * degree), found bit by bit: its lower 64 bits are the fraction.
    let target = wide_shift(prime(index), 64 * degree as usize);
    let mut root: u128 = 0;
    for bit in (0..70).rev() {
        let candidate = root | 1 << bit;
        if wide_power(candidate, degree) <= target {
            root = candidate;
        }
    }
    root as u64
}

/// Little numbers with room for 256 bits, most significant limb first so that they compare as numbers.
type Wide = [u32; 9];

fn wide_shift(value: u64, bits: usize) -> Wide {
    let mut out = [0u32; 9];
    out[8 - bits / 32] = value as u32;
    out[7 - bits / 32] = (value >> 32) as u32;
    out
}

fn wide_power(value: u128, degree: u32) -> Wide {
    let mut out: Wide = [0; 9];
    out[8] = 1;
    let limbs: Vec<u64> = (0..4).map(|limb| (value >> (32 * limb)) as u32 as u64).collect();
    for _ in 0..degree {
        let mut product: Wide = [0; 9];
        for (i, limb) in limbs.iter().enumerate() {
            let mut carry = 0u64;
            for j in 0..9 - i {
                let at = 8 - i - j;
                let sum = u64::from(product[at]) + u64::from(out[8 - j]) * limb + carry;
                product[at] = sum as u32;
                carry = sum >> 32;
            }
        }
        out = product;
    }
    out
}

fn roots<const N: usize>(first: usize, degree: u32) -> [u64; N] {
    std::array::from_fn(|at| root_bits(first + at, degree))
}

/// The round constants: cube roots of the first 80 primes.
static CUBE_ROOTS: std::sync::LazyLock<[u64; 80]> = std::sync::LazyLock::new(|| roots(1, 3));

macro_rules! sha2 {
    (
        $name:ident, $word:ty, $block:literal, $rounds:literal,
        $constant:expr, $small0:expr, $small1:expr, $big0:expr, $big1:expr
    ) => {
        fn $name(message: &[u8], start: [$word; 8]) -> Vec<u8> {
            let mut state = start;
            for block in padded(message, $block, true).chunks_exact($block) {
                let mut words: [$word; $rounds] = [0; $rounds];
                for (word, bytes) in words.iter_mut().zip(block.chunks_exact(size_of::<$word>())) {
                    *word = bytes.iter().fold(0, |word, byte| word << 8 | <$word>::from(*byte));
                }
                for at in 16..$rounds {
                    words[at] = words[at - 16]
                        .wrapping_add($small0(words[at - 15]))
                        .wrapping_add(words[at - 7])
                        .wrapping_add($small1(words[at - 2]));
                }
                let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
                for (word, constant) in words.iter().zip(CUBE_ROOTS.iter()) {
                    let first = h
                        .wrapping_add($big1(e))
                        .wrapping_add((e & f) ^ (!e & g))
                        .wrapping_add($constant(*constant))
                        .wrapping_add(*word);
                    let second = $big0(a).wrapping_add((a & b) ^ (a & c) ^ (b & c));
                    (h, g, f, e) = (g, f, e, d.wrapping_add(first));
                    (d, c, b, a) = (c, b, a, first.wrapping_add(second));
                }
                for (value, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
                    *value = value.wrapping_add(add);
                }
            }
            state.iter().flat_map(|word| word.to_be_bytes()).collect()
        }
    };
}

sha2!(
    sha2_short,
    u32,
    64,
    64,
    |constant: u64| (constant >> 32) as u32,
    |x: u32| x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3),
    |x: u32| x.rotate_right(17) ^ x.rotate_right(19) ^ (x >> 10),
    |x: u32| x.rotate_right(2) ^ x.rotate_right(13) ^ x.rotate_right(22),
    |x: u32| x.rotate_right(6) ^ x.rotate_right(11) ^ x.rotate_right(25)
);

sha2!(
    sha2_long,
    u64,
    128,
    80,
    |constant: u64| constant,
    |x: u64| x.rotate_right(1) ^ x.rotate_right(8) ^ (x >> 7),
    |x: u64| x.rotate_right(19) ^ x.rotate_right(61) ^ (x >> 6),
    |x: u64| x.rotate_right(28) ^ x.rotate_right(34) ^ x.rotate_right(39),
    |x: u64| x.rotate_right(14) ^ x.rotate_right(18) ^ x.rotate_right(41)
);
