//! Threads of a host: attached, detached, named, made.
//!
//! # Invariants
//! * An attached thread is in Foreign state outside of this library. One that ends attached is detached by its thread-specific key.
//! * `mono_thread_attach` gives the same object as long as the thread is attached, and a thread in the foreground; `mono_jit_thread_attach` one in
//!   the background, as in mono.
use crate::domains;
use crate::exceptions;
use crate::support::{Bool, DomainP, Object, fail, for_the_call, new_text, object, or_null};
use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::layouts::{InternalThreadObject, ThreadObject};
use vervet_runtime::ObjRef;
use vervet_runtime::cx::Cx;
use vervet_runtime::domain::crossing;
use vervet_runtime::runtime::{rt, rt_opt};
use vervet_runtime::threads::{current_context, foreign, identity, name};
use vervet_types::Known;

/// The calling thread's Thread object of the domain that it is in. Called in Runtime state, or without a context.
fn current() -> Object {
    if current_context().is_null() {
        return std::ptr::null_mut();
    }
    let token = Cx::current();
    or_null(for_the_call(&token), crossing::current_thread(&token))
}

fn attach(what: &str, background: bool) -> bool {
    if rt_opt().is_none() {
        fail(&format!("{what}: the runtime has not been started"));
    }
    match foreign::attach(background) {
        Ok(before) => before,
        Err(_) => fail(&format!("{what}: there is no memory for a thread")),
    }
}

/// The calling thread, which is attached, goes to the domain.
fn settle(domain: DomainP) {
    let entered = foreign::enter();
    if let Some(domain) = domain
        && entered.is_attached()
    {
        domains::go(&Cx::current(), domain);
    }
}

/// The InternalThread of a Thread.
fn internal<'cx>(thread: ObjRef<'cx>) -> ObjRef<'cx> {
    thread.read_ref(offset_of!(ThreadObject, internal_thread))
}

/// Attaches the calling thread.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_attach(domain: DomainP) -> Object {
    attach("mono_thread_attach", false);
    settle(domain);
    let _entered = foreign::enter();
    current()
}
/// Attaches the calling thread in the background; its domain before, or null.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_jit_thread_attach(domain: DomainP) -> DomainP {
    let before = attach("mono_jit_thread_attach", true);
    let was_in = domains::current();
    settle(domain.or_else(domains::root));
    was_in.filter(|_| before)
}
/// Attaches the calling thread for some calls; the cookie says whether it was attached.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_threads_attach_coop(
    domain: DomainP,
    stack: *mut *mut c_void,
) -> *mut c_void {
    let _ = stack;
    attach("mono_threads_attach_coop", true);
    settle(domain);
    std::ptr::null_mut()
}
/// Ends what `mono_threads_attach_coop` began; the thread stays attached, as in mono.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_threads_detach_coop(cookie: *mut c_void, stack: *mut *mut c_void) {
    let _ = (cookie, stack);
}
/// Detaches the calling thread, on which no managed code is.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_detach(thread: Object) {
    // As in mono: the argument names the calling thread.
    let _ = thread;
    foreign::detach();
}
/// Detaches the calling thread if it is on its way out.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_detach_if_exiting() -> Bool {
    0
}

api! {
    fn mono_thread_current() -> Object { current() }
    fn mono_thread_init(_start: *const c_void, _attach: *const c_void) {}
    fn mono_thread_cleanup() {}
    fn mono_thread_new_init(_tid: isize, _stack: *const c_void, _function: *const c_void) {}
    fn mono_thread_set_main(_thread: Object) {}
    fn mono_threads_attach_tools_thread() {}
    fn mono_threads_set_default_stacksize(_size: u32) {}
    fn mono_threads_get_default_stacksize() -> u32 { 0 }
    fn mono_thread_set_manage_callback(_thread: Object, _callback: *const c_void) {}
    fn mono_threads_request_thread_dump() { libc::raise(libc::SIGQUIT); }
    fn mono_install_threadpool_thread_hooks(_start: *const c_void, _finish: *const c_void) {}
}

