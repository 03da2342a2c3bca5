//! Signatures: what types, builders and SignatureHelpers are in the blobs of a module that grows (ECMA-335 II.23.2).
//!
//! # Invariants
//! * A signature names types by their tokens, so whatever it mentions has a row first.
//! * How deep types lie in each other is bounded by [`Encoder::deeper`]: programs construct types from types as they like.
use crate::support::emit::encoder::{Encoder, STATIC, compressed, compressed_token};
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::read;
use crate::support::emit::types::{self, TypeKind};
use crate::support::objects::is_known;
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_metadata::{CallConvKind, Table};
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassKind, ClassRef, Known, MethodSig, ModuleRef};

/// SignatureHelperType.
pub const HELPER_FIELD: i32 = 0;
/// SignatureHelperType.
pub const HELPER_LOCAL: i32 = 1;

impl Encoder {
    /// Appends the signature of what a Type object stands for.
    pub fn type_signature(
        &mut self,
        module: ModuleRef,
        out: &mut Vec<u8>,
        ty: ObjRef<'_>,
    ) -> E<()> {
        self.deeper(|e| e.type_signature_here(module, out, ty))
    }
    pub(super) fn type_signature_here(
        &mut self,
        module: ModuleRef,
        out: &mut Vec<u8>,
        ty: ObjRef<'_>,
    ) -> E<()> {
        match types::kind(ty)? {
            TypeKind::Class(class) => self.class_signature(module, out, class)?,
            TypeKind::Builder(builder) => {
                let arity = types::generic_arity(builder);
                if arity > 0 {
                    out.push(0x15);
                }
                out.push(if types::is_value_builder(builder)? {
                    0x11
                } else {
                    0x12
                });
                compressed_token(out, self.builder(module, builder)?)?;
                if arity > 0 {
                    own_parameters(out, arity as u32);
                }
            }
            TypeKind::Variable(index, of_method) => {
                out.push(if of_method { 0x1E } else { 0x13 });
                compressed(out, index);
            }
            TypeKind::Array(element, rank) => {
                out.push(if rank == 0 { 0x1D } else { 0x14 });
                self.type_signature(module, out, element)?;
                if rank != 0 {
                    array_shape(out, rank);
                }
            }
            TypeKind::ByRef(inner) => {
                out.push(0x10);
                self.type_signature(module, out, inner)?;
            }
            TypeKind::Pointer(inner) => {
                out.push(0x0F);
                self.type_signature(module, out, inner)?;
            }
            TypeKind::Instance(definition, arguments) => {
                out.push(0x15);
                let (value, token) = match types::kind(definition)? {
                    TypeKind::Builder(builder) => (
                        types::is_value_builder(builder)?,
                        self.builder(module, builder)?,
                    ),
                    TypeKind::Class(class) => {
                        (class.is_value_type()?, self.definition(module, class)?)
                    }
                    _ => {
                        return Err(EmitError::not_supported(
                            "an instantiation of no definition",
                        ));
                    }
                };
                out.push(if value { 0x11 } else { 0x12 });
                compressed_token(out, token)?;
                compressed(out, read::elements(arguments).count() as u32);
                for argument in read::elements(arguments) {
                    self.type_signature(module, out, argument)?;
                }
            }
        }
        Ok(())
    }
    /// Appends the signature of a generic definition that means itself with its own parameters, as in its own code.
    pub(super) fn own_signature(
        &mut self,
        module: ModuleRef,
        out: &mut Vec<u8>,
        class: ClassRef,
    ) -> E<()> {
        out.push(0x15);
        self.class_signature(module, out, class)?;
        own_parameters(out, class.params()?.len() as u32);
        Ok(())
    }
    /// Appends the signature of a class. A generic definition means the definition: what the signature belongs to need not have arguments for
    /// the parameters of that class.
    pub fn class_signature(
        &mut self,
        module: ModuleRef,
        out: &mut Vec<u8>,
        class: ClassRef,
    ) -> E<()> {
        let definition = |this: &mut Self, out: &mut Vec<u8>, class: ClassRef| -> E<()> {
            out.push(if class.is_value_type()? { 0x11 } else { 0x12 });
            compressed_token(out, this.definition(module, class)?)
        };
        match &class.kind {
            ClassKind::Def { .. } => {
                if let Some(prim) = class.prim {
                    out.push(prim as u8);
                } else if is_known(class, Known::String) {
                    out.push(0x0E);
                } else if is_known(class, Known::Object) {
                    out.push(0x1C);
                } else if is_known(class, Known::TypedReference) {
                    out.push(0x16);
                } else {
                    definition(self, out, class)?;
                }
            }
            ClassKind::Inst { def, args } => {
                out.push(0x15);
                definition(self, out, def)?;
                compressed(out, args.len() as u32);
                for argument in *args {
                    self.class_signature(module, out, argument)?;
                }
            }
            ClassKind::SzArray(element) => {
                out.push(0x1D);
                self.class_signature(module, out, element)?;
            }
            ClassKind::Array { elem, rank } => {
                out.push(0x14);
                self.class_signature(module, out, elem)?;
                array_shape(out, *rank);
            }
            ClassKind::Ptr(inner) => {
                out.push(0x0F);
                self.class_signature(module, out, inner)?;
            }
            ClassKind::ByRef(inner) => {
                out.push(0x10);
                self.class_signature(module, out, inner)?;
            }
            ClassKind::FnPtr(sig) => {
                out.push(0x1B);
                self.method_signature(module, out, sig, ObjRef::NULL)?;
            }
            ClassKind::GenericParam {
                index, owner_token, ..
            } => {
                let of_method = owner_token.is(Table::MethodDef);
                out.push(if of_method { 0x1E } else { 0x13 });
                compressed(out, *index);
            }
            ClassKind::Position { index, of_method } => {
                out.push(if *of_method { 0x1E } else { 0x13 });
                compressed(out, *index);
            }
        }
        Ok(())
    }
    /// Appends a method signature, with the types of variable arguments: a `Type[]` or null.
    pub(super) fn method_signature(
        &mut self,
        module: ModuleRef,
        out: &mut Vec<u8>,
        sig: &MethodSig,
        variable: ObjRef<'_>,
    ) -> E<()> {
        out.push(
            convention(sig.call_conv)
                | u8::from(sig.has_this) << 5
                | u8::from(sig.explicit_this) << 6
                | u8::from(sig.generic_arity > 0) << 4,
        );
        if sig.generic_arity > 0 {
            compressed(out, sig.generic_arity);
        }
        let more = read::elements(variable).count();
        compressed(out, (sig.params.len() + more) as u32);
        self.class_signature(module, out, sig.ret)?;
        for param in &sig.params {
            self.class_signature(module, out, param)?;
        }
        if more > 0 {
            out.push(0x41);
            for ty in read::elements(variable) {
                self.type_signature(module, out, ty)?;
            }
        }
        Ok(())
    }
    /// The signature of a MethodBuilder or ConstructorBuilder, with the types of variable arguments at a call site: a `Type[]` or null.
    pub fn builder_signature(
        &mut self,
        module: ModuleRef,
        method: ObjRef<'_>,
        variable: ObjRef<'_>,
    ) -> E<Vec<u8>> {
        let mut out = Vec::new();
        let (conv, params, ret, arity, mods) = if is_known(method.class(), Known::MethodBuilder) {
            (
                method.read::<u32>(offset_of!(MethodBuilderObject, call_conv)),
                method.read_ref(offset_of!(MethodBuilderObject, parameters)),
                method.read_ref(offset_of!(MethodBuilderObject, rtype)),
                read::elements(method.read_ref(offset_of!(MethodBuilderObject, generic_params)))
                    .count() as u32,
                (
                    method.read_ref(offset_of!(MethodBuilderObject, return_mod_req)),
                    method.read_ref(offset_of!(MethodBuilderObject, return_mod_opt)),
                    method.read_ref(offset_of!(MethodBuilderObject, param_mod_req)),
                    method.read_ref(offset_of!(MethodBuilderObject, param_mod_opt)),
                ),
            )
        } else {
            (
                method.read::<u32>(offset_of!(ConstructorBuilderObject, call_conv)),
                method.read_ref(offset_of!(ConstructorBuilderObject, parameters)),
                ObjRef::NULL,
                0,
                (
                    ObjRef::NULL,
                    ObjRef::NULL,
                    method.read_ref(offset_of!(ConstructorBuilderObject, param_mod_req)),
                    method.read_ref(offset_of!(ConstructorBuilderObject, param_mod_opt)),
                ),
            )
        };
        // CallingConventions: VarArgs 2, HasThis 0x20, ExplicitThis 0x40: the last two are the signature's own bits. Constructors are often
        // given none of them; what is not static has a `this`.
        let attrs: u32 = if is_known(method.class(), Known::MethodBuilder) {
            method.read(offset_of!(MethodBuilderObject, attrs))
        } else {
            method.read(offset_of!(ConstructorBuilderObject, attrs))
        };
        let has_this = if attrs & STATIC == 0 { 0x20 } else { 0 };
        out.push(
            (conv & 0x40) as u8
                | has_this
                | if conv & 2 != 0 { 5 } else { 0 }
                | u8::from(arity > 0) << 4,
        );
        if arity > 0 {
            compressed(&mut out, arity);
        }
        let more = read::elements(variable).count();
        compressed(&mut out, (read::elements(params).count() + more) as u32);
        self.modifiers(module, &mut out, mods.0, mods.1)?;
        match ret.non_null() {
            Some(ret) => self.type_signature(module, &mut out, ret)?,
            None => out.push(0x01),
        }
        for (i, param) in read::elements(params).enumerate() {
            let (required, optional) = (read::element(mods.2, i), read::element(mods.3, i));
            self.modifiers(module, &mut out, required, optional)?;
            self.type_signature(module, &mut out, param)?;
        }
        if more > 0 {
            out.push(0x41);
            for ty in read::elements(variable) {
                self.type_signature(module, &mut out, ty)?;
            }
        }
        Ok(out)
    }
    /// Appends custom modifiers: `Type[]` of required and of optional ones. The optional ones come first, and the last of each, as reflection reads them.
    pub fn modifiers(
        &mut self,
        module: ModuleRef,
        out: &mut Vec<u8>,
        required: ObjRef<'_>,
        optional: ObjRef<'_>,
    ) -> E<()> {
        for (byte, list) in [(0x20, optional), (0x1F, required)] {
            for ty in read::elements(list).rev() {
                let token = self.type_token(module, ty, false)?;
                out.push(byte);
                compressed_token(out, token)?;
            }
        }
        Ok(())
    }
    /// The signature of a FieldBuilder.
    pub fn field_signature(&mut self, module: ModuleRef, field: ObjRef<'_>) -> E<Vec<u8>> {
        let mut out = vec![0x06];
        let required = field.read_ref(offset_of!(FieldBuilderObject, mod_req));
        let optional = field.read_ref(offset_of!(FieldBuilderObject, mod_opt));
        self.modifiers(module, &mut out, required, optional)?;
        let ty = field.read_ref(offset_of!(FieldBuilderObject, ty));
        self.type_signature(module, &mut out, ty)?;
        Ok(out)
    }
    /// The signature that a SignatureHelper describes, of whatever kind.
    pub fn helper_signature(&mut self, module: ModuleRef, helper: ObjRef<'_>) -> E<Vec<u8>> {
        let mut out = Vec::new();
        let kind: i32 = helper.read(offset_of!(SignatureHelperObject, kind));
        let arguments = helper.read_ref(offset_of!(SignatureHelperObject, arguments));
        let count = read::elements(arguments).count() as u32;
        match kind {
            HELPER_FIELD => out.push(0x06),
            HELPER_LOCAL => {
                out.push(0x07);
                compressed(&mut out, count);
            }
            _ => {
                let managed: u32 = helper.read(offset_of!(SignatureHelperObject, call_conv));
                let unmanaged: u32 =
                    helper.read(offset_of!(SignatureHelperObject, unmanaged_call_conv));
                out.push(match unmanaged {
                    0 => (managed & 0x60) as u8 | if managed & 2 != 0 { 5 } else { 0 },
                    // Winapi is the platform's own.
                    1 => 9,
                    n => (n - 1).min(4) as u8,
                });
                compressed(&mut out, count);
                match helper
                    .read_ref(offset_of!(SignatureHelperObject, return_type))
                    .non_null()
                {
                    Some(ret) => self.type_signature(module, &mut out, ret)?,
                    None => out.push(0x01),
                }
            }
        }
        for argument in read::elements(arguments) {
            self.type_signature(module, &mut out, argument)?;
        }
        Ok(out)
    }
}

/// The first byte of a signature with that convention.
fn convention(kind: CallConvKind) -> u8 {
    match kind {
        CallConvKind::Default => 0,
        CallConvKind::C => 1,
        CallConvKind::StdCall => 2,
        CallConvKind::ThisCall => 3,
        CallConvKind::FastCall => 4,
        CallConvKind::VarArg => 5,
        CallConvKind::Unmanaged => 9,
    }
}

/// Appends a type's own parameters as arguments.
fn own_parameters(out: &mut Vec<u8>, count: u32) {
    compressed(out, count);
    for n in 0..count {
        out.push(0x13);
        compressed(out, n);
    }
}

/// Appends the shape of an array of that rank, without sizes and bounds.
fn array_shape(out: &mut Vec<u8>, rank: u32) {
    compressed(out, rank);
    out.extend([0, 0]);
}
