//! From a blob to code at an address: symbols become addresses.
//!
//! ```text
//!   blob: bytes with holes, relocations (offset, symbol, addend), tables by offset
//!     1. filters: each is linked first, as code of its own
//!     2. resolve: symbol -> address         Runtime state; may allocate, run managed code, let the world stop, fail
//!     3. arena::place: choose an address, patch the holes, copy    under the arena's lock; cannot fail but for want of room
//!     4. table::publish: from the address to the tables            under the same lock
//! ```
//! Code that notes callees gets cells of its own ([`profiles`]) each time it is linked, before its symbols are resolved.
//! Symbols mean what they mean in the domain that the code is linked for, which need not be the thread's.
//! Between 2 and 3 nothing that was resolved can go away, so it does not matter that the world may stop there.
//!
//! # Invariants
//! * Everything that may fail or allocate (VTables, Type objects, literals, statics) is resolved in Runtime state before the arena's
//!   lock is taken. Patching cannot fail.
//! * Code is in the table before any thread can reach it, so whoever finds a pc in the arena finds its code.
//! * What linked code names by address (VTables, methods, root slots) is never freed or moved.
use crate::code::arena::Alignment;
use crate::code::packed::Packed;
use crate::code::table::{self, Code, CodeKind, Handling};
use crate::code::{arena, entries, perf, profiles};
use crate::cx::{Cx, Result};
use crate::domain::Domain;
use vervet_jit::{Blob, RelocKind, Symbol};
use vervet_types::MethodRef;

/// Links a blob and its filters for a domain: places the bytes, patches the relocations and publishes the tables. OutOfMemoryException if the arena
/// is full.
pub fn link<'cx>(
    cx: &'cx Cx<'cx>,
    domain: &'static Domain,
    mut blob: Blob,
    kind: CodeKind,
) -> Result<&'static Code> {
    let mut filters = Vec::new();
    for f in std::mem::take(&mut blob.filters) {
        let k = match kind {
            CodeKind::Method(m) => CodeKind::Filter(m),
            other => other,
        };
        filters.push(link(cx, domain, f, k)?.start);
    }
    let cells = profiles::make(blob.profiled.len());
    // May run managed code (a resolve event) and stop for a collection; nothing is placed yet.
    let mut targets = Vec::with_capacity(blob.relocs.len());
    for r in &blob.relocs {
        targets.push(match r.symbol {
            Symbol::SelfCode => 0,
            Symbol::Profile(n) => std::ptr::from_ref(&cells[n as usize]) as usize,
            s => resolve(cx, domain, s)?,
        });
    }
    if let (CodeKind::Method(m), false) = (kind, cells.is_empty()) {
        let profiled = std::mem::take(&mut blob.profiled);
        cx.load(entries::entry(domain, m))?
            .profile
            .add(profiled, cells);
    }
    let (handling, packed) = (Handling::of(&blob, filters), Packed::of(&blob));
    let relocs = std::mem::take(&mut blob.relocs);
    let mut bytes = std::mem::take(&mut blob.code);
    let len = bytes.len();
    let placed = arena::place(
        &mut bytes,
        Alignment {
            bytes: (blob.align as usize).max(16),
            places: blob.places,
        },
        |bytes, at| {
            for (r, target) in relocs.iter().zip(&targets) {
                let s = if matches!(r.symbol, Symbol::SelfCode) {
                    at
                } else {
                    *target
                };
                let value = s as i64 + r.addend;
                let place = r.offset as usize;
                match r.kind {
                    RelocKind::Abs8 => {
                        bytes[place..place + 8].copy_from_slice(&value.to_le_bytes())
                    }
                    RelocKind::Abs4 => {
                        let v = u32::try_from(value)
                            .expect("a 4-byte relocation against an address above 4 GiB");
                        bytes[place..place + 4].copy_from_slice(&v.to_le_bytes());
                    }
                    RelocKind::PcRel4 => {
                        let d = i32::try_from(value - (at + place) as i64)
                            .expect("a relative relocation out of reach");
                        bytes[place..place + 4].copy_from_slice(&d.to_le_bytes());
                    }
                }
            }
        },
        // Under the arena's lock: the table is in order of addresses.
        |at| {
            table::publish(Code {
                start: at,
                end: at + len,
                kind,
                domain: domain.id,
                prologue_end: blob.prologue_end,
                exposes_frame: blob.exposes_frame,
                handling,
                packed,
            })
        },
    );
    let code = cx.load(placed)?;
    crate::profiler::hooks::code_linked(code);
    perf::code(code);
    Ok(code)
}

/// A host may want to know of methods that have code.
pub(super) fn tell_host(cx: &Cx<'_>, method: MethodRef, code: &'static Code) {
    if let Some(host) = crate::process::host_events::get() {
        (host.jit_done)(cx, method, code);
    }
}

/// The address that a symbol stands for in a domain; makes what does not exist yet.
fn resolve<'cx>(cx: &'cx Cx<'cx>, domain: &'static Domain, symbol: Symbol) -> Result<usize> {
    let entry = |m| cx.load(entries::entry(domain, m));
    let vtable = |c| cx.load(domain.vtable(c));
    Ok(match symbol {
        Symbol::MethodSlot(m) => entry(m)?.slot(),
        Symbol::MethodStub(m) => entry(m)?.stub(),
        Symbol::CallCounter(m) => cx.load(entry(m)?.counter())?,
        Symbol::Prestub(m) => entry(m)?.prestub(),
        Symbol::VTable(c) => vtable(c)? as *const _ as usize,
        Symbol::GuessedVTable(c) => domain.vtable(c).map_or(0, |vt| vt as *const _ as usize),
        Symbol::StaticRefs(c) => vtable(c)?.statics_refs as usize,
        Symbol::StaticCard(f) => {
            let statics = vtable(f.class)?.statics_refs as usize;
            crate::memory::cards::card_of(statics + cx.load(f.offset())? as usize)
        }
        Symbol::StaticValues(c) => vtable(c)?.statics_values as usize,
        Symbol::RvaData(f) => cx.load(crate::memory::statics::rva_data(f))?,
        Symbol::RvaImage(f) => cx.load(f.rva_data())?.as_ptr() as usize,
        Symbol::Literal(module, token) => domain.literal(cx, module, token)?.address(),
        Symbol::DynamicLiteral(n) => domain.dynamic_literal(n).address(),
        Symbol::TypeObject(c) => domain.type_root(cx, c)?.address(),
        Symbol::ClassHandle(c) => c as *const _ as usize,
        Symbol::MethodHandle(m) => m as *const _ as usize,
        Symbol::FieldHandle(f) => f as *const _ as usize,
        Symbol::Helper(h) => crate::code::helper_table::address(h),
        Symbol::PreservingHelper(h) => crate::code::helper_table::preserving(h),
        Symbol::DeferringHelper(h) => crate::code::helper_table::deferring(h),
        Symbol::ColdCall(result) => crate::code::cold_calls::address(cx, result)?,
        Symbol::CardTable => crate::memory::cards::card_table(),
        Symbol::HandleRows => crate::memory::handles::rows(),
        Symbol::PInvokeCell(m) => &entry(m)?.pinvoke as *const _ as usize,
        Symbol::NativeThunk => crate::arch::native_thunk_address(),
        Symbol::PlainNativeThunk => crate::arch::plain_native_thunk_address(),
        Symbol::ScalarNativeThunk => crate::arch::scalar_native_thunk_address(),
        Symbol::Signature(s) => s as *const _ as usize,
        Symbol::SelfCode | Symbol::Profile(_) => unreachable!("resolved when placed"),
    })
}
