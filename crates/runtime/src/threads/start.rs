//! From `Thread.Start` to the end of the OS thread.
//!
//! ```text
//!   starting thread                                   new OS thread
//!   -----------------------------------------------   ------------------------------------------------------------
//!   lifetime: joinable as soon as it is started
//!   claim_start: Unstarted is cleared, once
//!   Seed: three GC handles
//!   keeps the process alive unless Background
//!   spawn, in Native state                       -->  attach: a context, Runtime state
//!                                                     run_managed: take the handles, become_thread (Thread objects
//!                                                       in the context, the owner id in InternalThread)
//!   wait, in Native state                        <--  tell that it has begun
//!   returns                                           tell a host, which may wait for the starter; call the delegate
//!                                                     an exception: unhandled, or it ends the thread only
//!                                                     detach: hooks, `adopt::end` (Stopped, joiners go on), recycle
//!   no OS thread: handles freed, Unstarted again
//! ```
//!
//! # Invariants
//! * Whoever finds a thread that is no longer Unstarted can join it.
//! * When `Start` returns, the thread is no longer Unstarted and can be joined. An OS thread has begun besides: on a busy machine it might otherwise
//!   run long after its starter went on, and programs (WCF's listeners among them) store in its first statement what their owner clears when
//!   it is closed.
//! * The new thread gets its Thread object, its delegate and the argument through GC handles, which it frees: no address of an object
//!   crosses between the threads. (Managed code clears `m_ThreadStartArg` as soon as `Thread_internal` returns, so it is read before.)
//! * An exception that leaves the delegate ends the process, but for ThreadAbortException and AppDomainUnloadedException,
//!   which end the thread.
//! * If the OS thread cannot be created, everything is as before `Start`: the thread is Unstarted and holds no handle.
use super::adopt::{become_thread, tell_host};
use super::lifetime;
use super::state::Claim;
use super::{blocking, green, native, state};
use crate::cx::{Cx, Result, Value};
use crate::memory::address_plan;
use crate::memory::handles::{self, HandleKind};
use crate::object::ObjRef;
use crate::safepoint::registry;
use std::mem::offset_of;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::layouts::{InternalThreadObject as Internal, ThreadObject};
use vervet_os::futex;
use vervet_types::{Known, MethodRef};

/// Bytes of the stack of a thread that does not ask for a size, as in mono.
const DEFAULT_STACK: usize = 2 << 20;
/// The least bytes of a stack, as in mono.
const LEAST_STACK: usize = 128 << 10;
/// Bytes that the stack guard and Rust code need below managed frames: added to what was asked for.
const OWN_STACK: usize = 512 << 10;

/// Starts the thread with its delegate, which a thread that was not made by managed code does not have. False if there can be no more threads.
pub fn start<'cx>(cx: &'cx Cx<'cx>, thread: ObjRef<'cx>, delegate: ObjRef<'cx>) -> Result<bool> {
    let internal = cx.non_null(thread.read_ref(offset_of!(ThreadObject, internal_thread)))?;
    let refused = || {
        cx.throw(
            Known::ThreadStateException,
            "Thread has already been started.",
        )
    };
    let before = state::get(internal);
    if before & (state::UNSTARTED | state::ABORTED) == 0 {
        return Err(refused());
    }
    let delegate = cx.non_null(delegate)?;
    // Before Unstarted is cleared: who finds the thread started finds its life.
    let lifetime = lifetime::given(internal);
    match state::claim_start(internal) {
        Claim::Taken => {}
        Claim::Aborted => return Ok(true),
        Claim::Refused => return Err(refused()),
    }
    // As before: who joins it meanwhile learns that it has not been started. The life stays for the next start.
    let failed = || {
        state::give_start_back(internal);
        lifetime.start_failed(internal);
    };
    let seed = match Seed::new(cx, thread, delegate) {
        Ok(seed) => seed,
        Err(throw) => {
            failed();
            return Err(throw);
        }
    };
    crate::domain::crossing::will_begin(thread);
    lifetime.keep_alive(|| state::get(internal) & state::BACKGROUND == 0);
    let wanted = internal.read::<i32>(offset_of!(Internal, stack_size));
    // Managed code has rounded the size up to whole pages: the largest ones are negative.
    let asked = wanted as u32 as usize;
    let stack = match asked {
        0 => DEFAULT_STACK,
        n => n.max(LEAST_STACK),
    };
    let spawned = match green::settings::all() {
        true => green::spawn_thread(seed, asked),
        false => {
            let begun = Arc::new(Begun::default());
            let told = begun.clone();
            let spawned = spawn_os(granted_stack(stack + OWN_STACK), move || run(&seed, &told));
            if spawned {
                blocking(|| begun.wait());
            }
            spawned
        }
    };
    if !spawned {
        crate::domain::crossing::will_not_begin(thread);
        for handle in seed.handles() {
            handles::free(handle);
        }
        failed();
    }
    Ok(spawned)
}

