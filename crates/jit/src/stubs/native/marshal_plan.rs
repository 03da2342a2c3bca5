//! What a P/Invoke, or a delegate that native code calls or is called through, does with each argument.
//!
//! The stubs emit what a plan says; the helpers behind `MarshalToNative` and its kin look up the same
//! plan by (method, parameter index) to know what to do with the word they are given. The result's
//! index is [`RESULT`].
//!
//! # What the helpers do
//! Managed to native, for [`ParamPlan::Convert`]:
//! * `MarshalToNative(method, i, managed) -> native`: null is 0. By reference, `managed` is the
//!   variable's address and `native` a new cell that holds the native form (or 0 if the direction is
//!   not `input`). Of an [`Unsupported`] plan (then `i` may be `RESULT`) it throws
//!   MarshalDirectiveException with the message.
//! * `MarshalBack(method, i, managed, native, block)`: copies back if the direction is `output`,
//!   frees what `MarshalToNative` made (by reference: the cell too, and what native code left in it),
//!   releases a SafeHandle. The length of an array that native code made is its SizeParamIndex's
//!   argument, found in `block` by [`MarshalPlan::places`], or its SizeConst.
//! * `MarshalResult(method, native) -> managed`: a string's or struct's native memory is freed with
//!   `free`.
//!
//! Structs ([`ParamPlan::StructCopy`], [`ParamPlan::StructPointer`], [`ParamPlan::ByRefStruct`],
//! results): `MarshalStructToNative` fills zeroed native memory, `MarshalStructToManaged` a managed
//! variable (which may be in the heap: with barriers). If the layout owns memory,
//! `MarshalBack(method, i, managed address, native address)` frees it, last of all.
//!
//! Native to managed: `MarshalArgToManaged(method, i, native, block) -> managed` (by reference:
//! `native` is the cell's address, the result the value in it, or 0 without `input`; an array's
//! length is its SizeParamIndex's argument, found in `block` by [`MarshalPlan::places`], or its
//! SizeConst); `MarshalArgBack(method, i, managed, native)` writes an array, buffer or by-ref value
//! back; `MarshalResultToNative(method, managed) -> native` makes memory that the caller frees.
//!
//! # Which plan a parameter has
//! ```text
//! C# parameter                          ParamPlan          what native code gets
//! int, double, pointers                 Scalar, Direct     the value
//! bool, char                            Scalar             its native form
//! ref int                               Direct             the address of the variable
//! ref bool                              ByRefScalar        the address of a native copy
//! struct, blittable                     Struct             the struct by value
//! struct, other                         StructCopy         a converted copy by value
//! ref struct, other                     ByRefStruct        the address of a converted copy
//! int[], byte[]                         BlittableArray     the address of the first element
//! string[], bool[]                      Convert            the address of converted elements
//! string, StringBuilder                 Convert            the address of a copy
//! delegate                              Convert            a code address
//! SafeHandle                            Convert            the handle, held during the call
//! class with sequential layout          BlittableObject    the address of its fields, or
//!                                       or Convert         of a converted copy
//! interface                             Convert            the address of the object's COM interface
//! other class, object[]                 Convert            0 for null; another object is refused
//! HandleRef                             HandleRef          the handle
//! ```
//!
//! # Invariants
//! A plan is computed once per method and never changes. What cannot be marshalled is
//! [`Unsupported`]: the stub calls `MarshalToNative` for it first of all.
//!
//! [`Unsupported`]: ParamPlan::Unsupported
use crate::stubs::native::layout::{
    COM, Com, Encoding, Native, NativeLayout, is, is_delegate, is_handle, native_layout, no_layout,
};
use crate::stubs::native::marshal_spec::{
    CharSet, ImportFlags, MarshalSpec, class_char_set, function_pointer_attribute, marshal_spec,
    native_type as nt,
};
use crate::stubs::native::scalar::Scalar;
use crate::stubs::native::sysv::{Abi, NativeLocation, NativeLocations};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use vervet_abi::object;
use vervet_metadata::{Table, Token};
use vervet_os::LeafLock;
use vervet_types::{
    ClassKind, ClassRef, Known, LoadError, MethodRef, MethodSig, ModuleRef, NativeFunction,
};

