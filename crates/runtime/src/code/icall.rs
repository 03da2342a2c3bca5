//! How an internal call is declared, and the registry the prestub asks.
//!
//! # Invariants
//! An icall is an ordinary Rust function declared next to its managed name by [`icalls!`](crate::icalls). Its
//! machine signature must equal the lowered managed signature: a test compares every row with the metadata.
//! What the macro generates is `extern "C"`, is reached only through the icall thunk, and never unwinds.
use crate::cx::Throw;
use crate::object::ObjRef;

/// Machine type of an icall's argument or result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AbiTy {
    Void,
    I32,
    I64,
    F32,
    F64,
}

/// A type that may stand in an icall's parameter list.
pub trait IcallArg {
    /// What arrives in the register.
    type Abi: Copy;
    /// Its machine type.
    const TY: AbiTy;
    /// Conversion.
    fn from_abi(abi: Self::Abi) -> Self;
}
/// A type that an icall may return.
pub trait IcallRet {
    /// What goes into the register.
    type Abi: Copy;
    /// Its machine type.
    const TY: AbiTy;
    /// Conversion.
    fn into_abi(self) -> Self::Abi;
    /// What is returned when an exception is pending.
    fn thrown() -> Self::Abi;
}
macro_rules! abi { ($($t:ty => $abi:ty, $ty:ident, |$v:ident| $from:expr, $into:expr;)*) => { $(
    impl IcallArg for $t { type Abi = $abi; const TY: AbiTy = AbiTy::$ty; fn from_abi($v: $abi) -> Self { $from } }
    impl IcallRet for $t { type Abi = $abi; const TY: AbiTy = AbiTy::$ty; fn into_abi(self) -> $abi { let $v = self; $into }
        fn thrown() -> $abi { Default::default() } }
)* } }
abi! {
    bool => i32, I32, |v| v as u8 != 0, v as i32;
    u8 => i32, I32, |v| v as u8, v as i32;
    i8 => i32, I32, |v| v as i8, v as i32;
    u16 => i32, I32, |v| v as u16, v as i32;
    i16 => i32, I32, |v| v as i16, v as i32;
    u32 => u32, I32, |v| v, v;
    i32 => i32, I32, |v| v, v;
    u64 => u64, I64, |v| v, v;
    i64 => i64, I64, |v| v, v;
    usize => usize, I64, |v| v, v;
    isize => isize, I64, |v| v, v;
    f32 => f32, F32, |v| v, v;
    f64 => f64, F64, |v| v, v;
}
impl<'cx> IcallArg for ObjRef<'cx> {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        // SAFETY: managed code passes null or a live object; the exit record keeps it pinned.
        unsafe { ObjRef::from_addr(abi) }
    }
}
impl IcallRet for ObjRef<'_> {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn into_abi(self) -> usize {
        self.addr()
    }
    fn thrown() -> usize {
        0
    }
}
impl<T> IcallArg for *mut T {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        abi as *mut T
    }
}
impl<T> IcallArg for *const T {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        abi as *const T
    }
}
impl<T> IcallRet for *mut T {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn into_abi(self) -> usize {
        self as usize
    }
    fn thrown() -> usize {
        0
    }
}
impl IcallRet for () {
    type Abi = ();
    const TY: AbiTy = AbiTy::Void;
    fn into_abi(self) {}
    fn thrown() {}
}

/// A word by which managed code names something of the type system: null, or the address of a `T`, which lives for ever.
///
/// Managed code gets such words from this runtime only (`RuntimeTypeHandle.Value`, the `_impl` of a Type, `mhandle` of a MethodInfo) and hands them
/// back as they are. That is part of the contract with the class library, which every icall relies on; here it is relied on in one place.
#[repr(transparent)]
pub struct Handle<T: 'static>(usize, std::marker::PhantomData<&'static T>);
impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> Handle<T> {
    /// The handle in a word.
    ///
    /// # Safety
    /// The word is 0 or the address of a `T` that lives for ever.
    pub unsafe fn from_word(word: usize) -> Handle<T> {
        Handle(word, std::marker::PhantomData)
    }
    /// Is it the null handle?
    pub fn is_null(self) -> bool {
        self.0 == 0
    }
    /// What it names; None for null.
    pub fn get(self) -> Option<&'static T> {
        // SAFETY: the promise of `from_word`.
        unsafe { (self.0 as *const T).as_ref() }
    }
}
impl<T> IcallArg for Handle<T> {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        // SAFETY: managed code passes a handle that this runtime has given it.
        unsafe { Handle::from_word(abi) }
    }
}

