//! From a TypeBuilder to a type: the rows of the type and its members, and the handles that go back into the builders.
//!
//! # How it works
//! ```text
//! under the encoder's lock    name the type; rows of interfaces, fields, methods with their bodies, properties, events, attributes
//!                             last the TypeDef row again, complete
//! then, with the lock free    parent, fields and methods of the class; handles into the MethodBuilders and FieldBuilders
//! ```
//!
//! # Invariants
//! * The complete TypeDef row is put last, so whoever sees it finds all rows of the type.
//! * The rows of members wait until everything has been encoded ([`Encoder::later`]). So encoding can be given up at any point and begun anew,
//!   as it is when a type or assembly has to be asked for, and no row is there twice.
use crate::support::emit::attributes;
use crate::support::emit::bodies::{self, ClauseAction};
use crate::support::emit::encoder::{
    Encoder, coded, compressed, constructor_name, encode, module_of_type, non_null,
};
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::handles::method_row;
use crate::support::emit::marshal;
use crate::support::emit::types::{self, TypeKind};
use crate::support::emit::{constants, read, registry};
use crate::support::objects::{is_known, load};
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_metadata::growing::COMPLETE;
use vervet_metadata::{Coded, Growing, Instructions, Operand, Table, Token};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, Field, Known, Method, ModuleRef, Prim};

/// Makes the type of a TypeBuilder.
pub fn create<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<ClassRef> {
    let token = encode(cx, |e| e.create_type(builder))?;
    let module = module_of_type(builder).map_err(|e| e.throw(cx))?;
    let class = load(cx, || {
        let class = module.type_def(token.rid())?;
        class.parent()?;
        class.fields()?;
        class.methods()?;
        Ok(class)
    })?;
    store_handles(cx, builder, module)?;
    Ok(class)
}

/// Refuses an enum that is none: it needs one instance field, which is an integer, and no methods.
///
/// # Errors
/// TypeLoadException. The type stays named only, as nothing of it is written.
fn check_enum(module: ModuleRef, builder: ObjRef<'_>) -> E<()> {
    /// TypeAttributes.
    const LAYOUT: u32 = 0x18;
    /// FieldAttributes.
    const STATIC: u32 = 0x10;
    let parent = builder.read_ref(offset_of!(TypeBuilderObject, parent));
    match types::kind_or_none(parent)? {
        Some(TypeKind::Class(class)) if is_known(class, Known::Enum) => {}
        _ => return Ok(()),
    }
    if methods(builder).next().is_some() {
        let name = builder
            .read_ref(offset_of!(TypeBuilderObject, tname))
            .text();
        let text = format!(
            "Could not load type '{name}' from assembly '{}' because it is an enum with methods.",
            module.assembly_name()
        );
        return Err(EmitError::Throw(Known::TypeLoadException, text));
    }
    let mut own = fields(builder).filter(|f| {
        let attributes: u32 = f.read(offset_of!(FieldBuilderObject, attrs));
        attributes & STATIC == 0
    });
    let is_integer = match own.next() {
        Some(field) => {
            let ty = field.read_ref(offset_of!(FieldBuilderObject, ty));
            matches!(types::kind(ty)?, TypeKind::Class(class) if is_integral(class))
        }
        None => false,
    };
    let flags: u32 = builder.read(offset_of!(TypeBuilderObject, attrs));
    match is_integer && own.next().is_none() && flags & LAYOUT == 0 {
        true => Ok(()),
        false => Err(EmitError::Throw(
            Known::TypeLoadException,
            "Not a valid enumeration".to_owned(),
        )),
    }
}
/// Whether an enum may be stored as that type.
fn is_integral(class: ClassRef) -> bool {
    class
        .prim
        .is_some_and(|p| !matches!(p, Prim::R4 | Prim::R8 | Prim::Void))
}

