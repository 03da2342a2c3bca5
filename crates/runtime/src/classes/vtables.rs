//! Making VTables: from what the type system says of a class to the memory that objects point to.
//!
//! # Layout
//! ```text
//!   VTable (16-aligned, below 2 GiB)
//!   | class, supers, sizes, flags, statics, descriptor, ref_map | imt: IMT_SIZE words | slots: one word per virtual method |
//!        read by casts, the allocator and the collector           interface calls       virtual calls
//!
//!   object header ---> VTable ---> ref_map (leaked words: one bit per word of an instance or element)
//!                            \---> supers (leaked words: the classes from Object down to this one)
//!                            \---> statics_refs (root memory), statics_values (plain memory)
//! ```
//!
//! | kind of class | `size` | `ref_map` is of | `rank` |
//! |---|---|---|---|
//! | class, or box of a value type | bytes of an instance, header included | an instance; bit 0 is the header's | 0 |
//! | array | bytes of an element | an element | 1 or more |
//! | String | 2, the bytes of a character | nothing | 0 |
//! | interface, abstract class | of what it would be (`NO_INSTANCES`) | | 0 |
//!
//! # Invariants
//! * VTables live in one range below 2 GiB ([`crate::memory::vtable_area`]), so that a u32 is the pointer.
//! * A VTable is complete before it is published in its domain. Two threads may make one at the same time; the first to publish
//!   wins, and the other's is discarded.
//! * The collector needs the VTable only (sizes, flags, the map, the descriptor): it asks no class, so it may look at objects while the
//!   type system is at work on another thread.
//! * A method slot holds the slot stub of its number until it is called, then the permanent stub until the method is compiled, then its
//!   code. `entries.rs` rewrites it. So making a VTable makes nothing for its methods.
use super::remembered;
use crate::code::entries;
use crate::domain::Domain;
use crate::memory::vtable_area::take;
use crate::profiler::hooks;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize, Ordering};
use vervet_abi::object::*;
use vervet_abi::vtable::{self, VTable, flags};
use vervet_types::{ClassRef, LoadError};

/// Makes the VTable of a class (which must be closed). The caller publishes it.
pub fn make(class: ClassRef, domain: u32) -> std::result::Result<&'static VTable, LoadError> {
    if class.is_open {
        return Err(LoadError::type_load(
            class,
            "an open generic type has no instances",
        ));
    }
    class.check()?;
    let supers = class.supers()?;
    let layout = class.layout()?;
    let slots: &[vervet_types::MethodRef] = if class.is_interface() {
        &[]
    } else {
        &class.vtable()?.slots
    };
    let Instances {
        flags: f,
        size,
        rank,
        element_class,
    } = Instances::of(class, layout)?;
    let element_type = match class.stack_prim()? {
        Some(p) => p as u8,
        None => 0,
    };
    // Leaked: VTables are never freed, and the collector reads the map at any time.
    let map: &[u64] = Box::leak(reference_map(class, layout, f)?.into_boxed_slice());
    let supers: Vec<usize> = supers.iter().map(|c| *c as *const _ as usize).collect();
    let at = take(std::mem::size_of::<VTable>() + 8 * slots.len())?;
    let resolve = crate::arch::imt_resolve_address();
    let needs_init = class.cctor()?.is_some();
    let mut vt = VTable {
        class: class as *const _ as usize,
        depth: supers.len() as u32 - 1,
        supers: Box::leak(supers.into_boxed_slice()).as_ptr(),
        size,
        init_state: AtomicU8::new(if needs_init {
            vtable::INIT_NONE
        } else {
            vtable::INIT_DONE
        }),
        flags: f,
        rank,
        element_type,
        domain,
        element_class,
        statics_refs: if layout.statics_refs_size > 0 {
            crate::memory::roots::reserve_mapped(
                layout.statics_refs_size as usize,
                &layout.statics_refs_map,
            )?
        } else {
            std::ptr::null_mut()
        },
        statics_values: if layout.statics_values_size > 0 {
            crate::memory::statics::reserve_values(layout.statics_values_size as usize)?
        } else {
            std::ptr::null_mut()
        },
        thread_static_index: match layout.thread_statics_size {
            0 => u32::MAX,
            size => crate::memory::statics::thread_static_index(
                (domain, class.id),
                size,
                &layout.thread_statics_map,
            ),
        },
        slot_count: slots.len() as u32,
        descriptor: 0,
        ref_map: map.as_ptr(),
        type_root: AtomicUsize::new(0),
        remoting: AtomicU32::new(if is_always_asked(class)? {
            vtable::remoting::ACTIVATION
        } else {
            0
        }),
        _pad: 0,
        casts: [const { AtomicUsize::new(0) }; vtable::CASTS],
        generics: remembered::no_generics(),
        imt: [const { AtomicUsize::new(0) }; vtable::IMT_SIZE],
    };
    vt.descriptor = crate::memory::gc::object_model::descriptor(&vt, map).bits();
    // Every interface call goes to the resolver first, which extends the stub of its IMT entry.
    for e in &vt.imt {
        e.store(resolve, Ordering::Relaxed);
    }
    // SAFETY: `at` is fresh, 16-aligned memory with room for the struct and its slots.
    unsafe {
        (at as *mut VTable).write(vt);
        let table = (at + vtable::SLOTS_OFFSET as usize) as *mut usize;
        for i in 0..slots.len() {
            match entries::slot_stub(i as u32) {
                Ok(stub) => table.add(i).write(stub),
                Err(e) => {
                    discard(&*(at as *const VTable));
                    return Err(e);
                }
            }
        }
        Ok(&*(at as *const VTable))
    }
}

