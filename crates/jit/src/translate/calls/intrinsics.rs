//! Intrinsics: methods of the core library that are translated in place.
//!
//! # How it works
//! [`lookup`] is the table, by namespace, class and method name. A row applies to the type of that
//! name in the core library only, or in the assembly of the class library that the row names. [`expand`] emits the code, or declines if the overload at hand is
//! not the one meant; then the call is made.
//!
//! # Invariants
//! * An intrinsic either has a body that must not run (`ByReference<T>`, `Array.UnsafeMov`), or
//!   does exactly what its body does. What [`of_caller`] adds does what matters to one caller, which
//!   cannot tell it from the body.
//! * [`effect`] never says less than the expansion does, because inlining relies on it.
//! * An atomic exchange of a reference marks its card like any other store, and no asynchronous
//!   exception comes between the two.
use crate::emit::{null_trap, trusted};
use crate::signature::{LoweredSignature, scalar_kind};
use crate::translate::calls::bounds::Bound;
use crate::translate::calls::call::Dispatch;
use crate::translate::calls::characters::{self, CharQuestion};
use crate::translate::calls::crypto::{self, Step};
use crate::translate::calls::library::Routine;
use crate::translate::calls::math;
use crate::translate::calls::type_facts::{self, Fact};
use crate::translate::error::Res;
use crate::translate::inlining::effect::SideEffect;
use crate::translate::simd::{Operation, operation_of};
use crate::translate::translator::Translator;
use crate::translate::values::memory::Dest;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Value, types::*};
use vervet_abi::object::{ARRAY_LENGTH_OFFSET, STRING_CHARS_OFFSET, STRING_LENGTH_OFFSET};
use vervet_abi::{MathFunction, ThrowKind, call, vtable};
use vervet_types::{ClassRef, MethodRef, Prim};

/// What is emitted instead of the call.
#[derive(Clone, Copy)]
enum Intrinsic {
    /// `ByReference<T>(ref T)`: stores the address.
    ByReferenceCtor,
    /// `ByReference<T>.Value`: loads the address.
    ByReferenceValue,
    /// `Array.UnsafeMov<S, R>`: the bits of a value as another type.
    UnsafeMov,
    /// `Array.UnsafeLoad<T>`: an element without a bounds check.
    UnsafeLoad,
    /// `Array.UnsafeStore<T>`: the same for a store.
    UnsafeStore,
    /// `Array.Length`.
    ArrayLength,
    /// `Array.GetRank()`.
    ArrayRank,
    /// `Array.GetGenericValueImpl<T>(int, out T)`.
    GetGenericValue,
    /// `Array.SetGenericValueImpl<T>(int, ref T)`.
    SetGenericValue,
    /// `RuntimeHelpers.OffsetToStringData`: where a string's characters are.
    OffsetToStringData,
    /// `RuntimeHelpers.IsReferenceOrContainsReferences<T>`.
    HasReferences,
    /// `string.Length`.
    StringLength,
    /// `string[int]`.
    StringChars,
    /// `string.FastAllocateString(int)`.
    AllocateString,
    /// Copies of `1 << shift`-byte units, without references.
    Move { shift: i64 },
    /// `Monitor.Enter`, module `fast_paths::monitors`.
    MonitorEnter,
    /// `Monitor.Exit`.
    MonitorExit,
    /// `Monitor.ThrowLockTakenException`, which `Monitor.Enter` calls.
    ThrowLockTaken,
    /// `EqualityComparer<T>.Default`, module `comparers`.
    DefaultComparer,
    /// `Activator.CreateInstance<T>()`, module `activator`.
    CreateInstance,
    /// `GCHandle.Target`, module `fast_paths::handles`.
    HandleTarget,
    /// `GCHandle.GetTargetHandle`: creates a handle or sets its target.
    TargetHandle,
    /// `GCHandle.FreeHandle(int)`.
    FreeHandle,
    /// `GCHandle.Free()`.
    FreeHandleAt,
    /// `new object()`, and the call of it in every constructor.
    ObjectCtor,
    /// `object.GetType()`, module `get_type`.
    GetType,
    /// `Type.Name`, there as well.
    TypeName,
    /// `Type == Type` (true) and `!=` (false).
    TypeEquals(bool),
    /// `Interlocked.Increment` and `Decrement`: what is added.
    Increment(i64),
    /// `Interlocked.Add`.
    Add,
    /// `Interlocked.Exchange`.
    Exchange,
    /// `Interlocked.CompareExchange`.
    CompareExchange,
    /// `Interlocked.Read`.
    ReadLong,
    /// `Volatile.Read` and `Thread.VolatileRead`.
    VolatileRead,
    /// `Volatile.Write` and `Thread.VolatileWrite`.
    VolatileWrite,
    /// `Thread.MemoryBarrier`.
    Fence,
    /// `Environment.ProcessorCount`, a constant of the process.
    ProcessorCount,
    /// `ThreadPool.NotifyWorkItemQueued`: nobody counts these.
    Nothing,
    /// `CharUnicodeInfo.EndianSwap`: the value as it is, because the tables are little-endian. Its callers pass what they have loaded with the parameter's type.
    Unchanged,
    /// `Thread.IsGreenThread`, module `fast_paths::green`.
    IsGreenThread,
    /// `Thread.SpinWait(int)`, as well.
    SpinWait,
    /// `ManualResetEventSlim.SpinCount`, as well.
    SpinCount,
    /// `Environment.TickCount`, by a clock that is read fast and advances in steps of milliseconds.
    CoarseTickCount,
    /// `ExecutionContext.Capture()`: the default context itself if that is what would be copied.
    CaptureDefault,
    /// `Math.Sqrt`.
    Sqrt,
    /// `Math.Abs` of floats.
    Abs,
    /// `Math.Max` of integers, or `Math.Min`.
    Extreme { is_max: bool },
    /// `Math.Floor`, `Ceiling` and `Round` with one argument.
    Round(Rounding),
    /// `Array.GetRawSzArrayData`.
    ArrayData,
    /// `Array.GetLowerBound` and `GetLength`, module `bounds`.
    ArrayBound(Bound),
    /// `Enum.HasFlag`, module `has_flag`.
    HasFlag,
    /// A function of the C library, module `math`.
    Math(MathFunction),
    /// A search, comparison or sort of plain values, module `library`.
    Library(Routine),
    /// A step of a hash or of a cipher, module `crypto`.
    Crypto(Step),
    /// A question about a character, module `characters`.
    Char(CharQuestion),
    /// `RegexCharClass.CharInClass`, as well.
    CharInClass,
    /// An operation on vectors, module `simd`.
    Vector(Operation),
    /// `DateTime.GetDatePart(int)`, module `dates`.
    DatePart,
    /// An internal call of `RuntimeTypeHandle`, module `type_facts`.
    TypeFact(Fact),
    /// `MonoMethodInfo.get_method_attributes`, as well.
    MethodFlags,
}

