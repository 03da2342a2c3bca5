//! The native form of structs and formatted classes: offsets and kinds of their fields.
//!
//! # How it works
//! [`native_layout`] computes the layout of a class once. A class is *formatted* if its layout is
//! sequential or explicit (ECMA-335 II.10.1.2). Its native fields differ from the managed ones
//! where a field is a bool, a char, a string, a delegate, a handle, or an array in place. A layout
//! in which nothing differs is *blittable*: its memory is passed as it is.
//!
//! The stubs pass structs by this table. The runtime's `Marshal` (StructureToPtr, PtrToStructure,
//! SizeOf, OffsetOf) and its marshalling helpers follow the same one.
//!
//! ```text
//! [StructLayout(LayoutKind.Sequential)]        managed          native
//! struct S {
//!     bool ok;                                 0, 1 byte        0, 4 bytes (BOOL)
//!     [MarshalAs(UnmanagedType.ByValTStr,
//!      SizeConst = 4)] string name;            8, reference     4, 4 bytes in place
//!     double value;                            16, 8 bytes      8, 8 bytes
//! }                                            24 bytes         16 bytes, not blittable
//! ```
//!
//! # Classes that contain themselves
//! A field whose class has a layout is that layout in place. A class that gets to itself by way of its fields, or of the parents of
//! their classes, would have no end. Mono gives the inner one a byte at the very start, whatever fields came before, and goes on from
//! there. So the sizes are smaller than the fields, and nothing can be converted, but programs ask for the sizes:
//!
//! ```text
//! [StructLayout(LayoutKind.Sequential)]
//! class Node {                                                         native
//!     long value;                                                      0, 8 bytes
//!     Node next;                     being computed: back to           0, 1 byte
//!     int tag;                                                         4, 4 bytes
//! }                                                                    8 bytes
//! ```
//!
//! # Invariants
//! * A layout never changes once it is computed, and lives for ever.
//! * What cannot be marshalled has a layout too; [`NativeLayout::unsupported`] says why it cannot.
//! * Offsets are bytes from the start of the value, without the object header.
use crate::stubs::native::marshal_spec::{
    CharSet, MarshalSpec, class_char_set, has_attribute, marshal_spec, native_type as nt,
};
use crate::stubs::native::scalar::Scalar;
use crate::stubs::native::sysv::Abi;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use vervet_metadata::{Table, Token};
use vervet_os::LeafLock;
use vervet_types::names::short_name;
use vervet_types::{ClassKind, ClassRef, FieldRef, Known, LoadError, Prim};

/// How the characters of a string lie in native memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Encoding {
    /// Zero-terminated UTF-8.
    Utf8,
    /// Zero-terminated UTF-16.
    Utf16,
    /// UTF-16 behind its length in bytes (4 bytes before the pointer).
    Bstr,
}

impl Encoding {
    /// The encoding of a string: its MarshalAs, or the CharSet in force.
    pub fn of(spec: &MarshalSpec, char_set: CharSet) -> Encoding {
        match (spec.native, char_set) {
            (nt::LPWSTR, _) => Encoding::Utf16,
            (nt::BSTR | nt::TBSTR, _) => Encoding::Bstr,
            (nt::LPSTR | nt::LPTSTR | nt::LPUTF8STR | nt::ANSI_BSTR, _) => Encoding::Utf8,
            (_, CharSet::Unicode) => Encoding::Utf16,
            (_, CharSet::Ansi) => Encoding::Utf8,
        }
    }
    /// Bytes of a code unit.
    pub fn unit(self) -> u32 {
        if self == Encoding::Utf8 { 1 } else { 2 }
    }
}

