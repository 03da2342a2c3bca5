//! A thread's context: making it, finding it, giving it up; and the Native state.
//!
//! # Invariants
//! * The thread-local word holds the context exactly while the thread is attached; signal handlers read nothing
//!   else of a thread's own.
//! * What is read of an attached thread's stack is mapped: the thread is detached before its stack goes, or has no managed code
//!   on it, and then nothing is read of it. A thread is detached by the destructor of a key; one that calls managed code
//!   after that destructor has run, from those of other keys, is attached for the call only. One whose very first call comes so late
//!   that no round of destructors follows stays on the list without a stack, until it is found dead ([`bury_dead`]).
//! * The limit keeps a stack guard for stubs and our own code below managed frames: 256 KiB, or half of a small stack (a
//!   library's threads may have 64 KiB in all).
use crate::safepoint::registry;
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use vervet_abi::{State, ThreadContext};
use vervet_os::signal::AlternateStack;
use vervet_parking::stopping;

thread_local! {
    static CURRENT: Cell<*mut ThreadContext> = const { Cell::new(std::ptr::null_mut()) };
    static SERVICE: Cell<usize> = const { Cell::new(0) };
    /// The destructors of the thread's keys run, and ours has.
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

/// Bytes of the stack on which a thread compiles.
pub(crate) const SERVICE_STACK: usize = 4 << 20;

/// The context of this thread, null if it is not attached.
pub fn current_context() -> *mut ThreadContext {
    CURRENT.with(Cell::get)
}

/// A piece of work done for every thread that ends, in Runtime state, before its context is given up.
pub type DetachHook = fn(*mut ThreadContext);
const HOOKS: usize = 8;
static DETACH_HOOKS: [AtomicPtr<()>; HOOKS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; HOOKS];

/// Has `hook` called for every thread that ends (allocation TLABs, queues of freed handles).
pub fn on_detach(hook: DetachHook) {
    let slot = DETACH_HOOKS.iter().find(|s| {
        s.compare_exchange(
            std::ptr::null_mut(),
            hook as *mut (),
            Ordering::AcqRel,
            Ordering::Acquire,
        )
        .is_ok()
    });
    assert!(
        slot.is_some(),
        "room for every part that has something to do"
    );
}

/// Detaches threads that end without saying so; its value is the thread.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

fn key() -> libc::pthread_key_t {
    let have = KEY.load(Ordering::Acquire);
    if have != u32::MAX {
        return have;
    }
    let mut key = 0;
    // SAFETY: a place of this frame, and a destructor that fits.
    let failed = unsafe { libc::pthread_key_create(&mut key, Some(ended)) };
    assert!(failed == 0, "no thread-specific key is left");
    match KEY.compare_exchange(u32::MAX, key, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => key,
        Err(first) => {
            // SAFETY: the key was just made, nobody has it.
            unsafe { libc::pthread_key_delete(key) };
            first
        }
    }
}
unsafe extern "C" fn ended(_: *mut libc::c_void) {
    ENDING.set(true);
    detach();
}

/// Attaches a thread of a library's, which calls managed code, as [`attach`] does. True: the thread is on its way out, and is
/// to be detached when the call returns.
pub(crate) fn attach_foreign() -> (*mut ThreadContext, bool) {
    let context = attach();
    let ending = ENDING.get();
    if !ending {
        // SAFETY: the context is the calling thread's, which is attached.
        unsafe { registry::Thread::of(context) }
            .own
            .foreign
            .set(true);
        if registry::is_time_to_look() {
            bury_dead();
        }
    }
    (context, ending)
}

/// Gives up the threads of libraries that have ended without a word: whose first call came from the last round of their
/// key destructors. The calling thread is attached, in Runtime state.
pub(crate) fn bury_dead() {
    while let Some(thread) = registry::find_dead() {
        // SAFETY: the thread has ended, and is this one's to give up.
        unsafe { give_up(thread.context) };
        registry::recycle(thread);
    }
}

/// Attaches the calling OS thread, in Runtime state; its context is the result. A thread that is attached keeps its
/// context. Every thread is detached when it ends, if it has not done so itself.
pub fn attach() -> *mut ThreadContext {
    let current = current_context();
    if !current.is_null() {
        return current;
    }
    let Bounds { end, low, high } = stack_bounds();
    let thread = registry::take();
    let context = thread.context;
    thread.stack_low.store(low, Ordering::Relaxed);
    thread.stack_end.store(end, Ordering::Relaxed);
    // SAFETY: these words of the context are ours alone until the thread is on the list; the alternate stack is the
    // thread's as long as it has the record.
    unsafe {
        (*context).true_limit = crate::threads::stack_guard::limit(low, high);
        registry::limit(context).store((*context).true_limit, Ordering::Relaxed);
        (*context).stack_base = high;
        (*context).scan_sp = high;
        CURRENT.set(context);
        if SERVICE.get() == 0 {
            SERVICE.set(thread.own.service.take());
        }
        thread.alternate.install();
        // A thread may inherit a mask that blocks everything. The exceptions that faults become would end the process.
        vervet_os::signal::unblock(&[
            crate::safepoint::suspend::SUSPEND,
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
        ]);
        libc::pthread_setspecific(key(), std::ptr::from_ref(thread).cast());
    }
    registry::link(thread);
    context
}

/// Detaches the calling OS thread, which is in Runtime or Native state with no managed code on its stack.
pub fn detach() {
    let context = current_context();
    if context.is_null() {
        return;
    }
    // SAFETY: the context belongs to this thread until it is recycled.
    unsafe {
        if (*context).state == State::Native as u8 {
            leave_native(context);
        }
        assert!(
            (*context).state == State::Runtime as u8,
            "managed code is on the stack of a thread that ends"
        );
        crate::safepoint::poll(context);
        let thread = registry::Thread::of(context);
        give_up(context);
        // From here on no signal of ours is sent to this thread, and nothing managed may be touched.
        libc::pthread_setspecific(key(), std::ptr::null());
        CURRENT.set(std::ptr::null_mut());
        thread.own.service.set(SERVICE.replace(0));
        AlternateStack::remove();
        registry::recycle(thread);
    }
}

/// What a context has besides its thread is given back, and the thread leaves the list.
///
/// # Safety
/// The context is that of the calling thread, or of a thread that has ended and is the calling one's to give up. The calling
/// thread is in Runtime state.
unsafe fn give_up(context: *mut ThreadContext) {
    // SAFETY: only `on_detach` stores hooks; nobody else uses the context.
    unsafe {
        for hook in &DETACH_HOOKS {
            let hook = hook.load(Ordering::Acquire);
            if !hook.is_null() {
                let hook: DetachHook = std::mem::transmute(hook);
                hook(context);
            }
        }
        crate::threads::end(context);
        crate::memory::statics::release_thread_blocks(context);
        crate::memory::gc::close_tlab(context);
        crate::memory::handles::retire(context);
        (*context).pending = 0;
        (*context).thread_object = 0;
        (*context).internal_thread = 0;
        registry::unlink(registry::Thread::of(context));
    }
    crate::threads::interrupts::forget(context);
}

/// Does the address lie on the stack that the context's thread was started with?
pub(crate) fn is_on_own_stack(context: *mut ThreadContext, address: usize) -> bool {
    // SAFETY: the context belongs to this thread.
    unsafe {
        let low = registry::Thread::of(context)
            .stack_low
            .load(Ordering::Relaxed);
        (low..(*context).stack_base).contains(&address)
    }
}

/// Where a stack lies: it reaches down to `end`, and is ours to use from `low` to `high`.
struct Bounds {
    end: usize,
    low: usize,
    high: usize,
}
/// The calling thread's stack.
fn stack_bounds() -> Bounds {
    // SAFETY: plain libc queries about the calling thread.
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        let (mut base, mut size) = (std::ptr::null_mut(), 0);
        libc::pthread_getattr_np(libc::pthread_self(), &mut attr);
        libc::pthread_attr_getstack(&attr, &mut base, &mut size);
        libc::pthread_attr_destroy(&mut attr);
        let high = base as usize + size;
        if libc::gettid() != libc::getpid() {
            let end = high - size;
            return Bounds {
                end,
                low: end + (64 << 10).min(size / 8),
                high,
            };
        }
        // The main thread's stack grows on demand up to the limit of the process; never trust more than that.
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        let size = if limit.rlim_cur == libc::RLIM_INFINITY {
            size.min(64 << 20)
        } else {
            size.min(limit.rlim_cur as usize)
        };
        let end = high - size;
        Bounds {
            end,
            low: end + (64 << 10).min(size / 8),
            high,
        }
    }
}