/// How a float is rounded to an integer.
#[derive(Clone, Copy)]
enum Rounding {
    Floor,
    Ceiling,
    /// To the nearest integer, halves to the even one.
    Nearest,
    /// Towards zero.
    Zero,
}

/// The table's rows of the namespace System.
fn of_system(class: &str, method: &str) -> Option<Intrinsic> {
    use Intrinsic::*;
    Some(match class {
        "ByReference`1" => match method {
            ".ctor" => ByReferenceCtor,
            "get_Value" => ByReferenceValue,
            _ => return None,
        },
        "Array" => match method {
            "UnsafeMov" => UnsafeMov,
            "UnsafeLoad" => UnsafeLoad,
            "UnsafeStore" => UnsafeStore,
            "get_Length" => ArrayLength,
            "GetRank" => ArrayRank,
            "GetLowerBound" => ArrayBound(Bound::Lower),
            "GetLength" => ArrayBound(Bound::Length),
            "FastCopy" => Library(Routine::Copy),
            "GetRawSzArrayData" => ArrayData,
            "GetGenericValueImpl" => GetGenericValue,
            "SetGenericValueImpl" => SetGenericValue,
            _ => return None,
        },
        "String" => match method {
            "get_Length" => StringLength,
            "get_Chars" => StringChars,
            "FastAllocateString" => AllocateString,
            "wstrcpy" => Move { shift: 1 },
            "IndexOfUnchecked" => Library(Routine::IndexOfText),
            _ => return None,
        },
        "SpanHelpers" => match method {
            "IndexOf" => Library(Routine::IndexOf),
            "SequenceEqual" => Library(Routine::SequenceEqual),
            _ => return None,
        },
        "Buffer" => match method {
            "Memcpy" | "Memmove" => Move { shift: 0 },
            "InternalBlockCopy" => Library(Routine::BlockCopy),
            _ => return None,
        },
        "Activator" if method == "CreateInstance" => CreateInstance,
        "Object" => match method {
            ".ctor" => ObjectCtor,
            "GetType" => GetType,
            _ => return None,
        },
        "DateTime" if method == "GetDatePart" => DatePart,
        "Enum" if method == "HasFlag" => HasFlag,
        "RuntimeTypeHandle" => return type_facts::fact(method).map(TypeFact),
        "Char" => return characters::question(method).map(Char),
        "Environment" => match method {
            "get_ProcessorCount" => ProcessorCount,
            "get_TickCount" => CoarseTickCount,
            _ => return None,
        },
        "Type" => match method {
            "op_Equality" => TypeEquals(true),
            "op_Inequality" => TypeEquals(false),
            _ => return None,
        },
        "Math" | "MathF" => match method {
            "Sqrt" => Sqrt,
            "Abs" => Abs,
            "Max" => Extreme { is_max: true },
            "Min" => Extreme { is_max: false },
            "Floor" => Round(Rounding::Floor),
            "Ceiling" => Round(Rounding::Ceiling),
            "Round" => Round(Rounding::Nearest),
            "Truncate" => Round(Rounding::Zero),
            _ if class == "Math" => return math::function_of(method).map(Math),
            _ => return None,
        },
        _ => return None,
    })
}