/// The native form of one value.
#[derive(Clone)]
pub enum Native {
    /// A scalar or pointer.
    Scalar(Scalar),
    /// A struct in place.
    Struct(&'static NativeLayout),
    /// A pointer to a string.
    String(Encoding),
    /// A code address for a delegate of that class.
    Delegate(ClassRef),
    /// The handle of a SafeHandle. As in mono, what native code leaves there is not looked at.
    Handle,
    /// The value of a class in place, be it formatted or not; of null: nothing, or zeros where memory is owned. A class without fields takes a byte.
    Embedded(&'static NativeLayout),
    /// The ticks of a DateTime as an OLE date, a double.
    OleDate,
    /// A pointer to the buffer of a StringBuilder. Elements of arrays only.
    StringBuilder(Encoding),
    /// Has a place, and nothing converts it: a date inside of others.
    Opaque {
        /// Bytes it takes.
        size: u32,
        /// Why it is not converted.
        reason: String,
    },
    /// The address of a COM interface of an object.
    Com(Com),
    /// A VARIANT: zeros for null, and nothing converts another object.
    Variant,
    /// A pointer to an array: 0 for null, and nothing converts another one, nor what native code leaves there. The text says so.
    ArrayPointer(String),
    /// A value of a class whose own layout is being computed, in place: as in mono, one byte at the very start. Nothing converts it. The text says so.
    Endless(String),
    /// None.
    Unsupported(String),
}

/// Why a class is not converted that contains itself where it is marshalled.
const ENDLESS: &str = "A class that contains itself cannot be marshalled.";

/// An interface as the runtime tells it from others.
#[derive(Clone, Copy)]
pub enum ComInterface {
    /// IUnknown.
    Unknown,
    /// IDispatch.
    Dispatch,
    /// One that is declared.
    Of(ClassRef),
}

/// An object whose native form is the address of one of its COM interfaces.
#[derive(Clone, Copy)]
pub struct Com {
    /// The interface that native code gets.
    pub interface: ComInterface,
    /// What an object that native code gives is cast to.
    pub class: ClassRef,
}
impl Com {
    /// The COM interface by which an argument of that class travels, if it does. Without a MarshalAs only what is declared as an interface is one; of a class that is none
    /// native code gets IUnknown.
    pub fn of(class: ClassRef, spec: &MarshalSpec) -> Option<Com> {
        let interface = match spec.native {
            nt::I_UNKNOWN => ComInterface::Unknown,
            nt::I_DISPATCH => ComInterface::Dispatch,
            _ if class.is_interface() => ComInterface::Of(class),
            nt::INTERFACE => ComInterface::Unknown,
            _ => return None,
        };
        Some(Com { interface, class })
    }
    /// The same of a field or an element: as in mono an interface has an InterfaceTypeAttribute, or else its native form is that of a class without fields.
    fn of_field(class: ClassRef, spec: &MarshalSpec) -> Option<Com> {
        Com::of(class, spec).filter(|com| match com.interface {
            ComInterface::Unknown | ComInterface::Dispatch => true,
            ComInterface::Of(class) => {
                let def = class.def();
                let row = Token::new(Table::TypeDef, def.rid());
                has_attribute(&def.module.image, row, "InterfaceTypeAttribute")
            }
        })
    }
}

/// Why an object is not converted whose native form is a VARIANT or a SAFEARRAY.
pub const COM: &str = "COM interop is not supported.";

/// Why a value of automatic layout is not converted, in mono's words.
pub fn no_layout(class: ClassRef) -> String {
    format!(
        "Type {} which is passed to unmanaged code must have a StructLayout attribute.",
        short_name(class)
    )
}

impl Native {
    /// The native form of a type that is a field or an element.
    pub fn of(class: ClassRef, spec: &MarshalSpec, char_set: CharSet) -> Result<Native, LoadError> {
        if class.is_ptr() || class.is_fn_ptr() {
            return Ok(Native::Scalar(Scalar::POINTER));
        }
        if let Some(prim) = class.stack_prim()? {
            return Ok(Native::Scalar(Scalar::of(prim, spec, char_set)));
        }
        if is(class, Known::DateTime) {
            // As in mono, a date is converted on its own only.
            return Ok(Native::Opaque {
                size: 8,
                reason: no_layout(class),
            });
        }
        if class.is_value_type()? {
            return Ok(match finished_layout(class)? {
                Some(layout) => Native::Struct(layout),
                None => Native::Endless(ENDLESS.to_owned()),
            });
        }
        if is(class, Known::String) {
            return Ok(Native::String(Encoding::of(spec, char_set)));
        }
        if is_delegate(class)? {
            return Ok(Native::Delegate(class));
        }
        if is_safe_handle(class)? {
            return Ok(Native::Handle);
        }
        if let Some(com) = Com::of_field(class, spec) {
            return Ok(Native::Com(com));
        }
        if spec.native == nt::STRUCT && is(class, Known::Object) {
            return Ok(Native::Variant);
        }
        if class.is_array() {
            return Ok(Native::ArrayPointer(format!(
                "Structure field of type {} can't be marshalled as LPArray",
                class.name
            )));
        }
        // One that embeds others too deeply cannot be marshalled; that is no reason to fail at once.
        Ok(match finished_layout(class) {
            Ok(Some(layout)) => Native::Embedded(layout),
            Ok(None) => Native::Endless(ENDLESS.to_owned()),
            Err(LoadError::TypeLoad { message, .. }) => Native::Unsupported(message),
            Err(e) => return Err(e),
        })
    }
    /// The native form of an element of an array with that MarshalAs. As in mono, a bool is a BOOL, whatever is declared.
    pub fn of_element(
        class: ClassRef,
        spec: &MarshalSpec,
        char_set: CharSet,
    ) -> Result<Native, LoadError> {
        match class.stack_prim()? {
            Some(Prim::Bool) => Ok(Native::Scalar(Scalar::Bool(4))),
            _ => Native::of(class, &spec.of_element(), char_set),
        }
    }
    /// Bytes it takes.
    pub fn size(&self) -> u32 {
        match self {
            Native::Scalar(scalar) => scalar.size(),
            Native::Struct(layout) | Native::Embedded(layout) => layout.size,
            Native::Opaque { size, .. } => *size,
            Native::Variant => 16,
            Native::Endless(_) => 1,
            _ => 8,
        }
    }
    /// Its natural alignment. Zero: wherever the fields before it end, it lies at the start.
    pub fn align(&self) -> u32 {
        match self {
            Native::Scalar(scalar) => scalar.size(),
            Native::Struct(layout) | Native::Embedded(layout) => layout.align,
            Native::Endless(_) => 0,
            Native::Variant => 16,
            _ => 8,
        }
    }
    /// Whether native memory is the same as managed memory.
    pub fn is_blittable(&self) -> bool {
        match self {
            Native::Scalar(scalar) => scalar.is_identity(),
            Native::Struct(layout) => layout.blittable,
            _ => false,
        }
    }
    /// Whether the conversion to native allocates memory that must be freed.
    pub fn owns_memory(&self) -> bool {
        match self {
            Native::Scalar(_)
            | Native::OleDate
            | Native::Opaque { .. }
            | Native::Com(_)
            | Native::Variant
            | Native::Endless(_)
            | Native::ArrayPointer(_) => false,
            Native::Struct(layout) | Native::Embedded(layout) => layout.owns_memory,
            _ => true,
        }
    }
    /// Why no value can be marshalled, if none can. Of a reference null can be, whatever its class is.
    fn unsupported(&self) -> Option<&str> {
        match self {
            Native::Unsupported(reason)
            | Native::Endless(reason)
            | Native::Opaque { reason, .. } => Some(reason),
            Native::Struct(layout) => layout.unsupported.as_deref(),
            _ => None,
        }
    }
    /// Whether its size is known, even if nothing converts it.
    fn is_sized(&self) -> bool {
        match self {
            Native::Unsupported(_) => false,
            Native::Struct(layout) | Native::Embedded(layout) => layout.sized,
            _ => true,
        }
    }
    /// Adds its primitive parts, at offset `at`, for the classification of eightbytes.
    fn parts(&self, at: u32, parts: &mut Vec<(u32, u32, bool)>) {
        match self {
            Native::Scalar(scalar) => parts.push((at, scalar.size(), scalar.is_float())),
            Native::OleDate => parts.push((at, 8, true)),
            Native::Struct(layout) | Native::Embedded(layout) => layout
                .fields
                .iter()
                .for_each(|f| f.kind.parts(at + f.offset, parts)),
            _ => parts.push((at, 8, false)),
        }
    }
}

/// Room in native memory.
#[derive(Clone, Copy)]
pub struct Place {
    /// In bytes.
    pub size: u32,
    /// Its alignment; 0 as of [`Native::align`].
    pub align: u32,
}
impl Place {
    /// That of the elements of an array in place. As in mono elements that are objects, whatever they are marshalled as, take what their class would as a field: a string eight bytes
    /// at a multiple of four, a class without fields nothing.
    fn of_elements(class: ClassRef, element: &Native, count: u32) -> Result<Place, LoadError> {
        let (size, align) = if let Native::Endless(_) = element {
            (0, 0)
        } else if class.is_value_type()? || class.is_ptr() || class.is_fn_ptr() {
            (element.size(), element.align())
        } else if class.is_array() {
            (0, 1)
        } else {
            match finished_layout(class)? {
                Some(layout) if layout.is_empty() => (0, 1),
                Some(layout) => (layout.size, layout.align),
                None => (0, 0),
            }
        };
        let size = count.saturating_mul(size);
        Ok(Place { size, align })
    }
}

/// The native form of a field.
#[derive(Clone)]
pub enum FieldKind {
    /// One value.
    One(Native),
    /// The characters of an array in place as UTF-8, up to the first zero, cut off to fit (ByValArray).
    FixedText {
        /// Room in bytes, and characters of the array that is made.
        bytes: u32,
    },
    /// Characters in place, zero-terminated, cut off to fit (ByValTStr).
    FixedString {
        /// Room in units, the zero included.
        units: u32,
        /// UTF-8 or UTF-16.
        encoding: Encoding,
    },
    /// Elements in place (ByValArray).
    FixedArray {
        /// How many.
        count: u32,
        /// Each of them.
        element: Native,
        /// What all of them take.
        place: Place,
    },
    /// A C# `fixed` buffer whose elements have a native form of their own (chars as bytes, bools): scalars in place on both sides.
    FixedBuffer {
        /// How many.
        count: u32,
        /// Each of them.
        element: Scalar,
        /// The native form of the buffer's type, which has the declared size: what it takes of the struct.
        declared: &'static NativeLayout,
    },
}

impl FieldKind {
    /// Bytes it takes.
    fn size(&self) -> u32 {
        match self {
            FieldKind::One(native) => native.size(),
            FieldKind::FixedString { units, encoding } => units.saturating_mul(encoding.unit()),
            FieldKind::FixedArray { place, .. } => place.size,
            FieldKind::FixedText { bytes } => *bytes,
            FieldKind::FixedBuffer { declared, .. } => declared.size,
        }
    }
    /// Bytes that the conversion fills, and behind which the next field is converted.
    fn filled(&self) -> Option<u32> {
        match self {
            FieldKind::FixedBuffer { count, element, .. } => {
                Some(count.saturating_mul(element.size()))
            }
            _ => None,
        }
    }
    /// Its natural alignment.
    fn align(&self) -> u32 {
        match self {
            FieldKind::One(native) => native.align(),
            FieldKind::FixedArray { place, .. } => place.align,
            FieldKind::FixedString { encoding, .. } => encoding.unit(),
            FieldKind::FixedText { .. } => 1,
            FieldKind::FixedBuffer { declared, .. } => declared.align,
        }
    }
    /// Whether the conversion to native allocates memory that must be freed.
    fn owns_memory(&self) -> bool {
        match self {
            FieldKind::One(native)
            | FieldKind::FixedArray {
                element: native, ..
            } => native.owns_memory(),
            FieldKind::FixedString { .. }
            | FieldKind::FixedText { .. }
            | FieldKind::FixedBuffer { .. } => false,
        }
    }
    fn parts(&self, at: u32, parts: &mut Vec<(u32, u32, bool)>) {
        // Only structs of at most 16 bytes are classified by their parts, so 16 elements are
        // enough.
        let (count, size) = match self {
            FieldKind::One(native) => return native.parts(at, parts),
            FieldKind::FixedString { units, encoding } => (*units, encoding.unit()),
            FieldKind::FixedArray { count, element, .. } => (*count, element.size()),
            FieldKind::FixedText { bytes } => (*bytes, 1),
            FieldKind::FixedBuffer { count, element, .. } => (*count, element.size()),
        };
        for i in 0..count.min(16) {
            match self {
                FieldKind::FixedArray { element, .. } => element.parts(at + i * size, parts),
                _ => parts.push((at + i * size, size, false)),
            }
        }
    }
}

/// A field of a native layout.
pub struct NativeField {
    /// The field.
    pub field: FieldRef,
    /// Where it is in the managed value.
    pub managed_offset: u32,
    /// Where the conversion finds it in the native one. Behind a `fixed` buffer whose elements are smaller than managed ones that is, as
    /// in mono, where these end.
    pub offset: u32,
    /// Where it is by declaration (`Marshal.OffsetOf`).
    pub declared_offset: u32,
    /// What it is there.
    pub kind: FieldKind,
}

/// The native layout of a class. See the module.
pub struct NativeLayout {
    /// The struct or formatted class.
    pub class: ClassRef,
    /// Bytes of the native value, at least 1.
    pub size: u32,
    /// Its alignment, and what its size is a multiple of.
    pub align: u32,
    /// Instance fields, base classes' first.
    pub fields: Vec<NativeField>,
    /// Is native memory the same as managed memory?
    pub blittable: bool,
    /// Does conversion to native allocate anything?
    pub owns_memory: bool,
    /// Why it cannot be marshalled.
    pub unsupported: Option<String>,
    /// Its size is known, even where it cannot be marshalled. (A class or struct of automatic layout has one inside of others only.)
    pub sized: bool,
    /// How it travels by value.
    pub abi: Abi,
}

impl NativeLayout {
    /// Whether it takes no place of its own: there are no fields, and no size is declared.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.size == 1
    }
    /// Whether native code gets the managed memory as it is where the struct is a parameter or a result: nothing differs, or, as in mono, its offsets are explicit,
    /// so that what lies over a bool or a char is not lost. (Where there are references or the sizes differ, it is converted.)
    pub fn passed_as_is(&self) -> Result<bool, LoadError> {
        let class = self.class;
        Ok(self.blittable
            || class.is_value_type()?
                && is_explicit(class)
                && class.layout()?.ref_map.is_empty()
                && class.layout()?.size == self.size)
    }
}

/// All layouts, by address of the class.
static LAYOUTS: LeafLock<Option<FxHashMap<usize, &'static NativeLayout>>> = LeafLock::new(None);

/// The layouts that are being computed: by which thread, and of which class. (Hosts have little room for thread-local variables.)
static BEGUN: LeafLock<Vec<(i32, usize)>> = LeafLock::new(Vec::new());

/// The native layout of a struct or class.
pub fn native_layout(class: ClassRef) -> Result<&'static NativeLayout, LoadError> {
    finished_layout(class)?.ok_or_else(|| LoadError::type_load(class, ENDLESS))
}

