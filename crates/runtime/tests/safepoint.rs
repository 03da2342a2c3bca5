//! Stopping the world, with threads whose states the tests set: no class library, no generated code.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vervet_abi::{State, ThreadContext};
use vervet_runtime::safepoint::{self, Stopped};
use vervet_runtime::threads::{self, attach};

/// Tests share the process's list of threads: one at a time.
static ONE: vervet_os::SafeLock<()> = vervet_os::SafeLock::new(());
static READY: AtomicBool = AtomicBool::new(false);

/// Stops the world from the calling thread, attached or not.
fn stop<T>(work: impl FnOnce(&safepoint::Stopped) -> T) -> T {
    // SAFETY: the calling thread's context, in Runtime state, or null if the thread is not attached.
    unsafe { safepoint::stop(threads::current_context(), work) }
}

fn prepare() -> std::sync::MutexGuard<'static, ()> {
    let guard = ONE.lock();
    if !READY.swap(true, Ordering::SeqCst) {
        safepoint::choose_fence();
        safepoint::initialise();
    }
    guard
}

fn set_state(context: *mut ThreadContext, state: State) {
    // SAFETY: the context is the calling thread's.
    unsafe { (&raw mut (*context).state).write_volatile(state as u8) };
}
fn set_critical(context: *mut ThreadContext, on: u8) {
    // SAFETY: the context is the calling thread's.
    unsafe { (&raw mut (*context).critical).write_volatile(on) };
}

/// A thread that counts in one of the states until it is told to end.
struct Worker {
    count: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    context: Arc<AtomicPtr<ThreadContext>>,
    thread: Option<std::thread::JoinHandle<()>>,
}
impl Worker {
    fn start(step: impl Fn(*mut ThreadContext, &AtomicU64) + Send + 'static) -> Worker {
        let (count, end) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let context = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
        let (c, e, x) = (count.clone(), end.clone(), context.clone());
        let thread = std::thread::spawn(move || {
            let context = attach::attach();
            x.store(context, Ordering::SeqCst);
            while !e.load(Ordering::SeqCst) {
                step(context, &c);
            }
            attach::detach();
        });
        while count.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        Worker {
            count,
            end,
            context,
            thread: Some(thread),
        }
    }
    /// As managed code would: in Managed state throughout, with regions that may not be interrupted.
    fn managed() -> Worker {
        Worker::start(|context, count| {
            set_state(context, State::Managed);
            for i in 0..10_000u64 {
                if i.is_multiple_of(3) {
                    set_critical(context, 1);
                    let before = count.load(Ordering::SeqCst);
                    count.store(before + 1, Ordering::SeqCst);
                    set_critical(context, 0);
                } else {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            }
            set_state(context, State::Runtime);
            // SAFETY: this thread\'s context, in Runtime state.
            unsafe { safepoint::poll(context) };
        })
    }
    /// As our own code: polls, and goes to Native now and then.
    fn runtime() -> Worker {
        Worker::start(|context, count| {
            count.fetch_add(1, Ordering::SeqCst);
            // SAFETY: this thread\'s context, in Runtime state.
            unsafe { safepoint::poll(context) };
            if count.load(Ordering::SeqCst).is_multiple_of(64) {
                threads::native(std::thread::yield_now);
            }
        })
    }
    fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }
}
impl Drop for Worker {
    fn drop(&mut self) {
        self.end.store(true, Ordering::SeqCst);
        if let Some(t) = self.thread.take() {
            assert!(t.join().is_ok() || std::thread::panicking());
        }
    }
}

#[test]
fn nobody_moves_while_the_world_is_stopped() {
    let _one = prepare();
    let workers: Vec<Worker> = (0..3)
        .map(|_| Worker::managed())
        .chain((0..3).map(|_| Worker::runtime()))
        .collect();
    let counts = |w: &[Worker]| w.iter().map(Worker::count).collect::<Vec<_>>();
    for round in 0..500 {
        stop(|w| {
            let before = counts(&workers);
            w.for_each_thread(|t| {
                // SAFETY: the context of a stopped thread.
                let critical = unsafe { (*t.context).critical };
                assert_eq!(critical, 0, "stopped in a critical region");
            });
            for _ in 0..200 {
                std::hint::spin_loop();
            }
            if round % 50 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(before, counts(&workers), "round {round}");
        });
        if round % 50 == 0 {
            // And everybody moves when it is not.
            let before = counts(&workers);
            let limit = Instant::now() + Duration::from_secs(20);
            while counts(&workers).iter().zip(&before).any(|(a, b)| a == b) {
                assert!(Instant::now() < limit, "a thread did not go on");
                std::thread::yield_now();
            }
        }
    }
}

