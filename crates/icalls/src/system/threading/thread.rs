//! Native half of System.Threading.Thread and InternalThread.
//!
//! Keeps nothing: a thread's data lie in its InternalThread object (its name: [`name`]) and in
//! its context; its life is [`vervet_runtime::threads`].
use crate::support::args::Chars;
use crate::system::diagnostics::stack_trace;
use std::cell::Cell;
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use vervet_abi::context::interrupts::SUSPEND;
use vervet_abi::layouts::{InternalThreadObject, ThreadObject};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::process::thread_stacks::ThreadStacks;
use vervet_runtime::threads::{
    self, current_internal, interrupts, lifetime, name, requests, start, state, wait,
};
use vervet_runtime::{ObjRef, RefSlot, icalls};
use vervet_types::Known;

/// Where an InternalThread keeps its priority.
const PRIORITY: usize = offset_of!(InternalThreadObject, priority);

/// The InternalThread of a Thread.
fn internal_of<'cx>(cx: &'cx Cx<'cx>, thread: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    cx.non_null(
        cx.non_null(thread)?
            .read_ref(offset_of!(ThreadObject, internal_thread)),
    )
}
/// The exception for a thread that was not started or has ended.
fn dead<'cx>(cx: &'cx Cx<'cx>) -> vervet_runtime::Throw {
    state_error(cx, "Thread has not been started, or is dead.")
}
/// A ThreadStateException.
fn state_error<'cx>(cx: &'cx Cx<'cx>, message: &str) -> vervet_runtime::Throw {
    cx.throw(Known::ThreadStateException, message)
}

