//! The objects of the class library that the runtime itself reads and writes, each declared once.
//!
//! # Invariants
//! A struct here is the object as it lies in the heap, header included. At start-up the runtime compares
//! every field's name, offset, size, and whether it is a reference, with the layout the type system computed; a mismatch is an error that names
//! the field. What Reflection.Emit has is compared when it is first used. Fields after the last declared one are not looked at.

/// A reference field of a heap object: an address or 0. The collector updates it; never keep a copy in Rust
/// heap memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct RawRef(pub usize);

/// A type that a declared field may have.
trait FieldType {
    /// Is it a reference, to the collector?
    const REFERENCE: bool = false;
}
impl FieldType for RawRef {
    const REFERENCE: bool = true;
}
macro_rules! plain_fields { ($($t:ty)*) => { $( impl FieldType for $t {} )* } }
plain_fields!(u8 u16 i32 u32 i64 u64 usize);

/// One declared field, for the check at start-up.
pub struct DeclaredField {
    /// Its managed name.
    pub name: &'static str,
    /// Its offset in the object, header included.
    pub offset: usize,
    /// Bytes that it takes.
    pub size: usize,
    /// Is it a reference? The collector goes by the class library's type: a raw address in a field that is declared
    /// `object` there would be followed, a reference in an `IntPtr` would be lost.
    pub reference: bool,
}
/// One declared layout.
pub struct DeclaredLayout {
    /// Namespace and name; nested classes as `Outer/Inner`.
    pub class: &'static str,
    /// The fields.
    pub fields: &'static [DeclaredField],
    /// It is a value type: the offsets are those in an array's element, without a header.
    pub value: bool,
}

/// The header every object starts with.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// Address of the VTable.
    pub vtable: u32,
    /// Sync word.
    pub sync: u32,
}

/// What the layout of a value type begins with, as it lies in an array.
#[repr(C)]
#[derive(Debug)]
pub struct NoHeader {}