/// The table.
fn lookup(namespace: &str, class: &str, method: &str) -> Option<Intrinsic> {
    use Intrinsic::*;
    Some(match namespace {
        "System" => return of_system(class, method),
        "System.Runtime.CompilerServices" => match (class, method) {
            ("RuntimeHelpers", "get_OffsetToStringData") => OffsetToStringData,
            ("RuntimeHelpers", "IsReferenceOrContainsReferences") => HasReferences,
            _ => return None,
        },
        "System.Reflection" => match (class, method) {
            ("MonoMethodInfo", "get_method_attributes") => MethodFlags,
            ("MemberInfo", "get_Name") => TypeName,
            _ => return None,
        },
        "System.Globalization" => match (class, method) {
            ("CharUnicodeInfo", "EndianSwap") => Unchanged,
            ("CompareInfo", "CompareOrdinalIgnoreCase") => Library(Routine::CompareIgnoringCase),
            _ => return None,
        },
        "System.Security.Cryptography" => return crypto::step_of(class, method, true).map(Crypto),
        "System.Collections.Generic" => match (class, method) {
            ("EqualityComparer`1", "get_Default") => DefaultComparer,
            ("ArraySortHelper`1", "Sort") => Library(Routine::Sort),
            _ => return None,
        },
        "System.Runtime.InteropServices" => match (class, method) {
            ("GCHandle", "GetTarget" | "get_Target") => HandleTarget,
            ("GCHandle", "GetTargetHandle") => TargetHandle,
            ("GCHandle", "FreeHandle") => FreeHandle,
            ("GCHandle", "Free") => FreeHandleAt,
            _ => return None,
        },
        "System.Threading" => match (class, method) {
            ("Monitor", "Enter") => MonitorEnter,
            ("Monitor", "Exit") => MonitorExit,
            ("Interlocked", "Increment") => Increment(1),
            ("Interlocked", "Decrement") => Increment(-1),
            ("Interlocked", "Add") => Add,
            ("Interlocked", "Exchange") => Exchange,
            ("Interlocked", "CompareExchange") => CompareExchange,
            ("Interlocked", "Read") => ReadLong,
            ("Interlocked" | "Thread", "MemoryBarrier") => Fence,
            ("Volatile", "Read") | ("Thread", "VolatileRead") => VolatileRead,
            ("Volatile", "Write") | ("Thread", "VolatileWrite") => VolatileWrite,
            ("ThreadPool", "NotifyWorkItemQueued") => Nothing,
            ("Thread", "get_IsGreenThread") => IsGreenThread,
            ("Thread", "SpinWait") => SpinWait,
            _ => return None,
        },
        _ => return None,
    })
}

/// Rows for one caller of the core library each.
///
/// * The constructor of a task keeps nothing if the context is the default one, but asks for a copy of the context,
///   which never is. So every task would keep such a copy, and an object of rare properties for it. What runs a
///   task takes the default context where it keeps none, and does the same with it as with a copy.
/// * A wait for an event spins as often as its constructor was told. A green thread does not.
/// * In mono `Enter` is native code with a text of its own for a `lockTaken` that is true; `TryEnter` is managed.
fn of_caller(caller: MethodRef, class: &str, method: &str) -> Option<Intrinsic> {
    if !caller.class.module.is_corlib() {
        return None;
    }
    match (caller.class.name, caller.name, class, method) {
        ("Task", "TaskConstructorCore", "ExecutionContext", "Capture") => {
            Some(Intrinsic::CaptureDefault)
        }
        ("ManualResetEventSlim", "Wait", "ManualResetEventSlim", "get_SpinCount") => {
            Some(Intrinsic::SpinCount)
        }
        ("Monitor", "Enter", "Monitor", "ThrowLockTakenException") => {
            Some(Intrinsic::ThrowLockTaken)
        }
        _ => None,
    }
}

/// The row of a method.
fn row_of(method: MethodRef) -> Option<Intrinsic> {
    let def = method.class.def();
    if def.module.is_corlib() {
        return match def.namespace {
            "System.Numerics" => operation_of(method).map(Intrinsic::Vector),
            namespace => lookup(namespace, def.name, method.name),
        };
    }
    if def.namespace == "Mono.Simd" {
        return operation_of(method).map(Intrinsic::Vector);
    }
    let (which, assembly) = beyond_corlib(def.namespace, def.name, method.name)?;
    def.module.is_of_class_library(assembly).then_some(which)
}

/// The table's rows of other assemblies of the class library.
fn beyond_corlib(namespace: &str, class: &str, method: &str) -> Option<(Intrinsic, &'static str)> {
    match (namespace, class, method) {
        ("System.Text.RegularExpressions", "RegexCharClass", "CharInClass") => {
            Some((Intrinsic::CharInClass, "System"))
        }
        ("System.Security.Cryptography", _, _) => {
            let step = crypto::step_of(class, method, false)?;
            Some((Intrinsic::Crypto(step), "System.Core"))
        }
        _ => None,
    }
}

/// Expands a call whose arguments are on the stack. False: the call must be made.
pub(crate) fn expand(t: &mut Translator<'_, '_>, method: MethodRef) -> Res<bool> {
    let def = method.class.def();
    let of_caller = || match def.module.is_corlib() {
        true => of_caller(t.body.method, def.name, method.name),
        false => None,
    };
    match row_of(method).or_else(of_caller) {
        Some(which) => t.expand(which, method),
        None => Ok(false),
    }
}