icalls! {
    /// The Thread object; it is also stored in the thread static that managed code looks into first.
    "System.Threading.Thread::GetCurrentThread" fn get_current_thread(cx) -> ObjRef<'cx> {
        let thread = vervet_runtime::domain::crossing::current_thread(cx)?;
        let class = cx.known(Known::Thread);
        if let Some(field) = cx.load(class.find_field("current_thread"))? {
            let vt = cx.rt().vtable_or_throw(cx, class)?;
            let at = cx.load(vervet_runtime::memory::statics::field_address(cx, vt, field))?;
            // SAFETY: the address is that of a reference static.
            unsafe { vervet_runtime::object::store_ref(at as *mut usize, thread) };
        }
        Ok(thread)
    }
    /// All threads that run managed code, and beside each its `StackFrame[]`.
    "System.Threading.Thread::GetStackTraces" fn get_stack_traces(cx, threads: RefSlot<'cx>, stack_frames: RefSlot<'cx>) {
        let stacks = ThreadStacks::take(cx)?;
        threads.set(cx.alloc_ref_array(cx.known(Known::Thread), stacks.len(), |i| Ok(stacks.thread(i)))?);
        stack_frames.set(cx.alloc_ref_array(cx.known(Known::Object), stacks.len(), |i| {
            stack_trace::frame_objects(cx, &stacks.frames(i), true)
        })?);
        Ok(())
    }
    /// Makes the InternalThread object, which holds what the runtime knows of a managed thread.
    "System.Threading.Thread::ConstructInternalThread" fn construct_internal_thread(cx, this: ObjRef<'cx>) {
        let internal = threads::new_internal(cx)?;
        this.write_ref(offset_of!(ThreadObject, internal_thread), internal);
        Ok(())
    }
    /// Whether the running thread is a green one. The property is a graft (`managed/Vervet.Grafts`).
    "System.Threading.Thread::get_IsGreenThread" fn get_is_green_thread(cx) -> bool {
        // SAFETY: the context belongs to this thread.
        Ok(unsafe { (*cx.context()).green != 0 })
    }
    /// The number of the domain that the thread runs in.
    "System.Threading.Thread::GetDomainID" fn get_domain_id(cx) -> i32 {
        Ok(cx.domain().number() as i32)
    }
    /// The name, null if none was set.
    "System.Threading.Thread::GetName_internal" fn get_name_internal(cx, thread: ObjRef<'cx>) -> ObjRef<'cx> {
        match name::get(cx.non_null(thread)?) {
            Some(units) => cx.alloc_utf16(&units),
            None => Ok(ObjRef::NULL),
        }
    }
    /// Sets the name, once. The kernel gets it too, except for the first thread, whose name is that of the process.
    "System.Threading.Thread::SetName_icall" fn set_name_icall(cx, thread: ObjRef<'cx>, name: Chars<'cx>, length: i32) {
        let thread = cx.non_null(thread)?;
        let units = (!name.is_null()).then(|| name.take(length));
        if !name::set(thread, units) {
            return Err(cx.throw(Known::InvalidOperationException, "Thread.Name can only be set once."));
        }
        // SAFETY: plain system calls. The kernel's name of the process's first thread is that of the process: it stays.
        let first = unsafe { libc::syscall(libc::SYS_gettid) == i64::from(libc::getpid()) };
        if thread == current_internal(cx) && !first {
            name::show(thread);
        }
        Ok(())
    }
    /// The bits of ThreadState.
    "System.Threading.Thread::GetState" fn get_state(cx, thread: ObjRef<'cx>) -> i32 { Ok(state::get(cx.non_null(thread)?) as i32) }
    /// Sets bits of ThreadState.
    "System.Threading.Thread::SetState" fn set_state(cx, thread: ObjRef<'cx>, set: i32) {
        state::change(cx.non_null(thread)?, set as u32, 0);
        Ok(())
    }
    /// Clears bits of ThreadState.
    "System.Threading.Thread::ClrState" fn clr_state(cx, thread: ObjRef<'cx>, clear: i32) {
        state::change(cx.non_null(thread)?, 0, clear as u32);
        Ok(())
    }
    /// Starts the thread, which calls the delegate. False if the system refuses another thread.
    "System.Threading.Thread::Thread_internal" fn thread_internal(cx, this: ObjRef<'cx>, delegate: ObjRef<'cx>) -> bool {
        match start::start(cx, cx.non_null(this)?, delegate)? {
            true => Ok(true),
            false => Err(cx.throw(Known::ExecutionEngineException, "Couldn't create thread. Error 0x0")),
        }
    }
    /// The priority that was set; the kernel is not told of it.
    "System.Threading.Thread::GetPriorityNative" fn get_priority_native(cx, this: ObjRef<'cx>) -> i32 { Ok(internal_of(cx, this)?.read(PRIORITY)) }
    /// Keeps the priority; the kernel is not told of it.
    "System.Threading.Thread::SetPriorityNative" fn set_priority_native(cx, this: ObjRef<'cx>, priority: i32) {
        internal_of(cx, this)?.write(PRIORITY, priority);
        Ok(())
    }
    /// Sleeps for `ms` milliseconds (-1: for ever). An interrupt or abort ends that.
    "System.Threading.Thread::SleepInternal" [reentrant] fn sleep_internal(cx, ms: i32) { wait::sleep(cx, ms) }
    /// Lets another thread have the processor.
    "System.Threading.Thread::YieldInternal" [reentrant] fn yield_internal(cx) -> bool {
        wait::yield_now(cx)?;
        Ok(true)
    }
    /// Tells the processor that the thread spins, at every eighth call. The class library counts on a few nanoseconds a call
    /// (`SpinWait` makes up to 64 before it looks again). The call itself takes more, and some processors rest 40 ns.
    "System.Threading.Thread::SpinWait_nop" fn spin_wait_nop(cx) {
        thread_local! { static CALLS: Cell<u8> = const { Cell::new(0) } }
        let calls = CALLS.get().wrapping_add(1);
        CALLS.set(calls);
        if calls.is_multiple_of(8) {
            std::hint::spin_loop();
        }
        Ok(())
    }
    /// A sequentially consistent fence.
    "System.Threading.Thread::MemoryBarrier" fn memory_barrier(cx) {
        std::sync::atomic::fence(Ordering::SeqCst);
        Ok(())
    }
    /// Waits until the thread has ended, for at most `ms` milliseconds (-1: for ever). False if it has not.
    "System.Threading.Thread::JoinInternal" [reentrant] fn join_internal(cx, this: ObjRef<'cx>, ms: i32) -> bool {
        match wait::join(cx, internal_of(cx, this)?, ms)? {
            Some(ended) => Ok(ended),
            None => Err(state_error(cx, "Thread has not been started.")),
        }
    }
    /// Ends the thread's wait, or its next one, with a ThreadInterruptedException.
    "System.Threading.Thread::InterruptInternal" fn interrupt_internal(cx, this: ObjRef<'cx>) {
        state::interrupt(internal_of(cx, this)?);
        Ok(())
    }
    /// Cancels the abort that the thread is being unwound for.
    "System.Threading.Thread::ResetAbortNative" fn reset_abort_native(cx, this: ObjRef<'cx>) {
        // An unload's abort goes on until the thread has left the domain.
        if vervet_runtime::domain::crossing::is_leaving(cx) {
            return Ok(());
        }
        vervet_runtime::threads::abort::reset(cx)
    }
    /// Has a ThreadAbortException raised in a thread; at once if it is the caller.
    "System.Threading.Thread::Abort_internal" fn abort_internal(cx, thread: ObjRef<'cx>, reason: ObjRef<'cx>) {
        if cx.non_null(thread)? == current_internal(cx) {
            return Err(vervet_runtime::threads::abort::abort_self(cx, reason));
        }
        vervet_runtime::threads::abort::abort_other(cx, thread, reason)?;
        Ok(())
    }
    /// The object that was passed to `Abort`; a copy or a proxy, if that is another domain's.
    "System.Threading.Thread::GetAbortExceptionState" fn get_abort_exception_state(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let state = vervet_runtime::threads::abort::state(internal_of(cx, this)?);
        match vervet_runtime::remoting::across::bring(cx, state)? {
            Some(own) => Ok(own),
            None => Err(cx.throw(Known::InvalidOperationException, "Thread.ExceptionState cannot access an ExceptionState from a different AppDomain")),
        }
    }
    /// Lets a suspended thread go on. ThreadStateException if it is not suspended.
    "System.Threading.Thread::ResumeInternal" fn resume_internal(cx, this: ObjRef<'cx>) {
        match state::resume(internal_of(cx, this)?) {
            state::Suspending::WrongState => Err(dead(cx)),
            _ => Ok(()),
        }
    }
    /// Asks a thread to suspend itself at its next poll. The caller does not wait for that, unless it is the thread.
    "System.Threading.Thread::SuspendInternal" fn suspend_internal(cx, this: ObjRef<'cx>) {
        let internal = internal_of(cx, this)?;
        match state::request_suspend(internal) {
            state::Suspending::WrongState => return Err(dead(cx)),
            state::Suspending::Already => {}
            state::Suspending::Done => {
                requests::request(cx, internal, SUSPEND);
            }
        }
        // Of the thread itself: here.
        interrupts::serve(cx)
    }
    /// A copy that is the root domain's, whatever becomes of the current one.
    "System.Threading.Thread::ByteArrayToRootDomain" fn byte_array_to_root_domain(cx, array: ObjRef<'cx>) -> ObjRef<'cx> {
        cx.within(cx.rt().root, |cx| copy(cx, array))
    }
    /// A copy that is the current domain's.
    "System.Threading.Thread::ByteArrayToCurrentDomain" fn byte_array_to_current_domain(cx, array: ObjRef<'cx>) -> ObjRef<'cx> { copy(cx, array) }
    /// The most bytes that a program may ask for as a stack: the hard limit, which is what the kernel would let the process raise its own to.
    "System.Threading.Thread::SystemMaxStackStize" fn system_max_stack_size(cx) -> i32 {
        // SAFETY: getrlimit fills the record.
        let hard = unsafe {
            let mut limit: libc::rlimit = std::mem::zeroed();
            libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
            limit.rlim_max
        };
        Ok(hard.min(i32::MAX as u64) as i32)
    }
}

/// A copy of an array of bytes, which belongs to the current domain; null for null.
fn copy<'cx>(cx: &'cx Cx<'cx>, array: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let copied = vervet_runtime::domain::copy::copy(cx, array)?;
    Ok(copied.unwrap_or(ObjRef::NULL))
}

icalls! {
    /// Frees the native data of an InternalThread. Its finalizer calls this, so no thread uses them any more.
    "System.Threading.InternalThread::Thread_free_internal" fn thread_free_internal(cx, this: ObjRef<'cx>) {
        lifetime::take(this);
        vervet_runtime::threads::adopt::forget(this);
        Ok(())
    }

}
