//! Constraints of generic parameters, and whether arguments satisfy them (ECMA-335 II.10.1.7,
//! II.9.11).
//!
//! # How it works
//! [`Class::check`] calls [`Class::check_constraints`] for a class, its parents and its interfaces, and so do instructions for the type that is their
//! operand; the compiler calls [`Method::check_constraints`] for a method. `ldtoken`, `sizeof` and signatures may name a type with arguments
//! that violate a constraint, as in mono. There an argument that is open is not
//! judged: its constraints are checked where it is instantiated. Reflection asks [`Class::satisfies_constraints`], which
//! judges every type but the parameters themselves: `List<T>` is no struct, whatever `T` is.
//!
//! # Invariants
//! * Generic code relies on its constraints: it reads the fields of the constraint's class from an
//!   argument. Therefore no instance of a type exists, and no method runs, whose arguments violate
//!   a constraint. Of what a program defines while it runs, that is a constraint to a class: mono asks
//!   there for none, and proxies are made whose arguments violate others.
//! * Judging needs parents and interfaces only and never [`Class::check`], so it cannot call
//!   itself.
use crate::*;

/// GenericParamAttributes (ECMA-335 II.23.1.7): `class`.
const REFERENCE_TYPE: u32 = 4;
/// `struct`.
const NOT_NULLABLE_VALUE_TYPE: u32 = 8;
/// `new()`.
const DEFAULT_CONSTRUCTOR: u32 = 16;

/// The type constraints of a generic parameter with its owner's parameters replaced.
fn of_parameter_in(param: ClassRef, context: GenericContext) -> R<Vec<ClassRef>> {
    let ClassKind::GenericParam { rid, .. } = param.kind else {
        return Ok(Vec::new());
    };
    let image = &param.module.image;
    let scope = Scope {
        module: param.module,
        context,
        dynamic: None,
    };
    image
        .generic_param_constraints_of(rid)
        .map(|row| {
            let row = image.generic_param_constraint(row);
            scope.type_(row.map_err(|e| param.module.bad(e))?.constraint)
        })
        .collect()
}

/// Which arguments are judged.
#[derive(Clone, Copy)]
enum Judged {
    /// Closed ones.
    Closed,
    /// All but generic parameters.
    AllButParameters,
}

/// Whether `arg` may stand for `param`; `context` holds all arguments.
fn satisfied(param: ClassRef, arg: ClassRef, context: GenericContext, judged: Judged) -> R<bool> {
    let is_left_out = match judged {
        Judged::Closed => arg.is_open,
        Judged::AllButParameters => arg.is_generic_param(),
    };
    if is_left_out {
        return Ok(true);
    }
    let is_defined = param.module.image.grows().is_some();
    let flags = match is_defined {
        true => 0,
        false => param.param_flags()?,
    };
    let value_type = arg.is_value_type()?;
    if flags & REFERENCE_TYPE != 0 && value_type {
        return Ok(false);
    }
    if flags & NOT_NULLABLE_VALUE_TYPE != 0 && (!value_type || arg.nullable_arg().is_some()) {
        return Ok(false);
    }
    if flags & DEFAULT_CONSTRUCTOR != 0 && !value_type {
        let constructor = arg.find_method(".ctor", Some(0))?;
        if arg.is_abstract() || !constructor.is_some_and(|m| m.is_ctor() && m.is_public()) {
            return Ok(false);
        }
    }
    for constraint in of_parameter_in(param, context)? {
        if is_defined && constraint.is_interface() {
            continue;
        }
        if !arg
            .universe()
            .is_assignable_from_reflection(constraint, arg)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The position of the first argument that violates a constraint.
fn first_broken(
    params: &[ClassRef],
    args: &[ClassRef],
    context: GenericContext,
    judged: Judged,
) -> R<Option<usize>> {
    for (i, (param, arg)) in params.iter().zip(args).enumerate() {
        if !satisfied(param, arg, context, judged)? {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

impl Class {
    /// Whether the arguments of an instantiation satisfy the constraints; true for any other type.
    pub fn satisfies_constraints(&'static self) -> R<bool> {
        let broken = self.broken_constraint(Judged::AllButParameters)?;
        Ok(broken.is_none())
    }
    /// The position of the first argument that violates a constraint.
    fn broken_constraint(&'static self, judged: Judged) -> R<Option<usize>> {
        match self.kind {
            ClassKind::Inst { def, args } => {
                first_broken(def.params()?, args, self.scope().context, judged)
            }
            _ => Ok(None),
        }
    }
    /// TypeLoadException if an argument of the instantiation breaks a constraint, or is an instantiation of which one does.
    pub fn check_constraints(&'static self) -> R<()> {
        match self.is_valid()? {
            true => Ok(()),
            false => Err(self.unusable("Invalid generic instantiation".to_owned())),
        }
    }
    fn is_valid(&'static self) -> R<bool> {
        for argument in self.args() {
            if argument.is_inst() && !argument.is_valid()? {
                return Ok(false);
            }
        }
        Ok(self.broken_constraint(Judged::Closed)?.is_none())
    }
}

impl Method {
    /// Whether the arguments of an instantiated method satisfy the constraints; true for any other method.
    pub fn satisfies_constraints(&'static self) -> R<bool> {
        let broken = self.broken_constraint(Judged::AllButParameters)?;
        Ok(broken.is_none())
    }
    /// The position of the first argument that violates a constraint.
    fn broken_constraint(&'static self, judged: Judged) -> R<Option<usize>> {
        if self.method_args().is_empty() {
            return Ok(None);
        }
        first_broken(
            self.generic_params()?,
            self.method_args(),
            self.context(),
            judged,
        )
    }
    /// VerificationException if an argument of the instantiated method breaks a constraint. Mono runs such a method
    /// and reads what is not there; CoreCLR throws this.
    pub fn check_constraints(&'static self) -> R<()> {
        match self.broken_constraint(Judged::Closed)? {
            None => Ok(()),
            Some(i) => Err(LoadError::Verification {
                message: format!(
                    "Method {}.{}: type argument '{}' violates the constraint of type parameter '{}'.",
                    self.class.full_name(),
                    self.name,
                    self.method_args()[i].full_name(),
                    self.generic_params()?[i].name
                ),
            }),
        }
    }
}
