//! `Activator.CreateInstance<T>()`, which C# compiles `new T()` to, without reflection.
//!
//! # How it works
//! T is known when the method is compiled:
//!
//! ```text
//! T                                                   instead of the call
//! value type without a constructor of no parameters   its zeros
//! class whose constructor is plain                    newobj T::.ctor()
//! any other                                           the call is made
//! ```
//!
//! A constructor is plain if it stores constants and new objects with plain constructors into fields of `this`, and calls a plain constructor of
//! its base class.
//!
//! # Invariants
//! * A plain constructor calls no code that could look at the stack, and throws nothing that the class library would wrap and whose trace
//!   would show reflection's frames: it can only run out of memory or stack.
//! * No class constructor runs because of it, so none can throw.
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use smallvec::SmallVec;
use vervet_metadata::il::{Op, Operand};
use vervet_types::method::{MethodKind, impl_flags};
use vervet_types::{ClassRef, Known, MethodRef};

/// Bytes of IL of a plain constructor.
const LONGEST: usize = 256;
/// How many constructors are looked at to find out whether one is plain.
const MOST: u32 = 32;

impl<'a, 'f> Translator<'a, 'f> {
    /// Expands the call. False: it must be made.
    pub(crate) fn create_instance(&mut self, method: MethodRef) -> Res<bool> {
        let &[class] = method.method_args() else {
            return Ok(false);
        };
        if class.is_open {
            return Ok(false);
        }
        // Reflection makes zeros, too, unless the type has a constructor, which C# does not give it.
        if class.is_value_type()? {
            if class.find_method(".ctor", Some(0))?.is_some() {
                return Ok(false);
            }
            let zeros = self.zeros_of(class)?;
            self.push_value(zeros);
            return Ok(true);
        }
        // What cannot be loaded is an error of the call.
        match plain_constructor(class, &mut { MOST }) {
            Ok(Some(ctor)) if ctor.is_public() => {
                self.construct(ctor)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}

/// The constructor without parameters of a class, if it is plain. `left`: how many more may be looked at.
fn plain_constructor(class: ClassRef, left: &mut u32) -> Res<Option<MethodRef>> {
    // What has no constructor of its own, or none that `newobj` would call as reflection does.
    let excluded = class.is_abstract()
        || class.is_interface()
        || class.is_array()
        || class.is_value_type()?
        || class.is_delegate()?
        || std::ptr::eq(class, class.universe().known(Known::String))
        || class.is_marshal_by_ref()?;
    if excluded {
        return Ok(None);
    }
    let ctor = class.find_method(".ctor", Some(0))?;
    match ctor {
        Some(ctor) if is_plain(ctor, left)? => Ok(Some(ctor)),
        _ => Ok(None),
    }
}

/// Whether the constructor is plain.
fn is_plain(ctor: MethodRef, left: &mut u32) -> Res<bool> {
    let class = ctor.class;
    if std::ptr::eq(class, class.universe().known(Known::Object)) {
        return Ok(true);
    }
    let excluded = *left == 0
        || ctor.kind != MethodKind::Normal
        || ctor.impl_flags & (impl_flags::SYNCHRONIZED | impl_flags::NO_OPTIMIZATION) != 0
        || !ctor.has_body()
        || !ctor.has_this()
        || class.is_open
        || class.cctor()?.is_some()
        || class.check_constraints().is_err();
    if excluded {
        return Ok(false);
    }
    // From here on the body decides.
    *left -= 1;
    let Ok(body) = ctor.body() else {
        return Ok(false);
    };
    if body.code.len() > LONGEST || !body.clauses.is_empty() || !body.local_sig.is_nil() {
        return Ok(false);
    }
    let scope = ctor.scope();
    // By value on the IL stack: is it an object, and not null?
    let mut stack: SmallVec<[bool; 8]> = SmallVec::new();
    for i in body.instructions() {
        use Op::*;
        let Ok(i) = i else { return Ok(false) };
        let goes_on = match (i.op, i.operand) {
            (Nop | Ret | ConvI8 | ConvU8 | ConvR8, _) => true,
            (Ldarg0 | Ldstr, _) => {
                stack.push(true);
                true
            }
            (
                Ldnull | LdcI4M1 | LdcI40 | LdcI41 | LdcI42 | LdcI43 | LdcI44 | LdcI45 | LdcI46
                | LdcI47 | LdcI48 | LdcI4S | LdcI4 | LdcI8 | LdcR4 | LdcR8,
                _,
            ) => {
                stack.push(false);
                true
            }
            // Into an object that is not null: else the constructor throws.
            (Stfld, Operand::Token(t)) => {
                stack.pop().is_some()
                    && stack.pop() == Some(true)
                    && scope
                        .field(t)
                        .is_ok_and(|f| !f.is_static() && std::ptr::eq(f.class, class))
            }
            // The base's constructor is called by C# behind the initial values of the fields, or, if it is Object's, for no effect.
            (Call, Operand::Token(t)) => match scope.method(t) {
                Ok(base) => {
                    stack.pop() == Some(true) && is_base_of(base, class)? && is_plain(base, left)?
                }
                Err(_) => false,
            },
            // A class whose objects have one of its own among their fields uses up the constructors that may be looked at.
            (Newobj, Operand::Token(t)) => match scope.method(t) {
                Ok(part) => {
                    stack.push(true);
                    plain_constructor(part.class, left)?
                        .is_some_and(|plain| plain == part && plain.is_public())
                }
                Err(_) => false,
            },
            _ => false,
        };
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the method is the constructor without parameters of the class's base, and one that the class may call.
fn is_base_of(method: MethodRef, class: ClassRef) -> Res<bool> {
    Ok(method.name == ".ctor"
        && (method.is_public() || method.is_family())
        && method.sig()?.params.is_empty()
        && (class.parent()?).is_some_and(|parent| std::ptr::eq(parent, method.class)))
}
