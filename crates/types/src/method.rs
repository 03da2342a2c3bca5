//! A method: of a definition, of an instantiated class, an instantiation of a generic method, or an
//! array's.
//!
//! # Invariants
//! * There is exactly one `Method` for a method of a class and its method arguments, so methods are
//!   compared by address.
//! * `class` is the class that declares the method, or its instantiation, or the class that it is grafted
//!   onto; never a class that inherits it.
//! * Code is not shared between instantiations, so each `Method` that runs has code of its own.
use crate::resolve::open_method_sig;
use crate::*;
use vervet_metadata::{CallConvKind, MethodBody, Table};
use vervet_os::Published;

/// Where a method comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MethodKind {
    /// A row of the MethodDef table.
    Normal,
    /// No metadata: [`crate::dynamic`].
    Dynamic,
    /// No metadata: [`crate::native_function`].
    NativeFunction,
    /// `Get(int...)` of an array.
    ArrayGet,
    /// `Set(int..., T)` of an array.
    ArraySet,
    /// `Address(int...)` of an array.
    ArrayAddress,
    /// A constructor of an array: lengths, or (lower bound, length) pairs, or the jagged `T[][]` form.
    ArrayCtor {
        /// Takes (lower bound, length) pairs.
        with_bounds: bool,
    },
}

/// A signature of which every type is resolved.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MethodSig {
    /// Has a `this`.
    pub has_this: bool,
    /// `this` is the first of `params`.
    pub explicit_this: bool,
    /// Calling convention.
    pub call_conv: CallConvKind,
    /// Number of generic parameters.
    pub generic_arity: u32,
    /// Result; `System.Void` for none.
    pub ret: ClassRef,
    /// Parameters, without `this`.
    pub params: Vec<ClassRef>,
    /// At a vararg call site: the first variable argument.
    pub sentinel: Option<usize>,
}

impl MethodSig {
    /// The signature of a managed method that has no metadata: neither generic nor vararg.
    pub(crate) fn plain(has_this: bool, ret: ClassRef, params: Vec<ClassRef>) -> MethodSig {
        MethodSig {
            has_this,
            explicit_this: false,
            call_conv: CallConvKind::Default,
            generic_arity: 0,
            ret,
            params,
            sentinel: None,
        }
    }
}

/// A P/Invoke declaration (II.22.22).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DllImport {
    /// Name of the library.
    pub dll: &'static str,
    /// Name of the entry.
    pub entry: &'static str,
    /// PInvokeAttributes.
    pub flags: u32,
}

/// A method; see the module.
pub struct Method {
    /// Dense process-wide id.
    pub id: u32,
    /// The class that declares it.
    pub class: ClassRef,
    /// Row of the MethodDef table of [`Method::module`]; 0 if synthesized.
    pub rid: u32,
    /// Index among the methods of its class.
    pub index: u32,
    /// Name.
    pub name: &'static str,
    /// MethodAttributes.
    pub flags: u32,
    /// MethodImplAttributes.
    pub impl_flags: u32,
    /// Number of generic parameters.
    pub generic_arity: u32,
    /// Number of parameters, without `this`.
    pub param_count: u32,
    /// Where it comes from.
    pub kind: MethodKind,
    /// The same method of the generic type definition, if the class is an instantiation.
    pub(crate) typical: Option<MethodRef>,
    /// What few methods have.
    pub(crate) rare: Option<&'static Rare>,
    pub(crate) blob: &'static [u8],
    pub(crate) cells: MethodCells,
}

/// Where the attributes of a method lie in it.
pub const FLAGS_OFFSET: usize = std::mem::offset_of!(Method, flags);

/// The levels of a method, each set once.
#[derive(Default)]
pub(crate) struct MethodCells {
    pub(crate) sig: Published<MethodSig>,
    pub(crate) open_sig: Published<MethodSig>,
    pub(crate) slot_sig: Published<MethodSig>,
    pub(crate) params: Published<Vec<ClassRef>>,
}

/// What makes a method special. A program has tens of thousands of methods, nearly all without.
pub(crate) enum Rare {
    /// An instantiation of a generic method of the same class.
    Instance {
        args: &'static [ClassRef],
        def: MethodRef,
    },
    /// A graft, which this module declares ([`crate::grafts`]).
    Grafted(ModuleRef),
    /// A dynamic method: its body once it has one, and the module whose code it counts as.
    Dynamic(Published<DynBody>, ModuleRef),
    /// What a delegate around a native function calls.
    Native(NativeFunction),
}

