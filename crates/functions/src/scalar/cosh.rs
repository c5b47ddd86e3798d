//! COSH with the last digit that Java's `StrictMath` has: its exponential is not always the nearest number, and the
//! hyperbolic cosine is made of it.

use std::f64::consts::{LN_2, LOG2_E};

/// From here on `exp(-x)` changes nothing.
const LARGE: f64 = 22.0;
/// Above this `exp(x)` is infinite, though half of it may not be.
const EXP_MAX: f64 = 709.782_712_893_384;
/// ln 2 as a number with zeros at its end, so that multiples are exact, and what is missing.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Of the polynomial in x^2 that approximates x (e^x + 1) / (e^x - 1) - 2.
const COEFFICIENTS: [f64; 5] = [
    1.666_666_666_666_660_2e-1,
    -2.777_777_777_701_559_3e-3,
    6.613_756_321_437_934e-5,
    -1.653_390_220_546_525_2e-6,
    4.138_136_797_057_238_5e-8,
];

/// The hyperbolic cosine.
pub(crate) fn cosh(x: f64) -> f64 {
    let x = x.abs();
    if x.is_nan() || x.is_infinite() {
        return x;
    }
    if x < 0.5 * LN_2 {
        let t = x.exp_m1();
        return 1.0 + t * t / (2.0 * (1.0 + t));
    }
    if x < LARGE {
        let t = exp(x);
        return 0.5 * t + 0.5 / t;
    }
    if x < EXP_MAX {
        return 0.5 * exp(x);
    }
    let half = exp(0.5 * x);
    0.5 * half * half
}

/// `e^x` for x from half of ln 2 to [`EXP_MAX`].
fn exp(x: f64) -> f64 {
    // e^x = 2^k e^r with |r| up to half of ln 2.
    let k = if x < 1.5 * LN_2 { 1.0 } else { (LOG2_E * x + 0.5).trunc() };
    let (high, low) = (x - k * LN_2_HIGH, k * LN_2_LOW);
    let r = high - low;
    let square = r * r;
    let polynomial = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * square);
    let c = r - polynomial;
    let y = 1.0 - ((low - r * c / (2.0 - c)) - high);
    y * 2f64.powi(k as i32 - 1) * 2.0
}
