//! Native half of Mono.Profiler.Log.LogProfiler: by it a program changes what the log profiler records of it.
//!
//! `IsAttached` is true if the first of these calls throws no MissingMethodException. So all of them throw it in a process that records nothing and was not
//! told to at its start.
//!
//! # Invariants
//! The managed half has checked its arguments: numbers are not negative, modes are those of its enumerations.
use crate::support::args::Out;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::memory::gc;
use vervet_runtime::profiler::live::{self, MOST_FRAMES, sets};
use vervet_runtime::profiler::{heapshot, recording};
use vervet_types::Known;

/// MissingMethodException where there is no profiler.
fn attached<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    match live::is_attached() {
        true => Ok(()),
        false => Err(cx.throw(
            Known::MissingMethodException,
            "the log profiler is not attached: --profile=log",
        )),
    }
}
/// Is the set of events recorded?
fn is_on<'cx>(cx: &'cx Cx<'cx>, events: u32) -> Result<bool> {
    attached(cx)?;
    Ok(recording::chosen() & events != 0)
}
/// Records the set of events from now on, or not any more.
fn set<'cx>(cx: &'cx Cx<'cx>, events: u32, on: bool) -> Result<()> {
    attached(cx)?;
    live::set_events(events, on);
    Ok(())
}

icalls! {
    "Mono.Profiler.Log.LogProfiler::GetMaxStackTraceFrames" fn get_max_stack_trace_frames(cx) -> i32 {
        attached(cx)?;
        Ok(MOST_FRAMES as i32)
    }
    "Mono.Profiler.Log.LogProfiler::GetStackTraceFrames" fn get_stack_trace_frames(cx) -> i32 {
        attached(cx)?;
        Ok(recording::max_frames() as i32)
    }
    "Mono.Profiler.Log.LogProfiler::SetStackTraceFrames" fn set_stack_trace_frames(cx, frames: i32) {
        attached(cx)?;
        live::set_max_frames(frames as u32);
        Ok(())
    }
    "Mono.Profiler.Log.LogProfiler::GetHeapshotMode" fn get_heapshot_mode(cx) -> i32 {
        attached(cx)?;
        Ok(heapshot::mode() as i32)
    }
    /// (mono's numbers of the last two modes differ from the managed enumeration, so `Milliseconds` is every so many collections there.)
    "Mono.Profiler.Log.LogProfiler::SetHeapshotMode" fn set_heapshot_mode(cx, mode: i32) {
        attached(cx)?;
        if let Some(mode) = heapshot::Mode::of(mode as u32) {
            heapshot::set_mode(mode);
        }
        Ok(())
    }
    "Mono.Profiler.Log.LogProfiler::GetHeapshotMillisecondsFrequency" fn get_heapshot_milliseconds(cx) -> i32 {
        attached(cx)?;
        Ok(heapshot::milliseconds() as i32)
    }
    "Mono.Profiler.Log.LogProfiler::SetHeapshotMillisecondsFrequency" fn set_heapshot_milliseconds(cx, ms: i32) {
        attached(cx)?;
        heapshot::set_milliseconds(ms as u32);
        Ok(())
    }
    "Mono.Profiler.Log.LogProfiler::GetHeapshotCollectionsFrequency" fn get_heapshot_collections(cx) -> i32 {
        attached(cx)?;
        Ok(heapshot::collections() as i32)
    }
    "Mono.Profiler.Log.LogProfiler::SetHeapshotCollectionsFrequency" fn set_heapshot_collections(cx, collections: i32) {
        attached(cx)?;
        heapshot::set_collections(collections as u32);
        Ok(())
    }
    /// The next major collection, which begins soon, makes one.
    "Mono.Profiler.Log.LogProfiler::TriggerHeapshot" fn trigger_heapshot(cx) {
        attached(cx)?;
        gc::request_heapshot();
        Ok(())
    }
    "Mono.Profiler.Log.LogProfiler::GetCallDepth" fn get_call_depth(cx) -> i32 {
        attached(cx)?;
        Ok(recording::call_depth() as i32)
    }
    "Mono.Profiler.Log.LogProfiler::SetCallDepth" fn set_call_depth(cx, depth: i32) {
        attached(cx)?;
        live::set_call_depth(depth as u32);
        Ok(())
    }
    "Mono.Profiler.Log.LogProfiler::GetSampleMode" fn get_sample_mode(cx, mode: Out<'cx, i32>, frequency: Out<'cx, i32>) {
        attached(cx)?;
        let (now, hz) = live::sample_mode();
        mode.set(now as i32);
        frequency.set(hz as i32);
        Ok(())
    }
    /// False: the system does not give what it takes.
    "Mono.Profiler.Log.LogProfiler::SetSampleMode" fn set_sample_mode(cx, mode: i32, frequency: i32) -> bool {
        attached(cx)?;
        Ok(live::set_sample_mode(mode as u32, frequency as u32))
    }

    "Mono.Profiler.Log.LogProfiler::GetExceptionEvents" fn get_exception_events(cx) -> bool { is_on(cx, sets::EXCEPTION) }
    "Mono.Profiler.Log.LogProfiler::SetExceptionEvents" fn set_exception_events(cx, on: bool) { set(cx, sets::EXCEPTION, on) }

    "Mono.Profiler.Log.LogProfiler::GetMonitorEvents" fn get_monitor_events(cx) -> bool { is_on(cx, sets::MONITOR) }
    "Mono.Profiler.Log.LogProfiler::SetMonitorEvents" fn set_monitor_events(cx, on: bool) { set(cx, sets::MONITOR, on) }

    "Mono.Profiler.Log.LogProfiler::GetGCEvents" fn get_gc_events(cx) -> bool { is_on(cx, sets::GC) }
    "Mono.Profiler.Log.LogProfiler::SetGCEvents" fn set_gc_events(cx, on: bool) { set(cx, sets::GC, on) }

    "Mono.Profiler.Log.LogProfiler::GetGCAllocationEvents" fn get_gc_allocation_events(cx) -> bool { is_on(cx, sets::GC_ALLOC) }
    "Mono.Profiler.Log.LogProfiler::SetGCAllocationEvents" fn set_gc_allocation_events(cx, on: bool) { set(cx, sets::GC_ALLOC, on) }

    "Mono.Profiler.Log.LogProfiler::GetGCMoveEvents" fn get_gc_move_events(cx) -> bool { is_on(cx, sets::GC_MOVE) }
    "Mono.Profiler.Log.LogProfiler::SetGCMoveEvents" fn set_gc_move_events(cx, on: bool) { set(cx, sets::GC_MOVE, on) }

    "Mono.Profiler.Log.LogProfiler::GetGCRootEvents" fn get_gc_root_events(cx) -> bool { is_on(cx, sets::GC_ROOT) }
    "Mono.Profiler.Log.LogProfiler::SetGCRootEvents" fn set_gc_root_events(cx, on: bool) { set(cx, sets::GC_ROOT, on) }

    "Mono.Profiler.Log.LogProfiler::GetGCHandleEvents" fn get_gc_handle_events(cx) -> bool { is_on(cx, sets::GC_HANDLE) }
    "Mono.Profiler.Log.LogProfiler::SetGCHandleEvents" fn set_gc_handle_events(cx, on: bool) { set(cx, sets::GC_HANDLE, on) }

    "Mono.Profiler.Log.LogProfiler::GetGCFinalizationEvents" fn get_gc_finalization_events(cx) -> bool { is_on(cx, sets::FINALIZATION) }
    "Mono.Profiler.Log.LogProfiler::SetGCFinalizationEvents" fn set_gc_finalization_events(cx, on: bool) { set(cx, sets::FINALIZATION, on) }

    "Mono.Profiler.Log.LogProfiler::GetCounterEvents" fn get_counter_events(cx) -> bool { is_on(cx, sets::COUNTER) }
    "Mono.Profiler.Log.LogProfiler::SetCounterEvents" fn set_counter_events(cx, on: bool) { set(cx, sets::COUNTER, on) }

    "Mono.Profiler.Log.LogProfiler::GetJitEvents" fn get_jit_events(cx) -> bool { is_on(cx, sets::JIT) }
    "Mono.Profiler.Log.LogProfiler::SetJitEvents" fn set_jit_events(cx, on: bool) { set(cx, sets::JIT, on) }
}
