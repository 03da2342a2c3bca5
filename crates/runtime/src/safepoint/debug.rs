//! A debugging aid: stops the world again and again while a program runs.
//!
//! `VERVET_DEBUG_STOP_EVERY_US=n` starts a thread that does so every n microseconds and reads every word a collector
//! would read. A program gives the same results with it as without.
use std::time::Duration;

/// Starts the thread if it was asked for.
pub(crate) fn start() {
    let Some(every) = std::env::var("VERVET_DEBUG_STOP_EVERY_US")
        .ok()
        .and_then(|t| t.parse().ok())
    else {
        return;
    };
    let pause = Duration::from_micros(every);
    let started = std::thread::Builder::new()
        .name("stopper".into())
        .stack_size(256 << 10)
        .spawn(move || {
            loop {
                std::thread::sleep(pause);
                let sum = |world: &super::Stopped| {
                    let mut sum = 0usize;
                    world.for_each_thread(|thread| {
                        for &(low, high) in thread.ranges {
                            for at in (low..high).step_by(8) {
                                // SAFETY: the ranges of a stopped thread are readable words.
                                sum =
                                    sum.wrapping_add(unsafe { vervet_os::memory::stack_word(at) });
                            }
                        }
                    });
                    sum
                };
                // SAFETY: this thread is not attached.
                unsafe { super::stop(std::ptr::null_mut(), sum) };
            }
        });
    if let Err(e) = started {
        tracing::warn!("cannot start the thread that stops the world: {e}");
    }
}
