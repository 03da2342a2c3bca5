//! A thread's context: making it, finding it, and the Native state.
//!
//! # Invariants
//! * The thread-local word holds the context exactly while the thread is attached; signal handlers read nothing
//!   else of a thread's own.
//! * The limit keeps a red zone of 256 KiB for stubs and our own code below managed frames.
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use vervet_abi::{Context, State};

thread_local! {
    static CURRENT: Cell<*mut Context> = const { Cell::new(std::ptr::null_mut()) };
    static SERVICE: Cell<usize> = const { Cell::new(0) };
}

const RED_ZONE: usize = 256 << 10;
const SERVICE_STACK: usize = 4 << 20;

/// The context of this thread, null if it is not attached.
pub fn current_context() -> *mut Context {
    CURRENT.with(Cell::get)
}

/// A piece of work done for every thread that ends, in Runtime state, before its context is given up.
pub type DetachHook = fn(*mut Context);
const HOOKS: usize = 8;
static DETACH_HOOKS: [AtomicPtr<()>; HOOKS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; HOOKS];

/// Has `hook` called for every thread that ends (allocation windows, queues of freed handles).
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
    detach();
}

static NEXT_OWNER: AtomicU32 = AtomicU32::new(1);

/// Contexts of threads that ended, with their side stacks; they are used again.
static SPARE: vervet_os::LeafLock<Vec<usize>> = vervet_os::LeafLock::new(Vec::new());
/// Service stacks of threads that ended, by their tops.
static SPARE_SERVICE: vervet_os::LeafLock<Vec<usize>> = vervet_os::LeafLock::new(Vec::new());

/// Attaches the calling OS thread.
pub fn attach() -> *mut Context {
    let (low, high) = stack_bounds();
    let spare = SPARE.lock().pop();
    if let Some(p) = spare {
        let p = p as *mut Context;
        // SAFETY: the context was given up by `detach`; nobody else has it.
        let ctx = unsafe { &mut *p };
        ctx.true_limit = low + RED_ZONE;
        ctx.limit = ctx.true_limit;
        ctx.stack_base = high;
        CURRENT.with(|c| c.set(p));
        set_key(p);
        crate::exceptions::traps::install_alternate_stack();
        ctx.state = State::Runtime as u8;
        return p;
    }
    // SAFETY: a context of zeros is valid; the fields that matter are set before it is published.
    let mut ctx: Box<Context> = unsafe { Box::new(std::mem::zeroed()) };
    ctx.true_limit = low + RED_ZONE;
    ctx.limit = ctx.true_limit;
    ctx.stack_base = high;
    ctx.state = State::Runtime as u8;
    ctx.owner_id = NEXT_OWNER.fetch_add(1, Ordering::Relaxed);
    ctx.domain = 0;
    crate::side_stack::attach(&mut ctx);
    let p = Box::into_raw(ctx);
    CURRENT.with(|c| c.set(p));
    set_key(p);
    crate::exceptions::traps::install_alternate_stack();
    p
}
fn set_key(value: *const Context) {
    // SAFETY: the key is ours; any value but null has its destructor run.
    unsafe { libc::pthread_setspecific(key(), value.cast()) };
}

/// Detaches the calling OS thread, which runs no managed code any more and is about to end. Its context, owner id and
/// side stack are used again, unless it still owns monitors.
pub fn detach() {
    let p = current_context();
    if p.is_null() {
        return;
    }
    // SAFETY: the context belongs to this thread; only `on_detach` stores hooks.
    unsafe {
        (&raw mut (*p).state).write_volatile(State::Runtime as u8);
        for hook in &DETACH_HOOKS {
            let hook = hook.load(Ordering::Acquire);
            if !hook.is_null() {
                let hook: DetachHook = std::mem::transmute(hook);
                hook(p);
            }
        }
    }
    crate::statics::clear_thread_blocks(p);
    set_key(std::ptr::null());
    CURRENT.with(|c| c.set(std::ptr::null_mut()));
    crate::exceptions::traps::remove_alternate_stack();
    let service = SERVICE.with(|s| s.replace(0));
    if service != 0 {
        SPARE_SERVICE.lock().push(service);
    }
    // SAFETY: the context belongs to this thread; what is kept of it is its window, its side stack, its
    // blocks of thread statics and its id.
    let reusable = unsafe {
        let old = &*p;
        let mut fresh: Context = std::mem::zeroed();
        fresh.state = State::Detached as u8;
        (fresh.alloc_next, fresh.alloc_end) = (old.alloc_next, old.alloc_end);
        (fresh.side_next, fresh.side_end) = (old.side_next, old.side_end);
        fresh.thread_statics = old.thread_statics;
        fresh.thread_statics_len = old.thread_statics_len;
        (fresh.owner_id, fresh.locks_held) = (old.owner_id, old.locks_held);
        p.write(fresh);
        (*p).locks_held == 0
    };
    if reusable {
        SPARE.lock().push(p as usize);
    }
}

