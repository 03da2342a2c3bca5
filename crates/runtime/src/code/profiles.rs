//! What the first code of methods has noted of the callees of its calls: classes of receivers, methods of delegates.
//!
//! ```text
//!   link the first code   -> a cell for each call that notes its callee; the entry of the method has them
//!   the code runs         -> cells change (jit/translate/calls/profile.rs)
//!   compile it again      -> what the cells of its own code say of a call, or those of the code of the method that is inlined
//! ```
//!
//! # Invariants
//! * Cells are never freed: the code that changes them is not.
//! * What a cell says is a hint. It may be torn between two counts, but the class was that of some receiver, and VTables and classes are never freed. The address that a
//!   delegate had is looked up as any address is, since the stub of a dynamic method may be gone.
use crate::code::entries::{self, Entry};
use crate::domain::Domain;
use std::sync::atomic::Ordering;
use vervet_abi::VTable;
use vervet_abi::profile::Cell;
use vervet_jit::blob::ProfiledCall;
use vervet_jit::options::{Callee, SiteProfile};
use vervet_os::LeafLock;
use vervet_types::{Class, MethodRef};

/// The cells of one piece of code.
struct Cells {
    calls: Vec<ProfiledCall>,
    cells: &'static [Cell],
}

/// The cells of all first codes of a method: more than one if two threads compiled it at the same time.
#[derive(Default)]
pub struct Profile(LeafLock<Vec<Cells>>);

/// Cells for code that is about to be linked.
pub fn make(count: usize) -> &'static [Cell] {
    Box::leak((0..count).map(|_| Cell::default()).collect())
}

impl Profile {
    /// The code with these cells was linked.
    pub fn add(&self, calls: Vec<ProfiledCall>, cells: &'static [Cell]) {
        self.0.lock().push(Cells { calls, cells });
    }
    /// What is known of the call at an IL offset of a method whose body is in the code.
    fn at(&self, method: MethodRef, il_offset: u32) -> Option<SiteProfile> {
        let all = self.0.lock();
        let cells = all
            .iter()
            .flat_map(|code| code.calls.iter().zip(code.cells));
        let here = cells.filter(|(call, _)| call.method == method && call.il_offset == il_offset);
        // Where a body is there several times, the place with the most calls speaks for all.
        let (call, cell) = here.max_by_key(|(_, cell)| {
            [&cell.calls, &cell.changes].map(|n| n.load(Ordering::Relaxed))
        })?;
        let address = cell.callee.load(Ordering::Relaxed) as usize;
        let callee = match call.is_delegate {
            // What a program defines while it runs may go away again.
            true => entries::method_of_stub(address)
                .filter(|m| !m.is_dynamic() && m.module().image.grows().is_none())
                .map(Callee::Method)?,
            false => {
                let vtable = address as *const VTable;
                // SAFETY: code has stored the address of a VTable, or nothing; VTables are never freed, and their classes neither.
                Callee::Class(unsafe { (vtable.as_ref()?.class as *const Class).as_ref()? })
            }
        };
        let [calls, changes] = [&cell.calls, &cell.changes].map(|n| n.load(Ordering::Relaxed));
        match call.is_counted {
            true => SiteProfile::of(callee, calls, changes),
            false => SiteProfile::of_changes(callee, changes),
        }
    }
}

/// What the code of `root` in the domain has noted of the call at an IL offset of a method, which is `root` or is inlined there; or else the method's own code.
pub fn of_call(
    domain: &'static Domain,
    root: &Entry,
    method: MethodRef,
    il_offset: u32,
) -> Option<SiteProfile> {
    root.profile.at(method, il_offset).or_else(|| {
        let own = entries::existing(domain, method)?;
        own.profile.at(method, il_offset)
    })
}
