//! Stack traces: what a throw collects, how it lies in `Exception._stackTrace`, and the way back.
//!
//! # Invariants
//! The trace is a `long[]` with four words per frame, innermost frame first. Methods live for ever, so no word is a reference:
//!
//! | word | holds |
//! |---|---|
//! | 0 | address of the method |
//! | 1 | code address: the return address, or the address of the instruction that trapped |
//! | 2 | IL offset + 1; 0: unknown |
//! | 3 | what it is ([`Kind`]) |
//!
//! Wrappers that mono has and Vervet has not are added when the trace is read: around synchronized methods, around methods of a
//! MarshalByRefObject that are called as if it were a proxy, and those of [`wrappers`].
use crate::code::table::{CodeKind, OPEN_VIRTUAL_THUNK};
use crate::cx::{Cx, Throw};
use crate::exceptions::walk::{Frame as WalkFrame, Walk};
use crate::exceptions::wrappers;
use crate::object::ObjRef;
use smallvec::SmallVec;
use vervet_abi::layouts::ExceptionObject;
use vervet_metadata::il::{Op, Operand};
use vervet_types::{Known, MethodRef};

/// A throw collects at most this many frames, the innermost; mono shows no more either.
pub const MOST_FRAMES: usize = 999;
const WORDS: usize = 4;
const STACK_TRACE: usize = std::mem::offset_of!(ExceptionObject, stack_trace);

const STACK_TRACE_STRING: usize = std::mem::offset_of!(ExceptionObject, stack_trace_string);

/// How a throw treats the trace that the exception may carry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TraceMode {
    /// `throw`: the trace starts anew.
    Fresh,
    /// On from our own code: the trace goes on.
    Continue,
    /// `rethrow`: the trace goes on from the frame that caught it.
    Rethrow,
}

/// What a frame as it is collected is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A method.
    Method = 0,
    /// The wrapper of an icall or P/Invoke.
    Native = 1,
    /// A method that calls the frame before it as if its object were a proxy.
    Remote = 2,
    /// The thunk that calls all of a delegate's targets; the method is `Invoke`.
    Multicast = 3,
    /// The stub that sends a call of the method to a real proxy.
    Proxy = 4,
    /// What native code calls a delegate by: the wrapper of the method of the frame before it.
    Callback = 5,
    /// `EndInvoke` of a delegate.
    EndInvoke = 6,
    /// One of the [`wrappers`] in which an exception arises; the code address is its number, and there is no method.
    Arises = 7,
    /// The wrapper by which a call of the method leaves the domain.
    CrossesOut = 8,
    /// The wrapper in which a call from another domain arrives.
    CrossesIn = 9,
    /// The thunk that looks a delegate's method up in its first argument; the method is `Invoke`.
    OpenVirtual = 10,
    /// The method of the next frame has been entered only to find that its class cannot be initialised: it is not shown. The code address is the number of the
    /// wrapper to show in its place, plus one; 0: none.
    Entered = 11,
}
impl Kind {
    fn of(word: i64) -> Kind {
        match word {
            1 => Kind::Native,
            2 => Kind::Remote,
            3 => Kind::Multicast,
            4 => Kind::Proxy,
            5 => Kind::Callback,
            6 => Kind::EndInvoke,
            7 => Kind::Arises,
            8 => Kind::CrossesOut,
            9 => Kind::CrossesIn,
            10 => Kind::OpenVirtual,
            11 => Kind::Entered,
            _ => Kind::Method,
        }
    }
}

/// A frame as it is collected.
#[derive(Clone, Copy)]
pub struct RawFrame {
    method: MethodRef,
    pc: usize,
    il: u32,
    kind: Kind,
}

