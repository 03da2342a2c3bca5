//! The objects of assemblies.
//!
//! # Invariants
//! An assembly has one object per domain, which its domain keeps; only an assembly from bytes has others
//! ([`another_assembly_object`]). Only objects of the two classes that have the word hold the address of an assembly: RuntimeAssembly and
//! AssemblyBuilder, from which no program can derive. A program may derive from Assembly, and hand such an object to the runtime.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use vervet_types::{Assembly, Known};

/// The RuntimeAssembly object of an assembly (`_mono_assembly` is its address).
pub fn assembly_object<'cx>(cx: &'cx Cx<'cx>, assembly: &'static Assembly) -> Result<ObjRef<'cx>> {
    let key = assembly as *const Assembly as usize;
    cx.cached(ASSEMBLY_KIND, key, 0, || {
        another_assembly_object(cx, assembly)
    })
}
/// Another object of an assembly, which nothing else is given. (Managed code keeps in an assembly's object that it came from bytes.)
pub fn another_assembly_object<'cx>(
    cx: &'cx Cx<'cx>,
    assembly: &'static Assembly,
) -> Result<ObjRef<'cx>> {
    let o = cx.alloc(cx.known(Known::RuntimeAssembly))?;
    o.write(
        std::mem::offset_of!(vervet_abi::layouts::RuntimeAssemblyObject, mono_assembly),
        assembly as *const Assembly as usize,
    );
    Ok(o)
}
/// The assembly behind a RuntimeAssembly object.
pub fn assembly_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<&'static Assembly> {
    let o = cx.non_null(object)?;
    made_of(cx, o).ok_or_else(|| {
        cx.throw(
            Known::NotSupportedException,
            "the assembly is not a loaded one",
        )
    })
}
/// The assembly behind an object; None: the runtime has not made it of one.
pub fn made_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Option<&'static Assembly> {
    use vervet_abi::layouts::{AssemblyBuilderObject, RuntimeAssemblyObject};
    const AT: usize = std::mem::offset_of!(RuntimeAssemblyObject, mono_assembly);
    const {
        assert!(AT == std::mem::offset_of!(AssemblyBuilderObject, mono_assembly));
    }
    let classes = [Known::RuntimeAssembly, Known::AssemblyBuilder];
    let has_word = |known: &Known| std::ptr::eq(object.class(), cx.known(*known));
    if !classes.iter().any(has_word) {
        return None;
    }
    let address: usize = object.read(AT);
    // SAFETY: an object of these classes has the word, in which the runtime stores the address of an assembly, which lives for ever, or which is 0.
    unsafe { (address as *const Assembly).as_ref() }
}
/// Cache kind of assembly objects (see [`Cx::cached`]); other kinds are declared by the reflection icalls.
pub const ASSEMBLY_KIND: u32 = 1;
/// Cache kind of TypeBuilder objects, by module and TypeDef row.
pub const BUILDER_KIND: u32 = 10;
