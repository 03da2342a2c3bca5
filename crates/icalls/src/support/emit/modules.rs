//! Assemblies and modules that the program defines, and the objects that stand for them.
//!
//! # Invariants
//! * The AssemblyBuilder is the Assembly object of its assembly, the ModuleBuilder the Module object of its module.
//! * `_mono_assembly` and `_impl` hold what they hold in the runtime's own objects: the address of the Assembly and of the Module.
use crate::support::emit::{self, read};
use crate::support::objects::{is_known, key};
use std::mem::offset_of;
use vervet_abi::layouts::{AssemblyBuilderObject, ModuleBuilderObject};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::loader::BUILDER_KIND;
use vervet_runtime::object::ObjRef;
use vervet_types::growing::AssemblyIdentity;
use vervet_types::{Assembly, ClassRef, Known, Module, ModuleRef};

/// AssemblyBuilderAccess.
const SAVE: u32 = 2;
const REFLECTION_ONLY: u32 = 6;

/// `1.2.3.4`, with zeros for what is missing.
pub(super) fn version(text: &str) -> [u16; 4] {
    let mut version = [0; 4];
    for (to, part) in version.iter_mut().zip(text.split('.')) {
        *to = part.parse().unwrap_or(0);
    }
    version
}

/// The name of the file that a module is in, or will be saved as.
pub fn file_name(module: ModuleRef) -> String {
    let key = (key::MODULE, module as *const Module as usize, 0);
    let builder = Cx::current().domain().cached(key);
    match builder.filter(|b| is_known(b.class(), Known::ModuleBuilder)) {
        Some(builder) => builder
            .read_ref(offset_of!(ModuleBuilderObject, fqname))
            .text(),
        None => module.name.to_owned(),
    }
}

/// The TypeBuilder of a class that a program has defined.
pub fn builder_of<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Option<ObjRef<'cx>> {
    class.module.image.grows()?;
    let module = class.module as *const Module as usize;
    cx.domain()
        .cached((BUILDER_KIND, module, class.rid() as usize))
}

/// The token of an AssemblyBuilder's public key, which managed code keeps as the digits of a number. (It sets the key itself when it saves the assembly.)
fn token(builder: ObjRef<'_>) -> Option<[u8; 8]> {
    let digits = read::all_bytes(builder.read_ref(offset_of!(AssemblyBuilderObject, pktoken)));
    let mut token = [0; 8];
    for (byte, pair) in token.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    (digits.len() == 16).then_some(token)
}

/// Makes the assembly of an AssemblyBuilder, unless it has one.
pub fn define_assembly<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<()> {
    emit::check(cx)?;
    let builder = cx.non_null(builder)?;
    let text = |field| builder.read_ref(field).text();
    let access: u32 = builder.read(offset_of!(AssemblyBuilderObject, access));
    let identity = AssemblyIdentity {
        name: text(offset_of!(AssemblyBuilderObject, name)),
        version: version(&text(offset_of!(AssemblyBuilderObject, version))),
        culture: text(offset_of!(AssemblyBuilderObject, culture)),
        public_key: read::all_bytes(
            builder.read_ref(offset_of!(AssemblyBuilderObject, public_key)),
        ),
        public_key_token: token(builder),
        flags: builder.read(offset_of!(AssemblyBuilderObject, flags)),
        owner: cx.domain().id,
        is_save_only: access == SAVE,
        is_reflection_only: access == REFLECTION_ONLY,
    };
    let assembly = cx.load(cx.universe().add_growing_assembly(identity, [0; 16]))?;
    let address = assembly as *const Assembly as usize;
    builder.write(offset_of!(AssemblyBuilderObject, mono_assembly), address);
    cx.cached(key::ASSEMBLY, address, 0, || Ok(builder))?;
    cx.loader().add_defined(assembly);
    cx.tell_loaded()
}

/// Gives a ModuleBuilder its module: the manifest module of its assembly if it is the first, else a further one.
pub fn define_module<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<()> {
    emit::check(cx)?;
    let builder = cx.non_null(builder)?;
    let owner = cx.non_null(builder.read_ref(offset_of!(ModuleBuilderObject, assemblyb)))?;
    let assembly = crate::support::objects::assembly_of_object(cx, owner)?;
    let guid = read::all_bytes(builder.read_ref(offset_of!(ModuleBuilderObject, guid)));
    let mvid = guid.try_into().unwrap_or_default();
    let manifest = assembly.manifest;
    let address = |m: ModuleRef| m as *const Module as usize;
    let first = cx.cached(key::MODULE, address(manifest), 0, || Ok(builder))?;
    let module = if first == builder {
        manifest
    } else {
        let name = builder.read_ref(offset_of!(ModuleBuilderObject, scopename));
        let more = cx
            .universe()
            .add_growing_module(assembly, name.text(), mvid);
        let module = cx.load(more)?;
        cx.cached(key::MODULE, address(module), 0, || Ok(builder))?;
        module
    };
    if first == builder {
        cx.load(module.set_mvid(mvid))?;
    }
    builder.write(offset_of!(ModuleBuilderObject, handle), address(module));
    Ok(())
}
