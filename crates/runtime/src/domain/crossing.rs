//! Crossings: in which domain a thread runs, and which domains its frames are in.
//!
//! # How it works
//! A thread's current domain is a word of its context. Managed code crosses by the internal calls of `AppDomain.InvokeInDomain`: it notes the domain
//! ([`push`]), makes it current ([`enter`]), calls, and undoes both. The runtime crosses by [`Cx::within`], for what it calls on behalf of an object or a
//! class of another domain: a class constructor, a finalizer, a delegate that native code calls, the start of a thread, an item of the pool.
//!
//! | who | how | a domain that is being unloaded |
//! |---|---|---|
//! | `AppDomain.InvokeInDomain` of the class library | [`push`], [`enter`], [`pop`] by internal calls | [`may_enter`] refuses |
//! | a class constructor, an event, a copy | [`Cx::within`] | is entered: the thread acts for frames that are there |
//! | a finalizer, an item of the pool, a completed operation | [`Cx::visit`] | is not visited |
//! | a host, by [`settle`] | for good | refuses; [`send_home`] sends a thread that is idle there to the root domain |
//! | a thread that starts | [`begin_in`] | the thread ends at once |
//! | a call through a proxy | `remoting/across.rs` | refuses |
//!
//! A thread has one InternalThread, which all domains share, and a Thread object in each domain that asks for it. Between two visits a domain's Thread
//! object lies in the thread static `Thread.current_thread` of that domain.
//!
//! # Invariants
//! * What [`Cx::within`] runs ends in the domain in which it began, whether it throws or not.
//! * A thread that begins in another domain than the root domain notes it before its first frame.
//! * A domain is noted before it becomes current. So who unloads it finds each thread that has frames in it, or the thread finds that it is being unloaded.
use super::{Domain, State, by_id};
use crate::cx::{Cx, Result};
use crate::memory::statics;
use crate::object::ObjRef;
use crate::safepoint::{registry, stop};
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use vervet_abi::layouts::{InternalThreadObject, ThreadObject};
use vervet_os::LeafLock;
use vervet_types::Known;

/// That a thread has frames in a domain.
#[derive(Clone, Copy)]
struct Row {
    /// The thread's owner id.
    thread: u32,
    /// The domain's id.
    domain: u32,
    /// The frames have ended because of an unload, and the thread is on its way out: nothing is to be done about it any more.
    is_left: bool,
    /// A host has sent the thread there, for good. There is at most one such row of a thread, the innermost.
    is_settled: bool,
}

/// The domains that frames of threads are in, outermost first.
static FRAMES: LeafLock<Vec<Row>> = LeafLock::new(Vec::new());

fn me(cx: &Cx<'_>) -> u32 {
    // SAFETY: a token holds the context of the calling thread.
    unsafe { (*cx.context).owner_id }
}

/// Notes that the calling thread is about to have frames in the domain.
pub fn push(cx: &Cx<'_>, domain: &Domain) {
    FRAMES.lock().push(Row {
        thread: me(cx),
        domain: domain.id,
        is_left: false,
        is_settled: false,
    });
}

/// The innermost frames that [`push`] has noted are gone. Nothing happens if there are none.
pub fn pop(cx: &Cx<'_>) {
    let me = me(cx);
    let mut frames = FRAMES.lock();
    if let Some(at) = frames.iter().rposition(|row| row.thread == me) {
        frames.remove(at);
    }
}

