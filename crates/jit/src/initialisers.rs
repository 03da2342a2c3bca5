//! Which type initialisers run when a method is first called.
//!
//! # How it works
//! ECMA-335 lets the initialiser of a class with `beforefieldinit` run at any time before the first
//! access to one of its static fields (II.10.5.3.1). Mono runs it while it compiles a method, and
//! programs that print from static initialisers show when. So the compiler lists, for each method,
//! the classes that mono would initialise then, and the runtime initialises them at the method's
//! first call:
//!
//! ```text
//! static int M(bool b) {              the list of M
//!     if (b) return A.X;              A     the access need not be reached
//!     return B.Twice();               C     C.Fast asks to be inlined (AggressiveInlining)
//!          + C.Fast(); }              P     the class of M itself, last
//! ```
//!
//! Not in a list are
//!
//! * classes without `beforefieldinit`, but for the method's own, and those of methods of the same
//!   module that ask to be inlined: generated code checks them where ECMA-335 says;
//! * the fields that a method accesses which mono inlines (`is_inlined_by_mono`), and, where mono
//!   shares code, fields of classes that differ between those that share it: generated code checks
//!   them at the access;
//! * thread statics, which have a value per thread;
//! * a finalizer's own class;
//! * classes whose initialiser is silent: nobody can tell when it runs;
//! * classes of the core library, whose initialisers a program does not see, and which would cost
//!   every start.
//!
//! # Invariants
//! * A list depends on the IL alone, and not on which classes are initialised. So it is the same in
//!   every process.
//! * The list only decides when a class is initialised early: code that accesses a class checks by
//!   itself that it is initialised.
//! * A silent initialiser runs no code of the program but plain stores, and throws nothing.
use rustc_hash::FxHashMap;
use std::rc::Rc;
use vervet_metadata::il::{Instr, Op, Operand};
use vervet_metadata::{Table, Token};
use vervet_types::field::StaticKind;
use vervet_types::method::{MethodKind, impl_flags};
use vervet_types::{ClassRef, Known, LoadError, MethodRef, Scope};

/// Bytes of IL from which on mono inlines no method that does not ask for it.
const MONO_INLINES_BELOW: usize = 20;
/// How many bytes of IL are looked at to find out whether an initialiser is silent.
const MOST: usize = 2048;

/// What was found of methods and classes during a compile.
#[derive(Default)]
pub struct Initialisers {
    /// By method id.
    lists: FxHashMap<u32, Rc<[ClassRef]>>,
    /// By class id.
    silent: FxHashMap<u32, bool>,
}

impl Initialisers {
    /// The classes that a method's first call initialises, in that order. What cannot be loaded is
    /// left out: the code that needs it says so.
    pub fn of(&mut self, method: MethodRef) -> Rc<[ClassRef]> {
        if let Some(known) = self.lists.get(&method.id) {
            return known.clone();
        }
        let list: Rc<[ClassRef]> = self.list(method).into();
        self.lists.insert(method.id, list.clone());
        list
    }

    fn list(&mut self, method: MethodRef) -> Vec<ClassRef> {
        let mut list = Vec::new();
        if is_library(method.class) && !method.is_dynamic() {
            return list;
        }
        // Mono makes a synchronized method a wrapper, which is one more method of the class, and is compiled first.
        let own = !is_finalizer(method);
        if own && method.is_synchronized() {
            self.add(&mut list, method, method.class);
        }
        if let Ok(body) = method.body()
            && method.has_body()
            && !self.is_inlined_by_mono(method)
        {
            let is_shared = shares_code(method);
            let scope = method.scope();
            for i in body.instructions() {
                let Ok(Instr {
                    op,
                    operand: Operand::Token(token),
                    ..
                }) = i
                else {
                    continue;
                };
                let class = match op {
                    Op::Ldsfld | Op::Ldsflda | Op::Stsfld => accessed(&scope, token, is_shared),
                    Op::Call | Op::Callvirt | Op::Newobj => inlined_on_demand(&scope, token),
                    _ => Ok(None),
                };
                if let Ok(Some(class)) = class {
                    self.add(&mut list, method, class);
                }
            }
        }
        // Also of instance methods: an object that was deserialised has had no constructor called.
        if own {
            self.add(&mut list, method, method.class);
        }
        list
    }

    fn add(&mut self, list: &mut Vec<ClassRef>, method: MethodRef, class: ClassRef) {
        let is_own = method.is_cctor() && std::ptr::eq(method.class, class);
        if !is_own && !list.contains(&class) && self.is_heard(class) {
            list.push(class);
        }
    }

    /// Whether a program may notice when the class is initialised.
    fn is_heard(&mut self, class: ClassRef) -> bool {
        if is_library(class) || class.is_open || !matches!(class.cctor(), Ok(Some(_))) {
            return false;
        }
        if let Some(silent) = self.silent.get(&class.id) {
            return !silent;
        }
        // While it is looked at, which may lead back to it, it counts as one that is not.
        self.silent.insert(class.id, false);
        let silent = matches!(class.cctor(), Ok(Some(m)) if is_silent(m, class, &mut { MOST }).is_ok_and(|s| s));
        self.silent.insert(class.id, silent);
        !silent
    }

