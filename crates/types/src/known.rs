//! The types of the core library that the runtime knows by name: one declared table.
//!
//! # Invariants
//! * A row is one name. No other place in the runtime spells the name of a type.
//! * A row is resolved when it is first asked for: a program needs a sixth of them. Resolving takes no lock that the
//!   type system holds elsewhere while it asks.
//! * [`crate::Universe::check_known`] resolves all rows and names one that is missing. It is called at start-up unless the
//!   core library is one for which a test has called it, so [`crate::Universe::known`] does not fail.
//! * A generic type has its plain name (`Span`), with its arity where a type without parameters has
//!   the same name (`IList1`).

use crate::ClassRef;

macro_rules! known {
    ($($ns:literal: $($id:ident $(= $name:literal)?),* ;)*) => {
        /// A type of the core library; see the module.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u16)]
        #[expect(missing_docs, reason = "each is the type of that name")]
        pub enum Known { $($($id,)*)* }

        /// Namespace and name of each, in order of declaration.
        pub(crate) const NAMES: &[(Known, &str, &str)] = &[$($((Known::$id, $ns, known!(@name $id $($name)?)),)*)*];
    };
    (@name $id:ident) => { stringify!($id) };
    (@name $id:ident $name:literal) => { $name };
}

known! {
    "System": Object, Void, Boolean, Byte, SByte, Int16, UInt16, Int32, UInt32, Int64, UInt64, IntPtr, UIntPtr,
        Single, Double, Char, String, Enum, ValueType, Array, Delegate, MulticastDelegate, Decimal, DateTime,
        DateTimeOffset, TimeSpan, Guid, DBNull, RuntimeTypeHandle, RuntimeMethodHandle, RuntimeFieldHandle,
        RuntimeArgumentHandle, ModuleHandle, Type, RuntimeType, Exception, AppDomain, AppDomainSetup,
        MarshalByRefObject, ContextBoundObject, TypedReference, ArgIterator, Attribute, FlagsAttribute, ThreadStaticAttribute,
        ContextStaticAttribute, ObsoleteAttribute, AttributeUsageAttribute, ParamArrayAttribute,
        SerializableAttribute, NonSerializedAttribute, Nullable = "Nullable`1", ByReference = "ByReference`1",
        Span = "Span`1", ReadOnlySpan = "ReadOnlySpan`1", Memory = "Memory`1", ArraySegment = "ArraySegment`1",
        DelegateData, MonoTypeInfo, MonoAsyncCall, Math, MathF, Console, Environment, GC, Buffer, Activator, Version,
        Lazy = "Lazy`1", Tuple = "Tuple`2", ValueTuple = "ValueTuple`2", IDisposable, ICloneable, IComparable,
        IComparable1 = "IComparable`1", IEquatable = "IEquatable`1", IConvertible, IFormattable, IAsyncResult,
        AsyncCallback, Action, Func = "Func`1", EventArgs, EventHandler, UnhandledExceptionEventArgs,
        UnhandledExceptionEventHandler, ResolveEventArgs, ResolveEventHandler, AssemblyLoadEventArgs,
        AssemblyLoadEventHandler, TypeCode, Random, Convert, BitConverter, TimeZoneInfo, MonoListItem,
        ComObject = "__ComObject";
    "System": SystemException, ApplicationException, NullReferenceException, IndexOutOfRangeException,
        InvalidCastException, ArrayTypeMismatchException, DivideByZeroException, ArithmeticException,
        OverflowException, OutOfMemoryException, InsufficientMemoryException, StackOverflowException,
        ExecutionEngineException, InvalidProgramException, TypeLoadException, TypeInitializationException,
        TypeUnloadedException, EntryPointNotFoundException, DllNotFoundException, BadImageFormatException,
        MissingMemberException, MissingMethodException, MissingFieldException, MethodAccessException,
        FieldAccessException, MemberAccessException, AccessViolationException, ArgumentException,
        ArgumentNullException, ArgumentOutOfRangeException, NotSupportedException, NotImplementedException,
        InvalidOperationException, FormatException, RankException, UnauthorizedAccessException,
        AppDomainUnloadedException, CannotUnloadAppDomainException, NotFiniteNumberException,
        OperationCanceledException, ObjectDisposedException, TimeoutException, DuplicateWaitObjectException,
        ContextMarshalException, MulticastNotSupportedException, PlatformNotSupportedException;
    "System.IO": IOException, FileNotFoundException, FileLoadException, DirectoryNotFoundException,
        PathTooLongException, EndOfStreamException, Stream, UnmanagedMemoryStream, MonoIOStat, MonoIOError;
    "System.Threading": Thread, InternalThread, ThreadAbortException, ThreadInterruptedException,
        ThreadStateException, ThreadStartException, SynchronizationLockException, SemaphoreFullException,
        AbandonedMutexException, WaitHandleCannotBeOpenedException, LockRecursionException, Monitor,
        ManualResetEvent, AutoResetEvent, EventWaitHandle, WaitHandle, Mutex, Timer, ThreadPool,
        ThreadPoolWaitCallback = "_ThreadPoolWaitCallback", ExecutionContext, SynchronizationContext, ThreadStart,
        ParameterizedThreadStart, Interlocked, Volatile, IThreadPoolWorkItem, RegisteredWaitHandle, NativeOverlapped,
        Overlapped, CancellationToken, SpinLock;
    "System.Threading.Tasks": Task, Task1 = "Task`1";
    "System.Diagnostics": StackFrame, StackTrace, DebuggableAttribute, Debugger;
    "System.Reflection": Assembly, RuntimeAssembly, Module, RuntimeModule, AssemblyName, MemberInfo, FieldInfo,
        RuntimeFieldInfo, MethodBase, MethodInfo, ConstructorInfo, RuntimeMethodInfo, RuntimeConstructorInfo,
        PropertyInfo, RuntimePropertyInfo, EventInfo, RuntimeEventInfo, ParameterInfo, RuntimeParameterInfo,
        MethodBody, LocalVariableInfo, ExceptionHandlingClause, ManifestResourceInfo, MonoMethodInfo,
        MonoPropertyInfo, MonoEventInfo, CustomAttributeData, CustomAttributeTypedArgument,
        CustomAttributeNamedArgument, Pointer, Missing, TargetInvocationException, TargetException,
        TargetParameterCountException, ReflectionTypeLoadException, CustomAttributeFormatException,
        AmbiguousMatchException, InvalidFilterCriteriaException, Binder, TypeInfo, DefaultMemberAttribute, MonoArrayMethod;
    "System.Runtime": AmbiguousImplementationException;
    "System.Reflection.Emit": AssemblyBuilder, ModuleBuilder, TypeBuilder, EnumBuilder, MethodBuilder,
        ConstructorBuilder, FieldBuilder, PropertyBuilder, EventBuilder, ParameterBuilder,
        GenericTypeParameterBuilder, DynamicMethod, ILGenerator, SignatureHelper, TypeBuilderInstantiation,
        ArrayType, ByRefType, PointerType, MethodOnTypeBuilderInst, FieldOnTypeBuilderInst,
        ConstructorOnTypeBuilderInst, CustomAttributeBuilder, Label, LocalBuilder, MonoResource, MonoWin32Resource,
        ILExceptionBlock, ILExceptionInfo, ILTokenInfo, OpCode;
    "System.Runtime.InteropServices": Marshal, SafeHandle, CriticalHandle, HandleRef, GCHandle, GCHandleType,
        ICustomMarshaler, MarshalAsAttribute, DllImportAttribute, StructLayoutAttribute, FieldOffsetAttribute,
        InAttribute, OutAttribute, OptionalAttribute, PreserveSigAttribute, ComImportAttribute,
        UnmanagedFunctionPointerAttribute, BestFitMappingAttribute, DefaultDllImportSearchPathsAttribute,
        COMException, SEHException, ExternalException, MarshalDirectiveException, SafeBuffer, GuidAttribute,
        VariantWrapper, MemoryMarshal;
    "System.Runtime.CompilerServices": RuntimeHelpers, RuntimeWrappedException, RuntimeCompatibilityAttribute,
        RuntimeFeature, InternalsVisibleToAttribute, IsVolatile, IsByRefLikeAttribute, FixedBufferAttribute,
        CompilerGeneratedAttribute, DecimalConstantAttribute, DateTimeConstantAttribute,
        ConditionalWeakTable = "ConditionalWeakTable`2", Ephemeron, Unsafe, IAsyncStateMachine,
        AsyncTaskMethodBuilder, ExtensionAttribute, TypeForwardedToAttribute, ReferenceAssemblyAttribute;
    "System.Runtime.ConstrainedExecution": CriticalFinalizerObject;
    "System.Runtime.ExceptionServices": ExceptionDispatchInfo, FirstChanceExceptionEventArgs,
        HandleProcessCorruptedStateExceptionsAttribute;
    "System.Runtime.Remoting": IRemotingTypeInfo, RemotingException, RemotingServices, ServerIdentity, Identity;
    "System.Runtime.Remoting.Proxies": TransparentProxy, RealProxy, ProxyAttribute;
    "System.Runtime.Remoting.Messaging": MonoMethodMessage, AsyncResult, IMessage, CallContext, LogicalCallContext;
    "System.Runtime.Remoting.Contexts": Context;
    "System.Runtime.Remoting.Activation": ActivationServices;
    "System.Runtime.Serialization": SerializationInfo, StreamingContext, SerializationException;
    "System.Runtime.Versioning": TargetFrameworkAttribute;
    "Mono.Interop": ComInteropProxy;
    "System.Security": SecurityException, VerificationException;
    "System.Security.Cryptography": CryptographicException;
    "System.Text": StringBuilder, Encoding, DecoderFallbackException, EncoderFallbackException;
    "System.Globalization": CultureInfo, CultureData, RegionInfo, CalendarData, CompareInfo, TextInfo,
        DateTimeFormatInfo, NumberFormatInfo, SortKey, CultureNotFoundException, Calendar;
    "System.Resources": MissingManifestResourceException, NeutralResourcesLanguageAttribute;
    "System.Collections": IEnumerable, IEnumerator, ICollection, IList, IDictionary, IStructuralEquatable,
        IStructuralComparable, ArrayList, Hashtable, DictionaryEntry;
    "System.Collections.Generic": IEnumerable1 = "IEnumerable`1", IEnumerator1 = "IEnumerator`1",
        ICollection1 = "ICollection`1", IList1 = "IList`1", IReadOnlyCollection = "IReadOnlyCollection`1",
        IReadOnlyList = "IReadOnlyList`1", IDictionary2 = "IDictionary`2", List = "List`1",
        Dictionary = "Dictionary`2", KeyValuePair = "KeyValuePair`2", EqualityComparer = "EqualityComparer`1",
        Comparer = "Comparer`1", GenericEqualityComparer = "GenericEqualityComparer`1",
        EnumEqualityComparer = "EnumEqualityComparer`1", IComparer = "IComparer`1",
        IEqualityComparer = "IEqualityComparer`1", KeyNotFoundException;
    "System.Numerics": Vector = "Vector`1", NumericsVector = "Vector";
    "Mono": RuntimeStructs, RuntimeClassHandle, RuntimeGPtrArrayHandle, RuntimeRemoteClassHandle,
        RuntimeGenericParamInfoHandle, RuntimeEventHandle, RuntimePropertyHandle, SafeStringMarshal,
        SafeGPtrArrayHandle, MonoAssemblyName, Runtime;
}

