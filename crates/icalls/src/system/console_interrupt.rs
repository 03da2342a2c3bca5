//! ^C for `Console.CancelKeyPress`: the way from the signal handler to managed code.
//!
//! # How it works
//! The signal handler counts the signal and wakes a thread. The thread attaches to the runtime, calls
//! `Console.DoConsoleCancelEventInBackground`, and detaches. The class library then calls the program's handlers on the
//! thread pool, and ends the process with code 58 unless a handler cancels that.
//!
//! # Invariants
//! * The signal handler does nothing but count and wake.
//! * The thread is attached only while it calls, so a stop of the world or the end of the process never waits for it.
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_os::futex;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::threads;
use vervet_runtime::threads::attach;
use vervet_types::{Known, LoadError};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Starts the thread. False if the system has none for us.
pub fn start() -> bool {
    vervet_os::thread::spawn_detached((2 << 20) + (512 << 10), serve).is_ok()
}

/// The handler of SIGINT.
pub extern "C" fn on_interrupt(_: i32) {
    COUNT.fetch_add(1, Ordering::SeqCst);
    futex::wake(&COUNT, 1);
}

fn serve() {
    let mut served = 0;
    loop {
        while COUNT.load(Ordering::SeqCst) == served {
            futex::wait(&COUNT, served, None);
        }
        served = served.wrapping_add(1);
        attach::attach();
        {
            let cx = Cx::current();
            if let Err(throw) = cancel(&cx) {
                let thrown = cx.take_pending(throw);
                tracing::warn!("the cancel event: {}", thrown.class().full_name());
            }
        }
        attach::detach();
    }
}

fn cancel<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    const METHOD: &str = "DoConsoleCancelEventInBackground";
    threads::adopt(cx)?;
    let console = cx.known(Known::Console);
    match cx.load(console.find_method(METHOD, Some(0)))? {
        Some(method) => cx.invoke(method, None, &[]).map(drop),
        None => Err(cx.throw_load(LoadError::missing_method(console, METHOD))),
    }
}