/// Whether the method is in the table.
pub(crate) fn is_known(method: MethodRef) -> bool {
    row_of(method).is_some()
}

/// What the expansion of a method of the table does. An inlined body may run it once more in the
/// call that replaces an outlined block (module `decision`).
pub(crate) fn effect(method: MethodRef) -> SideEffect {
    use Intrinsic::*;
    match row_of(method) {
        Some(
            UnsafeMov
            | ArrayLength
            | ArrayRank
            | OffsetToStringData
            | HasReferences
            | StringLength
            | ObjectCtor
            | TypeEquals(_)
            | ProcessorCount
            | Nothing
            | Unchanged
            | IsGreenThread
            | Sqrt
            | Abs
            | Extreme { .. }
            | Round(_)
            | Math(_),
        ) => SideEffect::None,
        Some(Vector(operation)) => operation.effect(),
        Some(
            StringChars
            | DefaultComparer
            | ByReferenceValue
            | GetType
            | UnsafeLoad
            | HandleTarget
            | TargetHandle
            | ReadLong
            | VolatileRead
            | CharInClass
            | DatePart
            | Library(Routine::IndexOf | Routine::SequenceEqual),
        ) => SideEffect::Reads,
        _ => SideEffect::Writes,
    }
}

/// Whether the processor rounds floats in one instruction (SSE 4.1). Without it Cranelift would
/// call a library function.
fn can_round() -> bool {
    cfg!(not(target_arch = "x86_64")) || std::is_x86_feature_detected!("sse4.1")
}

