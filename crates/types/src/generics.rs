//! Interning of constructed types, one canonical class for each, and substitution of type
//! arguments.
//!
//! # How it works
//! Metadata is read once, in terms of *positions*: `!0` is the first parameter of the class, `!!0`
//! the first of the method. [`GenericContext::substitute`] replaces positions by arguments and
//! interns every type on the way:
//!
//! ```text
//! signature          List`1<!0>  Convert(!0[])
//! context            class arguments [int]
//! substituted        List`1<int> Convert(int[])
//! ```
//!
//! # Invariants
//! * A class is looked up and created under one leaf lock, so threads that race get the same class.
//!   Creating one needs identities only, so nothing is loaded under the lock.
//! * An instantiation over the definition's own parameters is the definition itself.
//! * The nesting depth and the number of types in an instantiation are bounded. A generic class
//!   that instantiates itself with ever larger arguments therefore ends in an error.
use crate::class::{Nature, type_flags};
use crate::method::{MethodCells, Rare};
use crate::*;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use vervet_os::{LeafLock, Published};

/// The intern tables.
#[derive(Default)]
pub(crate) struct Interned {
    insts: LeafLock<HashTable<ClassRef>>,
    method_insts: LeafLock<HashTable<MethodRef>>,
    fn_ptrs: LeafLock<HashTable<ClassRef>>,
    arrays: LeafLock<FxHashMap<(u32, u32), ClassRef>>,
    positions: LeafLock<FxHashMap<(u32, bool), ClassRef>>,
    /// Guards the cells of `T[]`, `T*` and `T&`.
    cells: LeafLock<()>,
}

/// TypeAttributes of arrays.
const ARRAY_FLAGS: u32 = type_flags::PUBLIC | type_flags::SEALED | type_flags::SERIALIZABLE;

/// The hash of a definition and its arguments.
fn hash_of(id: u32, args: &[ClassRef]) -> u64 {
    let mut h = FxHasher::default();
    h.write_u32(id);
    args.iter().for_each(|a| h.write_u32(a.id));
    h.finish()
}
/// The hash of a function pointer's signature.
fn hash_sig(sig: &MethodSig) -> u64 {
    let mut h = FxHasher::default();
    sig.hash(&mut h);
    h.finish()
}
/// The greatest nesting depth of any argument.
fn depth_of(args: &[ClassRef]) -> u32 {
    args.iter().map(|a| a.inst_depth).max().unwrap_or(0) + 1
}

/// How many types the arguments are written with.
fn weight_of(parts: impl Iterator<Item = ClassRef>) -> u32 {
    parts.fold(1, |sum, c| sum.saturating_add(c.weight))
}