/// The native layout of a struct or class; none while this thread computes it, which asks for it again if the class embeds itself, or something of which it is the
/// parent. What is computed meanwhile stays as it is, so, as in mono, the sizes of classes that embed each other depend on which of them was asked for first.
fn finished_layout(class: ClassRef) -> Result<Option<&'static NativeLayout>, LoadError> {
    let key = std::ptr::from_ref(class) as usize;
    if let Some(found) = LAYOUTS.lock().as_ref().and_then(|map| map.get(&key)) {
        return Ok(Some(found));
    }
    const MAX_DEPTH: usize = 64;
    let this = (vervet_os::scheduling::thread_id(), key);
    {
        let mut begun = BEGUN.lock();
        if begun.contains(&this) {
            return Ok(None);
        }
        if begun.iter().filter(|b| b.0 == this.0).count() > MAX_DEPTH {
            return Err(LoadError::type_load(
                class,
                "it is too deep inside of others when it is marshalled",
            ));
        }
        begun.push(this);
    }
    let made = compute(class);
    let mut begun = BEGUN.lock();
    let last = begun.iter().rposition(|b| *b == this).expect("just added");
    begun.remove(last);
    drop(begun);
    let made = made?;
    Ok(Some(
        LAYOUTS
            .lock()
            .get_or_insert_default()
            .entry(key)
            .or_insert_with(|| Box::leak(Box::new(made))),
    ))
}

