//! Every kind of stub compiles for the signatures of the core library, and those that need no
//! runtime run.
//!
//! # How it works
//! The tests compile with the CLIF verifier on. Code that runs is linked into an [`Arena`], with
//! small stand-ins for what a stub needs of the runtime: [`enter`] in place of the thunk of the
//! same name, naked functions in place of the helpers.
//!
//! # Invariants
//! Tests that need the class library say so and pass where it is not installed.
use crate::blob::{Blob, RelocKind, Symbol};
use crate::emit::sequences::build;
use crate::emit::{Codegen, Emitter, trusted};
use crate::options::{Options, Tier};
use crate::signature::{LoweredSignature, Pass};
use crate::stubs::delegate::{Binding, DelegateThunk, delegate_thunk};
use crate::stubs::native::marshal_plan::{ParamPlan, plan};
use crate::stubs::native::{pinvoke, reverse};
use crate::stubs::{delegate, invoke, method_stub};
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::Helper;
use vervet_abi::context::{self, ThreadContext};
use vervet_abi::layouts::{DelegateObject, MulticastDelegateObject};
use vervet_abi::native_call::{NativeCall, ReverseCall};
use vervet_metadata::CallConvKind;
use vervet_os::Published;
use vervet_types::module::AssemblyRefInfo;
use vervet_types::{
    Assembly, AssemblyLoader, ClassRef, Known, LoadError, MethodSig, ModuleRef, ScalarKind,
    Universe,
};

mod native_tests;

/// Where the class library is installed.
const LIBRARY: &str = "/usr/lib/mono/4.5";

/// Loads by simple name from the class library's directory.
struct Loader;
impl AssemblyLoader for Loader {
    fn load_assembly(
        &self,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> Result<&'static Assembly, LoadError> {
        let module = load(requesting.universe(), reference.name);
        let assembly = module.and_then(|m| m.assembly());
        assembly.ok_or_else(|| {
            LoadError::bad_image(requesting, format!("{reference} is not installed"))
        })
    }
    fn load_file(&self, manifest: ModuleRef, file: &str) -> Result<ModuleRef, LoadError> {
        Err(LoadError::bad_image(
            manifest,
            format!("{file} is not wanted here"),
        ))
    }
}

/// The assembly of that name, loaded once.
fn load(universe: &'static Universe, name: &str) -> Option<ModuleRef> {
    let is = |a: &&&'static Assembly| a.name == name;
    if let Some(assembly) = universe.assemblies().iter().find(is) {
        return Some(assembly.manifest);
    }
    let path = format!("{LIBRARY}/{name}.dll");
    let Ok(data) = std::fs::read(&path) else {
        eprintln!("skipped: there is no {path}");
        return None;
    };
    Some(
        universe
            .load_module(data.leak(), Some(path))
            .expect("it loads"),
    )
}

/// The core library, loaded once for all tests.
fn corlib() -> Option<ModuleRef> {
    static MODULE: Published<Option<ModuleRef>> = Published::new();
    if let Some(module) = MODULE.get() {
        return *module;
    }
    let universe = Universe::new(Box::new(Loader));
    let module = load(universe, "mscorlib");
    if let Some(module) = module {
        universe.set_corlib(module);
    }
    *MODULE.put(module)
}

/// A code generator with the verifier on.
fn codegen() -> Codegen {
    Codegen::new(&Options {
        verify: true,
        ..Options::default()
    })
}

/// A known class.
fn known(module: ModuleRef, known: Known) -> ClassRef {
    module.universe().known(known)
}

/// A managed signature.
fn sig(has_this: bool, ret: ClassRef, params: &[ClassRef]) -> MethodSig {
    let call_conv = CallConvKind::Default;
    MethodSig {
        has_this,
        explicit_this: false,
        call_conv,
        generic_arity: 0,
        ret,
        params: params.to_vec(),
        sentinel: None,
    }
}

/// A lowered signature.
fn lowered(has_this: bool, ret: ClassRef, params: &[ClassRef]) -> LoweredSignature {
    LoweredSignature::of(&sig(has_this, ret, params)).expect("the signature can be lowered")
}