impl RawFrame {
    /// The frames of a walk's frame that traces show, innermost first.
    pub fn of(frame: &WalkFrame) -> impl Iterator<Item = RawFrame> + use<> {
        let wrapper = match frame.code.kind {
            CodeKind::Wrapper(m)
                if m.is_pinvoke() || m.is_icall() || m.native_function().is_some() =>
            {
                Some(RawFrame::wrapper(m))
            }
            CodeKind::Wrapper(m) if m.class.is_delegate().unwrap_or(true) => {
                (m.name == "EndInvoke").then_some(RawFrame {
                    kind: Kind::EndInvoke,
                    ..RawFrame::wrapper(m)
                })
            }
            // Accessors of arrays are generated, too; they have no frame.
            CodeKind::Wrapper(m) if m.class.is_array() => None,
            CodeKind::Wrapper(m) => Some(RawFrame {
                kind: Kind::Proxy,
                ..RawFrame::wrapper(m)
            }),
            CodeKind::Callback(m) => Some(RawFrame {
                kind: Kind::Callback,
                ..RawFrame::wrapper(m)
            }),
            CodeKind::Stub(name) => frame.code.thunk_of().map(|m| RawFrame {
                kind: match name {
                    OPEN_VIRTUAL_THUNK => Kind::OpenVirtual,
                    _ => Kind::Multicast,
                },
                ..RawFrame::wrapper(m)
            }),
            _ => None,
        };
        let pc = frame.pc;
        let mut kind = match frame.code.may_call_remotely(frame.probe()) {
            true => Kind::Remote,
            false => Kind::Method,
        };
        let logical = frame.logical();
        logical
            .map(move |(method, il)| RawFrame {
                method,
                pc,
                il: il.map_or(0, |o| o + 1),
                // Only the innermost of them makes the call.
                kind: std::mem::replace(&mut kind, Kind::Method),
            })
            .chain(wrapper)
    }
    /// The frame as it is while it runs, as in mono: it has its method, also where an exception has a name only; wrappers other than those of icalls and
    /// P/Invokes have no frame.
    fn live(self) -> Option<Frame> {
        let is_wrapper = matches!(self.kind, Kind::Native);
        if is_wrapper || self.method.is_dynamic() {
            return Some(Frame {
                method: Some(self.method),
                il_offset: Some(0),
                native_offset: 0,
                internal_name: None,
            });
        }
        matches!(self.kind, Kind::Method | Kind::Remote)
            .then(|| public(self.method, self.pc, self.il, self.kind))
    }
    /// The same of another thread, where the stub of an icall or P/Invoke has no offset.
    pub fn of_other_thread(self) -> Option<Frame> {
        let mut frame = self.live()?;
        if matches!(self.kind, Kind::Native) {
            frame.il_offset = None;
        }
        Some(frame)
    }
    /// The stub of an icall or P/Invoke.
    pub fn wrapper(method: MethodRef) -> RawFrame {
        RawFrame {
            method,
            pc: 0,
            il: 0,
            kind: Kind::Native,
        }
    }
}

/// How many code addresses a walk keeps the frames of.
const RECENT: usize = 8;

/// The frames of the code addresses that a walk has met last. To unpack them takes a pass over the tables of their method, and a recursion meets the same addresses again
/// and again.
///
/// It lives as long as one walk: the code of active frames is not freed.
#[derive(Default)]
pub struct Recent {
    entries: [Option<Unpacked>; RECENT],
}

/// The frames of a code address.
struct Unpacked {
    pc: usize,
    exact: bool,
    frames: SmallVec<[RawFrame; 2]>,
}

impl Recent {
    /// As [`RawFrame::of`].
    pub fn of(&mut self, frame: &WalkFrame) -> &[RawFrame] {
        let entry = &mut self.entries[frame.pc / 4 % RECENT];
        let unpacked = match entry.take() {
            Some(known) if known.pc == frame.pc && known.exact == frame.exact => known,
            _ => Unpacked {
                pc: frame.pc,
                exact: frame.exact,
                frames: RawFrame::of(frame).collect(),
            },
        };
        &entry.insert(unpacked).frames
    }
}

/// A frame of a recorded or current trace.
#[derive(Clone)]
pub struct Frame {
    /// The method; None for a wrapper.
    pub method: Option<MethodRef>,
    /// IL offset, if known.
    pub il_offset: Option<u32>,
    /// Code address minus the method's start.
    pub native_offset: u32,
    /// Name of a wrapper frame.
    pub internal_name: Option<String>,
}