/// A host sends the calling thread to a domain, where it stays. False: nobody may enter that, and the thread stays where it is, or goes to the root domain.
pub fn settle(cx: &Cx<'_>, domain: &'static Domain) -> bool {
    if domain.state() >= State::Unloading {
        return false;
    }
    note_settled(cx, domain);
    // As in `begin_in`.
    let may_stay = domain.state() < State::Unloading;
    let root = cx.rt().root;
    if !may_stay {
        note_settled(cx, root);
    }
    enter(cx, if may_stay { domain } else { root });
    may_stay
}
/// Replaces what an earlier call has noted of the calling thread. The domain of the frames around needs no row of its own.
fn note_settled(cx: &Cx<'_>, domain: &Domain) {
    let me = me(cx);
    let mut frames = FRAMES.lock();
    frames.retain(|row| row.thread != me || !row.is_settled);
    let around = frames.iter().rfind(|row| row.thread == me);
    if domain.id != around.map_or(0, |row| row.domain) {
        frames.push(Row {
            thread: me,
            domain: domain.id,
            is_left: false,
            is_settled: true,
        });
    }
}
/// Sends the threads that a host has settled in the domain, and that are in code of the host with no managed code below, to the root domain: they would keep the
/// domain in use for as long as the host likes.
pub(crate) fn send_home(cx: &Cx<'_>, domain: &Domain) {
    let is_settled = |row: &Row| row.domain == domain.id && row.is_settled;
    if !FRAMES.lock().iter().any(is_settled) {
        return;
    }
    let send = |thread: &registry::Thread| {
        let context = thread.context();
        // SAFETY: the thread is stopped, or is the calling one. In Native and Foreign state it does nothing with the words until it has come back, which waits for the
        // end of the stop. They are references, 0, or the id of a domain.
        unsafe {
            let state = registry::state(context).load(Ordering::Relaxed);
            let is_outside = [
                vervet_abi::State::Foreign as u8,
                vervet_abi::State::Native as u8,
            ]
            .contains(&state);
            if (*context).domain != domain.id || !is_outside || !(*context).record.is_null() {
                return;
            }
            let mut frames = FRAMES.lock();
            let owner = (*context).owner_id;
            let innermost = frames.iter().rposition(|row| row.thread == owner);
            if innermost.is_none_or(|at| !is_settled(&frames[at])) {
                return;
            }
            frames.retain(|row| row.thread != owner || !row.is_settled);
            (*context).domain = 0;
            let internal: ObjRef<'_> = ObjRef::from_addr((*context).internal_thread);
            let thread = (internal.non_null())
                .map(|i| i.read_ref(offset_of!(InternalThreadObject, root_domain_thread)));
            (*context).thread_object = thread.map_or(0, ObjRef::addr);
        }
    };
    // SAFETY: a token's context is the calling thread's, which is in Runtime state.
    unsafe { stop::stop(cx.context, |_| registry::visit(send)) };
}