// Lowering ------------------------------------------------------------------------------------------------------

#[test]
fn values_travel_as_stated() {
    let Some(module) = corlib() else { return };
    let u = module.universe();
    let of = |class: ClassRef| Pass::of(class).expect("it can be lowered");
    let int = known(module, Known::Int32);
    let cases = [
        (known(module, Known::Void), Pass::None),
        (known(module, Known::Boolean), Pass::Scalar(I32)),
        (known(module, Known::Char), Pass::Scalar(I32)),
        (known(module, Known::UInt32), Pass::Scalar(I32)),
        (known(module, Known::Int64), Pass::Scalar(I64)),
        (known(module, Known::IntPtr), Pass::Scalar(I64)),
        (known(module, Known::Double), Pass::Scalar(F64)),
        (known(module, Known::String), Pass::Scalar(I64)),
        (known(module, Known::TypeCode), Pass::Scalar(I32)),
        (u.sz_array(int), Pass::Scalar(I64)),
        (u.byref(int), Pass::Scalar(I64)),
        (u.ptr(int), Pass::Scalar(I64)),
        (known(module, Known::Guid), Pass::Address),
        (known(module, Known::NativeOverlapped), Pass::Address),
    ];
    for (class, pass) in cases {
        assert_eq!(of(class), pass, "{}", class.full_name());
    }
    let pair = u
        .instantiate(
            known(module, Known::KeyValuePair),
            &[known(module, Known::String), int],
        )
        .unwrap();
    let scalars = Pass::Scalars(
        [(0, ScalarKind::Ref), (8, ScalarKind::I4)]
            .into_iter()
            .collect(),
    );
    assert_eq!(of(pair), scalars);
    let lowered = lowered(
        true,
        known(module, Known::Guid),
        &[int, pair, known(module, Known::Double)],
    );
    let types: Vec<_> = lowered.clif.params.iter().map(|p| p.value_type).collect();
    assert_eq!(types, [I64, I64, I32, I64, I32, F64]);
    assert_eq!(
        (
            lowered.ret_buffer_index(),
            lowered.first_value(1),
            lowered.first_value(2)
        ),
        (Some(1), 3, 5)
    );
}

#[test]
fn equal_keys_mean_equal_passing() {
    let Some(module) = corlib() else { return };
    let (int, boolean, text) = (
        known(module, Known::Int32),
        known(module, Known::Boolean),
        known(module, Known::String),
    );
    let object = known(module, Known::Object);
    assert_eq!(
        lowered(false, int, &[boolean, text]).key(),
        lowered(false, boolean, &[int, object]).key()
    );
    assert_ne!(
        lowered(true, int, &[]).key(),
        lowered(false, int, &[]).key()
    );
    assert_ne!(
        lowered(true, int, &[]).key(),
        lowered(false, int, &[text]).key()
    );
    assert_ne!(
        lowered(false, int, &[known(module, Known::Guid)]).key(),
        lowered(false, int, &[text]).key()
    );
}

#[test]
fn stack_bytes_are_what_cranelift_pops() {
    let codegen = codegen();
    for (ints, floats) in [(0, 0), (6, 8), (7, 0), (8, 0), (9, 9), (0, 11), (20, 3)] {
        let mut signature =
            cranelift_codegen::ir::Signature::new(cranelift_codegen::isa::CallConv::Tail);
        let ty = |i| if i < ints { I64 } else { F64 };
        signature
            .params
            .extend((0..ints + floats).map(|i| cranelift_codegen::ir::AbiParam::new(ty(i))));
        let blob = build(&codegen, Tier::Quick, "pops", signature, |e, _| {
            e.b.ins().return_(&[]);
            Ok(())
        });
        let blob = blob.expect("it compiles");
        let popped = match blob.code[..] {
            [.., 0xc2, low, high] => u32::from(u16::from_le_bytes([low, high])),
            [.., 0xc3] => 0,
            _ => panic!("no return at the end"),
        };
        assert_eq!(
            popped, blob.stack_arg_bytes,
            "{ints} integers, {floats} floats"
        );
    }
}