impl Universe {
    /// The class of a cell, made under the lock if there is none.
    pub(crate) fn make_once(
        &self,
        cell: &'static Published<Class>,
        make: impl FnOnce(u32) -> Class,
    ) -> ClassRef {
        let _guard = self.interned.cells.lock();
        cell.get().unwrap_or_else(|| cell.set(self.add_class(make)))
    }
    /// A class constructed from an element. The few levels beyond the limit are the runtime's own (`T&` of a `T[]`).
    fn construct(&self, elem: ClassRef, kind: ClassKind, suffix: &str, flags: u32) -> ClassRef {
        debug_assert!(
            elem.inst_depth <= MAX_NESTING + 8,
            "nesting was not checked"
        );
        let name: &'static str = Box::leak(format!("{}{suffix}", elem.name).into_boxed_str());
        self.add_class(|id| Class {
            kind,
            id,
            module: elem.module,
            flags,
            namespace: elem.namespace,
            name,
            prim: None,
            is_open: elem.is_open,
            inst_depth: elem.inst_depth + 1,
            weight: elem.weight + 1,
            nature: Nature::Reference,
            cells: Default::default(),
        })
    }
    /// `T[]`.
    pub fn sz_array(&'static self, elem: ClassRef) -> ClassRef {
        let cell = &elem.cells.sz_array;
        cell.get().unwrap_or_else(|| {
            let _guard = self.interned.cells.lock();
            cell.get().unwrap_or_else(|| {
                cell.set(self.construct(elem, ClassKind::SzArray(elem), "[]", ARRAY_FLAGS))
            })
        })
    }
    /// `T*`.
    pub fn ptr(&'static self, elem: ClassRef) -> ClassRef {
        let cell = &elem.cells.ptr;
        cell.get().unwrap_or_else(|| {
            let _guard = self.interned.cells.lock();
            cell.get().unwrap_or_else(|| {
                cell.set(self.construct(elem, ClassKind::Ptr(elem), "*", type_flags::PUBLIC))
            })
        })
    }
    /// `T&`.
    pub fn byref(&'static self, elem: ClassRef) -> ClassRef {
        let cell = &elem.cells.byref;
        cell.get().unwrap_or_else(|| {
            let _guard = self.interned.cells.lock();
            cell.get().unwrap_or_else(|| {
                cell.set(self.construct(elem, ClassKind::ByRef(elem), "&", type_flags::PUBLIC))
            })
        })
    }
    /// `T[,]` (rank 2) and so on; `T[*]` for rank 1. Callers have checked the rank ([`MAX_RANK`]).
    pub fn array(&'static self, elem: ClassRef, rank: u32) -> ClassRef {
        assert!((1..=MAX_RANK).contains(&rank), "an array of rank {rank}");
        let mut arrays = self.interned.arrays.lock();
        arrays.entry((elem.id, rank)).or_insert_with(|| {
            let suffix = if rank == 1 {
                "[*]".to_string()
            } else {
                format!("[{}]", ",".repeat(rank as usize - 1))
            };
            self.construct(elem, ClassKind::Array { elem, rank }, &suffix, ARRAY_FLAGS)
        })
    }
    /// A function pointer.
    pub fn fn_ptr(&'static self, sig: MethodSig) -> ClassRef {
        let corlib = self.corlib();
        let hash = hash_sig(&sig);
        let mut table = self.interned.fn_ptrs.lock();
        let same = |c: &ClassRef| matches!(c.kind, ClassKind::FnPtr(s) if *s == sig);
        if let Some(c) = table.find(hash, same) {
            return c;
        }
        let all = || sig.params.iter().chain([&sig.ret]);
        let is_open = all().any(|c| c.is_open);
        let inst_depth = all().map(|c| c.inst_depth).max().unwrap_or(0) + 1;
        let weight = weight_of(all().copied());
        let class = self.add_class(|id| Class {
            kind: ClassKind::FnPtr(Box::leak(Box::new(sig))),
            id,
            module: corlib,
            flags: type_flags::PUBLIC,
            namespace: "System",
            name: "MonoFNPtrFakeClass",
            prim: None,
            is_open,
            inst_depth,
            weight,
            nature: Nature::Reference,
            cells: Default::default(),
        });
        let rehash = |c: &ClassRef| {
            if let ClassKind::FnPtr(s) = c.kind {
                hash_sig(s)
            } else {
                0
            }
        };
        table.insert_unique(hash, class, rehash);
        class
    }
    /// `!n` or `!!n`, for comparing signatures.
    pub fn position(&'static self, index: u32, of_method: bool) -> ClassRef {
        let corlib = self.corlib();
        let mut positions = self.interned.positions.lock();
        positions.entry((index, of_method)).or_insert_with(|| {
            let name = format!("{}{index}", if of_method { "!!" } else { "!" });
            self.add_class(|id| Class {
                kind: ClassKind::Position { index, of_method },
                id,
                module: corlib,
                flags: type_flags::PUBLIC,
                namespace: "",
                name: Box::leak(name.into_boxed_str()),
                prim: None,
                is_open: true,
                inst_depth: 0,
                weight: 1,
                nature: Nature::Reference,
                cells: Default::default(),
            })
        })
    }
    /// The instantiation of a generic definition.
    pub fn instantiate(&'static self, def: ClassRef, args: &[ClassRef]) -> R<ClassRef> {
        let params = def.params()?;
        if !matches!(def.kind, ClassKind::Def { .. })
            || params.is_empty()
            || params.len() != args.len()
        {
            let text = format!(
                "{} type arguments for {} parameters",
                args.len(),
                params.len()
            );
            return Err(LoadError::type_load(def, text));
        }
        if params == args {
            return Ok(def);
        }
        let hash = hash_of(def.id, args);
        let same = |c: &ClassRef| matches!(c.kind, ClassKind::Inst { def: d, args: a } if d == def && a == args);
        if let Some(c) = self.interned.insts.lock().find(hash, same) {
            return Ok(c);
        }
        if let Some(bad) = args.iter().find(|a| a.is_no_argument()) {
            let text = format!("{} cannot be a type argument", bad.full_name());
            return Err(LoadError::type_load(def, text));
        }
        let inst_depth = depth_of(args);
        let weight = weight_of(args.iter().copied());
        if inst_depth > MAX_NESTING || weight > MAX_WEIGHT {
            return Err(LoadError::type_load(
                def,
                "the instantiation is nested too deeply",
            ));
        }
        let mut table = self.interned.insts.lock();
        if let Some(c) = table.find(hash, same) {
            return Ok(c);
        }
        let class = self.add_class(|id| Class {
            kind: ClassKind::Inst {
                def,
                args: args.to_vec().leak(),
            },
            id,
            module: def.module,
            flags: def.flags,
            namespace: def.namespace,
            name: def.name,
            prim: None,
            is_open: args.iter().any(|a| a.is_open),
            inst_depth,
            weight,
            nature: def.nature,
            cells: Default::default(),
        });
        let rehash = |c: &ClassRef| {
            if let ClassKind::Inst { def, args } = c.kind {
                hash_of(def.id, args)
            } else {
                0
            }
        };
        table.insert_unique(hash, class, rehash);
        Ok(class)
    }
    /// The instantiation of a generic method definition (of a definition or an instantiated class).
    pub fn instantiate_method(&'static self, def: MethodRef, args: &[ClassRef]) -> R<MethodRef> {
        let def = def.generic_def();
        if def.generic_arity as usize != args.len() || args.is_empty() {
            return Err(LoadError::missing_method(def.class, def.name));
        }
        if args[0].is_variable() && def.generic_params()? == args {
            return Ok(def);
        }
        if depth_of(args) > MAX_NESTING || weight_of(args.iter().copied()) > MAX_WEIGHT {
            return Err(LoadError::type_load(
                def.class,
                format!("the instantiation of {} is nested too deeply", def.name),
            ));
        }
        if let Some(bad) = args.iter().find(|a| a.is_no_argument()) {
            let text = format!("{} cannot be an argument of {}", bad.full_name(), def.name);
            return Err(LoadError::bad_image(def.class.module, text));
        }
        let hash = hash_of(def.id, args);
        let same =
            |m: &MethodRef| m.class == def.class && m.index == def.index && m.method_args() == args;
        let mut table = self.interned.method_insts.lock();
        if let Some(m) = table.find(hash, same) {
            return Ok(m);
        }
        let args = args.to_vec().leak();
        let method = self.add_method(|id| Method {
            id,
            rare: Some(Box::leak(Box::new(Rare::Instance { args, def }))),
            cells: MethodCells::default(),
            ..*def
        });
        let rehash = |m: &MethodRef| hash_of(m.generic_def().id, m.method_args());
        table.insert_unique(hash, method, rehash);
        Ok(method)
    }
}

