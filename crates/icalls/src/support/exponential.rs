//! Doubles as decimal texts with 41 digits, as `%.40e` of C prints them.
//!
//! The class library formats a double by this text and rounds its digits. The C library computes it by numbers of any length, for 0.5 to 1 us. Most doubles that programs
//! print lie in a range where 128 bits hold the fraction exactly.
//!
//! # Invariants
//! The text is that of the C library, to the last digit: the digits are exact, and what follows them rounds to nearest, ties to even.

/// Digits in front of and behind the point.
const DIGITS: usize = 41;
/// Bits of a fraction that may be multiplied by ten without overflow.
const FRACTION_BITS: u32 = 120;
/// Digits that are made at once, and the bits of a fraction that leave room for that.
const CHUNK: usize = 8;
const CHUNK_BITS: u32 = 128 - 27;

/// Writes the text with a NUL behind it and returns its length. None: the value is out of range, or the buffer is too short.
pub fn write(value: f64, buffer: &mut [u8]) -> Option<usize> {
    let (digits, exponent) = digits_of(value.abs())?;
    let mut text = [0u8; DIGITS + 8];
    let mut len = 0;
    let mut push = |bytes: &[u8]| {
        text[len..len + bytes.len()].copy_from_slice(bytes);
        len += bytes.len();
    };
    if value.is_sign_negative() {
        push(b"-");
    }
    push(&digits[..1]);
    push(b".");
    push(&digits[1..]);
    push(if exponent < 0 { b"e-" } else { b"e+" });
    // The range has exponents of one or two digits.
    let exponent = exponent.unsigned_abs() as u8;
    push(&[b'0' + exponent / 10, b'0' + exponent % 10]);
    let out = buffer.get_mut(..=len)?;
    out[..len].copy_from_slice(&text[..len]);
    out[len] = 0;
    Some(len)
}

/// The digits of a positive value, and the power of ten of the first.
fn digits_of(value: f64) -> Option<([u8; DIGITS], i32)> {
    let bits = value.to_bits();
    let power = (bits >> 52) as i32 - 1075;
    // 0, subnormal numbers, infinities and NaNs lie outside as well.
    if !(-(FRACTION_BITS as i32)..=11).contains(&power) {
        return None;
    }
    let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    // value = whole + fraction / 2^width
    let (whole, mut fraction, width) = match power {
        0.. => (mantissa << power, 0, 0),
        _ => {
            let width = power.unsigned_abs();
            let whole = mantissa.checked_shr(width).unwrap_or(0);
            let below = u128::from(mantissa) & ((1 << width) - 1);
            (whole, below, width)
        }
    };
    let mask = (1u128 << width) - 1;
    let mut digits = [b'0'; DIGITS];
    let mut made;
    let mut exponent;
    if whole > 0 {
        made = decimal(whole, &mut digits);
        exponent = made as i32 - 1;
    } else {
        (made, exponent) = (1, 0);
        // Zeros in front are no digits.
        while digits[0] == b'0' {
            fraction *= 10;
            digits[0] = b'0' + (fraction >> width) as u8;
            fraction &= mask;
            exponent -= 1;
        }
    }
    while fraction != 0 && made < DIGITS {
        if width <= CHUNK_BITS && made + CHUNK <= DIGITS {
            fraction *= 100_000_000;
            let mut chunk = (fraction >> width) as u32;
            for digit in digits[made..made + CHUNK].iter_mut().rev() {
                *digit = b'0' + (chunk % 10) as u8;
                chunk /= 10;
            }
            made += CHUNK;
        } else {
            fraction *= 10;
            digits[made] = b'0' + (fraction >> width) as u8;
            made += 1;
        }
        fraction &= mask;
    }
    if fraction != 0 {
        let half = 1u128 << (width - 1);
        let is_odd = digits[DIGITS - 1] % 2 == 1;
        if fraction > half || fraction == half && is_odd {
            exponent += i32::from(increment(&mut digits));
        }
    }
    Some((digits, exponent))
}

/// Writes the digits of a number and returns how many they are.
fn decimal(mut number: u64, into: &mut [u8; DIGITS]) -> usize {
    let len = number.ilog10() as usize + 1;
    for digit in into[..len].iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    len
}

/// Adds one to the last digit. True: the number has become a one and zeros, with another power of ten.
fn increment(digits: &mut [u8; DIGITS]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    digits[0] = b'1';
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What C prints.
    fn reference(value: f64) -> String {
        let mut buffer = [0u8; 64];
        // SAFETY: the format takes one double, and the text has at most 48 bytes.
        let n = unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), 64, c"%.40e".as_ptr(), value) };
        String::from_utf8_lossy(&buffer[..n as usize]).into_owned()
    }
    fn ours(value: f64) -> Option<String> {
        let mut buffer = [0u8; 50];
        let n = write(value, &mut buffer)?;
        assert_eq!(buffer[n], 0);
        Some(String::from_utf8_lossy(&buffer[..n]).into_owned())
    }
    /// Compares, and says whether the value is in range.
    fn check(value: f64) -> bool {
        match ours(value) {
            Some(text) => {
                assert_eq!(text, reference(value), "{value:?}");
                true
            }
            None => false,
        }
    }

    #[test]
    fn texts_are_those_of_c() {
        for n in -4000i32..4000 {
            assert!(n == 0 || check(f64::from(n) * 0.37));
            assert!(n == 0 || check(f64::from(n) / 3.0));
            assert!(n == 0 || check(f64::from(n)));
            check(2f64.powi(n / 20));
            check(10f64.powi(n / 100));
            check(10f64.powi(n / 100) - 1.0);
            check(f64::from_bits((1u64 << 52 | 1) << (n & 10)));
        }
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        let mut inside = 0;
        for _ in 0..300_000 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            inside += u32::from(check(f64::from_bits(seed)));
            // Exponents of the range, and mantissas with few bits.
            let exponent = 1023 - 70 + (seed >> 3) % 140;
            inside += u32::from(check(f64::from_bits(exponent << 52 | seed >> 12)));
            inside += u32::from(check(f64::from_bits(exponent << 52 | seed >> 57 << 45)));
        }
        assert!(inside > 500_000, "{inside}");
    }
    #[test]
    fn what_is_out_of_range_is_left_to_c() {
        for value in [
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::MIN_POSITIVE / 2.0,
            1e300,
            1e-300,
        ] {
            assert_eq!(ours(value), None, "{value}");
        }
        assert!(check(1.8e19) && check(1e-20) && check(0.999_999_999_999_999_9));
        assert_eq!(write(1.5, &mut [0; 20]), None);
    }
}
