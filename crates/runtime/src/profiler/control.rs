//! Starting a recording: at the start of the process, or later.
//!
//! # How it works
//! ```text
//! command line: --profile=log:...   begin  \
//!                                            check -> transport -> samples -> writer -> hooks on -> what is there already
//! vervet profile PID                start  /
//! ```
//! The order matters. Samples may come from the moment that sampling runs, so the writer exists before the first of them is looked at; the hooks are switched
//! on when there is somebody to take their records; and what was loaded and compiled before is told last, as records like any other, so that a class
//! which is loaded meanwhile is told at least once. The writer writes a definition once however often it is told.
//!
//! # Invariants
//! * One recording runs at a time in a process, and its writer has ended before the next one starts.
//! * A recording that cannot be whole is refused in words and not begun: an item that is not there yet, an event that needs code compiled for it in a process
//!   whose code exists already, a file that cannot be made.
//! * A failed start leaves nothing running: no timer, no thread, no hook.
use super::{call_spec, heapshot, hooks, live, names, recording, sampling};
use crate::code::table;
use crate::domain::{self, State};
use crate::object::ObjRef;
use crate::safepoint::{self, ThreadView};
use crate::threads::{green, name};
use std::time::Duration;
use vervet_profiler::options::{Clock, Options};
use vervet_profiler::writer::Recording;

/// Starts the recording that the command line asks for, before the first managed code. The error is a sentence for the user.
pub(crate) fn begin(options: &Options) -> Result<(), String> {
    if options.coverage {
        eprintln!(
            "vervet: coverage is recorded by mono's profiler 'coverage', which is not a part of Vervet"
        );
    }
    if let Some(spec) = &options.call_spec {
        call_spec::set(spec)?;
    }
    run(options)
}

/// Starts a recording in the running process, until [`recording::stop`] or the end. Calls need code compiled for them, so they cannot be recorded
/// from now on. The calling thread is not attached. The error is a sentence for the user.
pub fn start(options: &Options) -> Result<(), String> {
    if options.calls {
        return Err("calls are recorded from the start of the program only".into());
    }
    run(options)?;
    tell_threads();
    Ok(())
}

/// A line that came in at the port. Others than the one that mono knows are not answered, as there.
fn obey(command: &str) {
    if command == "heapshot" {
        crate::memory::gc::request_heapshot();
    }
}

/// See the module for the order of the steps.
fn run(options: &Options) -> Result<(), String> {
    let starting = recording::begin_start()?;
    let transport = recording::make_transport()?;
    recording::set_max_frames(options.max_frames);
    let samples = sampling::source();
    sampling::set_max_samples(options.max_samples);
    samples.drain(u64::MAX, &mut |_| {});
    live::note_sampling(options.sample);
    // Waits first: they want the larger lanes.
    if let Some(us) = options.wait_us {
        sampling::set_max_frames(recording::max_frames() as usize);
        sampling::off_cpu::start(Duration::from_micros(us.into()));
    }
    if let Some((clock, hz)) = options.sample {
        start_sampling(clock, hz).inspect_err(|_| end_sampling())?;
    }
    let names = names::Names::new();
    let at_end = recording::writer_ended;
    let started = Recording::start(options, transport, Some(samples), names, obey, at_end);
    if started.is_err() {
        end_sampling();
    }
    let started = started?;
    heapshot::start(options);
    if let Some(period) = options.allocation_period {
        hooks::begin_allocation_samples(period, crate::memory::gc::heap().taken());
    }
    recording::enable(
        starting,
        started,
        options,
        |work| crate::threads::native(work),
        || {
            end_sampling();
            live::end();
        },
    );
    // What is there already.
    let domains = domain::all().filter(|d| (State::Active..State::Unloaded).contains(&d.state()));
    for domain in domains {
        hooks::domain_made(domain.id);
        let name = domain.friendly_name.lock().clone();
        if !name.is_empty() {
            hooks::domain_named(domain.id, &name);
        }
        let assemblies = domain.loader.assemblies();
        assemblies.into_iter().for_each(hooks::assembly_loaded);
    }
    table::all().for_each(hooks::code_linked);
    live::begin(options.events);
    Ok(())
}

/// Tells the threads that are there, with their names. The calling thread is not attached. While the world is stopped no thread comes, goes or gets a name, so
/// what is told is in its place among what the threads tell of themselves.
fn tell_threads() {
    let tell = |view: ThreadView<'_>| {
        let context = view.context;
        // SAFETY: the world is stopped.
        unsafe {
            let is_off = (*context).green != 0 && view.tid == 0;
            if is_off && green::is_free(context) {
                return;
            }
            let internal: ObjRef<'_> = ObjRef::from_addr((*context).internal_thread);
            // A green thread that has not begun has the objects of the one before it.
            let is_new = is_off && green::is_new(context);
            let mut is_told = false;
            if !internal.is_null() && !is_new {
                name::of_stopped(internal, |units| {
                    hooks::thread_is_there(context, Some(units));
                    is_told = true;
                });
            }
            if !is_told {
                hooks::thread_is_there(context, None);
            }
        }
    };
    // SAFETY: the calling thread is not attached.
    unsafe { safepoint::stop(std::ptr::null_mut(), |world| world.for_each_thread(tell)) };
}

/// Starts the timers of all threads, or the thread that looks at them.
pub(super) fn start_sampling(clock: Clock, hz: u32) -> Result<(), String> {
    let mode = match clock {
        Clock::Cpu => sampling::Mode::Cpu,
        Clock::Real => sampling::Mode::Real,
    };
    let started = sampling::start(mode, hz, recording::max_frames() as usize);
    started.map(|_| ()).map_err(|e| format!("--profile: {e}"))
}
/// Ends what [`start_sampling`] began. Samples that are in the rings stay there for the writer's last look.
fn end_sampling() {
    // Who ends the process in the middle of something else leaves the timers alone.
    if !vervet_os::lock::holds_leaf_lock() {
        sampling::stop();
        sampling::off_cpu::stop();
    }
}