/// A `ref`/`out` parameter of reference type: the address of a managed slot.
#[derive(Clone, Copy)]
pub struct RefSlot<'cx>(*mut usize, std::marker::PhantomData<&'cx ()>);
impl<'cx> RefSlot<'cx> {
    /// Reads it.
    pub fn get(self) -> ObjRef<'cx> {
        // SAFETY: managed code passes the address of a reference slot.
        unsafe { ObjRef::from_addr(crate::object::load_word(self.0)) }
    }
    /// Stores into it, marking the card.
    pub fn set(self, value: ObjRef<'_>) {
        // SAFETY: managed code passes the address of a reference slot, which is aligned and may be written; the card is marked.
        unsafe { crate::object::store_ref(self.0, value) }
    }
    /// Is the address null?
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
    /// The address.
    pub fn ptr(self) -> *mut usize {
        self.0
    }
}
impl IcallArg for RefSlot<'_> {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        RefSlot(abi as *mut usize, std::marker::PhantomData)
    }
}

/// The address of an `extern "C"` function of any type.
#[derive(Clone, Copy)]
pub struct CodePtr(pub *const ());
// SAFETY: the address of code is only ever called through a thunk.
unsafe impl Sync for CodePtr {}

/// One declared internal call.
pub struct Icall {
    /// `Namespace.Outer/Inner::Method`, for one of several overloads followed by `(int,string)`: the types of its
    /// parameters as [`signature_key`] spells them (docs/class-library.md#names-and-signatures).
    pub name: &'static str,
    /// Code address of the generated `extern "C"` function.
    pub code: CodePtr,
    /// Lowered parameters, `this` first.
    pub params: &'static [AbiTy],
    /// Lowered result.
    pub ret: AbiTy,
    /// It may leave the native stack when its green thread parks, and is then called again with the same arguments.
    pub reentrant: bool,
}

#[doc(hidden)]
pub use linkme;

/// The rows of every use of [`icalls!`](crate::icalls) in the crates of this program, in no particular order. The linker puts
/// them beside each other, so no list is kept by hand.
#[linkme::distributed_slice]
pub static TABLES: [&'static [Icall]];

/// Every declared internal call of the crates that are linked into this program.
///
/// A crate of which the program uses nothing is not linked; the crate of the class library's internal calls has a
/// function of its own that returns this.
pub fn declared() -> impl Iterator<Item = &'static Icall> {
    TABLES.iter().copied().flatten()
}

/// Ends an icall: the value, or the pending exception's stand-in.
pub fn finish<T: IcallRet>(result: Result<T, Throw>) -> T::Abi {
    match result {
        Ok(v) => v.into_abi(),
        Err(_) => T::thrown(),
    }
}

