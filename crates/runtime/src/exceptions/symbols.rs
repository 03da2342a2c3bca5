//! Symbol files of modules: where in its source an instruction is, under `--debug`.
//!
//! # How it works
//! Symbols are looked for once per module: `X.pdb`, within the image, then `X.dll.mdb`. A file that belongs to another build of the module is
//! named on the output and not used. A module that came as bytes has those that came with it.
//!
//! The code of a method with symbols says in stack traces at which of their points it was, as under mono; other code says the statement. So
//! [`points`] is asked when a method is compiled, too.
//!
//! # Invariants
//! * The answer for a module does not change once it has been given; a module without symbols is remembered, too.
use crate::runtime::rt;
use rustc_hash::FxHashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use vervet_metadata::{SourceLine, SymbolFile};
use vervet_os::LeafLock;
use vervet_types::{MethodRef, Module, ModuleRef};

/// By module id; None for modules without symbols.
static SYMBOLS: LeafLock<Option<FxHashMap<u32, Option<&'static SymbolFile<'static>>>>> =
    LeafLock::new(None);

fn leak(file: SymbolFile<'static>) -> &'static SymbolFile<'static> {
    Box::leak(Box::new(file))
}

/// Keeps the symbols that came with an image loaded from memory.
pub fn remember(module: ModuleRef, data: &[u8]) {
    let data: &'static [u8] = Box::leak(data.into());
    if let Ok(file) = SymbolFile::parse(data)
        && belongs(module, &file)
    {
        let mut all = SYMBOLS.lock();
        all.get_or_insert_default()
            .insert(module.id, Some(leak(file)));
    }
}

/// The symbols of a module. None also without `--debug`.
pub fn of(module: ModuleRef) -> Option<&'static SymbolFile<'static>> {
    if !rt().options.debug {
        return None;
    }
    if let Some(known) = SYMBOLS.lock().get_or_insert_default().get(&module.id) {
        return *known;
    }
    let found = crate::threads::native(|| find(module)).map(leak);
    *SYMBOLS
        .lock()
        .get_or_insert_default()
        .entry(module.id)
        .or_insert(found)
}

/// Where in the source an instruction is, if that is known.
pub fn source_line(method: MethodRef, il_offset: u32) -> Option<SourceLine> {
    if method.rid == 0 {
        return None;
    }
    let symbols = of(method.module())?;
    let mut line = symbols.lookup(method.definition().token(), il_offset)?;
    if matches!(symbols, SymbolFile::Mdb(_)) {
        // As in mono, which reads no columns there.
        line.col = 0;
    }
    Some(line)
}

/// The IL offsets of a method at which a line of source begins, sorted, if that is known.
pub fn points(method: MethodRef) -> Option<Vec<u32>> {
    if method.rid == 0 {
        return None;
    }
    of(method.module())?.points(method.definition().token())
}

fn find(module: ModuleRef) -> Option<SymbolFile<'static>> {
    let path = module.path.as_deref();
    let pdb = path.and_then(|p| beside(module, p, &Path::new(p).with_extension("pdb")));
    pdb.or_else(|| embedded(module)).or_else(|| {
        let path = path?;
        beside(module, path, &PathBuf::from(format!("{path}.mdb")))
    })
}

/// The symbols within an image.
fn embedded(module: ModuleRef) -> Option<SymbolFile<'static>> {
    let embedded = module.image.embedded_pdb()?;
    let mut data = Vec::new();
    let size = u64::from(embedded.size);
    let mut stream = flate2::read::DeflateDecoder::new(embedded.compressed).take(size);
    stream.read_to_end(&mut data).ok()?;
    SymbolFile::parse(data.leak()).ok()
}

/// The symbol file beside a module's file.
fn beside(module: &Module, path: &str, file: &Path) -> Option<SymbolFile<'static>> {
    let data = vervet_os::memory::map_file(file).ok()?;
    let symbols = SymbolFile::parse(data).ok()?;
    if !belongs(module, &symbols) {
        // As mono does, and where it does.
        println!("Symbol file {} doesn't match image {path}", file.display());
        return None;
    }
    Some(symbols)
}

/// Was the symbol file made with the module?
fn belongs(module: &Module, symbols: &SymbolFile<'_>) -> bool {
    match symbols {
        SymbolFile::Mdb(mdb) => module.image.mvid().is_ok_and(|mvid| mvid == mdb.guid()),
        SymbolFile::PortablePdb(pdb) => module.image.code_view_guid() == Some(pdb.guid()),
    }
}
