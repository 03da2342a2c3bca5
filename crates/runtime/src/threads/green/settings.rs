//! What users choose about green threads: by options, by the environment, and in the program's configuration file.
//!
//! | setting | option | variable | attribute of `<runtime><GreenThreads .../></runtime>` |
//! |---|---|---|---|
//! | which threads are green | `--green-threads` | `VERVET_GREEN_THREADS` | `mode` |
//! | carriers that run at once | `--carriers` | `VERVET_CARRIERS` | `carriers` |
//! | most bytes of a managed stack | `--green-stack` | `VERVET_GREEN_STACK` | `stack` |
//!
//! # Invariants
//! * An option comes before a variable, and a variable before the file: the first that is given stands.
//! * What is chosen is settled before `Main` is called, so before the scheduler is made and before the first green thread.
use crate::memory::gc::options::size;
use crate::threads::managed_stack;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// The most carriers that may run at once.
const MOST_CARRIERS: u32 = 32_767;
/// Bounds of the managed stack's cap, in bytes.
const LEAST_STACK: usize = 64 << 10;
const MOST_STACK: usize = 64 << 30;

/// A setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// Which threads are green: `all` or `api`.
    Mode,
    /// How many carriers run at once.
    Carriers,
    /// The most bytes of a managed stack.
    Stack,
}

/// What is chosen; None: not yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GreenOptions {
    /// Every thread that the program starts is green.
    all: Option<bool>,
    carriers: Option<u32>,
    stack: Option<usize>,
    /// `--report-deadlocks`.
    pub(crate) report_deadlocks: bool,
}

impl GreenOptions {
    /// Nothing is chosen but whether deadlocks are reported.
    pub fn new(report_deadlocks: bool) -> GreenOptions {
        GreenOptions {
            report_deadlocks,
            ..GreenOptions::default()
        }
    }
    /// Chooses a setting, unless it is chosen already.
    ///
    /// # Errors
    /// A sentence for the user, beginning with `source`: the value is none.
    pub fn choose(&mut self, source: &str, setting: Setting, value: &str) -> Result<(), String> {
        match setting {
            Setting::Mode => {
                let all = match value {
                    "all" => true,
                    "api" => false,
                    _ => return Err(format!("{source}: '{value}' is neither 'all' nor 'api'")),
                };
                self.all.get_or_insert(all);
            }
            Setting::Carriers => {
                let count = value.parse().ok();
                let count = count.filter(|n| (1..=MOST_CARRIERS).contains(n));
                let count = count.ok_or_else(|| {
                    format!("{source}: '{value}' is no number from 1 to {MOST_CARRIERS}")
                })?;
                self.carriers.get_or_insert(count);
            }
            Setting::Stack => {
                let bytes = size(value).filter(|n| (LEAST_STACK..=MOST_STACK).contains(n));
                let bytes = bytes.ok_or_else(|| {
                    format!("{source}: '{value}' is no size from 64k to 64g (such as 256m)")
                })?;
                self.stack.get_or_insert(bytes);
            }
        }
        Ok(())
    }

    /// Chooses what the environment says.
    ///
    /// # Errors
    /// A sentence for the user: a value is none.
    pub fn environment(&mut self) -> Result<(), String> {
        for (setting, name) in [
            (Setting::Mode, "VERVET_GREEN_THREADS"),
            (Setting::Carriers, "VERVET_CARRIERS"),
            (Setting::Stack, "VERVET_GREEN_STACK"),
        ] {
            if let Some(value) = std::env::var_os(name) {
                self.choose(name, setting, &value.to_string_lossy())?;
            }
        }
        Ok(())
    }

    /// Settles what holds from now on.
    pub(crate) fn settle(&self) {
        ALL.store(self.all.unwrap_or(false), Relaxed);
        CARRIERS.store(self.carriers.unwrap_or(0), Relaxed);
        if let Some(bytes) = self.stack {
            managed_stack::set_green_cap(bytes);
        }
        let trim = std::env::var("VERVET_DEBUG_TRIM_MS").ok();
        if let Some(milliseconds) = trim.and_then(|value| value.parse().ok()) {
            TRIM_PERIOD.store(milliseconds, Relaxed);
        }
    }
}

static ALL: AtomicBool = AtomicBool::new(false);
/// 0: as many as the process has processors.
static CARRIERS: AtomicU32 = AtomicU32::new(0);

/// Is every thread that the program starts a green one, and every worker of the pool?
pub(crate) fn all() -> bool {
    ALL.load(Relaxed)
}

/// Milliseconds between two rounds of the trimmer, unless `VERVET_DEBUG_TRIM_MS` says something else.
static TRIM_PERIOD: AtomicU32 = AtomicU32::new(5_000);

/// How long the [trimmer](super::trim) waits between two rounds.
pub(super) fn trim_period() -> Duration {
    Duration::from_millis(TRIM_PERIOD.load(Relaxed).into())
}

/// How many carriers run at once.
pub(crate) fn carriers() -> u32 {
    match CARRIERS.load(Relaxed) {
        0 => vervet_os::thread::processors() as u32,
        n => n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_given_stands() {
        let mut options = GreenOptions::default();
        options.choose("a", Setting::Carriers, "3").unwrap();
        options.choose("b", Setting::Carriers, "4").unwrap();
        options.choose("b", Setting::Mode, "all").unwrap();
        options.choose("b", Setting::Stack, "1m").unwrap();
        assert_eq!(
            (options.carriers, options.all, options.stack),
            (Some(3), Some(true), Some(1 << 20))
        );
    }

    #[test]
    fn a_value_that_is_none_is_an_error_with_its_source() {
        let mut options = GreenOptions::default();
        for (setting, value) in [
            (Setting::Carriers, "0"),
            (Setting::Carriers, "40000"),
            (Setting::Carriers, "many"),
            (Setting::Mode, "some"),
            (Setting::Stack, "1k"),
            (Setting::Stack, "1x"),
        ] {
            let error = options.choose("--x", setting, value).unwrap_err();
            assert!(error.starts_with(&format!("--x: '{value}' is ")), "{error}");
        }
        assert_eq!(options, GreenOptions::default());
    }
}
