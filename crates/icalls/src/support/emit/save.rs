//! The files of modules that a program has defined: `AssemblyBuilder.Save`.
//!
//! # How it works
//! Managed code saves one module after the other, the one with the manifest last:
//! ```text
//! build_metadata   what only a file has is put together: the rows of the manifest, resources; `vervet_metadata::write` makes the bytes,
//!                  and the builders of methods learn the row numbers in the file, by which debug information names them
//! WriteToFile      the bytes go to the file
//! ```
//! The image that grows gets none of the rows of a manifest: it goes on as it was, and can be saved again.
//!
//! # Invariants
//! * A module is written as it is when it is asked for. All types have been created by then, or managed code has thrown.
//! * Bytes wait for their file by module; a further `build_metadata` replaces them.
use crate::support::emit::create::methods;
use crate::support::emit::encoder::{Encoder, coded, encode, module_of, non_null};
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::handles::{created_method, is_one_of};
use crate::support::emit::types::{self, TypeKind};
use crate::support::emit::{attributes, modules, read};
use crate::support::objects::is_known;
use rustc_hash::FxHashMap;
use std::io::Write;
use std::mem::{ManuallyDrop, offset_of};
use std::os::fd::{FromRawFd, RawFd};
use std::path::Path;
use vervet_abi::layouts::*;
use vervet_metadata::write::{Options, Win32Resource, Written, write};
use vervet_metadata::{Coded, Growing, Table, Token};
use vervet_os::LeafLock;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, Known, ModuleRef};

/// The bytes of files that have not been written, by module.
static WAITING: LeafLock<FxHashMap<u32, Vec<u8>>> =
    LeafLock::new(FxHashMap::with_hasher(rustc_hash::FxBuildHasher));

/// PEFileKinds.
const LIBRARY: i32 = 1;
const WINDOWS: i32 = 3;
/// CLI header: IL only, and for 32-bit processes only, which are bits of PortableExecutableKinds, too.
const IL_ONLY: u32 = 1;
const REQUIRED_32_BIT: u32 = 2;
/// AssemblyHashAlgorithm.
const SHA1: u32 = 0x8004;
/// AssemblyFlags: the assembly has a whole public key.
const PUBLIC_KEY: u32 = 1;
/// FileAttributes: a file without metadata.
const NO_METADATA: u32 = 1;
/// TypeAttributes: the type is somewhere else.
const FORWARDER: u32 = 0x20_0000;

/// What a file has beside the rows of its module.
struct Plan<'cx> {
    encoder: &'cx mut Encoder,
    module: ModuleRef,
    growing: &'static Growing,
    /// The AssemblyBuilder.
    assembly: ObjRef<'cx>,
    rows: Vec<(Table, u32, Vec<u32>)>,
    files: u32,
    exported: u32,
    resources: Vec<u8>,
}

/// Makes the bytes of a ModuleBuilder's file.
pub fn build<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<()> {
    let (module, written) = encode(cx, |e| {
        let module = module_of(builder)?;
        each_type(builder, &mut |ty| e.name(ty).map(|_| ()))?;
        let owner = Token::new(Table::Module, 1);
        add_attributes(
            e,
            module,
            owner,
            builder.read_ref(offset_of!(ModuleBuilderObject, cattrs)),
        )?;
        let written = plan(e, module, builder)?;
        Ok((module, written))
    })?;
    let renumber = |method: ObjRef<'_>| {
        let Ok(made) = created_method(method) else {
            return;
        };
        let new = written.methods.get(made.rid as usize).copied();
        let at = match is_known(method.class(), Known::MethodBuilder) {
            true => offset_of!(MethodBuilderObject, table_idx),
            false => offset_of!(ConstructorBuilderObject, table_idx),
        };
        method.write(at, new.unwrap_or(0));
    };
    let of_types = each_type(builder, &mut |ty| {
        methods(ty).for_each(renumber);
        Ok(())
    });
    of_types.map_err(|e| e.throw(cx))?;
    let global = builder.read_ref(offset_of!(ModuleBuilderObject, global_methods));
    read::elements(global)
        .filter(|m| !m.is_null())
        .for_each(renumber);
    WAITING.lock().insert(module.id, written.bytes);
    Ok(())
}

