//! References to heap objects as Rust code holds them.
//!
//! # Invariants
//! * An [`ObjRef`] lives on the stack only: the collector scans stacks conservatively, so it pins what it refers to. It is not `Send`
//!   and is never kept in a container. Rust heap memory keeps objects through [`crate::memory::roots`].
//! * Every store of a reference into an object or a static goes through a function here that marks the card.
//! * What the collector takes for a reference, and nothing else, is read and written as one. So an access by offset asks the VTable where the
//!   object ends and which of its words are references, and panics (an internal error) if the access does not fit: the functions are safe
//!   whatever offset they get.
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use vervet_abi::layouts::RawRef;
use vervet_abi::object::*;
use vervet_abi::{VTable, vtable::flags};
use vervet_types::ClassRef;

/// A reference to a heap object, or null. See the module.
///
/// It does not go to another thread:
/// ```compile_fail,E0277
/// fn sent<T: Send>() {}
/// sent::<vervet_runtime::ObjRef<'static>>();
/// ```
/// nor does a value that may be one:
/// ```compile_fail,E0277
/// fn sent<T: Send>() {}
/// sent::<vervet_runtime::cx::Value<'static>>();
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct ObjRef<'cx>(*mut u8, PhantomData<&'cx ()>);

/// Types that may be read from and written to managed memory: any bit pattern of managed data is valid.
///
/// # Safety
/// No references into the heap, no invalid bit patterns that managed code could produce.
pub unsafe trait Plain: Copy {}
macro_rules! plain { ($($t:ty)*) => { $(
    // SAFETY: every bit pattern is valid.
    unsafe impl Plain for $t {}
)* } }
plain!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64);

impl<'cx> ObjRef<'cx> {
    /// The null reference.
    pub const NULL: ObjRef<'static> = ObjRef(ptr::null_mut(), PhantomData);

