//! How much is inlined, by tier.
use crate::options::Tier;

/// The largest body, in bytes of IL, that replaces a call. At the quick tier only
/// bodies of a few instructions are inlined.
pub fn inline_limit(tier: Tier) -> usize {
    match tier {
        Tier::Quick | Tier::Compact => 12,
        Tier::Optimised => 64,
    }
}
