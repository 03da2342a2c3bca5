//! Native half of System.Threading.Thread and InternalThread.
//!
//! Keeps nothing: a thread's data lie in its InternalThread object (the name in malloc'ed memory behind
//! `name_chars`) and in its context. Starting, aborting and suspending other threads is not here yet.
use crate::util::Chars;
use std::mem::offset_of;
use std::sync::atomic::{AtomicI32, Ordering};
use vervet_abi::layouts::{InternalThreadObject, ThreadObject};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::{ObjRef, icalls};
use vervet_types::Known;

const UNSTARTED: u32 = 8;
const STOPPED: u32 = 16;
const WAIT_SLEEP_JOIN: u32 = 32;
const STATE: usize = offset_of!(InternalThreadObject, state);
const PRIORITY: usize = offset_of!(InternalThreadObject, priority);
const NAME: usize = offset_of!(InternalThreadObject, name_chars);
const NAME_LENGTH: usize = offset_of!(InternalThreadObject, name_length);
const INTERRUPTED: usize = offset_of!(InternalThreadObject, thread_interrupt_requested);
/// Managed ids of threads that have no context (yet) count from here, so that they never meet owner ids in use.
static NEXT_ID: AtomicI32 = AtomicI32::new(1 << 16);

/// The InternalThread of the calling thread.
pub fn current_internal<'cx>(cx: &'cx Cx<'cx>) -> ObjRef<'cx> {
    // SAFETY: the context belongs to this thread, its field is 0 or an InternalThread.
    unsafe { ObjRef::from_addr((*cx.context()).internal_thread) }
}
fn internal_of<'cx>(cx: &'cx Cx<'cx>, thread: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    cx.non_null(
        cx.non_null(thread)?
            .read_ref(offset_of!(ThreadObject, internal_thread)),
    )
}
fn state_error<'cx>(cx: &'cx Cx<'cx>, message: &str) -> vervet_runtime::Throw {
    cx.throw(Known::ThreadStateException, message)
}

/// Throws ThreadInterruptedException if an interrupt is pending for this thread. Every blocking icall asks first.
pub fn poll_interrupt<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    let internal = current_internal(cx);
    if internal.is_null() || internal.read::<u8>(INTERRUPTED) == 0 {
        return Ok(());
    }
    internal.write(INTERRUPTED, 0u8);
    Err(cx.throw(
        Known::ThreadInterruptedException,
        "Thread was interrupted from a waiting state.",
    ))
}
/// Runs a blocking call in Native state with the thread's state saying so.
pub fn blocking<'cx, T>(cx: &'cx Cx<'cx>, work: impl FnOnce() -> T) -> Result<T> {
    poll_interrupt(cx)?;
    let internal = current_internal(cx);
    if internal.is_null() {
        return Ok(cx.native(work));
    }
    internal.write(STATE, internal.read::<u32>(STATE) | WAIT_SLEEP_JOIN);
    let r = cx.native(work);
    internal.write(STATE, internal.read::<u32>(STATE) & !WAIT_SLEEP_JOIN);
    Ok(r)
}
/// Sleeps that many milliseconds (-1: for ever).
pub fn sleep<'cx>(cx: &'cx Cx<'cx>, ms: i32) -> Result<()> {
    blocking(cx, || match u64::try_from(ms) {
        Ok(ms) => std::thread::sleep(std::time::Duration::from_millis(ms)),
        Err(_) => loop {
            std::thread::park();
        },
    })
}

