//! Calls into another domain without a message, where arguments and result allow it.
//!
//! # How it works
//! ```text
//!   caller's domain                                  target's domain
//!   ----------------------------------------------   --------------------------------------------------------
//!   numbers stay words, strings are noted,
//!   the rest goes into one array, which the
//!   class library serializes                  -->    strings are copied, the array is deserialized
//!                                                    the method is called on the object itself
//!   the result is copied or deserialized      <--    a number, a string, a vector; the rest is serialized
//! ```
//! A message does this by hand and by reflection, and serializes the message itself: it takes some thirty times as long.
//!
//! # Invariants
//! * Whether a call goes this way depends on the method, the object and the thread's call context, not on the arguments' values. What cannot go this way
//!   ([`Way::of`] says None) is sent as a message, with the same outcome.
//! * References are held on the stack: there are at most [`MOST`] arguments.
//! * No object of one domain is handed to code of the other; only the addresses of by-reference numbers are.
//! * An exception of the method is serialized in its domain and thrown in the caller's. The visit ends as any crossing does ([`unload::leave`]).
use super::values::fitting;
use crate::classes::vtables::is_context_bound;
use crate::code::invoke;
use crate::cx::{Cx, Result, Value};
use crate::domain::{self, Domain, State, unload};
use crate::interop::delegates::async_call::{argument, store, words_of};
use crate::memory::{context_statics, statics};
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::mem::offset_of;
use vervet_abi::layouts::RealProxyObject;
use vervet_jit::LoweredSignature;
use vervet_jit::signature::Pass;
use vervet_os::{LeafLock, Published};
use vervet_types::class::ClassKind;
use vervet_types::{ClassRef, FieldRef, Known, LoadError, MethodRef};

/// A call with more arguments is a message.
const MOST: usize = 8;

/// How a value gets across.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// There is none: `void`.
    Nothing,
    /// As the machine word that it is: a number, or the address of one, which the method reads and writes where it lies. (So what it has stored stays when it throws.)
    Word,
    /// A string, or a result of a class of vectors of strings or numbers: it is copied, unless it is a vector of enumerations.
    Copied,
    /// The class library serializes it.
    Serialized,
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
    /// | one with by-reference parameters other than numbers, with pointers or nullable ones | the values come back, or have no box |
    /// | one with `[Out]` arrays and the like | what the method stores there comes back |
    /// | one of a generic class, or with type arguments that are the domain's own | its counterpart would have to be built |
    /// | one of an assembly that the domain has not loaded | the message says so |
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
        let mut way = None;
        if method.name != ".ctor"
            && lowered.params.len() <= MOST
            && (cx.load(method.definition().out_parameters())?.iter())
                .all(|i| lowered.param_classes[*i].is_byref())
            && let Some(target) = counterpart(cx, method, domain)?
        {
            let kinds: Option<SmallVec<[Kind; 8]>> = (lowered.params.iter())
                .zip(&lowered.param_classes)
                .map(|(pass, class)| kind_of(cx, pass, class))
                .collect();
            let result = match lowered.ret {
                Pass::None => Some(Kind::Nothing),
                _ => kind_of(cx, &lowered.ret, lowered.ret_class).map(|kind| match kind {
                    Kind::Serialized if is_simple_vector(cx, lowered.ret_class) => Kind::Copied,
                    kind => kind,
                }),
            };
            if let (Some(parameters), Some(result)) = (kinds, result) {
                way = Some(&*Box::leak(Box::new(Way {
                    target,
                    parameters,
                    result,
                })));
            }
        }
        let mut all = WAYS.lock();
        Ok(*all.get_or_insert_default().entry(key).or_insert(way))
    }
}

/// How a value of the class gets across. None: only in a message.
fn kind_of(cx: &Cx<'_>, pass: &Pass, class: ClassRef) -> Option<Kind> {
    if class.is_byref()
        && let Some(behind) = class.element()
        && behind.is_value_type().ok()?
        && behind.stack_prim().ok()?.is_some()
    {
        return Some(Kind::Word);
    }
    if class.is_byref() || class.is_ptr() || class.is_fn_ptr() || class.nullable_arg().is_some() {
        return None;
    }
    if class.is_value_type().ok()? {
        let is_number = class.stack_prim().ok()?.is_some() && matches!(pass, Pass::Scalar(_));
        return Some(match is_number {
            true => Kind::Word,
            false => Kind::Serialized,
        });
    }
    Some(match std::ptr::eq(class, cx.known(Known::String)) {
        true => Kind::Copied,
        false => Kind::Serialized,
    })
}