/// A thread is to begin in the domain of the object: an unload waits until it has. To be called before anybody can have the thread begin, and followed by
/// [`begin_in`] or [`will_not_begin`].
pub(crate) fn will_begin(object: ObjRef<'_>) {
    // The root domain is not unloaded, and a million green threads are not to share a counter.
    let id = object.vtable().domain;
    if id != 0 {
        by_id(id).starting.fetch_add(1, Ordering::SeqCst);
    }
}
/// There can be no thread that begins in the domain of the object.
pub(crate) fn will_not_begin(object: ObjRef<'_>) {
    let id = object.vtable().domain;
    if id != 0 {
        by_id(id).starting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The calling thread, which has no managed frames and was announced by [`will_begin`], begins in the domain.
///
/// # Errors
/// AppDomainUnloadedException: the domain is being unloaded. The thread is in the root domain.
pub(crate) fn begin_in<'cx>(cx: &'cx Cx<'cx>, domain: &'static Domain) -> Result<()> {
    if domain.is_root() {
        return Ok(());
    }
    push(cx, domain);
    domain.starting.fetch_sub(1, Ordering::SeqCst);
    // Looked at once the thread has noted the domain: who unloads it either sees the note or has said so before.
    if domain.state() >= State::Unloading {
        pop(cx);
        return Err(cx.throw_unloaded());
    }
    enter(cx, domain);
    Ok(())
}

/// What [`begin_in`] has begun has ended: the calling thread has no managed frames any more, and is in the root domain.
pub(crate) fn end(cx: &Cx<'_>) {
    if !cx.domain().is_root() {
        enter(cx, cx.rt().root);
        let me = me(cx);
        FRAMES.lock().retain(|row| row.thread != me);
    }
}

/// The calling thread ends, with all its frames.
///
/// # Safety
/// The context is that of a thread that ends, or has ended.
pub(crate) unsafe fn forget_thread(context: *mut vervet_abi::ThreadContext) {
    if !super::are_several() {
        return;
    }
    // SAFETY: the caller's promise; contexts are never freed.
    let owner_id = unsafe { (*context).owner_id };
    FRAMES.lock().retain(|row| row.thread != owner_id);
}

/// The calling thread's innermost frames have ended because of an unload.
pub(crate) fn mark_left(cx: &Cx<'_>) {
    let me = me(cx);
    let mut frames = FRAMES.lock();
    if let Some(at) = frames.iter().rposition(|row| row.thread == me) {
        frames[at].is_left = true;
    }
}

/// Is there a thread that has frames in the domain, is on its way out of them, or has been started there and has not begun?
pub(crate) fn is_used(domain: &Domain) -> bool {
    // A thread that begins notes the domain before it is counted off.
    domain.starting.load(Ordering::SeqCst) != 0
        || FRAMES.lock().iter().any(|row| row.domain == domain.id)
}

/// The owner ids of the threads that have frames in the domain.
pub(crate) fn threads_in(domain: &Domain) -> Vec<u32> {
    let frames = FRAMES.lock();
    let there = (frames.iter()).filter(|row| row.domain == domain.id && !row.is_left);
    there.map(|row| row.thread).collect()
}

/// The domains that the calling thread's frames are in, outermost first. A thread that began in the root domain has no row for that.
fn rows(cx: &Cx<'_>) -> Vec<u32> {
    let me = me(cx);
    let frames = FRAMES.lock();
    let mine = frames.iter().filter(|row| row.thread == me);
    mine.map(|row| row.domain).collect()
}

/// Does the calling thread have frames in a domain that threads are made to leave? Then the program cannot reset its abort.
pub fn is_leaving(cx: &Cx<'_>) -> bool {
    if !super::are_several() {
        return false;
    }
    let me = me(cx);
    let frames = FRAMES.lock();
    // The innermost row is of frames in its domain only while that is the current one: before and after that the class library is crossing.
    let mut innermost = true;
    frames
        .iter()
        .rev()
        .filter(|row| row.thread == me)
        .any(|row| {
            let is_there = !std::mem::take(&mut innermost) || row.domain == cx.domain().id;
            is_there && !row.is_left && by_id(row.domain).state() == State::Unloading
        })
}

/// May the calling thread make the domain current, for which it has pushed a row, or to which it returns? Nobody enters a domain that is being unloaded, but
/// who has frames in it goes back to them.
pub fn may_enter(cx: &Cx<'_>, domain: &Domain) -> bool {
    domain.state() < State::Unloading
        || match rows(cx).split_last() {
            Some((_, outer)) => outer.contains(&domain.id),
            None => false,
        }
}

/// The domain that has called the calling thread's innermost frames, which are of `domain`; None: it has other frames of `domain` further out.
pub(crate) fn caller(cx: &Cx<'_>, domain: &Domain) -> Option<&'static Domain> {
    let rows = rows(cx);
    let (last, outer) = rows.split_last()?;
    if *last != domain.id || outer.contains(last) {
        return None;
    }
    Some(outer.last().map_or(cx.rt().root, |id| by_id(*id)))
}

/// Makes the domain the calling thread's current one, with its default remoting context; the one that was current before.
pub fn enter(cx: &Cx<'_>, domain: &'static Domain) -> &'static Domain {
    let before = cx.domain();
    if before.id == domain.id {
        return before;
    }
    // SAFETY: a token holds the context of the calling thread, whose words only that thread writes; the words are references or 0.
    unsafe {
        let context = cx.context;
        let thread: ObjRef<'_> = ObjRef::from_addr((*context).thread_object);
        if let Some(at) = thread_slot(cx, before) {
            crate::object::store_ref(at, thread);
        }
        (*context).domain = domain.id;
        (*context).thread_object = match thread_slot(cx, domain) {
            Some(at) => *at,
            None => 0,
        };
        let internal: ObjRef<'_> = ObjRef::from_addr((*context).internal_thread);
        if let (Some(internal), Some(root)) = (internal.non_null(), *domain.context.lock()) {
            internal.write_ref(
                offset_of!(InternalThreadObject, current_appcontext),
                root.get(),
            );
        }
    }
    before
}

/// Where the calling thread's Thread object of the domain lies while the domain is not current; None if there is no memory for it.
fn thread_slot(cx: &Cx<'_>, domain: &'static Domain) -> Option<*mut usize> {
    let class = cx.known(Known::Thread);
    let field = class.find_field("current_thread").ok()??;
    let vt = domain.vtable(class).ok()?;
    Some(statics::field_address(cx, vt, field).ok()? as *mut usize)
}

/// The calling thread's Thread object of the current domain, made if there is none yet.
pub fn current_thread<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    // SAFETY: a token holds the context of the calling thread; its words are references or 0.
    let (thread, internal): (ObjRef<'cx>, ObjRef<'cx>) = unsafe {
        let context = cx.context;
        (
            ObjRef::from_addr((*context).thread_object),
            ObjRef::from_addr((*context).internal_thread),
        )
    };
    if !thread.is_null() || internal.is_null() {
        return Ok(thread);
    }
    let made = cx.alloc(cx.known(Known::Thread))?;
    // SAFETY: as above; the internal thread is read again, because making the object may have moved it.
    unsafe {
        let context = cx.context;
        made.write_ref(
            offset_of!(ThreadObject, internal_thread),
            ObjRef::from_addr((*context).internal_thread),
        );
        (*context).thread_object = made.addr();
    }
    Ok(made)
}

