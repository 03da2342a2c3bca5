//! Native half of System.Threading.Monitor.
//!
//! Keeps nothing: monitors are the runtime's.
use crate::support::args::Out;
use vervet_runtime::threads::monitor;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// Enters the monitor, and waits for it if another thread has it. Generated code takes the fast path and calls this when
    /// it fails.
    "System.Threading.Monitor::Enter" [reentrant] fn enter(cx, obj: ObjRef<'cx>) { monitor::enter(cx, obj) }
    /// Leaves the monitor once. SynchronizationLockException if the caller has not entered it.
    "System.Threading.Monitor::Exit" fn exit(cx, obj: ObjRef<'cx>) { monitor::exit(cx, obj) }
    /// `taken` is set exactly if the lock was acquired.
    "System.Threading.Monitor::try_enter_with_atomic_var" [reentrant] fn try_enter_with_atomic_var(cx, obj: ObjRef<'cx>, ms: i32, taken: Out<'cx, u8>) {
        if monitor::try_enter(cx, obj, ms)? {
            taken.set(1);
        }
        Ok(())
    }
    /// Does any thread own it?
    "System.Threading.Monitor::Monitor_test_synchronised" fn monitor_test_synchronised(cx, obj: ObjRef<'cx>) -> bool { Ok(monitor::owner(cx.non_null(obj)?).0 != 0) }
    /// Has the calling thread entered the monitor?
    "System.Threading.Monitor::Monitor_test_owner" fn monitor_test_owner(cx, obj: ObjRef<'cx>) -> bool { Ok(monitor::is_entered(cx, cx.non_null(obj)?)) }
    /// Lets one of the threads in `Monitor_wait` go on once the monitor is free.
    "System.Threading.Monitor::Monitor_pulse" fn monitor_pulse(cx, obj: ObjRef<'cx>) { monitor::pulse(cx, obj, false) }
    /// Lets all threads in `Monitor_wait` go on, one after the other.
    "System.Threading.Monitor::Monitor_pulse_all" fn monitor_pulse_all(cx, obj: ObjRef<'cx>) { monitor::pulse(cx, obj, true) }
    /// Leaves the monitor, waits for a pulse for at most `ms` milliseconds (-1: for ever), and enters it again. False if no
    /// pulse came.
    "System.Threading.Monitor::Monitor_wait" [reentrant] fn monitor_wait(cx, obj: ObjRef<'cx>, ms: i32) -> bool { monitor::wait(cx, obj, ms) }
}
