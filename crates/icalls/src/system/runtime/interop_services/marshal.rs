//! Native half of System.Runtime.InteropServices.Marshal.
//!
//! Keeps nothing. All native memory is malloc's. How structs and delegates cross is the runtime's
//! ([`vervet_runtime::interop::marshal`]) and the compiler's (`native_layout`).
use crate::support::args::Chars;
use crate::support::objects::method_of;
use std::mem::offset_of;
use vervet_abi::layouts::RuntimeMethodInfoObject;
use vervet_jit::stubs::native::layout::{
    Encoding, Native, NativeField, NativeLayout, native_layout,
};
use vervet_jit::stubs::native::marshal_spec::{MarshalSpec, class_char_set};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::interop::com;
use vervet_runtime::interop::marshal::{reverse, strings, structs};
use vervet_runtime::memory::copy;
use vervet_runtime::{ObjRef, icalls};
use vervet_types::names::short_name;
use vervet_types::{ClassRef, Known, MethodRef};

/// malloc's answer, or OutOfMemoryException.
fn allocated(cx: &Cx<'_>, p: *mut libc::c_void) -> Result<*mut u8> {
    if p.is_null() {
        Err(cx.rt().throw_out_of_memory(cx))
    } else {
        Ok(p.cast())
    }
}
/// Native memory of at least 4 bytes; OutOfMemoryException if there is none.
fn allocate(cx: &Cx<'_>, bytes: usize) -> Result<*mut u8> {
    // SAFETY: `malloc` takes a number; `allocated` checks the result.
    allocated(cx, unsafe { libc::malloc(bytes.max(4)) })
}
/// Frees native memory.
fn free(p: *mut u8) {
    // SAFETY: managed code gives up memory that came from malloc here, or null.
    unsafe { libc::free(p.cast()) }
}
/// More than any string has.
const MAX_UNITS: usize = 0x3fff_ffdf;

/// A string of so many units, which are copied before the allocation: the memory need not be aligned.
fn utf16_at<'cx>(cx: &'cx Cx<'cx>, p: *const u16, length: usize) -> Result<ObjRef<'cx>> {
    // SAFETY: unsafe managed code vouches for the units.
    let units: Vec<u16> = (0..length)
        .map(|i| unsafe { p.add(i).read_unaligned() })
        .collect();
    cx.alloc_utf16(&units)
}
/// A string from UTF-8; what is wrong with the bytes if they are not (in mono's words).
fn decode(bytes: &[u8]) -> std::result::Result<&str, &'static str> {
    std::str::from_utf8(bytes).map_err(|e| match e.error_len() {
        None => "Partial byte sequence encountered in the input.",
        Some(_) => "Illegal byte sequence encounted in the input.",
    })
}
/// A range of a vector in bytes: its address and length.
fn range<'cx>(
    cx: &'cx Cx<'cx>,
    array: ObjRef<'cx>,
    pointer: *mut u8,
    start: i32,
    length: i32,
    names: (&str, &str),
) -> Result<(*mut u8, usize)> {
    if array.is_null() {
        return Err(cx.throw_arg_null(names.0));
    }
    if pointer.is_null() {
        return Err(cx.throw_arg_null(names.1));
    }
    let bad = |message, parameter| Err(cx.throw2(Known::ArgumentException, message, parameter));
    if array.vtable().rank != 1 {
        return bad("array is multi-dimensional", "array");
    }
    if start < 0 {
        return bad("Must be >= 0", "startIndex");
    }
    if length < 0 {
        return bad("Must be >= 0", "length");
    }
    if start as usize + length as usize > array.array_len() {
        return bad("start_index + length > array length", "length");
    }
    let size = array.vtable().size as usize;
    // SAFETY: the range was checked.
    Ok((
        unsafe { array.array_data().add(start as usize * size) },
        length as usize * size,
    ))
}
/// The flags of a class with a sequential or explicit layout (ECMA-335 II.23.1.15).
const LAYOUT: u32 = 0x18;