object_api! {
    fn mono_thread_get_main(cx;) -> Object { crate::profiler::main_thread() }
    fn mono_thread_get_managed_id(cx; thread: Object) -> i32 {
        internal(object(thread)).read::<i32>(offset_of!(InternalThreadObject, managed_id))
    }
    fn mono_thread_get_name_utf8(cx; thread: Object) -> *mut c_char {
        match name::get(internal(object(thread))) {
            Some(units) => new_text(&String::from_utf16_lossy(&units)),
            None => std::ptr::null_mut(),
        }
    }
    fn mono_thread_is_foreign(cx; thread: Object) -> Bool { Bool::from(thread != crate::profiler::main_thread()) }
    fn mono_thread_stop(cx; thread: Object) {}
    /// Starts a thread that is attached and calls the function.
    fn mono_thread_create(cx; domain: DomainP, function: Option<ThreadFunction>, arg: *mut c_void) {
        let Some(function) = function else { return };
        let begin = Begin { domain, function, arg, attached: AtomicU32::new(0) };
        // It is attached when this returns. It may have to wait for a stop, so this thread must be stoppable.
        let started = cx.native(|| {
            let mut thread: libc::pthread_t = 0;
            let failed = libc::pthread_create(&mut thread, std::ptr::null(), first_frame, (&raw const begin).cast_mut().cast());
            if failed == 0 {
                while begin.attached.load(Ordering::Acquire) == 0 {
                    vervet_os::futex::wait(&begin.attached, 0, None);
                }
                libc::pthread_detach(thread);
            }
            failed == 0
        });
        if !started {
            let none = cx.throw(Known::ExecutionEngineException, "Couldn't create thread");
            exceptions::give(cx, none, std::ptr::null_mut());
        }
    }
}

type ThreadFunction = unsafe extern "C" fn(*mut c_void) -> u32;

/// What a thread that `mono_thread_create` starts begins with; in the frame of the thread that waits for it.
struct Begin {
    domain: DomainP,
    function: ThreadFunction,
    arg: *mut c_void,
    attached: AtomicU32,
}
/// What the first frame calls, in two registers.
#[repr(C)]
struct Started {
    function: ThreadFunction,
    arg: *mut c_void,
}
/// What `pthread_create` calls. libc may end the thread by unwinding this frame, so it is none of Rust's: nothing in it stops an unwinder.
///
/// # Safety
/// As [`begin`].
#[unsafe(naked)]
extern "C" fn first_frame(begin: *mut c_void) -> *mut c_void {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, 8",
        ".cfi_def_cfa_offset 16",
        "call {begin}",
        "mov rdi, rdx",
        "call rax",
        "mov eax, eax",
        "add rsp, 8",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        begin = sym self::begin,
    )
}
/// Attaches the new thread; the host's function and its argument.
extern "C" fn begin(begin: *mut c_void) -> Started {
    attach("mono_thread_create", false);
    // SAFETY: the maker waits, and its frame with it, until `attached` is set.
    unsafe {
        let begin = begin.cast::<Begin>();
        settle((*begin).domain);
        let what = Started {
            function: (*begin).function,
            arg: (*begin).arg,
        };
        let attached = &raw const (*begin).attached;
        (*attached).store(1, Ordering::Release);
        vervet_os::futex::wake(&*attached, 1);
        what
    }
}

/// Detaches the thread that is about to end. The main thread ends the process.
extern "C" fn before_exit() {
    let context = current_context();
    if context.is_null() {
        return;
    }
    let is_main = {
        let _entered = foreign::enter();
        current() == crate::profiler::main_thread()
    };
    if is_main {
        // SAFETY: ends the process, as in mono.
        unsafe { libc::exit(rt().exit_code.load(Ordering::Relaxed)) };
    }
    if !foreign::detach_for_good() {
        fail("mono_thread_exit: a callback of the runtime may not end its thread");
    }
}
/// Ends the calling thread. No frame of this library is on the stack while libc unwinds it.
///
/// # Safety
/// As the header says.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mono_thread_exit() -> ! {
    std::arch::naked_asm!(
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        "xor edi, edi",
        "jmp {exit}",
        before = sym before_exit,
        exit = sym libc::pthread_exit,
    )
}

/// The identity of the calling thread for the parts that number threads.
pub fn tid(cx: &'static Cx<'static>) -> u64 {
    let internal = identity::current_internal(cx);
    internal.read::<u64>(offset_of!(InternalThreadObject, thread_id))
}
