//! Where fields lie: instances and statics (ECMA-335 II.10.7).
//!
//! # How it works
//! ```text
//! layout of the class    order of the fields
//! auto (classes)         fields with references first, then the others; each in order of declaration (as mono)
//! auto (value types),
//! sequential             order of declaration, each at its natural alignment or the packing size
//! explicit               at the declared offsets; a reference must not overlap anything but a reference
//! ```
//!
//! A small value type may consist of a few *scalars* ([`Layout::scalars`]). Such a value is passed
//! in registers, one for each scalar.
//!
//! # Invariants
//! * Offsets count from the start of the value; the object header is not part of it.
//! * The layout of a class needs the *instance* layouts of the value types among its fields, and
//!   that of its parent. It needs nothing of the classes of reference fields, so classes may refer
//!   to each other. A value type that contains itself is an error at [`MAX_DEPTH`].
//! * References are 8-aligned whatever the packing size: the collector reads them as whole words.
use crate::class::{Nature, type_flags};
use crate::field::FieldForm;
use crate::*;
use smallvec::{SmallVec, smallvec};

/// What one leaf of a small value type is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "each is the memory of that name")]
pub enum ScalarKind {
    I1,
    U1,
    I2,
    U2,
    I4,
    I8,
    R4,
    R8,
    Ref,
    Ptr,
}
/// A primitive or reference within a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// From the start of the value.
    pub offset: u32,
    /// What it is.
    pub kind: ScalarKind,
}

/// The instance part of a layout.
#[derive(Debug)]
pub struct InstanceLayout {
    /// Bytes of the value without header: instance data of reference types, the value (at least 1) of value types.
    pub size: u32,
    /// Alignment: 1, 2, 4 or 8.
    pub align: u32,
    /// Word offsets (`offset / 8`) of the references within the value, sorted.
    pub ref_map: Vec<u32>,
    /// A value type of at most 16 bytes and 4 aligned, non-overlapping scalars travels as scalars; others, explicit and
    /// packed ones among them, do not.
    pub scalars: Option<SmallVec<[Scalar; 4]>>,
    /// Is the same in native memory.
    pub blittable: bool,
    /// Contains a managed pointer: lives on the stack only.
    pub has_by_ref_like: bool,
    /// Where the class has a reference of which no metadata knows: `RuntimeType` has the name of its type there.
    pub hidden_reference: Option<u32>,
    /// Offset of each field of the class, by index (statics: 0).
    pub(crate) offsets: Vec<u32>,
}

/// The whole layout; the instance part by dereference.
#[derive(Debug)]
pub struct Layout {
    pub(crate) instance: &'static InstanceLayout,
    /// Bytes of the statics that contain references.
    pub statics_refs_size: u32,
    /// Word offsets of the references in them.
    pub statics_refs_map: Vec<u32>,
    /// Bytes of the other statics.
    pub statics_values_size: u32,
    /// Bytes of a thread's block.
    pub thread_statics_size: u32,
    /// Word offsets of the references in it.
    pub thread_statics_map: Vec<u32>,
    /// Bytes of a context's block.
    pub context_statics_size: u32,
    /// Word offsets of the references in it.
    pub context_statics_map: Vec<u32>,
    /// Kind and offset of each static field, by index.
    pub(crate) statics: Vec<Option<(StaticKind, u32)>>,
}
impl std::ops::Deref for Layout {
    type Target = InstanceLayout;
    fn deref(&self) -> &InstanceLayout {
        self.instance
    }
}

/// No instance is larger; keeps all arithmetic within u32.
const MAX_SIZE: u64 = 1 << 30;