/// Starts a thread that runs `work` attached, in Runtime state: a green one, if all are to be, or else an OS thread with a stack of so many bytes.
/// False: there can be no other thread.
pub(crate) fn spawn_attached(stack: usize, work: impl FnOnce() + Send + 'static) -> bool {
    if green::settings::all() {
        return green::spawn_work(work);
    }
    spawn_os(stack, work)
}

fn spawn_os(stack: usize, work: impl FnOnce() + Send + 'static) -> bool {
    native(|| {
        spawn(stack, move || {
            crate::threads::attach::attach();
            work();
            crate::threads::attach::detach();
        })
    })
}

/// What a thread with a large stack leaves of limited address space for others with usual ones.
const LEFT_FOR_OTHERS: usize = 64 << 20;

/// So much of a stack as address space allows: half of it, and half of that, down to a usual one, which may be refused. What a program asks for is the most
/// that it can need, and mono, which reserves less for itself, has room for more.
fn granted_stack(asked: usize) -> usize {
    let least = asked.min(DEFAULT_STACK + OWN_STACK);
    let sizes = std::iter::successors(Some(asked), |size| Some((size / 2).max(least)));
    sizes
        .take_while(|size| *size > least)
        .find(|size| address_plan::has_room_beside_thread(*size, LEFT_FOR_OTHERS))
        .unwrap_or(least)
}

/// Starts an OS thread that attaches, if there is room for it and for all it has besides its stack.
pub(crate) fn spawn(stack: usize, work: impl FnOnce() + Send + 'static) -> bool {
    // A program that starts as many threads as the system lets it have must not take those of the collector.
    crate::memory::gc::heap().start_threads();
    if !address_plan::is_limited() {
        return vervet_os::thread::spawn_detached(stack, work).is_ok();
    }
    if !address_plan::has_room_for_thread(stack) {
        return false;
    }
    registry::promise();
    let attached = move || {
        crate::threads::attach::attach();
        registry::redeem();
        work();
    };
    let spawned = vervet_os::thread::spawn_detached(stack, attached).is_ok();
    if !spawned {
        registry::redeem();
    }
    spawned
}

/// What a new thread is given: GC handles of what the delegate needs. They keep the objects alive until the thread has taken them.
#[derive(Clone, Copy)]
pub(super) struct Seed {
    thread: u32,
    delegate: u32,
    argument: u32,
}
impl Seed {
    fn new<'cx>(cx: &'cx Cx<'cx>, thread: ObjRef<'cx>, delegate: ObjRef<'cx>) -> Result<Seed> {
        let argument = thread.read_ref(offset_of!(ThreadObject, start_arg));
        let mut made = [0; 3];
        for (i, object) in [thread, delegate, argument].into_iter().enumerate() {
            match handles::alloc_for_runtime(cx, object, HandleKind::Normal) {
                Ok(handle) => made[i] = handle,
                Err(throw) => {
                    for handle in &made[..i] {
                        handles::free(*handle);
                    }
                    return Err(throw);
                }
            }
        }
        let [thread, delegate, argument] = made;
        Ok(Seed {
            thread,
            delegate,
            argument,
        })
    }
    /// What has those [handles](Seed::handles).
    pub(super) fn of([thread, delegate, argument]: [u32; 3]) -> Seed {
        Seed {
            thread,
            delegate,
            argument,
        }
    }
    pub(super) fn handles(&self) -> [u32; 3] {
        [self.thread, self.delegate, self.argument]
    }
}

/// The object of a handle, which is freed.
fn take<'cx>(handle: u32) -> ObjRef<'cx> {
    let object = handles::target(handle).unwrap_or(ObjRef::NULL);
    handles::free(handle);
    object
}