impl<'a, 'f> Translator<'a, 'f> {
    /// Emits the code of one intrinsic. False: this overload is not meant.
    #[expect(clippy::too_many_lines, reason = "a table of intrinsics")]
    fn expand(&mut self, which: Intrinsic, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let params = &sig.params;
        match which {
            // `ByReference<T>` is a struct of one managed pointer, which C# cannot express. Its
            // constructor and `Value` throw NotSupportedException if they run.
            Intrinsic::ByReferenceCtor => {
                let value = self.pop_address()?;
                let at = self.pop_address()?;
                // Its field is an IntPtr.
                self.expose(&value);
                let flags = self.null_checked(&at, 0, 8);
                self.e.b.ins().store(flags, value.value, at.value, 0);
            }
            Intrinsic::ByReferenceValue => {
                let at = self.pop_address()?;
                let flags = self.null_checked(&at, 0, 8);
                let value = self.e.b.ins().load(I64, flags, at.value, 0);
                self.push(StackType::ByRef, value);
            }
            Intrinsic::UnsafeMov => {
                let &[from, to] = method.method_args() else {
                    return Ok(false);
                };
                return self.unsafe_mov(from, to);
            }
            // `Array.UnsafeLoad` and `UnsafeStore` access an element without a bounds check.
            Intrinsic::UnsafeLoad => {
                let &[class] = method.method_args() else {
                    return Ok(false);
                };
                self.load_element(class, false)?;
            }
            Intrinsic::UnsafeStore => {
                let &[class] = method.method_args() else {
                    return Ok(false);
                };
                self.store_element(Some(class), false)?;
            }
            // The length of vectors and of arrays with bounds is at the same offset.
            Intrinsic::ArrayLength => {
                let array = self.pop_ref()?;
                let flags = self.null_checked(&array, i64::from(ARRAY_LENGTH_OFFSET), 4);
                let value = self
                    .e
                    .b
                    .ins()
                    .load(I32, flags, array.value, ARRAY_LENGTH_OFFSET);
                self.push(StackType::I32, value);
            }
            Intrinsic::ArrayRank => {
                let array = self.pop_ref()?;
                let flags = self.null_checked(&array, 0, 4);
                let vtable = self.e.b.ins().uload32(flags, array.value, 0);
                let value = self
                    .e
                    .b
                    .ins()
                    .uload8(I32, trusted(), vtable, vtable::RANK_OFFSET);
                self.push(StackType::I32, value);
            }
            // `GetGenericValueImpl<T>(int, out T)`: its callers have checked the index.
            Intrinsic::GetGenericValue => {
                let &[class] = method.method_args() else {
                    return Ok(false);
                };
                self.spill_aliased(3)?;
                let to = self.pop_address()?;
                self.load_element(class, false)?;
                let operand = self.pop()?;
                let flags = self.null_checked(&to, 0, self.size_of(class)?);
                let dest = if let ValueFact::Frame = to.fact {
                    Dest::Frame
                } else {
                    Dest::Anywhere
                };
                self.store_value(class, &operand, to.value, 0, flags, dest)?;
            }
            Intrinsic::SetGenericValue => {
                let &[class] = method.method_args() else {
                    return Ok(false);
                };
                let from = self.pop_address()?;
                let flags = self.null_checked(&from, 0, self.size_of(class)?);
                let operand = self.load_value(class, from.value, 0, flags)?;
                self.push_value(operand);
                self.store_element(Some(class), true)?;
            }
            Intrinsic::OffsetToStringData => {
                let value = self.i32(STRING_CHARS_OFFSET);
                self.push(StackType::I32, value);
            }
            Intrinsic::ProcessorCount => {
                let value = self.i32(vervet_os::thread::processors());
                self.push(StackType::I32, value);
            }
            Intrinsic::Nothing | Intrinsic::Unchanged => {}
            Intrinsic::IsGreenThread => self.is_green_thread(),
            Intrinsic::SpinWait => return self.spin_wait(method),
            Intrinsic::SpinCount => return self.spin_count(method),
            Intrinsic::CoarseTickCount => {
                let value = self.e.helper_value(call::CoarseTickCount, []);
                self.push(StackType::I32, value);
            }
            Intrinsic::ArrayData => self.array_data()?,
            Intrinsic::CharInClass => return self.char_in_class(method),
            Intrinsic::DatePart => return self.date_part(method),
            Intrinsic::TypeFact(fact) => return self.type_fact(fact, method),
            Intrinsic::MethodFlags => return self.method_flags(method),
            Intrinsic::Char(question) => return self.ask_character(question, method),
            Intrinsic::CaptureDefault => return self.capture_default(method),
            // Constant for each instantiation, so the branch on it disappears.
            Intrinsic::HasReferences => {
                let &[class] = method.method_args() else {
                    return Ok(false);
                };
                let has = !class.is_value_type()? || !class.layout()?.ref_map.is_empty();
                let value = self.i32(has as i32);
                self.push(StackType::I32, value);
            }
            // Parameters are (to, from, count of 1 << shift bytes). The library's bodies copy byte
            // by byte where addresses are not aligned.
            Intrinsic::Move { shift } => {
                let fits =
                    sig.params.len() == 3 && !sig.has_this && method.method_args().is_empty();
                if !fits
                    || self
                        .body
                        .stack
                        .last()
                        .is_none_or(|i| i.stack_type != StackType::I32)
                {
                    return Ok(false);
                }
                self.spill_aliased(3)?;
                let count = self.pop_i32()?;
                let from = self.pop_address()?;
                let to = self.pop_address()?;
                let zero = self.i32(0);
                let count = self.e.b.ins().smax(count, zero);
                let count = self.e.b.ins().uextend(I64, count);
                let size = self.e.b.ins().ishl_imm_u(count, shift);
                self.move_block(&to, &from, size, 1 << shift);
            }
            // `this` may be null: the load of the length is the null check.
            Intrinsic::StringLength => {
                let string = self.pop_ref()?;
                let flags = self.null_checked(&string, i64::from(STRING_LENGTH_OFFSET), 4);
                let value = self
                    .e
                    .b
                    .ins()
                    .load(I32, flags, string.value, STRING_LENGTH_OFFSET);
                self.push(StackType::I32, value);
            }
            // The bounds check, as for an array; characters follow the length.
            Intrinsic::StringChars => {
                let index = self.pop_i32()?;
                let string = self.pop_ref()?;
                let flags = self.null_checked(&string, i64::from(STRING_LENGTH_OFFSET), 4);
                let length = self
                    .e
                    .b
                    .ins()
                    .load(I32, flags, string.value, STRING_LENGTH_OFFSET);
                let out = self
                    .e
                    .b
                    .ins()
                    .icmp(IntCC::UnsignedGreaterThanOrEqual, index, length);
                self.e.throw_if(out, ThrowKind::IndexOutOfRange);
                let wide = self.e.b.ins().uextend(I64, index);
                let scaled = self.e.b.ins().ishl_imm_u(wide, 1);
                let at = self.e.b.ins().iadd(string.value, scaled);
                let value = self
                    .e
                    .b
                    .ins()
                    .uload16(I32, trusted(), at, STRING_CHARS_OFFSET);
                self.push(StackType::I32, value);
            }
            // From the TLAB if the string is small; else by a call of the method itself.
            Intrinsic::AllocateString => {
                let length = self.pop_i32()?;
                let lowered = LoweredSignature::of_method(method)?;
                let signature = self.e.b.import_signature(lowered.clif);
                self.new_string_of(length, |e| e.call_method(method, signature, &[length])[0]);
            }
            Intrinsic::MonitorEnter => return self.enter_monitor(method),
            Intrinsic::MonitorExit => return self.exit_monitor(method),
            Intrinsic::ThrowLockTaken => self.e.helper(call::ThrowLockTaken, []),
            Intrinsic::DefaultComparer => return self.default_comparer(method),
            Intrinsic::GetType => return self.get_type(method),
            Intrinsic::TypeName => return self.type_name(method),
            Intrinsic::CreateInstance => return self.create_instance(method),
            Intrinsic::HandleTarget => return self.handle_target(method),
            Intrinsic::TargetHandle | Intrinsic::FreeHandle | Intrinsic::FreeHandleAt
                if self.e.recorded.handles =>
            {
                return Ok(false);
            }
            Intrinsic::TargetHandle => return self.target_handle(method),
            Intrinsic::FreeHandle => return self.free_handle(method),
            Intrinsic::FreeHandleAt => return self.free_handle_at(method),
            // Object's constructor does nothing. A null `this` cannot come from `newobj`.
            Intrinsic::ObjectCtor => {
                self.pop()?;
            }
            // There is one Type object for each type of a domain, so comparing references compares
            // types.
            Intrinsic::TypeEquals(equal) => {
                let b = self.pop_ref()?;
                let a = self.pop_ref()?;
                let cc = if equal { IntCC::Equal } else { IntCC::NotEqual };
                let same = self.e.b.ins().icmp(cc, a.value, b.value);
                let value = self.e.b.ins().uextend(I32, same);
                self.push(StackType::I32, value);
            }
            // Increment and Add return the new value; the machine's exchange-and-add returns the old
            // one. All Interlocked methods are full barriers (ECMA-335 I.12.6.5), which a locked
            // instruction is.
            Intrinsic::Increment(by) => {
                let Some(kind) = self.atomic_kind(params, 1)? else {
                    return Ok(false);
                };
                self.spill_aliased(1)?;
                let at = self.pop_address()?;
                let ty = kind.clif();
                let flags = self.atomic_flags(&at, 8);
                let by = self
                    .e
                    .b
                    .ins()
                    .iconst(ty, if ty == I32 { i64::from(by as u32) } else { by });
                let old = self
                    .e
                    .b
                    .ins()
                    .atomic_rmw(ty, flags, AtomicRmwOp::Add, at.value, by);
                let value = self.e.b.ins().iadd(old, by);
                self.push(kind, value);
            }
            Intrinsic::Add => {
                let Some(kind) = self.atomic_kind(params, 2)? else {
                    return Ok(false);
                };
                self.spill_aliased(2)?;
                let by = self.pop()?;
                let by = self.coerce(&by, kind)?;
                let at = self.pop_address()?;
                let flags = self.atomic_flags(&at, 8);
                let old =
                    self.e
                        .b
                        .ins()
                        .atomic_rmw(kind.clif(), flags, AtomicRmwOp::Add, at.value, by);
                let value = self.e.b.ins().iadd(old, by);
                self.push(kind, value);
            }
            Intrinsic::Exchange => {
                let Some(kind) = self.exchange_kind(params, 2)? else {
                    return Ok(false);
                };
                self.spill_aliased(2)?;
                let value = self.pop()?;
                let value = self.coerce(&value, kind)?;
                let at = self.pop_address()?;
                let flags = self.atomic_flags(&at, 8);
                let bits = self.bits_of(value, kind);
                let ty = self.e.b.func.dfg.value_type(bits);
                let mut old = bits;
                self.marked(kind, &at, bits, |t| {
                    old =
                        t.e.b
                            .ins()
                            .atomic_rmw(ty, flags, AtomicRmwOp::Xchg, at.value, bits)
                });
                let old = self.value_of_bits(old, kind);
                self.push_value(StackValue {
                    stack_type: kind,
                    value: old,
                    class: params[0].element(),
                    fact: ValueFact::None,
                });
            }
            Intrinsic::CompareExchange => {
                let Some(kind) = self.exchange_kind(params, 3)? else {
                    return Ok(false);
                };
                self.spill_aliased(3)?;
                let expected = self.pop()?;
                let expected = self.coerce(&expected, kind)?;
                let value = self.pop()?;
                let value = self.coerce(&value, kind)?;
                let at = self.pop_address()?;
                let flags = self.atomic_flags(&at, 8);
                let (expected, value) = (self.bits_of(expected, kind), self.bits_of(value, kind));
                let mut old = value;
                self.marked(kind, &at, value, |t| {
                    old = t.e.b.ins().atomic_cas(flags, at.value, expected, value)
                });
                let old = self.value_of_bits(old, kind);
                self.push_value(StackValue {
                    stack_type: kind,
                    value: old,
                    class: params[0].element(),
                    fact: ValueFact::None,
                });
            }
            // A 64-bit load of an aligned word is atomic.
            Intrinsic::ReadLong => {
                let at = self.pop_address()?;
                let flags = self.null_checked(&at, 0, 8);
                let value = self.e.b.ins().load(I64, flags, at.value, 0);
                self.e.b.ins().sequence_point();
                self.push(StackType::I64, value);
            }
            // Acquire semantics: nothing that follows may be moved before the load. x86 does not do
            // that; the sequence point keeps the compiler from it.
            Intrinsic::VolatileRead => {
                let [p] = &params[..] else { return Ok(false) };
                let Some(class) = p.element() else {
                    return Ok(false);
                };
                let at = self.pop_address()?;
                let flags = self.null_checked(&at, 0, self.size_of(class)?);
                let operand = self.load_value(class, at.value, 0, flags)?;
                self.e.b.ins().sequence_point();
                self.push_value(operand);
            }
            // Release semantics: nothing that precedes may be moved behind the store.
            Intrinsic::VolatileWrite => {
                let [p, _] = &params[..] else {
                    return Ok(false);
                };
                let Some(class) = p.element() else {
                    return Ok(false);
                };
                self.spill_aliased(2)?;
                let value = self.pop()?;
                let at = self.pop_address()?;
                let flags = self.null_checked(&at, 0, self.size_of(class)?);
                self.e.b.ins().sequence_point();
                self.store_value(class, &value, at.value, 0, flags, Dest::Anywhere)?;
                self.e.b.ins().sequence_point();
            }
            // A full barrier, as `Thread.MemoryBarrier` says: `mfence`.
            Intrinsic::Fence => {
                self.e.b.ins().fence();
            }
            // The machine's instruction rounds as IEEE 754 demands, so the result is that of the
            // library.
            Intrinsic::Sqrt => {
                let Some(x) = self.float_argument(params)? else {
                    return Ok(false);
                };
                let value = self.e.b.ins().sqrt(x.value);
                self.push(x.stack_type, value);
            }
            Intrinsic::Abs => {
                let Some(x) = self.float_argument(params)? else {
                    return Ok(false);
                };
                let value = self.e.b.ins().fabs(x.value);
                self.push(x.stack_type, value);
            }
            Intrinsic::ArrayBound(which) => return self.array_bound(which, method),
            Intrinsic::HasFlag => return self.has_flag(),
            Intrinsic::Math(function) => return self.math(function, method),
            Intrinsic::Extreme { is_max } => return self.extreme(is_max, method),
            Intrinsic::Vector(operation) => return self.vector_operation(operation, method),
            Intrinsic::Crypto(step) => return self.crypto_step(step, method),
            Intrinsic::Library(routine) => return self.library_routine(routine, method),
            Intrinsic::Round(how) => {
                if !can_round() {
                    return Ok(false);
                }
                let Some(x) = self.float_argument(params)? else {
                    return Ok(false);
                };
                let value = match how {
                    Rounding::Floor => self.e.b.ins().floor(x.value),
                    Rounding::Ceiling => self.e.b.ins().ceil(x.value),
                    Rounding::Nearest => self.e.b.ins().nearest(x.value),
                    Rounding::Zero => self.e.b.ins().trunc(x.value),
                };
                self.push(x.stack_type, value);
            }
        }
        Ok(true)
    }

