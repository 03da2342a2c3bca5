//! Native half of System.NumberFormatter.
//!
//! Keeps the six tables that managed code formats numbers with. They are computed, exactly, at first use: for every biased
//! exponent `e` of a double, `mantissa[e] = floor(2^(e-1011) * 10^-x[e])`, with `x` chosen so that the mantissa has
//! about 19 digits.
use crate::support::args::Out;
use vervet_os::Published;
use vervet_runtime::icalls;

/// A natural number, little end first: just what the tables need.
struct Big(Vec<u32>);
impl Big {
    fn one_shifted(bits: u32) -> Big {
        let mut v = vec![0; bits as usize / 32 + 1];
        v[bits as usize / 32] = 1 << (bits % 32);
        Big(v)
    }
    fn multiply(&mut self, by: u32) {
        let mut carry = 0u64;
        for d in &mut self.0 {
            carry += *d as u64 * by as u64;
            *d = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }
    fn divide(&mut self, by: u32) {
        let mut rest = 0u64;
        for d in self.0.iter_mut().rev() {
            rest = rest << 32 | *d as u64;
            *d = (rest / by as u64) as u32;
            rest %= by as u64;
        }
    }
    /// The 64 bits from bit `at` on.
    fn bits_from(&self, at: u32) -> u64 {
        let word = |i: usize| self.0.get(i).copied().unwrap_or(0) as u128;
        let i = at as usize / 32;
        ((word(i) | word(i + 1) << 32 | word(i + 2) << 64) >> (at % 32)) as u64
    }
}

/// The decimal exponent for a biased binary one.
fn tens_exponent(e: i32) -> i32 {
    let x = (e as f64 * std::f64::consts::LOG10_2 - 322.5998).floor() as i32;
    // The library's own table steps one entry away from the formula here.
    match e {
        291 | 776 => x + 1,
        1942 => x - 1,
        _ => x,
    }
}
fn mantissa(e: i32) -> u64 {
    let x = tens_exponent(e);
    let two = e - 1011;
    // 2^two * 10^-x, with all positive powers first and the shift last.
    let mut n = Big::one_shifted(two.max(0) as u32);
    let mut tens = x.unsigned_abs();
    while tens > 0 {
        let step = tens.min(9);
        if x < 0 {
            n.multiply(10u32.pow(step))
        } else {
            n.divide(10u32.pow(step))
        }
        tens -= step;
    }
    n.bits_from((-two).max(0) as u32)
}

/// See the module.
pub struct Tables {
    mantissa: [u64; 2048],
    exponent: [i32; 2048],
    lower: [u16; 16],
    upper: [u16; 16],
    tens: [i64; 19],
    bcd: [i32; 100],
}
static TABLES: Published<Tables> = Published::new();

/// The tables, computed by the first caller.
pub fn tables() -> &'static Tables {
    if let Some(t) = TABLES.get() {
        return t;
    }
    let digits = |s: &[u8; 16]| s.map(u16::from);
    TABLES.put(Tables {
        mantissa: std::array::from_fn(|e| mantissa(e as i32)),
        exponent: std::array::from_fn(|e| tens_exponent(e as i32)),
        lower: digits(b"0123456789abcdef"),
        upper: digits(b"0123456789ABCDEF"),
        tens: std::array::from_fn(|n| 10i64.pow(n as u32)),
        bcd: std::array::from_fn(|n| (n / 10 * 16 + n % 10) as i32),
    })
}

icalls! {
    /// Gives managed code the addresses of the tables, which live as long as the process.
    "System.NumberFormatter::GetFormatterTables" fn get_formatter_tables(
        cx, mantissa_bits: Out<'cx, *const u64>, tens_exponent: Out<'cx, *const i32>, lower: Out<'cx, *const u16>,
        upper: Out<'cx, *const u16>, ten_powers: Out<'cx, *const i64>, dec_hex_digits: Out<'cx, *const i32>,
    ) {
        let t = tables();
        mantissa_bits.set(t.mantissa.as_ptr());
        tens_exponent.set(t.exponent.as_ptr());
        lower.set(t.lower.as_ptr());
        upper.set(t.upper.as_ptr());
        ten_powers.set(t.tens.as_ptr());
        dec_hex_digits.set(t.bcd.as_ptr());
        Ok(())
    }

}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn the_tables_agree_with_the_shipped_ones() {
        let t = tables();
        for (e, m, x) in [
            (0, 4556951262222748432, -323),
            (289, 4532555499780559119, -236),
            (290, 9065110999561118238, -236),
            (291, 1813022199912223647, -235),
            (775, 9055679078826712367, -90),
            (776, 1811135815765342473, -89),
            (1942, 18152061871066687778, 261),
            (1943, 3630412374213337555, 262),
            (2047, 7363351080396045958, 293),
        ] {
            assert_eq!((t.mantissa[e], t.exponent[e]), (m, x), "exponent {e}");
        }
        assert_eq!(t.bcd[34], 0x34);
    }
}