/// The trace that a throw goes on from: what the exception carries, or nothing. Where the trace starts anew, a text of it that the exception carries is gone.
pub fn base<'a>(exception: ObjRef<'a>, mode: TraceMode) -> ObjRef<'a> {
    let cx = Cx::current();
    let known = crate::classes::casts::is_assignable(
        cx.universe(),
        exception.class(),
        cx.known(Known::Exception),
    )
    .unwrap_or(false);
    match mode {
        _ if !known => ObjRef::NULL,
        TraceMode::Continue | TraceMode::Rethrow => exception.read_ref(STACK_TRACE),
        TraceMode::Fresh => {
            // The text of a trace that was serialized with the exception is that of the throw before.
            exception.write_ref(STACK_TRACE_STRING, ObjRef::NULL);
            ObjRef::NULL
        }
    }
}

/// Lets the trace of an exception that is going to be thrown by our own code begin in one of the [`wrappers`].
pub fn begin_in(cx: &Cx<'_>, exception: ObjRef<'_>, number: usize) {
    begin(cx, exception, [0, number as i64, 0, Kind::Arises as i64]);
}
/// Lets the trace begin in the caller of the method that the innermost frame has been entered for, or in the wrapper that calls it.
pub fn begin_at_entry(cx: &Cx<'_>, exception: ObjRef<'_>, wrapper: Option<usize>) {
    let shown = wrapper.map_or(0, |number| number as i64 + 1);
    begin(cx, exception, [0, shown, 0, Kind::Entered as i64]);
}

/// A method that runs.
pub struct LogicalFrame {
    /// The method.
    pub method: MethodRef,
    /// Where it is, if that is known.
    pub il_offset: Option<u32>,
}

/// The innermost two methods of the code that called the runtime, innermost first; fewer if the runtime has called them.
pub fn innermost(cx: &Cx<'_>) -> SmallVec<[LogicalFrame; 2]> {
    let mut walk = Walk::here(cx);
    let mut found = SmallVec::new();
    while found.len() < 2
        && let Some(frame) = walk.next()
        && !frame.code.is_invoke_stub()
    {
        let methods = RawFrame::of(&frame).map(|f| LogicalFrame {
            method: f.method,
            il_offset: f.il.checked_sub(1),
        });
        found.extend(methods.take(2 - found.len()));
    }
    found
}
fn begin(cx: &Cx<'_>, exception: ObjRef<'_>, words: [i64; WORDS]) {
    // An OutOfMemoryException has taken the place of the exception; it has no such frame.
    match cx.alloc_array(cx.known(Known::Int64), WORDS) {
        Ok(array) => {
            array.elements::<i64>().copy_from_slice(&words);
            exception.write_ref(STACK_TRACE, array);
        }
        Err(throw) => {
            let _ = Cx::current().take_pending(throw);
        }
    }
}

/// An exception that has come back from another domain by a call of that method is going to be thrown: its trace begins in the wrapper of the call.
pub fn begin_at_crossing(cx: &Cx<'_>, exception: ObjRef<'_>, method: MethodRef) {
    let address = method as *const _ as i64;
    begin(cx, exception, [address, 0, 0, Kind::CrossesOut as i64]);
}
/// An exception leaves the domain in which a call of that method from another one has arrived: its trace ends in the wrapper of the arrival. Has it
/// come out of the method, or of the wrapper itself?
pub fn end_at_crossing(cx: &Cx<'_>, exception: ObjRef<'_>, method: MethodRef, is_of_method: bool) {
    let mode = TraceMode::Continue;
    let frame = RawFrame {
        kind: Kind::CrossesIn,
        pc: if is_of_method { 0 } else { OWN },
        ..RawFrame::wrapper(method)
    };
    record(cx, exception, base(exception, mode), &[frame], mode);
}

/// An exception comes out of a call of the method on a proxy that our own code has made: its trace goes on with the wrapper of the call.
pub fn through_proxy<'cx>(cx: &'cx Cx<'cx>, throw: Throw, method: MethodRef) -> Throw {
    through(cx, throw, method, Kind::Proxy)
}
/// An exception comes out of the wrapper of a call into another domain, in the caller's: its trace goes on with the wrapper.
pub fn through_crossing<'cx>(cx: &'cx Cx<'cx>, throw: Throw, method: MethodRef) -> Throw {
    through(cx, throw, method, Kind::CrossesOut)
}
fn through<'cx>(cx: &'cx Cx<'cx>, throw: Throw, method: MethodRef, kind: Kind) -> Throw {
    let exception = cx.take_pending(throw);
    let mode = TraceMode::Continue;
    let frame = RawFrame {
        kind,
        ..RawFrame::wrapper(method)
    };
    record(cx, exception, base(exception, mode), &[frame], mode);
    cx.throw_object(exception)
}

