//! Calls into another domain without a message, where arguments and result allow it.
//!
//! # How it works
//! ```text
//!   caller's domain                                  target's domain
//!   ----------------------------------------------   --------------------------------------------------------
//!   numbers stay words, strings are noted,
//!   the rest goes into one array, which is
//!   packed: left as it is if it can be
//!   copied (`domain/graph.rs`), otherwise
//!   serialized by the class library           -->    strings are copied, the array is unpacked: copied or deserialized
//!                                                    the method is called on the object itself
//!   the result is unpacked, and the values
//!   of by-reference parameters are stored     <--    a number, or a packed object
//! ```
//! A message does this by hand and by reflection, and serializes the message itself: it takes some thirty times as long.
//!
//! # Invariants
//! * Whether a call goes this way depends on the method, the object and the thread's context, not on the arguments' values. What cannot go this way
//!   ([`Way::of`] says None) is sent as a message, with the same outcome.
//! * A call context with something in it, or a principal, travels with what is packed: the class library serializes both into one, and merges the context into
//!   that of the thread as the other domain knows it. So then something is packed each way, if only null. What a method that throws has put there stays there.
//! * References are held on the stack: there are at most [`MOST`] arguments.
//! * The method that is called is that of the target's domain ([`super::counterpart`]).
//! * No object of one domain is handed to code of the other; only the addresses of by-reference numbers are.
//! * An exception of the method is serialized in its domain and thrown in the caller's. The visit ends as any crossing does ([`unload::leave`]).
use super::calls::not_serializable;
use super::counterpart::counterpart;
use super::values::fitting;
use crate::classes::vtables::is_context_bound;
use crate::code::invoke;
use crate::cx::{Cx, Result, Value};
use crate::domain::graph::offset;
use crate::domain::{self, Domain, State, unload};
use crate::exceptions::trace;
use crate::interop::delegates::async_call::{argument, object_at, store, words_of};
use crate::memory::copy::copy_value;
use crate::memory::localloc_stack::Scope;
use crate::memory::{context_statics, statics};
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::mem::offset_of;
use vervet_abi::layouts::RealProxyObject;
use vervet_abi::vtable::flags;
use vervet_jit::LoweredSignature;
use vervet_jit::signature::Pass;
use vervet_os::{LeafLock, Published};
use vervet_types::{ClassRef, FieldRef, Known, LoadError, MethodRef};

/// A call with more arguments is a message.
const MOST: usize = 32;

/// How a value gets across.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// There is none: `void`.
    Nothing,
    /// As the machine word that it is: a number, or the address of one, which the method reads and writes where it lies. (So what it has stored stays when it throws.)
    Word,
    /// A string: it is copied.
    Text,
    /// It is packed.
    Packed,
    /// The address of something else than a number. What is there is packed (nothing, if the parameter is only `out`), and what the method has stored comes back when it
    /// returns.
    Through {
        /// Does the method get what is there?
        is_in: bool,
    },
    /// An `[Out]` array of numbers or strings: it is packed, and its elements come back when the method returns. (Those of other arrays do not, as in mono.)
    Back,
}
impl Kind {
    /// Does it go through the array that is packed?
    fn is_packed(self) -> bool {
        !matches!(self, Kind::Nothing | Kind::Word | Kind::Text)
    }
    /// Does something come back when the method returns?
    fn returns(self) -> bool {
        matches!(self, Kind::Through { .. } | Kind::Back)
    }
}

