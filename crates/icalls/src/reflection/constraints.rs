//! Constraints of generic parameters: listing them, and checking arguments against them.
use vervet_types::{ClassKind, ClassRef, GenericContext, LoadError, Scope};

/// The type constraints of a generic parameter, as its definition states them.
pub fn of_parameter(param: ClassRef) -> Result<Vec<ClassRef>, LoadError> {
    param.param_constraints()
}

/// The type constraints of a generic parameter with its owner's parameters replaced.
pub fn of_parameter_in(
    param: ClassRef,
    context: GenericContext,
) -> Result<Vec<ClassRef>, LoadError> {
    let ClassKind::GenericParam { rid, .. } = param.kind else {
        return Ok(Vec::new());
    };
    let image = &param.module.image;
    let scope = Scope {
        module: param.module,
        context,
    };
    let mut out = Vec::new();
    for row in image.generic_param_constraints_of(rid) {
        if let Ok(c) = image.generic_param_constraint(row) {
            out.push(scope.type_(c.constraint)?);
        }
    }
    Ok(out)
}

const REFERENCE_TYPE: u16 = 4;
const NOT_NULLABLE_VALUE_TYPE: u16 = 8;
const DEFAULT_CONSTRUCTOR: u16 = 16;

/// Does `arg` satisfy the constraints of `param`, `context` holding all arguments?
pub fn satisfied(
    param: ClassRef,
    arg: ClassRef,
    context: GenericContext,
) -> Result<bool, LoadError> {
    let ClassKind::GenericParam { rid, .. } = param.kind else {
        return Ok(true);
    };
    if arg.is_generic_param() || arg.is_open {
        return Ok(true);
    }
    let flags = param.module.image.generic_param(rid).map_or(0, |r| r.flags);
    let value_type = arg.is_value_type()?;
    if flags & REFERENCE_TYPE != 0 && value_type {
        return Ok(false);
    }
    if flags & NOT_NULLABLE_VALUE_TYPE != 0 && (!value_type || arg.is_nullable()) {
        return Ok(false);
    }
    if flags & DEFAULT_CONSTRUCTOR != 0 && !value_type {
        let has = arg.methods()?.iter().any(|m| {
            m.name == ".ctor" && m.flags & 7 == 6 && m.sig().is_ok_and(|s| s.params.is_empty())
        });
        if arg.is_abstract() || !has {
            return Ok(false);
        }
    }
    for c in of_parameter_in(param, context)? {
        if !arg.universe().is_assignable_from_reflection(c, arg)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Do all arguments satisfy their parameters' constraints?
pub fn all_satisfied(
    params: &[ClassRef],
    args: &[ClassRef],
    context: GenericContext,
) -> Result<bool, LoadError> {
    for (p, a) in params.iter().zip(args) {
        if !satisfied(p, a, context)? {
            return Ok(false);
        }
    }
    Ok(true)
}