icalls! { THREAD: "System.Threading.Thread" =>
    /// The Thread object; it is also stored in the thread static that managed code looks into first.
    "GetCurrentThread" fn get_current_thread(cx) -> ObjRef<'cx> {
        // SAFETY: the context belongs to this thread, its field is 0 or a Thread.
        let thread = unsafe { ObjRef::from_addr((*cx.context()).thread_object) };
        let class = cx.known(Known::Thread);
        if let Some(field) = cx.load(class.find_field("current_thread"))? {
            let vt = cx.rt().vtable_or_throw(cx, class)?;
            let at = cx.load(vervet_runtime::statics::field_address(cx.context(), vt, field))?;
            // SAFETY: the address is that of a reference static.
            unsafe { vervet_runtime::object::store_ref(at as *mut usize, thread) };
        }
        Ok(thread)
    }
    "ConstructInternalThread" fn construct_internal_thread(cx, this: ObjRef<'cx>) {
        let internal = cx.alloc(cx.known(Known::InternalThread))?;
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        internal.write(STATE, UNSTARTED);
        internal.write(offset_of!(InternalThreadObject, managed_id), id);
        internal.write(offset_of!(InternalThreadObject, small_id), id);
        internal.write(offset_of!(InternalThreadObject, apartment_state), 2u8);
        internal.write(PRIORITY, 2i32);
        this.write_ref(offset_of!(ThreadObject, internal_thread), internal);
        Ok(())
    }
    "GetDomainID" fn get_domain_id(cx) -> i32 {
        // SAFETY: the context belongs to this thread.
        Ok(unsafe { (*cx.context()).domain } as i32)
    }
    "GetName_internal" fn get_name_internal(cx, thread: ObjRef<'cx>) -> ObjRef<'cx> {
        let chars = cx.non_null(thread)?.read::<usize>(NAME) as *const u16;
        if chars.is_null() {
            return Ok(ObjRef::NULL);
        }
        // SAFETY: the name was stored with that length by `SetName_icall`.
        cx.alloc_utf16(unsafe { std::slice::from_raw_parts(chars, thread.read::<i32>(NAME_LENGTH) as usize) })
    }
    "SetName_icall" fn set_name_icall(cx, thread: ObjRef<'cx>, name: Chars<'cx>, length: i32) {
        let thread = cx.non_null(thread)?;
        if thread.read::<usize>(NAME) != 0 {
            return Err(cx.throw(Known::InvalidOperationException, "Thread.Name can only be set once."));
        }
        let units = name.take(length);
        // SAFETY: the copy has room for the units.
        unsafe {
            let copy = if name.is_null() {
                std::ptr::null_mut()
            } else {
                libc::malloc(units.len() * 2 + 2) as *mut u16
            };
            if !copy.is_null() {
                std::ptr::copy_nonoverlapping(units.as_ptr(), copy, units.len());
            }
            thread.write(NAME, copy as usize);
        }
        thread.write(NAME_LENGTH, units.len() as i32);
        thread.write(offset_of!(InternalThreadObject, name_free), 1i32);
        // The kernel's name of the process's first thread is that of the process: it stays.
        Ok(())
    }
    "GetState" fn get_state(cx, thread: ObjRef<'cx>) -> i32 { Ok(cx.non_null(thread)?.read::<u32>(STATE) as i32) }
    "SetState" fn set_state(cx, thread: ObjRef<'cx>, set: i32) {
        let thread = cx.non_null(thread)?;
        thread.write(STATE, thread.read::<u32>(STATE) | set as u32);
        Ok(())
    }
    "ClrState" fn clr_state(cx, thread: ObjRef<'cx>, clear: i32) {
        let thread = cx.non_null(thread)?;
        thread.write(STATE, thread.read::<u32>(STATE) & !(clear as u32));
        Ok(())
    }
    "GetPriorityNative" fn get_priority_native(cx, this: ObjRef<'cx>) -> i32 { Ok(internal_of(cx, this)?.read(PRIORITY)) }
    "SetPriorityNative" fn set_priority_native(cx, this: ObjRef<'cx>, priority: i32) {
        internal_of(cx, this)?.write(PRIORITY, priority);
        Ok(())
    }
    "SleepInternal" fn sleep_internal(cx, ms: i32) { sleep(cx, ms) }
    "YieldInternal" fn yield_internal(cx) -> bool {
        cx.native(std::thread::yield_now);
        Ok(true)
    }
    "SpinWait_nop" fn spin_wait_nop(cx) {
        std::hint::spin_loop();
        Ok(())
    }
    "MemoryBarrier" fn memory_barrier(cx) {
        std::sync::atomic::fence(Ordering::SeqCst);
        Ok(())
    }
    "JoinInternal" fn join_internal(cx, this: ObjRef<'cx>, ms: i32) -> bool {
        let state = internal_of(cx, this)?.read::<u32>(STATE);
        if state & UNSTARTED != 0 {
            return Err(state_error(cx, "Thread has not been started."));
        }
        if state & STOPPED != 0 {
            return Ok(true);
        }
        sleep(cx, ms)?;
        Ok(false)
    }
    "InterruptInternal" fn interrupt_internal(cx, this: ObjRef<'cx>) {
        internal_of(cx, this)?.write(INTERRUPTED, 1u8);
        Ok(())
    }
    "ResetAbortNative" fn reset_abort_native(cx, this: ObjRef<'cx>) {
        vervet_runtime::abort::reset(cx)
    }
    /// Only a thread's own abort yet.
    "Abort_internal" fn abort_internal(cx, thread: ObjRef<'cx>, state: ObjRef<'cx>) {
        if cx.non_null(thread)? != current_internal(cx) {
            return Err(cx.throw(Known::PlatformNotSupportedException, "Aborting another thread is not supported yet."));
        }
        Err(vervet_runtime::abort::abort_self(cx, state))
    }
    "GetAbortExceptionState" fn get_abort_exception_state(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        Ok(vervet_runtime::abort::state(internal_of(cx, this)?))
    }
    "ResumeInternal" fn resume_internal(cx, this: ObjRef<'cx>) {
        Err(state_error(cx, "Thread has not been started, or is dead."))
    }
    /// One domain yet: a copy.
    "ByteArrayToRootDomain" fn byte_array_to_root_domain(cx, array: ObjRef<'cx>) -> ObjRef<'cx> { copy(cx, array) }
    "ByteArrayToCurrentDomain" fn byte_array_to_current_domain(cx, array: ObjRef<'cx>) -> ObjRef<'cx> { copy(cx, array) }
    "SystemMaxStackStize" fn system_max_stack_size(cx) -> i32 {
        // SAFETY: getrlimit fills the record.
        let soft = unsafe {
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
            limit.rlim_cur
        };
        Ok(soft.min(i32::MAX as u64) as i32)
    }
}

fn copy<'cx>(cx: &'cx Cx<'cx>, array: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    if array.is_null() {
        Ok(array)
    } else {
        vervet_runtime::heap::clone_object(cx, array)
    }
}

icalls! { INTERNAL_THREAD: "System.Threading.InternalThread" =>
    "Thread_free_internal" fn thread_free_internal(cx, this: ObjRef<'cx>) {
        // SAFETY: the name came from malloc and is forgotten at once.
        unsafe { libc::free(this.read::<usize>(NAME) as *mut libc::c_void) };
        this.write(NAME, 0usize);
        this.write(NAME_LENGTH, 0i32);
        Ok(())
    }
}

icalls! { CONTEXT: "System.Runtime.Remoting.Contexts.Context" =>
    /// The context's native data: there are none.
    "RegisterContext" fn register_context(cx, context: ObjRef<'cx>) { Ok(()) }
    /// As above.
    "ReleaseContext" fn release_context(cx, context: ObjRef<'cx>) { Ok(()) }
}

icalls! { TIMER: "System.Threading.Timer" =>
    "GetTimeMonotonic" fn get_time_monotonic(cx) -> i64 { Ok(crate::system::datetime::monotonic_ticks()) }
}