/// An object on its way into another domain.
enum Parcel<'cx> {
    /// It can be copied, by the other domain.
    Copyable(ObjRef<'cx>),
    /// The class library has serialized it.
    Serialized(ObjRef<'cx>),
}

/// In the domain of the object; with the thread's call context, if there is one. None: there is nothing to pack.
fn pack<'cx>(cx: &'cx Cx<'cx>, object: Option<ObjRef<'cx>>) -> Result<Option<Parcel<'cx>>> {
    let has_context = carries_context(cx)?;
    if object.is_none() && !has_context {
        return Ok(None);
    }
    let object = object.unwrap_or(ObjRef::NULL);
    Ok(Some(
        match !has_context && domain::copy::is_copyable(cx, object)? {
            true => Parcel::Copyable(object),
            false => Parcel::Serialized(remoting_services(cx, "SerializeCallData", object)?),
        },
    ))
}
/// In the other domain. None: the object cannot be copied any more, because another thread has changed it; it has to be serialized in its own domain.
fn unpack<'cx>(cx: &'cx Cx<'cx>, parcel: Parcel<'cx>) -> Result<Option<ObjRef<'cx>>> {
    match parcel {
        Parcel::Serialized(bytes) => deserialized(cx, bytes).map(Some),
        Parcel::Copyable(object) => domain::copy::copy(cx, object),
    }
}
/// What a call has brought back, in the domain of the caller; the target's is `domain`, in the life with that number.
fn unpack_result<'cx>(
    cx: &'cx Cx<'cx>,
    parcel: Parcel<'cx>,
    (domain, number): (&'static Domain, u32),
) -> Result<ObjRef<'cx>> {
    let object = match parcel {
        Parcel::Copyable(object) => object,
        Parcel::Serialized(bytes) => return deserialized(cx, bytes),
    };
    if let Some(own) = domain::copy::copy(cx, object)? {
        return Ok(own);
    }
    let bytes = cx.visit_life(domain, number, |cx| {
        let bytes = remoting_services(cx, "SerializeCallData", object);
        let bytes = bytes.map_err(|throw| cx.take_pending(throw));
        unload::leave(cx)?;
        Ok(bytes)
    });
    match bytes? {
        Some(Ok(bytes)) => deserialized(cx, bytes),
        Some(Err(thrown)) => {
            let name = thrown.class().full_name();
            let text = format!("{name} was thrown when a result was serialized");
            Err(cx.throw(Known::SerializationException, &text))
        }
        None => Err(cx.throw_unloaded()),
    }
}

/// What is known of calls of a method that go into a domain.
struct Way {
    /// The method in that domain.
    target: MethodRef,
    parameters: SmallVec<[Kind; 8]>,
    result: Kind,
}

/// By the id of the method and the number of the domain. None: such calls are messages.
type Ways = FxHashMap<(u32, u32), Option<&'static Way>>;
static WAYS: LeafLock<Option<Ways>> = LeafLock::new(None);

impl Way {
    /// How calls of the method get into the domain. These are messages:
    ///
    /// | method | because |
    /// |---|---|
    /// | a constructor | it activates an object there |
    /// | one with parameters that are pointers, or by reference to such | they mean nothing there |
    /// | one of an assembly that the domain has not loaded, or with such type arguments | the message says so |
    fn of<'cx>(
        cx: &'cx Cx<'cx>,
        method: MethodRef,
        lowered: &LoweredSignature,
        domain: &'static Domain,
    ) -> Result<Option<&'static Way>> {
        let key = (method.id, domain.number());
        if let Some(known) = WAYS.lock().get_or_insert_default().get(&key) {
            return Ok(*known);
        }
        let way = Way::find(cx, method, lowered, domain)?;
        let mut all = WAYS.lock();
        Ok(*all.get_or_insert_default().entry(key).or_insert(way))
    }
    fn find<'cx>(
        cx: &'cx Cx<'cx>,
        method: MethodRef,
        lowered: &LoweredSignature,
        domain: &'static Domain,
    ) -> Result<Option<&'static Way>> {
        if method.name == ".ctor" || lowered.params.len() > MOST {
            return Ok(None);
        }
        let Some(target) = counterpart(cx, method, domain)? else {
            return Ok(None);
        };
        let directions = cx.load(method.definition().directions())?;
        let mut parameters = SmallVec::new();
        for (i, pass) in lowered.params.iter().enumerate() {
            let class = lowered.param_classes[i];
            let (is_in, is_out) = directions[i];
            let kind = match kind_of(cx, pass, class) {
                Some(Kind::Through { .. }) => Some(Kind::Through {
                    is_in: is_in || !is_out,
                }),
                Some(Kind::Word) => Some(Kind::Word),
                Some(Kind::Packed) if is_out && is_plain_array(cx, class)? => Some(Kind::Back),
                kind => kind,
            };
            match kind {
                Some(kind) => parameters.push(kind),
                None => return Ok(None),
            }
        }
        let result = match lowered.ret {
            Pass::None => Some(Kind::Nothing),
            _ if lowered.ret_class.is_byref() => None,
            _ => kind_of(cx, &lowered.ret, lowered.ret_class),
        };
        Ok(result.map(|result| {
            &*Box::leak(Box::new(Way {
                target,
                parameters,
                result,
            }))
        }))
    }
}