// Compiling -----------------------------------------------------------------------------------------------------

#[test]
fn stubs_of_every_delegate_class_compile() {
    let Some(module) = corlib() else { return };
    let codegen = codegen();
    let mut seen = std::collections::HashSet::new();
    let mut count = 0;
    for class in module.types().unwrap() {
        if class.is_open || class.is_generic_def() || !class.is_delegate().unwrap() {
            continue;
        }
        let Some(invoke) = class.find_method("Invoke", None).unwrap() else {
            continue;
        };
        let lowered = LoweredSignature::of_method(invoke).unwrap();
        let new = seen.insert(lowered.key());
        for method in class.methods().unwrap() {
            if new || method.name == "Invoke" {
                let stub = method_stub(&codegen, method)
                    .unwrap_or_else(|e| panic!("{}: {e}", method.full_name()));
                assert!(stub.is_some(), "{}", method.full_name());
            }
        }
        reverse::reverse_stub(&codegen, invoke)
            .unwrap_or_else(|e| panic!("{}: {e}", invoke.full_name()));
        pinvoke::native_delegate_thunk(&codegen, invoke)
            .unwrap_or_else(|e| panic!("{}: {e}", invoke.full_name()));
        if !new {
            continue;
        }
        count += 1;
        invoke::invoke_stub(&codegen, &lowered)
            .unwrap_or_else(|e| panic!("{}: {e}", invoke.full_name()));
        let bindings = [
            Binding::ClosedInstance { null: true },
            Binding::ClosedStatic { null: true },
            Binding::OpenStatic,
            Binding::OpenInstance,
            Binding::OpenVirtual,
            Binding::Multicast,
        ];
        for binding in bindings {
            if lowered.params.first() != Some(&Pass::Scalar(I64))
                && matches!(binding, Binding::OpenInstance | Binding::OpenVirtual)
            {
                continue;
            }
            let thunk = DelegateThunk::of(binding, &lowered).expect("a thunk");
            delegate_thunk(&codegen, thunk, &lowered)
                .unwrap_or_else(|e| panic!("{} {binding:?}: {e}", invoke.full_name()));
        }
    }
    assert!(count > 10, "{count} shapes");
}

#[test]
fn every_pinvoke_of_the_class_library_compiles() {
    let Some(module) = corlib() else { return };
    let codegen = codegen();
    let (mut count, mut unsupported) = (0, 0);
    let names = [
        "mscorlib",
        "System",
        "System.Core",
        "Mono.Posix",
        "Mono.Security",
        "System.Drawing",
        "System.Windows.Forms",
    ];
    for module in names
        .iter()
        .filter_map(|name| load(module.universe(), name))
    {
        for class in module.types().unwrap() {
            for method in class.methods().unwrap().iter().filter(|m| m.is_pinvoke()) {
                count += 1;
                let plan = plan(method).unwrap_or_else(|e| panic!("{}: {e}", method.full_name()));
                for (i, param) in plan.params.iter().chain([&plan.ret]).enumerate() {
                    if let ParamPlan::Unsupported(reason) = param {
                        unsupported += 1;
                        eprintln!("{} {i}: {reason}", method.full_name());
                    }
                }
                let stub = method_stub(&codegen, method)
                    .unwrap_or_else(|e| panic!("{}: {e}", method.full_name()));
                assert!(stub.is_some(), "{}", method.full_name());
            }
        }
    }
    assert!(count > 30, "{count} methods");
    assert!(
        unsupported * 50 <= count,
        "{unsupported} parameters of {count} methods"
    );
}