impl ScalarKind {
    /// Bytes that it takes; also its alignment.
    pub fn size(self) -> u32 {
        match self {
            ScalarKind::I1 | ScalarKind::U1 => 1,
            ScalarKind::I2 | ScalarKind::U2 => 2,
            ScalarKind::I4 | ScalarKind::R4 => 4,
            ScalarKind::I8 | ScalarKind::R8 | ScalarKind::Ref | ScalarKind::Ptr => 8,
        }
    }
    /// The memory that a primitive takes.
    pub fn of_prim(prim: Prim) -> ScalarKind {
        match prim {
            Prim::Void | Prim::Bool | Prim::U1 => ScalarKind::U1,
            Prim::I1 => ScalarKind::I1,
            Prim::Char | Prim::U2 => ScalarKind::U2,
            Prim::I2 => ScalarKind::I2,
            Prim::I4 | Prim::U4 => ScalarKind::I4,
            Prim::I8 | Prim::U8 => ScalarKind::I8,
            Prim::R4 => ScalarKind::R4,
            Prim::R8 => ScalarKind::R8,
            Prim::IntPtr | Prim::UIntPtr => ScalarKind::Ptr,
        }
    }
}

/// The memory one field takes.
enum Memory {
    Scalar { kind: ScalarKind, blittable: bool },
    Struct(&'static InstanceLayout),
}
impl Memory {
    /// The memory of a primitive.
    fn of_prim(prim: Prim) -> Memory {
        Memory::Scalar {
            kind: ScalarKind::of_prim(prim),
            blittable: !matches!(prim, Prim::Bool | Prim::Char),
        }
    }
    fn size(&self) -> u32 {
        match self {
            Memory::Scalar { kind, .. } => kind.size(),
            Memory::Struct(l) => l.size,
        }
    }
    fn align(&self) -> u32 {
        match self {
            Memory::Scalar { kind, .. } => kind.size(),
            Memory::Struct(l) => l.align,
        }
    }
    /// Whether it contains a reference.
    fn has_refs(&self) -> bool {
        match self {
            Memory::Scalar { kind, .. } => *kind == ScalarKind::Ref,
            Memory::Struct(l) => !l.ref_map.is_empty(),
        }
    }
    /// The 8-byte words that are references.
    fn ref_words(&self) -> &[u32] {
        match self {
            Memory::Scalar {
                kind: ScalarKind::Ref,
                ..
            } => &[0],
            Memory::Scalar { .. } => &[],
            Memory::Struct(l) => &l.ref_map,
        }
    }
}

/// A field with the memory it takes and, in the end, its place.
struct Placed {
    index: usize,
    memory: Memory,
    offset: u32,
}

/// What the metadata says about the layout of a class.
struct DeclaredLayout {
    /// Each field has a declared offset.
    explicit: bool,
    /// The runtime may choose the order.
    auto: bool,
    value_type: bool,
    /// Packing size; 0: natural alignment.
    pack: u32,
    /// Declared size; 0: none.
    least: u32,
}

impl DeclaredLayout {
    /// The alignment of a field. References are aligned to 8 whatever the packing says, because the
    /// collector reads them as whole words.
    fn align_of(&self, memory: &Memory) -> u32 {
        match self.pack {
            0 => memory.align(),
            pack if memory.has_refs() => memory.align().min(pack.max(8)),
            pack => memory.align().min(pack),
        }
    }
}

impl Class {
    /// Where its fields lie.
    pub fn layout(&'static self) -> R<&'static Layout> {
        self.cells.layout.get_or_try(|| self.lay_out_statics())
    }
    /// Where its instance fields lie.
    pub fn instance_layout(&'static self) -> R<&'static InstanceLayout> {
        self.instance_layout_at(0)
    }
    /// The instance layout, `depth` value types deep.
    fn instance_layout_at(&'static self, depth: u32) -> R<&'static InstanceLayout> {
        self.cells.instance_layout.get_or_try(|| {
            // From the root down, so that a long chain of parents takes no deep stack.
            for parent in self.supers()?.iter().filter(|c| **c != self) {
                parent.instance_layout_at(depth)?;
            }
            self.lay_out(depth)
        })
    }
    /// The error of a layout that is not possible.
    fn bad_layout<T>(&'static self, text: impl Into<String>) -> R<T> {
        Err(LoadError::type_load(self, text))
    }
    /// The memory that a field takes.
    fn memory_of(&'static self, field: FieldRef, depth: u32) -> R<Memory> {
        let reference = Memory::Scalar {
            kind: ScalarKind::Ref,
            blittable: false,
        };
        Ok(match field.form {
            FieldForm::Ref => reference,
            FieldForm::Prim(p) => Memory::of_prim(p),
            FieldForm::Ptr => Memory::Scalar {
                kind: ScalarKind::Ptr,
                blittable: true,
            },
            FieldForm::ByRef => {
                return self.bad_layout(format!("field {} is a managed pointer", field.name));
            }
            FieldForm::Class => {
                let ty = field.ty().map_err(|e| e.in_field(field))?;
                if ty.is_variable() {
                    return self
                        .bad_layout(format!("field {} is of no known type yet", field.name));
                } else if let Some(p) = ty.stack_prim()? {
                    Memory::of_prim(p)
                } else if ty.is_value_type()? {
                    Memory::Struct(ty.instance_layout_at(depth + 1)?)
                } else if ty.is_ptr() || ty.is_fn_ptr() {
                    Memory::Scalar {
                        kind: ScalarKind::Ptr,
                        blittable: true,
                    }
                } else if ty.is_byref() {
                    return self.bad_layout(format!("field {} is a managed pointer", field.name));
                } else {
                    reference
                }
            }
        })
    }
    /// The layout of a type that is one scalar.
    fn scalar_layout(kind: ScalarKind, blittable: bool, fields: usize) -> InstanceLayout {
        InstanceLayout {
            size: kind.size(),
            align: kind.size(),
            ref_map: if kind == ScalarKind::Ref {
                vec![0]
            } else {
                Vec::new()
            },
            scalars: Some(smallvec![Scalar { offset: 0, kind }]),
            blittable,
            has_by_ref_like: false,
            hidden_reference: None,
            offsets: vec![0; fields],
        }
    }

    /// Computes the layout of the instance fields. `depth` counts value types within value types.
    fn lay_out(&'static self, depth: u32) -> R<InstanceLayout> {
        if depth > MAX_DEPTH {
            return self.bad_layout("a value type contains itself");
        }
        match &self.kind {
            // What a class inherits and implements comes before its fields, so that a missing assembly is what a program hears of first.
            ClassKind::Def { .. } | ClassKind::Inst { .. } if self.module.is_corlib() => {}
            ClassKind::Def { .. } | ClassKind::Inst { .. } => {
                self.interfaces()?;
            }
            ClassKind::SzArray(_) | ClassKind::Array { .. } => {
                let mut layout = Self::scalar_layout(ScalarKind::Ptr, false, 0);
                (layout.size, layout.scalars) = (0, None);
                return Ok(layout);
            }
            ClassKind::Ptr(_) | ClassKind::ByRef(_) | ClassKind::FnPtr(_) => {
                return Ok(Self::scalar_layout(ScalarKind::Ptr, true, 0));
            }
            ClassKind::GenericParam { .. } | ClassKind::Position { .. } => {
                return self.bad_layout("a generic parameter has no layout");
            }
        }
        let fields = self.fields()?;
        if let Some(p) = self.stack_prim()? {
            let blittable = !matches!(p, Prim::Bool | Prim::Char);
            return Ok(Self::scalar_layout(
                ScalarKind::of_prim(p),
                blittable,
                fields.len(),
            ));
        }
        let value_type = self.is_value_type()?;
        let mut placed = Vec::new();
        for f in fields.iter().filter(|f| !f.is_static()) {
            placed.push(Placed {
                index: f.index as usize,
                memory: self.memory_of(f, depth)?,
                offset: 0,
            });
        }
        let base = match self.parent()? {
            Some(parent) if !value_type => Some(parent.instance_layout_at(depth)?),
            _ => None,
        };
        // What the metadata declares decides how fields are placed.
        let declared = self.declared_layout(value_type)?;
        let (mut end, align) = if declared.explicit {
            self.place_explicitly(&mut placed, base, &declared)?
        } else {
            self.place_in_order(&mut placed, base, &declared)?
        };
        // Types whose layout the runtime relies on have fixed offsets
        // (docs/decisions/0011-overlay-of-raw-array-data.md).
        if let Some(overlay) = known::overlay(self) {
            let place = |p: &Placed| {
                let named = overlay.iter().find(|o| o.0 == fields[p.index].name);
                named.map(|o| o.1)
            };
            // A library with other fields keeps its order; the comparison at start-up reports it.
            if placed.iter().all(|p| place(p).is_some()) {
                for p in &mut placed {
                    p.offset = place(p).unwrap_or(p.offset);
                }
                let ends = placed.iter().map(|p| p.offset + p.memory.size());
                end = ends.max().unwrap_or(0).into();
            }
        }
        let hidden = known::has_hidden_reference(self).then(|| end.next_multiple_of(8));
        end = hidden.map_or(end, |at| at + 8);
        let natural = end.next_multiple_of(align.into());
        let inherited = base.map_or(0, |b| b.size);
        let size = self.padded_size(&placed, &declared, inherited, (end, align))?;
        let mut layout = self.summary(&placed, base, &declared, fields.len());
        layout.hidden_reference = hidden.map(|at| at as u32);
        layout.ref_map.extend(hidden.map(|at| at as u32 / 8));
        layout.size = size as u32;
        layout.align = align;
        // Padding that the program asked for must be copied too, so only types without it travel as
        // scalars.
        if value_type && !declared.explicit && size == natural {
            layout.scalars = scalars_of(&placed, layout.size);
        }
        Ok(layout)
    }

    /// What the metadata says about the layout (ECMA-335 II.10.1.2, II.22.8).
    fn declared_layout(&'static self, value_type: bool) -> R<DeclaredLayout> {
        let kind = self.flags & type_flags::LAYOUT_MASK;
        let mut declared = DeclaredLayout {
            explicit: kind == type_flags::EXPLICIT,
            auto: kind == 0,
            value_type,
            pack: 0,
            least: 0,
        };
        if let Some(rid) = self.module.image.class_layout_of(self.rid()) {
            let row = self
                .module
                .image
                .class_layout(rid)
                .map_err(|e| self.module.bad(e))?;
            let pack: u32 = row.packing_size.into();
            if pack > 128 || pack & pack.wrapping_sub(1) != 0 && pack != 0 {
                return self.bad_layout(format!("packing size {pack}"));
            }
            (declared.pack, declared.least) = (pack, row.class_size);
        }
        Ok(declared)
    }

    /// Places fields at their declared offsets. Offsets count from the start of the object, so fields
    /// may lie over those of the parent. Returns the end of the last field, and the alignment.
    fn place_explicitly(
        &'static self,
        placed: &mut [Placed],
        base: Option<&'static InstanceLayout>,
        declared: &DeclaredLayout,
    ) -> R<(u64, u32)> {
        let fields = self.fields()?;
        let mut align = base.map_or(1, |b| b.align);
        let mut end = u64::from(base.map_or(0, |b| b.size));
        for p in placed.iter_mut() {
            let field = fields[p.index];
            let Some(rid) = self.module.image.field_layout_of(field.rid) else {
                return self.bad_layout(format!("field {} has no offset", field.name));
            };
            let row = self
                .module
                .image
                .field_layout(rid)
                .map_err(|e| self.module.bad(e))?;
            let offset = u64::from(row.offset);
            if offset + u64::from(p.memory.size()) > MAX_SIZE {
                return self.bad_layout(format!("field {} is too far away", field.name));
            }
            p.offset = offset as u32;
            if p.memory.has_refs() && p.offset % 8 != 0 {
                return Err(self.unusable(format!(
                    "Reference typed field '{}' has explicit offset that is not pointer-size aligned.",
                    field.name
                )));
            }
            align = align.max(declared.align_of(&p.memory));
            end = end.max(offset + u64::from(p.memory.size()));
        }
        self.check_overlaps(placed, base)?;
        Ok((end, align))
    }

    /// Places fields one behind the other. Returns the end of the last one, and the alignment.
    fn place_in_order(
        &'static self,
        placed: &mut [Placed],
        base: Option<&'static InstanceLayout>,
        declared: &DeclaredLayout,
    ) -> R<(u64, u32)> {
        let mut align = base.map_or(1, |b| b.align);
        let mut end = u64::from(base.map_or(0, |b| b.size));
        if declared.auto && !declared.value_type {
            placed.sort_by_key(|p| !p.memory.has_refs());
        }
        for p in placed.iter_mut() {
            let a = declared.align_of(&p.memory);
            align = align.max(a);
            end = end.next_multiple_of(a.into());
            p.offset = end as u32;
            end += u64::from(p.memory.size());
            if end > MAX_SIZE {
                return self.bad_layout("it is too large");
            }
        }
        Ok((end, align))
    }

    /// The size of an instance whose fields end at `end`.
    fn padded_size(
        &'static self,
        placed: &[Placed],
        declared: &DeclaredLayout,
        inherited: u32,
        (end, align): (u64, u32),
    ) -> R<u64> {
        let natural = end.next_multiple_of(align.into());
        let mut size = natural;
        if declared.least != 0 && !declared.auto {
            let asked = u64::from(inherited) + u64::from(declared.least);
            // A declared size may be less than the padded one, but never less than the fields.
            size = if declared.explicit || declared.pack != 0 || asked > natural {
                asked.max(end)
            } else {
                natural
            };
            let refs = placed.iter().any(|p| p.memory.has_refs());
            // As mono has it, only a struct with explicit offsets ends where it says.
            let unit = if refs || !declared.value_type || !declared.explicit {
                8.min(align)
            } else {
                1
            };
            size = size.next_multiple_of(unit.into());
        }
        if size > MAX_SIZE {
            return self.bad_layout("it is too large");
        }
        // An empty value type takes a byte, so that two of them have different addresses.
        Ok(if declared.value_type {
            size.max(1)
        } else {
            size
        })
    }

    /// What the placed fields say of the whole: offsets, references, whether it is blittable. Size,
    /// alignment and scalars are still to be filled in.
    fn summary(
        &'static self,
        placed: &[Placed],
        base: Option<&'static InstanceLayout>,
        declared: &DeclaredLayout,
        fields: usize,
    ) -> InstanceLayout {
        let mut offsets = vec![0; fields];
        let mut ref_map = base.map_or_else(Vec::new, |b| b.ref_map.clone());
        let mut blittable = !declared.auto && base.is_none_or(|b| b.blittable || b.size == 0);
        for p in placed {
            offsets[p.index] = p.offset;
            ref_map.extend(p.memory.ref_words().iter().map(|w| p.offset / 8 + w));
            blittable &= match p.memory {
                Memory::Scalar { blittable, .. } => blittable,
                Memory::Struct(l) => l.blittable,
            };
        }
        ref_map.sort_unstable();
        ref_map.dedup();
        let by_ref_like = placed
            .iter()
            .any(|p| matches!(p.memory, Memory::Struct(l) if l.has_by_ref_like));
        InstanceLayout {
            size: 0,
            align: 1,
            ref_map,
            scalars: None,
            blittable,
            has_by_ref_like: by_ref_like || declared.value_type && self.is_by_ref_like(),
            hidden_reference: None,
            offsets,
        }
    }
    /// A value type that may only live on the stack.
    pub fn is_by_ref_like(&'static self) -> bool {
        const BY_NAME: [Known; 4] = [
            Known::ByReference,
            Known::TypedReference,
            Known::ArgIterator,
            Known::RuntimeArgumentHandle,
        ];
        let (u, def) = (self.universe(), self.def());
        let attribute = || {
            self.module.has_attribute(
                self.token(),
                "System.Runtime.CompilerServices",
                "IsByRefLikeAttribute",
            )
        };
        self.nature == Nature::Value
            && self.rid() != 0
            && (BY_NAME.iter().any(|k| u.known_opt(*k) == Some(def)) || attribute())
    }
    /// In explicit layout a reference may share memory with another reference only, the parent's included.
    fn check_overlaps(&'static self, placed: &[Placed], base: Option<&InstanceLayout>) -> R<()> {
        let mut words: Vec<u32> = base.map_or_else(Vec::new, |b| b.ref_map.clone());
        for p in placed {
            words.extend(p.memory.ref_words().iter().map(|w| p.offset / 8 + w));
        }
        words.sort_unstable();
        words.dedup();
        for p in placed.iter().filter(|_| !words.is_empty()) {
            let (first, last) = (p.offset / 8, (p.offset + p.memory.size().max(1) - 1) / 8);
            let own = p.memory.ref_words();
            for w in first..=last {
                if words.binary_search(&w).is_ok() && !own.contains(&(w - first)) {
                    return self.bad_layout("a reference overlaps what is none");
                }
            }
        }
        // A reference over the parent's values.
        if let Some(base) = base {
            let values = base.size.div_ceil(8);
            if words
                .iter()
                .any(|w| *w < values && base.ref_map.binary_search(w).is_err())
            {
                return self.bad_layout("a reference overlaps what is none");
            }
        }
        Ok(())
    }

    /// Assigns offsets to static fields: references and other values count separately, because they
    /// lie in different memory (the collector scans the first).
    fn lay_out_statics(&'static self) -> R<Layout> {
        let instance = self.instance_layout()?;
        let fields = self.fields()?;
        let mut layout = Layout {
            instance,
            statics_refs_size: 0,
            statics_refs_map: Vec::new(),
            statics_values_size: 0,
            thread_statics_size: 0,
            thread_statics_map: Vec::new(),
            context_statics_size: 0,
            context_statics_map: Vec::new(),
            statics: vec![None; fields.len()],
        };
        for f in fields.iter().filter(|f| f.is_static() && !f.is_literal()) {
            if f.has_rva() {
                if f.form == FieldForm::Ref {
                    return self
                        .bad_layout(format!("field {} has an RVA and is a reference", f.name));
                }
                layout.statics[f.index as usize] = Some((StaticKind::Rva, 0));
                continue;
            }
            let memory = self.memory_of(f, 0)?;
            let kind = f.block_kind().unwrap_or(match memory.has_refs() {
                true => StaticKind::Refs,
                false => StaticKind::Values,
            });
            let (end, map) = match kind {
                StaticKind::Thread => (
                    &mut layout.thread_statics_size,
                    &mut layout.thread_statics_map,
                ),
                StaticKind::Context => (
                    &mut layout.context_statics_size,
                    &mut layout.context_statics_map,
                ),
                StaticKind::Refs => (&mut layout.statics_refs_size, &mut layout.statics_refs_map),
                // No references: the map gets nothing.
                _ => (
                    &mut layout.statics_values_size,
                    &mut layout.statics_refs_map,
                ),
            };
            let align = if memory.has_refs() { 8 } else { memory.align() };
            let offset = end.next_multiple_of(align);
            if u64::from(offset) + u64::from(memory.size()) > MAX_SIZE {
                return self.bad_layout("its statics are too large");
            }
            *end = offset + memory.size();
            map.extend(memory.ref_words().iter().map(|w| offset / 8 + w));
            layout.statics[f.index as usize] = Some((kind, offset));
        }
        for end in [
            &mut layout.statics_refs_size,
            &mut layout.statics_values_size,
            &mut layout.thread_statics_size,
            &mut layout.context_statics_size,
        ] {
            *end = end.next_multiple_of(8);
        }
        Ok(layout)
    }
}

/// The scalars of a small value type, if it may travel as them.
fn scalars_of(placed: &[Placed], size: u32) -> Option<SmallVec<[Scalar; 4]>> {
    if size > 16 || placed.is_empty() {
        return None;
    }
    let mut scalars: SmallVec<[Scalar; 4]> = SmallVec::new();
    for p in placed {
        match &p.memory {
            Memory::Scalar { kind, .. } => scalars.push(Scalar {
                offset: p.offset,
                kind: *kind,
            }),
            Memory::Struct(l) => {
                scalars.extend(l.scalars.as_ref()?.iter().map(|leaf| Scalar {
                    offset: p.offset + leaf.offset,
                    ..*leaf
                }));
            }
        }
    }
    scalars.sort_by_key(|l| l.offset);
    let aligned = scalars.iter().all(|l| l.offset % l.kind.size() == 0);
    let apart = scalars
        .windows(2)
        .all(|w| w[0].offset + w[0].kind.size() <= w[1].offset);
    (scalars.len() <= 4 && aligned && apart).then_some(scalars)
}