/// The native layout of a type that may be marshalled as a structure, by name of the parameter that gave it.
fn structure(cx: &Cx<'_>, class: ClassRef, parameter: &str) -> Result<&'static NativeLayout> {
    let refused = || {
        let message = format!(
            "Type {} cannot be marshaled as an unmanaged structure.",
            class.name
        );
        cx.throw2(Known::ArgumentException, &message, parameter)
    };
    if class.is_open || class.is_array() || class.flags & LAYOUT == 0 {
        return Err(refused());
    }
    let layout = cx.load(native_layout(class))?;
    if layout.sized {
        Ok(layout)
    } else {
        Err(refused())
    }
}
/// What a type by reference refers to; any other type itself.
fn behind(class: ClassRef) -> ClassRef {
    match class.element() {
        Some(element) if class.is_byref() => element,
        _ => class,
    }
}
/// The class of a Type that managed code passes as the parameter of that name; ArgumentNullException for null.
fn class_argument<'cx>(
    cx: &'cx Cx<'cx>,
    type_object: ObjRef<'cx>,
    parameter: &str,
) -> Result<ClassRef> {
    match type_object.is_null() {
        true => Err(cx.throw_arg_null(parameter)),
        false => cx.class_of(type_object),
    }
}
/// The native layout for a conversion, by name of the parameter. What nobody has given a layout is told from what cannot have one.
fn converted(cx: &Cx<'_>, class: ClassRef, parameter: &str) -> Result<&'static NativeLayout> {
    if class.is_open {
        let text = format!(
            "Could not execute the method because the containing type '{}', is not fully instantiated.",
            class.full_name()
        );
        return Err(cx.throw(Known::InvalidOperationException, &text));
    }
    if class.is_array() || class.is_ptr() || class.is_fn_ptr() || class.flags & LAYOUT != 0 {
        return structure(cx, class, parameter);
    }
    if adds_nothing(cx, class)? {
        return cx.load(native_layout(class));
    }
    let message = format!(
        "Type {} which is passed to unmanaged code must have a StructLayout attribute.",
        short_name(class)
    );
    Err(cx.throw(Known::MarshalDirectiveException, &message))
}
/// Is a class without a declared layout converted as its base class is? It adds no field to it; the base class has a layout, or adds none either.
fn adds_nothing(cx: &Cx<'_>, class: ClassRef) -> Result<bool> {
    if class.is_interface() || class.is_abstract() {
        return Ok(false);
    }
    let mut next = Some(class);
    while let Some(class) = next {
        if class.flags & LAYOUT != 0 {
            return Ok(true);
        }
        if cx.load(class.fields())?.iter().any(|f| !f.is_static()) {
            return Ok(false);
        }
        next = cx.load(class.parent())?;
    }
    Ok(true)
}
/// Finds the native function of a P/Invoke; nothing happens for another method.
fn prelink<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<()> {
    if method.is_pinvoke() {
        vervet_runtime::interop::pinvoke::prelink(cx, method).map(drop)
    } else {
        Ok(())
    }
}

icalls! {
    /// Allocates native memory; OutOfMemoryException if there is none.
    "System.Runtime.InteropServices.Marshal::AllocCoTaskMem" fn alloc_co_task_mem(cx, bytes: i32) -> *mut u8 { allocate(cx, bytes as isize as usize) }
    /// Allocates native memory; OutOfMemoryException if there is none.
    "System.Runtime.InteropServices.Marshal::AllocCoTaskMemSize" fn alloc_co_task_mem_size(cx, bytes: usize) -> *mut u8 { allocate(cx, bytes) }
    /// Allocates native memory; OutOfMemoryException if there is none.
    "System.Runtime.InteropServices.Marshal::AllocHGlobal" fn alloc_h_global(cx, bytes: usize) -> *mut u8 { allocate(cx, bytes) }
    /// Changes the size of native memory, which may move.
    "System.Runtime.InteropServices.Marshal::ReAllocCoTaskMem" fn re_alloc_co_task_mem(cx, p: *mut u8, bytes: i32) -> *mut u8 {
        // SAFETY: managed code passes memory that came from malloc here, or null.
        allocated(cx, unsafe { libc::realloc(p.cast(), (bytes as isize as usize).max(4)) })
    }
    /// Changes the size of native memory, which may move.
    "System.Runtime.InteropServices.Marshal::ReAllocHGlobal" fn re_alloc_h_global(cx, p: *mut u8, bytes: usize) -> *mut u8 {
        // SAFETY: managed code passes memory that came from malloc here, or null.
        allocated(cx, unsafe { libc::realloc(p.cast(), bytes.max(4)) })
    }
    /// Frees native memory; null is allowed.
    "System.Runtime.InteropServices.Marshal::FreeCoTaskMem" fn free_co_task_mem(cx, p: *mut u8) {
        free(p);
        Ok(())
    }
    /// Frees native memory; null is allowed.
    "System.Runtime.InteropServices.Marshal::FreeHGlobal" fn free_h_global(cx, p: *mut u8) {
        free(p);
        Ok(())
    }
    /// Frees a BSTR, whose allocation begins with its length, before the address.
    "System.Runtime.InteropServices.Marshal::FreeBSTR" fn free_bstr(cx, p: *mut u8) {
        if !p.is_null() {
            // SAFETY: the pointer came from `BufferToBSTR` or native code that made a BSTR.
            unsafe { strings::free(p, Encoding::Bstr) };
        }
        Ok(())
    }
    /// Copies units into a new BSTR.
    "System.Runtime.InteropServices.Marshal::BufferToBSTR" fn buffer_to_bstr(cx, chars: Chars<'cx>, length: i32) -> *mut u8 {
        Ok(strings::units_to_native(chars.take(length), Encoding::Bstr))
    }
    /// Copies a text into native memory as NUL-terminated UTF-8. Null for null.
    "System.Runtime.InteropServices.Marshal::StringToHGlobalAnsi" fn string_to_h_global_ansi(cx, chars: Chars<'cx>, length: i32) -> *mut u8 {
        if chars.is_null() {
            return Ok(std::ptr::null_mut());
        }
        let text = crate::mono::safe_string_marshal::utf8(cx, chars.take(length))?;
        Ok(crate::mono::safe_string_marshal::malloc_bytes(text.as_bytes()))
    }
    /// Copies a text into native memory as zero-terminated UTF-16. Null for null.
    "System.Runtime.InteropServices.Marshal::StringToHGlobalUni" fn string_to_h_global_uni(cx, chars: Chars<'cx>, length: i32) -> *mut u8 {
        if chars.is_null() {
            return Ok(std::ptr::null_mut());
        }
        Ok(strings::units_to_native(chars.take(length), Encoding::Utf16))
    }
    /// A string from NUL-terminated UTF-8. Null for null.
    "System.Runtime.InteropServices.Marshal::PtrToStringAnsi(intptr)" fn ptr_to_string_ansi(cx, p: *const u8) -> ObjRef<'cx> {
        if p.is_null() {
            return Ok(ObjRef::NULL);
        }
        // SAFETY: managed code passes a NUL-terminated string.
        match decode(unsafe { std::ffi::CStr::from_ptr(p.cast()) }.to_bytes()) {
            Ok(text) => cx.alloc_str(text),
            Err(e) => Err(cx.throw(Known::ExecutionEngineException, &format!("String conversion error: {e}"))),
        }
    }
    /// A string from so many bytes of UTF-8, or from those before the first NUL.
    "System.Runtime.InteropServices.Marshal::PtrToStringAnsi(intptr,int)" fn ptr_to_string_ansi_len(cx, p: *const u8, length: i32) -> ObjRef<'cx> {
        if p.is_null() {
            return Err(cx.throw_arg_null("ptr"));
        }
        let Ok(length) = usize::try_from(length) else {
            return Err(cx.throw2(Known::ArgumentException, "Illegal byte sequence encounted in the input.", "string"));
        };
        // SAFETY: managed code passes the number of bytes that lie there.
        match decode(unsafe { std::slice::from_raw_parts(p, length) }) {
            Ok(text) => cx.alloc_str(text),
            Err(e) => Err(cx.throw2(Known::ArgumentException, e, "string")),
        }
    }
    /// A string from zero-terminated UTF-16. Null for null.
    "System.Runtime.InteropServices.Marshal::PtrToStringUni(intptr)" fn ptr_to_string_uni(cx, p: *const u16) -> ObjRef<'cx> {
        if p.is_null() {
            return Ok(ObjRef::NULL);
        }
        // SAFETY: managed code passes a zero-terminated string.
        let length = (0..).take_while(|i| unsafe { p.add(*i).read_unaligned() } != 0).count();
        utf16_at(cx, p, length)
    }
    /// A string from so many UTF-16 units.
    "System.Runtime.InteropServices.Marshal::PtrToStringUni(intptr,int)" fn ptr_to_string_uni_len(cx, p: *const u16, length: i32) -> ObjRef<'cx> {
        if p.is_null() {
            return Err(cx.throw_arg_null("ptr"));
        }
        // No string has so many, and nothing is read before that is known.
        match usize::try_from(length) {
            Ok(n) if n <= MAX_UNITS => utf16_at(cx, p, n),
            _ => Err(cx.throw_default(Known::OutOfMemoryException)),
        }
    }
    /// A string from a BSTR, which may contain zeros.
    "System.Runtime.InteropServices.Marshal::PtrToStringBSTR" fn ptr_to_string_bstr(cx, p: *const u8) -> ObjRef<'cx> {
        if p.is_null() {
            return Err(cx.throw_arg_null("ptr"));
        }
        // SAFETY: managed code passes a BSTR.
        unsafe { strings::to_managed(cx, p, Encoding::Bstr) }
    }
    /// The errno that the last P/Invoke with SetLastError left.
    "System.Runtime.InteropServices.Marshal::GetLastWin32Error" fn get_last_win32_error(cx) -> i32 {
        // SAFETY: the context belongs to this thread.
        Ok(unsafe { (*cx.context()).last_error })
    }
    /// Sets what `GetLastWin32Error` returns on this thread.
    "System.Runtime.InteropServices.Marshal::SetLastWin32Error" fn set_last_win32_error(cx, error: i32) {
        // SAFETY: the context belongs to this thread.
        unsafe { (*cx.context()).last_error = error };
        Ok(())
    }
    /// Copies a range of array elements to native memory. The range is checked against the array.
    "System.Runtime.InteropServices.Marshal::copy_to_unmanaged_fixed" fn copy_to_unmanaged(cx, source: ObjRef<'cx>, start: i32, destination: *mut u8, length: i32, fixed: *mut u8) {
        let (from, bytes) = range(cx, source, destination, start, length, ("source", "native"))?;
        let from = if fixed.is_null() { from } else { fixed };
        // SAFETY: the array's range was checked; unsafe managed code vouches for the native one.
        unsafe { copy::move_bytes(cx, destination, from, bytes, false) };
        Ok(())
    }
    /// Copies native memory over a range of array elements. The range is checked against the array.
    "System.Runtime.InteropServices.Marshal::copy_from_unmanaged_fixed" fn copy_from_unmanaged(cx, source: *mut u8, start: i32, destination: ObjRef<'cx>, length: i32, fixed: *mut u8) {
        let (to, bytes) = range(cx, destination, source, start, length, ("destination", "native"))?;
        let to = if fixed.is_null() { to } else { fixed };
        // SAFETY: `range` checked the range against the array; unsafe managed code vouches for the native memory.
        unsafe { copy::move_bytes(cx, to, source, bytes, false) };
        Ok(())
    }
    /// The address of an element. The caller has pinned the array.
    "System.Runtime.InteropServices.Marshal::UnsafeAddrOfPinnedArrayElement" fn unsafe_addr_of_pinned_array_element(cx, array: ObjRef<'cx>, index: i32) -> *mut u8 {
        let array = cx.non_null(array)?;
        // The contract: no checks.
        Ok(array.array_data().wrapping_offset(index as isize * array.vtable().size as isize))
    }
    /// A delegate that calls a native function; the same delegate if the function is a delegate's thunk.
    "System.Runtime.InteropServices.Marshal::GetDelegateForFunctionPointerInternal" fn get_delegate_for_function_pointer(cx, p: usize, delegate_type: ObjRef<'cx>) -> ObjRef<'cx> {
        reverse::delegate_asked_for(cx, p, cx.class_of(delegate_type)?)
    }
    /// The native entry of a delegate, valid while the delegate lives.
    "System.Runtime.InteropServices.Marshal::GetFunctionPointerForDelegateInternal" fn get_function_pointer_for_delegate(cx, delegate: ObjRef<'cx>) -> usize {
        reverse::function_pointer(cx, delegate)
    }
    /// Finds the native function now.
    "System.Runtime.InteropServices.Marshal::Prelink" fn prelink_icall(cx, method: ObjRef<'cx>) {
        let handle = cx.non_null(method)?.read::<usize>(offset_of!(RuntimeMethodInfoObject, mhandle));
        // SAFETY: method handles are addresses of methods, which live for ever.
        prelink(cx, unsafe { &*(handle as *const vervet_types::Method) })
    }
    /// Finds the native functions of all P/Invokes of a class now.
    "System.Runtime.InteropServices.Marshal::PrelinkAll" fn prelink_all(cx, class: ObjRef<'cx>) {
        let class = cx.class_of(class)?;
        for m in cx.load(class.methods())? {
            prelink(cx, m)?;
        }
        Ok(())
    }

    /// The native size of a type in bytes.
    "System.Runtime.InteropServices.Marshal::SizeOf" fn size_of(cx, class: ObjRef<'cx>) -> i32 {
        let given = class_argument(cx, class, "type")?;
        let class = behind(given);
        if class.is_ptr() || class.is_fn_ptr() {
            return Ok(8);
        }
        let layout = structure(cx, class, "t")?;
        if given.is_byref() {
            return Ok(8);
        }
        // Of what is a handle or a code address in native memory, it is the size of that.
        match cx.load(Native::of(class, &MarshalSpec::default(), class_char_set(class)))? {
            Native::Struct(_) | Native::Embedded(_) => Ok(layout.size as i32),
            native => Ok(native.size() as i32),
        }
    }
    /// The native offset of a field in bytes.
    "System.Runtime.InteropServices.Marshal::OffsetOf" fn offset_of_icall(cx, class: ObjRef<'cx>, name: ObjRef<'cx>) -> isize {
        if class.is_null() {
            return Err(cx.throw_arg_null("t"));
        }
        if name.is_null() {
            return Err(cx.throw_arg_null("fieldName"));
        }
        let (class, name) = (cx.class_of(class)?, name.text());
        let class = behind(class);
        // The class's own fields hide inherited ones, whose offsets are those in the class that declares them.
        let mut declaring = Some(class);
        while let Some(class) = declaring {
            // A field's type may be unknown (a type parameter); that matters only for a field that is there.
            if !cx.load(class.fields())?.iter().any(|f| !f.is_static() && f.name == name) {
                declaring = cx.load(class.parent())?;
                continue;
            }
            let layout = cx.load(native_layout(class))?;
            let is_it = |f: &&NativeField| f.field.class == class && f.field.name == name;
            if let Some(f) = layout.fields.iter().find(is_it) {
                return Ok(f.declared_offset as isize);
            }
            declaring = cx.load(class.parent())?;
        }
        let message = format!("Field passed in is not a marshaled member of the type {}", class.name);
        Err(cx.throw2(Known::ArgumentException, &message, "fieldName"))
    }
    /// Converts an object to its native form. With `delete_old`, what the old native form owns is freed first.
    "System.Runtime.InteropServices.Marshal::StructureToPtr" fn structure_to_ptr(cx, object: ObjRef<'cx>, p: *mut u8, delete_old: bool) {
        if object.is_null() {
            return Err(cx.throw_arg_null("structure"));
        }
        if p.is_null() {
            return Err(cx.throw_arg_null("ptr"));
        }
        // Enums are their numbers.
        let class = cx.load(object.class().enum_underlying())?;
        let layout = converted(cx, class.unwrap_or(object.class()), "structure")?;
        // SAFETY: managed code passes memory of the structure's native size; the old contents are its own.
        unsafe {
            if delete_old {
                structs::destroy(layout, p);
            }
            structs::to_native(cx, layout, object.value_ptr(), p)
        }
    }
    /// Converts a native form into an existing object of a class.
    "System.Runtime.InteropServices.Marshal::PtrToStructure(intptr,object)" fn ptr_to_object(cx, p: *const u8, object: ObjRef<'cx>) {
        if p.is_null() {
            return Err(cx.throw_arg_null("src"));
        }
        if object.is_null() {
            return Err(cx.throw_arg_null("dst"));
        }
        // Enums are their numbers.
        let class = cx.load(object.class().enum_underlying())?.unwrap_or(object.class());
        // As mono does it, numbers and instances of generic structs are set in their boxes.
        if cx.load(class.is_value_type())? && class.prim.is_none() && !class.is_inst() {
            return Err(cx.throw2(Known::ArgumentException, "Destination is a boxed value type.", "dst"));
        }
        let layout = converted(cx, class, "structure")?;
        // SAFETY: managed code passes a native structure of that type.
        unsafe { structs::to_managed(cx, layout, p, object.value_ptr()) }
    }
    /// Converts a native form into a new object. Null for null.
    "System.Runtime.InteropServices.Marshal::PtrToStructure(intptr,System.Type)" fn ptr_to_structure(cx, p: *const u8, class: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = behind(class_argument(cx, class, "type")?);
        if p.is_null() {
            return Ok(ObjRef::NULL);
        }
        // Enums are their numbers.
        let layout = match cx.load(class.enum_underlying())? {
            Some(underlying) => converted(cx, underlying, "structureType")?,
            None => converted(cx, class, "structureType")?,
        };
        cx.run_class_init(class)?;
        let object = cx.alloc(class)?;
        // SAFETY: managed code passes a native structure of that type.
        unsafe { structs::to_managed(cx, layout, p, object.value_ptr())? };
        Ok(object)
    }
    /// Frees what the structure's native form points to.
    "System.Runtime.InteropServices.Marshal::DestroyStructure" fn destroy_structure(cx, p: *mut u8, class: ObjRef<'cx>) {
        if p.is_null() {
            return Err(cx.throw_arg_null("ptr"));
        }
        let class = behind(class_argument(cx, class, "structureType")?);
        if class.flags & LAYOUT == 0 {
            // It has no native form, so there is nothing to free.
            return Ok(());
        }
        let layout = structure(cx, class, "structureType")?;
        // SAFETY: managed code passes a native structure of that type.
        unsafe { structs::destroy(layout, p) };
        Ok(())
    }
}