impl PartialEq for Method {
    fn eq(&self, other: &Method) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Method {}
impl std::hash::Hash for Method {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u32(self.id);
    }
}
impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}
impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full_name())
    }
}

/// Bits of MethodAttributes (II.23.1.10).
pub mod method_flags {
    #![expect(missing_docs, reason = "named as in the specification")]
    pub const ACCESS_MASK: u32 = 7;
    pub const PRIVATE: u32 = 1;
    pub const FAM_AND_ASSEM: u32 = 2;
    pub const ASSEM: u32 = 3;
    pub const FAMILY: u32 = 4;
    pub const FAM_OR_ASSEM: u32 = 5;
    pub const PUBLIC: u32 = 6;
    pub const STATIC: u32 = 0x10;
    pub const FINAL: u32 = 0x20;
    pub const VIRTUAL: u32 = 0x40;
    pub const NEW_SLOT: u32 = 0x100;
    pub const STRICT: u32 = 0x200;
    pub const ABSTRACT: u32 = 0x400;
    pub const SPECIAL_NAME: u32 = 0x800;
    pub const RT_SPECIAL_NAME: u32 = 0x1000;
    pub const PINVOKE: u32 = 0x2000;
    pub const HAS_SECURITY: u32 = 0x4000;
}
/// Bits of MethodImplAttributes (II.23.1.11).
pub mod impl_flags {
    #![expect(missing_docs, reason = "named as in the specification")]
    pub const CODE_TYPE_MASK: u32 = 3;
    pub const NATIVE: u32 = 1;
    pub const RUNTIME: u32 = 3;
    pub const NO_INLINING: u32 = 8;
    pub const SYNCHRONIZED: u32 = 0x20;
    pub const NO_OPTIMIZATION: u32 = 0x40;
    pub const PRESERVE_SIG: u32 = 0x80;
    pub const AGGRESSIVE_INLINING: u32 = 0x100;
    pub const INTERNAL_CALL: u32 = 0x1000;
}