impl Class {
    /// Itself, if a type may be built around it: whoever lets a program choose both asks this first.
    pub fn nested(&'static self) -> R<ClassRef> {
        if self.inst_depth >= MAX_NESTING {
            return Err(LoadError::type_load(self, "the type is nested too deeply"));
        }
        Ok(self)
    }
    /// May not be the argument of anything generic: `void`, and what lives on the stack only.
    pub fn is_no_argument(&'static self) -> bool {
        self.prim == Some(Prim::Void) || self.is_byref() || self.is_by_ref_like()
    }
}

impl GenericContext {
    /// Puts the arguments in the places of positions. A position without an argument is an error, unless it is the
    /// method's and `keep_method` is set.
    fn put(&self, class: ClassRef, keep_method: bool) -> R<ClassRef> {
        if !class.is_open {
            return Ok(class);
        }
        let u = class.universe();
        Ok(match &class.kind {
            ClassKind::Position {
                of_method: true, ..
            } if keep_method => class,
            ClassKind::Position { index, of_method } => {
                let args = if *of_method {
                    self.method_args
                } else {
                    self.class_args
                };
                *args
                    .get(*index as usize)
                    .ok_or_else(|| LoadError::BadImage {
                        file: String::new(),
                        message: format!("type variable {} without an argument", class.name),
                    })?
            }
            ClassKind::Inst { def, args } => {
                let mut changed = false;
                let mut new = smallvec::SmallVec::<[ClassRef; 8]>::with_capacity(args.len());
                for a in *args {
                    let b = self.put(a, keep_method)?;
                    changed |= *a != b;
                    new.push(b);
                }
                if changed {
                    u.instantiate(def, &new)?
                } else {
                    class
                }
            }
            ClassKind::SzArray(e) => u.sz_array(self.put(e, keep_method)?.nested()?),
            ClassKind::Ptr(e) => u.ptr(self.put(e, keep_method)?.nested()?),
            ClassKind::ByRef(e) => u.byref(self.put(e, keep_method)?.nested()?),
            ClassKind::Array { elem, rank } => {
                u.array(self.put(elem, keep_method)?.nested()?, *rank)
            }
            ClassKind::FnPtr(sig) => u.fn_ptr(self.put_sig(sig, keep_method)?),
            ClassKind::Def { .. } | ClassKind::GenericParam { .. } => class,
        })
    }
    /// Substitutes a signature.
    fn put_sig(&self, sig: &MethodSig, keep_method: bool) -> R<MethodSig> {
        Ok(MethodSig {
            ret: self.put(sig.ret, keep_method)?,
            params: sig
                .params
                .iter()
                .map(|p| self.put(p, keep_method))
                .collect::<R<_>>()?,
            ..*sig
        })
    }
    /// The class with this context's arguments in the places of positions.
    pub fn substitute(&self, class: ClassRef) -> R<ClassRef> {
        self.put(class, false)
    }
    /// As [`GenericContext::substitute`], on a whole signature.
    pub fn substitute_sig(&self, sig: &MethodSig) -> R<MethodSig> {
        self.put_sig(sig, false)
    }
    /// Substitutes the class's arguments only and leaves the method's positions.
    pub(crate) fn substitute_class_args(&self, sig: &MethodSig) -> R<MethodSig> {
        self.put_sig(sig, true)
    }
}