/// Is it the class of vectors of strings or numbers?
fn is_simple_vector(cx: &Cx<'_>, class: ClassRef) -> bool {
    let element = class.element().filter(|_| class.is_sz_array());
    element.is_some_and(|e| {
        std::ptr::eq(e, cx.known(Known::String)) || e.stack_prim().is_ok_and(|p| p.is_some())
    })
}

/// The method as the domain has it: the same, if all domains share it; otherwise that of the module which the domain has loaded from the same file.
fn counterpart<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    domain: &'static Domain,
) -> Result<Option<MethodRef>> {
    let definition = method.definition();
    let module = definition.module();
    if matches!(definition.class.kind, ClassKind::Inst { .. })
        || !std::ptr::eq(definition.class, method.class)
        || method.method_args().iter().any(|a| a.module.owner != 0)
    {
        return Ok(None);
    }
    let theirs = domain.loader.assemblies().into_iter().find(|a| {
        std::ptr::eq(a.manifest, module) || module.path.is_some() && a.manifest.path == module.path
    });
    let Some(theirs) = theirs else {
        return Ok(None);
    };
    if std::ptr::eq(theirs.manifest, module) {
        return Ok(Some(method));
    }
    let found = cx.load(theirs.manifest.method_def(definition.rid))?;
    match method.method_args().is_empty() {
        true => Ok(Some(found)),
        false => {
            let made = cx
                .universe()
                .instantiate_method(found, method.method_args());
            cx.load(made).map(Some)
        }
    }
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
    Word(u64),
    /// An object of the target's domain, to be copied.
    Copied(ObjRef<'cx>),
    /// Serialized there.
    Serialized(ObjRef<'cx>),
    /// The method has thrown; serialized there.
    Thrown(ObjRef<'cx>),
    /// The call has to be a message: the object has a context.
    Nothing,
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
    // A call context travels in a message: the class library merges it into that of the thread there, and takes back what the method has changed.
    if carries_context(cx)? || needs_sinks(cx)? {
        return Ok(false);
    }
    let mut noted = [(0u64, ObjRef::NULL); MOST];
    let mut serialized = 0;
    let mut used = 0;
    for (i, kind) in way.parameters.iter().enumerate() {
        let (pass, class) = (&lowered.params[i], lowered.param_classes[i]);
        // SAFETY: the stub stored one word per parameter; of a reference it is the object's address.
        noted[i] = unsafe {
            match kind {
                Kind::Nothing => (0, ObjRef::NULL),
                Kind::Word => (words.add(used).read(), ObjRef::NULL),
                Kind::Copied => (0, ObjRef::from_addr(words.add(used).read() as usize)),
                Kind::Serialized => {
                    serialized += 1;
                    (0, argument(cx, pass, class, words.add(used))?)
                }
            }
        };
        used += words_of(pass);
    }
    let rest = match serialized {
        0 => ObjRef::NULL,
        count => {
            let array = cx.alloc_array(cx.known(Known::Object), count)?;
            let mut next = 0;
            for (i, kind) in way.parameters.iter().enumerate() {
                if *kind == Kind::Serialized {
                    array.set_element_ref(next, noted[i].1);
                    next += 1;
                }
            }
            remoting_services(cx, "SerializeCallData", array)?
        }
    };
    // What was serialized has run code of the program: the domain may have begun another life meanwhile.
    let outcome = cx.visit_life(domain, id as u32, |cx| {
        let result = call(cx, real, way, &noted, rest).or_else(|throw| {
            // No exception is pending while managed code runs.
            let thrown = cx.take_pending(throw);
            // There is little room to serialize it in; and each of thousands of frames that it passes would do so once more.
            if std::ptr::eq(thrown.class(), cx.known(Known::StackOverflowException)) {
                return Err(cx.throw_object(thrown));
            }
            let bytes = remoting_services(cx, "SerializeExceptionData", thrown)?;
            Ok(Outcome::Thrown(bytes))
        });
        let result = result.map_err(|throw| cx.take_pending(throw));
        // Last: an unload may abort the thread at each step.
        unload::leave(cx)?;
        Ok(result)
    });
    let Some(outcome) = outcome? else {
        return Err(cx.throw_default(Known::AppDomainUnloadedException));
    };
    match outcome {
        // An exception of an exception's serialization is the other domain's, with all it refers to.
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
        // SAFETY: `out` has room for the result and at least for a word; it lies in the stub's frame.
        Ok(Outcome::Word(word)) => unsafe { (out as *mut u64).write_unaligned(word) },
        Ok(Outcome::Copied(theirs)) => {
            let own = domain::copy::copy(cx, theirs)?.unwrap_or(ObjRef::NULL);
            store(cx, lowered.ret_class, out, own)?;
        }
        Ok(Outcome::Serialized(bytes)) => {
            let own = fitting(cx, lowered.ret_class, deserialized(cx, bytes)?)?;
            store(cx, lowered.ret_class, out, own)?;
        }
        Ok(Outcome::Nothing) => return Ok(false),
        Ok(Outcome::Thrown(bytes)) => {
            let own = deserialized(cx, bytes)?;
            let fix = cx.known_method(Known::Exception, "FixRemotingException", 0)?;
            let fixed = cx.invoke(fix, Some(Value::Ref(own)), &[])?;
            return Err(match fixed {
                Value::Ref(e) if !e.is_null() => cx.throw_object(e),
                _ => cx.throw_object(own),
            });
        }
    }
    Ok(true)
}

/// Where an object has a field, which is looked up once.
fn offset<'cx>(
    cx: &'cx Cx<'cx>,
    kept: &'static Published<usize>,
    object: ObjRef<'cx>,
    name: &str,
) -> Result<usize> {
    let find = || {
        let class = object.class();
        let field = class.find_field(name)?;
        let field = field.ok_or_else(|| LoadError::type_load(class, name))?;
        Ok(field.offset()? as usize + vervet_abi::object::HEADER_SIZE as usize)
    };
    cx.load(kept.get_or_try(find)).copied()
}

/// Has the thread a call context with something in it?
fn carries_context<'cx>(cx: &'cx Cx<'cx>) -> Result<bool> {
    static EXECUTION: Published<usize> = Published::new();
    static LOGICAL: Published<usize> = Published::new();
    let thread = domain::crossing::current_thread(cx)?;
    if thread.is_null() {
        return Ok(false);
    }
    let at = offset(cx, &EXECUTION, thread, "m_ExecutionContext")?;
    let Some(execution) = thread.read_ref(at).non_null() else {
        return Ok(false);
    };
    let at = offset(cx, &LOGICAL, execution, "_logicalCallContext")?;
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
    let at = offset(cx, &OWN, context, "context_dynamic_properties")?;
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
/// 2. The arguments become values of this domain, in the order of the parameters.
/// 3. The method is called, a virtual one as the object's class has it.
/// 4. The result is left for the caller to copy, or is serialized here.
fn call<'cx>(
    cx: &'cx Cx<'cx>,
    real: ObjRef<'cx>,
    way: &Way,
    noted: &[(u64, ObjRef<'cx>)],
    rest: ObjRef<'cx>,
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
        return Ok(Outcome::Nothing);
    }
    let objects = match rest.non_null() {
        Some(bytes) => deserialized(cx, bytes)?,
        None => ObjRef::NULL,
    };
    let classes = &cx.load(way.target.sig())?.params;
    let mut taken = 0;
    let mut values = [Value::Void; MOST];
    for (i, kind) in way.parameters.iter().enumerate() {
        let (word, object) = noted[i];
        values[i] = match kind {
            Kind::Nothing => Value::Void,
            Kind::Word => Value::Int(word as i64),
            Kind::Copied => Value::Ref(domain::copy::copy(cx, object)?.unwrap_or(ObjRef::NULL)),
            Kind::Serialized => {
                // (An object may have had another deserialized in its place.)
                let object = fitting(cx, classes[i], objects.element_ref(taken))?;
                taken += 1;
                match cx.load(classes[i].is_value_type())? {
                    true => value_in(cx, classes[i], object)?,
                    false => Value::Ref(object),
                }
            }
        };
    }
    let values = &values[..way.parameters.len()];
    let result = match way.target.is_virtual() {
        true => invoke::invoke_virtual(cx, way.target, server, values)?,
        false => cx.invoke(way.target, Some(Value::Ref(server)), values)?,
    };
    Ok(match (way.result, result) {
        (Kind::Nothing, _) => Outcome::Word(0),
        (Kind::Word, value) => Outcome::Word(invoke::word_of(value)),
        (Kind::Copied, Value::Ref(object)) if domain::copy::is_copyable(cx, object)? => {
            Outcome::Copied(object)
        }
        (_, Value::Ref(object)) => {
            Outcome::Serialized(remoting_services(cx, "SerializeCallData", object)?)
        }
        _ => Outcome::Word(0),
    })
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