/// The MethodBuilders and ConstructorBuilders of a type, constructors first, as reflection lists them.
pub(super) fn methods<'cx>(builder: ObjRef<'cx>) -> impl Iterator<Item = ObjRef<'cx>> {
    let ctors = builder.read_ref(offset_of!(TypeBuilderObject, ctors));
    let methods = builder.read_ref(offset_of!(TypeBuilderObject, methods));
    let count: i32 = builder.read(offset_of!(TypeBuilderObject, num_methods));
    let methods = read::elements(methods).take(count.max(0) as usize);
    read::elements(ctors)
        .chain(methods)
        .filter(|m| !m.is_null())
}
/// The FieldBuilders of a type.
fn fields<'cx>(builder: ObjRef<'cx>) -> impl Iterator<Item = ObjRef<'cx>> {
    let fields = builder.read_ref(offset_of!(TypeBuilderObject, fields));
    let count: i32 = builder.read(offset_of!(TypeBuilderObject, num_fields));
    read::elements(fields)
        .take(count.max(0) as usize)
        .filter(|f| !f.is_null())
}
/// Writes the handles of methods and fields into their builders.
fn store_handles<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>, module: ModuleRef) -> Result<()> {
    for method in methods(builder) {
        let made = cx.load(module.method_def(method_row(method)))?;
        let at = if is_known(method.class(), Known::MethodBuilder) {
            offset_of!(MethodBuilderObject, mhandle)
        } else {
            offset_of!(ConstructorBuilderObject, mhandle)
        };
        method.write(at, made as *const Method as usize);
    }
    for field in fields(builder) {
        let rid = encode(cx, |e| e.field_row(field))?;
        let made = cx.load(module.field_def(rid))?;
        field.write(
            offset_of!(FieldBuilderObject, handle),
            made as *const Field as usize,
        );
    }
    Ok(())
}

impl Encoder {
    /// Puts all rows of a type. Its TypeDef token.
    fn create_type(&mut self, builder: ObjRef<'_>) -> E<Token> {
        let token = self.name(builder)?;
        let module = module_of_type(builder)?;
        let growing = module.growing()?;
        let rid = token.rid();
        if module.image.is_complete(rid) {
            // Another thread has created it since managed code asked.
            return Ok(token);
        }
        check_enum(module, builder)?;
        self.forget_later();
        let interfaces = builder.read_ref(offset_of!(TypeBuilderObject, interfaces));
        let open = types::generic_arity(builder) > 0;
        for interface in read::elements(interfaces).filter(|i| !i.is_null()) {
            let interface = self.type_token(module, interface, open)?;
            let cells = [rid, coded(Coded::TypeDefOrRef, interface)?];
            self.later(growing, Table::InterfaceImpl, 0, &cells, 0);
        }
        let params = builder.read_ref(offset_of!(TypeBuilderObject, generic_params));
        self.constraints(module, token, params)?;
        for field in fields(builder) {
            self.field_rows(module, growing, field, rid)?;
        }
        for method in methods(builder) {
            self.method_rows(module, growing, method, rid)?;
        }
        self.property_rows(module, growing, builder, rid)?;
        self.event_rows(module, growing, builder, rid)?;
        let packing: u32 = builder.read(offset_of!(TypeBuilderObject, packing_size));
        let size: u32 = builder.read(offset_of!(TypeBuilderObject, class_size));
        if (packing, size) != (0, 0) {
            self.later(growing, Table::ClassLayout, 0, &[packing, size, rid], 0);
        }
        let list = builder.read_ref(offset_of!(TypeBuilderObject, cattrs));
        attributes::add(self, module, token, list, 0)?;
        self.type_row(module, builder, 0)?;
        self.put_later()?;
        self.type_row(module, builder, COMPLETE)?;
        Ok(token)
    }

    /// Adds the constraints and attributes of generic parameters, whose rows are there.
    fn constraints(&mut self, module: ModuleRef, owner: Token, params: ObjRef<'_>) -> E<()> {
        let growing = module.growing()?;
        let rows: Vec<u32> = module.image.generic_params_of(owner).collect();
        for (param, row) in read::elements(params).zip(rows) {
            let param = non_null(param)?;
            let base = param.read_ref(offset_of!(GenericTypeParameterBuilderObject, base_type));
            let more = param.read_ref(offset_of!(
                GenericTypeParameterBuilderObject,
                iface_constraints
            ));
            for ty in [base].into_iter().chain(read::elements(more)) {
                if let Some(ty) = ty.non_null() {
                    let ty = self.type_token(module, ty, true)?;
                    let cells = [row, coded(Coded::TypeDefOrRef, ty)?];
                    self.later(growing, Table::GenericParamConstraint, 0, &cells, 0);
                }
            }
            // Flags may have been set since the type was named.
            let old = module.image.generic_param(row)?;
            let flags: u32 = param.read(offset_of!(GenericTypeParameterBuilderObject, attrs));
            let cells = [
                old.number.into(),
                flags,
                coded(Coded::TypeOrMethodDef, owner)?,
                old.name,
            ];
            self.later(growing, Table::GenericParam, row, &cells, 0);
            let list = param.read_ref(offset_of!(GenericTypeParameterBuilderObject, cattrs));
            attributes::add(self, module, Token::new(Table::GenericParam, row), list, 0)?;
        }
        Ok(())
    }