/// Packing and least size of a class, from its ClassLayout row (ECMA-335 II.22.8).
fn class_layout(class: ClassRef) -> (u32, u32) {
    let ClassKind::Def { rid, .. } = class.def().kind else {
        return (0, 0);
    };
    let image = &class.def().module.image;
    let row = image
        .class_layout_of(rid)
        .and_then(|row| image.class_layout(row).ok());
    row.map_or((0, 0), |row| (u32::from(row.packing_size), row.class_size))
}

/// The native form of a field, by its MarshalAs and the CharSet of its class.
fn field_kind(field: FieldRef, char_set: CharSet) -> Result<FieldKind, LoadError> {
    let class = field.ty()?;
    let spec = marshal_spec(
        &field.class.def().module.image,
        Token::new(Table::Field, field.rid),
    );
    match spec.native {
        nt::BY_VAL_TSTR if is(class, Known::String) => {
            let encoding = if char_set == CharSet::Unicode {
                Encoding::Utf16
            } else {
                Encoding::Utf8
            };
            return Ok(FieldKind::FixedString {
                units: spec.size_const.unwrap_or(1).max(1),
                encoding,
            });
        }
        nt::BY_VAL_ARRAY if class.is_array() => {
            let count = spec.size_const.unwrap_or(1);
            if let Some(element) = class.element() {
                if is(element, Known::Char) && char_set == CharSet::Ansi {
                    return Ok(FieldKind::FixedText { bytes: count });
                }
                return elements_in_place(element, &spec, char_set, count);
            }
        }
        nt::CUSTOM => {
            let text = "Custom marshalers are for parameters only.".to_owned();
            return Ok(FieldKind::One(Native::Unsupported(text)));
        }
        _ => {}
    }
    if let Some(buffer) = fixed_buffer(field, class, char_set)? {
        return Ok(buffer);
    }
    Native::of(class, &spec, char_set).map(FieldKind::One)
}