/// [lowest usable address, highest address) of the calling thread's stack.
fn stack_bounds() -> (usize, usize) {
    // SAFETY: plain libc queries about the calling thread.
    unsafe {
        let mut attr: libc::pthread_attr_t = std::mem::zeroed();
        let (mut base, mut size) = (std::ptr::null_mut(), 0);
        libc::pthread_getattr_np(libc::pthread_self(), &mut attr);
        libc::pthread_attr_getstack(&attr, &mut base, &mut size);
        libc::pthread_attr_destroy(&mut attr);
        // The main thread's stack grows on demand up to the limit of the process; never trust more than that.
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        let high = base as usize + size;
        let size = if limit.rlim_cur == libc::RLIM_INFINITY {
            size.min(64 << 20)
        } else {
            size.min(limit.rlim_cur as usize)
        };
        (high - size + (64 << 10), high)
    }
}

/// Runs `work` in Native state.
pub fn native<T>(ctx: *mut Context, work: impl FnOnce() -> T) -> T {
    // SAFETY: the context belongs to this thread; a plain byte store (see design: the fence is the stopper's).
    unsafe {
        let before = (*ctx).state;
        (&raw mut (*ctx).state).write_volatile(State::Native as u8);
        let r = work();
        (&raw mut (*ctx).state).write_volatile(before);
        r
    }
}

/// Is this thread compiling? (A panic then is caught at the compile boundary.)
pub fn is_on_service_stack() -> bool {
    SERVICE.with(Cell::get) == usize::MAX
}

/// Runs `work` on this thread's service stack (compiling is deep and must not depend on how much stack its
/// caller has left). Not nested: inside, it just runs.
pub fn on_service_stack<T>(work: impl FnOnce() -> T) -> T {
    let top = SERVICE.with(Cell::get);
    if top == usize::MAX {
        return work();
    }
    let spare = if top == 0 {
        SPARE_SERVICE.lock().pop()
    } else {
        Some(top)
    };
    let top = if let Some(top) = spare {
        top
    } else {
        let p = vervet_os::memory::reserve(SERVICE_STACK)
            .unwrap_or_else(|e| panic!("no memory for a service stack: {e}"));
        p as usize + SERVICE_STACK
    };
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
    SERVICE.with(|s| s.set(usize::MAX));
    let mut job = Job {
        work: Some(work),
        out: None,
    };
    let f = runner(&job);
    // SAFETY: the stack is ours and idle; `run` does not unwind.
    unsafe { crate::arch::call_on_stack(f, &mut job as *mut _ as *mut u8, top) };
    SERVICE.with(|s| s.set(top));
    match job.out.expect("the job ran") {
        Ok(v) => v,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Saves errno as the last error of the current thread.
pub fn save_last_error() {
    let ctx = current_context();
    if !ctx.is_null() {
        // SAFETY: the context belongs to this thread.
        unsafe { (*ctx).last_error = *libc::__errno_location() };
    }
}
/// Native code that holds no reference announces that it may block; returns the state before.
pub fn enter_native() -> u8 {
    let ctx = current_context();
    if ctx.is_null() {
        return State::Native as u8;
    }
    // SAFETY: the context belongs to this thread.
    unsafe {
        let before = (*ctx).state;
        (&raw mut (*ctx).state).write_volatile(State::Native as u8);
        before
    }
}
/// Undoes [`enter_native`].
pub fn leave_native(before: u8) {
    let ctx = current_context();
    if !ctx.is_null() {
        // SAFETY: the context belongs to this thread.
        unsafe { (&raw mut (*ctx).state).write_volatile(before) };
    }
}
