//! How much is inlined.
use crate::options::Tier;

/// Bytes of IL of a body that replaces calls of it, by tier.
pub fn inline_limit(tier: Tier) -> usize {
    match tier {
        Tier::Quick => 12,
        Tier::Optimised => 40,
    }
}
