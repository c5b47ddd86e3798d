//! Random draws that depend only on seed, field, row and version, and the distributions over them.
//!
//! Because a draw knows its row, any reader can generate any row: the same rows come out at every parallelism and after
//! every restart.

use std::convert::Infallible;
use std::f64::consts::PI;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(value: u64) -> u64 {
    // The finaliser of splitmix64.
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The number of a stream of draws, from the name of what is drawn.
pub(super) fn stream(seed: u64, name: &str) -> u64 {
    name.bytes().fold(mix(seed.wrapping_add(GOLDEN)), |hash, byte| mix(hash ^ u64::from(byte)).wrapping_add(GOLDEN))
}

/// The draws of one value.
#[derive(Debug, Clone)]
pub(super) struct Draw(u64);

impl Draw {
    /// The draws for a row of a stream; an updated row draws again under another version.
    pub fn new(stream: u64, row: u64, version: u32) -> Draw {
        let row = mix(row.wrapping_mul(GOLDEN).wrapping_add(u64::from(version) << 1 | 1));
        Draw(mix(stream ^ row.rotate_left(17)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in (0, 1).
    fn open_unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// A whole number in [0, bound); 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A whole number in [min, max].
    pub fn integer(&mut self, min: i64, max: i64) -> i64 {
        let span = (i128::from(max) - i128::from(min) + 1).max(1) as u128;
        (i128::from(min) + ((u128::from(self.bits()) * span) >> 64) as i128) as i64
    }

    /// A whole number in [min, max], for unscaled decimals.
    pub fn wide_integer(&mut self, min: i128, max: i128) -> i128 {
        let bits = u128::from(self.bits()) << 64 | u128::from(self.bits());
        match max.wrapping_sub(min) as u128 {
            u128::MAX => bits as i128,
            span => min.wrapping_add((bits % (span + 1)) as i128),
        }
    }

    /// A number in [min, max).
    pub fn real(&mut self, min: f64, max: f64) -> f64 {
        let unit = self.unit();
        // The difference of two extreme bounds would not be finite.
        min * (1.0 - unit) + max * unit
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (self.open_unit(), self.unit());
        (-2.0 * radius.ln()).sqrt() * (2.0 * PI * angle).cos()
    }

    /// Exponential with rate 1.
    pub fn exponential(&mut self) -> f64 {
        -self.open_unit().ln()
    }
}

impl rand::TryRng for Draw {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// The zipf distribution over 1..=n, by rejection-inversion (Hörmann and Derflinger, 1996): constant time for any n.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Zipf {
    n: f64,
    exponent: f64,
    first: f64,
    last: f64,
    accept: f64,
}

impl Zipf {
    /// Rank r has a share proportional to r^-exponent.
    pub fn new(n: u64, exponent: f64) -> Zipf {
        let mut zipf = Zipf { n: n as f64, exponent, first: 0.0, last: 0.0, accept: 0.0 };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(zipf.n + 0.5);
        zipf.accept = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    fn density(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.exponent) * log;
        if t.abs() > 1e-8 { t.exp_m1() / t * log } else { (1.0 + t / 2.0) * log }
    }

    fn inverse(&self, x: f64) -> f64 {
        let t = (x * (1.0 - self.exponent)).max(-1.0);
        if t.abs() > 1e-8 { (t.ln_1p() / t * x).exp() } else { ((1.0 - t / 2.0) * x).exp() }
    }

    /// A rank from 1.
    pub fn rank(&self, draw: &mut Draw) -> u64 {
        loop {
            let u = self.last + draw.unit() * (self.first - self.last);
            let x = self.inverse(u);
            let k = x.round().clamp(1.0, self.n);
            if k - x <= self.accept || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64;
            }
        }
    }
}