    /// Adds a Constant row.
    fn constant(&mut self, growing: &'static Growing, parent: Token, value: ObjRef<'_>) -> E<()> {
        let (kind, bytes) = constants::of(value)?;
        let cells = [
            kind.into(),
            coded(Coded::HasConstant, parent)?,
            growing.add_blob(&bytes)?,
        ];
        self.later(growing, Table::Constant, 0, &cells, 0);
        Ok(())
    }
    /// Adds a FieldMarshal row, if there is an UnmanagedMarshal.
    fn marshal(&mut self, growing: &'static Growing, parent: Token, info: ObjRef<'_>) -> E<bool> {
        let Some(info) = info.non_null() else {
            return Ok(false);
        };
        let cells = [
            coded(Coded::HasFieldMarshal, parent)?,
            growing.add_blob(&marshal::spec(info)?)?,
        ];
        self.later(growing, Table::FieldMarshal, 0, &cells, 0);
        Ok(true)
    }

    fn field_rows(
        &mut self,
        module: ModuleRef,
        growing: &'static Growing,
        field: ObjRef<'_>,
        owner: u32,
    ) -> E<()> {
        const HAS_RVA: u32 = 0x100;
        const HAS_MARSHAL: u32 = 0x1000;
        const HAS_DEFAULT: u32 = 0x8000;
        let rid = self.field_row(field)?;
        let token = Token::new(Table::Field, rid);
        let mut flags: u32 = field.read(offset_of!(FieldBuilderObject, attrs));
        let name = field.read_ref(offset_of!(FieldBuilderObject, name)).text();
        let signature = self.field_signature(module, field)?;
        let value = field.read_ref(offset_of!(FieldBuilderObject, def_value));
        if flags & HAS_DEFAULT != 0 || !value.is_null() {
            self.constant(growing, token, value)?;
            flags |= HAS_DEFAULT;
        }
        let info = field.read_ref(offset_of!(FieldBuilderObject, marshal_info));
        if self.marshal(growing, token, info)? {
            flags |= HAS_MARSHAL;
        }
        let data = field.read_ref(offset_of!(FieldBuilderObject, rva_data));
        if !data.is_null() || flags & HAS_RVA != 0 {
            flags |= HAS_RVA;
            let bytes = match data.non_null() {
                Some(data) => read::all_bytes(data),
                // Data that the program leaves uninitialised: zeros, as many as the type declares.
                None => {
                    let ty = field.read_ref(offset_of!(FieldBuilderObject, ty));
                    vec![0; declared_size(ty)? as usize]
                }
            };
            let rva = growing.add_data(&bytes)?;
            self.later(growing, Table::FieldRva, 0, &[rva, rid], 0);
        }
        let offset: i32 = field.read(offset_of!(FieldBuilderObject, offset));
        if offset >= 0 {
            self.later(growing, Table::FieldLayout, 0, &[offset as u32, rid], 0);
        }
        let list = field.read_ref(offset_of!(FieldBuilderObject, cattrs));
        attributes::add(self, module, token, list, 0)?;
        let cells = [
            flags,
            growing.add_string(name.as_bytes())?,
            growing.add_blob(&signature)?,
        ];
        self.later(growing, Table::Field, rid, &cells, owner);
        Ok(())
    }

