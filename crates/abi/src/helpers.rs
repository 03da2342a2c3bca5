//! The table of helpers that generated code calls, with their signatures and effects.
//!
//! Every helper is reached through a stub the runtime makes: `Leaf` ones run with `critical` set on the
//! carrier's stack, `Runtime` ones through the icall thunk (state Runtime; may allocate, throw, run managed
//! code), `NoReturn` ones like Runtime but never come back. All are called with `CallConv::Tail`, at most six
//! integer and eight float arguments and one result.
//!
//! # Invariants
//! The table is the one declaration of a helper. Its body must have these machine types ([`Helper::check`], when the
//! runtime is compiled). Generated code names it by a type of module [`call`], so that a call with another number of
//! arguments, of a result that is not there, or one that does not end a block where it must, does not compile; the
//! machine types of the arguments are compared when the call is emitted.

/// Machine type of a helper's argument or result. References and addresses are `I64`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Ty {
    I32,
    I64,
    F32,
    F64,
}

/// What a helper may do. See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// No lock, no allocation, no throw, at most 10 us.
    Leaf,
    /// May do anything, including throw.
    Runtime,
    /// As `Runtime`; a wait that may leave the native stack while its green thread is parked, and is then called again.
    Wait,
    /// Throws or resumes elsewhere.
    NoReturn,
    /// An asm stub with rules of its own.
    Asm,
}

/// A helper's shape.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct HelperSig {
    pub params: &'static [Ty],
    pub ret: Option<Ty>,
    pub effect: Effect,
}

impl HelperSig {
    /// Are these the machine types?
    const fn is(&self, params: &[Ty], ret: Option<Ty>) -> bool {
        if params.len() != self.params.len() {
            return false;
        }
        let mut n = 0;
        while n < params.len() {
            if params[n] as u8 != self.params[n] as u8 {
                return false;
            }
            n += 1;
        }
        match (ret, self.ret) {
            (None, None) => true,
            (Some(a), Some(b)) => a as u8 == b as u8,
            _ => false,
        }
    }
}

/// What a call of a helper leaves behind.
pub mod result {
    /// A word or a float.
    pub struct Value;
    /// Nothing.
    pub struct Nothing;
    /// It does not come back.
    pub struct Never;
}

/// A helper with `N` parameters and the result `R` of module [`result`].
pub trait Declared<const N: usize, R> {
    /// Which it is.
    const HELPER: Helper;
}