/// Has the array numbers or strings in it, or such arrays? (An enumeration is none of them, nor is an address.)
fn is_plain_array<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<bool> {
    let Some(element) = class.element() else {
        return Ok(false);
    };
    if element.element().is_some() {
        return is_plain_array(cx, element);
    }
    let is_address = [Known::IntPtr, Known::UIntPtr]
        .iter()
        .any(|k| std::ptr::eq(element, cx.known(*k)));
    let is_number = !is_address
        && cx.load(element.is_value_type())?
        && !cx.load(element.is_enum())?
        && cx.load(element.stack_prim())?.is_some();
    Ok(is_number || std::ptr::eq(element, cx.known(Known::String)))
}

/// How a value of the class gets across. None: only in a message.
fn kind_of(cx: &Cx<'_>, pass: &Pass, class: ClassRef) -> Option<Kind> {
    let is_address = |c: ClassRef| c.is_byref() || c.is_ptr() || c.is_fn_ptr();
    if class.is_byref() {
        let behind = class.element().filter(|b| !is_address(b))?;
        let is_number = behind.is_value_type().ok()? && behind.stack_prim().ok()?.is_some();
        return Some(match is_number {
            true => Kind::Word,
            false => Kind::Through { is_in: true },
        });
    }
    if is_address(class) {
        return None;
    }
    if class.is_value_type().ok()? {
        let is_number = class.stack_prim().ok()?.is_some() && matches!(pass, Pass::Scalar(_));
        return Some(match is_number {
            true => Kind::Word,
            false => Kind::Packed,
        });
    }
    Some(match std::ptr::eq(class, cx.known(Known::String)) {
        true => Kind::Text,
        false => Kind::Packed,
    })
}

/// Calls a static method of RemotingServices that takes and returns one object.
fn remoting_services<'cx>(
    cx: &'cx Cx<'cx>,
    name: &str,
    argument: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let method = cx.known_method(Known::RemotingServices, name, 1)?;
    cx.run_class_init(cx.known(Known::RemotingServices))?;
    match cx.invoke(method, None, &[Value::Ref(argument)])? {
        Value::Ref(object) => Ok(object),
        _ => Ok(ObjRef::NULL),
    }
}
/// The object that serialized bytes of another domain stand for.
fn deserialized<'cx>(cx: &'cx Cx<'cx>, bytes: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let own = domain::copy::copy(cx, bytes)?.unwrap_or(ObjRef::NULL);
    remoting_services(cx, "DeserializeCallData", own)
}