/// The native form of an array in place. Elements that do not fit their place are not converted.
fn elements_in_place(
    class: ClassRef,
    spec: &MarshalSpec,
    char_set: CharSet,
    count: u32,
) -> Result<FieldKind, LoadError> {
    let mut element = Native::of_element(class, spec, char_set)?;
    let place = Place::of_elements(class, &element, count)?;
    if place.size != count.saturating_mul(element.size()) {
        element = Native::Opaque {
            size: place.size / count.max(1),
            reason: no_layout(class),
        };
    }
    Ok(FieldKind::FixedArray {
        count,
        element,
        place,
    })
}

/// The field as a `fixed` buffer, if it is one whose elements differ on the native side. Its type is a struct with one element and
/// the size of all.
fn fixed_buffer(
    field: FieldRef,
    class: ClassRef,
    char_set: CharSet,
) -> Result<Option<FieldKind>, LoadError> {
    if !class.is_value_type()? || class_layout(class).1 == 0 {
        return Ok(None);
    }
    let mut own = class.fields()?.iter().filter(|f| !f.is_static());
    let (Some(first), None) = (own.next(), own.next()) else {
        return Ok(None);
    };
    let image = &field.class.def().module.image;
    if !has_attribute(
        image,
        Token::new(Table::Field, field.rid),
        "FixedBufferAttribute",
    ) {
        return Ok(None);
    }
    let element = match first.ty()?.stack_prim()? {
        // One byte each, as in C.
        Some(Prim::Bool) => Scalar::Bool(1),
        Some(prim @ Prim::Char) => Scalar::of(prim, &MarshalSpec::default(), char_set),
        _ => return Ok(None),
    };
    let count = class.layout()?.size / element.managed_kind().size();
    let declared = native_layout(class)?;
    Ok((!element.is_identity()).then_some(FieldKind::FixedBuffer {
        count,
        element,
        declared,
    }))
}