macro_rules! helpers {
    ($( $(#[$doc:meta])* $name:ident ( $($p:ident),* ) $(-> $r:ident)? : $e:ident ;)*) => {
        /// The helpers. See the module.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u16)]
        pub enum Helper { $( $(#[$doc])* $name ),* }
        impl Helper {
            /// All of them, in order of their numbers.
            pub const ALL: &'static [Helper] = &[ $( Helper::$name ),* ];
            /// Its shape.
            pub const fn sig(self) -> HelperSig {
                match self { $( Helper::$name => HelperSig {
                    params: &[ $( Ty::$p ),* ], ret: helpers!(@ret $($r)?), effect: Effect::$e } ),* }
            }
            /// Ends the compilation if a body of those machine types is not this helper's. For constants.
            ///
            /// ```
            /// use vervet_abi::{Helper, Ty};
            /// const _: () = Helper::IsInst.check(&[Ty::I64, Ty::I64], Some(Ty::I64));
            /// ```
            /// ```compile_fail
            /// use vervet_abi::{Helper, Ty};
            /// const _: () = Helper::IsInst.check(&[Ty::I64, Ty::I32], Some(Ty::I64));
            /// ```
            /// ```compile_fail
            /// use vervet_abi::{Helper, Ty};
            /// const _: () = Helper::IsInst.check(&[Ty::I64, Ty::I64], None);
            /// ```
            pub const fn check(self, params: &[Ty], ret: Option<Ty>) {
                assert!(self.sig().is(params, ret), "the body of a helper has another signature than its declaration");
            }
        }
        /// The helpers as types, for calls of them. See the module.
        pub mod call {
            use super::{Declared, Helper, Ty, result};
            $(
                $(#[$doc])*
                pub struct $name;
                impl Declared<{ <[Ty]>::len(&[$( Ty::$p ),*]) }, helpers!(@result $e $($r)?)> for $name {
                    const HELPER: Helper = Helper::$name;
                }
            )*
        }
    };
    (@ret) => { None };
    (@ret $r:ident) => { Some(Ty::$r) };
    (@result NoReturn) => { result::Never };
    (@result $e:ident) => { result::Nothing };
    (@result $e:ident $r:ident) => { result::Value };
}

helpers! {
    /// (vtable) -> object: allocation that the inline path could not do; zeroed.
    AllocObject(I64) -> I64 : Runtime;
    /// (array vtable, length as native int) -> vector; negative or too long throws.
    AllocArray(I64, I64) -> I64 : Runtime;
    /// (array vtable, address of rank lengths as i32, address of rank lower bounds as i32 or 0) -> array.
    AllocMdArray(I64, I64, I64) -> I64 : Runtime;
    /// (vector vtable, address of lengths as i32, how many) -> a vector of vectors, one level per length.
    AllocJaggedArray(I64, I64, I32) -> I64 : Runtime;
    /// (object, class) -> the object; InvalidCastException unless null or an instance.
    CastClass(I64, I64) -> I64 : Runtime;
    /// The same in code that mono shares between instantiations, whose traces tell.
    CastClassShared(I64, I64) -> I64 : Runtime;
    /// (object, class) -> the object or 0.
    IsInst(I64, I64) -> I64 : Runtime;
    /// (array, value): ArrayTypeMismatchException unless the value fits the element type. Null fits.
    CheckArrayStore(I64, I64) : Runtime;
    /// (array, class): ArrayTypeMismatchException unless the element type is exactly that class.
    CheckLdelema(I64, I64) : Runtime;
    /// (object, value-type class) -> address of the value; InvalidCastException, NullReferenceException.
    Unbox(I64, I64) -> I64 : Runtime;
    /// (object or 0, nullable class, address of the result).
    UnboxNullable(I64, I64, I64) : Runtime;
    /// (nullable class, address of the value) -> box or 0.
    /// (object): throw it (null: NullReferenceException); the trace starts here.
    Throw(I64) : NoReturn;
    /// (object): throw it again; the trace goes on.
    Rethrow(I64) : NoReturn;
    /// (a ThrowKind): make that exception and throw it.
    ThrowKind(I32) : NoReturn;
    /// (exception, unwind record): the second pass goes on after a finally or fault.
    ContinueUnwind(I64, I64) : NoReturn;
    /// (): at the end of a catch: raises a pending ThreadAbortException again.
    EndCatch() : Runtime;
    /// (vtable): run the class constructor, or throw what it threw.
    ClassInit(I64) : Runtime;
    /// (vtable): gives this thread a block of the class's thread statics, whose address is in [`ThreadContext::thread_statics`](crate::ThreadContext) then.
    ThreadStatics(I64) : Runtime;
    /// (vtable) -> address of the block of the class's context statics of the remoting context that this thread is in.
    ContextStatics(I64) -> I64 : Runtime;
    /// (object, method) -> code address for ldvirtftn and generic virtual calls; null throws.
    ResolveVirtual(I64, I64) -> I64 : Runtime;
    /// (delegate, target or 0, code address): fills a new delegate.
    DelegateCtor(I64, I64, I64) : Runtime;
    /// (delegate, target, method, is_virtual): the same where the method is known.
    DelegateCtorMethod(I64, I64, I64, I32) : Runtime;
    /// (method, IL offset of a loop's head) -> code that goes on at the head, or 0.
    ReplaceLoop(I64, I32) -> I64 : Runtime;
    /// (bytes) -> zeroed memory of the localloc stack.
    Localloc(I64) -> I64 : Runtime;
    /// (object): enter its monitor.
    MonitorEnter(I64) : Wait;
    /// (object): leave its monitor.
    MonitorExit(I64) : Runtime;
    /// (context, object): enter the monitor if that takes no waiting and no inflation -> 1; otherwise 0.
    MonitorEnterFast(I64, I64) -> I32 : Leaf;
    /// (context, object): leave the monitor if nobody is to be woken -> 1; left, but somebody has to be woken -> 2; not left -> 0.
    MonitorExitFast(I64, I64) -> I32 : Leaf;
    /// (method): the profiler records that the method begins.
    RecordEnter(I64) : Runtime;
    /// (method): the profiler records that the method returns.
    RecordLeave(I64) : Runtime;
    /// (method, clause): the profiler records that a finally clause runs without an exception.
    RecordFinally(I64, I32) : Runtime;
    /// (object): wake a thread that enters the object's monitor.
    MonitorWake(I64) : Runtime;
    /// (class) -> its Type object.
    TypeObject(I64) -> I64 : Runtime;
    /// (destination, source, class): copy a value that holds references, marking cards; both non-null.
    CopyValue(I64, I64, I64) : Leaf;
    /// (destination, source, bytes): memmove of bytes without references.
    MemMove(I64, I64, I64) : Leaf;
    /// (destination, byte, bytes).
    MemSet(I64, I32, I64) : Leaf;
    /// (GC handle, object) -> the handle, which refers to the object now; 0 if it is not in use.
    SetHandle(I32, I64) -> I32 : Leaf;
    /// (context, GC handle): frees it if it is in use.
    FreeHandle(I64, I32) : Leaf;
    /// () -> milliseconds, as `Environment.TickCount` but in steps of some.
    CoarseTickCount() -> I32 : Leaf;
    /// (context of a green thread) -> 1 if others are to run on its carrier, otherwise 0.
    OthersReady(I64) -> I32 : Leaf;
    /// (address of 16-bit units, unit, count) -> index of the first equal one, or -1; at most 64 KiB.
    IndexOfChar(I64, I32, I32) -> I32 : Leaf;
    /// (address of bytes, byte, count) -> index of the first equal one, or -1; at most 64 KiB.
    IndexOfByte(I64, I32, I32) -> I32 : Leaf;
    /// (address, address, bytes) -> 1 if the bytes are equal, otherwise 0; at most 64 KiB.
    SequenceEqual(I64, I64, I64) -> I32 : Leaf;
    /// (address of characters, address of bytes, count) -> 1 if all characters are ASCII and were copied to the bytes; 0 if only those before the first that is not
    /// were, or some of them; at most 32,768.
    NarrowAscii(I64, I64, I64) -> I32 : Leaf;
    /// The same from bytes to characters.
    WidenAscii(I64, I64, I64) -> I32 : Leaf;
    /// (address of characters, count) -> index of the first carriage return or line feed, or -1; at most 32,768.
    LineEnd(I64, I32) -> I32 : Leaf;
    /// (address of characters, count) -> 1 if all are ASCII, otherwise 0; at most 32,768.
    AreAsciiChars(I64, I64) -> I32 : Leaf;
    /// (address of bytes, count) -> 1 if all are ASCII, otherwise 0; at most 32,768.
    AreAsciiBytes(I64, I64) -> I32 : Leaf;
    /// (array, index, array, index, count) -> 1 if that many elements were copied; 0 if they are no vectors of one type, are too many
    /// for a leaf, or lie outside.
    CopyElements(I64, I32, I64, I32, I32) -> I32 : Leaf;
    /// (array, offset, array, offset, count) -> 1 if that many bytes were copied; 0 if they are no arrays of primitives, are too many for a leaf, or lie outside.
    CopyBytes(I64, I32, I64, I32, I32) -> I32 : Leaf;
    /// (vector, first index, count, element type): sorts integers, ascending.
    SortIntegers(I64, I32, I32, I32) : Runtime;
    /// (method, method): throws that the first may not name the second.
    ThrowMethodAccess(I64, I64) : Runtime;
    /// (method, object or null, `object[]` or null) -> 1 if a call of the method through reflection needs no conversion and no error, otherwise 0.
    IsPlainCall(I64, I64, I64) -> I32 : Leaf;
    /// (MethodInfo or ConstructorInfo of the runtime, object or null, `object[]` or null, block of [`PLAIN_CALL_WORDS`](crate::PLAIN_CALL_WORDS) words) -> code to be called with the first six words of
    /// the block, which has in the word behind them what the result becomes; 0 if the code in the block's first word is to make the call.
    PlainTarget(I64, I64, I64, I64) -> I64 : Leaf;
    /// (set, character of ASCII) -> 1 if it is in a set of a regular expression, otherwise 0; -1 if the class library is to answer.
    CharInSet(I64, I32) -> I32 : Leaf;
    /// (runner of a regular expression) -> whether there is a position that a match may begin at, 0 or 1, which is the runner's now; -1 if the class library is to
    /// find it.
    RegexFind(I64) -> I32 : Runtime;
    /// (runner of a regular expression) -> 1 if the runner has a match now, or is at a position up to which there is none; -1 if the class library is to match.
    RegexGo(I64) -> I32 : Runtime;
    /// (string, range, string, range, rules) -> the order of the two texts by the rules of the culture: -1, 0 or 1;
    /// [`UNKNOWN_ORDER`](crate::UNKNOWN_ORDER) if the class library is to answer. A range has the first index in its upper half and the count in its lower; rules have `CompareOptions`
    /// and the number of the culture.
    CompareTexts(I64, I64, I64, I64, I64) -> I32 : Leaf;
    /// (string, range, string, rules) -> whether the first text begins with the second by the rules of the culture, 0 or 1;
    /// [`UNKNOWN_ORDER`](crate::UNKNOWN_ORDER) if the class library is to answer.
    IsPrefixText(I64, I64, I64, I64) -> I32 : Leaf;
    /// (string, index, count, string, index, count) -> the difference of the two texts by the numbers of their characters, capitals for small letters;
    /// [`UNKNOWN_ORDER`](crate::UNKNOWN_ORDER) if the class library is to answer.
    CompareIgnoringCase(I64, I32, I32, I64, I32, I32) -> I32 : Leaf;
    /// (string, string, index, count) -> the first index of the second text in that range of the first, or -1;
    /// [`UNKNOWN_ORDER`](crate::UNKNOWN_ORDER) if the class library is to answer.
    IndexOfText(I64, I64, I32, I32) -> I32 : Leaf;
    /// (string, seed) -> the hash of its capitals as an unsigned number of 32 bits; -1 if the class library is to answer.
    HashIgnoringCase(I64, I64) -> I64 : Leaf;
    /// (string) -> a hash of a key of `Dictionary<string, V>`, which is not null; no program sees it.
    HashKey(I64) -> I32 : Leaf;
    /// (box of an enum, class, places) -> the name of the value; null if the class library is to answer. The class and the places say where the class library keeps names.
    EnumName(I64, I64, I64) -> I64 : Leaf;
    /// (VTable of an enum, string, whether case is ignored, address of a value, class, places) -> 1 if the string is a name, whose value was written;
    /// 0 if the class library is to answer.
    EnumNumber(I64, I64, I32, I64, I64, I64) -> I32 : Leaf;
    /// (vector, bits of a value, index, count, binary logarithm of the size) -> the first index of the value in that range, or -1;
    /// [`UNKNOWN_ORDER`](crate::UNKNOWN_ORDER) if the class library is to answer.
    IndexOfElement(I64, I64, I32, I32, I32) -> I32 : Leaf;
    /// (vector of strings, string, index, count) -> the same.
    IndexOfString(I64, I64, I32, I32) -> I32 : Leaf;
    /// The same as `IndexOfText` by the rules of any culture, where all characters that decide are of ASCII.
    IndexOfAsciiText(I64, I64, I32, I32) -> I32 : Leaf;
    /// (state, block of 64 bytes): a step of SHA-256.
    Sha256Block(I64, I64) : Leaf;
    /// (state, block of 128 bytes): a step of SHA-512.
    Sha512Block(I64, I64) : Leaf;
    /// (state, block of 64 bytes): a step of SHA-1.
    Sha1Block(I64, I64) : Leaf;
    /// (vector of words, vector of bytes, index, a HashStep) -> 1 if the state in the first took a step over the 64 bytes from the index on; 0 if one is null,
    /// or too short.
    HashBlock(I64, I64, I32, I32) -> I32 : Leaf;
    /// (vector of words, vector of bytes, vector of bytes, a CipherStep) -> 1 if the 16 bytes of the second were enciphered or deciphered to the third with the round
    /// keys in the first; 0 if one is null or too short, or if the number of rounds is none of AES.
    AesBlock(I64, I64, I64, I32) -> I32 : Leaf;
    /// (round keys, block, block, a CipherStep): a block of Rijndael, from the first to the second. The first keeps what the last round begins with.
    RijndaelBlock(I64, I64, I64, I32) : Leaf;
    /// C fmod.
    FMod(F64, F64) -> F64 : Leaf;
    /// (x, y, a MathFunction): a function of the C library, of x, or of x and y.
    Math(F64, F64, I32) -> F64 : Leaf;
    /// (x, y, address): a [`ShortFunction`](crate::ShortFunction) of x, or of x and y.
    CallLibm(F64, F64, I64) -> F64 : Leaf;
    /// Below the limit: calls the method again on more stack, or serves interrupt requests, or StackOverflow.
    /// Entered with the method's own arguments and its code address in `hidden`.
    Grow() : Asm;
    /// (native function pointer cell): P/Invoke binding at first call -> native address.
    BindPInvoke(I64) -> I64 : Runtime;
    /// Marshalling: (method, parameter index, managed value word) -> native word. See the interop module.
    MarshalToNative(I64, I64, I64) -> I64 : Runtime;
    /// Marshalling: (method, parameter index, managed word, native word, NativeCall block): copy back and free.
    MarshalBack(I64, I64, I64, I64, I64) : Runtime;
    /// Marshalling: (method, native result) -> managed result.
    MarshalResult(I64, I64) -> I64 : Runtime;
    /// Poll at branches back in methods with handlers: serve `interrupts`.
    Poll() : Runtime;
    /// (delegate, BeginInvoke's method, address of one word per CLIF parameter after `this`) -> IAsyncResult.
    DelegateBeginInvoke(I64, I64, I64) -> I64 : Runtime;
    /// (delegate, EndInvoke's method, address of the words, address where the result goes in its memory form).
    DelegateEndInvoke(I64, I64, I64, I64) : Runtime;
    /// (transparent proxy, method) -> code that sends a call of the method to the real proxy.
    RemoteCode(I64, I64) -> I64 : Runtime;
    /// (transparent proxy, method, address of the words, address where the result goes in its memory form): sends the call.
    RemoteInvoke(I64, I64, I64, I64) : Runtime;
    /// (transparent proxy, field, address where the value goes).
    LoadRemoteField(I64, I64, I64) : Runtime;
    /// (transparent proxy, field, address of the value).
    StoreRemoteField(I64, I64, I64) : Runtime;
    /// (transparent proxy, field) -> address of the field in the object that the proxy stands for, if that is in this context.
    RemoteFieldAddress(I64, I64) -> I64 : Runtime;
    /// (vtable of a class whose objects may be remote) -> an object or a transparent proxy.
    AllocRemote(I64) -> I64 : Runtime;
    /// Marshalling: (method, parameter index or RESULT, managed address, native address): converts a struct.
    MarshalStructToNative(I64, I64, I64, I64) : Runtime;
    /// Marshalling: (method, parameter index or RESULT, native address, managed address): converts a struct.
    MarshalStructToManaged(I64, I64, I64, I64) : Runtime;
    /// Native to managed: (Invoke's method, parameter index, native word, ReverseCall block) -> managed word;
    /// of a by-ref parameter the word is the native address and the result the value behind it.
    MarshalArgToManaged(I64, I64, I64, I64) -> I64 : Runtime;
    /// Native to managed, after the call: (method, parameter index, managed word, native word): writes back.
    MarshalArgBack(I64, I64, I64, I64) : Runtime;
    /// Native to managed: (method, managed result) -> native result.
    MarshalResultToNative(I64, I64) -> I64 : Runtime;
    /// Native code calls a function that every COM interface has: (number in the table of functions, ReverseCall block).
    ComFunction(I64, I64) : Runtime;
    /// `Monitor.Enter` was given a `lockTaken` that is true already: throws the ArgumentException.
    ThrowLockTaken() : Runtime;
    /// Throws the exception that a call of a helper has left pending.
    ThrowPending() : NoReturn;
}

impl Helper {
    /// Whether code that runs rarely may call it through its second stub, which preserves every register, so that what lives across the call stays where it
    /// is. The result, a reference or none, is then in [`ThreadContext::cold_result`](crate::context::ThreadContext::cold_result). Where handlers are around the
    /// call a third stub is called, which leaves an exception in [`ThreadContext::pending`](crate::context::ThreadContext::pending): code that is entered as a handler finds no register
    /// preserved, so the code itself throws it, by a call of its own.
    pub const fn preserves_registers(self) -> bool {
        use Helper::*;
        matches!(
            self,
            AllocObject
                | AllocArray
                | CastClass
                | CastClassShared
                | IsInst
                | CheckArrayStore
                | ClassInit
                | ThreadStatics
                | LoadRemoteField
                | StoreRemoteField
                | EndCatch
                | Poll
        )
    }

    /// Whether it leaves every exception pending, for its stub to raise. `EndCatch` raises an abort by itself, with a trace that begins anew.
    pub const fn raises_nothing_itself(self) -> bool {
        !matches!(self, Helper::EndCatch)
    }
}

/// Exceptions that generated code raises without arguments; also the trap codes of hardware faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ThrowKind {
    NullReference = 1,
    IndexOutOfRange = 2,
    DivideByZero = 3,
    Overflow = 4,
    InvalidCast = 5,
    ArrayTypeMismatch = 6,
    Arithmetic = 7,
    StackOverflow = 8,
    OutOfMemory = 9,
    InvalidProgram = 10,
    /// An abstract method or one without body was called.
    EntryPointNotFound = 11,
    BadImageFormat = 12,
    NotSupported = 13,
    ArgumentOutOfRange = 14,
    ExecutionEngine = 15,
    /// OverflowException: a float64 is no int64.
    DoubleToI8 = 16,
    /// It is no uint64.
    DoubleToU8 = 17,
    /// A float32 is no int64.
    SingleToI8 = 18,
    /// It is no uint64.
    SingleToU8 = 19,
}
impl ThrowKind {
    /// The kind with that number.
    pub fn from_u8(n: u8) -> Option<ThrowKind> {
        use ThrowKind::*;
        [
            NullReference,
            IndexOutOfRange,
            DivideByZero,
            Overflow,
            InvalidCast,
            ArrayTypeMismatch,
            Arithmetic,
            StackOverflow,
            OutOfMemory,
            InvalidProgram,
            EntryPointNotFound,
            BadImageFormat,
            NotSupported,
            ArgumentOutOfRange,
            ExecutionEngine,
            DoubleToI8,
            DoubleToU8,
            SingleToI8,
            SingleToU8,
        ]
        .get((n as usize).checked_sub(1)?)
        .copied()
    }
}

macro_rules! math_functions {
    ($( $name:ident )*) => {
        /// A function that generated code calls through [`Helper::Math`]: one of the C library, or an instruction of the processor.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(i32)]
        #[expect(missing_docs, reason = "the names say it")]
        pub enum MathFunction { $( $name ),* }
        impl MathFunction {
            /// All of them, in order of their numbers.
            pub const ALL: [MathFunction; [$( MathFunction::$name ),*].len()] = [$( MathFunction::$name ),*];
            /// How many arguments it has.
            pub const fn arity(self) -> usize {
                match self {
                    MathFunction::Pow | MathFunction::Atan2 => 2,
                    _ => 1,
                }
            }
            /// The method of System.Math that is this function of the C library; the instructions have names that no method has.
            pub const fn method(self) -> &'static str {
                match self { $( MathFunction::$name => stringify!($name) ),* }
            }
        }
    };
}

/// A hash of which [`Helper::HashBlock`] takes a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum HashStep {
    /// MD5, with a state of four words.
    Md5,
    /// SHA-1, with a state of five words.
    Sha1,
}

/// How [`Helper::AesBlock`] and [`Helper::RijndaelBlock`] treat a block: the number of rounds, and [`CipherStep::DECIPHER`] if it is deciphered.
pub struct CipherStep;

impl CipherStep {
    /// The block is deciphered.
    pub const DECIPHER: i32 = 1 << 8;
    /// The rounds of AES with keys of 128, 192 and 256 bits.
    pub const ROUNDS: [i32; 3] = [10, 12, 14];
}

math_functions! { Sin Cos Tan Asin Acos Atan Exp Log Log10 Pow Atan2 SinByInstruction CosByInstruction }