#[test]
fn attached_stoppers_take_turns() {
    let _one = prepare();
    let inside = Arc::new(AtomicU64::new(0));
    let workers: Vec<Worker> = (0..4)
        .map(|_| {
            let inside = inside.clone();
            Worker::start(move |_, count| {
                stop(|_| {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::hint::spin_loop();
                    assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                });
                count.fetch_add(1, Ordering::SeqCst);
            })
        })
        .chain([Worker::managed(), Worker::runtime()])
        .collect();
    while workers[..4].iter().map(Worker::count).sum::<u64>() < 1000 {
        std::thread::yield_now();
    }
}

/// Is the word in what a collector would scan?
fn is_found(world: &Stopped, word: usize) -> bool {
    let mut found = false;
    world.for_each_thread(|t| {
        for &(low, high) in t.ranges {
            for at in (low..high).step_by(8) {
                // SAFETY: the ranges of a stopped thread are readable words.
                found |= unsafe { (at as *const usize).read_volatile() } == word;
            }
        }
    });
    found
}
/// What `x` stands for nowhere but where the test puts it.
fn mark(x: usize) -> usize {
    x.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}

/// Hides a mark until it is in the register it is meant for, so that it lies nowhere else.
const HIDE: usize = 0x0123_4567_89AB_CDEF;

#[test]
fn registers_of_a_managed_thread_are_scanned() {
    let _one = prepare();
    let worker = Worker::start(|context, count| {
        set_state(context, State::Managed);
        // SAFETY: a loop that touches the named registers only.
        unsafe {
            std::arch::asm!(
                "xor {seed}, {hide}",
                "movq {x}, {seed}",
                "xor {seed:e}, {seed:e}",
                "xor r12, {hide}",
                "2:",
                "dec {n}",
                "jnz 2b",
                "pxor {x}, {x}",
                "xor r12d, r12d",
                seed = inout(reg) mark(77) ^ HIDE => _,
                hide = in(reg) HIDE,
                x = out(xmm_reg) _,
                inout("r12") mark(78) ^ HIDE => _,
                n = inout(reg) 10_000_000u64 => _,
            );
        }
        set_state(context, State::Runtime);
        count.fetch_add(1, Ordering::SeqCst);
        // SAFETY: this thread\'s context, in Runtime state.
        unsafe { safepoint::poll(context) };
    });
    let mut seen = (0, 0);
    for _ in 0..50 {
        stop(|w| {
            seen.0 += u32::from(is_found(w, mark(77)));
            seen.1 += u32::from(is_found(w, mark(78)));
        });
        std::thread::sleep(Duration::from_micros(500));
    }
    assert!(seen.0 > 10 && seen.1 > 10, "{seen:?}");
    drop(worker);
}

/// Calls `f(arg)` through one of the thunks, with a mark in a callee-saved register and nowhere else.
fn with_marked_register(
    thunk: unsafe extern "C" fn(extern "C" fn(*mut u8), *mut u8, *mut ThreadContext),
    f: extern "C" fn(*mut u8),
    arg: *mut u8,
    context: *mut ThreadContext,
    mark: usize,
) {
    // SAFETY: a call as the ABI has it.
    unsafe {
        std::arch::asm!(
            "xor r12, r13",
            "call {thunk}",
            "xor r12d, r12d",
            thunk = in(reg) thunk,
            in("rdi") f,
            in("rsi") arg,
            in("rdx") context,
            inout("r12") mark ^ HIDE => _,
            inout("r13") HIDE => _,
            clobber_abi("C"),
        );
    }
}

#[test]
fn callee_saved_registers_of_a_native_thread_are_scanned() {
    let _one = prepare();
    extern "C" fn nap(count: *mut u8) {
        // SAFETY: the worker's counter, which outlives the call.
        unsafe { &*(count as *const AtomicU64) }.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(1));
    }
    let worker = Worker::start(|context, count| {
        let count = std::ptr::from_ref(count) as *mut u8;
        with_marked_register(
            vervet_runtime::arch::call_native,
            nap,
            count,
            context,
            mark(177),
        );
    });
    let mut seen = 0;
    for _ in 0..50 {
        stop(|w| seen += u32::from(is_found(w, mark(177))));
        std::thread::sleep(Duration::from_micros(300));
    }
    assert!(seen > 10, "{seen}");
    drop(worker);
}

#[test]
fn callee_saved_registers_of_the_stopper_are_scanned() {
    let _one = prepare();
    extern "C" fn stop_and_look(found: *mut u8) {
        // SAFETY: the caller's flag.
        unsafe { *found = u8::from(stop(|w| is_found(w, mark(178)))) };
    }
    unsafe extern "C" fn call(f: extern "C" fn(*mut u8), arg: *mut u8, _ctx: *mut ThreadContext) {
        f(arg);
    }
    let context = attach::attach();
    let mut found = 0u8;
    with_marked_register(call, stop_and_look, &raw mut found, context, mark(178));
    assert_eq!(found, 1);
    attach::detach();
}