/// The layout of a struct whose native form is that of one of its fields.
fn of_one_field(class: ClassRef, field: FieldRef, kind: Native) -> Result<NativeLayout, LoadError> {
    let mut parts = Vec::new();
    kind.parts(0, &mut parts);
    Ok(NativeLayout {
        class,
        size: kind.size(),
        align: kind.align(),
        blittable: false,
        owns_memory: false,
        unsupported: None,
        sized: true,
        abi: Abi::of_struct(kind.size(), parts.into_iter()),
        fields: vec![NativeField {
            field,
            managed_offset: field.offset()?,
            offset: 0,
            declared_offset: 0,
            kind: FieldKind::One(kind),
        }],
    })
}

/// The layout of a class library's struct whose native form is declared nowhere.
fn special(class: ClassRef) -> Result<Option<NativeLayout>, LoadError> {
    for field in class.fields()?.iter().filter(|f| !f.is_static()) {
        if is(class, Known::DateTime) {
            return of_one_field(class, field, Native::OleDate).map(Some);
        }
        if is(class, Known::HandleRef) && field.ty()?.is_value_type()? {
            return of_one_field(class, field, Native::Scalar(Scalar::POINTER)).map(Some);
        }
    }
    Ok(None)
}

/// The size of the whole: room for the fields, or what is declared, in whole alignments. A declared size that is enough cuts padding off if it `may_stand`: the
/// offsets are explicit, and nothing is said of packing. None: too large.
fn whole_size(declared: u32, end: u32, align: u32, may_stand: bool) -> Option<u32> {
    match stands(declared, end, may_stand) {
        true => Some(declared),
        false => declared.max(end).checked_next_multiple_of(align),
    }
}