#[test]
fn array_accessors_compile() {
    let Some(module) = corlib() else { return };
    let codegen = codegen();
    let u = module.universe();
    let text = known(module, Known::String);
    let pair = u
        .instantiate(known(module, Known::KeyValuePair), &[text, text])
        .unwrap();
    let elements = [
        text,
        pair,
        known(module, Known::Guid),
        known(module, Known::Byte),
        known(module, Known::Double),
    ];
    for element in elements {
        for class in [
            u.sz_array(element),
            u.array(element, 1),
            u.array(element, 2),
            u.array(element, 7),
        ] {
            for method in class.methods().unwrap() {
                let stub = method_stub(&codegen, method);
                if method.is_ctor() {
                    assert!(stub.is_err());
                } else {
                    assert!(
                        stub.unwrap_or_else(|e| panic!("{}: {e}", method.full_name()))
                            .is_some()
                    );
                }
            }
        }
    }
}

#[test]
fn pieces_compile_inside_protected_regions() {
    let Some(module) = corlib() else { return };
    let codegen = codegen();
    let u = module.universe();
    let (text, int) = (known(module, Known::String), known(module, Known::Int32));
    let array = u.array(text, 3);
    let set = array
        .find_method("Set", None)
        .unwrap()
        .expect("arrays have Set");
    let address = array
        .find_method("Address", None)
        .unwrap()
        .expect("arrays have Address");
    let invoke = known(module, Known::Action)
        .find_method("Invoke", None)
        .unwrap()
        .expect("delegates have Invoke");
    let (set_shape, invoke_shape) = (
        LoweredSignature::of_method(set).unwrap(),
        LoweredSignature::of_method(invoke).unwrap(),
    );
    let address_shape = LoweredSignature::of_method(address).unwrap();
    let native: &'static MethodSig = Box::leak(Box::new(sig(
        false,
        int,
        &[u.byref(known(module, Known::Boolean)), int],
    )));
    let whole = lowered(
        false,
        int,
        &[
            array,
            int,
            text,
            known(module, Known::Action),
            known(module, Known::IntPtr),
        ],
    );
    for tier in [Tier::Quick, Tier::Optimised] {
        let blob = build(
            &codegen,
            tier,
            "protected",
            whole.clif.clone(),
            |e, args| {
                let pad = e.b.create_block();
                e.b.append_block_param(pad, I64);
                e.b.append_block_param(pad, I64);
                e.set_handlers(&[(0, pad)]);
                let set_args = [args[0], args[1], args[1], args[1], args[2]];
                crate::stubs::array::emit_accessor(e, set, &set_shape, &set_args)?;
                crate::stubs::array::emit_accessor(e, address, &address_shape, &set_args[..4])?;
                delegate::emit_invoke(e, &invoke_shape, &args[3..4]);
                let results = pinvoke::emit_native_call(e, native, args[4], &[args[0], args[1]])?;
                e.b.ins().return_(&results);
                e.set_handlers(&[]);
                e.b.switch_to_block(pad);
                let none = e.b.ins().iconst(I32, 0);
                e.b.ins().return_(&[none]);
                Ok(())
            },
        );
        let blob = blob.unwrap_or_else(|e| panic!("{e}"));
        assert!(
            blob.call_sites
                .iter()
                .filter(|s| s.handler_count == 1)
                .count()
                > 5
        );
        // One piece, and the end of the stack check.
        assert!(blob.no_redirect.len() == 2);
    }
}

// Running -------------------------------------------------------------------------------------------------------

/// Executable memory for the tests, mapped twice: writable and executable.
pub(crate) struct Arena {
    write: *mut u8,
    run: *const u8,
    used: usize,
}