impl<'cx> Cx<'cx> {
    /// Does something in a domain. Afterwards the thread is in the domain and the remoting context that it was in before.
    pub fn within<T>(
        &'cx self,
        domain: &'static Domain,
        work: impl FnOnce(&'cx Cx<'cx>) -> Result<T>,
    ) -> Result<T> {
        let done = self.within_if(domain, || true, work)?;
        Ok(done.expect("nothing is asked"))
    }
    /// Does something in a domain that may have gone on its way out: None, if its life has come to that state.
    pub fn visit<T>(
        &'cx self,
        domain: &'static Domain,
        until: State,
        work: impl FnOnce(&'cx Cx<'cx>) -> Result<T>,
    ) -> Result<Option<T>> {
        // The root domain stays.
        self.within_if(domain, || domain.state() < until, work)
    }
    /// Does something in the life of a domain that has that number: None, if it is on its way out, or over.
    pub fn visit_life<T>(
        &'cx self,
        domain: &'static Domain,
        number: u32,
        work: impl FnOnce(&'cx Cx<'cx>) -> Result<T>,
    ) -> Result<Option<T>> {
        // The state first: if it is that of a later life, the number is, too. If it is that of this life, the note holds it.
        let is_open = || domain.state() < State::Unloading && domain.number() == number;
        self.within_if(domain, is_open, work)
    }
    /// Does something in a domain if it may be entered, which is asked once the thread has noted the domain: who unloads it either sees the note or has
    /// changed the state before, as in [`begin_in`].
    fn within_if<T>(
        &'cx self,
        domain: &'static Domain,
        may: impl FnOnce() -> bool,
        work: impl FnOnce(&'cx Cx<'cx>) -> Result<T>,
    ) -> Result<Option<T>> {
        if self.domain().id == domain.id {
            return match may() {
                true => work(self).map(Some),
                false => Ok(None),
            };
        }
        push(self, domain);
        if !may() {
            pop(self);
            return Ok(None);
        }
        // SAFETY: the context belongs to this thread; its words are references or 0. The stack pins what it refers to.
        let internal: ObjRef<'cx> = unsafe { ObjRef::from_addr((*self.context).internal_thread) };
        const CONTEXT: usize = offset_of!(InternalThreadObject, current_appcontext);
        let remoting = internal.non_null().map(|i| i.read_ref(CONTEXT));
        let before = enter(self, domain);
        let result = work(self);
        enter(self, before);
        pop(self);
        if let (Some(internal), Some(remoting)) = (internal.non_null(), remoting) {
            internal.write_ref(CONTEXT, remoting);
        }
        result.map(Some)
    }
    /// Does something in the domain with that id, which is one of a VTable's or of a module's owner.
    pub fn within_id<T>(
        &'cx self,
        domain: u32,
        work: impl FnOnce(&'cx Cx<'cx>) -> Result<T>,
    ) -> Result<T> {
        self.within(by_id(domain), work)
    }
    /// Does something in the domain of an object.
    pub fn within_that_of<T>(
        &'cx self,
        object: ObjRef<'cx>,
        work: impl FnOnce(&'cx Cx<'cx>) -> Result<T>,
    ) -> Result<T> {
        self.within_id(object.vtable().domain, work)
    }
}