/// The object as the current domain has it: a copy, or a proxy, of one that is another domain's. None: it cannot be serialized.
///
/// # Errors
/// What deserializing throws.
pub fn bring<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<Option<ObjRef<'cx>>> {
    let owner = match object.non_null() {
        Some(object) => domain::by_id(object.vtable().domain),
        None => return Ok(Some(object)),
    };
    if owner.id == cx.domain().id {
        return Ok(Some(object));
    }
    if let Some(copied) = domain::copy::copy(cx, object)? {
        return Ok(Some(copied));
    }
    let bytes = cx.visit(owner, State::Unloaded, |cx| {
        Ok(match remoting_services(cx, "SerializeCallData", object) {
            Ok(bytes) => bytes,
            Err(throw) => {
                cx.take_pending(throw);
                ObjRef::NULL
            }
        })
    })?;
    match bytes.and_then(ObjRef::non_null) {
        Some(bytes) => deserialized(cx, bytes).map(Some),
        None => Ok(None),
    }
}

/// What comes back.
enum Outcome<'cx> {
    /// The method has returned.
    Done {
        /// The result, if it is a number.
        word: u64,
        /// Otherwise the result; a vector of values that come back, in the order of the parameters, and the result, if there are any; null, with which a call
        /// context comes back.
        parcel: Option<Parcel<'cx>>,
    },
    /// The method has thrown; serialized there.
    Thrown(ObjRef<'cx>),
    /// The call has to be a message: the object has a context, or an argument cannot be copied any more.
    Message,
}

/// The arguments as the caller's domain has them.
struct Arguments<'cx> {
    /// A word or an object for each.
    noted: [(u64, ObjRef<'cx>); MOST],
    /// Those that are packed, in the order of the parameters.
    rest: Option<Parcel<'cx>>,
}
impl<'cx> Arguments<'cx> {
    /// # Safety
    /// As for [`super::calls::invoke`].
    unsafe fn read(
        cx: &'cx Cx<'cx>,
        way: &Way,
        lowered: &LoweredSignature,
        words: *const u64,
    ) -> Result<Arguments<'cx>> {
        let mut noted = [(0u64, ObjRef::NULL); MOST];
        let mut used = 0;
        for (i, kind) in way.parameters.iter().enumerate() {
            let (pass, class) = (&lowered.params[i], lowered.param_classes[i]);
            // SAFETY: the stub stored one word per parameter; of a reference it is the object's address.
            noted[i] = unsafe {
                let word = words.add(used);
                match kind {
                    Kind::Nothing => (0, ObjRef::NULL),
                    Kind::Word => (word.read(), ObjRef::NULL),
                    Kind::Text => (0, ObjRef::from_addr(word.read() as usize)),
                    Kind::Through { is_in: false } => (word.read(), ObjRef::NULL),
                    Kind::Through { is_in: true } => {
                        (word.read(), argument(cx, pass, class, word)?)
                    }
                    Kind::Packed | Kind::Back => (0, argument(cx, pass, class, word)?),
                }
            };
            used += words_of(pass);
        }
        let count = way.parameters.iter().filter(|k| k.is_packed()).count();
        if count == 0 {
            let rest = pack(cx, None)?;
            return Ok(Arguments { noted, rest });
        }
        let array = cx.alloc_array(cx.known(Known::Object), count)?;
        let packed = way.parameters.iter().zip(&noted);
        let packed = packed.filter(|(kind, _)| kind.is_packed());
        for (at, (_, (_, object))) in packed.enumerate() {
            array.set_element_ref(at, *object);
        }
        let rest = pack(cx, Some(array))?;
        Ok(Arguments { noted, rest })
    }
    /// Stores what has come back for the parameters; what is left of the vector is the result.
    fn take_back(
        &self,
        cx: &'cx Cx<'cx>,
        way: &Way,
        lowered: &LoweredSignature,
        back: ObjRef<'cx>,
    ) -> Result<()> {
        let mut taken = 0;
        for (i, kind) in way.parameters.iter().enumerate() {
            if !kind.returns() {
                continue;
            }
            let (word, mine) = self.noted[i];
            let theirs = back.element_ref(taken);
            taken += 1;
            match (kind, lowered.param_classes[i].element()) {
                (Kind::Through { .. }, Some(behind)) if word != 0 => {
                    let own = fitting(cx, behind, theirs)?;
                    store(cx, behind, word as *mut u8, own)?;
                }
                (Kind::Back, _) => copy_elements(theirs, mine),
                _ => {}
            }
        }
        Ok(())
    }
}
/// Copies the elements of an array into another one, of the same class and length; null is neither.
fn copy_elements(from: ObjRef<'_>, to: ObjRef<'_>) {
    let is_same = !from.is_null()
        && !to.is_null()
        && std::ptr::eq(from.class(), to.class())
        && from.array_len() == to.array_len();
    if !is_same {
        return;
    }
    let vt = from.vtable();
    let bytes = from.array_len() * vt.size as usize;
    let has_refs = vt.flags & (flags::ELEMENT_REFS | flags::HAS_REFS) != 0;
    // SAFETY: both have so many elements of that class.
    unsafe { copy_value(to.array_data(), from.array_data(), bytes, has_refs) };
}