/// The index that stands for the result; as a word, -1.
pub const RESULT: i64 = -1;

/// In which directions a value is copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Direction {
    /// Before the call, from caller to callee.
    pub input: bool,
    /// After the call, from callee to caller.
    pub output: bool,
}

/// What the helpers convert.
#[derive(Clone)]
pub enum Conversion {
    /// A string to a pointer to its copy.
    String(Encoding),
    /// A StringBuilder to a buffer of its capacity, and back.
    StringBuilder(Encoding),
    /// An array to a copy of its elements (null: 0). In the reverse direction also what is blittable.
    Array {
        /// Its element class.
        class: ClassRef,
        /// Each element.
        element: Native,
        /// SizeParamIndex.
        size_param: Option<u32>,
        /// SizeConst.
        size_const: Option<u32>,
    },
    /// A SafeHandle (held during the call) or CriticalHandle of that class to its handle.
    Handle(ClassRef),
    /// A delegate to a code address. In the reverse direction, a code address to a delegate of that
    /// class.
    Delegate(ClassRef),
    /// An object of a formatted class to a pointer to its native copy.
    Class(&'static NativeLayout),
    /// By an ICustomMarshaler.
    Custom(CustomMarshaler),
    /// An object to the address of one of its COM interfaces.
    Com(Com),
    /// Null to 0. Another object is refused, with that text: it has no layout, or its native form
    /// would be a VARIANT or a SAFEARRAY.
    NullOnly(String),
    /// Whatever object it is (`UnmanagedType.AsAny`): a string with that CharSet, or the native form
    /// of a formatted object.
    AsAny(CharSet),
}

/// A declared custom marshaler.
#[derive(Clone)]
pub struct CustomMarshaler {
    /// The name of its type, looked for in the module's assembly unless it names another.
    pub name: &'static str,
    /// What its GetInstance is given.
    pub cookie: &'static str,
    /// The module that declares the parameter.
    pub module: ModuleRef,
    /// The type of the parameter.
    pub class: ClassRef,
}

/// What happens to one parameter or to the result.
#[derive(Clone)]
pub enum ParamPlan {
    /// Nothing travels (void).
    None,
    /// A scalar, converted inline.
    Scalar(Scalar),
    /// A by-ref scalar whose native form differs: by way of a native copy on the stack.
    ByRefScalar(Scalar, Direction),
    /// A pointer, or a by-ref to what is the same on both sides: as it is.
    Direct,
    /// A blittable struct by value.
    Struct(&'static NativeLayout),
    /// A struct that is passed by its address (LPStruct), if it is not blittable by that of a native
    /// copy.
    StructPointer(&'static NativeLayout),
    /// A struct by value whose native form differs: converted to and from a native copy on the stack.
    StructCopy(&'static NativeLayout),
    /// The same by reference.
    ByRefStruct(&'static NativeLayout, Direction),
    /// An array of blittable elements: the address of its first one; null is 0.
    BlittableArray {
        /// From the array to its first element.
        data_offset: i32,
        /// What the reverse direction does.
        reverse: Box<Conversion>,
        /// Declared to be written: the reverse direction copies back.
        output: bool,
    },
    /// An object of a blittable formatted class: the address of its fields; null is 0.
    BlittableObject(&'static NativeLayout),
    /// A HandleRef: the handle at that offset in it.
    HandleRef(u32),
    /// Converted by helpers, one word on both sides.
    Convert {
        /// How.
        conversion: Conversion,
        /// The managed word is the address of the value, the native one that of its native form.
        by_ref: bool,
        /// Which ways.
        direction: Direction,
    },
    /// Not marshalled: the message.
    Unsupported(String),
}

impl ParamPlan {
    /// How its native side is passed.
    pub fn abi(&self) -> Abi {
        match self {
            ParamPlan::None => Abi::Void,
            ParamPlan::Scalar(scalar) => scalar.abi(),
            ParamPlan::Struct(layout) | ParamPlan::StructCopy(layout) => layout.abi.clone(),
            _ => Abi::int(),
        }
    }
    /// Whether `MarshalBack` (in the reverse direction: `MarshalArgBack`) must be called after the
    /// call.
    pub fn needs_back(&self, reverse: bool) -> bool {
        match self {
            ParamPlan::Convert {
                conversion,
                by_ref,
                direction,
            } => match conversion {
                Conversion::Delegate(_) => *by_ref,
                Conversion::Custom(_) => true,
                _ if reverse => {
                    *by_ref || (direction.output && !matches!(conversion, Conversion::String(_)))
                }
                _ => true,
            },
            ParamPlan::StructCopy(layout)
            | ParamPlan::StructPointer(layout)
            | ParamPlan::ByRefStruct(layout, _) => !reverse && layout.owns_memory,
            ParamPlan::BlittableArray { output, .. } => reverse && *output,
            ParamPlan::BlittableObject(_) => reverse,
            _ => false,
        }
    }
}

/// The plan of a signature. See the module.
pub struct MarshalPlan {
    /// The signature it is for.
    pub sig: &'static MethodSig,
    /// One per declared parameter.
    pub params: Vec<ParamPlan>,
    /// The result.
    pub ret: ParamPlan,
    /// errno is cleared before the call and kept for GetLastWin32Error.
    pub set_last_error: bool,
}

impl MarshalPlan {
    /// The locations of the native arguments: of the hidden pointer to a result in memory, and of
    /// each parameter; and how much of the registers and the stack they take.
    pub fn places(
        &self,
    ) -> (
        Option<NativeLocation>,
        Vec<SmallVec<[NativeLocation; 2]>>,
        NativeLocations,
    ) {
        let mut places = NativeLocations::default();
        let hidden =
            matches!(self.native_ret(), Abi::Memory(_)).then(|| places.take(&Abi::int())[0]);
        let params = self.params.iter().map(|p| places.take(&p.abi())).collect();
        (hidden, params, places)
    }
    /// How the native result is passed. As in mono, a native function returns what the managed one
    /// does, whether or not `PreserveSig` is declared.
    pub fn native_ret(&self) -> Abi {
        self.ret.abi()
    }
    /// The first parameter that cannot be marshalled, or [`RESULT`].
    pub fn unsupported(&self) -> Option<i64> {
        let bad = |p: &ParamPlan| matches!(p, ParamPlan::Unsupported(_));
        if bad(&self.ret) {
            return Some(RESULT);
        }
        self.params.iter().position(bad).map(|i| i as i64)
    }
}

/// All plans, by address of the method.
static PLANS: LeafLock<Option<FxHashMap<usize, &'static MarshalPlan>>> = LeafLock::new(None);

/// The plan of a P/Invoke method, or of the `Invoke` of a delegate class.
pub fn plan(method: MethodRef) -> Result<&'static MarshalPlan, LoadError> {
    let method = match method.native_function() {
        Some(NativeFunction::At { invoke, .. }) => invoke,
        // Its plan was kept when it was made.
        Some(NativeFunction::OfInterface { .. }) | None => method,
    };
    let key = std::ptr::from_ref(method) as usize;
    if let Some(found) = PLANS.lock().as_ref().and_then(|map| map.get(&key)) {
        return Ok(found);
    }
    let made = compute(method)?;
    Ok(PLANS
        .lock()
        .get_or_insert_default()
        .entry(key)
        .or_insert_with(|| Box::leak(Box::new(made))))
}

/// The plan of an unmanaged `calli`, with default marshalling. What would need a helper is not
/// supported, because the helpers look a plan up by its method.
pub fn plan_of_sig(sig: &'static MethodSig) -> Result<MarshalPlan, LoadError> {
    let of = |class: ClassRef| {
        let plan = plan_one(class, &Source::default())?;
        Ok(match plan {
            ParamPlan::Convert { .. } | ParamPlan::StructCopy(_) | ParamPlan::ByRefStruct(..) => {
                unsupported(class)
            }
            plan => plan,
        })
    };
    let params = sig
        .params
        .iter()
        .map(|c| of(c))
        .collect::<Result<_, LoadError>>()?;
    let ret = result_only(sig.ret, of(sig.ret)?);
    Ok(MarshalPlan {
        sig,
        params,
        ret,
        set_last_error: false,
    })
}

/// What is known of a parameter besides its type.
#[derive(Default)]
struct Source {
    /// The module that declares it; none for `calli`.
    module: Option<ModuleRef>,
    spec: MarshalSpec,
    char_set: CharSet,
    /// ParamAttributes In (1) and Out (2).
    flags: u16,
    is_result: bool,
}

impl Source {
    /// The direction; `usual` holds if neither `[In]` nor `[Out]` is declared.
    fn direction(&self, usual: Direction) -> Direction {
        match self.flags & 3 {
            0 => usual,
            flags => Direction {
                input: flags & 1 != 0,
                output: flags & 2 != 0,
            },
        }
    }
}

/// From the caller to the callee only.
const IN: Direction = Direction {
    input: true,
    output: false,
};
/// From the callee to the caller only.
const OUT: Direction = Direction {
    input: false,
    output: true,
};
/// Both directions.
const BOTH: Direction = Direction {
    input: true,
    output: true,
};

/// Makes the plan of the static method `wrapper`, by which native code calls `method` as one of a COM interface, or is called by it. Both have the same parameters, before
/// which the wrapper has the object, or native code's interface; native code sees the interface's address there. Unless the signature is preserved, the wrapper returns the HRESULT, and what `method` returns goes
/// to one parameter more. By default strings are BSTRs and bools VARIANT_BOOLs, as in mono.
///
/// # Errors
/// As of [`plan`].
pub fn keep_com_plan(wrapper: MethodRef, method: MethodRef) -> Result<(), LoadError> {
    use super::marshal_spec::native_type as nt;
    let (sig, outer) = (method.sig()?, wrapper.sig()?);
    let (mut sources, _) = sources(method)?;
    let classes = std::iter::once(&sig.ret).chain(&sig.params);
    for (class, source) in classes.zip(&mut sources) {
        let class = class
            .element()
            .filter(|_| class.is_byref())
            .unwrap_or(class);
        if source.spec.native == 0 && is(class, Known::String) {
            source.spec.native = nt::BSTR;
        }
        if source.spec.native == 0 && is(class, Known::Boolean) {
            source.spec.native = nt::VARIANT_BOOL;
        }
    }
    let mut result = sources.remove(0);
    let mut params = vec![ParamPlan::Direct];
    for (class, source) in sig.params.iter().zip(&sources) {
        params.push(plan_one(class, source)?);
    }
    let ret = if outer.params.len() > params.len() {
        (result.flags, result.is_result) = (2, false);
        params.push(plan_one(outer.params[params.len()], &result)?);
        plan_one(outer.ret, &Source::default())?
    } else {
        result_only(outer.ret, plan_one(outer.ret, &result)?)
    };
    let made = MarshalPlan {
        sig: outer,
        params,
        ret,
        set_last_error: false,
    };
    PLANS
        .lock()
        .get_or_insert_default()
        .entry(std::ptr::from_ref(wrapper) as usize)
        .or_insert_with(|| Box::leak(Box::new(made)));
    Ok(())
}

/// What is known of the result and of each parameter of a method, and whether errno is recorded.
fn sources(method: MethodRef) -> Result<(Vec<Source>, bool), LoadError> {
    let sig = method.sig()?;
    let definition = method.definition();
    let image = &definition.module().image;
    let (char_set, set_last_error) = match method.dll_import()? {
        Some(import) => {
            let flags = ImportFlags(import.flags);
            (flags.char_set(), flags.set_last_error())
        }
        None => match definition.class.kind {
            ClassKind::Def { rid, .. } => function_pointer_attribute(image, rid),
            _ => (class_char_set(definition.class), false),
        },
    };
    let mut sources: Vec<Source> = Vec::new();
    sources.resize_with(sig.params.len() + 1, || Source {
        char_set,
        module: Some(definition.module()),
        ..Source::default()
    });
    sources[0].is_result = true;
    for row in image.method_params(definition.rid) {
        let Ok(param) = image.param(row) else {
            continue;
        };
        if let Some(source) = sources.get_mut(usize::from(param.sequence)) {
            source.spec = marshal_spec(image, Token::new(Table::Param, row));
            source.flags = param.flags;
        }
    }
    Ok((sources, set_last_error))
}

/// Computes the plan of a method.
fn compute(method: MethodRef) -> Result<MarshalPlan, LoadError> {
    let sig = method.sig()?;
    let (sources, set_last_error) = sources(method)?;
    let one = |(class, source): (&ClassRef, &Source)| plan_one(class, source);
    let params = sig
        .params
        .iter()
        .zip(&sources[1..])
        .map(one)
        .collect::<Result<_, _>>()?;
    let ret = result_only(sig.ret, plan_one(sig.ret, &sources[0])?);
    Ok(MarshalPlan {
        sig,
        params,
        ret,
        set_last_error,
    })
}

/// The plan of a type that cannot be marshalled.
fn unsupported(class: ClassRef) -> ParamPlan {
    ParamPlan::Unsupported(if is(class, Known::Object) {
        "Marshalling of type object is not implemented".to_owned()
    } else {
        format!("Cannot marshal parameter of type {}.", class.full_name())
    })
}

/// The plan of a HandleRef that native code would have to make.
fn handle_ref_outwards() -> ParamPlan {
    let text = "HandleRefs can not be returned from unmanaged code (or passed by ref)";
    ParamPlan::Unsupported(text.to_owned())
}

/// The plan of a result: what makes sense for parameters only is not supported.
fn result_only(class: ClassRef, plan: ParamPlan) -> ParamPlan {
    match plan {
        ParamPlan::Convert {
            conversion: Conversion::StringBuilder(_),
            ..
        } => ParamPlan::Unsupported(
            "Return marshalling of stringbuilders is not implemented.".to_owned(),
        ),
        ParamPlan::Convert {
            conversion: Conversion::AsAny(_),
            ..
        }
        | ParamPlan::StructPointer(_)
        | ParamPlan::Convert { by_ref: true, .. } => unsupported(class),
        ParamPlan::HandleRef(_) => handle_ref_outwards(),
        ParamPlan::BlittableArray { reverse, .. } => ParamPlan::Convert {
            conversion: *reverse,
            by_ref: false,
            direction: IN,
        },
        ParamPlan::BlittableObject(layout) => ParamPlan::Convert {
            conversion: Conversion::Class(layout),
            by_ref: false,
            direction: IN,
        },
        // A by-ref to anything: the pointer as it is.
        ParamPlan::ByRefScalar(..) | ParamPlan::ByRefStruct(..) => ParamPlan::Direct,
        plan => plan,
    }
}

/// The plan of a parameter or result.
fn plan_one(class: ClassRef, source: &Source) -> Result<ParamPlan, LoadError> {
    if class.prim == Some(vervet_types::Prim::Void) {
        return Ok(ParamPlan::None);
    }
    match class.element() {
        Some(target) if class.is_byref() => plan_by_ref(target, source),
        _ => plan_value(class, source),
    }
}

/// The custom marshaler, if one is declared.
fn custom(class: ClassRef, source: &Source) -> Option<Conversion> {
    let (name, cookie) = source.spec.custom?;
    Some(Conversion::Custom(CustomMarshaler {
        name,
        cookie,
        module: source.module?,
        class,
    }))
}

/// By what helpers convert one word of the class; None if they do not.
fn conversion(class: ClassRef, source: &Source) -> Result<Option<Conversion>, LoadError> {
    let (spec, char_set) = (&source.spec, source.char_set);
    Ok(Some(if let Some(custom) = custom(class, source) {
        custom
    } else if spec.native == nt::AS_ANY {
        Conversion::AsAny(char_set)
    } else if let Some(com) = Com::of(class, spec) {
        Conversion::Com(com)
    } else if is_automation(class, spec) {
        Conversion::NullOnly(COM.to_owned())
    } else if is(class, Known::String) {
        Conversion::String(Encoding::of(spec, char_set))
    } else if is(class, Known::StringBuilder) {
        // A buffer that the callee fills has no length in front.
        match Encoding::of(spec, char_set) {
            Encoding::Bstr => return Ok(None),
            encoding => Conversion::StringBuilder(encoding),
        }
    } else if is_delegate(class)? {
        Conversion::Delegate(class)
    } else if is_handle(class)? {
        Conversion::Handle(class)
    } else if class.is_array()
        && let Some(of) = class.element()
    {
        let element = match Encoding::of(&spec.of_element(), char_set) {
            encoding if is(of, Known::StringBuilder) && encoding != Encoding::Bstr => {
                Native::StringBuilder(encoding)
            }
            _ => Native::of_element(of, spec, char_set)?,
        };
        let refused = match &element {
            Native::Unsupported(reason)
            | Native::Endless(reason)
            | Native::Opaque { reason, .. }
            | Native::ArrayPointer(reason) => Some(reason.clone()),
            Native::Embedded(_) | Native::Delegate(_) | Native::Handle => Some(no_layout(of)),
            Native::Struct(layout) => layout.unsupported.clone(),
            _ => None,
        };
        if let Some(reason) = refused {
            return Ok(Some(Conversion::NullOnly(reason)));
        }
        Conversion::Array {
            class: of,
            element,
            size_param: spec.size_param,
            size_const: spec.size_const,
        }
    } else if is(class, Known::Object) && !source.is_result {
        return Ok(None);
    } else {
        let layout = native_layout(class)?;
        match &layout.unsupported {
            Some(reason) => Conversion::NullOnly(reason.clone()),
            None => Conversion::Class(layout),
        }
    }))
}

/// Whether the native form would be a VARIANT or a SAFEARRAY.
fn is_automation(class: ClassRef, spec: &MarshalSpec) -> bool {
    match spec.native {
        nt::STRUCT => is(class, Known::Object),
        nt::SAFE_ARRAY => class.is_array(),
        _ => false,
    }
}

/// The plan of a value that is not by reference.
fn plan_value(class: ClassRef, source: &Source) -> Result<ParamPlan, LoadError> {
    if let Some(plan) = misplaced_marshaler(class, source)? {
        return Ok(plan);
    }
    if class.is_ptr() || class.is_fn_ptr() {
        return Ok(ParamPlan::Direct);
    }
    if let Some(prim) = class.stack_prim()? {
        return Ok(ParamPlan::Scalar(Scalar::passed(
            prim,
            &source.spec,
            source.char_set,
        )));
    }
    if class.is_value_type()? {
        return plan_struct(class, source);
    }
    let Some(conversion) = conversion(class, source)? else {
        return Ok(unsupported(class));
    };
    if let Conversion::Handle(class) = conversion
        && source.is_result
        && class.is_abstract()
    {
        let text = "Returned SafeHandles should not be abstract".to_owned();
        return Ok(ParamPlan::Unsupported(text));
    }
    let usual = match &conversion {
        Conversion::StringBuilder(_)
        | Conversion::Array {
            element: Native::StringBuilder(_),
            ..
        } => BOTH,
        _ => IN,
    };
    Ok(match conversion {
        Conversion::Array { ref element, .. } if element.is_blittable() && !source.is_result => {
            let data_offset = match class.rank() {
                Some(rank) if !class.is_sz_array() => object::md_array_data_offset(rank),
                _ => object::ARRAY_DATA_OFFSET,
            };
            ParamPlan::BlittableArray {
                data_offset,
                reverse: Box::new(conversion),
                output: source.direction(IN).output,
            }
        }
        Conversion::Class(layout) if layout.blittable => ParamPlan::BlittableObject(layout),
        conversion => ParamPlan::Convert {
            conversion,
            by_ref: false,
            direction: source.direction(usual),
        },
    })
}

/// The plan of a value type that has a custom marshaler, which converts objects.
fn misplaced_marshaler(class: ClassRef, source: &Source) -> Result<Option<ParamPlan>, LoadError> {
    let misplaced = source.spec.custom.is_some()
        && (class.is_ptr() || class.is_fn_ptr() || class.is_value_type()?);
    let text = "Custom marshalers are for reference types only.";
    Ok(misplaced.then(|| ParamPlan::Unsupported(text.to_owned())))
}

/// The plan of a struct by value.
fn plan_struct(class: ClassRef, source: &Source) -> Result<ParamPlan, LoadError> {
    if is(class, Known::HandleRef) {
        for field in class.fields()?.iter().filter(|f| !f.is_static()) {
            if field.ty()?.is_value_type()? {
                return Ok(ParamPlan::HandleRef(field.offset()?));
            }
        }
    }
    let layout = native_layout(class)?;
    Ok(match &layout.unsupported {
        Some(reason) => ParamPlan::Unsupported(reason.clone()),
        None if source.spec.native == nt::LP_STRUCT => ParamPlan::StructPointer(layout),
        None if layout.passed_as_is()? => ParamPlan::Struct(layout),
        None => ParamPlan::StructCopy(layout),
    })
}

/// The plan of a by-reference parameter.
fn plan_by_ref(target: ClassRef, source: &Source) -> Result<ParamPlan, LoadError> {
    if let Some(plan) = misplaced_marshaler(target, source)? {
        return Ok(plan);
    }
    if is(target, Known::HandleRef) {
        return Ok(handle_ref_outwards());
    }
    if target.is_ptr() || target.is_fn_ptr() {
        return Ok(ParamPlan::Direct);
    }
    if let Some(prim) = target.stack_prim()? {
        let scalar = Scalar::passed(prim, &source.spec, source.char_set);
        return Ok(match scalar {
            scalar if scalar.is_identity() => ParamPlan::Direct,
            scalar => ParamPlan::ByRefScalar(scalar, source.direction(BOTH)),
        });
    }
    if target.is_value_type()? {
        let layout = native_layout(target)?;
        return Ok(match &layout.unsupported {
            Some(reason) => ParamPlan::Unsupported(reason.clone()),
            None if layout.passed_as_is()? => ParamPlan::Direct,
            None => ParamPlan::ByRefStruct(layout, source.direction(BOTH)),
        });
    }
    Ok(match conversion(target, source)? {
        None | Some(Conversion::AsAny(_)) => unsupported(target),
        // As in mono, an interface goes one way: out if that is declared, or else in.
        Some(conversion @ Conversion::Com(_)) => ParamPlan::Convert {
            conversion,
            by_ref: true,
            direction: match source.direction(IN).output {
                true => OUT,
                false => IN,
            },
        },
        Some(conversion) => ParamPlan::Convert {
            conversion,
            by_ref: true,
            direction: source.direction(BOTH),
        },
    })
}