impl Arena {
    /// An arena of 1 MiB.
    pub(crate) fn new() -> Arena {
        let views = vervet_os::dual::map(1 << 20, 4096).expect("memory");
        Arena {
            write: views.writable,
            run: views.executable,
            used: 0,
        }
    }
    /// Copies a blob and applies its relocations; returns the address of its code.
    pub(crate) fn link(&mut self, blob: &Blob, resolve: &dyn Fn(Symbol) -> usize) -> usize {
        let at = self.used.next_multiple_of(64);
        self.used = at + blob.code.len();
        assert!(self.used <= 1 << 20);
        let code = self.run as usize + at;
        // SAFETY: the assertion above keeps the range inside the mapping, which this arena owns; no code in the
        // range runs before this function returns its address.
        unsafe {
            let write = self.write.add(at);
            std::ptr::copy_nonoverlapping(blob.code.as_ptr(), write, blob.code.len());
            for r in &blob.relocs {
                let symbol = match r.symbol {
                    // (The limit is 0 in these tests, so nobody calls it.)
                    Symbol::SelfCode | Symbol::Helper(Helper::Grow) => code,
                    other => resolve(other),
                };
                let value = symbol as i64 + r.addend;
                let place = write.add(r.offset as usize);
                match r.kind {
                    RelocKind::Abs8 => place.cast::<i64>().write_unaligned(value),
                    RelocKind::Abs4 => place.cast::<u32>().write_unaligned(value as u32),
                    RelocKind::PcRel4 => {
                        let delta = value - (code as i64 + i64::from(r.offset));
                        place
                            .cast::<i32>()
                            .write_unaligned(i32::try_from(delta).expect("in reach"));
                    }
                }
            }
        }
        code
    }
}

/// The address of symbols that the code under test must not reach.
pub(crate) fn unresolved(_: Symbol) -> usize {
    0xdead_0000
}

/// The runtime's `enter` thunk, without its records: sets r15 and calls the stub.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn enter(
    _stub: usize,
    _code: usize,
    _args: *const u64,
    _ret: *mut u64,
    _cx: *mut ThreadContext,
) -> u32 {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push r15",
        "sub rsp, 8",
        "mov r15, r8",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "mov rcx, r8",
        "call rax",
        "add rsp, 8",
        "pop r15",
        "pop rbp",
        "ret"
    )
}

/// A thread context of zeros.
pub(crate) fn context() -> Box<ThreadContext> {
    // SAFETY: ThreadContext consists of integers and raw pointers, for which zeros are valid values.
    unsafe { Box::new(std::mem::zeroed()) }
}

/// A Tail function of that shape.
fn function(
    codegen: &Codegen,
    lowered: &LoweredSignature,
    body: impl FnOnce(&mut Emitter, &[Value]),
) -> Blob {
    let blob = build(
        codegen,
        Tier::Optimised,
        "a test's",
        lowered.clif.clone(),
        |e, args| {
            body(e, args);
            Ok(())
        },
    );
    blob.expect("it compiles")
}

fn call(
    arena: &mut Arena,
    codegen: &Codegen,
    lowered: &LoweredSignature,
    code: usize,
    args: &[u64],
    ret: &mut [u64],
) -> u32 {
    let stub = invoke::invoke_stub(codegen, lowered).expect("it compiles");
    let stub = arena.link(&stub, &unresolved);
    let mut cx = context();
    // SAFETY: the stub was compiled for the signature of `code`, and the callers pass one word for each of its
    // CLIF parameters and results.
    unsafe { enter(stub, code, args.as_ptr(), ret.as_mut_ptr(), &mut *cx) }
}

#[test]
fn invoke_stubs_pass_words() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let (long, double, int) = (
        known(module, Known::Int64),
        known(module, Known::Double),
        known(module, Known::Int32),
    );
    let params: Vec<ClassRef> = (0..10).flat_map(|_| [long, double, int]).collect();
    let lowered = lowered(true, long, &params);
    let blob = function(&codegen, &lowered, |e, args| {
        let mut sum = args[0];
        for (i, arg) in args.iter().enumerate().skip(1) {
            let value = match e.b.func.dfg.value_type(*arg) {
                F64 => e.b.ins().fcvt_to_sint_sat(I64, *arg),
                I32 => e.b.ins().sextend(I64, *arg),
                _ => *arg,
            };
            let value = e.b.ins().imul_imm_s(value, i as i64);
            sum = e.b.ins().iadd(sum, value);
        }
        e.b.ins().return_(&[sum]);
    });
    let code = arena.link(&blob, &unresolved);
    let mut args = vec![1000u64];
    let mut expected = 1000i64;
    for i in 0..30u64 {
        let value = (i as i64 + 3) * if i % 3 == 2 { -1 } else { 1 };
        args.push(if i % 3 == 1 {
            (value as f64).to_bits()
        } else {
            value as u64
        });
        expected += value * (i as i64 + 1);
    }
    let mut ret = [0u64];
    assert_eq!(
        call(&mut arena, &codegen, &lowered, code, &args, &mut ret),
        0
    );
    assert_eq!(ret[0] as i64, expected);
}