#[test]
fn callee_saved_registers_of_a_polling_thread_are_scanned() {
    let _one = prepare();
    extern "C" fn poll_for_a_while(count: *mut u8) {
        let context = threads::current_context();
        for _ in 0..2000 {
            // SAFETY: the worker's counter, which outlives the call.
            unsafe { &*(count as *const AtomicU64) }.fetch_add(1, Ordering::SeqCst);
            // SAFETY: this thread\'s context, in Runtime state.
            unsafe { safepoint::poll(context) };
        }
    }
    unsafe extern "C" fn call(f: extern "C" fn(*mut u8), arg: *mut u8, _ctx: *mut ThreadContext) {
        f(arg);
    }
    let worker = Worker::start(|context, count| {
        let count = std::ptr::from_ref(count) as *mut u8;
        with_marked_register(call, poll_for_a_while, count, context, mark(179));
    });
    let mut seen = 0;
    for _ in 0..50 {
        stop(|w| seen += u32::from(is_found(w, mark(179))));
        std::thread::sleep(Duration::from_micros(300));
    }
    assert!(seen > 10, "{seen}");
    drop(worker);
}

#[test]
fn one_thread_is_stopped_alone() {
    let _one = prepare();
    let (target, other) = (Worker::managed(), Worker::managed());
    let mut stopped = 0;
    for _ in 0..200 {
        // SAFETY: this thread is not attached, and the registers stay as they are.
        let done = unsafe {
            safepoint::stop_thread(
                std::ptr::null_mut(),
                target.context.load(Ordering::SeqCst),
                |uc| {
                    assert_ne!(uc.uc_mcontext.gregs[libc::REG_RIP as usize], 0);
                    let (before, others) = (target.count(), other.count());
                    let limit = Instant::now() + Duration::from_secs(20);
                    while other.count() == others {
                        assert!(Instant::now() < limit, "the other thread stands still");
                        std::thread::yield_now();
                    }
                    assert_eq!(before, target.count());
                },
            )
        };
        stopped += u32::from(done.is_some());
    }
    assert!(stopped > 20, "{stopped}");
}

#[test]
fn threads_come_and_go_during_stops() {
    let _one = prepare();
    let before = safepoint::registry::count();
    let end = Arc::new(AtomicBool::new(false));
    let e = end.clone();
    let stopper = std::thread::spawn(move || {
        while !e.load(Ordering::SeqCst) {
            stop(|w| w.for_each_thread(|t| assert!(!t.context.is_null())));
        }
    });
    let makers: Vec<_> = (0..4)
        .map(|n| {
            std::thread::spawn(move || {
                for i in 0..500 {
                    let t = std::thread::spawn(move || {
                        let context = attach::attach();
                        assert_eq!(context, attach::attach());
                        // SAFETY: this thread\'s context, in Runtime state.
                        unsafe { safepoint::poll(context) };
                        // Every other one forgets to detach.
                        if (i + n) % 2 == 0 {
                            attach::detach();
                            assert!(threads::current_context().is_null());
                        } else {
                            set_state(context, State::Native);
                        }
                    });
                    assert!(t.join().is_ok());
                }
            })
        })
        .collect();
    for m in makers {
        assert!(m.join().is_ok());
    }
    end.store(true, Ordering::SeqCst);
    assert!(stopper.join().is_ok());
    assert_eq!(safepoint::registry::count(), before);
}

#[test]
fn ended_threads_leave_nothing_behind() {
    let _one = prepare();
    let mappings = || {
        std::fs::read_to_string("/proc/self/maps")
            .unwrap_or_default()
            .lines()
            .count()
    };
    let round = || {
        for _ in 0..300 {
            let t = std::thread::spawn(|| {
                let _ = attach::attach();
                threads::native(|| {
                    threads::service_stack::on_service_stack(|| std::hint::black_box(1))
                });
                attach::detach();
            });
            assert!(t.join().is_ok());
        }
    };
    round();
    let before = mappings();
    round();
    assert!(
        mappings() <= before + 4,
        "{before} mappings became {}",
        mappings()
    );
}

#[test]
fn owner_ids_of_threads_that_held_locks_are_not_given_again() {
    let _one = prepare();
    let id = |locks: u32| {
        let t = std::thread::spawn(move || {
            let context = attach::attach();
            // SAFETY: the context is this thread's.
            let id = unsafe {
                (*context).locks_held = locks;
                (*context).owner_id
            };
            attach::detach();
            id
        });
        t.join().unwrap_or(0)
    };
    let first = id(0);
    assert_eq!(first, id(1));
    let second = id(0);
    assert_ne!(first, second);
    assert_ne!(second, 0);
}