macro_rules! layouts {
    ($(#[$list_doc:meta])* $list:ident; $( $(#[$doc:meta])* $name:ident = $class:literal : $base:ident { $( $field:ident : $ty:ty = $managed:literal ),* $(,)? } )*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Debug)]
            #[expect(missing_docs, reason = "a field is described by its managed name, which is declared beside it")]
            pub struct $name { pub base: $base, $( pub $field: $ty ),* }
        )*
        $(#[$list_doc])*
        pub const $list: &[DeclaredLayout] = &[ $(
            DeclaredLayout { class: $class, value: size_of::<$base>() == 0, fields: &[ $( DeclaredField {
                name: $managed, offset: std::mem::offset_of!($name, $field),
                size: size_of::<$ty>(), reference: <$ty as FieldType>::REFERENCE } ),* ] },
        )* ];
    };
}

layouts! {
    /// The layouts that every program needs.
    LAYOUTS;
    /// System.Delegate. `invoke_impl` is called with `m_target`, or with the delegate itself if that is null.
    DelegateObject = "System.Delegate": Header {
        method_ptr: usize = "method_ptr", invoke_impl: usize = "invoke_impl", m_target: RawRef = "m_target",
        method: usize = "method", delegate_trampoline: usize = "delegate_trampoline", extra_arg: usize = "extra_arg",
        method_info: RawRef = "method_info",
        original_method_info: RawRef = "original_method_info", data: RawRef = "data",
        method_is_virtual: u8 = "method_is_virtual",
    }
    /// System.MulticastDelegate. `delegates` is null for a single target.
    MulticastDelegateObject = "System.MulticastDelegate": DelegateObject {
        delegates: RawRef = "delegates",
    }
    /// System.Type.
    TypeObject = "System.Type": Header { handle: usize = "_impl" }
    /// System.RuntimeType.
    RuntimeTypeObject = "System.RuntimeType": TypeObject {
        type_info: RawRef = "type_info", generic_cache: RawRef = "GenericCache",
        serialization_ctor: RawRef = "m_serializationCtor",
    }
    /// System.Exception.
    ExceptionObject = "System.Exception": Header {
        class_name: RawRef = "_className", message: RawRef = "_message", data: RawRef = "_data",
        inner_exception: RawRef = "_innerException", help_url: RawRef = "_helpURL", stack_trace: RawRef = "_stackTrace",
        stack_trace_string: RawRef = "_stackTraceString", remote_stack_trace_string: RawRef = "_remoteStackTraceString",
        remote_stack_index: i32 = "_remoteStackIndex", dynamic_methods: RawRef = "_dynamicMethods",
        hresult: i32 = "_HResult", source: RawRef = "_source",
        safe_serialization_manager: RawRef = "_safeSerializationManager",
        captured_traces: RawRef = "captured_traces", native_trace_ips: RawRef = "native_trace_ips",
        caught_in_unmanaged: i32 = "caught_in_unmanaged",
    }
    /// System.Threading.Thread.
    ThreadObject = "System.Threading.Thread": Header {
        internal_thread: RawRef = "internal_thread", start_arg: RawRef = "m_ThreadStartArg",
        pending_exception: RawRef = "pending_exception", delegate: RawRef = "m_Delegate",
        execution_context: RawRef = "m_ExecutionContext",
    }
    /// System.Threading.InternalThread: the fields that the runtime or managed code uses. The others lie behind them, over each other.
    InternalThreadObject = "System.Threading.InternalThread": Header {
        abort_exc: RawRef = "abort_exc", current_appcontext: RawRef = "current_appcontext",
        root_domain_thread: RawRef = "root_domain_thread", serialized_principal: RawRef = "_serialized_principal",
        handle: usize = "handle", native_handle: usize = "native_handle", name_chars: usize = "name_chars",
        thread_id: u64 = "thread_id", runtime_thread_info: usize = "runtime_thread_info", name_free: i32 = "name_free",
        name_length: i32 = "name_length", state: u32 = "state", abort_state_handle: i32 = "abort_state_handle",
        serialized_principal_version: i32 = "_serialized_principal_version", stack_size: i32 = "stack_size",
        critical_region_level: i32 = "critical_region_level", managed_id: i32 = "managed_id", small_id: i32 = "small_id",
        priority: i32 = "priority", threadpool_thread: u8 = "threadpool_thread",
        thread_interrupt_requested: u8 = "thread_interrupt_requested", apartment_state: u8 = "apartment_state",
    }
    /// System.Reflection.RuntimeAssembly.
    RuntimeAssemblyObject = "System.Reflection.RuntimeAssembly": Header {
        mono_assembly: usize = "_mono_assembly",
    }
    /// System.Reflection.RuntimeModule.
    RuntimeModuleObject = "System.Reflection.RuntimeModule": Header {
        handle: usize = "_impl", assembly: RawRef = "assembly", fqname: RawRef = "fqname", name: RawRef = "name",
        scopename: RawRef = "scopename", is_resource: u8 = "is_resource", token: i32 = "token",
    }
    /// System.Reflection.RuntimeMethodInfo.
    RuntimeMethodInfoObject = "System.Reflection.RuntimeMethodInfo": Header {
        mhandle: usize = "mhandle", name: RawRef = "name", reftype: RawRef = "reftype",
    }
    /// System.Reflection.RuntimeConstructorInfo.
    RuntimeConstructorInfoObject = "System.Reflection.RuntimeConstructorInfo": Header {
        mhandle: usize = "mhandle", name: RawRef = "name", reftype: RawRef = "reftype",
    }
    /// System.Reflection.RuntimeFieldInfo.
    RuntimeFieldInfoObject = "System.Reflection.RuntimeFieldInfo": Header {
        klass: usize = "klass", fhandle: usize = "fhandle", name: RawRef = "name", ty: RawRef = "type", attrs: i32 = "attrs",
    }
    /// System.Reflection.RuntimePropertyInfo.
    RuntimePropertyInfoObject = "System.Reflection.RuntimePropertyInfo": Header {
        klass: usize = "klass", prop: usize = "prop",
    }
    /// System.Reflection.RuntimeEventInfo.
    RuntimeEventInfoObject = "System.Reflection.RuntimeEventInfo": EventInfoObject {
        klass: usize = "klass", handle: usize = "handle",
    }
    /// System.Reflection.EventInfo.
    EventInfoObject = "System.Reflection.EventInfo": Header { cached_add_event: RawRef = "cached_add_event" }
    /// System.Diagnostics.StackFrame.
    StackFrameObject = "System.Diagnostics.StackFrame": Header {
        il_offset: i32 = "ilOffset", native_offset: i32 = "nativeOffset", method_address: i64 = "methodAddress",
        method_index: u32 = "methodIndex", method_base: RawRef = "methodBase", file_name: RawRef = "fileName",
        line_number: i32 = "lineNumber", column_number: i32 = "columnNumber",
        internal_method_name: RawRef = "internalMethodName",
    }
    /// System.AppDomain (base MarshalByRefObject holds `_identity`).
    AppDomainObject = "System.AppDomain": MarshalByRefObject {
        mono_app_domain: usize = "_mono_app_domain", evidence: RawRef = "_evidence", granted: RawRef = "_granted",
        principal_policy: i32 = "_principalPolicy", assembly_load: RawRef = "AssemblyLoad",
        assembly_resolve: RawRef = "AssemblyResolve", domain_unload: RawRef = "DomainUnload",
        process_exit: RawRef = "ProcessExit", resource_resolve: RawRef = "ResourceResolve",
        type_resolve: RawRef = "TypeResolve", unhandled_exception: RawRef = "UnhandledException",
    }
    /// System.Runtime.Remoting.Contexts.Context.
    ContextObject = "System.Runtime.Remoting.Contexts.Context": Header {
        domain_id: i32 = "domain_id", context_id: i32 = "context_id", static_data: usize = "static_data",
    }
    /// System.MarshalByRefObject.
    MarshalByRefObject = "System.MarshalByRefObject": Header { identity: RawRef = "_identity" }
    /// System.AppDomainSetup.
    AppDomainSetupObject = "System.AppDomainSetup": Header {
        application_base: RawRef = "application_base", application_name: RawRef = "application_name",
        cache_path: RawRef = "cache_path", configuration_file: RawRef = "configuration_file",
        dynamic_base: RawRef = "dynamic_base", license_file: RawRef = "license_file",
        private_bin_path: RawRef = "private_bin_path", private_bin_path_probe: RawRef = "private_bin_path_probe",
        shadow_copy_directories: RawRef = "shadow_copy_directories", shadow_copy_files: RawRef = "shadow_copy_files",
    }
    /// System.Runtime.Remoting.Messaging.AsyncResult.
    AsyncResultObject = "System.Runtime.Remoting.Messaging.AsyncResult": Header {
        async_state: RawRef = "async_state", handle: RawRef = "handle", async_delegate: RawRef = "async_delegate",
        data: usize = "data", object_data: RawRef = "object_data", sync_completed: u8 = "sync_completed",
        completed: u8 = "completed", endinvoke_called: u8 = "endinvoke_called", async_callback: RawRef = "async_callback",
    }
    /// System.MonoAsyncCall.
    MonoAsyncCallObject = "System.MonoAsyncCall": Header {
        msg: RawRef = "msg", cb_method: usize = "cb_method", cb_target: RawRef = "cb_target", state: RawRef = "state",
        res: RawRef = "res", out_args: RawRef = "out_args",
    }
    /// System.Runtime.Remoting.Messaging.MonoMethodMessage.
    MonoMethodMessageObject = "System.Runtime.Remoting.Messaging.MonoMethodMessage": Header {
        method: RawRef = "method", args: RawRef = "args", names: RawRef = "names", arg_types: RawRef = "arg_types",
        ctx: RawRef = "ctx", rval: RawRef = "rval", exc: RawRef = "exc", async_result: RawRef = "asyncResult",
        call_type: i32 = "call_type",
    }
    /// System.Runtime.Remoting.Proxies.TransparentProxy.
    TransparentProxyObject = "System.Runtime.Remoting.Proxies.TransparentProxy": Header {
        real_proxy: RawRef = "_rp", remote_class: usize = "_class", custom_type_info: u8 = "_custom_type_info",
    }
    /// System.Runtime.Remoting.Proxies.RealProxy.
    RealProxyObject = "System.Runtime.Remoting.Proxies.RealProxy": Header {
        class_to_proxy: RawRef = "class_to_proxy", target_context: RawRef = "_targetContext", server: RawRef = "_server",
        target_domain_id: i32 = "_targetDomainId", target_uri: RawRef = "_targetUri", object_identity: RawRef = "_objectIdentity",
        obj_tp: RawRef = "_objTP", stub_data: RawRef = "_stubData",
    }
    /// Mono.Interop.ComInteropProxy.
    ComInteropProxyObject = "Mono.Interop.ComInteropProxy": RealProxyObject {
        com_object: RawRef = "com_object", ref_count: i32 = "ref_count",
    }
    /// System.MarshalByRefObject.
    MarshalByRefObjectObject = "System.MarshalByRefObject": Header { identity: RawRef = "_identity" }
    /// System.__ComObject.
    ComObjectObject = "System.__ComObject": MarshalByRefObjectObject {
        iunknown: usize = "iunknown", hash_table: usize = "hash_table",
    }
    /// System.Runtime.InteropServices.SafeHandle.
    SafeHandleObject = "System.Runtime.InteropServices.SafeHandle": Header {
        handle: usize = "handle", state: i32 = "_state",
    }
}

layouts! {
    /// The layouts of System.Reflection.Emit, which are compared when a program first emits something.
    EMIT_LAYOUTS;
    /// DynamicMethod.
    DynamicMethodObject = "System.Reflection.Emit.DynamicMethod": Header {
        mhandle: usize = "mhandle", name: RawRef = "name", return_type: RawRef = "returnType",
        parameters: RawRef = "parameters", attributes: u32 = "attributes", calling_convention: u32 = "callingConvention",
        module: RawRef = "module", skip_visibility: u8 = "skipVisibility", init_locals: u8 = "init_locals",
        ilgen: RawRef = "ilgen", nrefs: i32 = "nrefs", refs: RawRef = "refs", referenced_by: usize = "referenced_by",
        owner: RawRef = "owner",
    }
    /// ILGenerator.
    ILGeneratorObject = "System.Reflection.Emit.ILGenerator": Header {
        code: RawRef = "code", code_len: i32 = "code_len", max_stack: i32 = "max_stack", cur_stack: i32 = "cur_stack",
        locals: RawRef = "locals", ex_handlers: RawRef = "ex_handlers", num_token_fixups: i32 = "num_token_fixups",
        token_fixups: RawRef = "token_fixups",
    }
    /// LocalVariableInfo, the base of LocalBuilder.
    LocalVariableInfoObject = "System.Reflection.LocalVariableInfo": Header {
        ty: RawRef = "type", is_pinned: u8 = "is_pinned", position: u16 = "position",
    }
    /// ILExceptionInfo, an element of `ex_handlers`.
    ILExceptionInfo = "System.Reflection.Emit.ILExceptionInfo": NoHeader {
        handlers: RawRef = "handlers", start: i32 = "start", len: i32 = "len", end: i32 = "end",
    }
    /// ILExceptionBlock, an element of `handlers`.
    ILExceptionBlock = "System.Reflection.Emit.ILExceptionBlock": NoHeader {
        extype: RawRef = "extype", kind: i32 = "type", start: i32 = "start", len: i32 = "len",
        filter_offset: i32 = "filter_offset",
    }
    /// SignatureHelper.
    SignatureHelperObject = "System.Reflection.Emit.SignatureHelper": Header {
        module: RawRef = "module", arguments: RawRef = "arguments", kind: i32 = "type", return_type: RawRef = "returnType",
        call_conv: u32 = "callConv", unmanaged_call_conv: u32 = "unmanagedCallConv", modreqs: RawRef = "modreqs",
        modopts: RawRef = "modopts",
    }
    /// AssemblyBuilder.
    AssemblyBuilderObject = "System.Reflection.Emit.AssemblyBuilder": Header {
        mono_assembly: usize = "_mono_assembly", evidence: RawRef = "_evidence", dynamic_assembly: usize = "dynamic_assembly",
        entry_point: RawRef = "entry_point", modules: RawRef = "modules", name: RawRef = "name", dir: RawRef = "dir",
        cattrs: RawRef = "cattrs", resources: RawRef = "resources", public_key: RawRef = "public_key",
        version: RawRef = "version", culture: RawRef = "culture", algid: u32 = "algid", flags: u32 = "flags",
        pekind: i32 = "pekind", delay_sign: u8 = "delay_sign", access: u32 = "access",
        loaded_modules: RawRef = "loaded_modules", win32_resources: RawRef = "win32_resources",
        permissions_minimum: RawRef = "permissions_minimum", permissions_optional: RawRef = "permissions_optional",
        permissions_refused: RawRef = "permissions_refused", pe_kind: u32 = "peKind", machine: i32 = "machine",
        corlib_internal: u8 = "corlib_internal", type_forwarders: RawRef = "type_forwarders", pktoken: RawRef = "pktoken",
    }
    /// MonoResource, an element of `resources`.
    MonoResource = "System.Reflection.Emit.MonoResource": NoHeader {
        data: RawRef = "data", name: RawRef = "name", filename: RawRef = "filename", attrs: u32 = "attrs",
        offset: u32 = "offset", stream: RawRef = "stream",
    }
    /// MonoWin32Resource, an element of `win32_resources`.
    MonoWin32Resource = "System.Reflection.Emit.MonoWin32Resource": NoHeader {
        res_type: u32 = "res_type", res_id: u32 = "res_id", lang_id: u32 = "lang_id", data: RawRef = "data",
    }
    /// ModuleBuilder.
    ModuleBuilderObject = "System.Reflection.Emit.ModuleBuilder": Header {
        handle: usize = "_impl", assembly: RawRef = "assembly", fqname: RawRef = "fqname", name: RawRef = "name",
        scopename: RawRef = "scopename", is_resource: u8 = "is_resource", token: i32 = "token",
        dynamic_image: usize = "dynamic_image", num_types: i32 = "num_types", types: RawRef = "types",
        cattrs: RawRef = "cattrs", guid: RawRef = "guid", table_idx: i32 = "table_idx", assemblyb: RawRef = "assemblyb",
        global_methods: RawRef = "global_methods", global_fields: RawRef = "global_fields", is_main: u8 = "is_main",
        resources: RawRef = "resources", unparented_classes: usize = "unparented_classes",
        table_indexes: RawRef = "table_indexes",
    }
    /// TypeBuilder.
    TypeBuilderObject = "System.Reflection.Emit.TypeBuilder": TypeObject {
        tname: RawRef = "tname", nspace: RawRef = "nspace", parent: RawRef = "parent", nesting_type: RawRef = "nesting_type",
        interfaces: RawRef = "interfaces", num_methods: i32 = "num_methods", methods: RawRef = "methods",
        ctors: RawRef = "ctors", properties: RawRef = "properties", num_fields: i32 = "num_fields", fields: RawRef = "fields",
        events: RawRef = "events", cattrs: RawRef = "cattrs", subtypes: RawRef = "subtypes", attrs: u32 = "attrs",
        table_idx: i32 = "table_idx", pmodule: RawRef = "pmodule", class_size: i32 = "class_size",
        packing_size: i32 = "packing_size", generic_container: usize = "generic_container",
        generic_params: RawRef = "generic_params", permissions: RawRef = "permissions", created: RawRef = "created",
        state: i32 = "state",
    }
    /// MethodBuilder.
    MethodBuilderObject = "System.Reflection.Emit.MethodBuilder": Header {
        mhandle: usize = "mhandle", rtype: RawRef = "rtype", parameters: RawRef = "parameters", attrs: u32 = "attrs",
        iattrs: u32 = "iattrs", name: RawRef = "name", table_idx: i32 = "table_idx", code: RawRef = "code",
        ilgen: RawRef = "ilgen", ty: RawRef = "type", pinfo: RawRef = "pinfo", cattrs: RawRef = "cattrs",
        override_methods: RawRef = "override_methods", pi_dll: RawRef = "pi_dll", pi_entry: RawRef = "pi_entry",
        charset: i32 = "charset", extra_flags: u32 = "extra_flags", native_cc: i32 = "native_cc",
        call_conv: u32 = "call_conv", init_locals: u8 = "init_locals", generic_container: usize = "generic_container",
        generic_params: RawRef = "generic_params", return_mod_req: RawRef = "returnModReq",
        return_mod_opt: RawRef = "returnModOpt", param_mod_req: RawRef = "paramModReq", param_mod_opt: RawRef = "paramModOpt",
    }
    /// ConstructorBuilder.
    ConstructorBuilderObject = "System.Reflection.Emit.ConstructorBuilder": Header {
        mhandle: usize = "mhandle", ilgen: RawRef = "ilgen", parameters: RawRef = "parameters", attrs: u32 = "attrs",
        iattrs: u32 = "iattrs", table_idx: i32 = "table_idx", call_conv: u32 = "call_conv", ty: RawRef = "type",
        pinfo: RawRef = "pinfo", cattrs: RawRef = "cattrs", init_locals: u8 = "init_locals",
        param_mod_req: RawRef = "paramModReq", param_mod_opt: RawRef = "paramModOpt",
    }
    /// FieldBuilder.
    FieldBuilderObject = "System.Reflection.Emit.FieldBuilder": Header {
        attrs: u32 = "attrs", ty: RawRef = "type", name: RawRef = "name", def_value: RawRef = "def_value",
        offset: i32 = "offset", typeb: RawRef = "typeb", rva_data: RawRef = "rva_data", cattrs: RawRef = "cattrs",
        marshal_info: RawRef = "marshal_info", handle: usize = "handle", mod_req: RawRef = "modReq", mod_opt: RawRef = "modOpt",
    }
    /// PropertyBuilder.
    PropertyBuilderObject = "System.Reflection.Emit.PropertyBuilder": Header {
        attrs: u32 = "attrs", name: RawRef = "name", ty: RawRef = "type", parameters: RawRef = "parameters",
        cattrs: RawRef = "cattrs", def_value: RawRef = "def_value", set_method: RawRef = "set_method",
        get_method: RawRef = "get_method", table_idx: i32 = "table_idx", typeb: RawRef = "typeb",
        return_mod_req: RawRef = "returnModReq", return_mod_opt: RawRef = "returnModOpt",
        param_mod_req: RawRef = "paramModReq", param_mod_opt: RawRef = "paramModOpt",
        calling_convention: u32 = "callingConvention",
    }
    /// EventBuilder.
    EventBuilderObject = "System.Reflection.Emit.EventBuilder": Header {
        name: RawRef = "name", ty: RawRef = "type", typeb: RawRef = "typeb", cattrs: RawRef = "cattrs",
        add_method: RawRef = "add_method", remove_method: RawRef = "remove_method", raise_method: RawRef = "raise_method",
        other_methods: RawRef = "other_methods", attrs: u32 = "attrs", table_idx: i32 = "table_idx",
    }
    /// ParameterBuilder.
    ParameterBuilderObject = "System.Reflection.Emit.ParameterBuilder": Header {
        methodb: RawRef = "methodb", name: RawRef = "name", cattrs: RawRef = "cattrs", marshal_info: RawRef = "marshal_info",
        attrs: u32 = "attrs", position: i32 = "position", table_idx: i32 = "table_idx", def_value: RawRef = "def_value",
    }
    /// GenericTypeParameterBuilder.
    GenericTypeParameterBuilderObject = "System.Reflection.Emit.GenericTypeParameterBuilder": TypeObject {
        tbuilder: RawRef = "tbuilder", mbuilder: RawRef = "mbuilder", name: RawRef = "name", index: i32 = "index",
        base_type: RawRef = "base_type", iface_constraints: RawRef = "iface_constraints", cattrs: RawRef = "cattrs",
        attrs: u32 = "attrs",
    }
    /// EnumBuilder.
    EnumBuilderObject = "System.Reflection.Emit.EnumBuilder": TypeObject { tb: RawRef = "_tb" }
    /// UnmanagedMarshal.
    UnmanagedMarshalObject = "System.Reflection.Emit.UnmanagedMarshal": Header {
        count: i32 = "count", t: i32 = "t", tbase: i32 = "tbase", guid: RawRef = "guid", mcookie: RawRef = "mcookie",
        marshaltype: RawRef = "marshaltype", marshaltyperef: RawRef = "marshaltyperef", param_num: i32 = "param_num",
        has_size: u8 = "has_size",
    }
    /// CustomAttributeBuilder.
    CustomAttributeBuilderObject = "System.Reflection.Emit.CustomAttributeBuilder": Header {
        ctor: RawRef = "ctor", data: RawRef = "data",
    }
    /// SymbolType, the base of ArrayType, ByRefType and PointerType.
    SymbolTypeObject = "System.Reflection.Emit.SymbolType": TypeObject { base_type: RawRef = "m_baseType" }
    /// ArrayType.
    ArrayTypeObject = "System.Reflection.Emit.ArrayType": SymbolTypeObject { rank: i32 = "rank" }
    /// TypeBuilderInstantiation.
    TypeBuilderInstantiationObject = "System.Reflection.Emit.TypeBuilderInstantiation": TypeObject {
        generic_type: RawRef = "generic_type", type_arguments: RawRef = "type_arguments",
    }
    /// ConstructorOnTypeBuilderInst.
    MemberOnInstanceObject = "System.Reflection.Emit.ConstructorOnTypeBuilderInst": Header {
        instantiation: RawRef = "instantiation", member: RawRef = "cb",
    }
    /// FieldOnTypeBuilderInst, which is laid out as the constructor's is.
    FieldOnInstanceObject = "System.Reflection.Emit.FieldOnTypeBuilderInst": Header {
        instantiation: RawRef = "instantiation", member: RawRef = "fb",
    }
    /// MethodOnTypeBuilderInst.
    MethodOnInstanceObject = "System.Reflection.Emit.MethodOnTypeBuilderInst": Header {
        instantiation: RawRef = "instantiation", base_method: RawRef = "base_method",
        method_arguments: RawRef = "method_arguments", generic_method_definition: RawRef = "generic_method_definition",
    }
    /// MonoArrayMethod.
    MonoArrayMethodObject = "System.Reflection.MonoArrayMethod": Header {
        mhandle: usize = "mhandle", parent: RawRef = "parent", ret: RawRef = "ret", parameters: RawRef = "parameters",
        name: RawRef = "name", table_idx: i32 = "table_idx", call_conv: u32 = "call_conv",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn derived_layouts_start_where_their_base_ends() {
        assert_eq!(std::mem::offset_of!(MulticastDelegateObject, delegates), 88);
        assert_eq!(std::mem::offset_of!(DelegateObject, m_target), 24);
    }
}