/// Declares internal calls, each with its full managed name, and registers them in [`TABLES`]:
/// ```ignore
/// icalls! {
///     /// Number of dimensions.
///     "System.Array::GetRank" fn get_rank(cx, this: ObjRef<'cx>) -> i32 { Ok(..) }
///     /// The types of the parameters tell overloads apart.
///     "System.Math::Abs(double)" fn abs_f64(cx, v: f64) -> f64 { Ok(v.abs()) }
/// }
/// ```
/// `[reentrant]` before `fn` marks a wait that begins with [`reentry::resumed`](crate::threads::reentry::resumed).
/// A search for `System.Array::GetRank` finds the definition. Bodies evaluate to [`cx::Result<R>`](crate::cx::Result);
/// an error is the pending exception, which the thunk raises.
#[macro_export]
macro_rules! icalls {
    ($( $(#[$meta:meta])* $name:literal $([$reentrant:ident])? fn $f:ident ( $cx:ident $(, $p:ident : $t:ty)* $(,)? ) $(-> $r:ty)? $body:block )+) => {
        $(
            #[doc = concat!("`", $name, "`")]
            #[doc = ""]
            $(#[$meta])*
            #[allow(unused_variables, clippy::too_many_arguments, clippy::unnecessary_wraps, clippy::not_unsafe_ptr_arg_deref, reason = "arguments are what managed code passes")]
            pub fn $f<'cx>($cx: &'cx $crate::cx::Cx<'cx> $(, $p: $t)*) -> $crate::cx::Result<$crate::icalls!(@ret $($r)?)> $body
        )+
        const _: () = {
            #[$crate::code::icall::linkme::distributed_slice($crate::code::icall::TABLES)]
            #[linkme(crate = $crate::code::icall::linkme)]
            static TABLE: &[$crate::code::icall::Icall] = &[ $( {
                extern "C" fn entry<'cx>($($p: <$t as $crate::code::icall::IcallArg>::Abi),*) -> <$crate::icalls!(@ret $($r)?) as $crate::code::icall::IcallRet>::Abi {
                    let cx = $crate::cx::Cx::current();
                    // SAFETY: the token lives in this frame and the call is over before the frame is; the references that the
                    // call returns are converted to addresses before.
                    let cx: &'cx $crate::cx::Cx<'cx> = unsafe { &*(&cx as *const $crate::cx::Cx<'cx>) };
                    $crate::code::icall::finish($f(cx $(, <$t as $crate::code::icall::IcallArg>::from_abi($p))*))
                }
                const fn params<'cx>() -> &'static [$crate::code::icall::AbiTy] {
                    const { &[ $( <$t as $crate::code::icall::IcallArg>::TY ),* ] }
                }
                const fn ret<'cx>() -> $crate::code::icall::AbiTy {
                    <$crate::icalls!(@ret $($r)?) as $crate::code::icall::IcallRet>::TY
                }
                $crate::code::icall::Icall {
                    name: $name, code: $crate::code::icall::CodePtr(entry as *const ()), params: params(), ret: ret(),
                    reentrant: $crate::icalls!(@reentrant $($reentrant)?),
                }
            } ),+ ];
        };
    };
    (@reentrant) => { false };
    (@reentrant reentrant) => { true };
    (@ret) => { () };
    (@ret $r:ty) => { $r };
}

/// The key of a class in the table: `Namespace.Outer/Inner`.
pub fn class_key(class: vervet_types::ClassRef) -> String {
    match class.declaring_type() {
        Ok(Some(outer)) => format!("{}/{}", class_key(outer), class.name),
        _ if class.namespace.is_empty() => class.name.to_string(),
        _ => format!("{}.{}", class.namespace, class.name),
    }
}

/// The signature of a method in the notation of docs/class-library.md#names-and-signatures, without parentheses.
pub fn signature_key(
    method: vervet_types::MethodRef,
) -> std::result::Result<String, vervet_types::LoadError> {
    let sig = method.sig()?;
    Ok(sig
        .params
        .iter()
        .map(|p| type_key(p))
        .collect::<Vec<_>>()
        .join(","))
}

fn type_key(class: vervet_types::ClassRef) -> String {
    use vervet_types::Prim as P;
    if let Some(e) = class.element() {
        let inner = type_key(e);
        return match () {
            _ if class.is_byref() => inner + "&",
            _ if class.is_ptr() => inner + "*",
            _ => inner + "[]",
        };
    }
    match class.prim {
        Some(P::Void) => "void".into(),
        Some(P::Bool) => "bool".into(),
        Some(P::Char) => "char".into(),
        Some(P::I1) => "sbyte".into(),
        Some(P::U1) => "byte".into(),
        Some(P::I2) => "int16".into(),
        Some(P::U2) => "uint16".into(),
        Some(P::I4) => "int".into(),
        Some(P::U4) => "uint".into(),
        Some(P::I8) => "long".into(),
        Some(P::U8) => "ulong".into(),
        Some(P::R4) => "single".into(),
        Some(P::R8) => "double".into(),
        Some(P::IntPtr) => "intptr".into(),
        Some(P::UIntPtr) => "uintptr".into(),
        None if class.namespace == "System" && class.name == "String" => "string".into(),
        None if class.namespace == "System" && class.name == "Object" => "object".into(),
        None if class.is_generic_param() => class.name.to_string(),
        None => class_key(class),
    }
}

/// An internal call that was registered at run time.
#[derive(Clone, Copy, Debug)]
pub struct Registered {
    /// The function.
    pub code: usize,
    /// It is a host's, and runs in Foreign state: it may keep references in its frame, and call the embedding API.
    pub foreign: bool,
}

static REGISTERED: vervet_os::LeafLock<Option<rustc_hash::FxHashMap<String, Registered>>> =
    vervet_os::LeafLock::new(None);

/// Registers an internal call of a native library of the class library by name; it wins over the table.
pub fn register(name: String, code: usize) {
    let row = Registered {
        code,
        foreign: false,
    };
    REGISTERED.lock().get_or_insert_default().insert(name, row);
}
/// Registers an internal call of a host by name; it wins over the table.
pub fn register_foreign(name: String, code: usize) {
    // The host's function may keep what it is given.
    crate::safepoint::stash::forbid();
    let row = Registered {
        code,
        foreign: true,
    };
    REGISTERED.lock().get_or_insert_default().insert(name, row);
}
/// The internal call registered at run time under that name.
pub fn registered(name: &str) -> Option<Registered> {
    REGISTERED.lock().as_ref()?.get(name).copied()
}
/// The function behind an internal call, if there is one: what a host registered, or a row of the runtime's table.
pub fn find(
    table: &rustc_hash::FxHashMap<&'static str, &'static Icall>,
    method: vervet_types::MethodRef,
) -> Option<usize> {
    let definition = method.definition();
    let key = format!("{}::{}", class_key(definition.class), definition.name);
    let full = format!("{key}({})", signature_key(definition).unwrap_or_default());
    registered(&full)
        .or_else(|| registered(&key))
        .map(|r| r.code)
        .or_else(|| {
            let row = table
                .get(key.as_str())
                .or_else(|| table.get(full.as_str()))?;
            Some(row.code.0 as usize)
        })
}