/// An exception is going to be thrown because of what the real proxy has returned for a call of that method: it arises in the wrapper of the call.
pub fn begin_behind_proxy<'cx>(cx: &'cx Cx<'cx>, throw: Throw, method: MethodRef) -> Throw {
    let exception = cx.take_pending(throw);
    let words = [method as *const _ as i64, OWN as i64, 0, Kind::Proxy as i64];
    begin(cx, exception, words);
    cx.throw_object(exception)
}

/// Takes its trace from an exception that is going to be thrown anew.
pub fn forget(exception: ObjRef<'_>) {
    exception.write_ref(STACK_TRACE, ObjRef::NULL);
}

/// Stores a trace into the exception: `old` (see [`base`]) and behind it the frames. May be called again as the
/// search goes on.
pub fn record(
    cx: &Cx<'_>,
    exception: ObjRef<'_>,
    old: ObjRef<'_>,
    frames: &[RawFrame],
    mode: TraceMode,
) {
    if !crate::classes::casts::is_assignable(
        cx.universe(),
        exception.class(),
        cx.known(Known::Exception),
    )
    .unwrap_or(false)
    {
        return;
    }
    let mut old_len = if old.is_null() { 0 } else { old.array_len() };
    // A rethrow from the frame that the trace ended in goes on in place of that frame, which has called as it has called.
    let mut replaced = None;
    if let Some(first) = frames.first()
        && mode == TraceMode::Rethrow
        && old_len >= WORDS
        && old.elements::<i64>()[old_len - WORDS] == first.method as *const _ as i64
    {
        replaced = Some(Kind::of(old.elements::<i64>()[old_len - 1]));
        old_len -= WORDS;
    }
    // Main could not be compiled: an exception that passed no frame has no trace, not an empty one.
    if old_len == 0 && frames.is_empty() {
        return forget(exception);
    }
    let cx: &Cx<'_> = &Cx::current();
    let array = match cx.alloc_array(cx.known(Known::Int64), old_len + frames.len() * WORDS) {
        Ok(array) => array,
        // The exception stays without a trace. The OutOfMemoryException must not stay pending.
        Err(throw) => {
            let _ = cx.take_pending(throw);
            return;
        }
    };
    let words = array.elements::<i64>();
    if old_len > 0 {
        words[..old_len].copy_from_slice(&old.elements::<i64>()[..old_len]);
    }
    for (f, w) in frames.iter().zip(words[old_len..].chunks_exact_mut(WORDS)) {
        w[0] = f.method as *const _ as i64;
        w[1] = f.pc as i64;
        w[2] = f.il as i64;
        w[3] = f.kind as i64;
    }
    if let Some(Kind::Remote) = replaced
        && frames[0].kind == Kind::Method
    {
        words[old_len + WORDS - 1] = Kind::Remote as i64;
    }
    exception.write_ref(STACK_TRACE, array);
}

