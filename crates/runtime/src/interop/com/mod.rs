//! Objects that native code calls by COM interfaces. (Those of native code are in [`rcw`], what both have in [`crossing`].)
//!
//! ```text
//! native code --> Face { functions, wrapper } --> Wrapper { count, handles } --> object
//!                        |
//!                        thunk --> reverse stub --> method of the interface (stubs.rs)
//! ```
//! An object has one wrapper, and the wrapper a face for each interface that was asked for. A face is what native code calls an interface pointer: its first word is
//! the address of a table of functions, which all objects share. The first three are QueryInterface, AddRef and Release; where the interface is a dispatch interface the four of
//! IDispatch follow; then the interface's methods.
//!
//! # Invariants
//! * While the count is not 0 a strong handle keeps the object; the weak one always names it.
//! * The class library asks for an interface first and adds a reference to it then. In between the thread that asked is owed a reference, which keeps the object as well.
//! * The handles are the object's domain's. When it is unloaded nothing finds its wrappers any more, before the handles become somebody else's.
//! * Wrappers and faces are never freed. Once the object is gone and the count 0, nothing finds the wrapper: a call by one of its faces ends the process.
pub mod crossing;
pub mod rcw;
mod stubs;

use crate::cx::{Cx, Result};
use crate::memory::handles::{self, HandleKind};
use crate::object::ObjRef;
use crate::threads::monitor::identity_hash;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use vervet_abi::native_call::ReverseCall;
pub use vervet_jit::stubs::native::layout::ComInterface as Interface;
use vervet_jit::stubs::native::marshal_spec::attributes;
use vervet_metadata::{CustomAttrReader, Table, Token};
use vervet_os::LeafLock;
use vervet_types::{ClassRef, Known, MethodRef};

/// The numbers of the functions that all dispatch interfaces have.
mod function {
    pub const QUERY_INTERFACE: i64 = 0;
    pub const ADD_REF: i64 = 1;
    pub const RELEASE: i64 = 2;
    pub const TYPE_INFO_COUNT: i64 = 3;
    pub const IDS_OF_NAMES: i64 = 5;
}
/// How many functions IUnknown has.
const OF_UNKNOWN: u32 = 3;
/// How many IUnknown and IDispatch have.
const OF_DISPATCH: u32 = 7;

/// HRESULTs.
mod result {
    pub const OK: u32 = 0;
    pub const NOT_IMPLEMENTED: u32 = 0x8000_4001;
    pub const NO_INTERFACE: u32 = 0x8000_4002;
    pub const UNKNOWN_NAME: u32 = 0x8002_0006;
    pub const INVALID_ARGUMENT: u32 = 0x8007_0057;
}

/// Differs for different interfaces.
fn key(interface: Interface) -> u64 {
    match interface {
        Interface::Unknown => 0,
        Interface::Dispatch => 1,
        Interface::Of(class) => 2 + u64::from(class.id),
    }
}

/// What native code has an address of.
#[repr(C)]
struct Face {
    functions: *const usize,
    wrapper: &'static Wrapper,
}

/// What keeps an object.
struct Count {
    /// References that native code has.
    references: i32,
    /// Threads, by their contexts, that have asked for an interface and have not added a reference yet.
    owed: SmallVec<[usize; 1]>,
}
impl Count {
    fn keeps(&self) -> bool {
        self.references > 0 || !self.owed.is_empty()
    }
}

/// An object's.
struct Wrapper {
    count: LeafLock<Count>,
    /// The domain whose handles these are.
    domain: u32,
    /// Always names the object.
    weak: u32,
    /// Names the object while the count is not 0.
    strong: u32,
    /// The faces by [`key`].
    faces: LeafLock<Vec<(u64, usize)>>,
}
impl Wrapper {
    fn object<'cx>(&self) -> Option<ObjRef<'cx>> {
        handles::target(self.weak).and_then(ObjRef::non_null)
    }
    fn add_reference(&self, cx: &Cx<'_>) -> i32 {
        let me = cx.context as usize;
        self.change(|count| {
            count.owed.retain(|thread| *thread != me);
            count.references += 1;
        })
    }
    fn release(&self) -> i32 {
        self.change(|count| count.references -= 1)
    }
    /// The thread is about to add a reference.
    fn owe(&self, cx: &Cx<'_>) {
        let me = cx.context as usize;
        self.change(|count| {
            if !count.owed.contains(&me) {
                count.owed.push(me);
            }
        });
    }
    fn change(&self, change: impl FnOnce(&mut Count)) -> i32 {
        let mut count = self.count.lock();
        let before = count.keeps();
        change(&mut count);
        let keeps = count.keeps();
        if before != keeps {
            let object = self.object().filter(|_| keeps);
            handles::set_target(self.strong, object.unwrap_or(ObjRef::NULL));
        }
        count.references
    }
}