/// Calls the method in the domain of what the proxy stands for. False: the call has to be a message.
///
/// # Safety
/// As for [`super::calls::invoke`].
pub(super) unsafe fn invoke<'cx>(
    cx: &'cx Cx<'cx>,
    real: ObjRef<'cx>,
    method: MethodRef,
    lowered: &LoweredSignature,
    words: *const u64,
    out: *mut u8,
) -> Result<bool> {
    let id: i32 = real.read(offset_of!(RealProxyObject, target_domain_id));
    let Some(domain) = domain::by_number(id) else {
        return Ok(false);
    };
    let Some(way) = Way::of(cx, method, lowered, domain)? else {
        return Ok(false);
    };
    if needs_sinks(cx)? {
        return Ok(false);
    }
    // SAFETY: the caller's promise.
    let arguments = unsafe { Arguments::read(cx, way, lowered, words) };
    let in_wrapper = |throw| trace::through_crossing(cx, throw, method);
    let mut arguments = arguments.map_err(in_wrapper)?;
    let rest = arguments.rest.take();
    let noted = &arguments.noted;
    // What was serialized has run code of the program: the domain may have begun another life meanwhile.
    let outcome = cx.visit_life(domain, id as u32, |cx| {
        let calls = Cell::new(false);
        let result = call(cx, real, way, noted, rest, &calls).or_else(|throw| {
            // No exception is pending while managed code runs.
            let thrown = cx.take_pending(throw);
            // There is little room to serialize it in; and each of thousands of frames that it passes would do so once more.
            if comes_of_overflow(cx, thrown)? {
                return Err(cx.throw_default(Known::StackOverflowException));
            }
            let thrown = match not_serializable(cx, thrown) {
                // It has no frames.
                Some(instead) => cx.take_pending(instead),
                None => {
                    trace::end_at_crossing(cx, thrown, way.target, calls.get());
                    thrown
                }
            };
            let serialize = |e| remoting_services(cx, "SerializeExceptionData", e);
            // What serializing it throws tells what is wrong with it.
            let bytes = serialize(thrown).or_else(|throw| serialize(cx.take_pending(throw)));
            bytes.map(Outcome::Thrown)
        });
        let result = result.map_err(|throw| cx.take_pending(throw));
        // Last: an unload may abort the thread at each step.
        unload::leave(cx)?;
        Ok(result)
    });
    let Some(outcome) = outcome? else {
        return Err(cx.throw_unloaded());
    };
    let (word, parcel) = match outcome {
        // What cannot be serialized is the other domain's, with all it refers to.
        Err(thrown) if thrown.class().name == "ThreadAbortException" => {
            return Err(cx.throw_default(Known::ThreadAbortException));
        }
        Err(thrown) if std::ptr::eq(thrown.class(), cx.known(Known::StackOverflowException)) => {
            return Err(cx.throw_default(Known::StackOverflowException));
        }
        Err(thrown) => {
            let name = thrown.class().full_name();
            let text = format!("{name} was thrown when an exception was serialized");
            return Err(cx.throw(Known::SerializationException, &text));
        }
        Ok(Outcome::Message) => return Ok(false),
        Ok(Outcome::Thrown(bytes)) => {
            let own = deserialized(cx, bytes)?;
            let fix = cx.known_method(Known::Exception, "FixRemotingException", 0)?;
            let fixed = cx.invoke(fix, Some(Value::Ref(own)), &[])?;
            let thrown = match fixed {
                Value::Ref(e) if !e.is_null() => e,
                _ => own,
            };
            trace::begin_at_crossing(cx, thrown, method);
            return Err(cx.throw_object(thrown));
        }
        Ok(Outcome::Done { word, parcel }) => (word, parcel),
    };
    let mut result = match parcel {
        Some(parcel) => unpack_result(cx, parcel, (domain, id as u32)).map_err(in_wrapper)?,
        None => ObjRef::NULL,
    };
    if way.parameters.iter().any(|kind| kind.returns()) {
        arguments.take_back(cx, way, lowered, result)?;
        // The result is the last, if there is one.
        result = result.element_ref(result.array_len() - 1);
    }
    match way.result {
        Kind::Nothing => {}
        // SAFETY: `out` has room for the result and at least for a word; it lies in the stub's frame.
        Kind::Word => unsafe { (out as *mut u64).write_unaligned(word) },
        _ => {
            let own = fitting(cx, lowered.ret_class, result)?;
            store(cx, lowered.ret_class, out, own)?;
        }
    }
    Ok(true)
}