    /// `ExecutionContext.Capture()`, but `ExecutionContext.Default` in place of a copy of it:
    ///
    /// ```text
    ///     context = Capture(ref StackCrawlMark.LookForMyCaller, CaptureOptions.OptimizeDefaultCase)
    ///     select(context == ExecutionContext.s_dummyDefaultEC, ExecutionContext.Default, context)
    /// ```
    fn capture_default(&mut self, method: MethodRef) -> Res<bool> {
        const LOOK_FOR_MY_CALLER: i32 = 1;
        const OPTIMIZE_DEFAULT_CASE: i32 = 2;
        let class = method.class;
        let (Some(full), Some(nothing), Some(default), 0) = (
            class.find_method("Capture", Some(2))?,
            class.find_field("s_dummyDefaultEC")?,
            class.find_field("Default")?,
            method.param_count,
        ) else {
            return Ok(false);
        };
        let mark = self.temp(4);
        let at = self.e.slot_addr(mark);
        let value = self.i32(LOOK_FOR_MY_CALLER);
        self.e.b.ins().store(trusted(), value, at, 0);
        self.push_value(StackValue {
            stack_type: StackType::ByRef,
            value: at,
            class: None,
            fact: ValueFact::Frame,
        });
        let options = self.i32(OPTIMIZE_DEFAULT_CASE);
        self.push(StackType::I32, options);
        let lowered = LoweredSignature::of_method(full)?;
        self.emit_call(Dispatch::Direct(full), &lowered, false)?;
        self.load_static(nothing)?;
        self.load_static(default)?;
        let (default, nothing, context) = (self.pop_ref()?, self.pop_ref()?, self.pop_ref()?);
        let is_nothing = self
            .e
            .b
            .ins()
            .icmp(IntCC::Equal, context.value, nothing.value);
        let value = self
            .e
            .b
            .ins()
            .select(is_nothing, default.value, context.value);
        // Null where the flow of contexts is suppressed.
        self.push_class(class, value)?;
        Ok(true)
    }

