//! The objects of assemblies.
//!
//! # Invariants
//! An assembly has one object per domain, which its domain keeps; only an assembly from bytes has others
//! ([`another_assembly_object`]).
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
    let p: usize = o.read(std::mem::offset_of!(
        vervet_abi::layouts::RuntimeAssemblyObject,
        mono_assembly
    ));
    if p == 0 {
        return Err(cx.throw(
            Known::NotSupportedException,
            "the assembly is not a loaded one",
        ));
    }
    // SAFETY: the word was stored by `assembly_object`.
    Ok(unsafe { &*(p as *const Assembly) })
}
/// Cache kind of assembly objects (see [`Cx::cached`]); other kinds are declared by the reflection icalls.
pub const ASSEMBLY_KIND: u32 = 1;
/// Cache kind of TypeBuilder objects, by module and TypeDef row.
pub const BUILDER_KIND: u32 = 10;