    fn method_rows(
        &mut self,
        module: ModuleRef,
        growing: &'static Growing,
        method: ObjRef<'_>,
        owner: u32,
    ) -> E<()> {
        let is_method = is_known(method.class(), Known::MethodBuilder);
        let rid = method_row(method);
        let token = Token::new(Table::MethodDef, rid);
        let (flags, impl_flags, name, generator, code, init_locals, pinfo, cattrs) = if is_method {
            (
                method.read::<u32>(offset_of!(MethodBuilderObject, attrs)),
                method.read::<u32>(offset_of!(MethodBuilderObject, iattrs)),
                method
                    .read_ref(offset_of!(MethodBuilderObject, name))
                    .text(),
                method.read_ref(offset_of!(MethodBuilderObject, ilgen)),
                method.read_ref(offset_of!(MethodBuilderObject, code)),
                method.read::<u8>(offset_of!(MethodBuilderObject, init_locals)),
                method.read_ref(offset_of!(MethodBuilderObject, pinfo)),
                method.read_ref(offset_of!(MethodBuilderObject, cattrs)),
            )
        } else {
            let attrs = method.read::<u32>(offset_of!(ConstructorBuilderObject, attrs));
            (
                attrs,
                method.read::<u32>(offset_of!(ConstructorBuilderObject, iattrs)),
                constructor_name(attrs).to_owned(),
                method.read_ref(offset_of!(ConstructorBuilderObject, ilgen)),
                ObjRef::NULL,
                method.read::<u8>(offset_of!(ConstructorBuilderObject, init_locals)),
                method.read_ref(offset_of!(ConstructorBuilderObject, pinfo)),
                method.read_ref(offset_of!(ConstructorBuilderObject, cattrs)),
            )
        };
        if is_method {
            let params = method.read_ref(offset_of!(MethodBuilderObject, generic_params));
            self.generic_params(growing, token, params)?;
            self.constraints(module, token, params)?;
        }
        let signature = self.builder_signature(module, method, ObjRef::NULL)?;
        let rva = if !code.is_null() {
            let body = Encoded {
                code: self.real_tokens(module, read::all_bytes(code))?,
                max_stack: u16::MAX,
                init_locals: init_locals != 0,
                ..Encoded::default()
            };
            growing.add_data(&body.bytes())?
        } else if let Some(generator) = generator.non_null() {
            let body = self.body(module, generator, init_locals != 0)?;
            growing.add_data(&body.bytes())?
        } else {
            0
        };
        self.param_rows(module, growing, pinfo, rid)?;
        attributes::add(self, module, token, cattrs, 0)?;
        if is_method {
            self.import_row(module, method, token, &name)?;
        }
        let cells = [
            rva,
            impl_flags,
            flags,
            growing.add_string(name.as_bytes())?,
            growing.add_blob(&signature)?,
            0,
        ];
        self.later(growing, Table::MethodDef, rid, &cells, owner);
        if is_method {
            let overridden = method.read_ref(offset_of!(MethodBuilderObject, override_methods));
            for declaration in read::elements(overridden) {
                if declaration.is_null() {
                    continue;
                }
                let declaration = self.token(module, declaration, true)?;
                let cells = [
                    owner,
                    coded(Coded::MethodDefOrRef, token)?,
                    coded(Coded::MethodDefOrRef, declaration)?,
                ];
                self.later(growing, Table::MethodImpl, 0, &cells, 0);
            }
        }
        Ok(())
    }
    /// Adds what a P/Invoke method imports.
    fn import_row(
        &mut self,
        module: ModuleRef,
        method: ObjRef<'_>,
        token: Token,
        name: &str,
    ) -> E<()> {
        /// Bits of MethodBuilder.charset beside the CharSet: SetLastError.
        const LAST_ERROR: u32 = 0x40;
        let growing = module.growing()?;
        let library = method.read_ref(offset_of!(MethodBuilderObject, pi_dll));
        let Some(library) = library.non_null() else {
            return Ok(());
        };
        let entry = method.read_ref(offset_of!(MethodBuilderObject, pi_entry));
        let entry = match entry.non_null() {
            Some(entry) => entry.text(),
            None => name.to_owned(),
        };
        let set: u32 = method.read(offset_of!(MethodBuilderObject, charset));
        let extra: u32 = method.read(offset_of!(MethodBuilderObject, extra_flags));
        let convention: u32 = method.read(offset_of!(MethodBuilderObject, native_cc));
        // CharSet counts None, Ansi, Unicode, Auto from 1; the flags have them from 0, in bits 1 and 2.
        let flags = (set & 0xF).saturating_sub(1) * 2;
        let flags = flags | set & LAST_ERROR | extra | convention << 8;
        let library = growing.add_string(library.text().as_bytes())?;
        let library = self.library_row(module, library)?;
        let cells = [
            flags,
            coded(Coded::MemberForwarded, token)?,
            growing.add_string(entry.as_bytes())?,
            library,
        ];
        self.later(growing, Table::ImplMap, 0, &cells, 0);
        Ok(())
    }
    /// Adds the rows of ParameterBuilders.
    fn param_rows(
        &mut self,
        module: ModuleRef,
        growing: &'static Growing,
        list: ObjRef<'_>,
        method: u32,
    ) -> E<()> {
        const HAS_DEFAULT: u32 = 0x1000;
        const HAS_MARSHAL: u32 = 0x2000;
        for param in read::elements(list).filter(|p| !p.is_null()) {
            let rid: u32 = param.read(offset_of!(ParameterBuilderObject, table_idx));
            let token = Token::new(Table::Param, rid);
            let mut flags: u32 = param.read(offset_of!(ParameterBuilderObject, attrs));
            let value = param.read_ref(offset_of!(ParameterBuilderObject, def_value));
            if flags & HAS_DEFAULT != 0 || !value.is_null() {
                self.constant(growing, token, value)?;
                flags |= HAS_DEFAULT;
            }
            let info = param.read_ref(offset_of!(ParameterBuilderObject, marshal_info));
            if self.marshal(growing, token, info)? {
                flags |= HAS_MARSHAL;
            }
            let attributes = param.read_ref(offset_of!(ParameterBuilderObject, cattrs));
            attributes::add(self, module, token, attributes, 0)?;
            let position: u32 = param.read(offset_of!(ParameterBuilderObject, position));
            let name = param
                .read_ref(offset_of!(ParameterBuilderObject, name))
                .text();
            let cells = [flags, position, growing.add_string(name.as_bytes())?];
            self.later(growing, Table::Param, rid, &cells, method);
        }
        Ok(())
    }

