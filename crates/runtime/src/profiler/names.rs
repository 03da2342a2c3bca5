//! What the writer asks of the runtime: the names of what events mention.
//!
//! # How it works
//! Records of events hold addresses and nothing else, because who pushes one may hold locks, may be stopped, and must be quick. The writer, which has time,
//! asks here what an address stands for when it meets it for the first time, and writes the definition before the event.
//!
//! | in a record | in the file | asked by |
//! |---|---|---|
//! | address of a `Code` | a method with address and size of its code | [`Host::code`] |
//! | a frame: a return address, an instruction, or a stub | the methods of the inline tree, innermost first | [`Host::methods`] |
//! | address of a `Method` | a method that has no code yet | [`Host::method`] |
//! | address of a VTable, a class, a module, an assembly | the same with its name | [`Host::class_of`] and so on |
//! | an address outside the arena of code | the symbol of the library there | [`Host::symbol`] |
//!
//! # Invariants
//! * It is called on the writer's thread, which is not attached. It reads what is published for ever (code, methods, classes, modules) and loads
//!   nothing.
//! * A method's id is its address; that of the stub by which an internal or native method is called, the address plus one. Code that is not the
//!   first of its method (a filter, a wrapper, code of a better tier) has its own address as id.
use crate::classes::vtables;
use crate::code::table::{self, Code, CodeKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;
use vervet_abi::VTable;
use vervet_profiler::host::{Counter, Host, Method};
use vervet_profiler::sample::{FrameKind, FrameWord};
use vervet_types::{Assembly, Class, MethodRef, ModuleRef};

/// See the module.
pub(super) struct Names {
    /// The code that has a method's id.
    first: FxHashMap<u64, u64>,
    /// Code that has its own id.
    codes: FxHashSet<u64>,
}

/// The number that stands for an entity in the file: its address, which nothing else ever has.
fn id_of<T>(it: &'static T) -> u64 {
    std::ptr::from_ref(it) as u64
}

impl Names {
    pub(super) fn new() -> Names {
        Names {
            first: FxHashMap::default(),
            codes: FxHashSet::default(),
        }
    }
    /// The id of code as a frame: that of its method, if it is the method's body.
    fn frame_id(&mut self, code: &'static Code) -> Option<u64> {
        match code.kind {
            CodeKind::Method(m) => Some(id_of(m)),
            CodeKind::Filter(_) | CodeKind::Wrapper(_) | CodeKind::Callback(_) => {
                self.codes.insert(id_of(code));
                Some(id_of(code))
            }
            CodeKind::Stub(_) => None,
        }
    }
}

/// The name of a method, with its parameters.
fn method_name(method: MethodRef) -> String {
    crate::loader::without_loading(|| method.signed_name())
}

/// The name of code: that of the method for its body, and what else it is for other code.
fn code_name(code: &Code) -> String {
    match code.kind {
        CodeKind::Method(m) => method_name(m),
        CodeKind::Filter(m) => format!("(filter) {}", method_name(m)),
        CodeKind::Wrapper(m) | CodeKind::Callback(m) => format!("(wrapper) {}", method_name(m)),
        CodeKind::Stub(name) => format!("(stub) {name}"),
    }
}

/// What the file says of code. Address and size are those of when it was linked, and code stays where it is.
fn described(code: &Code) -> Method {
    Method {
        name: code_name(code),
        code: code.start as u64,
        size: (code.end - code.start) as u64,
    }
}

impl Host for Names {
    fn methods(&mut self, frame: FrameWord, out: &mut Vec<u64>) {
        if frame.kind() == FrameKind::Stub {
            out.push(frame.address() as u64 | 1);
            return;
        }
        let Some(probe) = frame.probe() else { return };
        if let Some(code) = table::find(probe) {
            // The callees that were inlined at this place come first, then the method whose code it is.
            out.extend(code.inlined(probe).map(|(m, _)| id_of(m)));
            out.extend(self.frame_id(code));
        }
    }
    fn method(&mut self, id: u64) -> Method {
        if self.codes.contains(&id) {
            // SAFETY: the address of code, which is never freed.
            return described(unsafe { &*(id as *const Code) });
        }
        let wrapper = if id & 1 != 0 {
            "(wrapper managed-to-native) "
        } else {
            ""
        };
        // SAFETY: an id without that bit is the address of a method, which is never freed.
        let method: MethodRef = unsafe { &*((id & !1) as *const vervet_types::Method) };
        Method {
            name: format!("{wrapper}{}", method_name(method)),
            code: 0,
            size: 0,
        }
    }
    fn code(&mut self, code: u64) -> (u64, Method) {
        // SAFETY: the record has the address of code, which is never freed.
        let code: &'static Code = unsafe { &*(code as *const Code) };
        // The first code of a method has the method's id, so that all events about the method meet. A later one (another tier) has an id of its own: readers
        // expect one range of code for each.
        let id = match code.kind {
            CodeKind::Method(m)
                if *self.first.entry(id_of(m)).or_insert(id_of(code)) == id_of(code) =>
            {
                id_of(m)
            }
            _ => {
                self.codes.insert(id_of(code));
                id_of(code)
            }
        };
        (id, described(code))
    }
    fn class_of(&mut self, vtable: u64) -> (u64, u64) {
        // SAFETY: the address of a VTable; these are never freed.
        let vtable: &'static VTable = unsafe { &*(vtable as *const VTable) };
        (vtable.domain.into(), id_of(vtables::class_of(vtable)))
    }
    fn statics_of(&mut self, vtable: u64) -> Option<(u64, u64)> {
        // SAFETY: the address of a VTable; these are never freed.
        let vtable: &'static VTable = unsafe { &*(vtable as *const VTable) };
        if vtable.statics_refs.is_null() {
            return None;
        }
        // What has statics was laid out before it got a VTable.
        let layout = vtables::class_of(vtable).layout().ok()?;
        let bytes = u64::from(layout.statics_refs_size);
        Some((vtable.statics_refs as u64, bytes))
    }
    fn class(&mut self, class: u64) -> (u64, String) {
        // SAFETY: the address of a class; these are never freed.
        let class: &'static Class = unsafe { &*(class as *const Class) };
        (id_of(class.module), as_mono(&class.full_name()))
    }
    fn image(&mut self, image: u64) -> (String, String) {
        // SAFETY: the address of a module; these are never freed.
        let module: ModuleRef = unsafe { &*(image as *const vervet_types::Module) };
        let name = module
            .path
            .clone()
            .unwrap_or_else(|| module.name.to_owned());
        (name, module.image.mvid().map(guid).unwrap_or_default())
    }
    fn assembly(&mut self, assembly: u64) -> (u64, String) {
        // SAFETY: the address of an assembly; these are never freed.
        let assembly: &'static Assembly = unsafe { &*(assembly as *const Assembly) };
        (id_of(assembly.manifest), assembly.full_name())
    }
    // The dynamic linker's lock may be held by a thread that is stopped for a collection; the writer then waits until it goes on. Nobody waits for the writer
    // meanwhile but threads in Native state.
    fn symbol(&mut self, address: u64) -> Option<(u64, String)> {
        if crate::code::arena::contains(address as usize) {
            return None;
        }
        // SAFETY: a record of this frame; names of symbols live as long as their library, which is asked for here and now.
        unsafe {
            let mut info: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(address as *const libc::c_void, &mut info) == 0 {
                return None;
            }
            let text =
                |p: *const libc::c_char| std::ffi::CStr::from_ptr(p).to_string_lossy().into_owned();
            match info.dli_sname.is_null() {
                false => Some((info.dli_saddr as u64, text(info.dli_sname))),
                // Only the library is known: the address stands for itself.
                true if !info.dli_fname.is_null() => {
                    let file = text(info.dli_fname);
                    let name = file.rsplit('/').next().unwrap_or_default();
                    Some((address, format!("[{name}]")))
                }
                true => None,
            }
        }
    }
    fn max_frames(&self) -> usize {
        super::recording::max_frames() as usize
    }
    fn wait(&self, kind: u8) -> &'static str {
        crate::threads::park::Reason::name_of_kind(kind)
    }
    fn wait_us(&self) -> u32 {
        super::sampling::off_cpu::rate_us()
    }
    fn has_counters(&self) -> bool {
        super::recording::chosen() & vervet_profiler::options::sets::COUNTER != 0
    }
    fn counters(&mut self) -> Vec<Counter> {
        super::counters::all()
    }
}

