//! The stubs that slots of proxies' VTables hold: a call of a method becomes a call of the RemoteInvoke helper.
//!
//! | who calls | how it comes to the stub |
//! |---|---|
//! | a virtual call | the slot of the proxy's VTable, which is filled at its first call |
//! | an interface call | the interface method table, whose stubs jump through the cell |
//! | a non-virtual call, a delegate over a non-virtual method | the RemoteCode helper, or the constructor of the delegate |
//! | `ldvirtftn`, a generic virtual call | the resolver of virtual calls |
//! | reflection | none: it has boxed arguments, and sends them itself |
//!
//! # Invariants
//! There is one stub for a method in a domain. It is made at the first call, and its cell, which IMT stubs call through, holds its code from the start.
use super::classes;
use crate::classes::vtables::class_of;
use crate::code::table::CodeKind;
use crate::code::{arena, link};
use crate::cx::{Cx, Result};
use crate::domain;
use rustc_hash::FxHashMap;
use vervet_abi::VTable;
use vervet_os::LeafLock;
use vervet_types::{Known, MethodRef};

/// A stub.
#[derive(Clone, Copy)]
pub struct Stub {
    /// Its code.
    pub code: usize,
    /// Address of a word that holds the code's address.
    pub cell: usize,
}

/// By the ids of the domain and the method.
static STUBS: LeafLock<Option<FxHashMap<(u32, u32), Stub>>> = LeafLock::new(None);

impl<'cx> Cx<'cx> {
    /// The code of the stub that a call of the method on a proxy of that VTable reaches; a virtual method is looked up in the class that the proxy stands for.
    pub fn proxy_code(&'cx self, vtable: &'static VTable, method: MethodRef) -> Result<usize> {
        Ok(self.proxy_stub(vtable, method)?.code)
    }
    /// The stub of [`Cx::proxy_code`].
    pub fn proxy_stub(&'cx self, vtable: &'static VTable, method: MethodRef) -> Result<Stub> {
        let called = match method.method_args().is_empty() {
            true => classes::called(self, class_of(vtable), method)?,
            false => classes::named(self, class_of(vtable), method)?,
        };
        stub(self, vtable, called)
    }
}

/// The stub of a method for proxies of that VTable.
pub fn stub<'cx>(cx: &'cx Cx<'cx>, vtable: &'static VTable, method: MethodRef) -> Result<Stub> {
    let key = (vtable.domain, method.id);
    if let Some(stub) = STUBS.lock().get_or_insert_default().get(&key) {
        return Ok(*stub);
    }
    let blob = cx.native(|| {
        crate::threads::service_stack::on_service_stack(|| cx.rt().compiler.remote_stub(method))
    });
    let blob = blob.map_err(|e| cx.throw(Known::InvalidProgramException, &e.to_string()))?;
    let owner = domain::by_id(vtable.domain);
    let code = link::link(cx, owner, blob, CodeKind::Wrapper(method))?.start;
    let cell = cx.load(arena::new_slot())?;
    // SAFETY: the word is fresh and ours.
    unsafe { *cell = code };
    let made = Stub {
        code,
        cell: cell as usize,
    };
    // Of two threads that make one at the same time the first keeps its.
    let mut all = STUBS.lock();
    Ok(*all.get_or_insert_default().entry(key).or_insert(made))
}

/// The code of [`stub`].
pub fn code<'cx>(cx: &'cx Cx<'cx>, vtable: &'static VTable, method: MethodRef) -> Result<usize> {
    Ok(stub(cx, vtable, method)?.code)
}