    fn property_rows(
        &mut self,
        module: ModuleRef,
        growing: &'static Growing,
        builder: ObjRef<'_>,
        owner: u32,
    ) -> E<()> {
        const HAS_DEFAULT: u32 = 0x1000;
        let list = builder.read_ref(offset_of!(TypeBuilderObject, properties));
        let mut map = 0;
        for property in read::elements(list).filter(|p| !p.is_null()) {
            if map == 0 {
                map = self.map_row(module, Table::PropertyMap, owner)?;
            }
            let rid: u32 = property.read(offset_of!(PropertyBuilderObject, table_idx));
            let token = Token::new(Table::Property, rid);
            let getter = property.read_ref(offset_of!(PropertyBuilderObject, get_method));
            let setter = property.read_ref(offset_of!(PropertyBuilderObject, set_method));
            let params = property.read_ref(offset_of!(PropertyBuilderObject, parameters));
            // The accessors say more than the property: those of an indexer are often all that has its parameters.
            let accessor =
                |m: ObjRef<'_>| -> u32 { m.read(offset_of!(MethodBuilderObject, call_conv)) };
            let (params, drop_last, conv) = match (getter.non_null(), setter.non_null()) {
                (Some(g), _) => (
                    g.read_ref(offset_of!(MethodBuilderObject, parameters)),
                    0,
                    accessor(g),
                ),
                (_, Some(s)) => (
                    s.read_ref(offset_of!(MethodBuilderObject, parameters)),
                    1,
                    accessor(s),
                ),
                _ => (
                    params,
                    0,
                    property.read(offset_of!(PropertyBuilderObject, calling_convention)),
                ),
            };
            let count = read::elements(params).count().saturating_sub(drop_last);
            let mut signature = vec![0x08 | (conv & 0x20) as u8];
            compressed(&mut signature, count as u32);
            let required = property.read_ref(offset_of!(PropertyBuilderObject, return_mod_req));
            let optional = property.read_ref(offset_of!(PropertyBuilderObject, return_mod_opt));
            self.modifiers(module, &mut signature, required, optional)?;
            let ty = property.read_ref(offset_of!(PropertyBuilderObject, ty));
            self.type_signature(module, &mut signature, ty)?;
            for param in read::elements(params).take(count) {
                self.type_signature(module, &mut signature, param)?;
            }
            let mut flags: u32 = property.read(offset_of!(PropertyBuilderObject, attrs));
            let value = property.read_ref(offset_of!(PropertyBuilderObject, def_value));
            if !value.is_null() {
                self.constant(growing, token, value)?;
                flags |= HAS_DEFAULT;
            }
            let name = property
                .read_ref(offset_of!(PropertyBuilderObject, name))
                .text();
            let cells = [
                flags,
                growing.add_string(name.as_bytes())?,
                growing.add_blob(&signature)?,
            ];
            let attributes = property.read_ref(offset_of!(PropertyBuilderObject, cattrs));
            attributes::add(self, module, token, attributes, 0)?;
            self.accessor(growing, 2, getter, token)?;
            self.accessor(growing, 1, setter, token)?;
            self.later(growing, Table::Property, rid, &cells, map);
        }
        Ok(())
    }
    /// Adds a MethodSemantics row, if there is a method.
    fn accessor(
        &mut self,
        growing: &'static Growing,
        semantics: u32,
        method: ObjRef<'_>,
        association: Token,
    ) -> E<()> {
        if let Some(method) = method.non_null() {
            let cells = [
                semantics,
                method_row(method),
                coded(Coded::HasSemantics, association)?,
            ];
            self.later(growing, Table::MethodSemantics, 0, &cells, 0);
        }
        Ok(())
    }
    fn event_rows(
        &mut self,
        module: ModuleRef,
        growing: &'static Growing,
        builder: ObjRef<'_>,
        owner: u32,
    ) -> E<()> {
        let list = builder.read_ref(offset_of!(TypeBuilderObject, events));
        let mut map = 0;
        for event in read::elements(list).filter(|e| !e.is_null()) {
            if map == 0 {
                map = self.map_row(module, Table::EventMap, owner)?;
            }
            let rid: u32 = event.read(offset_of!(EventBuilderObject, table_idx));
            let token = Token::new(Table::Event, rid);
            let flags: u32 = event.read(offset_of!(EventBuilderObject, attrs));
            let ty = event.read_ref(offset_of!(EventBuilderObject, ty));
            let ty = match ty.non_null() {
                Some(ty) => coded(Coded::TypeDefOrRef, self.type_token(module, ty, true)?)?,
                None => 0,
            };
            let attributes = event.read_ref(offset_of!(EventBuilderObject, cattrs));
            attributes::add(self, module, token, attributes, 0)?;
            let method = |field| event.read_ref(field);
            let add = method(offset_of!(EventBuilderObject, add_method));
            let remove = method(offset_of!(EventBuilderObject, remove_method));
            let raise = method(offset_of!(EventBuilderObject, raise_method));
            self.accessor(growing, 0x08, add, token)?;
            self.accessor(growing, 0x10, remove, token)?;
            self.accessor(growing, 0x20, raise, token)?;
            for other in read::elements(method(offset_of!(EventBuilderObject, other_methods))) {
                self.accessor(growing, 0x04, other, token)?;
            }
            let name = event.read_ref(offset_of!(EventBuilderObject, name)).text();
            let cells = [flags, growing.add_string(name.as_bytes())?, ty];
            self.later(growing, Table::Event, rid, &cells, map);
        }
        Ok(())
    }