    /// Whether mono replaces direct calls of the method by its body: it asks for it, or it is short,
    /// calls nothing, and its class is initialised. Mono looks at the moment of the compile whether
    /// the class is; a list does not depend on that, so the class counts as initialised if nobody can
    /// tell.
    fn is_inlined_by_mono(&mut self, method: MethodRef) -> bool {
        let never = impl_flags::NO_INLINING | impl_flags::SYNCHRONIZED;
        let is_plain = method.impl_flags & never == 0
            && method.kind == MethodKind::Normal
            && !method.is_cctor()
            && (!method.is_virtual() || method.is_final())
            && !method.class.is_marshal_by_ref().unwrap_or(true);
        let Ok(body) = method.body() else {
            return false;
        };
        let is_candidate = is_plain && body.clauses.is_empty();
        if method.impl_flags & impl_flags::AGGRESSIVE_INLINING != 0 {
            return is_candidate;
        }
        is_candidate
            && body.code.len() < MONO_INLINES_BELOW
            && !self.is_heard(method.class)
            && body.instructions().all(|i| {
                i.is_ok_and(|i| {
                    !matches!(
                        i.op,
                        Op::Call | Op::Callvirt | Op::Calli | Op::Newobj | Op::Jmp
                    )
                })
            })
    }
}

/// The class of a static field that is accessed, if the access lets mono initialise it while it
/// compiles.
fn accessed(scope: &Scope, token: Token, is_shared: bool) -> Result<Option<ClassRef>, LoadError> {
    if is_shared && scope.field_depends_on_context(token)? {
        return Ok(None);
    }
    let field = scope.field(token)?;
    let is_early = field.is_static()
        && field.class.is_before_field_init()
        && !field.is_literal()
        && !matches!(
            field.static_kind()?,
            StaticKind::Thread | StaticKind::Context
        );
    Ok(is_early.then_some(field.class))
}

/// The class of a callee that asks to be inlined, which mono initialises in order to inline it.
fn inlined_on_demand(scope: &Scope, token: Token) -> Result<Option<ClassRef>, LoadError> {
    if !token.is(Table::MethodDef) {
        return Ok(None);
    }
    let callee = scope.method(token)?;
    let is_asked = callee.impl_flags & impl_flags::AGGRESSIVE_INLINING != 0
        && (!callee.is_virtual() || callee.is_final());
    Ok(is_asked.then_some(callee.class))
}

/// Whether mono compiles one body for several instantiations: where a type argument is a reference type.
fn shares_code(method: MethodRef) -> bool {
    let mut args = method.class.args().iter().chain(method.method_args());
    args.any(|a| !a.is_value_type().unwrap_or(false))
}

/// Whether the collector calls the method. That there is an object need not mean that the class is
/// initialised: an initialiser that failed would fail again in the finalizers' thread.
fn is_finalizer(method: MethodRef) -> bool {
    let finalizer = method.class.finalizer();
    matches!(finalizer, Ok(Some(f)) if std::ptr::eq(f, method))
}

/// Whether the class is the core library's.
fn is_library(class: ClassRef) -> bool {
    class.module.is_corlib() || class.module.is_graft()
}

/// Whether nobody can tell when a class's initialiser, or a method that it calls, runs. `left`: how
/// many bytes of IL may still be looked at.
fn is_silent(method: MethodRef, own: ClassRef, left: &mut usize) -> Result<bool, LoadError> {
    if std::ptr::eq(method.class, own.universe().known(Known::Object)) && method.is_ctor() {
        return Ok(true);
    }
    // Methods of other classes may have those initialised.
    if !std::ptr::eq(method.class, own) || !method.has_body() || method.is_virtual() {
        return Ok(false);
    }
    let body = method.body()?;
    *left = match left.checked_sub(body.code.len()) {
        Some(left) if body.clauses.is_empty() => left,
        _ => return Ok(false),
    };
    let scope = method.scope();
    for i in body.instructions() {
        use Op::*;
        let Ok(i) = i else { return Ok(false) };
        let goes_on = match (i.op, i.operand) {
            (
                Nop | Ret | Dup | Pop | Ldnull | Ldstr | LdcI4M1 | LdcI40 | LdcI41 | LdcI42
                | LdcI43 | LdcI44 | LdcI45 | LdcI46 | LdcI47 | LdcI48 | LdcI4S | LdcI4 | LdcI8
                | LdcR4 | LdcR8 | Ldarg0 | Ldarg1 | Ldarg2 | Ldarg3 | LdargS | Ldloc0 | Ldloc1
                | Ldloc2 | Ldloc3 | LdlocS | Stloc0 | Stloc1 | Stloc2 | Stloc3 | StlocS | LdlocaS
                | ConvI1 | ConvI2 | ConvI4 | ConvI8 | ConvU1 | ConvU2 | ConvU4 | ConvU8 | ConvR4
                | ConvR8 | Add | Sub | Mul | Neg | Not | And | Or | Xor | Shl | Shr | ShrUn,
                _,
            ) => true,
            // Constructors store into `this`.
            (Stfld, Operand::Token(t)) => {
                let is_near = method.is_ctor() && t.is(Table::Field);
                is_near && std::ptr::eq(scope.field(t)?.class, own)
            }
            (Stsfld | Ldsfld | Ldsflda, Operand::Token(t)) => {
                t.is(Table::Field) && std::ptr::eq(scope.field(t)?.class, own)
            }
            (Newobj | Call, Operand::Token(t)) => {
                let is_near = t.is(Table::MethodDef) || i.op == Call && is_of_base(own, t);
                is_near && is_silent(scope.method(t)?, own, left)?
            }
            _ => false,
        };
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a MemberRef names a member of the class's base, which has been resolved: looking it up
/// loads nothing.
fn is_of_base(class: ClassRef, token: Token) -> bool {
    let image = &class.module.image;
    let own = class.token();
    if !token.is(Table::MemberRef) || !own.is(Table::TypeDef) {
        return false;
    }
    let rows = (image.member_ref(token.rid()), image.type_def(own.rid()));
    matches!(rows, (Ok(member), Ok(own)) if member.class == own.extends)
}
