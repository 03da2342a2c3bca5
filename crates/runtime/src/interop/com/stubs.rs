//! The tables of functions of COM interfaces.
//!
//! ```text
//! function --> thunk --> reverse stub of the wrapper: converts the arguments
//!                        wrapper(object, arguments, out result) --> callvirt the method
//! ```
//! The wrapper is a static method without metadata, whose IL is made here. It calls the method in a `try` and returns an HRESULT: 0, or what
//! `Marshal.GetHRForException` says of the exception. If the method's signature is to be preserved, the wrapper only calls it.
//!
//! # Invariants
//! A table is made once for an interface and a domain, and never freed. The thunks of the functions that all interfaces have are the process's.
use super::{Interface, OF_DISPATCH, OF_UNKNOWN, first_slot};
use crate::code::link;
use crate::code::table::CodeKind;
use crate::cx::{Cx, Result};
use crate::interop::marshal::thunks;
use rustc_hash::FxHashMap;
use vervet_jit::stubs::native::marshal_plan::keep_com_plan;
use vervet_metadata::{EhClause, EhKind, MethodBody, Token};
use vervet_os::LeafLock;
use vervet_types::method::impl_flags;
use vervet_types::{ClassRef, DynBody, DynToken, Known, LoadError, Local, MethodRef};

/// By domain and [`key`](super::key): the address of the table.
static TABLES: LeafLock<Option<FxHashMap<(u32, u64), usize>>> = LeafLock::new(None);
/// The thunks of the functions of IUnknown and IDispatch.
static COMMON: LeafLock<[usize; OF_DISPATCH as usize]> = LeafLock::new([0; OF_DISPATCH as usize]);

/// The table of functions of an interface.
pub fn functions<'cx>(cx: &'cx Cx<'cx>, interface: Interface) -> Result<*const usize> {
    let key = (cx.domain().id, super::key(interface));
    if let Some(found) = TABLES.lock().get_or_insert_default().get(&key) {
        return Ok(*found as *const usize);
    }
    let common = match interface {
        Interface::Unknown => OF_UNKNOWN,
        Interface::Dispatch => OF_DISPATCH,
        Interface::Of(class) => first_slot(class),
    };
    let mut table = Vec::new();
    for slot in 0..common {
        table.push(common_function(cx, slot)?);
    }
    if let Interface::Of(class) = interface {
        for method in cx.load(class.methods())? {
            table.push(match method.has_this() && method.generic_arity == 0 {
                true => own_function(cx, class, method)?,
                false => 0,
            });
        }
    }
    let made = Box::leak(table.into_boxed_slice()).as_ptr() as usize;
    let mut tables = TABLES.lock();
    let kept = tables.get_or_insert_default().entry(key).or_insert(made);
    Ok(*kept as *const usize)
}

/// The thunk of a function that all interfaces have.
fn common_function<'cx>(cx: &'cx Cx<'cx>, slot: u32) -> Result<usize> {
    let known = COMMON.lock()[slot as usize];
    if known != 0 {
        return Ok(known);
    }
    // The internal call of the same purpose gives the code its name.
    let name = match slot {
        0 => "QueryInterfaceInternal",
        1 => "AddRefInternal",
        2 => "ReleaseInternal",
        _ => "GetIDispatchForObjectInternal",
    };
    let named = marshal_method(cx, name)?;
    let blob = cx.native(|| {
        crate::threads::service_stack::on_service_stack(|| cx.rt().compiler.com_unknown_stub(slot))
    });
    let blob = blob.map_err(|e| cx.throw(Known::MarshalDirectiveException, &e.to_string()))?;
    let stub = link::link(cx, cx.rt().root, blob, CodeKind::Callback(named))?.start;
    let thunk = thunks::for_com(cx, named, stub)?;
    COMMON.lock()[slot as usize] = thunk;
    Ok(thunk)
}

fn marshal_method<'cx>(cx: &'cx Cx<'cx>, name: &str) -> Result<MethodRef> {
    let class = cx.known(Known::Marshal);
    match cx.load(class.find_method(name, None))? {
        Some(method) => Ok(method),
        None => Err(cx.throw_load(LoadError::missing_method(class, name))),
    }
}