impl Method {
    /// `static`.
    pub fn is_static(&self) -> bool {
        self.flags & method_flags::STATIC != 0
    }
    /// Has a `this`.
    pub fn has_this(&self) -> bool {
        !self.is_static()
    }
    /// Virtual.
    pub fn is_virtual(&self) -> bool {
        self.flags & method_flags::VIRTUAL != 0
    }
    /// Abstract.
    pub fn is_abstract(&self) -> bool {
        self.flags & method_flags::ABSTRACT != 0
    }
    /// Final.
    pub fn is_final(&self) -> bool {
        self.flags & method_flags::FINAL != 0
    }
    /// Takes a slot of its own.
    pub fn is_new_slot(&self) -> bool {
        self.flags & method_flags::NEW_SLOT != 0
    }
    /// Public.
    pub fn is_public(&self) -> bool {
        self.flags & method_flags::ACCESS_MASK == method_flags::PUBLIC
    }
    /// For its class and derived ones, whether or not for those of its assembly, too.
    pub fn is_family(&self) -> bool {
        let access = self.flags & method_flags::ACCESS_MASK;
        access == method_flags::FAMILY || access == method_flags::FAM_OR_ASSEM
    }
    /// An instance constructor.
    pub fn is_ctor(&self) -> bool {
        self.name == ".ctor" && self.flags & method_flags::RT_SPECIAL_NAME != 0
    }
    /// A class constructor.
    pub fn is_cctor(&self) -> bool {
        self.flags & method_flags::RT_SPECIAL_NAME != 0 && self.is_static() && self.name == ".cctor"
    }
    /// An internal call.
    pub fn is_icall(&self) -> bool {
        self.impl_flags & impl_flags::INTERNAL_CALL != 0
    }
    /// Supplied by the runtime (delegates).
    pub fn is_runtime(&self) -> bool {
        self.impl_flags & impl_flags::CODE_TYPE_MASK == impl_flags::RUNTIME
    }
    /// A P/Invoke.
    pub fn is_pinvoke(&self) -> bool {
        self.flags & method_flags::PINVOKE != 0
    }
    /// `[MethodImpl(Synchronized)]`.
    pub fn is_synchronized(&self) -> bool {
        self.impl_flags & impl_flags::SYNCHRONIZED != 0
    }
    /// A generic method that is not instantiated.
    pub fn is_generic_def(&self) -> bool {
        self.generic_arity > 0 && self.method_args().is_empty()
    }
    /// The module that declares it, in which its row, IL and tokens are. That of its class, unless it is grafted
    /// ([`crate::grafts`]).
    pub fn module(&self) -> ModuleRef {
        match self.rare {
            Some(Rare::Grafted(module)) => module,
            Some(Rare::Instance { def, .. }) => def.module(),
            _ => self.class.module,
        }
    }
    /// The module whose code it counts as: that of [`Method::module`], but of a dynamic method the one that it was made for.
    pub fn home(&self) -> ModuleRef {
        match self.rare {
            Some(Rare::Dynamic(_, home)) => home,
            _ => self.module(),
        }
    }
    /// Method arguments, empty unless instantiated.
    pub fn method_args(&self) -> &'static [ClassRef] {
        match self.rare {
            Some(Rare::Instance { args, .. }) => args,
            _ => &[],
        }
    }
    /// The universe it lives in.
    pub fn universe(&self) -> &'static Universe {
        self.class.universe()
    }
    /// `0x06......`; nil row if synthesized.
    pub fn token(&self) -> Token {
        Token::new(Table::MethodDef, self.rid)
    }
    /// Has IL.
    pub fn has_body(&self) -> bool {
        if self.is_dynamic() {
            return true;
        }
        let no_il = method_flags::ABSTRACT | method_flags::PINVOKE;
        let managed =
            self.impl_flags & (impl_flags::CODE_TYPE_MASK | impl_flags::INTERNAL_CALL) == 0;
        self.rid != 0 && self.flags & no_il == 0 && managed && self.rva() != 0
    }
    /// Where its IL is, or 0.
    pub fn rva(&self) -> u32 {
        self.module()
            .image
            .method_def(self.rid)
            .map_or(0, |row| row.rva)
    }
    /// Its IL (II.25.4).
    pub fn body(&self) -> R<MethodBody<'static>> {
        if self.is_dynamic() {
            return Ok(self.dynamic_body()?.il.clone());
        }
        let module = self.module();
        match self.rva() {
            0 => Err(LoadError::bad_image(
                module,
                format!("{} has no body", self.full_name()),
            )),
            rva => module
                .image
                .method_body(rva)
                .map_err(|e| module.bad(e).in_row(self.module(), self.token())),
        }
    }
    /// Its signature in its own (closed) context; a generic definition's in its own parameters.
    pub fn sig(&'static self) -> R<&'static MethodSig> {
        if let Some(sig) = self.cells.sig.get() {
            return Ok(sig);
        }
        let open = self.open_sig()?;
        if !open.is_open() {
            return Ok(self.cells.sig.set(open));
        }
        Ok(self.cells.sig.put(self.context().substitute_sig(open)?))
    }
    /// Its signature in terms of positions, for comparing with member references.
    pub fn open_sig(&'static self) -> R<&'static MethodSig> {
        if let Some(sig) = self.cells.open_sig.get() {
            return Ok(sig);
        }
        let definition = self.definition();
        if definition != self {
            return Ok(self.cells.open_sig.set(definition.open_sig()?));
        }
        self.cells
            .open_sig
            .get_or_try(|| open_method_sig(self.module(), self.blob))
            .map_err(|e| e.in_row(self.module(), self.token()))
    }
    /// Its signature with its class's arguments and the method's positions: what overriding compares.
    pub(crate) fn slot_sig(&'static self) -> R<&'static MethodSig> {
        if self.generic_arity == 0 {
            return self.sig();
        }
        if let Some(sig) = self.cells.slot_sig.get() {
            return Ok(sig);
        }
        let open = self.open_sig()?;
        let class_args = self.class.args();
        if class_args.is_empty() {
            return Ok(self.cells.slot_sig.set(open));
        }
        Ok(self.cells.slot_sig.put(
            GenericContext {
                class_args,
                method_args: &[],
            }
            .substitute_class_args(open)?,
        ))
    }
    /// The open definition on the generic type definition (itself if there is none).
    pub fn definition(&'static self) -> MethodRef {
        self.typical.unwrap_or_else(|| self.generic_def())
    }
    /// The generic method of the same class that it is an instantiation of (itself if it is none).
    pub fn generic_def(&'static self) -> MethodRef {
        match self.rare {
            Some(Rare::Instance { def, .. }) => def,
            _ => self,
        }
    }
    /// The vtable slot of a virtual method of a class; an interface method's index among the interface's.
    pub fn slot(&'static self) -> R<Option<u32>> {
        if !self.is_virtual() || self.rid == 0 {
            return Ok(None);
        }
        let slot = self.class.vtable()?.own.get(self.index as usize).copied();
        Ok(slot.filter(|s| *s != u32::MAX))
    }
    /// The arguments its IL is read with.
    pub fn context(&'static self) -> GenericContext {
        let method_args = match self.method_args() {
            [] if self.generic_arity > 0 => self.generic_params().unwrap_or(&[]),
            args => args,
        };
        GenericContext {
            class_args: self.class.args(),
            method_args,
        }
    }
    /// What its IL's tokens are resolved in.
    pub fn scope(&'static self) -> Scope {
        Scope {
            module: self.module(),
            context: self.context(),
            dynamic: self.dynamic_cell().and_then(Published::get),
        }
    }
    /// The own parameters of a generic method (of its definition).
    pub fn generic_params(&'static self) -> R<&'static [ClassRef]> {
        let definition = self.definition();
        if definition != self {
            return definition.generic_params();
        }
        if self.generic_arity == 0 {
            return Ok(&[]);
        }
        let params = self
            .cells
            .params
            .get_or_try(|| generic_params::make_params(self.class, self.module(), self.token()))?;
        if params.len() != self.generic_arity as usize {
            return Err(LoadError::bad_image(
                self.module(),
                format!(
                    "{}: {} has a wrong number of generic parameters",
                    self.token(),
                    self.name
                ),
            ));
        }
        Ok(params)
    }
    /// Names of the parameters, in order ("" where there is none).
    pub fn param_names(&self) -> R<Vec<&'static str>> {
        let module = self.module();
        let mut names = vec![""; self.param_count as usize];
        if self.rid != 0 {
            for rid in module.image.method_params(self.rid) {
                let row = module.image.param(rid).map_err(|e| module.bad(e))?;
                if let Some(name) = names.get_mut((row.sequence as usize).wrapping_sub(1)) {
                    *name = module.string(row.name)?;
                }
            }
        }
        Ok(names)
    }
    /// What the method's metadata say of each of its parameters: `[In]`, `[Out]` (II.23.1.13).
    pub fn directions(&'static self) -> R<Vec<(bool, bool)>> {
        const IN: u16 = 1;
        const OUT: u16 = 2;
        let module = self.module();
        let mut found = vec![(false, false); self.sig()?.params.len()];
        if self.rid != 0 {
            for rid in module.image.method_params(self.rid) {
                let row = module.image.param(rid).map_err(|e| module.bad(e))?;
                // Row 0 is of the result.
                let at = usize::from(row.sequence).checked_sub(1);
                if let Some(of) = at.and_then(|at| found.get_mut(at)) {
                    *of = (row.flags & IN != 0, row.flags & OUT != 0);
                }
            }
        }
        Ok(found)
    }
    /// What a P/Invoke method imports.
    pub fn dll_import(&self) -> R<Option<DllImport>> {
        let module = self.module();
        let Some(rid) = module
            .image
            .impl_map_of(self.token())
            .filter(|_| self.rid != 0)
        else {
            return Ok(None);
        };
        let row = module.image.impl_map(rid).map_err(|e| module.bad(e))?;
        let dll = module
            .image
            .module_ref(row.import_scope)
            .map_err(|e| module.bad(e))?;
        let entry = module.string(row.import_name)?;
        let entry = if entry.is_empty() { self.name } else { entry };
        Ok(Some(DllImport {
            dll: module.string(dll.name)?,
            entry,
            flags: row.flags.into(),
        }))
    }
    /// Contains a generic parameter: never compiled.
    pub fn is_open(&self) -> bool {
        self.class.is_open || self.is_generic_def() || self.method_args().iter().any(|a| a.is_open)
    }
}
impl MethodSig {
    /// Contains a generic parameter or position.
    pub fn is_open(&self) -> bool {
        self.ret.is_open || self.params.iter().any(|p| p.is_open)
    }
    /// `(int,string)`, as in the texts of exceptions.
    pub fn params_text(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|p| names::short_name(p)).collect();
        format!("({})", params.join(","))
    }
}