    /// A reference from an address.
    ///
    /// # Safety
    /// `addr` is 0 or the address of a live object.
    pub unsafe fn from_addr(addr: usize) -> ObjRef<'cx> {
        ObjRef(addr as *mut u8, PhantomData)
    }
    /// Its address, 0 for null.
    pub fn addr(self) -> usize {
        self.0 as usize
    }
    /// As a word of a declared layout.
    pub fn raw(self) -> RawRef {
        RawRef(self.addr())
    }

    /// Is it null?
    #[inline]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
    /// None for null.
    #[inline]
    pub fn non_null(self) -> Option<ObjRef<'cx>> {
        if self.is_null() { None } else { Some(self) }
    }
    /// Its VTable. Panics on null: an internal error, since every icall checks first.
    #[inline]
    #[track_caller]
    pub fn vtable(self) -> &'static VTable {
        assert!(!self.is_null(), "VTable of null");
        // SAFETY: a live object's header holds the address of a VTable, and those are never freed.
        unsafe { &*(*(self.0 as *const u32) as usize as *const VTable) }
    }
    /// Its class.
    #[inline]
    #[track_caller]
    pub fn class(self) -> ClassRef {
        // SAFETY: the word was stored from a `&'static Class` when the VTable was made.
        unsafe { &*(self.vtable().class as *const vervet_types::Class) }
    }
    /// Reads a value at `offset` bytes from the start of the object. Panics if it does not lie in the object.
    #[inline]
    #[track_caller]
    pub fn read<T: Plain>(self, offset: usize) -> T {
        if !self.holds(offset, size_of::<T>()) {
            self.misfit("a value read outside of an object", offset);
        }
        // SAFETY: the object is live, because this reference pins it, and the bytes lie in it; every bit pattern of a `Plain` type is valid.
        unsafe { (self.0.add(offset) as *const T).read_unaligned() }
    }
    /// Do `bytes` bytes at `offset` lie in the object?
    #[inline]
    #[track_caller]
    fn holds(self, offset: usize, bytes: usize) -> bool {
        let vt = self.vtable();
        let end = offset.saturating_add(bytes);
        if vt.rank == 0 && vt.flags & flags::STRING == 0 {
            return end <= vt.size as usize;
        }
        self.holds_at_end(vt, end)
    }
    /// The same for a string or an array, whose size follows from its length.
    fn holds_at_end(self, vt: &VTable, end: usize) -> bool {
        let (fixed, length, element) = match vt.rank {
            0 => (STRING_CHARS_OFFSET as usize, STRING_LENGTH_OFFSET, 2),
            _ => (
                self.array_data() as usize - self.addr(),
                ARRAY_LENGTH_OFFSET,
                vt.size as usize,
            ),
        };
        // SAFETY: every string and every array has its length there, which never changes.
        let length = || unsafe { *(self.0.add(length as usize) as *const u32) } as usize;
        end <= fixed || end <= fixed + length() * element
    }
    #[cold]
    #[inline(never)]
    fn misfit(self, what: &str, offset: usize) -> ! {
        panic!("{what}: {}, at {offset}", self.class().full_name())
    }
    /// Does the collector take the word that `offset` lies in for a reference? The offset lies in the object.
    #[inline]
    fn is_reference_word(self, offset: usize) -> bool {
        let vt = self.vtable();
        let word = if vt.rank != 0 {
            let data = self.array_data() as usize - self.addr();
            if offset < data || vt.flags & flags::ELEMENT_REFS == 0 {
                return false;
            }
            (offset - data) % vt.size as usize / 8
        } else if vt.flags & flags::STRING != 0 {
            return false;
        } else {
            offset / 8
        };
        // SAFETY: the map has a bit for each word of an instance or an element.
        unsafe { *vt.ref_map.add(word / 64) >> (word % 64) & 1 != 0 }
    }
    /// Writes a value that is not a reference. Panics if it does not lie in the object, or if the object has a reference there.
    #[inline]
    #[track_caller]
    pub fn write<T: Plain>(self, offset: usize, value: T) {
        const { assert!(size_of::<T>() <= 8) };
        let last = offset.saturating_add(size_of::<T>() - 1);
        if !self.holds(offset, size_of::<T>())
            || self.is_reference_word(offset)
            || self.is_reference_word(last)
        {
            self.misfit("a plain value written where no such field is", offset);
        }
        // SAFETY: the object is live and the bytes lie in it; they are part of no reference, so no card is due.
        unsafe { (self.0.add(offset) as *mut T).write_unaligned(value) }
    }
    /// Is there a reference at that offset?
    #[inline]
    #[track_caller]
    fn is_reference(self, offset: usize) -> bool {
        offset.is_multiple_of(8) && self.holds(offset, 8) && self.is_reference_word(offset)
    }
    /// Reads a reference field. Panics if the object has none there.
    #[inline]
    #[track_caller]
    pub fn read_ref(self, offset: usize) -> ObjRef<'cx> {
        if !self.is_reference(offset) {
            self.misfit("a reference read where there is none", offset);
        }
        // SAFETY: the collector takes this aligned word of the live object for a reference.
        ObjRef(
            unsafe { load_word(self.0.add(offset) as *const usize) } as *mut u8,
            PhantomData,
        )
    }
    /// Writes a reference field and marks its card. Panics if the object has none there.
    #[inline]
    #[track_caller]
    pub fn write_ref(self, offset: usize, value: ObjRef<'_>) {
        if !self.is_reference(offset) {
            self.misfit("a reference written where there is none", offset);
        }
        // SAFETY: the collector takes this aligned word of the live object for a reference.
        unsafe { store_ref(self.0.add(offset) as *mut usize, value) }
    }
    /// The object as a declared layout. Null panics.
    ///
    /// # Safety
    /// The object's class is, or derives from, the layout's class. Reference fields are written with
    /// [`store_ref`] only.
    pub unsafe fn layout<T>(self) -> *mut T {
        assert!(!self.is_null());
        self.0 as *mut T
    }
    /// Address of the first byte behind the header: the value, for a box.
    pub fn value_ptr(self) -> *mut u8 {
        debug_assert!(!self.is_null());
        // SAFETY: every object has a header of that size.
        unsafe { self.0.add(HEADER_SIZE as usize) }
    }

    /// Is it a string?
    #[inline]
    pub fn is_string(self) -> bool {
        !self.is_null() && self.vtable().flags & flags::STRING != 0
    }
    /// Length of a string in UTF-16 units.
    pub fn string_len(self) -> usize {
        self.read::<i32>(STRING_LENGTH_OFFSET as usize) as usize
    }
    /// Address of a string's first unit.
    #[inline]
    pub fn string_ptr(self) -> *mut u16 {
        // SAFETY: a string has at least its terminating unit.
        unsafe { self.0.add(STRING_CHARS_OFFSET as usize) as *mut u16 }
    }
    /// The units of a string; panics if it is none. Not to be held across anything that may collect, unless the reference itself
    /// stays in use.
    #[inline]
    pub fn units(self) -> &'cx [u16] {
        if !self.is_string() {
            self.misfit("no string", 0);
        }
        // SAFETY: a string has its length there, and its units behind it; strings do not change once they can be seen.
        unsafe {
            let length = *(self.0.add(STRING_LENGTH_OFFSET as usize) as *const u32);
            std::slice::from_raw_parts(self.string_ptr(), length as usize)
        }
    }
    /// A string's text; lone surrogates become U+FFFD. Null gives "".
    pub fn text(self) -> String {
        if self.is_null() {
            String::new()
        } else {
            String::from_utf16_lossy(self.units())
        }
    }

    /// Is it an array of any rank?
    #[inline]
    pub fn is_array(self) -> bool {
        !self.is_null() && self.vtable().rank != 0
    }
    /// Total number of elements of an array. Panics if it is none.
    #[inline]
    pub fn array_len(self) -> usize {
        if self.vtable().rank == 0 {
            self.misfit("no array", 0);
        }
        // SAFETY: every array has its length there.
        unsafe { *(self.0.add(ARRAY_LENGTH_OFFSET as usize) as *const u32) as usize }
    }
    /// Address of element 0 of an array of any rank.
    #[inline]
    pub fn array_data(self) -> *mut u8 {
        let vt = self.vtable();
        let at = if vt.flags & flags::SZ_ARRAY != 0 {
            ARRAY_DATA_OFFSET
        } else {
            md_array_data_offset(vt.rank as u32)
        };
        // SAFETY: elements follow the header and the bounds.
        unsafe { self.0.add(at as usize) }
    }
    /// Bounds (length, lower bound) of dimension `dim`.
    pub fn array_bounds(self, dim: usize) -> (u32, i32) {
        if self.vtable().flags & flags::SZ_ARRAY != 0 {
            return (self.array_len() as u32, 0);
        }
        let at = ARRAY_BOUNDS_OFFSET as usize + dim * BOUND_SIZE as usize;
        (self.read(at), self.read(at + 4))
    }
    /// Is it an array of references?
    pub fn has_reference_elements(self) -> bool {
        self.vtable().flags & flags::ELEMENT_REFS != 0 && self.vtable().size == 8
    }
    /// The elements of an array of plain values. Panics if its elements have another size than `T`, or hold references.
    pub fn elements<T: Plain>(self) -> &'cx mut [T] {
        let vt = self.vtable();
        if vt.flags & flags::ELEMENT_REFS != 0 || vt.size as usize != size_of::<T>() {
            self.misfit("an array seen as one of other elements", 0);
        }
        // SAFETY: `array_len` elements follow; managed data may be aliased, but only by this thread's managed code.
        unsafe { std::slice::from_raw_parts_mut(self.array_data() as *mut T, self.array_len()) }
    }
    /// Element `i` of an array of references.
    #[inline]
    pub fn element_ref(self, i: usize) -> ObjRef<'cx> {
        assert!(i < self.array_len());
        assert!(self.has_reference_elements());
        // SAFETY: `i` is in range and the elements are references.
        ObjRef(
            unsafe { load_word((self.array_data() as *const usize).add(i)) } as *mut u8,
            PhantomData,
        )
    }
    /// Stores element `i` of an array of references and marks its card.
    pub fn set_element_ref(self, i: usize, value: ObjRef<'_>) {
        assert!(i < self.array_len());
        assert!(self.has_reference_elements());
        // SAFETY: `i` is in range and the elements are references.
        unsafe { store_ref((self.array_data() as *mut usize).add(i), value) }
    }
}