static mut THROW: [u64; 2] = [0; 2];

/// What the unwinder does for a call from an invoke stub: enters its landing pad with an exception.
#[unsafe(naked)]
unsafe extern "C" fn throw() {
    naked_asm!(
        "lea rcx, [rip + {throw}]",
        "mov rsp, rbp",
        "sub rsp, [rcx]",
        "mov eax, 0x1234",
        "xor ebx, ebx",
        "xor r12d, r12d",
        "xor r13d, r13d",
        "xor r14d, r14d",
        "jmp [rcx + 8]",
        throw = sym THROW,
    )
}

#[test]
fn invoke_stubs_catch() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let lowered = lowered(
        false,
        known(module, Known::Int64),
        &[known(module, Known::Int64)],
    );
    let stub = invoke::invoke_stub(&codegen, &lowered).expect("it compiles");
    let entry = arena.link(&stub, &unresolved);
    let site = stub
        .call_sites
        .iter()
        .find(|s| s.handler_count == 1)
        .expect("a call with a handler");
    let handler = stub.handlers[site.first_handler as usize];
    assert_eq!(handler.clause, u32::MAX);
    let mut cx = context();
    let (args, mut ret) = ([7u64], [0u64]);
    // SAFETY: no other test uses THROW; the stub was compiled for a signature without parameters.
    unsafe {
        THROW = [
            u64::from(site.frame_offset),
            entry as u64 + u64::from(handler.code),
        ];
        assert_eq!(
            enter(
                entry,
                throw as *const () as usize,
                args.as_ptr(),
                ret.as_mut_ptr(),
                &mut *cx
            ),
            1
        );
    }
    assert_eq!(cx.pending, 0x1234);
}

/// A delegate as it lies in memory.
fn delegate_object(code: usize, invoke_impl: usize, target: usize, delegates: usize) -> Vec<u64> {
    let mut words = vec![0u64; size_of::<MulticastDelegateObject>() / 8];
    words[offset_of!(DelegateObject, method_ptr) / 8] = code as u64;
    words[offset_of!(DelegateObject, invoke_impl) / 8] = invoke_impl as u64;
    words[offset_of!(DelegateObject, m_target) / 8] = target as u64;
    words[offset_of!(MulticastDelegateObject, delegates) / 8] = delegates as u64;
    words
}

/// `long f(long*, long)`: adds to what the first argument points to, and returns that.
fn adder(codegen: &Codegen, module: ModuleRef) -> (LoweredSignature, Blob) {
    let long = known(module, Known::Int64);
    let lowered = lowered(false, long, &[module.universe().byref(long), long]);
    let blob = function(codegen, &lowered, |e, args| {
        let old = e.b.ins().load(I64, trusted(), args[0], 0);
        let new = e.b.ins().iadd(old, args[1]);
        e.b.ins().store(trusted(), new, args[0], 0);
        e.b.ins().return_(&[new]);
    });
    (lowered, blob)
}

