//! Numbers for people.

/// Bytes, in powers of 1,024.
pub(crate) fn bytes(n: u64) -> String {
    const STEPS: [(u64, &str); 4] = [
        (1 << 40, "TiB"),
        (1 << 30, "GiB"),
        (1 << 20, "MiB"),
        (1 << 10, "KiB"),
    ];
    match STEPS.iter().find(|(step, _)| n >= *step) {
        Some((step, unit)) => format!("{:.1} {unit}", n as f64 / *step as f64),
        None => format!("{n} B"),
    }
}

/// Nanoseconds.
pub(crate) fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// A number with its thousands apart.
pub(crate) fn count(n: impl Into<i128>) -> String {
    let n: i128 = n.into();
    let digits = n.unsigned_abs().to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if n < 0 { format!("-{out}") } else { out }
}

/// A share in percent; 0 of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 * 100.0 / whole as f64,
    }
}

/// A moment in milliseconds since 1970, as `2026-11-25 02:44:01 UTC`.
pub(crate) fn date(ms: u64) -> String {
    let (days, second) = (ms / 86_400_000, ms / 1000 % 86_400);
    // Years begin in March, so that leap days are last; eras of 400 years have 146,097 days.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(
            [bytes(1023), bytes(1536), bytes(u64::MAX)],
            ["1023 B", "1.5 KiB", "16777216.0 TiB"]
        );
        assert_eq!(
            [time(999), time(1_500), time(2_500_000)],
            ["999 ns", "1.5 us", "2.50 ms"]
        );
        assert_eq!(
            [count(0), count(-1_234), count(123_456_789)],
            ["0", "-1,234", "123,456,789"]
        );
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(date(1_795_574_641_999), "2026-11-25 02:44:01 UTC");
        assert!(date(u64::MAX).ends_with("UTC"));
    }
}
