//! Unloading a domain.
//!
//! # The protocol
//! | step | state | who | what |
//! |---|---|---|---|
//! | 1 | Leaving | the caller | raises DomainUnload in the domain; an exception of a handler ends the unload, and the domain is active again |
//! | 2 | Unloading | a thread of its own | aborts each thread that has frames in the domain, again and again until there is none |
//! | 3 | | the same | has the finalizers of the domain's objects run, reachable or not |
//! | 4 | Unloaded, then Gone | the same | waits for a finalizer that runs still, and lets go of all that the domain held: statics, thread statics, literals, Type objects, GC handles |
//!
//! The caller waits for step 4, where an abort or an interrupt may end its wait: it may itself have frames in the domain.
//!
//! # Invariants
//! * From step 2 on no thread enters the domain, but one that has frames in it already, and the finalizer thread.
//! * A thread whose abort an unload has asked for never carries that abort out of the domain: where its outermost frame of the domain ends, the abort is
//!   reset, and the caller gets an AppDomainUnloadedException ([`leave`]).
//! * An abort that an unload has asked for is raised only while the thread has frames in a domain that is being unloaded.
//! * After step 3 nothing runs in the domain. So what its code refers to may go; the code itself, VTables, classes and images stay mapped.
use super::{Domain, State, crossing, renew};
use crate::classes::vtables;
use crate::cx::{Cx, Result, Value};
use crate::exceptions::walk::Walk;
use crate::memory::roots::{self, Root};
use crate::memory::{context_statics, finalizer, gc, handles, statics};
use crate::object::ObjRef;
use crate::profiler::hooks;
use crate::runtime::rt;
use crate::threads::{abort, park, start, wait};
use std::time::{Duration, Instant};
use vervet_os::LeafLock;
use vervet_types::{Assembly, Known};

/// How often the threads in the domain are aborted again.
const AGAIN: Duration = Duration::from_millis(20);
/// What the thread that unloads needs for its stack.
const STACK: usize = 1 << 20;

/// The owner ids of the threads that wait for the end of an unload.
static WAITING: LeafLock<Vec<u32>> = LeafLock::new(Vec::new());

/// Unloads the domain, and waits for the end.
///
/// # Errors
/// CannotUnloadAppDomainException: it is the root domain, or is being unloaded; the caller is the finalizer thread, or there can be no other thread. What
/// a handler of DomainUnload throws.
pub fn unload<'cx>(cx: &'cx Cx<'cx>, domain: &'static Domain) -> Result<()> {
    let refuse = |text| Err(cx.throw(Known::CannotUnloadAppDomainException, text));
    if domain.is_root() {
        return refuse("The default appdomain can not be unloaded.");
    }
    // SAFETY: a token's context is that of an attached thread.
    if unsafe { finalizer::is_finalizer(cx.context) } {
        return refuse("An appdomain can not be unloaded by a finalizer.");
    }
    if !domain.change_state(State::Active, State::Leaving) {
        return refuse(match domain.state() {
            State::Unloaded | State::Gone => "Appdomain is already unloaded.",
            _ => "Appdomain is already being unloaded.",
        });
    }
    let told = cx.within(domain, |cx| {
        let method = cx.known_method(Known::AppDomain, "DoDomainUnload", 0)?;
        let object = domain.app_domain.lock().map_or(ObjRef::NULL, |r| r.get());
        cx.invoke(method, Some(Value::Ref(object)), &[])
    });
    if let Err(throw) = told {
        domain.change_state(State::Leaving, State::Active);
        return Err(throw);
    }
    domain.change_state(State::Leaving, State::Unloading);
    let started = start::spawn_attached(STACK, move || {
        let cx = Cx::current();
        end_threads(&cx, domain);
        finalize(&cx, domain);
        domain.change_state(State::Unloading, State::Unloaded);
        // The finalizer thread may be at an object that a collection has found meanwhile.
        while crossing::is_used(domain) {
            park::park(&cx, || {}, Some(Instant::now() + Duration::from_millis(1)));
        }
        drop_finalizers(&cx, domain);
        let_go(domain);
        hooks::domain_unloaded(domain.id, &own_assemblies(domain));
        domain.change_state(State::Unloaded, State::Gone);
        renew::offer(domain);
        let waiting = std::mem::take(&mut *WAITING.lock());
        waiting.into_iter().for_each(park::unpark);
    });
    if !started {
        domain.change_state(State::Unloading, State::Active);
        return refuse("There can be no thread that unloads the appdomain.");
    }
    let (me, number) = (park::id(cx), domain.number());
    wait::until(cx, || {
        let mut waiting = WAITING.lock();
        // It may have begun another life by now.
        if domain.state() == State::Gone || domain.number() != number {
            return true;
        }
        if !waiting.contains(&me) {
            waiting.push(me);
        }
        false
    })
}