/// Does the class derive from ContextBoundObject?
pub(crate) fn is_context_bound(class: ClassRef) -> std::result::Result<bool, LoadError> {
    let bound = class
        .universe()
        .known(vervet_types::Known::ContextBoundObject);
    // Its base is MarshalByRefObject, whose base is Object.
    Ok(class
        .supers()?
        .get(2)
        .is_some_and(|c| std::ptr::eq(*c, bound)))
}

/// Does the class derive from that of imported COM classes?
pub fn is_com(class: ClassRef) -> std::result::Result<bool, LoadError> {
    let com = class.universe().known(vervet_types::Known::ComObject);
    // Its base is MarshalByRefObject, whose base is Object.
    let third = class.supers()?.get(2).copied();
    Ok(third.is_some_and(|c| std::ptr::eq(c, com) && !std::ptr::eq(class, com)))
}

/// Does `new` of the class ask the class library for a proxy, whatever a configuration says?
pub(crate) fn is_always_asked(class: ClassRef) -> std::result::Result<bool, LoadError> {
    Ok(is_context_bound(class)? || is_com(class)?)
}

/// Makes the VTable of transparent proxies for a class: class, ancestors and slots are the class's, sizes and references those of `model`, the VTable of
/// `TransparentProxy`.
pub(crate) fn make_proxy(
    class: ClassRef,
    model: &'static VTable,
    domain: u32,
) -> std::result::Result<&'static VTable, LoadError> {
    class.check()?;
    let supers: Vec<usize> = class
        .supers()?
        .iter()
        .map(|c| *c as *const _ as usize)
        .collect();
    let slots = class.vtable()?.slots.len();
    let at = take(std::mem::size_of::<VTable>() + 8 * slots)?;
    let resolve = crate::arch::imt_resolve_address();
    let vt = VTable {
        class: class as *const _ as usize,
        depth: supers.len() as u32 - 1,
        supers: Box::leak(supers.into_boxed_slice()).as_ptr(),
        size: model.size,
        init_state: AtomicU8::new(vtable::INIT_DONE),
        flags: model.flags,
        rank: 0,
        element_type: 0,
        domain,
        element_class: 0,
        statics_refs: std::ptr::null_mut(),
        statics_values: std::ptr::null_mut(),
        thread_static_index: u32::MAX,
        slot_count: slots as u32,
        descriptor: model.descriptor,
        ref_map: model.ref_map,
        type_root: AtomicUsize::new(0),
        remoting: AtomicU32::new(vtable::remoting::PROXY),
        _pad: 0,
        casts: [const { AtomicUsize::new(0) }; vtable::CASTS],
        generics: remembered::no_generics(),
        imt: [const { AtomicUsize::new(0) }; vtable::IMT_SIZE],
    };
    for e in &vt.imt {
        e.store(resolve, Ordering::Relaxed);
    }
    // SAFETY: `at` is fresh, 16-aligned memory with room for the struct and its slots.
    unsafe {
        (at as *mut VTable).write(vt);
        let table = (at + vtable::SLOTS_OFFSET as usize) as *mut usize;
        for i in 0..slots {
            table.add(i).write(entries::slot_stub(i as u32)?);
        }
        Ok(&*(at as *const VTable))
    }
}

