//! What users can tell the collector: `--gc=`, `--gc-debug=`, and the names of MONO_GC_PARAMS that mean the same here.
//!
//! # Invariants
//! An option of ours that nobody knows is an error in words. In MONO_GC_PARAMS, which may be set for mono, unknown names
//! are ignored; a value that is none is an error there too.
use vervet_heap::{Config, Debug};
use vervet_jit::AllocProtection;

/// The parsed options: what differs from a heap's usual configuration.
#[derive(Clone, Debug, Default)]
pub struct GcOptions {
    nursery: Option<usize>,
    max_heap: Option<usize>,
    debug: Debug,
    /// The seed of random delays, if there are to be any.
    pub perturb: Option<u64>,
    /// The inline allocator's protection.
    pub allocator: AllocProtection,
}

/// A size with the suffix k, m or g.
pub(crate) fn size(text: &str) -> Option<usize> {
    let text = text.to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

impl GcOptions {
    /// Takes `name=value,…` of `--gc`.
    pub fn parameters(&mut self, text: &str) -> Result<(), String> {
        for part in text.split(',').filter(|p| !p.is_empty()) {
            if !self.parameter(part)? && !matches!(part, "sgen" | "boehm") {
                return Err(format!(
                    "--gc: '{part}' is none of nursery-size=, max-heap="
                ));
            }
        }
        Ok(())
    }
    fn parameter(&mut self, part: &str) -> Result<bool, String> {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let field = match name {
            "nursery-size" => &mut self.nursery,
            "max-heap" | "max-heap-size" => &mut self.max_heap,
            _ => return Ok(false),
        };
        let bytes =
            size(value).ok_or_else(|| format!("{name}: '{value}' is no size (such as 4m)"))?;
        if name == "nursery-size" && !(256 << 10..=1 << 30).contains(&bytes) {
            return Err(format!("nursery-size: {value} is not between 256k and 1g"));
        }
        *field = Some(bytes);
        Ok(true)
    }
    /// Takes MONO_GC_PARAMS.
    pub fn environment(&mut self) -> Result<(), String> {
        if let Ok(text) = std::env::var("MONO_GC_PARAMS") {
            self.mono(&text)?;
        }
        Ok(())
    }
    /// Takes a list as MONO_GC_PARAMS has it.
    pub fn mono(&mut self, text: &str) -> Result<(), String> {
        for part in text.split(',') {
            self.parameter(part)
                .map_err(|e| format!("MONO_GC_PARAMS: {e}"))?;
        }
        Ok(())
    }
    /// Takes the list of `--gc-debug`.
    pub fn debug(&mut self, text: &str) -> Result<(), String> {
        for part in text.split(',').filter(|p| !p.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let d = &mut self.debug;
            let number = |what: &str| {
                let n = value.parse::<u32>().ok().filter(|n| *n > 0);
                n.ok_or_else(|| {
                    format!("--gc-debug: {name} wants a number of {what}, not '{value}'")
                })
            };
            match name {
                "verify" => (d.verify_before, d.verify_after) = (true, true),
                "verify-before" => d.verify_before = true,
                "verify-after" => d.verify_after = true,
                "collect-every" => d.collect_every = number("allocations")?,
                "promote-in-place" => d.promote_in_place = number("collections")?,
                "concurrent-marking" => d.concurrent_marking = true,
                "slow-marker" => d.slow_marker = number("microseconds")?,
                "perturb" if !part.contains('=') => self.perturb = Some(a_seed()),
                "perturb" => {
                    let seed = value.parse().map_err(|_| {
                        format!(
                            "--gc-debug: perturb wants a number as its seed, or none, not '{value}'"
                        )
                    })?;
                    self.perturb = Some(seed);
                }
                "poison" => d.poison = true,
                "log" => d.log = true,
                "heap-shot" => d.heap_shot = true,
                "no-managed-allocator" => d.no_tlabs = true,
                // Benchmarks of one thread only: the collector does not leave TLABs alone, as these would need.
                "store-order-allocator" => self.allocator = AllocProtection::StoreOrder,
                "unprotected-allocator" => self.allocator = AllocProtection::None,
                _ => {
                    return Err(format!(
                        "--gc-debug: '{part}' is none of verify, verify-before, verify-after, collect-every=N, promote-in-place=N, concurrent-marking, slow-marker=US, perturb[=SEED], poison, log, heap-shot, no-managed-allocator, store-order-allocator, unprotected-allocator"
                    ));
                }
            }
        }
        Ok(())
    }
    /// The heap's configuration.
    pub fn config(&self) -> Config {
        let default = Config::default();
        Config {
            nursery: self.nursery.unwrap_or(default.nursery) & !0xFFFF,
            // A size that the user chose stays.
            nursery_most: match self.nursery {
                Some(_) => 0,
                None => NURSERY_MOST.min(memory() / NURSERY_PART),
            },
            max_heap: self.max_heap.unwrap_or_else(three_quarters).max(8 << 20),
            debug: self.debug.clone(),
            ..default
        }
    }
}

/// A seed for this run: small enough to be typed.
fn a_seed() -> u64 {
    (vervet_os::clock::now() ^ u64::from(std::process::id()) << 20) % 1_000_000_000
}

/// What the nursery grows to where minor collections take much of the time, and the part of the machine's memory that this is at most.
const NURSERY_MOST: usize = 32 << 20;
const NURSERY_PART: usize = 128;

/// Three quarters of the machine's memory, so that a program that never stops allocating gets OutOfMemoryException and
/// the machine lives on.
fn three_quarters() -> usize {
    memory() / 4 * 3
}

/// Bytes of the machine's memory.
fn memory() -> usize {
    // SAFETY: plain queries.
    let (pages, page) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    (pages.max(1) as usize).saturating_mul(page.max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn sizes_and_names() {
        let mut o = GcOptions::default();
        o.parameters("nursery-size=8m,max-heap=1g").unwrap();
        assert_eq!(
            (o.config().nursery, o.config().max_heap),
            (8 << 20, 1 << 30)
        );
        assert!(o.parameters("nursery-size=8x").is_err());
        assert!(o.parameters("nursery-size=1k").is_err());
        assert!(o.parameters("neverheardof=1").is_err());
        assert!(o.parameters("max-heap=99999999999999999999g").is_err());
        o.debug("verify,collect-every=7").unwrap();
        assert!(o.config().debug.verify_after && o.config().debug.collect_every == 7);
        assert!(o.debug("collect-every=0").is_err());
        // Mono's names: what means the same acts, the rest is for mono.
        let mono = "major=marksweep-conc,minor=split,nursery-size=1m,max-heap-size=64m,soft-heap-limit=32m,evacuation-threshold=66,save-target-ratio=0.5";
        o.mono(mono).unwrap();
        assert_eq!(
            (o.config().nursery, o.config().max_heap),
            (1 << 20, 64 << 20)
        );
        assert!(o.mono("max-heap-size=much").is_err());
        assert!(o.debug("verfy").is_err());
    }
    #[test]
    fn what_slows_the_collector_down() {
        let mut o = GcOptions::default();
        o.debug("concurrent-marking,slow-marker=250,perturb=0")
            .unwrap();
        let debug = o.config().debug;
        assert!(debug.concurrent_marking && debug.slow_marker == 250);
        assert_eq!(o.perturb, Some(0));
        o.debug("perturb").unwrap();
        assert_ne!(o.perturb, Some(0), "a seed of its own");
        for wrong in [
            "slow-marker",
            "slow-marker=0",
            "slow-marker=5us",
            "slow-marker=99999999999",
            "perturb=",
            "perturb=x",
        ] {
            let said = o.debug(wrong).unwrap_err();
            assert!(said.contains(wrong.split('=').next().unwrap()), "{said}");
        }
    }
}