/// Is the declared size that of the whole as it is?
fn stands(declared: u32, end: u32, may_stand: bool) -> bool {
    may_stand && declared > 0 && declared >= end
}

/// Does the conversion of an object ask whether its class has a layout? It does for fields of its own, and for inherited ones that are not just copied.
fn needs_layout(class: ClassRef, parent: Option<&NativeLayout>) -> Result<bool, LoadError> {
    let converts = parent.is_some_and(|p| !p.fields.is_empty() && !p.blittable);
    Ok(converts || class.fields()?.iter().any(|f| !f.is_static()))
}

/// What a class declares of its layout.
struct Declared {
    explicit: bool,
    /// The most that a field is aligned to.
    packing: u32,
    /// A declared size need not be a multiple of the alignment.
    may_stand: bool,
    /// The declared size; 0 without one.
    least: u32,
    char_set: CharSet,
}

/// What is declared, as far as mono minds it: not a packing of 16 and more, nor the size of an automatic layout, nor the character set of a generic class.
fn declared(class: ClassRef) -> Declared {
    let (packing, least) = class_layout(class);
    let packing = packing & 0xf;
    let explicit = is_explicit(class);
    Declared {
        explicit,
        packing: match packing {
            0 if explicit => 8,
            0 => u32::MAX,
            packing => packing,
        },
        may_stand: explicit && packing == 0,
        least: if class.flags & 0x18 == 0 { 0 } else { least },
        char_set: match class.is_inst() {
            true => CharSet::Ansi,
            false => class_char_set(class),
        },
    }
}

/// How a value of those fields travels.
fn abi_of(size: u32, fields: &[NativeField]) -> Abi {
    let mut parts = Vec::new();
    if size <= 16 {
        fields
            .iter()
            .for_each(|f| f.kind.parts(f.offset, &mut parts));
    }
    match size {
        // A struct without fields or a size takes no place at all in C.
        1 if fields.is_empty() => Abi::Words(SmallVec::new()),
        _ => Abi::of_struct(size, parts.into_iter()),
    }
}

/// Computes a layout.
fn compute(class: ClassRef) -> Result<NativeLayout, LoadError> {
    if let Some(layout) = special(class)? {
        return Ok(layout);
    }
    let Declared {
        explicit,
        packing,
        may_stand,
        least,
        char_set,
    } = declared(class);
    let mut unsupported = None;
    let mut sized = true;
    let (mut end, mut fields) = (0u32, Vec::new());
    // Mono asks the class's own fields only.
    let mut align = 1u32;
    let mut inherited = 0u32;
    // Of the field before: its offset by declaration and for the conversion, and what that fills of it.
    let mut last: Option<(u32, u32, Option<u32>)> = None;
    let value_type = class.is_value_type()?;
    // Marshal.SizeOf is an int, and what is copied is never longer than what was asked for.
    let too_large = || LoadError::type_load(class, "its native form is too large");
    let fits = |size: Option<u32>| size.filter(|s| *s <= i32::MAX as u32).ok_or_else(too_large);
    let parent = formatted_parent(class)?;
    if let Some(None) = parent {
        unsupported = Some(ENDLESS.to_owned());
    } else if let Some(Some(parent)) = parent {
        // A parent without fields takes a byte only where it is a field.
        let size = if parent.is_empty() { 0 } else { parent.size };
        (end, inherited) = (size, size);
        unsupported = parent.unsupported.clone();
        sized &= parent.sized;
        fields = inherited_fields(parent);
    }
    if class.flags & 0x18 == 0 && (value_type || needs_layout(class, parent.flatten())?) {
        unsupported = unsupported.or_else(|| Some(no_layout(class)));
    }
    for field in class.fields()?.iter().filter(|f| !f.is_static()) {
        let kind = field_kind(field, char_set)?;
        if let FieldKind::One(native)
        | FieldKind::FixedArray {
            element: native, ..
        } = &kind
        {
            unsupported = unsupported.or_else(|| native.unsupported().map(str::to_owned));
            sized &= native.is_sized();
        }
        let field_align = kind.align().min(packing);
        let offset = fits(offset_of(field, explicit, end, field_align))?;
        let field_end = fits(offset.checked_add(kind.size()))?;
        end = if explicit {
            end.max(field_end)
        } else {
            field_end
        };
        align = align.max(field_align);
        let before = last.map_or(offset, |(declared, converted, filled)| match filled {
            Some(filled) => converted + filled,
            None => offset.wrapping_sub(declared).wrapping_add(converted),
        });
        let converted = if explicit { offset } else { before };
        last = Some((offset, converted, kind.filled()));
        fields.push(NativeField {
            field,
            managed_offset: field.offset()?,
            offset: converted,
            declared_offset: offset,
            kind,
        });
    }
    // A declared size is that of the class's own fields.
    let declared = match least {
        0 => 0,
        least => fits(inherited.checked_add(least))?,
    };
    let size = fits(whole_size(declared, end, align, may_stand))?.max(1);
    // As in mono, the class is at any offset of others then.
    if stands(declared, end, may_stand) {
        align = 1;
    }
    let same = |f: &NativeField| match &f.kind {
        FieldKind::One(native) => native.is_blittable() && f.offset == f.managed_offset,
        _ => false,
    };
    let same_size = !value_type || size == class.layout()?.size.max(1);
    let blittable = unsupported.is_none() && fields.iter().all(same) && same_size;
    let owns_memory = fields.iter().any(|f| f.kind.owns_memory());
    let abi = abi_of(size, &fields);
    Ok(NativeLayout {
        class,
        size,
        align,
        fields,
        blittable,
        owns_memory,
        unsupported,
        sized,
        abi,
    })
}