/// What a VTable says of the size and the kind of its objects.
struct Instances {
    /// Bits of [`flags`].
    flags: u8,
    /// Bytes of an object, or of an element of an array or a string.
    size: u32,
    /// The rank of an array, 0 for everything else.
    rank: u8,
    /// Address of the element class of an array, or 0.
    element_class: usize,
}

impl Instances {
    /// See the table at the head of this file.
    fn of(
        class: ClassRef,
        layout: &vervet_types::Layout,
    ) -> std::result::Result<Instances, LoadError> {
        let mut f = 0u8;
        let (mut size, mut rank, mut element_class) = (HEADER_SIZE + layout.size, 0u8, 0usize);
        if class.is_value_type()? {
            f |= flags::VALUE_TYPE;
        }
        if !layout.ref_map.is_empty() {
            f |= flags::HAS_REFS;
        }
        if class.is_nullable() {
            f |= flags::NULLABLE;
        }
        if class.is_interface() || class.is_abstract() && !class.is_array() {
            f |= flags::NO_INSTANCES;
        }
        if let (true, Some(elem)) = (class.is_array(), class.element()) {
            rank = class.rank().unwrap_or(1) as u8;
            element_class = elem as *const _ as usize;
            if class.is_sz_array() {
                f |= flags::SZ_ARRAY;
            }
            f &= !flags::HAS_REFS;
            if elem.is_value_type()? || elem.is_ptr() || elem.is_fn_ptr() {
                let l = elem.layout()?;
                size = l.size;
                if !l.ref_map.is_empty() {
                    f |= flags::ELEMENT_REFS;
                }
            } else {
                size = 8;
                f |= flags::ELEMENT_REFS;
            }
        }
        let u = class.universe();
        if std::ptr::eq(class, u.known(vervet_types::Known::String)) {
            f |= flags::STRING;
            size = 2;
        }
        if !class.is_interface() && class.finalizer()?.is_some() {
            f |= flags::FINALIZER;
        }
        Ok(Instances {
            flags: f,
            size,
            rank,
            element_class,
        })
    }
}

/// The map of an instance (the header is word 0), or of an element for arrays.
fn reference_map(
    class: ClassRef,
    layout: &vervet_types::Layout,
    f: u8,
) -> std::result::Result<Vec<u64>, LoadError> {
    let element = class.element().filter(|_| class.is_array());
    let (words, refs): (u32, Vec<u32>) = match element {
        None => (
            (HEADER_SIZE + layout.size).div_ceil(8),
            layout.ref_map.iter().map(|w| w + 1).collect(),
        ),
        Some(_) if f & flags::ELEMENT_REFS == 0 => (1, Vec::new()),
        Some(elem) if elem.is_value_type()? => {
            let l = elem.layout()?;
            debug_assert!(l.size % 8 == 0, "elements with references are whole words");
            (l.size / 8, l.ref_map.clone())
        }
        Some(_) => (1, vec![0]),
    };
    let mut map = vec![0u64; words.div_ceil(64).max(1) as usize];
    for w in refs {
        map[w as usize / 64] |= 1 << (w % 64);
    }
    Ok(map)
}

