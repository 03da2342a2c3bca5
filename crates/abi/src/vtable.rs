//! The VTable: the per-domain, hot half of a class, whose address is an object's header.
//!
//! # Invariants
//! A VTable lies below 2 GiB, is 16-byte aligned and is never moved or freed. Everything in it but
//! `init_state`, the IMT and the method slots is constant once an object can refer to it. The method slots
//! follow the struct: slot `i` is at `SLOTS_OFFSET + 8 i`.
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicUsize};

/// Number of interface method table entries.
pub const IMT_SIZE: usize = 19;

/// Number of answers of casts that a VTable remembers: in pairs, so that two classes whose hashes say the same pair do not take each other's place.
pub const CASTS: usize = 8;
/// Number of generic virtual methods that a VTable remembers.
pub const GENERICS: usize = 2;

/// The code that a call of a generic virtual method reaches on objects of one VTable. Never changed.
#[repr(C)]
pub struct GenericTarget {
    /// The method, as it is called. 0: none.
    pub method: usize,
    /// The code's address.
    pub code: usize,
}

/// See the module.
#[repr(C, align(16))]
pub struct VTable {
    /// The class (`&'static Class` of the types crate), opaque here. Casts compare it.
    pub class: usize,
    /// Array of the class's ancestors, root first, itself last: `supers[depth] == class`.
    pub supers: *const usize,
    /// Number of ancestors (0 for Object and interfaces).
    pub depth: u32,
    /// Bytes of an instance with header (fixed-size classes); bytes of an element (arrays); 2 for strings.
    pub size: u32,
    /// Class-constructor state: [`INIT_DONE`] lets every access through.
    pub init_state: AtomicU8,
    /// Bits of [`flags`].
    pub flags: u8,
    /// Rank of an array, 0 otherwise.
    pub rank: u8,
    /// The element-type byte (ELEMENT_TYPE_*) of a primitive or enum's underlying type, else 0.
    pub element_type: u8,
    /// Id of the domain the VTable belongs to.
    pub domain: u32,
    /// For arrays: the element's class; otherwise 0.
    pub element_class: usize,
    /// Memory of static fields that hold references.
    pub statics_refs: *mut u8,
    /// Memory of the other static fields.
    pub statics_values: *mut u8,
    /// Index of the class's block in a thread's thread-static table, or u32::MAX.
    pub thread_static_index: u32,
    /// Number of method slots.
    pub slot_count: u32,
    /// What the collector asks of the class's objects, in one word (`Descriptor` of the heap).
    pub descriptor: u64,
    /// Which words hold references, a bit each. Of an instance: word 0 is the header. Of an array: of one element, word
    /// 0 is its first; elements with references are a multiple of 8 bytes.
    pub ref_map: *const u64,
    /// Address of the root slot that holds the Type object, or 0 until it is asked for.
    pub type_root: AtomicUsize,
    /// Bits of [`remoting`].
    pub remoting: AtomicU32,
    /// Padding.
    pub _pad: u32,
    /// What casts of objects to interfaces, arrays and the like have found, by [`cast_index`] of the class: the class's address for yes, one more for no.
    pub casts: [AtomicUsize; CASTS],
    /// What generic virtual calls have found, by [`generic_index`] of the method: the address of a [`GenericTarget`], which is never null.
    pub generics: [AtomicUsize; GENERICS],
    /// Interface method table: code addresses, entered with the interface method in `ThreadContext::hidden`.
    pub imt: [AtomicUsize; IMT_SIZE],
}

/// Bits of [`VTable::flags`].
pub mod flags {
    /// Instances contain references.
    pub const HAS_REFS: u8 = 1;
    /// The class has a finalizer: allocation takes the runtime path.
    pub const FINALIZER: u8 = 2;
    /// A value type (the VTable is that of its boxes).
    pub const VALUE_TYPE: u8 = 4;
    /// System.String.
    pub const STRING: u8 = 8;
    /// A vector (szarray).
    pub const SZ_ARRAY: u8 = 16;
    /// Elements (of an array) contain references.
    pub const ELEMENT_REFS: u8 = 32;
    /// System.Nullable`1.
    pub const NULLABLE: u8 = 64;
    /// An interface or another type that has no instances.
    pub const NO_INSTANCES: u8 = 128;
}

/// Bits of [`VTable::remoting`].
pub mod remoting {
    /// Objects are transparent proxies: their fields are those of `TransparentProxy`, and calls go to their real proxy. Class and ancestors of the
    /// VTable are those of the class that they stand for.
    pub const PROXY: u32 = 1;
    /// `new` may give a proxy: the class library is asked.
    pub const ACTIVATION: u32 = 2;
}

/// The class constructor has not run.
pub const INIT_NONE: u8 = 0;
/// The class constructor has run, or there is none.
pub const INIT_DONE: u8 = 1;
/// A thread is running the class constructor.
pub const INIT_RUNNING: u8 = 2;
/// The class constructor threw; every access throws its TypeInitializationException.
pub const INIT_FAILED: u8 = 3;

macro_rules! offsets { ($($name:ident = $field:ident),* $(,)?) => { $(
    #[doc = concat!("Offset of `", stringify!($field), "`.")]
    pub const $name: i32 = std::mem::offset_of!(VTable, $field) as i32;
)* } }
offsets! {
    CLASS_OFFSET = class, SUPERS_OFFSET = supers, DEPTH_OFFSET = depth, SIZE_OFFSET = size,
    INIT_STATE_OFFSET = init_state, FLAGS_OFFSET = flags, RANK_OFFSET = rank,
    ELEMENT_CLASS_OFFSET = element_class, STATICS_REFS_OFFSET = statics_refs,
    STATICS_VALUES_OFFSET = statics_values, THREAD_STATIC_INDEX_OFFSET = thread_static_index,
    TYPE_ROOT_OFFSET = type_root, IMT_OFFSET = imt, REMOTING_OFFSET = remoting,
    CASTS_OFFSET = casts, GENERICS_OFFSET = generics,
}
/// Offset of method slot 0.
pub const SLOTS_OFFSET: i32 = std::mem::size_of::<VTable>() as i32;

/// The IMT entry of the interface method whose identity has that hash, which is the same in every process: machine code that is kept
/// for another process contains the entry's offset.
pub const fn imt_index(stable_hash: u64) -> usize {
    (stable_hash >> 32) as usize % IMT_SIZE
}

/// The first of the two places where a VTable remembers casts to the class whose identity has that hash. The other one is behind it.
pub const fn cast_index(stable_hash: u64) -> usize {
    (stable_hash >> 32) as usize % (CASTS / 2) * 2
}
/// Where a VTable remembers calls of the generic virtual method whose identity has that hash.
pub const fn generic_index(stable_hash: u64) -> usize {
    (stable_hash >> 32) as usize % GENERICS
}