#[derive(Default)]
struct Wrappers {
    /// By the identity hash codes of the objects.
    of_objects: FxHashMap<i32, Vec<&'static Wrapper>>,
    /// By the addresses of the faces.
    of_faces: FxHashMap<usize, &'static Wrapper>,
    /// With so many the dead are looked for.
    limit: usize,
}
static WRAPPERS: LeafLock<Option<Wrappers>> = LeafLock::new(None);

/// The fewest wrappers among which the dead are looked for.
const LEAST: usize = 64;

impl Wrappers {
    fn find(&self, hash: i32, object: ObjRef<'_>) -> Option<&'static Wrapper> {
        let with_hash = self.of_objects.get(&hash)?;
        let is_it = |w: &&&'static Wrapper| w.object() == Some(object);
        with_hash.iter().find(is_it).copied()
    }
    /// Forgets the wrappers whose objects are gone.
    fn sweep(&mut self) {
        self.of_faces.retain(|_, w| w.object().is_some());
        for with_hash in self.of_objects.values_mut() {
            with_hash.retain(|w| {
                let lives = w.object().is_some();
                if !lives {
                    handles::free(w.weak);
                    handles::free(w.strong);
                }
                lives
            });
        }
        self.of_objects.retain(|_, with_hash| !with_hash.is_empty());
        self.limit = 2 * self.of_objects.len();
    }
}

/// The wrapper of an object, made if there is none.
fn wrapper_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<&'static Wrapper> {
    let hash = identity_hash(object);
    let known = |w: &mut Option<Wrappers>| w.get_or_insert_default().find(hash, object);
    if let Some(found) = known(&mut WRAPPERS.lock()) {
        return Ok(found);
    }
    let weak = handles::alloc_or_throw(cx, object, HandleKind::Weak)?;
    let strong = handles::alloc_or_throw(cx, ObjRef::NULL, HandleKind::Normal)?;
    let mut wrappers = WRAPPERS.lock();
    if let Some(found) = known(&mut wrappers) {
        handles::free(weak);
        handles::free(strong);
        return Ok(found);
    }
    let made: &'static Wrapper = Box::leak(Box::new(Wrapper {
        count: LeafLock::new(Count {
            references: 0,
            owed: SmallVec::new(),
        }),
        domain: cx.domain().id,
        weak,
        strong,
        faces: LeafLock::new(Vec::new()),
    }));
    let wrappers = wrappers.get_or_insert_default();
    if wrappers.of_objects.len() >= wrappers.limit.max(LEAST) {
        wrappers.sweep();
    }
    wrappers.of_objects.entry(hash).or_default().push(made);
    Ok(made)
}

/// The wrappers of the domain's objects are not found any more: it is unloaded, and its handles will be free.
pub fn forget_domain(domain: u32) {
    if let Some(wrappers) = &mut *WRAPPERS.lock() {
        wrappers.of_faces.retain(|_, w| w.domain != domain);
        for with_hash in wrappers.of_objects.values_mut() {
            with_hash.retain(|w| w.domain != domain);
        }
        wrappers.of_objects.retain(|_, all| !all.is_empty());
    }
}

/// The calling thread has asked for an interface of the object, and adds a reference to it next.
fn owe_reference<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    wrapper_of(cx, object)?.owe(cx);
    Ok(())
}