    // ---- bodies ----------------------------------------------------------------------------------------------

    /// The code with the tokens of builders in place of their pseudo tokens. What cannot be decoded stays as it is: the compiler says so
    /// when the method is called.
    fn real_tokens(&mut self, module: ModuleRef, mut code: Vec<u8>) -> E<Vec<u8>> {
        let mut places = Vec::new();
        for instruction in Instructions::new(&code).map_while(std::result::Result::ok) {
            if let Operand::Token(token) = instruction.operand {
                // A token is the last operand of its instruction.
                places.push((instruction.end() as usize - 4, token));
            }
        }
        for (at, token) in places {
            let meant = registry::registered(module, token);
            if meant.is_null() {
                continue;
            }
            // The table of a pseudo token says whether a generic type means itself with its own parameters.
            let open = matches!(token.table(), Some(Table::TypeSpec | Table::MemberRef));
            let real = self.code_token(module, meant, open)?;
            code[at..at + 4].copy_from_slice(&real.0.to_le_bytes());
        }
        Ok(code)
    }
    /// The body that an ILGenerator has collected.
    fn body(&mut self, module: ModuleRef, generator: ObjRef<'_>, init_locals: bool) -> E<Encoded> {
        let source = bodies::of(generator);
        let mut locals = Vec::new();
        let mut count = 0;
        source.for_each_local(|local| {
            count += 1;
            if local.pinned {
                locals.push(0x45);
            }
            self.type_signature(module, &mut locals, local.ty)
        })?;
        let local_sig = if count == 0 {
            0
        } else {
            let mut signature = vec![0x07];
            compressed(&mut signature, count);
            signature.extend(locals);
            self.stand_alone(module, signature)?.0
        };
        let mut clauses = Vec::new();
        source.for_each_clause(|clause| {
            let (flags, last) = match clause.action {
                ClauseAction::Catch(ty) => (0, self.type_token(module, ty, true)?.0),
                ClauseAction::Filter(at) => (1, at),
                ClauseAction::Finally => (2, 0),
                ClauseAction::Fault => (4, 0),
            };
            let (tried, handler) = (clause.tried, clause.handler);
            if clauses.len() == MOST_CLAUSES {
                return Err(EmitError::Throw(
                    Known::InvalidProgramException,
                    "too many exception clauses".to_owned(),
                ));
            }
            clauses.push([flags, tried.0, tried.1, handler.0, handler.1, last]);
            Ok(())
        })?;
        Ok(Encoded {
            code: self.real_tokens(module, source.code)?,
            max_stack: source.max_stack,
            init_locals,
            local_sig,
            clauses,
        })
    }
}

