//! Native half of System.Threading.Monitor.
//!
//! Keeps nothing: monitors are the runtime's.
use crate::support::args::Out;
use vervet_runtime::threads::monitor;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    "System.Threading.Monitor::Enter" fn enter(cx, obj: ObjRef<'cx>) { monitor::enter(cx, obj) }
    "System.Threading.Monitor::Exit" fn exit(cx, obj: ObjRef<'cx>) { monitor::exit(cx, obj) }
    /// `taken` is set exactly if the lock was acquired.
    "System.Threading.Monitor::try_enter_with_atomic_var" fn try_enter_with_atomic_var(cx, obj: ObjRef<'cx>, ms: i32, taken: Out<'cx, u8>) {
        if monitor::try_enter(cx, obj, ms)? {
            taken.set(1);
        }
        Ok(())
    }
    /// Does any thread own it?
    "System.Threading.Monitor::Monitor_test_synchronised" fn monitor_test_synchronised(cx, obj: ObjRef<'cx>) -> bool { Ok(monitor::owner(cx.non_null(obj)?).0 != 0) }
    "System.Threading.Monitor::Monitor_test_owner" fn monitor_test_owner(cx, obj: ObjRef<'cx>) -> bool { Ok(monitor::is_entered(cx, cx.non_null(obj)?)) }
    "System.Threading.Monitor::Monitor_pulse" fn monitor_pulse(cx, obj: ObjRef<'cx>) { monitor::pulse(cx, obj, false) }
    "System.Threading.Monitor::Monitor_pulse_all" fn monitor_pulse_all(cx, obj: ObjRef<'cx>) { monitor::pulse(cx, obj, true) }
    "System.Threading.Monitor::Monitor_wait" fn monitor_wait(cx, obj: ObjRef<'cx>, ms: i32) -> bool { monitor::wait(cx, obj, ms) }
}