/// The address of an interface of an object. No reference is added.
fn interface_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, interface: Interface) -> Result<usize> {
    let wrapper = wrapper_of(cx, object)?;
    let key = key(interface);
    let known = |faces: &Vec<(u64, usize)>| faces.iter().find(|f| f.0 == key).map(|f| f.1);
    if let Some(found) = known(&wrapper.faces.lock()) {
        return Ok(found);
    }
    let functions = stubs::functions(cx, interface)?;
    let face = Box::leak(Box::new(Face { functions, wrapper }));
    let address = std::ptr::from_ref(face) as usize;
    // Known as a face before anybody is given it.
    let mut wrappers = WRAPPERS.lock();
    let of_faces = &mut wrappers.get_or_insert_default().of_faces;
    of_faces.insert(address, wrapper);
    drop(wrappers);
    let mut faces = wrapper.faces.lock();
    match known(&faces) {
        Some(first) => Ok(first),
        None => {
            faces.push((key, address));
            Ok(address)
        }
    }
}

/// The object that an interface pointer belongs to. None: it is none of the runtime's, or the object is gone.
pub fn object_of<'cx>(interface: usize) -> Option<ObjRef<'cx>> {
    let wrapper = *WRAPPERS
        .lock()
        .get_or_insert_default()
        .of_faces
        .get(&interface)?;
    wrapper.object()
}

/// The address of the object that native code calls. Without it the process ends.
pub fn object_at(interface: usize) -> usize {
    match object_of(interface) {
        Some(object) => object.addr(),
        None => {
            crate::process::fatal::write_stderr_without_memory(format_args!(
                "vervet: native code called a COM interface of an object that was collected: it holds a reference as long as it may call it\n"
            ));
            crate::process::fatal::exit_process(1)
        }
    }
}

/// The value of the class's attribute of that name.
fn attribute(class: ClassRef, name: &str) -> Option<&'static [u8]> {
    let def = class.def();
    let row = Token::new(Table::TypeDef, def.rid());
    (def.rid() != 0).then(|| attributes(&def.module.image, row, name).next())?
}

/// Does an interface begin with IUnknown only, and not with IDispatch?
fn is_plain_unknown(class: ClassRef) -> bool {
    // The value is an enum or a short.
    let kind = attribute(class, "InterfaceTypeAttribute")
        .and_then(|blob| CustomAttrReader::new(blob).ok()?.u16().ok());
    kind == Some(1)
}

/// The number of a method in its interface's table of functions.
pub fn slot_of<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<u32> {
    let own = cx.load(method.slot())?.unwrap_or(method.index);
    Ok(own + first_slot(method.class))
}

/// How many functions stand before the interface's own.
fn first_slot(class: ClassRef) -> u32 {
    match is_plain_unknown(class) {
        true => OF_UNKNOWN,
        false => OF_DISPATCH,
    }
}

/// May objects of the class be called by IDispatch? They may unless the class is not public, or says that COM does not see it.
pub fn is_dispatchable(class: ClassRef) -> bool {
    if class.is_array() {
        return true;
    }
    const VISIBILITY: u32 = 7;
    const PUBLIC: u32 = 1;
    let visible = attribute(class, "ComVisibleAttribute")
        .and_then(|blob| CustomAttrReader::new(blob).ok()?.u8().ok());
    class.def().flags & VISIBILITY == PUBLIC && visible != Some(0)
}

/// A GUID as it lies in memory.
pub type Guid = [u8; 16];
/// 00000000-0000-0000-C000-000000000046
const UNKNOWN: Guid = [0, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46];
/// 00020400-0000-0000-C000-000000000046
const DISPATCH: Guid = [0, 4, 2, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0x46];

/// The GUID that the class's attribute declares.
fn guid_of(class: ClassRef) -> Option<Guid> {
    let blob = attribute(class, "GuidAttribute")?;
    let text = CustomAttrReader::new(blob).ok()?.ser_string().ok()??;
    let digits: Vec<u8> = text
        .bytes()
        .filter(|b| b.is_ascii_hexdigit())
        .map(|b| (b as char).to_digit(16).unwrap_or(0) as u8)
        .collect();
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect();
    let b: Guid = bytes.try_into().ok()?;
    // The first three groups are numbers, which lie in memory with the lowest byte first.
    Some([
        b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6], b[8], b[9], b[10], b[11], b[12], b[13],
        b[14], b[15],
    ])
}