/// The trace an exception carries, innermost first; empty if it was never thrown.
pub fn frames_of_exception(_cx: &Cx<'_>, exception: ObjRef<'_>) -> Vec<Frame> {
    let array = exception.read_ref(STACK_TRACE);
    if array.is_null() || !array.array_len().is_multiple_of(WORDS) {
        return Vec::new();
    }
    let mut out: Vec<Frame> = Vec::new();
    let mut callee: Option<MethodRef> = None;
    let mut crossed = false;
    // Has the wrapper of a call on a proxy thrown the exception itself?
    let mut arose = false;
    // What a real proxy has been asked to call.
    let mut sent: Option<MethodRef> = None;
    let mut recorded = array.elements::<i64>().chunks_exact(WORDS).peekable();
    while let Some(w) = recorded.next() {
        if Kind::of(w[3]) == Kind::Arises {
            out.push(named(wrappers::name(w[1] as usize).to_owned()));
            continue;
        }
        if Kind::of(w[3]) == Kind::Entered {
            let wrapper = (w[1] as usize).checked_sub(1);
            out.extend(wrapper.map(|number| named(wrappers::name(number).to_owned())));
            recorded.next();
            continue;
        }
        // SAFETY: the word was stored from a `&'static Method` by `record`.
        let method: MethodRef = unsafe { &*(w[0] as *const vervet_types::Method) };
        let kind = Kind::of(w[3]);
        if let Some(callee) = callee
            && (kind == Kind::Remote || kind == Kind::Method && is_final_of_this(method, callee))
        {
            out.push(checked(callee));
        }
        // What calls it by another way than a table of methods has asked whether the object is a proxy.
        if let Some(sent) = sent.take()
            && kind == Kind::Remote
            && (!sent.is_virtual() || sent.is_final())
        {
            out.push(checked(sent));
        }
        if let Some(name) = callee.and_then(|callee| wrappers::passes_on(callee, method)) {
            out.push(wrapper("managed-to-managed", &name));
        }
        match kind {
            Kind::Proxy if crossed => {
                (callee, crossed) = (Some(method), false);
                continue;
            }
            // The frame of the wrapper itself follows.
            Kind::Proxy if w[1] as usize == OWN => {
                arose = true;
                continue;
            }
            Kind::Proxy => {
                if !std::mem::take(&mut arose) {
                    out.push(wrapper("managed-to-native", REMOTING));
                }
                sent = Some(method);
            }
            Kind::CrossesIn
                if w[1] as usize != OWN && (!method.is_virtual() || method.is_final()) =>
            {
                out.push(checked(method));
            }
            Kind::EndInvoke => out.push(wrapper("managed-to-native", END_INVOKE)),
            _ => {}
        }
        crossed = kind == Kind::CrossesOut;
        let shown = match (kind, callee) {
            (Kind::Callback, Some(callee)) => callee,
            _ => method,
        };
        // Only an instruction that names it calls it by another name.
        let mut is_named = || recorded.peek().is_some_and(|w| names(w, method));
        if let Some(name) = monitor_entry(method)
            && is_named()
        {
            // What it calls of its class is one native function in mono.
            let is_inner = |f: &Frame| f.method.is_some_and(|m| m.class == method.class);
            while out.last().is_some_and(is_inner) {
                out.pop();
            }
            out.push(wrapper("managed-to-native", name));
            callee = None;
            continue;
        }
        out.push(public(shown, w[1] as usize, w[2] as u32, kind));
        callee = match kind {
            Kind::Method | Kind::Remote => Some(method),
            _ => None,
        };
        if callee.is_some() && method.is_synchronized() {
            out.push(wrapper("synchronized", &method.instantiated_name()));
        }
    }
    out
}

/// In place of the address in a wrapper's frame: the exception has not come out of what the wrapper calls.
const OWN: usize = 1;

/// Does the code of the recorded frame name the method where it is? From there on, the first call of the method or of a delegate's `Invoke` decides.
/// Code without metadata is taken to name it.
fn names(words: &[i64], callee: MethodRef) -> bool {
    if !matches!(Kind::of(words[3]), Kind::Method | Kind::Remote) {
        return false;
    }
    // SAFETY: the word was stored from a `&'static Method` by `record`.
    let caller: MethodRef = unsafe { &*(words[0] as *const vervet_types::Method) };
    if caller.is_dynamic() {
        return true;
    }
    let Ok(body) = caller.body() else {
        return false;
    };
    let from = (words[2] as u32).saturating_sub(1);
    let scope = caller.scope();
    body.instructions()
        .map_while(|i| i.ok())
        .filter(|i| i.offset >= from && matches!(i.op, Op::Call | Op::Callvirt))
        .find_map(|i| match i.operand {
            Operand::Token(token) => {
                let called = scope.method(token).ok()?;
                let is_invoke = || called.class.is_delegate().is_ok_and(|is| is);
                (called == callee || is_invoke()).then_some(called == callee)
            }
            _ => None,
        })
        .unwrap_or(false)
}

