//! Native half of System.Reflection.RuntimeParameterInfo.
//!
//! Keeps nothing.
use crate::support::constants;
use crate::support::marshal_as;
use crate::support::objects::{self, Fill, is_known, load, method_of};
use std::mem::offset_of;
use vervet_abi::layouts::RuntimePropertyInfoObject;
use vervet_metadata::{SigType, Table, Token};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, GenericContext, Known, LoadError, MethodRef, ModuleRef, Scope};

/// ParameterAttributes.Optional.
const OPTIONAL: i32 = 0x10;
/// ParameterAttributes.HasDefault.
const HAS_DEFAULT: i32 = 0x1000;

/// The Param row of a sequence number (0: the return value).
pub fn param_row(method: MethodRef, sequence: u16) -> Option<u32> {
    let image = &method.module().image;
    if method.rid == 0 {
        return None;
    }
    image
        .method_params(method.rid)
        .find(|rid| image.param(*rid).is_ok_and(|p| p.sequence == sequence))
}

/// The static field of a core-library class.
fn static_object<'cx>(cx: &'cx Cx<'cx>, class: Known, name: &str) -> Result<ObjRef<'cx>> {
    let field = objects::field_named(cx, cx.known(class), name)?;
    crate::system::reflection::field::get(cx, field, ObjRef::NULL)
}

/// A ParameterInfo; `position` -1 is the return value.
fn make<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    ty: ClassRef,
    position: i32,
    member: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let row = param_row(method, (position + 1) as u16);
    let image = &method.module().image;
    let param = row.and_then(|r| image.param(r).ok());
    let attrs = param.map_or(0, |p| p.flags as i32);
    // As in mono, a parameter without a name has an empty one; only the return value has none.
    let name = param
        .and_then(|p| image.string(p.name).ok())
        .unwrap_or_default();
    let type_object = cx.type_object(ty)?;
    let missing = |cx: &'cx Cx<'cx>| {
        if attrs & OPTIONAL != 0 {
            static_object(cx, Known::Missing, "Value")
        } else {
            static_object(cx, Known::DBNull, "Value")
        }
    };
    let default = match row {
        Some(r) if attrs & HAS_DEFAULT != 0 => {
            let token = Token::new(Table::Param, r);
            let elem = ty.element().filter(|_| ty.is_byref()).unwrap_or(ty);
            // The default of a `Nullable` of an enum stays the number that it is stored as.
            constants::typed(cx, method.module(), token, elem)?.unwrap_or(missing(cx)?)
        }
        _ => missing(cx)?,
    };
    let name = match name.is_empty() && position < 0 {
        true => ObjRef::NULL,
        false => cx.intern(&name.encode_utf16().collect::<Vec<_>>())?,
    };
    let marshal = match row {
        Some(r) => marshal_as::of(cx, method.module(), Token::new(Table::Param, r))?,
        None => ObjRef::NULL,
    };
    Ok(Fill::new(cx, Known::RuntimeParameterInfo)?
        .set("ClassImpl", type_object)?
        .set("DefaultValueImpl", default)?
        .set("MemberImpl", member)?
        .set("NameImpl", name)?
        .set("marshalAs", marshal)?
        .put("PositionImpl", position)?
        .put("AttrsImpl", attrs)?
        .object)
}

/// The `ParameterInfo[]` of a method. Managed code never hands the array itself to a program, because it may be the one that is kept: that of
/// the method's own object, which every call through reflection asks for.
pub fn of_method<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    member: ObjRef<'cx>,
) -> Result<ObjRef<'cx>> {
    let make_all = || {
        let sig = objects::load(cx, || method.sig())?;
        let params = &sig.params;
        cx.alloc_ref_array(cx.known(Known::ParameterInfo), params.len(), |i| {
            make(cx, method, params[i], i as i32, member)
        })
    };
    let is_info = member.non_null().is_some_and(|m| {
        is_known(m.class(), Known::RuntimeMethodInfo)
            || is_known(m.class(), Known::RuntimeConstructorInfo)
    });
    if !is_info || !std::ptr::eq(method_of(cx, member)?, method) {
        return make_all();
    }
    let reflected = objects::method_reflected(cx, member)?;
    let kept = objects::method_object(cx, method, Some(reflected))?;
    if kept != member {
        return make_all();
    }
    let (method, reflected) = (
        std::ptr::from_ref(method).addr(),
        std::ptr::from_ref(reflected).addr(),
    );
    cx.cached(objects::key::PARAMETERS, method, reflected, make_all)
}

/// The method whose Param rows describe a parameter of a member (an accessor, for a property).
pub fn method_of_member<'cx>(cx: &'cx Cx<'cx>, member: ObjRef<'cx>) -> Result<Option<MethodRef>> {
    let Some(member) = member.non_null() else {
        return Ok(None);
    };
    let class = member.class();
    if is_known(class, Known::RuntimePropertyInfo) {
        // SAFETY: the runtime stored the handle in the object when it made it.
        let handle = unsafe {
            crate::support::handles::in_object(member, offset_of!(RuntimePropertyInfoObject, prop))
        };
        let p = crate::support::handles::property(cx, handle)?;
        return Ok(p.getter.or(p.setter));
    }
    if is_known(class, Known::RuntimeMethodInfo) || is_known(class, Known::RuntimeConstructorInfo) {
        return Ok(Some(method_of(cx, member)?));
    }
    Ok(None)
}