/// Gives back what belongs to a VTable that is not to be used: another thread's came before, or it could not be completed.
///
/// # Safety
/// It was never published, so nobody uses its statics.
pub unsafe fn discard(vt: &'static VTable) {
    // SAFETY: the class is the one the VTable was made of.
    let class: ClassRef = unsafe { &*(vt.class as *const vervet_types::Class) };
    if let (Ok(layout), false) = (class.layout(), vt.statics_refs.is_null()) {
        // SAFETY: `make` reserved the memory with that size, and the caller promises that nobody uses the statics.
        unsafe {
            crate::memory::roots::free_mapped(vt.statics_refs, layout.statics_refs_size as usize)
        };
    }
}

/// A domain is unloaded: what the statics of the VTable's class hold goes. Nothing runs in the domain.
pub(crate) fn clear_statics(vt: &'static VTable) {
    if let (Ok(layout), false) = (class_of(vt).layout(), vt.statics_refs.is_null()) {
        let bytes = layout.statics_refs_size as usize;
        // SAFETY: the memory was reserved with that size when the VTable was made, and no code of the domain runs.
        unsafe { crate::memory::statics::clear_words(vt.statics_refs, bytes) };
    }
}

/// The VTable is as it was when it was made, but for what its slots hold: its domain begins another life. Nothing runs in the domain.
pub(crate) fn reset(vt: &'static VTable) {
    if vt.remoting.load(Ordering::Relaxed) & vtable::remoting::PROXY != 0 {
        return;
    }
    let class = class_of(vt);
    clear_statics(vt);
    if let (Ok(layout), false) = (class.layout(), vt.statics_values.is_null()) {
        // SAFETY: the memory was reserved with that size when the VTable was made.
        unsafe {
            vt.statics_values
                .write_bytes(0, layout.statics_values_size as usize)
        };
    }
    let state = match class.cctor() {
        Ok(None) => vtable::INIT_DONE,
        _ => vtable::INIT_NONE,
    };
    vt.init_state.store(state, Ordering::Release);
    let asks = match is_always_asked(class) {
        Ok(true) => vtable::remoting::ACTIVATION,
        _ => 0,
    };
    vt.remoting.store(asks, Ordering::Release);
}

/// The class of a VTable.
pub fn class_of(vt: &VTable) -> vervet_types::ClassRef {
    // SAFETY: the word was stored from a `&'static Class`.
    unsafe { &*(vt.class as *const vervet_types::Class) }
}

impl Domain {
    /// Calls `visit` with each VTable of the domain's.
    pub(crate) fn each_vtable(&self, mut visit: impl FnMut(&'static VTable)) {
        for class in 0..crate::runtime::rt().universe.class_count() {
            let made = self.vtables.get(class).map(|p| p.load(Ordering::Acquire));
            // SAFETY: only complete VTables are stored, and they live for ever.
            if let Some(vtable) = made.and_then(|p| unsafe { p.as_ref() }) {
                visit(vtable);
            }
        }
    }
    /// The class's VTable, made if need be.
    pub fn vtable(&self, class: ClassRef) -> std::result::Result<&'static VTable, LoadError> {
        if let Some(vt) = self.vtable_if_made(class) {
            return Ok(vt);
        }
        let made = make(class, self.id)?;
        let cell = self.vtables.at(class.id);
        match cell.compare_exchange(
            std::ptr::null_mut(),
            made as *const VTable as *mut VTable,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => {
                super::receivers::add(class);
                hooks::vtable_made(made);
                Ok(made)
            }
            Err(first) => {
                // SAFETY: what is stored in the cell is a complete VTable that lives for ever. The one that came second was published
                // nowhere, so no thread but this one knows it.
                unsafe {
                    discard(made);
                    Ok(&*first)
                }
            }
        }
    }
}