impl Known {
    /// Number of rows.
    pub const COUNT: usize = NAMES.len();
    /// Every row.
    pub fn all() -> impl Iterator<Item = Known> {
        NAMES.iter().map(|row| row.0)
    }
    /// Namespace.
    pub fn namespace(self) -> &'static str {
        NAMES[self as usize].1
    }
    /// Name, with the arity of a generic type.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].2
    }
}

/// Field offsets by name.
type Overlay = &'static [(&'static str, u32)];

/// Classes whose fields lie elsewhere than in order: (enclosing class, namespace, name, field offsets).
///
/// * `Array.RawData` shows an array's length and elements: here the length word lies directly behind the header and
///   serves as bounds and count, and the elements follow it (`vervet_abi::object`).
/// * `Delegate` has three words for mono's interpreter and compiler, which neither managed code nor this runtime uses. They
///   share a word with `delegate_trampoline`, so that a delegate takes 96 bytes instead of 120.
/// * `InternalThread` has 18 fields that neither managed code nor this runtime uses. Those of 64 bits share a word and those of 32 bits another, so that
///   one takes 136 bytes instead of 296. Each green thread has one.
const OVERLAYS: &[(Option<Known>, &str, &str, Overlay)] = &[
    (
        Some(Known::Array),
        "",
        "RawData",
        &[("Bounds", 0), ("Count", 0), ("Data", 8)],
    ),
    (
        None,
        "System",
        "Delegate",
        &[
            ("method_ptr", 0),
            ("invoke_impl", 8),
            ("m_target", 16),
            ("method", 24),
            ("delegate_trampoline", 32),
            ("method_code", 32),
            ("interp_method", 32),
            ("interp_invoke_impl", 32),
            ("extra_arg", 40),
            ("method_info", 48),
            ("original_method_info", 56),
            ("data", 64),
            ("method_is_virtual", 72),
        ],
    ),
    (
        None,
        "System.Threading",
        "InternalThread",
        &[
            ("abort_exc", 0),
            ("current_appcontext", 8),
            ("root_domain_thread", 16),
            ("_serialized_principal", 24),
            ("handle", 32),
            ("native_handle", 40),
            ("name_chars", 48),
            ("thread_id", 56),
            ("runtime_thread_info", 64),
            ("name_free", 72),
            ("name_length", 76),
            ("state", 80),
            ("abort_state_handle", 84),
            ("_serialized_principal_version", 88),
            ("stack_size", 92),
            ("critical_region_level", 96),
            ("managed_id", 100),
            ("small_id", 104),
            ("priority", 108),
            ("threadpool_thread", 112),
            ("thread_interrupt_requested", 113),
            ("apartment_state", 114),
            ("lock_thread_id", 116),
            ("interruption_requested", 116),
            ("self_suspended", 116),
            ("name_generation", 120),
            ("debugger_thread", 120),
            ("static_data", 120),
            ("appdomain_refs", 120),
            ("longlived", 120),
            ("manage_callback", 120),
            ("flags", 120),
            ("thread_pinning_ref", 120),
            ("abort_protected_block_count", 120),
            ("owned_mutex", 120),
            ("suspended_event", 120),
            ("thread_state", 120),
            ("netcore0", 120),
            ("netcore1", 120),
            ("netcore2", 120),
            ("last", 120),
        ],
    ),
];

/// Whether instances of the class have a reference behind their fields which no metadata names. A `RuntimeType` has the string there that is the name of its type, once somebody has asked
/// for it: the class library has no field for that.
pub(crate) fn has_hidden_reference(class: ClassRef) -> bool {
    class.name == "RuntimeType"
        && class.module.is_corlib()
        && std::ptr::eq(class, class.universe().known(Known::RuntimeType))
}

/// The field offsets of an overlay class, from the start of the value.
pub(crate) fn overlay(class: ClassRef) -> Option<Overlay> {
    let row = OVERLAYS.iter().find(|row| row.2 == class.name)?;
    if !class.module.is_corlib() {
        return None;
    }
    let outer = class.declaring_type().ok()?;
    let meant = match row.0 {
        Some(known) => outer == Some(class.universe().known(known)),
        None => outer.is_none() && class.namespace == row.1,
    };
    meant.then_some(row.3)
}