/// The method of a ParameterInfo object, and the row of the parameter in the method's module.
fn row_of<'cx>(cx: &'cx Cx<'cx>, parameter: ObjRef<'cx>) -> Result<Option<(MethodRef, u32)>> {
    let member = parameter.read_ref(objects::heap_offset(cx, parameter.class(), "MemberImpl")?);
    let position: i32 =
        parameter.read(objects::heap_offset(cx, parameter.class(), "PositionImpl")?);
    let method = method_of_member(cx, member)?;
    Ok(method.and_then(|m| Some((m, param_row(m, (position + 1) as u16)?))))
}
/// The Param token of a ParameterInfo object, with its module.
pub fn token_of<'cx>(
    cx: &'cx Cx<'cx>,
    parameter: ObjRef<'cx>,
) -> Result<Option<(ModuleRef, Token)>> {
    let row = row_of(cx, parameter)?;
    Ok(row.map(|(method, rid)| (method.module(), Token::new(Table::Param, rid))))
}

/// The custom modifiers in front of a signature's type, as a `Type[]`.
pub fn modifiers<'cx>(
    cx: &'cx Cx<'cx>,
    module: ModuleRef,
    sig: &SigType,
    optional: bool,
) -> Result<ObjRef<'cx>> {
    let scope = Scope {
        module,
        context: GenericContext::default(),
        dynamic: None,
    };
    let mut found = load(cx, || collect(&scope, sig, !optional))?;
    // Mono reads those of what was emitted the other way round, until it is saved and loaded.
    if module.image.grows().is_some() {
        found.reverse();
    }
    if found.is_empty() {
        Ok(ObjRef::NULL)
    } else {
        objects::type_array(cx, &found)
    }
}
/// The required or optional modifiers of a type's signature, the one next to the type first: a signature begins with the one that was
/// written last.
fn collect(
    scope: &Scope,
    sig: &SigType,
    wanted_required: bool,
) -> std::result::Result<Vec<ClassRef>, LoadError> {
    let mut out = Vec::new();
    let mut at = sig;
    loop {
        match at {
            SigType::Modified {
                required,
                modifier,
                inner,
            } => {
                if *required == wanted_required {
                    out.push(scope.type_(*modifier)?);
                }
                at = inner;
            }
            SigType::ByRef(inner) => at = inner,
            _ => break,
        }
    }
    out.reverse();
    Ok(out)
}

icalls! {
    /// The Param token, as mono counts: from the method's first row on, also where that is the row of what the method returns, or another method's. The nil
    /// one for what a method returns, and for parameters of grafted methods, whose rows are in another module than their class; 0 for those of methods
    /// without a row: of arrays, and dynamic ones.
    "System.Reflection.RuntimeParameterInfo::GetMetadataToken" fn get_metadata_token(cx, this: ObjRef<'cx>) -> i32 {
        let member = this.read_ref(objects::heap_offset(cx, this.class(), "MemberImpl")?);
        let position: i32 = this.read(objects::heap_offset(cx, this.class(), "PositionImpl")?);
        let rid = match method_of_member(cx, member)? {
            Some(method) if method.is_grafted() => 0,
            Some(method) if method.rid == 0 => return Ok(0),
            Some(method) if method.module().image.grows().is_none() => {
                let first = method.module().image.method_def(method.rid).map_or(0, |row| row.param_list);
                u32::try_from(position).map_or(0, |at| first + at)
            }
            _ => row_of(cx, this)?.map_or(0, |(_, rid)| rid),
        };
        Ok(Token::new(Table::Param, rid).0 as i32)
    }
    /// Custom modifiers of a parameter of a member.
    "System.Reflection.RuntimeParameterInfo::GetTypeModifiers" fn get_type_modifiers(cx, ty: ObjRef<'cx>, member: ObjRef<'cx>, position: i32, optional: bool) -> ObjRef<'cx> {
        let Some(method) = method_of_member(cx, member)? else { return Ok(ObjRef::NULL) };
        // Those of arrays have no row, and so no signature that modifiers could stand in.
        if method.rid == 0 {
            return Ok(ObjRef::NULL);
        }
        let image = &method.module().image;
        let sig = image.method_def(method.rid).and_then(|r| image.blob(r.signature)).and_then(vervet_metadata::parse_method_sig);
        match sig {
            Ok(sig) => {
                let at = if position < 0 { Some(&sig.ret) } else { sig.params.get(position as usize) };
                match at {
                    Some(t) => modifiers(cx, method.module(), t, optional),
                    None => Ok(ObjRef::NULL),
                }
            }
            Err(e) => Err(cx.throw(Known::BadImageFormatException, &e.to_string())),
        }
    }
}
