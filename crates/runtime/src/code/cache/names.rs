//! Names of types, methods and fields that hold in every process: a module's number in a set, rows, indices, arguments.
//!
//! ```text
//! type      0 module row | 1 type count arguments | 2 element (T[]) | 3 rank element (T[,]) | 4 element (T*) | 5 element (T&)
//!           6 module row: a generic definition, only by itself
//! method    type, index among its methods, row, count, arguments
//! field     type, index among its fields
//! ```
//!
//! # Invariants
//! * Definitions are named, never references: what a reference meant is what was compiled.
//! * Writing fails for what has no such name: open types, function pointers, types of modules outside the set. Then the code is not kept.
//! * Reading is total. It makes types and methods, which is what resolving a token does too; it loads no assembly by itself.
use super::modules::Set;
use crate::runtime::rt;
use vervet_codecache::wire::{Damaged, In, Out, Read};
use vervet_types::{Class, ClassKind, ClassRef, FieldRef, MAX_RANK, MethodRef, ModuleRef};

/// Levels of arguments and elements that are read. Types of programs have a few.
const DEEPEST: u32 = 60;

/// Writes names.
pub struct Namer<'a> {
    /// Where modules have numbers.
    pub set: &'a Set,
    /// What was written.
    pub out: Out,
}

impl Namer<'_> {
    /// Writes a module. None: it is not in the set.
    pub fn module(&mut self, module: ModuleRef) -> Option<()> {
        let number = self.set.number_of(module)?;
        self.out.u32(number);
        Some(())
    }
    /// Writes a type. None: it has no name.
    pub fn class(&mut self, class: ClassRef) -> Option<()> {
        self.class_at(class, 0)
    }
    fn class_at(&mut self, class: ClassRef, depth: u32) -> Option<()> {
        // An open definition by itself is what `typeof(List<>)` names.
        let is_definition = depth == 0 && matches!(class.kind, ClassKind::Def { .. });
        if depth > DEEPEST || class.is_open && !is_definition {
            return None;
        }
        match &class.kind {
            ClassKind::Def { rid, .. } => {
                self.out.byte(if class.is_open { 6 } else { 0 });
                self.module(class.module)?;
                self.out.u32(*rid);
            }
            ClassKind::Inst { def, args } => {
                self.out.byte(1);
                self.module(def.module)?;
                self.out.u32(def.rid());
                self.classes(args, depth)?;
            }
            ClassKind::SzArray(e) => {
                self.out.byte(2);
                self.class_at(e, depth + 1)?;
            }
            ClassKind::Array { elem, rank } => {
                self.out.byte(3);
                self.out.u32(*rank);
                self.class_at(elem, depth + 1)?;
            }
            ClassKind::Ptr(e) => {
                self.out.byte(4);
                self.class_at(e, depth + 1)?;
            }
            ClassKind::ByRef(e) => {
                self.out.byte(5);
                self.class_at(e, depth + 1)?;
            }
            ClassKind::FnPtr(_) | ClassKind::GenericParam { .. } | ClassKind::Position { .. } => {
                return None;
            }
        }
        Some(())
    }
    fn classes(&mut self, classes: &[ClassRef], depth: u32) -> Option<()> {
        self.out.count(classes.len());
        classes.iter().try_for_each(|c| self.class_at(c, depth + 1))
    }
    /// Writes a method. None: it has no name.
    pub fn method(&mut self, method: MethodRef) -> Option<()> {
        // What has no row is not named by its class and index.
        if method.is_open() || method.is_nameless() {
            return None;
        }
        self.class(method.class)?;
        self.out.u32(method.index);
        self.out.u32(method.rid);
        self.classes(method.method_args(), 0)
    }
    /// Writes a field. None: it has no name.
    pub fn field(&mut self, field: FieldRef) -> Option<()> {
        self.class(field.class)?;
        self.out.u32(field.index);
        Some(())
    }
}

/// Reads names.
pub struct Finder<'a> {
    /// Modules by number.
    pub modules: &'a [ModuleRef],
    /// What is read.
    pub read: In<'a>,
}

impl Finder<'_> {
    /// Reads a module.
    pub fn module(&mut self) -> Read<ModuleRef> {
        let number = self.read.u32()? as usize;
        self.modules.get(number).copied().ok_or(Damaged)
    }
    /// Reads a type.
    pub fn class(&mut self) -> Read<ClassRef> {
        self.class_at(0)
    }
    fn class_at(&mut self, depth: u32) -> Read<ClassRef> {
        if depth > DEEPEST {
            return Err(Damaged);
        }
        let universe = rt().universe;
        let tag = self.read.byte()?;
        Ok(match tag {
            0 | 6 if tag == 0 || depth == 0 => {
                let definition = self.definition()?;
                match definition.is_open == (tag == 6) {
                    true => definition,
                    false => return Err(Damaged),
                }
            }
            1 => {
                let definition = self.definition()?;
                let args = self.classes(depth)?;
                universe
                    .instantiate(definition, &args)
                    .map_err(|_| Damaged)?
            }
            2 => universe.sz_array(self.element(depth)?),
            3 => {
                let rank = self.read.u32()?;
                if !(1..=MAX_RANK).contains(&rank) {
                    return Err(Damaged);
                }
                universe.array(self.element(depth)?, rank)
            }
            4 => universe.ptr(self.element(depth)?),
            5 => universe.byref(self.element(depth)?),
            _ => return Err(Damaged),
        })
    }
    fn definition(&mut self) -> Read<ClassRef> {
        let (module, rid) = (self.module()?, self.read.u32()?);
        module.type_def(rid).map_err(|_| Damaged)
    }
    fn element(&mut self, depth: u32) -> Read<ClassRef> {
        self.class_at(depth + 1)?.nested().map_err(|_| Damaged)
    }
    fn classes(&mut self, depth: u32) -> Read<Vec<&'static Class>> {
        let count = self.read.count()?;
        (0..count).map(|_| self.class_at(depth + 1)).collect()
    }
    /// Reads a method.
    pub fn method(&mut self) -> Read<MethodRef> {
        let class = self.class()?;
        let (index, rid) = (self.read.u32()?, self.read.u32()?);
        let args = self.classes(0)?;
        let method = class.method_at(index).map_err(|_| Damaged)?;
        if method.rid != rid {
            return Err(Damaged);
        }
        let method = match args.is_empty() {
            true => method,
            false => rt()
                .universe
                .instantiate_method(method, &args)
                .map_err(|_| Damaged)?,
        };
        match method.is_open() {
            true => Err(Damaged),
            false => Ok(method),
        }
    }
    /// Reads a field.
    pub fn field(&mut self) -> Read<FieldRef> {
        let class = self.class()?;
        let index = self.read.u32()? as usize;
        let fields = class.fields().map_err(|_| Damaged)?;
        fields.get(index).copied().ok_or(Damaged)
    }
}
