//! Attaching and detaching OS threads.
//!
//! # How a thread is detached
//! | thread | detached by |
//! |---|---|
//! | started by the runtime | itself, when its work has returned |
//! | a library's, which called managed code | the destructor of a thread-specific key |
//! | a library's, which calls managed code after that destructor has run | the end of the call |
//! | a library's, whose first call comes after the last round of destructors | another thread that finds it dead ([`bury_dead`]) |
//!
//! # Invariants
//! * What the collector reads of an attached thread's stack is mapped: the thread is detached before its stack is unmapped, or has
//!   no managed code on the stack, and then nothing of it is read.
//! * What the thread holds (monitors, mutexes, its TLAB, its handles) is given up in Runtime state, before the thread leaves the list.
//! * The stack limit leaves a stack guard for stubs and Rust code below managed frames: 256 KiB, or half of a small stack (a
//!   library's threads may have 64 KiB in all).
use crate::memory::localloc_stack;
use crate::profiler::{hooks, sampling};
use crate::safepoint::registry;
use crate::threads::current::set_current_context;
use crate::threads::native_state::leave_native;
use crate::threads::{current_context, managed_stack, service_stack, stack_guard, stack_limit};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use vervet_abi::{State, ThreadContext};
use vervet_os::signal::AlternateStack;

thread_local! {
    /// The destructors of the thread's keys run, and ours has.
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

/// A piece of work done for every thread that ends, in Runtime state, before its context is given up.
pub type DetachHook = unsafe fn(*mut ThreadContext);
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
        unsafe { give_up(thread.base) };
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
    let context = thread.base;
    // SAFETY: these words of the context are ours alone until the thread is on the list; the alternate stack is the
    // thread's as long as it has the record.
    unsafe {
        (*context).stack_base = high;
        (*context).native_low = low;
        (*context).native_end = end;
        localloc_stack::fit(context, high - low);
        managed_stack::adopt(thread, high - low);
        (*context).true_limit = stack_guard::usual(context);
        (*context).deep_limit = stack_guard::deep(context);
        stack_limit::renew(context);
        (*context).scan_sp = high;
        set_current_context(context);
        service_stack::adopt(&thread.own.service);
        thread.alternate.install();
        // A thread may inherit a mask that blocks everything. The exceptions that faults become would end the process.
        vervet_os::signal::unblock(&[
            crate::safepoint::stop_word::SUSPEND,
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGFPE,
            libc::SIGILL,
        ]);
        libc::pthread_setspecific(key(), std::ptr::from_ref(thread).cast());
    }
    registry::link(thread);
    crate::memory::handles::update_lanes(thread);
    hooks::thread_started();
    sampling::attached(thread);
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
        if (*context).state == State::Foreign as u8 {
            super::native_state::leave_foreign(context);
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
        set_current_context(std::ptr::null_mut());
        thread.own.service.set(service_stack::give_up());
        AlternateStack::remove();
        vervet_profiler::stream::Transport::leave();
        registry::recycle(thread);
    }
}

/// What a context has besides its thread is given back, and the thread leaves the list.
///
/// # Safety
/// The context is that of the calling thread, or of a thread that has ended and is the calling one's to give up. The calling
/// thread is in Runtime state.
unsafe fn give_up(context: *mut ThreadContext) {
    // SAFETY: the caller's promise; nobody else uses the context.
    unsafe {
        // First: no signal for a sample comes to a thread that is half gone.
        sampling::detaching(registry::Thread::of(context));
        end_managed(context);
        hooks::thread_ended(context);
        crate::memory::gc::close_tlab(context);
        crate::memory::handles::retire(context);
        registry::Thread::of(context).own.changed.share();
        registry::unlink(registry::Thread::of(context));
        registry::interrupts(context).store(0, Ordering::SeqCst);
    }
}

/// The context's thread ends as a managed thread: what it holds is given up, and its objects and thread statics are its no more.
///
/// # Safety
/// As for [`give_up`]; or the context is the calling green thread's, on whose stack there is no managed code.
pub(super) unsafe fn end_managed(context: *mut ThreadContext) {
    // SAFETY: only `on_detach` stores hooks; nobody else uses the context.
    unsafe {
        for hook in &DETACH_HOOKS {
            let hook = hook.load(Ordering::Acquire);
            if !hook.is_null() {
                let hook: DetachHook = std::mem::transmute(hook);
                hook(context);
            }
        }
        crate::threads::adopt::end(context);
        crate::memory::statics::release_thread_blocks(context);
        (*context).pending = 0;
        (*context).thread_object = 0;
        (*context).internal_thread = 0;
        (*context).domain = 0;
        crate::domain::crossing::forget_thread(context);
    }
}

/// Does the address lie on the native stack of the context's thread?
pub(crate) fn is_on_own_stack(context: *mut ThreadContext, address: usize) -> bool {
    // SAFETY: the context belongs to this thread.
    unsafe { ((*context).native_low..(*context).stack_base).contains(&address) }
}

/// Where a stack lies: it reaches down to `end`, and is ours to use from `low` to `high`.
struct Bounds {
    end: usize,
    low: usize,
    high: usize,
}
/// Stacks that may grow to no more than this end where the limit says: the kernel keeps at least 128 MiB below the main thread's stack free of
/// other mappings.
const KEPT_FREE: u64 = 100 << 20;

/// The main thread's stack, where it ends and begins, without a look at the list of mappings, which takes the kernel a tenth of a millisecond to write. None: ask
/// the C library.
///
/// The kernel puts the path of the program at the highest address of the stack, below one word that is 0, and rounds up to a page.
fn main_stack() -> Option<(usize, usize)> {
    // SAFETY: plain queries; the auxiliary vector has the address of a string that ends.
    unsafe {
        if libc::gettid() != libc::getpid() {
            return None;
        }
        let path = libc::getauxval(libc::AT_EXECFN) as *const libc::c_char;
        let mut limit: libc::rlimit = std::mem::zeroed();
        let failed = libc::getrlimit(libc::RLIMIT_STACK, &mut limit) != 0;
        if path.is_null() || failed || limit.rlim_cur > KEPT_FREE {
            return None;
        }
        let top = path as usize + libc::strlen(path) + 1 + size_of::<usize>();
        let high = top.next_multiple_of(4096);
        Some((high - (limit.rlim_cur as usize & !4095), high))
    }
}

/// The process is a host's.
static HOSTED: AtomicBool = AtomicBool::new(false);

/// The process is a host's, which may have put mappings of its own into the main thread's stack: a JVM has its guard pages there. Called before the start.
pub fn in_a_host() {
    HOSTED.store(true, Ordering::Relaxed);
}

/// The calling thread's stack.
fn stack_bounds() -> Bounds {
    let known = if HOSTED.load(Ordering::Relaxed) {
        None
    } else {
        main_stack()
    };
    let Some((end, high)) = known else {
        return library_bounds();
    };
    if cfg!(debug_assertions) {
        let library = library_bounds();
        assert!(
            library.high <= high && library.end.abs_diff(end) <= 2 * 4096,
            "the C library sees the main thread's stack at {:#x}..{:#x}, not at {end:#x}..{high:#x}",
            library.end,
            library.high
        );
    }
    Bounds {
        end,
        low: end + (64 << 10).min((high - end) / 8),
        high,
    }
}

/// The calling thread's stack, as the C library describes it.
fn library_bounds() -> Bounds {
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