/// The interface with that GUID that an object has.
fn with_guid<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, guid: &Guid) -> Result<Option<Interface>> {
    let class = object.class();
    if *guid == UNKNOWN {
        return Ok(Some(Interface::Unknown));
    }
    if *guid == DISPATCH {
        return Ok(is_dispatchable(class).then_some(Interface::Dispatch));
    }
    let all = cx.load(class.interfaces())?;
    let found = all.iter().find(|i| guid_of(i) == Some(*guid));
    Ok(found.copied().map(Interface::Of))
}

/// Native code calls a function that all interfaces have.
pub fn function<'cx>(cx: &'cx Cx<'cx>, number: i64, call: &mut ReverseCall) -> Result<()> {
    let args = call.int_regs;
    // SAFETY: `prepare` found the object of the first argument, which is therefore a face; the block keeps the object where it is.
    let (wrapper, object) = unsafe {
        let face = &*(args[0] as *const Face);
        (face.wrapper, ObjRef::from_addr(call.delegate))
    };
    // SAFETY: native code passes what the functions are declared with.
    let answer = unsafe {
        match number {
            function::QUERY_INTERFACE => {
                let (guid, out) = (args[1] as *const Guid, args[2] as *mut usize);
                query(cx, object, guid, out)?
            }
            function::ADD_REF => wrapper.add_reference(cx) as u32,
            function::RELEASE => wrapper.release() as u32,
            function::TYPE_INFO_COUNT => match (args[1] as *mut u32).as_mut() {
                Some(count) => {
                    *count = 1;
                    result::OK
                }
                None => result::INVALID_ARGUMENT,
            },
            function::IDS_OF_NAMES => {
                let (names, ids) = (args[2] as *const *const u16, args[5] as *mut u32);
                ids_of_names(cx, object.class(), names, args[3] as u32 as usize, ids)?
            }
            _ => result::NOT_IMPLEMENTED,
        }
    };
    call.ret_int[0] = u64::from(answer);
    Ok(())
}

/// QueryInterface.
///
/// # Safety
/// `guid` may be read, and `out` written unless it is null.
unsafe fn query<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    guid: *const Guid,
    out: *mut usize,
) -> Result<u32> {
    // SAFETY: the caller's promise.
    let guid = unsafe { guid.read_unaligned() };
    let mut answer = (0, result::NO_INTERFACE);
    if let Some(interface) = with_guid(cx, object, &guid)? {
        answer = (interface_of(cx, object, interface)?, result::OK);
        wrapper_of(cx, object)?.add_reference(cx);
    }
    if !out.is_null() {
        // SAFETY: the caller's promise.
        unsafe { out.write_unaligned(answer.0) };
    }
    Ok(answer.1)
}

/// GetIDsOfNames: of a method the number that it declares, or its token.
///
/// # Safety
/// There are so many names, which end with 0, and room for as many numbers.
unsafe fn ids_of_names<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    names: *const *const u16,
    count: usize,
    ids: *mut u32,
) -> Result<u32> {
    let mut answer = result::OK;
    for i in 0..count {
        // SAFETY: the caller's promise.
        let name: Vec<u16> = unsafe {
            let text = names.add(i).read_unaligned();
            (0..)
                .map(|n| text.add(n).read_unaligned())
                .take_while(|unit| *unit != 0)
                .collect()
        };
        let name = String::from_utf16_lossy(&name);
        let mut at = Some(class);
        let mut found = None;
        while let (None, Some(class)) = (found, at) {
            found = cx.load(class.find_method(&name, None))?;
            at = cx.load(class.parent())?;
        }
        let id = match found {
            Some(method) => id_of(method),
            None => {
                answer = result::UNKNOWN_NAME;
                u32::MAX
            }
        };
        // SAFETY: the caller's promise.
        unsafe { ids.add(i).write_unaligned(id) };
    }
    Ok(answer)
}

/// The number that the method's DispIdAttribute declares, or its token.
fn id_of(method: MethodRef) -> u32 {
    let image = &method.module().image;
    let declared = attributes(image, method.token(), "DispIdAttribute").next();
    declared
        .and_then(|blob| CustomAttrReader::new(blob).ok()?.u32().ok())
        .unwrap_or(method.token().0)
}

/// InvalidCastException: the object does not have the interface.
pub fn no_interface<'cx>(cx: &'cx Cx<'cx>) -> crate::cx::Throw {
    cx.throw_default(Known::InvalidCastException)
}