/// Is the exception a StackOverflowException, perhaps as a call by reflection has it come out, in TargetInvocationExceptions?
fn comes_of_overflow<'cx>(cx: &'cx Cx<'cx>, thrown: ObjRef<'cx>) -> Result<bool> {
    /// As many as the class library's serializer makes.
    const DEPTH: usize = 8;
    static INNER: Published<usize> = Published::new();
    let at = offset(cx, &INNER, cx.known(Known::Exception), "_innerException")?;
    let mut one = thrown;
    for _ in 0..DEPTH {
        if !std::ptr::eq(one.class(), cx.known(Known::TargetInvocationException)) {
            break;
        }
        match one.read_ref(at).non_null() {
            Some(inner) => one = inner,
            None => break,
        }
    }
    Ok(std::ptr::eq(
        one.class(),
        cx.known(Known::StackOverflowException),
    ))
}

/// Has the thread a call context with something in it? (A principal is in it.)
fn carries_context<'cx>(cx: &'cx Cx<'cx>) -> Result<bool> {
    static EXECUTION: Published<usize> = Published::new();
    static LOGICAL: Published<usize> = Published::new();
    let thread = domain::crossing::current_thread(cx)?;
    if thread.is_null() {
        return Ok(false);
    }
    let at = offset(cx, &EXECUTION, thread.class(), "m_ExecutionContext")?;
    let Some(execution) = thread.read_ref(at).non_null() else {
        return Ok(false);
    };
    let at = offset(cx, &LOGICAL, execution.class(), "_logicalCallContext")?;
    let Some(logical) = execution.read_ref(at).non_null() else {
        return Ok(false);
    };
    let asks = cx.known_method(Known::LogicalCallContext, "get_HasInfo", 0)?;
    let answer = cx.invoke(asks, Some(Value::Ref(logical)), &[])?;
    Ok(matches!(answer, Value::Int(yes) if yes != 0))
}