/// Writes what [`build`] has made to an open file.
pub fn write_to<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>, handle: usize) -> Result<()> {
    let module = module_of(builder).map_err(|e| e.throw(cx))?;
    let Some(bytes) = WAITING.lock().remove(&module.id) else {
        return Err(cx.throw_default(Known::InvalidOperationException));
    };
    // SAFETY: the handle is that of a FileStream which the caller holds open meanwhile; ManuallyDrop leaves closing it to that.
    let mut file = ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(handle as RawFd) });
    vervet_runtime::threads::native(|| file.write_all(&bytes))
        .map_err(|e| cx.throw(Known::IOException, &e.to_string()))
}

/// Visits the TypeBuilders of a module, those within others included.
fn each_type<'cx>(module: ObjRef<'cx>, visit: &mut dyn FnMut(ObjRef<'cx>) -> E<()>) -> E<()> {
    let types = module.read_ref(offset_of!(ModuleBuilderObject, types));
    let count: i32 = module.read(offset_of!(ModuleBuilderObject, num_types));
    let mut left = MAX_TYPES;
    for ty in read::elements(types).take(count.max(0) as usize) {
        each_within(ty, MAX_NESTING, &mut left, visit)?;
    }
    Ok(())
}

/// Types that are deeper, or more, than that are those of a list that a program has made to contain itself; a table has no more rows.
const MAX_NESTING: u32 = 500;
const MAX_TYPES: u32 = 1 << 24;

/// Visits a TypeBuilder and those within it.
fn each_within<'cx>(
    ty: ObjRef<'cx>,
    depth: u32,
    left: &mut u32,
    visit: &mut dyn FnMut(ObjRef<'cx>) -> E<()>,
) -> E<()> {
    if ty.is_null() || depth == 0 || *left == 0 {
        return Ok(());
    }
    *left -= 1;
    visit(ty)?;
    for inner in read::elements(ty.read_ref(offset_of!(TypeBuilderObject, subtypes))) {
        each_within(inner, depth - 1, left, visit)?;
    }
    Ok(())
}

/// Adds rows for the attributes of an array that the image does not have yet.
fn add_attributes(e: &mut Encoder, module: ModuleRef, owner: Token, list: ObjRef<'_>) -> E<()> {
    let have = module.image.custom_attributes_of(owner).len();
    e.forget_later();
    attributes::add(e, module, owner, list, have)?;
    e.put_later()
}

/// Puts together what the file has, and writes it.
fn plan(encoder: &mut Encoder, module: ModuleRef, builder: ObjRef<'_>) -> E<Written> {
    let assembly = non_null(builder.read_ref(offset_of!(ModuleBuilderObject, assemblyb)))?;
    let is_main = builder.read::<u8>(offset_of!(ModuleBuilderObject, is_main)) != 0;
    let growing = module.growing()?;
    let mut plan = Plan {
        encoder,
        module,
        growing,
        assembly,
        rows: Vec::new(),
        files: 0,
        exported: 0,
        resources: Vec::new(),
    };
    let name = builder
        .read_ref(offset_of!(ModuleBuilderObject, name))
        .text();
    let row = module.image.module(1)?;
    let cells = vec![0, growing.add_string(name.as_bytes())?, row.mvid, 0, 0];
    plan.rows.push((Table::Module, 1, cells));
    let own = builder.read_ref(offset_of!(ModuleBuilderObject, resources));
    let mut options = Options {
        library: true,
        flags: IL_ONLY,
        timestamp: std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |d| d.as_secs() as u32),
        without_assembly: !is_main,
        ..Options::default()
    };
    let mut win32 = Vec::new();
    if is_main {
        let kind: i32 = assembly.read(offset_of!(AssemblyBuilderObject, pekind));
        let pe_kind: u32 = assembly.read(offset_of!(AssemblyBuilderObject, pe_kind));
        options.library = kind == LIBRARY;
        options.windows = kind == WINDOWS;
        options.flags |= pe_kind & REQUIRED_32_BIT;
        options.entry_point = entry_point(module, assembly)?;
        options.signature_size = plan.manifest(builder)?;
        win32 = win32_resources(assembly);
    } else {
        plan.embed(own, None)?;
    }
    options.win32 = &win32;
    options.rows = &plan.rows;
    options.resources = &plan.resources;
    Ok(write(&module.image, &options)?)
}

