//! Manifest resources: the second table of `System.Reflection.RuntimeAssembly`.
//!
//! # Invariants
//! A resource's bytes are handed out as a pointer into the mapped image, which is never unmapped.
use crate::support::objects::{self, Fill, assembly_of_object, load, module_object};
use crate::system::reflection::method_body::bad_image;
use vervet_metadata::resources::{Resource, ResourceLocation};
use vervet_metadata::{Table, Token};
use vervet_runtime::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{Assembly, Known, LoadError, ModuleRef};

/// The manifest resource of a name.
fn find<'cx>(cx: &'cx Cx<'cx>, module: ModuleRef, name: &str) -> Result<Option<Resource<'static>>> {
    for r in module.image.resources() {
        let r = r.map_err(|e| bad_image(cx, e))?;
        if r.name == name {
            return Ok(Some(r));
        }
    }
    Ok(None)
}

/// A resource in the file of another module of the assembly. None: the file is no module, but the resource itself, which managed code opens.
fn in_module(
    manifest: ModuleRef,
    file: Token,
    name: &str,
) -> std::result::Result<Option<(ModuleRef, &'static [u8])>, LoadError> {
    let image = &manifest.image;
    let row = image.file(file.rid())?;
    if row.flags & NO_METADATA != 0 {
        return Ok(None);
    }
    let module = manifest.file(image.string(row.name)?)?;
    for rid in 1..=image.row_count(Table::ManifestResource) {
        let row = image.manifest_resource(rid)?;
        if row.implementation == file && image.string(row.name)? == name {
            return Ok(Some((module, module.image.resource(row.offset)?)));
        }
    }
    Ok(None)
}

/// The flag of a File row that is no module.
const NO_METADATA: u32 = 1;
const EMBEDDED: i32 = 1;
const IN_ANOTHER_ASSEMBLY: i32 = 2;
const IN_MANIFEST_FILE: i32 = 4;

/// Fills a ManifestResourceInfo; false if the assembly has no such resource.
fn fill_info<'cx>(
    cx: &'cx Cx<'cx>,
    assembly: &'static Assembly,
    name: &str,
    info: ObjRef<'cx>,
    depth: u32,
) -> Result<bool> {
    let module = assembly.manifest;
    let Some(resource) = find(cx, module, name)? else {
        return Ok(false);
    };
    let location_field = "<ResourceLocation>k__BackingField";
    match resource.location {
        ResourceLocation::Embedded(_) => {
            Fill::of(cx, info).put(location_field, EMBEDDED | IN_MANIFEST_FILE)?;
        }
        ResourceLocation::File(token) => {
            let row = module
                .image
                .file(token.rid())
                .map_err(|e| bad_image(cx, e))?;
            let file = module
                .image
                .string(row.name)
                .map_err(|e| bad_image(cx, e))?;
            let file = cx.alloc_str(file)?;
            let location = if row.flags & NO_METADATA != 0 {
                0
            } else {
                EMBEDDED
            };
            Fill::of(cx, info)
                .set("<FileName>k__BackingField", file)?
                .put(location_field, location)?;
        }
        ResourceLocation::Assembly(token) => {
            let other = load(cx, || module.referenced_assembly(token.rid()))?;
            if depth == 0 {
                return Ok(false);
            }
            // What the other assembly says, marked as being there.
            fill_info(cx, other, name, info, depth - 1)?;
            let object = objects::assembly_object(cx, other)?;
            let at = objects::heap_offset(cx, info.class(), location_field)?;
            let location: i32 = info.read(at);
            Fill::of(cx, info)
                .set("<ReferencedAssembly>k__BackingField", object)?
                .put(location_field, location | IN_ANOTHER_ASSEMBLY)?;
        }
    }
    Ok(true)
}

icalls! {
    /// Where a resource is.
    "System.Reflection.RuntimeAssembly::GetManifestResourceInfoInternal" fn get_manifest_resource_info(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, info: ObjRef<'cx>) -> bool {
        let assembly = assembly_of_object(cx, this)?;
        let name = cx.non_null(name)?.text();
        fill_info(cx, assembly, &name, cx.non_null(info)?, 4)
    }
    /// The names of all resources.
    "System.Reflection.RuntimeAssembly::GetManifestResourceNames" fn get_manifest_resource_names(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let image = &assembly_of_object(cx, this)?.manifest.image;
        let names: std::result::Result<Vec<&str>, _> = image.resources().map(|r| r.map(|r| r.name)).collect();
        let names = names.map_err(|e| cx.throw_load(LoadError::from(e)))?;
        cx.alloc_ref_array(cx.known(Known::String), names.len(), |i| cx.alloc_str(names[i]))
    }
    /// The bytes of a resource in this file; 0 if there is none.
    "System.Reflection.RuntimeAssembly::GetManifestResourceInternal" fn get_manifest_resource(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, size: *mut i32, module: RefSlot<'cx>) -> usize {
        let manifest = assembly_of_object(cx, this)?.manifest;
        let name = cx.non_null(name)?.text();
        match find(cx, manifest, &name)? {
            Some(Resource { location: ResourceLocation::Embedded(bytes), .. }) => {
                // SAFETY: managed code passes the address of an int.
                unsafe { size.write(bytes.len() as i32) };
                module.set(module_object(cx, manifest)?);
                Ok(bytes.as_ptr() as usize)
            }
            Some(Resource { location: ResourceLocation::File(token), .. }) => {
                let Some((file, bytes)) = load(cx, || in_module(manifest, token, &name))? else {
                    return Ok(0);
                };
                // SAFETY: as above.
                unsafe { size.write(bytes.len() as i32) };
                module.set(module_object(cx, file)?);
                Ok(bytes.as_ptr() as usize)
            }
            _ => Ok(0),
        }
    }
}