/// Have the context, or all contexts of the domain, dynamic properties? (Context.RegisterDynamicProperty.)
fn has_dynamic_properties<'cx>(cx: &'cx Cx<'cx>, context: ObjRef<'cx>) -> Result<bool> {
    static OWN: Published<usize> = Published::new();
    static OF_ALL: Published<FieldRef> = Published::new();
    let at = offset(cx, &OWN, context.class(), "context_dynamic_properties")?;
    if !context.read_ref(at).is_null() {
        return Ok(true);
    }
    let class = cx.known(Known::Context);
    const NAME: &str = "global_dynamic_properties";
    let find = || {
        class
            .find_field(NAME)?
            .ok_or_else(|| LoadError::type_load(class, NAME))
    };
    let field = *cx.load(OF_ALL.get_or_try(find))?;
    let vt = cx.rt().vtable_or_throw(cx, class)?;
    let at = cx.load(statics::field_address(cx, vt, field))?;
    // SAFETY: the place of a static field of reference type.
    Ok(!unsafe { ObjRef::from_addr(*(at as *const usize)) }.is_null())
}

/// Has the thread's context sinks that a call must go through?
fn needs_sinks<'cx>(cx: &'cx Cx<'cx>) -> Result<bool> {
    let own = cx.domain().context.lock().map_or(ObjRef::NULL, |r| r.get());
    let current = context_statics::current(cx);
    if current.is_null() || current == own && !has_dynamic_properties(cx, current)? {
        return Ok(false);
    }
    let asks = cx.known_method(Known::Context, "get_NeedsContextSink", 0)?;
    let answer = cx.invoke(asks, Some(Value::Ref(current)), &[])?;
    Ok(matches!(answer, Value::Int(yes) if yes != 0))
}

/// In the target's domain: the call.
///
/// 1. The object that the proxy stands for is found, once for a proxy: the real proxy keeps it. It is the one object of another domain that a domain holds; nothing but this
///    file and `RealProxy.GetAppDomainTarget`, which runs there too, looks at it.
/// 2. The arguments become values of this domain, in the order of the parameters. The unpacked array has the references that by-reference parameters refer to, and the boxes
///    of such values.
/// 3. The method is called, a virtual one as the object's class has it.
/// 4. The result, and what comes back besides, is packed.
fn call<'cx>(
    cx: &'cx Cx<'cx>,
    real: ObjRef<'cx>,
    way: &Way,
    noted: &[(u64, ObjRef<'cx>)],
    rest: Option<Parcel<'cx>>,
    calls: &Cell<bool>,
) -> Result<Outcome<'cx>> {
    let known = real.read_ref(offset_of!(RealProxyObject, server));
    let server = match known.non_null() {
        Some(server) => server,
        None => {
            let find = cx.known_method(Known::RealProxy, "GetAppDomainTarget", 0)?;
            match cx.invoke(find, Some(Value::Ref(real)), &[])? {
                Value::Ref(server) => cx.non_null(server)?,
                _ => return Err(cx.throw_default(Known::RemotingException)),
            }
        }
    };
    // The sinks of its context have to see the call.
    if cx.load(is_context_bound(server.class()))? {
        return Ok(Outcome::Message);
    }
    let objects = match rest {
        Some(parcel) => match unpack(cx, parcel)? {
            Some(objects) => objects,
            None => return Ok(Outcome::Message),
        },
        None => ObjRef::NULL,
    };
    let classes = &cx.load(way.target.sig())?.params;
    let scope = Scope::new(cx);
    let mut taken = 0;
    let mut values = [Value::Void; MOST];
    for (i, kind) in way.parameters.iter().enumerate() {
        let (word, object) = noted[i];
        values[i] = match kind {
            Kind::Nothing => Value::Void,
            Kind::Word => Value::Int(word as i64),
            Kind::Text => Value::Ref(domain::copy::copy(cx, object)?.unwrap_or(ObjRef::NULL)),
            Kind::Through { is_in } => {
                let behind = classes[i].element().expect("a by-reference class has one");
                through(&scope, behind, *is_in, objects, taken)?
            }
            Kind::Packed | Kind::Back => {
                // (An object may have had another deserialized in its place.)
                let object = fitting(cx, classes[i], objects.element_ref(taken))?;
                match cx.load(classes[i].is_value_type())? {
                    true if classes[i].nullable_arg().is_some() => {
                        through(&scope, classes[i], true, objects, taken)?
                    }
                    true => value_in(cx, classes[i], object)?,
                    false => Value::Ref(object),
                }
            }
        };
        taken += usize::from(kind.is_packed());
    }
    let values = &values[..way.parameters.len()];
    calls.set(true);
    let result = match way.target.is_virtual() {
        true => invoke::invoke_virtual(cx, way.target, server, values)?,
        false => cx.invoke(way.target, Some(Value::Ref(server)), values)?,
    };
    calls.set(false);
    let (word, result) = match (way.result, result) {
        (Kind::Nothing, _) => (0, None),
        (Kind::Word, value) => (invoke::word_of(value), None),
        (_, Value::Ref(object)) => (0, Some(object)),
        _ => (0, Some(ObjRef::NULL)),
    };
    let back = match way.parameters.iter().any(|kind| kind.returns()) {
        true => Some(what_returns(cx, way, (classes, values), objects, result)?),
        false => result,
    };
    let parcel = pack(cx, back)?;
    Ok(Outcome::Done { word, parcel })
}