/// The token of the entry point, if it is in this module.
fn entry_point(module: ModuleRef, assembly: ObjRef<'_>) -> E<Token> {
    let entry = assembly.read_ref(offset_of!(AssemblyBuilderObject, entry_point));
    let Some(entry) = entry.non_null() else {
        return Ok(Token::NIL);
    };
    is_one_of(entry, &[Known::MethodBuilder])?;
    let method = created_method(entry)?;
    match method.module() == module {
        true => Ok(method.token()),
        false => Err(EmitError::not_supported("an entry point in another module")),
    }
}

/// The Win32 resources of an AssemblyBuilder.
fn win32_resources(assembly: ObjRef<'_>) -> Vec<Win32Resource> {
    let list = assembly.read_ref(offset_of!(AssemblyBuilderObject, win32_resources));
    let count = list.non_null().map_or(0, ObjRef::array_len);
    let each = |i| {
        let at = read::element_offset::<MonoWin32Resource>(list, i);
        Win32Resource {
            kind: list.read(at + offset_of!(MonoWin32Resource, res_type)),
            id: list.read(at + offset_of!(MonoWin32Resource, res_id)),
            language: list.read(at + offset_of!(MonoWin32Resource, lang_id)),
            data: read::all_bytes(list.read_ref(at + offset_of!(MonoWin32Resource, data))),
        }
    };
    (0..count).map(each).collect()
}