#[test]
fn delegates_reach_their_targets() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let (open, adder) = adder(&codegen, module);
    let adder = arena.link(&adder, &unresolved);
    let long = known(module, Known::Int64);
    let invoke = lowered(true, long, &[module.universe().byref(long), long]);
    let thunk = |kind| delegate_thunk(&codegen, kind, &invoke).expect("it compiles");
    // Open static; twice in a multicast.
    let static_thunk = arena.link(&thunk(DelegateThunk::OpenStatic), &unresolved);
    let one = delegate_object(adder, static_thunk, 0, 0);
    let mut total = 5i64;
    let args = [one.as_ptr() as u64, &raw mut total as u64, 3];
    let mut ret = [0u64];
    assert_eq!(
        call(&mut arena, &codegen, &invoke, static_thunk, &args, &mut ret),
        0
    );
    assert_eq!((total, ret[0]), (8, 8));
    let list = [
        0u64,
        3,
        one.as_ptr() as u64,
        one.as_ptr() as u64,
        one.as_ptr() as u64,
    ];
    let multicast = arena.link(&thunk(DelegateThunk::Multicast), &unresolved);
    let all = delegate_object(0, multicast, 0, list.as_ptr() as usize);
    let args = [all.as_ptr() as u64, &raw mut total as u64, 10];
    assert_eq!(
        call(&mut arena, &codegen, &invoke, multicast, &args, &mut ret),
        0
    );
    assert_eq!((total, ret[0]), (38, 38));
    // Closed over its first argument, through Invoke itself.
    let closed = lowered(true, long, &[long]);
    assert_eq!(
        DelegateThunk::of(Binding::ClosedStatic { null: false }, &closed),
        None
    );
    let class = module.find_type("System", "Func`2").unwrap().unwrap();
    let class = module.universe().instantiate(class, &[long, long]).unwrap();
    let invoke = class.find_method("Invoke", None).unwrap().unwrap();
    let body = delegate::member(&codegen, invoke).unwrap().unwrap();
    let body = arena.link(&body, &unresolved);
    let one = delegate_object(adder, adder, &raw mut total as usize, 0);
    assert_eq!(
        call(
            &mut arena,
            &codegen,
            &closed,
            body,
            &[one.as_ptr() as u64, 2],
            &mut ret
        ),
        0
    );
    assert_eq!((total, ret[0]), (40, 40));
    drop(open);
}

#[test]
fn delegates_with_return_buffers() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let (guid, long, object) = (
        known(module, Known::Guid),
        known(module, Known::Int64),
        known(module, Known::Object),
    );
    // Guid f(object, long), static and instance: stores (object, long) as the Guid.
    let write = |e: &mut Emitter, buffer: Value, object: Value, long: Value| {
        e.b.ins().store(trusted(), object, buffer, 0);
        e.b.ins().store(trusted(), long, buffer, 8);
        e.b.ins().return_(&[]);
    };
    let of_static = function(&codegen, &lowered(false, guid, &[object, long]), |e, a| {
        write(e, a[0], a[1], a[2])
    });
    let of_instance = function(&codegen, &lowered(true, guid, &[long]), |e, a| {
        write(e, a[1], a[0], a[2])
    });
    let (of_static, of_instance) = (
        arena.link(&of_static, &unresolved),
        arena.link(&of_instance, &unresolved),
    );
    let closed = lowered(true, guid, &[long]);
    let open = lowered(true, guid, &[object, long]);
    let cases = [
        (
            Binding::ClosedInstance { null: false },
            &closed,
            of_instance,
            77,
        ),
        (
            Binding::ClosedStatic { null: false },
            &closed,
            of_static,
            77,
        ),
        (
            Binding::ClosedInstance { null: true },
            &closed,
            of_instance,
            0,
        ),
        (Binding::OpenStatic, &open, of_static, 0),
        (Binding::OpenInstance, &open, of_instance, 0),
    ];
    for (binding, lowered, code, target) in cases {
        let kind = DelegateThunk::of(binding, lowered).expect("a thunk");
        let thunk = delegate_thunk(&codegen, kind, lowered).expect("it compiles");
        let thunk = arena.link(&thunk, &unresolved);
        let delegate = delegate_object(code, thunk, target, 0);
        let mut result = [0u64; 2];
        let mut args = vec![delegate.as_ptr() as u64, result.as_mut_ptr() as u64];
        let first = if lowered.params.len() == 2 {
            99
        } else {
            target as u64
        };
        if lowered.params.len() == 2 {
            args.push(99);
        }
        args.push(5);
        assert_eq!(
            call(&mut arena, &codegen, lowered, thunk, &args, &mut []),
            0
        );
        assert_eq!(result, [first, 5], "{binding:?}");
    }
}