/// An address at which the value of that class lies that is an element of the array: the element itself, or memory of the scope.
fn through<'cx>(
    scope: &Scope<'cx>,
    class: ClassRef,
    is_in: bool,
    objects: ObjRef<'cx>,
    at: usize,
) -> Result<Value<'cx>> {
    let cx = scope.cx();
    if !cx.load(class.is_value_type())? {
        fitting(cx, class, objects.element_ref(at))?;
        // SAFETY: `element_ref` has checked that there is such an element.
        let element = unsafe { objects.array_data().add(at * size_of::<usize>()) };
        return Ok(Value::Ptr(element));
    }
    let value = scope.bytes(cx.load(class.layout())?.size as usize)?;
    if is_in {
        let given = fitting(cx, class, objects.element_ref(at))?;
        store(cx, class, value, given)?;
    }
    Ok(Value::Ptr(value))
}

/// The values of the parameters from which something comes back, and the result, in one array.
fn what_returns<'cx>(
    cx: &'cx Cx<'cx>,
    way: &Way,
    (classes, values): (&[ClassRef], &[Value<'cx>]),
    objects: ObjRef<'cx>,
    result: Option<ObjRef<'cx>>,
) -> Result<ObjRef<'cx>> {
    let count = way.parameters.iter().filter(|kind| kind.returns()).count();
    let array = cx.alloc_array(
        cx.known(Known::Object),
        count + usize::from(result.is_some()),
    )?;
    let (mut next, mut packed) = (0, 0);
    for (i, kind) in way.parameters.iter().enumerate() {
        if kind.returns() {
            let value = match (classes[i].element(), values[i]) {
                // SAFETY: a value of that class lies there.
                (Some(behind), Value::Ptr(at)) => unsafe { object_at(cx, behind, at)? },
                _ => objects.element_ref(packed),
            };
            array.set_element_ref(next, value);
            next += 1;
        }
        packed += usize::from(kind.is_packed());
    }
    if let Some(result) = result {
        array.set_element_ref(next, result);
    }
    Ok(array)
}

/// The value in a box as an argument: a struct by its address.
fn value_in<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, object: ObjRef<'cx>) -> Result<Value<'cx>> {
    if cx.load(class.stack_prim())?.is_none() {
        return Ok(Value::Ptr(object.value_ptr()));
    }
    let mut word = 0u64;
    let size = (cx.load(class.layout())?.size as usize).min(8);
    // SAFETY: the box holds a value of that size, which is copied to the low bytes of a word.
    unsafe {
        std::ptr::copy_nonoverlapping(
            object.value_ptr() as *const u8,
            (&raw mut word).cast::<u8>(),
            size,
        );
    }
    Ok(Value::Int(word as i64))
}