    /// Pops the argument if the overload takes one float, in the precision of the overload.
    fn float_argument(&mut self, params: &[ClassRef]) -> Res<Option<StackValue>> {
        let [class] = params else { return Ok(None) };
        let kind = match class.prim {
            Some(Prim::R4) => StackType::F32,
            Some(Prim::R8) => StackType::F64,
            _ => return Ok(None),
        };
        let operand = self.pop()?;
        let value = self.coerce(&operand, kind)?;
        Ok(Some(StackValue {
            stack_type: kind,
            value,
            class: None,
            fact: ValueFact::None,
        }))
    }

    /// The type that an Interlocked method works on, if it is an integer of 32 or 64 bits.
    fn atomic_kind(&self, params: &[ClassRef], count: usize) -> Res<Option<StackType>> {
        if params.len() != count {
            return Ok(None);
        }
        let Some(class) = params[0].element() else {
            return Ok(None);
        };
        if scalar_kind(class).size() < 4 {
            return Ok(None);
        }
        let kind = stack_type_of(class)?;
        Ok(matches!(kind, StackType::I32 | StackType::I64 | StackType::Native).then_some(kind))
    }

    /// The type that an Interlocked exchange works on, if it is a scalar of 32 or 64 bits.
    fn exchange_kind(&self, params: &[ClassRef], count: usize) -> Res<Option<StackType>> {
        if params.len() != count || params[1].is_byref() {
            return Ok(None);
        }
        let Some(class) = params[0].element() else {
            return Ok(None);
        };
        let kind = stack_type_of(class)?;
        if kind == StackType::Struct || scalar_kind(class).size() < 4 {
            return Ok(None);
        }
        Ok(Some(kind))
    }