/// Aborts the threads that have frames in the domain until none has.
fn end_threads(cx: &Cx<'_>, domain: &'static Domain) {
    while crossing::is_used(domain) {
        crossing::send_home(cx, domain);
        let there = crossing::threads_in(domain);
        abort::request_of(cx, &there);
        let until = Instant::now() + AGAIN;
        park::park(cx, || {}, Some(until));
    }
}

/// Has the finalizers of the domain's objects run, and waits for them. Reachable objects are finalized too, as at the end of a process, but those of the program's own
/// classes first: they may use streams and handles of the class library, whose finalizers close them.
fn finalize(cx: &Cx<'_>, domain: &'static Domain) {
    domain.set_finalizing(true);
    gc::queue_finalizers_of(cx, domain.id);
    finalizer::wait_for_pending(cx);
    domain.set_finalizing(false);
}

/// Nothing runs in the domain any more. Objects that its last finalizers have made, or registered again, are not finalized: that would happen in another
/// life of the domain. The finalizer thread takes them and does not enter the domain.
fn drop_finalizers(cx: &Cx<'_>, domain: &'static Domain) {
    gc::queue_finalizers_of(cx, domain.id);
    finalizer::wait_for_pending(cx);
}

impl Domain {
    /// Nothing runs in the domain any more: its statics and all objects that it keeps go to the collector. Their slots stay, holding null: the domain's
    /// code, which nobody calls, names them by address.
    fn let_go(&self) {
        self.each_vtable(vtables::clear_statics);
        let classes = rt().universe.class_count();
        let made = (0..classes).filter_map(|class| self.types.get(class));
        let types = made.filter_map(roots::kept_in);
        types.for_each(|root| root.set(ObjRef::NULL));
        fn clear<'r>(all: impl Iterator<Item = &'r Root>) {
            all.for_each(|root| root.set(ObjRef::NULL));
        }
        clear(self.strings.lock().values());
        clear(self.literals.lock().values());
        clear(self.dynamic_literals.lock().iter());
        clear(self.cache.lock().values());
        clear(self.data.lock().values());
        for object in [&self.app_domain, &self.setup, &self.context] {
            clear(object.lock().iter());
        }
    }
}

/// The assemblies of the domain that no other domain has loaded.
fn own_assemblies(domain: &'static Domain) -> Vec<&'static Assembly> {
    let others = super::all().filter(|d| d.id != domain.id && d.state() < State::Unloaded);
    let others: Vec<_> = others.flat_map(|d| d.loader.assemblies()).collect();
    let mut own = domain.loader.assemblies();
    own.retain(|a| !others.iter().any(|other| std::ptr::eq(*a, *other)));
    own
}

/// The collector may take what the domain held.
fn let_go(domain: &'static Domain) {
    domain.let_go();
    statics::clear_thread_statics(domain.id);
    context_statics::release_domain(domain.id);
    crate::interop::com::forget_domain(domain.id);
    handles::free_domain(domain.id);
}

/// Called at the end of an internal call that calls a method, which may have been a crossing: the calling thread's innermost frames of the current domain have ended, with a result or an exception. If an unload of that domain has aborted the thread, and
/// these are its outermost frames there, the caller gets an AppDomainUnloadedException instead, and the abort is reset: whatever the frames have handed out is the
/// domain's, and the abort may have been caught there.
///
/// # Errors
/// That exception.
pub fn leave(cx: &Cx<'_>) -> Result<()> {
    let domain = cx.domain();
    if domain.state() < State::Unloading || !abort::is_by_unload(cx) {
        return Ok(());
    }
    // The frame that called the running internal call is code of the domain that the call goes back to. (The class library calls methods by reflection in a domain
    // too.)
    let goes_on_in = Walk::here(cx).next().map(|frame| frame.code.domain);
    if goes_on_in == Some(domain.id) {
        return Ok(());
    }
    let Some(caller) = crossing::caller(cx, domain) else {
        return Ok(());
    };
    // From here on the unload asks for no abort of this thread, and one that it has asked for meanwhile is dropped.
    crossing::mark_left(cx);
    let cx = &Cx::current();
    if let Err(throw) = abort::reset(cx) {
        // Another thread has reset it.
        cx.take_pending(throw);
    }
    cx.within(caller, |cx| Err(cx.throw_unloaded()))
}
