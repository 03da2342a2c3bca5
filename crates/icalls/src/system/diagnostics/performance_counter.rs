//! Native half of System.Diagnostics.PerformanceCounter.
//!
//! Keeps nothing: [`crate::support::performance`] has the counters.
use crate::support::args::{Chars, Out};
use crate::support::performance::{self, Handle};
use crate::support::text::text;
use vervet_runtime::icalls;
use vervet_runtime::threads::wait_handles::filetime::monotonic_ticks;

/// System.Diagnostics.CounterSample.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sample {
    value: i64,
    base: i64,
    counter_frequency: i64,
    system_frequency: i64,
    time: i64,
    time_100_ns: i64,
    counter_time: i64,
    kind: i32,
}
/// Ticks in a second.
const FREQUENCY: i64 = 10_000_000;

icalls! {
    /// A handle of the counter, 0 if there is none of that name; its type, and whether programs may write counters of the category.
    "System.Diagnostics.PerformanceCounter::GetImpl_icall" fn get_impl(
        cx, category: Chars<'cx>, category_length: i32, counter: Chars<'cx>, counter_length: i32, instance: Chars<'cx>, instance_length: i32,
        kind: Out<'cx, i32>, custom: Out<'cx, bool>,
    ) -> usize {
        let named = |chars: Chars<'cx>, length| text(chars.take(length));
        let found = performance::find(&named(category, category_length), &named(counter, counter_length), &named(instance, instance_length));
        kind.set(found.kind);
        custom.set(found.writable);
        Ok(found.handle.map_or(0, Handle::to_raw))
    }
    /// The counter now. False if the handle names none.
    "System.Diagnostics.PerformanceCounter::GetSample" fn get_sample(cx, handle: usize, only_value: bool, sample: Out<'cx, Sample>) -> bool {
        let Some((kind, value, base)) = Handle::from_raw(handle).and_then(|h| cx.native(|| h.read())) else { return Ok(false) };
        let now = monotonic_ticks();
        sample.set(Sample {
            value,
            base,
            counter_frequency: FREQUENCY,
            system_frequency: FREQUENCY,
            time: now,
            time_100_ns: now,
            counter_time: now,
            kind,
        });
        Ok(true)
    }
    /// Adds to the counter, or sets it; its new value, 0 if programs do not write it.
    "System.Diagnostics.PerformanceCounter::UpdateValue" fn update_value(cx, handle: usize, add: bool, value: i64) -> i64 {
        Ok(Handle::from_raw(handle).map_or(0, |h| h.update(add, value)))
    }
    /// Handles hold nothing.
    "System.Diagnostics.PerformanceCounter::FreeData" fn free_data(cx, handle: usize) { Ok(()) }
}