impl std::fmt::Debug for ObjRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_null() {
            write!(f, "null")
        } else {
            write!(f, "{}@{:#x}", self.class().full_name(), self.addr())
        }
    }
}

/// Loads a word that may be a reference. Other threads, the marker among them, may load and store it meanwhile: like generated code we
/// take such words one by one and whole.
///
/// # Safety
/// `slot` is an aligned word that may be read.
#[inline(always)]
pub(crate) unsafe fn load_word(slot: *const usize) -> usize {
    // SAFETY: the caller's word; nobody refers to it as anything but atomic.
    unsafe { AtomicUsize::from_ptr(slot.cast_mut()).load(Relaxed) }
}
/// Stores a word that may be a reference, without a card. See [`load_word`].
///
/// # Safety
/// `slot` is an aligned word that may be written.
#[inline(always)]
pub(crate) unsafe fn store_word(slot: *mut usize, value: usize) {
    // SAFETY: the caller's word, aligned and writable; every thread accesses it atomically.
    unsafe { AtomicUsize::from_ptr(slot).store(value, Relaxed) }
}

/// Stores a reference anywhere (heap, statics, stack) and marks the card of the address.
///
/// # Safety
/// `slot` is a writable, aligned reference slot.
pub unsafe fn store_ref(slot: *mut usize, value: ObjRef<'_>) {
    // SAFETY: the caller says the slot may be written.
    unsafe { store_word(slot, value.addr()) };
    crate::memory::cards::mark_card(slot as usize, value.addr());
}