    /// The memory flags of an atomic access.
    fn atomic_flags(&mut self, at: &StackValue, size: u32) -> MemFlagsData {
        let flags = self.null_checked(at, 0, size);
        if flags.trap_code().is_some() {
            null_trap()
        } else {
            trusted()
        }
    }

    /// A float as the integer of the same bits: CLIF has no atomic operations on floats.
    fn bits_of(&mut self, value: Value, kind: StackType) -> Value {
        match kind {
            StackType::F32 => self.e.b.ins().bitcast(I32, MemFlagsData::new(), value),
            StackType::F64 => self.e.b.ins().bitcast(I64, MemFlagsData::new(), value),
            _ => value,
        }
    }

    /// The reverse of `bits_of`.
    fn value_of_bits(&mut self, value: Value, kind: StackType) -> Value {
        match kind {
            StackType::F32 => self.e.b.ins().bitcast(F32, MemFlagsData::new(), value),
            StackType::F64 => self.e.b.ins().bitcast(F64, MemFlagsData::new(), value),
            _ => value,
        }
    }

    /// Emits the exchange of a reference; if it may have stored one in the heap, marks the card:
    ///
    /// ```text
    ///     old = atomic_cas at, expected, value
    ///     istore8 value, card(at)                 ; also if the comparison failed
    ///     sequence_point
    /// ```
    ///
    /// A card that is marked without a store is scanned once in vain. Testing the result of the
    /// exchange would cost more on every call.
    fn marked(
        &mut self,
        kind: StackType,
        at: &StackValue,
        value: Value,
        exchange: impl FnOnce(&mut Self),
    ) {
        if kind != StackType::Ref || matches!(at.fact, ValueFact::Frame) {
            return exchange(self);
        }
        self.e.begin_no_redirect();
        exchange(self);
        if self.constant(value) != Some(0) {
            crate::emit::barrier::mark(self.e, value, at.value, 0);
        }
        self.e.end_no_redirect();
    }

    /// `Array.UnsafeMov<S, R>`: the bits of one type as another type. A larger target is filled
    /// with zeros, a smaller one takes the low bits.
    fn unsafe_mov(&mut self, from: ClassRef, to: ClassRef) -> Res<bool> {
        let (source, target) = (stack_type_of(from)?, stack_type_of(to)?);
        let mut operand = self.pop()?;
        if source == StackType::Struct {
            self.check_struct(&operand, from)?;
        } else {
            operand.value = self.coerce(&operand, source)?;
            operand.stack_type = source;
        }
        let value = match (source, target) {
            (StackType::Struct, StackType::Struct) if from.layout()?.size >= to.layout()?.size => {
                operand.value
            }
            (StackType::Struct, StackType::Struct) => {
                let at = self.temp_of(to)?;
                self.zero(at, 0, to.layout()?.size, trusted());
                self.copy(
                    from,
                    at,
                    0,
                    trusted(),
                    operand.value,
                    0,
                    trusted(),
                    Dest::Frame,
                )?;
                at
            }
            (StackType::Struct, _) => {
                let operand = self.load_value(to, operand.value, 0, trusted())?;
                self.push_value(operand);
                return Ok(true);
            }
            (_, StackType::Struct) => {
                let at = self.temp_of(to)?;
                self.zero(at, 0, to.layout()?.size, trusted());
                self.store_value(from, &operand, at, 0, trusted(), Dest::Frame)?;
                at
            }
            (a, b) if a == b => operand.value,
            (StackType::I32, b) if b.is_word() => {
                let value = self.coerce(&operand, StackType::I32)?;
                let unsigned = matches!(
                    from.stack_prim()?,
                    Some(Prim::U4 | Prim::U2 | Prim::U1 | Prim::Char | Prim::Bool)
                );
                if unsigned {
                    self.e.b.ins().uextend(I64, value)
                } else {
                    self.e.b.ins().sextend(I64, value)
                }
            }
            (StackType::F32, StackType::I32) => {
                self.e
                    .b
                    .ins()
                    .bitcast(I32, MemFlagsData::new(), operand.value)
            }
            (StackType::I32, StackType::F32) => {
                self.e
                    .b
                    .ins()
                    .bitcast(F32, MemFlagsData::new(), operand.value)
            }
            (StackType::F64, b) if b.is_word() => {
                self.e
                    .b
                    .ins()
                    .bitcast(I64, MemFlagsData::new(), operand.value)
            }
            (a, StackType::F64) if a.is_word() => {
                self.e
                    .b
                    .ins()
                    .bitcast(F64, MemFlagsData::new(), operand.value)
            }
            _ => self.coerce(&operand, target)?,
        };
        let value = if target == StackType::I32 {
            self.narrow(value, scalar_kind(to))
        } else {
            value
        };
        let class = Some(to);
        self.push_value(StackValue {
            stack_type: target,
            value,
            class,
            fact: ValueFact::None,
        });
        Ok(true)
    }
}