#[test]
fn array_accessors_find_elements() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let class = module.universe().array(known(module, Known::Int16), 2);
    // short[2, 3] with lower bounds 10 and -1.
    let words: [u32; 8] = [0, 0, 6, 0, 2, 10, 3, -1i32 as u32];
    let mut memory: Vec<u32> = words.to_vec();
    memory.extend([0, 0, 0]);
    let array = memory.as_mut_ptr();
    for method in class.methods().unwrap().iter().filter(|m| !m.is_ctor()) {
        let lowered = LoweredSignature::of_method(method).unwrap();
        let code = method_stub(&codegen, method).unwrap().unwrap();
        let code = arena.link(&code, &unresolved);
        for (i, (row, column)) in [(10i32, -1i32), (10, 0), (10, 1), (11, -1), (11, 0), (11, 1)]
            .into_iter()
            .enumerate()
        {
            let mut args = vec![array as u64, row as u64, column as u64];
            let value = -5 - i as i32;
            let mut ret = [0u64];
            if method.name == "Set" {
                args.push(value as u64);
            }
            assert_eq!(
                call(&mut arena, &codegen, &lowered, code, &args, &mut ret),
                0
            );
            // SAFETY: the array has six elements of 2 bytes behind its header and bounds (8 words), and i < 6.
            let element = unsafe { array.add(8).cast::<i16>().add(i) };
            match method.name {
                "Get" => {
                    // SAFETY: `element` is one of the six elements of the array, which the test owns.
                    assert_eq!(ret[0] as i32, i32::from(unsafe { *element }));
                }
                // SAFETY: `element` is one of the six elements of the array, which the test owns.
                "Set" => assert_eq!(i32::from(unsafe { *element }), value),
                _ => assert_eq!(ret[0], element as u64),
            }
        }
    }
}

#[test]
fn reverse_stubs_read_and_write_the_block() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let (long, double) = (known(module, Known::Int64), known(module, Known::Double));
    // Func`9 of longs and doubles: five longs in registers after the delegate's, the rest of both kinds.
    let class = module.find_type("System", "Func`9").unwrap().unwrap();
    let types = [long, double, long, long, long, long, long, long, double];
    let class = module.universe().instantiate(class, &types).unwrap();
    let invoke = class.find_method("Invoke", None).unwrap().unwrap();
    let target = LoweredSignature::of_method(invoke).unwrap();
    let body = function(&codegen, &target, |e, args| {
        let mut sum = args[2];
        for (i, arg) in args.iter().enumerate().skip(1).filter(|(i, _)| *i != 2) {
            let value = e.b.ins().imul_imm_s(*arg, i as i64);
            let value = e.b.ins().fcvt_from_sint(F64, value);
            sum = e.b.ins().fadd(sum, value);
        }
        e.b.ins().return_(&[sum]);
    });
    let body = arena.link(&body, &unresolved);
    let stub = reverse::reverse_stub(&codegen, invoke).expect("it compiles");
    let stub = arena.link(&stub, &unresolved);
    let delegate = delegate_object(body, body, 1, 0);
    let stack = [7u64];
    let mut block = ReverseCall {
        int_regs: [1, 2, 3, 4, 5, 6],
        sse_regs: [0.5f64.to_bits(), 0, 0, 0, 0, 0, 0, 0],
        stack: stack.as_ptr() as u64,
        ret_int: [0; 2],
        ret_sse: [0; 2],
        delegate: 0,
    };
    let lowered = lowered(false, known(module, Known::Void), &[long, long]);
    let args = [delegate.as_ptr() as u64, &raw mut block as u64];
    assert_eq!(
        call(&mut arena, &codegen, &lowered, stub, &args, &mut []),
        0
    );
    let ints: i64 = [(1, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (8, 7)]
        .iter()
        .map(|(i, v)| i * v)
        .sum();
    assert_eq!(f64::from_bits(block.ret_sse[0]), 0.5 + ints as f64);
}

#[test]
fn offsets_the_thunks_know() {
    assert_eq!(
        context::PENDING as usize,
        offset_of!(ThreadContext, pending)
    );
    assert_eq!(size_of::<NativeCall>() % 8, 0);
}