impl Plan<'_> {
    /// Adds a further row; its number, given how many there were.
    fn add(&mut self, table: Table, before: u32, cells: Vec<u32>) -> Token {
        self.rows.push((table, 0, cells));
        Token::new(table, before + 1)
    }
    /// Adds the rows of a manifest. How many bytes the signature takes.
    fn manifest(&mut self, builder: ObjRef<'_>) -> E<u32> {
        let (module, growing, assembly) = (self.module, self.growing, self.assembly);
        let owner = Token::new(Table::Assembly, 1);
        let list = assembly.read_ref(offset_of!(AssemblyBuilderObject, cattrs));
        add_attributes(self.encoder, module, owner, list)?;
        let text = |field| assembly.read_ref(field).text();
        let version = modules::version(&text(offset_of!(AssemblyBuilderObject, version)));
        let key = read::all_bytes(assembly.read_ref(offset_of!(AssemblyBuilderObject, public_key)));
        let mut flags: u32 = assembly.read(offset_of!(AssemblyBuilderObject, flags));
        if !key.is_empty() {
            flags |= PUBLIC_KEY;
        }
        let algorithm: u32 = assembly.read(offset_of!(AssemblyBuilderObject, algid));
        let mut cells = vec![if algorithm == 0 { SHA1 } else { algorithm }];
        cells.extend(version.map(u32::from));
        cells.extend([
            flags,
            growing.add_blob(&key)?,
            growing.add_string(text(offset_of!(AssemblyBuilderObject, name)).as_bytes())?,
            growing.add_string(text(offset_of!(AssemblyBuilderObject, culture)).as_bytes())?,
        ]);
        self.rows.push((Table::Assembly, 1, cells));
        let own = assembly.read_ref(offset_of!(AssemblyBuilderObject, resources));
        self.embed(own, Some(Token::NIL))?;
        let own = builder.read_ref(offset_of!(ModuleBuilderObject, resources));
        self.embed(own, Some(Token::NIL))?;
        let others = assembly.read_ref(offset_of!(AssemblyBuilderObject, modules));
        for other in read::elements(others).filter(|m| !m.is_null() && *m != builder) {
            self.other_module(other)?;
        }
        let forwarders = assembly.read_ref(offset_of!(AssemblyBuilderObject, type_forwarders));
        for ty in read::elements(forwarders).filter(|t| !t.is_null()) {
            if let TypeKind::Class(class) = types::kind(ty)? {
                let scope = self.encoder.scope(module, class.module)?;
                self.export(class.def(), FORWARDER, 0, scope)?;
            }
        }
        // A key of an RSA pair, less its header, is as long as a signature by it.
        Ok(match key.len() {
            0 => 0,
            1..32 => 128,
            len => len as u32 - 32,
        })
    }
    /// Adds the File row of a file of the assembly: its name, or its path, which is taken from the directory of the assembly.
    fn file(&mut self, path: &str, flags: u32) -> E<Token> {
        use sha1::{Digest, Sha1};
        let directory = self
            .assembly
            .read_ref(offset_of!(AssemblyBuilderObject, dir));
        let path = match Path::new(path) {
            path if path.exists() => path.to_owned(),
            path => Path::new(&directory.text()).join(path),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // A file that is not there yet has no hash, and nobody checks it.
        let hash = match std::fs::read(&path) {
            Ok(bytes) => self.growing.add_blob(&Sha1::digest(bytes))?,
            Err(_) => 0,
        };
        let cells = vec![flags, self.growing.add_string(name.as_bytes())?, hash];
        let file = self.add(Table::File, self.files, cells);
        self.files += 1;
        Ok(file)
    }
    /// Adds the file of another module, its public types and its resources.
    fn other_module(&mut self, builder: ObjRef<'_>) -> E<()> {
        let name = builder
            .read_ref(offset_of!(ModuleBuilderObject, fqname))
            .text();
        let is_resource = builder.read::<u8>(offset_of!(ModuleBuilderObject, is_resource)) != 0;
        let file = self.file(&name, if is_resource { NO_METADATA } else { 0 })?;
        let module = module_of(builder)?;
        let count: i32 = builder.read(offset_of!(ModuleBuilderObject, num_types));
        let list = builder.read_ref(offset_of!(ModuleBuilderObject, types));
        for ty in read::elements(list).take(count.max(0) as usize) {
            if ty.is_null()
                || !ty
                    .read_ref(offset_of!(TypeBuilderObject, nesting_type))
                    .is_null()
            {
                continue;
            }
            let rid: u32 = ty.read(offset_of!(TypeBuilderObject, table_idx));
            let class = module.type_def(rid)?;
            let flags: u32 = ty.read(offset_of!(TypeBuilderObject, attrs));
            self.export(class, flags, rid, file)?;
        }
        let own = builder.read_ref(offset_of!(ModuleBuilderObject, resources));
        self.embed(own, Some(file))
    }
    /// Adds an ExportedType row for a type that is public, and for those in it.
    fn export(&mut self, class: ClassRef, flags: u32, hint: u32, place: Token) -> E<()> {
        let visibility = class.flags & 7;
        // Public, NestedPublic.
        if visibility != 1 && visibility != 2 {
            return Ok(());
        }
        let (growing, implementation) = (self.growing, coded(Coded::Implementation, place)?);
        let cells = vec![
            flags,
            hint,
            growing.add_string(class.name.as_bytes())?,
            growing.add_string(class.namespace.as_bytes())?,
            implementation,
        ];
        let exported = self.add(Table::ExportedType, self.exported, cells);
        self.exported += 1;
        for rid in class.module.image.nested_classes_in(class.rid()) {
            let nested = class.module.type_def(rid)?;
            let hint = if hint == 0 { 0 } else { rid };
            let flags = if hint == 0 { 0 } else { nested.flags };
            self.export(nested, flags, hint, exported)?;
        }
        Ok(())
    }
    /// Adds MonoResources. `place` is where those are that have bytes: nil for this file, none if the manifest is another file's, which needs to know
    /// then where in this one they are.
    fn embed(&mut self, list: ObjRef<'_>, place: Option<Token>) -> E<()> {
        let count = list.non_null().map_or(0, ObjRef::array_len);
        for i in 0..count {
            let at = read::element_offset::<MonoResource>(list, i);
            let text = |field: usize| list.read_ref(at + field);
            let name = text(offset_of!(MonoResource, name));
            let linked = text(offset_of!(MonoResource, filename)).non_null();
            let (offset, place) = match (linked, place) {
                (Some(linked), Some(_)) => (0, Some(self.file(&linked.text(), NO_METADATA)?)),
                (None, Some(place)) if !place.is_nil() => (
                    list.read(at + offset_of!(MonoResource, offset)),
                    Some(place),
                ),
                (None, _) => {
                    let data = read::all_bytes(text(offset_of!(MonoResource, data)));
                    let offset = self.resources.len().next_multiple_of(8);
                    self.resources.resize(offset, 0);
                    self.resources.extend((data.len() as u32).to_le_bytes());
                    self.resources.extend(data);
                    list.write(at + offset_of!(MonoResource, offset), offset as u32);
                    (offset as u32, place)
                }
                (Some(_), None) => continue,
            };
            if let Some(place) = place {
                let cells = vec![
                    offset,
                    list.read(at + offset_of!(MonoResource, attrs)),
                    self.growing.add_string(name.text().as_bytes())?,
                    coded(Coded::Implementation, place)?,
                ];
                self.rows.push((Table::ManifestResource, 0, cells));
            }
        }
        Ok(())
    }
}
