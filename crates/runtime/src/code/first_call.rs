//! The first call of a method: its code is made, and the classes that the code lists are initialised, before the call goes on.
//!
//! # Invariants
//! * The classes in a blob's list ([`vervet_jit::Blob::initialise`]) are initialised by the time the method's slot has its code, unless waiting for one would be
//!   a deadlock, or the calling thread is initialising it: no call goes to the code before. Threads that call the method meanwhile wait.
//! * If one of them cannot be initialised, the call throws, and the next call tries again, with the same code.
//! * No lock is held while a class is initialised.
use crate::classes::initialize;
use crate::code::compiling::{self, Patience};
use crate::code::entries::{self, Entry};
use crate::code::hot;
use crate::code::prestub::{Made, make_code};
use crate::cx::{Cx, Result};
use crate::exceptions::wrappers;
use rustc_hash::FxHashMap;
use vervet_abi::ThreadContext;
use vervet_os::LeafLock;

/// From the prestub thunk, at the first call or when the code has counted enough calls: the method's code, or 0 with an exception pending.
#[unsafe(export_name = "vervet_compile_for_call")]
pub extern "C" fn compile_for_call(_ctx: *mut ThreadContext, id: u32) -> usize {
    let cx = Cx::current();
    let entry = entries::by_id(id);
    if let Some(code) = hot::called_often(&cx, entry) {
        return code;
    }
    code_for(&cx, entry, true).map_or(0, behind_count)
}

/// Where a call goes on that the prestub has served. It is not counted again: a count that is used up would bring it back here.
fn behind_count(code: usize) -> usize {
    // SAFETY: a method's code is aligned to 16 bytes in mapped memory that stays readable; the pages it lies in are whole.
    let start = unsafe { &*(code as *const [u8; 16]) };
    code + vervet_jit::blob::behind_count(start)
}

/// The code of an entry's method in the entry's domain, compiled and linked if it is not.
pub fn code_of<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry) -> Result<usize> {
    code_for(cx, entry, false)
}

/// As [`code_of`]; has generated code called the method?
fn code_for<'cx>(cx: &'cx Cx<'cx>, entry: &'static Entry, is_called: bool) -> Result<usize> {
    let made = loop {
        let have = entry.code();
        if have != 0 {
            return Ok(have);
        }
        if let Some(made) = waiting(entry) {
            break made;
        }
        let Some(_compiling) = compiling::begin(cx, entry, Patience::Limited) else {
            continue;
        };
        // (Another thread may have ended its compile since the looks above.)
        if entry.code() != 0 || waiting(entry).is_some() {
            continue;
        }
        let made = make_code(cx, entry.domain, entry.method)?;
        if made.initialise.is_empty() {
            return Ok(entry.compiled(made.code));
        }
        break wait(entry, made);
    };
    for class in made.initialise.iter() {
        let vtable = cx.load(entry.domain.vtable(class))?;
        initialize::ensure(cx, vtable).map_err(|throw| {
            match is_called && *class == entry.method.class {
                true => wrappers::class_init_of_call(cx, throw, entry.method),
                false => throw,
            }
        })?;
    }
    let code = entry.compiled(made.code);
    if let Some(all) = WAITING.lock().as_mut() {
        all.remove(&entry.id());
    }
    Ok(code)
}

/// By id of the entry: code whose classes are being initialised, or could not be.
static WAITING: LeafLock<Option<FxHashMap<u32, Made>>> = LeafLock::new(None);

fn waiting(entry: &Entry) -> Option<Made> {
    WAITING.lock().as_ref()?.get(&entry.id()).cloned()
}

/// Keeps the code until its classes are initialised. What another thread has made first stands.
fn wait(entry: &Entry, made: Made) -> Made {
    let mut all = WAITING.lock();
    let kept = all.get_or_insert_default().entry(entry.id());
    kept.or_insert(made).clone()
}