/// The most clauses that a section can have: its size has 24 bits.
const MOST_CLAUSES: usize = ((1 << 24) - 1 - 4) / 24;

/// A body as it is written (II.25.4.3).
#[derive(Default)]
struct Encoded {
    code: Vec<u8>,
    max_stack: u16,
    init_locals: bool,
    local_sig: u32,
    clauses: Vec<[u32; 6]>,
}

impl Encoded {
    /// A fat header, the code, and a fat section of clauses if there are any.
    fn bytes(&self) -> Vec<u8> {
        const FAT: u16 = 0x3003;
        const MORE_SECTIONS: u16 = 8;
        const INIT_LOCALS: u16 = 0x10;
        /// Exception table, fat.
        const CLAUSES: u32 = 0x41;
        let mut flags = FAT;
        if self.init_locals {
            flags |= INIT_LOCALS;
        }
        if !self.clauses.is_empty() {
            flags |= MORE_SECTIONS;
        }
        let mut out = Vec::with_capacity(16 + self.code.len() + 24 * self.clauses.len());
        out.extend(flags.to_le_bytes());
        out.extend(self.max_stack.to_le_bytes());
        out.extend((self.code.len() as u32).to_le_bytes());
        out.extend(self.local_sig.to_le_bytes());
        out.extend(&self.code);
        if !self.clauses.is_empty() {
            out.resize(out.len().next_multiple_of(4), 0);
            let size = 4 + 24 * self.clauses.len() as u32;
            debug_assert!(self.clauses.len() <= MOST_CLAUSES);
            out.extend((CLAUSES | size << 8).to_le_bytes());
            for word in self.clauses.iter().flatten() {
                out.extend(word.to_le_bytes());
            }
        }
        out
    }
}

/// The size in bytes that a type declares, or has as a primitive.
fn declared_size(ty: ObjRef<'_>) -> E<u32> {
    Ok(match types::kind(ty)? {
        TypeKind::Builder(builder) => builder.read(offset_of!(TypeBuilderObject, class_size)),
        TypeKind::Class(class) => match class.prim {
            Some(prim) => prim.size(),
            None => {
                let image = &class.module.image;
                let row = image.class_layout_of(class.rid());
                row.and_then(|row| image.class_layout(row).ok())
                    .map_or(0, |row| row.class_size)
            }
        },
        _ => 0,
    })
}

/// The class that a created TypeBuilder or EnumBuilder became; for what the encoder is not needed for.
pub fn class_of_builder(builder: ObjRef<'_>) -> E<ClassRef> {
    match types::kind(builder)? {
        TypeKind::Class(class) => Ok(class),
        _ => Err(EmitError::not_supported("the type has not been created")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vervet_metadata::MethodBody;

    #[test]
    fn bodies_are_read_back_as_they_were_written() {
        let body = Encoded {
            code: vec![0x00, 0x2A, 0x00],
            max_stack: 7,
            init_locals: true,
            local_sig: 0x1100_0002,
            clauses: vec![[2, 0, 1, 1, 1, 0]; 200],
        };
        let bytes = body.bytes();
        let read = MethodBody::parse(&bytes, 0).unwrap();
        assert_eq!(read.code, body.code);
        assert_eq!((read.max_stack, read.init_locals), (7, true));
        assert_eq!(read.local_sig, Token(0x1100_0002));
        assert_eq!(read.clauses.len(), 200);
    }
}