/// Whether a new thread has begun. One thread tells, once; one waits.
#[derive(Default)]
struct Begun(AtomicU32);
impl Begun {
    fn tell(&self) {
        self.0.store(1, Ordering::Release);
        futex::wake(&self.0, 1);
    }
    fn wait(&self) {
        while self.0.load(Ordering::Acquire) == 0 {
            futex::wait(&self.0, 0, None);
        }
    }
}

fn run(seed: &Seed, begun: &Begun) {
    let cx = Cx::current();
    run_managed(&cx, seed, begun);
}

fn run_managed<'cx>(cx: &'cx Cx<'cx>, seed: &Seed, begun: &Begun) {
    let call = FirstCall::of(cx, seed, || begun.tell());
    ended(
        cx,
        call.and_then(|call| {
            let argument = call.argument.map(Value::Ref);
            cx.invoke(
                call.method,
                Some(Value::Ref(call.this)),
                argument.as_slice(),
            )
        }),
    );
}

/// The call of a thread's delegate has returned.
pub(super) fn ended<'cx, T>(cx: &'cx Cx<'cx>, result: Result<T>) {
    // Nobody else tells of what it has loaded.
    let result = result.and_then(|_| cx.tell_loaded());
    if let Err(throw) = result {
        let exception = cx.take_pending(throw);
        if !ends_thread_only(cx, exception) {
            crate::exceptions::unhandled::of_thread(cx, exception, 1);
        }
    }
}

/// What a thread calls. The method returns nothing.
pub(super) struct FirstCall<'cx> {
    pub(super) method: MethodRef,
    pub(super) this: ObjRef<'cx>,
    pub(super) argument: Option<ObjRef<'cx>>,
}

impl<'cx> FirstCall<'cx> {
    /// The calling thread becomes the one that the seed says, and calls that one's delegate.
    /// Calls `begun` as soon as others may find the thread, and before the host learns of it.
    pub(super) fn of(cx: &'cx Cx<'cx>, seed: &Seed, begun: impl FnOnce()) -> Result<Self> {
        let (delegate, argument) = become_started(cx, seed, begun)?;
        let method = crate::interop::delegates::invoke_method(cx, delegate.class())?;
        let takes = cx.load(method.sig())?.params.len();
        Ok(FirstCall {
            method,
            this: delegate,
            argument: (takes != 0).then_some(argument),
        })
    }
}

/// The calling thread becomes the one that the seed says; its delegate and argument.
fn become_started<'cx>(
    cx: &'cx Cx<'cx>,
    seed: &Seed,
    tell: impl FnOnce(),
) -> Result<(ObjRef<'cx>, ObjRef<'cx>)> {
    let (thread, delegate) = (take::<'cx>(seed.thread), take::<'cx>(seed.delegate));
    let argument = take::<'cx>(seed.argument);
    let internal = thread.read_ref(offset_of!(ThreadObject, internal_thread));
    if internal.read::<u8>(offset_of!(Internal, apartment_state)) == state::APARTMENT_UNKNOWN {
        internal.write(offset_of!(Internal, apartment_state), state::APARTMENT_MTA);
    }
    // The thread belongs to the domain in which it was made, from its first frame to its last. First of all: the Thread object is that domain's.
    let domain = crate::domain::by_id(thread.vtable().domain);
    let begun = match crate::domain::crossing::begin_in(cx, domain) {
        Ok(()) => None,
        Err(throw) => Some(cx.take_pending(throw)),
    };
    become_thread(cx, thread, internal);
    tell();
    tell_host(cx, internal);
    super::name::tell_started(internal);
    super::name::show(internal);
    if let Some(refused) = begun {
        return Err(cx.throw_object(refused));
    }
    Ok((delegate, argument))
}

/// Is that an exception that ends the thread or callback it leaves, and nothing else? So is whatever an abort of an unload has become: the class library wraps it here
/// and there.
pub fn ends_thread_only(cx: &Cx<'_>, exception: ObjRef<'_>) -> bool {
    crate::threads::abort::is_by_unload(cx)
        || matches!(
            exception.class().name,
            "ThreadAbortException" | "AppDomainUnloadedException"
        )
}