/// What mono calls for `Monitor.Enter`, if it is that.
fn monitor_entry(method: MethodRef) -> Option<&'static str> {
    let class = method.class;
    let is_entry = method.name == "Enter"
        && class.name == "Monitor"
        && class.namespace == "System.Threading"
        && class.module.is_corlib();
    if !is_entry {
        return None;
    }
    match method.sig().ok()?.params.len() {
        1 => Some("System.Object.__icall_wrapper_mono_monitor_enter_internal(object)"),
        _ => Some("System.Object.__icall_wrapper_mono_monitor_enter_v4_internal(object,intptr)"),
    }
}

/// What mono's stub of a method calls to send the call to a real proxy.
const REMOTING: &str = "System.Object.__icall_wrapper_mono_remoting_wrapper(intptr,intptr)";

/// What the code of `EndInvoke` calls in mono.
const END_INVOKE: &str = "System.Object.__icall_wrapper_mono_delegate_end_invoke(object,intptr)";

/// Is the callee a final method of the caller's own object, probably? Mono calls those through the wrapper even where it knows that the object is no
/// proxy, because it takes them for virtual when it looks.
fn is_final_of_this(caller: MethodRef, callee: MethodRef) -> bool {
    callee.is_virtual()
        && callee.is_final()
        && !caller.is_static()
        && callee.class.is_marshal_by_ref().unwrap_or(false)
        && caller
            .class
            .supers()
            .is_ok_and(|above| above.contains(&callee.class))
}

/// Mono's wrapper around a method that may be called on a proxy.
fn checked(method: MethodRef) -> Frame {
    wrapper("remoting-invoke-with-check", &method.instantiated_name())
}

/// The frame of a wrapper of mono's.
fn wrapper(kind: &str, name: &str) -> Frame {
    named(format!("(wrapper {kind}) {name}"))
}

/// A frame that has a name only.
fn named(name: String) -> Frame {
    Frame {
        method: None,
        il_offset: None,
        native_offset: 0,
        internal_name: Some(name),
    }
}

fn public(method: MethodRef, pc: usize, il: u32, kind: Kind) -> Frame {
    match kind {
        Kind::Native => return wrapper("managed-to-native", &method.wrapper_name()),
        Kind::Multicast => return wrapper("delegate-invoke", &method.delegate_invoke_name()),
        Kind::OpenVirtual => {
            return wrapper("delegate-invoke", &method.delegate_invoke_virtual_name());
        }
        Kind::Proxy => return wrapper("remoting-invoke", &method.instantiated_name()),
        Kind::EndInvoke => {
            return wrapper("delegate-end-invoke", &method.delegate_end_invoke_name());
        }
        Kind::Callback => return wrapper("native-to-managed", &method.wrapper_name()),
        Kind::CrossesOut => return wrapper("xdomain-invoke", &method.instantiated_name()),
        Kind::CrossesIn => return wrapper("xdomain-dispatch", &method.dispatch_name()),
        // No frame that is walked is one.
        Kind::Arises | Kind::Entered | Kind::Method | Kind::Remote => {}
    }
    if method.is_dynamic() {
        let name = vervet_types::names::DYNAMIC.to_owned() + &method.wrapper_name();
        return Frame {
            method: None,
            il_offset: Some(0),
            native_offset: 0,
            internal_name: Some(name),
        };
    }
    let start = crate::code::table::find(pc.wrapping_sub(1)).map_or(pc, |c| c.start);
    Frame {
        method: Some(method),
        il_offset: il.checked_sub(1),
        native_offset: (pc - start) as u32,
        internal_name: None,
    }
}

/// The frames of the running thread, innermost (the managed caller of the running icall) first, without `skip`.
pub fn current_frames(cx: &Cx<'_>, skip: usize) -> Vec<Frame> {
    let mut out = Vec::new();
    let mut recent = Recent::default();
    let mut walk = Walk::here(cx);
    walk.take_wrapper();
    while let Some(f) = walk.next() {
        if let Some(m) = walk.take_wrapper_beside(&f) {
            out.extend(RawFrame::wrapper(m).live());
        }
        out.extend(recent.of(&f).iter().copied().filter_map(RawFrame::live));
    }
    out.drain(..skip.min(out.len()));
    out
}