/// A GUID as text.
fn guid(bytes: [u8; 16]) -> String {
    let mut out = String::with_capacity(36);
    // The first three parts are little-endian numbers.
    for (at, byte) in [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
        .into_iter()
        .enumerate()
    {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        let _ = write!(out, "{:02X}", bytes[byte]);
    }
    out
}

/// The name of a class as mono's recordings have it: ``Dictionary`2+Entry[System.String,System.Int32]`` becomes
/// `Dictionary.Entry<System.String,System.Int32>`.
fn as_mono(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    // What closes the brackets that are open.
    let mut open = Vec::new();
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '+' => out.push('.'),
            '`' => while chars.next_if(char::is_ascii_digit).is_some() {},
            '[' => {
                let array = matches!(chars.peek(), Some(']' | ',' | '*') | None);
                open.push(if array { ']' } else { '>' });
                out.push(if array { '[' } else { '<' });
            }
            ']' => out.push(open.pop().unwrap_or(']')),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes_are_monos() {
        for (ours, monos) in [
            ("System.Int32[]", "System.Int32[]"),
            ("A.B+C", "A.B.C"),
            (
                "D`2+E[System.String,L`1[System.Int32[,]]]",
                "D.E<System.String,L<System.Int32[,]>>",
            ),
            ("L`1[System.Object[]][]", "L<System.Object[]>[]"),
        ] {
            assert_eq!(as_mono(ours), monos);
        }
    }

    #[test]
    fn a_guid_has_its_parts_in_the_usual_order() {
        let bytes = std::array::from_fn(|i| i as u8);
        assert_eq!(guid(bytes), "03020100-0504-0706-0809-0A0B0C0D0E0F");
    }
}