/// Runs `work` in Native state: it touches no object. It may be called from Native state, or by a thread that is not
/// attached (with a null context); then it just runs.
pub fn native<T>(context: *mut ThreadContext, work: impl FnOnce() -> T) -> T {
    // SAFETY: the context belongs to this thread.
    if context.is_null() || unsafe { (*context).state } != State::Runtime as u8 {
        return work();
    }
    vervet_os::lock::assert_no_leaf_lock("changing to Native");
    through_asm(work, |f, arg| {
        // SAFETY: the context belongs to this thread, which is in Runtime state; `f` does not unwind.
        unsafe { crate::arch::call_native(f, arg, context) }
    })
}

/// Has `call` run `work` as a C function with an argument, below a frame of assembly. A panic goes round that frame.
pub(crate) fn through_asm<T>(
    work: impl FnOnce() -> T,
    call: impl FnOnce(extern "C" fn(*mut u8), *mut u8),
) -> T {
    struct Job<F, T> {
        work: Option<F>,
        out: Option<std::thread::Result<T>>,
    }
    extern "C" fn run<F: FnOnce() -> T, T>(p: *mut u8) {
        // SAFETY: `p` is the job of the caller below, which waits for us.
        let job = unsafe { &mut *(p as *mut Job<F, T>) };
        let work = job.work.take().expect("a job runs once");
        job.out = Some(std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
    }
    fn runner<F: FnOnce() -> T, T>(_: &Job<F, T>) -> extern "C" fn(*mut u8) {
        run::<F, T>
    }
    let mut job = Job {
        work: Some(work),
        out: None,
    };
    call(runner(&job), &raw mut job as *mut u8);
    match job.out.expect("the job ran") {
        Ok(v) => v,
        Err(p) => std::panic::resume_unwind(p),
    }
}

/// Is this thread compiling? (A panic then is caught at the compile boundary.)
pub fn is_on_service_stack() -> bool {
    SERVICE.with(Cell::get) == usize::MAX
}

/// The service stack that a new thread begins with, its top; 0: it gets one when it first compiles. Where address space is
/// limited it is there from the first, because a thread that cannot have it later ends the process.
pub(crate) fn first_service_stack() -> usize {
    if crate::memory::address_plan::is_limited() {
        new_service_stack()
    } else {
        0
    }
}

fn new_service_stack() -> usize {
    vervet_os::memory::stack(SERVICE_STACK)
        .unwrap_or_else(|_| vervet_os::allocator::no_memory("a service stack", SERVICE_STACK))
        .1
}

/// Runs `work` on this thread's service stack (compiling is deep and must not depend on how much stack its
/// caller has left). Not nested: inside, it just runs.
pub fn on_service_stack<T>(work: impl FnOnce() -> T) -> T {
    let top = SERVICE.with(Cell::get);
    if top == usize::MAX {
        return work();
    }
    let top = if top == 0 { new_service_stack() } else { top };
    SERVICE.set(usize::MAX);
    struct Back(usize);
    impl Drop for Back {
        fn drop(&mut self) {
            SERVICE.set(self.0);
        }
    }
    let _back = Back(top);
    through_asm(work, |f, arg| {
        // SAFETY: the stack is ours and idle; `f` does not unwind.
        unsafe { crate::arch::call_on_stack(f, arg, top) }
    })
}

/// Saves errno as the last error of the current thread.
pub fn save_last_error() {
    let context = current_context();
    if !context.is_null() {
        // SAFETY: the context belongs to this thread.
        unsafe { (*context).last_error = *libc::__errno_location() };
    }
}
/// From the thunk of [`crate::arch::enter_safe_region`]: native code that holds no reference announces that it may block.
/// `registers` are its callee-saved ones (a caller's of ours may have references in them), `sp` its stack pointer.
/// Returns the state before.
pub(crate) extern "C" fn enter_native(registers: *const [usize; 6], sp: usize) -> usize {
    let context = current_context();
    if context.is_null() {
        return State::Native as usize;
    }
    // SAFETY: the context and its thread belong to this thread.
    unsafe {
        let before = (*context).state;
        if before != State::Native as u8 {
            *registry::Thread::of(context).saved.get() = *registers;
            (*context).scan_sp = sp;
            stopping::go_native(registry::state(context));
        }
        before as usize
    }
}
/// Undoes what [`crate::arch::enter_safe_region`] did.
pub fn leave_safe_region(before: usize) {
    let context = current_context();
    if context.is_null() || before == State::Native as usize {
        return;
    }
    leave_native(context);
    // SAFETY: the context and its thread belong to this thread.
    unsafe {
        *registry::Thread::of(context).saved.get() = [0; 6];
    }
    registry::state(context).store(before as u8, Ordering::Release);
}

/// From Native to Runtime, as soon as the world runs.
pub(crate) fn leave_native(context: *mut ThreadContext) {
    use crate::safepoint::transitions;
    if !stopping::try_leave_native(registry::state(context), &transitions::STOP) {
        transitions::leave_native(context);
    }
}
