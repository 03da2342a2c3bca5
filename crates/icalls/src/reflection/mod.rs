//! Internal calls of reflection, attributes, enums, delegates, stack traces, assemblies and application domains.
//!
//! # How it works
//! Handles that managed code carries are addresses of the type system's own `&'static` values: type handles and
//! class pointers of a `Class`, method handles of a `Method`, field handles of a `Field`, module handles of a
//! `Module`, assembly handles of an `Assembly`, and so on. Reflection objects come from the domain's cache, keyed by [`objects::key`].
//!
//! # Invariants
//! One entity seen through one reflected class is one object. An object is complete before it is cached.
//! Nothing here keeps an `ObjRef` in a heap container: several references travel in a managed array.
//!
//! # Not here   Reflection.Emit, created domains, remoting.
pub mod app_domain;
pub mod assembly;
pub mod assembly_name;
pub mod attribute_data;
pub mod attributes;
pub mod body;
pub mod by_name;
pub mod callers;
pub mod constant;
pub mod delegate;
pub mod diagnostics;
pub mod display;
pub mod enum_;
pub mod event;
pub mod field;
pub mod handles;
pub mod invoke;
pub mod marshal_as;
pub mod members;
pub mod method;
pub mod module;
pub mod mono_runtime;
pub mod objects;
pub mod parameter;
pub mod property;
pub mod resources;
pub mod runtime_helpers;
pub mod runtime_type;
pub mod type_handle;
pub mod type_name;
pub mod typed_reference;
pub mod values;

use vervet_runtime::icall::Icall;

/// Every table of this half of the internal calls.
pub fn tables() -> Vec<&'static [Icall]> {
    vec![
        app_domain::ICALLS,
        assembly::ASSEMBLY,
        assembly::RUNTIME_ASSEMBLY,
        assembly_name::ASSEMBLY_NAME,
        assembly_name::RUNTIME_MARSHAL,
        attribute_data::ICALLS,
        attributes::ICALLS,
        delegate::ICALLS,
        diagnostics::STACK_TRACE,
        diagnostics::STACK_FRAME,
        enum_::ICALLS,
        event::EVENT_INFO,
        event::RUNTIME_EVENT_INFO,
        field::FIELD_INFO,
        field::RUNTIME_FIELD_INFO,
        field::RUNTIME_FIELD_HANDLE,
        handles::RUNTIME_CLASS_HANDLE,
        handles::RUNTIME_GPTR_ARRAY_HANDLE,
        method::METHOD_BASE,
        method::MONO_METHOD_INFO,
        method::RUNTIME_METHOD_HANDLE,
        method::RUNTIME_METHOD_INFO,
        method::RUNTIME_CONSTRUCTOR_INFO,
        module::ICALLS,
        mono_runtime::ICALLS,
        parameter::ICALLS,
        property::ICALLS,
        resources::ICALLS,
        runtime_helpers::RUNTIME_HELPERS,
        runtime_helpers::ACTIVATION_SERVICES,
        runtime_helpers::REMOTING_SERVICES,
        runtime_type::TYPE,
        runtime_type::RUNTIME_TYPE,
        members::ICALLS,
        type_handle::ICALLS,
        by_name::ICALLS,
        typed_reference::ICALLS,
    ]
}