/// The layout of the parent, if the class is an object's and the parent is not Object; as [`finished_layout`] has it.
fn formatted_parent(class: ClassRef) -> Result<Option<Option<&'static NativeLayout>>, LoadError> {
    match class.parent()? {
        Some(parent) if !class.is_value_type()? && parent.parent()?.is_some() => {
            finished_layout(parent).map(Some)
        }
        _ => Ok(None),
    }
}

/// The fields that a class inherits.
fn inherited_fields(parent: &NativeLayout) -> Vec<NativeField> {
    let copy = |f: &NativeField| NativeField {
        field: f.field,
        managed_offset: f.managed_offset,
        offset: f.offset,
        declared_offset: f.declared_offset,
        kind: f.kind.clone(),
    };
    parent.fields.iter().map(copy).collect()
}

/// Where a field lies by declaration, if the fields before it end at `end`. None: too far away.
fn offset_of(field: FieldRef, explicit: bool, end: u32, align: u32) -> Option<u32> {
    match (explicit, align) {
        (true, _) => Some(explicit_offset(field)),
        // That of the class that is being computed.
        (false, 0) => Some(0),
        (false, _) => end.checked_next_multiple_of(align),
    }
}

/// Whether the offsets of its fields are declared.
fn is_explicit(class: ClassRef) -> bool {
    class.flags & 0x18 == 0x10
}

/// The declared offset of a field (ECMA-335 II.22.16).
fn explicit_offset(field: FieldRef) -> u32 {
    let image = &field.class.def().module.image;
    let row = image
        .field_layout_of(field.rid)
        .and_then(|row| image.field_layout(row).ok());
    row.map_or(0, |row| row.offset)
}

/// Whether the class is that known class.
pub fn is(class: ClassRef, known: Known) -> bool {
    class.universe().known_opt(known) == Some(class)
}

/// Whether it is a delegate class, or Delegate or MulticastDelegate itself.
pub fn is_delegate(class: ClassRef) -> Result<bool, LoadError> {
    Ok(class.is_delegate()? || is(class, Known::Delegate) || is(class, Known::MulticastDelegate))
}

/// Whether it is a SafeHandle.
fn is_safe_handle(class: ClassRef) -> Result<bool, LoadError> {
    Ok(class.supers()?.iter().any(|c| is(c, Known::SafeHandle)))
}

/// Whether it is a SafeHandle or CriticalHandle.
pub fn is_handle(class: ClassRef) -> Result<bool, LoadError> {
    Ok(class
        .supers()?
        .iter()
        .any(|c| is(c, Known::SafeHandle) || is(c, Known::CriticalHandle)))
}