icalls! {
    /// IUnknown of an object, without a reference more.
    "System.Runtime.InteropServices.Marshal::GetIUnknownForObjectInternal" fn get_iunknown(cx, object: ObjRef<'cx>) -> usize {
        com::crossing::to_keep(cx, object, com::Interface::Unknown)
    }
    /// IDispatch of an object, without a reference more.
    "System.Runtime.InteropServices.Marshal::GetIDispatchForObjectInternal" fn get_idispatch(cx, object: ObjRef<'cx>) -> usize {
        com::crossing::to_keep(cx, object, com::Interface::Dispatch)
    }
    /// An interface of an object, without a reference more. As in mono the object need not have it.
    "System.Runtime.InteropServices.Marshal::GetCCW" fn get_ccw(cx, object: ObjRef<'cx>, ty: ObjRef<'cx>) -> usize {
        let class = class_argument(cx, ty, "T")?;
        com::crossing::to_keep(cx, object, com::Interface::Of(class))
    }
    /// The object that an interface belongs to; null if it is native code's.
    "System.Runtime.InteropServices.Marshal::GetObjectForCCW" fn get_object_for_ccw(cx, interface: usize) -> ObjRef<'cx> {
        Ok(com::object_of(interface).unwrap_or(ObjRef::NULL))
    }
    /// Calls AddRef.
    "System.Runtime.InteropServices.Marshal::AddRefInternal" fn add_ref(cx, interface: usize) -> i32 {
        Ok(com::crossing::add_reference(cx, interface))
    }
    /// Calls Release.
    "System.Runtime.InteropServices.Marshal::ReleaseInternal" fn release(cx, interface: usize) -> i32 {
        Ok(com::crossing::release(cx, interface))
    }
    /// Calls QueryInterface.
    "System.Runtime.InteropServices.Marshal::QueryInterfaceInternal" fn query_interface(cx, interface: usize, guid: *const u8, out: *mut usize) -> i32 {
        // SAFETY: a Guid has 16 bytes.
        let guid = unsafe { guid.cast::<com::Guid>().read_unaligned() };
        let (result, found) = com::crossing::query_any(cx, interface, &guid);
        // SAFETY: managed code passes the address of a word.
        unsafe { out.write(found) };
        Ok(result)
    }
    /// The number of an interface's method in its table of functions.
    "System.Runtime.InteropServices.Marshal::GetComSlotForMethodInfoInternal" fn get_com_slot(cx, method: ObjRef<'cx>) -> i32 {
        Ok(com::slot_of(cx, method_of(cx, method)?)? as i32)
    }
}

icalls! {
    /// Is it a proxy of an object of native code?
    "System.Runtime.InteropServices.Marshal::IsComObject" fn is_com_object(cx, o: ObjRef<'cx>) -> bool {
        Ok(com::rcw::behind(o).is_some())
    }
    /// Gives back one reference of the proxy; how many it has left.
    "System.Runtime.InteropServices.Marshal::ReleaseComObjectInternal" fn release_com_object(cx, o: ObjRef<'cx>) -> i32 {
        com::rcw::release_one(cx, cx.non_null(o)?)
    }
}