/// The thunk of a method of an interface.
fn own_function<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, method: MethodRef) -> Result<usize> {
    let keeps = method.impl_flags & impl_flags::PRESERVE_SIG != 0;
    let wrapper = wrapper(cx, class, method, keeps)?;
    cx.load(keep_com_plan(wrapper, method))?;
    let blob = cx.native(|| {
        crate::threads::service_stack::on_service_stack(|| cx.rt().compiler.com_stub(wrapper))
    });
    let blob = blob.map_err(|e| cx.throw(Known::MarshalDirectiveException, &e.to_string()))?;
    let stub = link::link(cx, cx.domain(), blob, CodeKind::Callback(method))?.start;
    thunks::for_com(cx, wrapper, stub)
}

/// Opcodes of ECMA-335 partition III, of which the wrappers are made.
mod op {
    pub const LDC_I4_0: u8 = 0x16;
    pub const CALL: u8 = 0x28;
    pub const RET: u8 = 0x2a;
    pub const CALLVIRT: u8 = 0x6f;
    pub const STOBJ: u8 = 0x81;
    pub const LEAVE: u8 = 0xdd;
    pub const WIDE: u8 = 0xfe;
    pub const LDARG: u8 = 0x09;
    pub const LDLOC: u8 = 0x0c;
    pub const STLOC: u8 = 0x0e;
}

/// IL as it is written.
#[derive(Default)]
struct Code(Vec<u8>);
impl Code {
    fn wide(&mut self, opcode: u8, operand: u16) {
        self.0.extend([op::WIDE, opcode]);
        self.0.extend(operand.to_le_bytes());
    }
    fn long(&mut self, opcode: u8, operand: u32) {
        self.0.push(opcode);
        self.0.extend(operand.to_le_bytes());
    }
    fn len(&self) -> u32 {
        self.0.len() as u32
    }
}

/// A static method with an object before the method's parameters, which calls the method: what a function of an interface calls. If it `keeps` the signature it does nothing
/// else, or else it returns an HRESULT.
pub(super) fn wrapper<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    method: MethodRef,
    keeps: bool,
) -> Result<MethodRef> {
    const METHOD: u32 = 1;
    const RESULT: u32 = 2;
    const CAUGHT: u32 = 3;
    const FAILED: u32 = 4;
    let sig = cx.load(method.sig())?;
    let void = cx.known(Known::Void);
    let int = cx.known(Known::Int32);
    let returns = !keeps && sig.ret != void;
    let mut params = vec![class];
    params.extend(&sig.params);
    if returns {
        params.push(cx.universe().byref(sig.ret));
    }
    let ret = if keeps { sig.ret } else { int };
    let home = (cx.known(Known::Object), method.home());
    let wrapper = cx
        .universe()
        .add_dynamic_method(home, method.name, 0, ret, params);
    let given = sig.params.len() as u16;
    let mut code = Code::default();
    for i in 0..=given {
        code.wide(op::LDARG, i);
    }
    code.long(op::CALLVIRT, METHOD);
    let mut clauses = Vec::new();
    if !keeps {
        if returns {
            code.wide(op::STLOC, 1);
            code.wide(op::LDARG, given + 1);
            code.wide(op::LDLOC, 1);
            code.long(op::STOBJ, RESULT);
        }
        code.0.push(op::LDC_I4_0);
        code.wide(op::STLOC, 0);
        /// Bytes of the handler: a call, `stloc` and `leave`.
        const HANDLER: u32 = 5 + 4 + 5;
        code.long(op::LEAVE, HANDLER);
        let tried = code.len();
        code.long(op::CALL, FAILED);
        code.wide(op::STLOC, 0);
        code.long(op::LEAVE, 0);
        clauses.push(EhClause {
            kind: EhKind::Catch(Token(CAUGHT)),
            try_offset: 0,
            try_len: tried,
            handler_offset: tried,
            handler_len: HANDLER,
        });
        code.wide(op::LDLOC, 0);
    }
    code.0.push(op::RET);
    let local = |ty| Local { ty, pinned: false };
    let body = DynBody {
        il: MethodBody {
            max_stack: given + 2,
            init_locals: true,
            // Any token that is not nil: the list of locals is the body's own.
            local_sig: Token(1),
            code: code.0.leak(),
            clauses,
        },
        locals: vec![local(int), local(if returns { sig.ret } else { int })],
        tokens: vec![
            DynToken::Method(method),
            DynToken::Type(if returns { sig.ret } else { int }),
            DynToken::Type(cx.known(Known::Exception)),
            DynToken::Method(marshal_method(cx, "GetHRForException")?),
        ],
        method: wrapper,
    };
    wrapper.set_dynamic_body(body);
    Ok(wrapper)
}
