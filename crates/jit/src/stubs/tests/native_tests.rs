//! Calls of native code place their arguments and read their results as System V says, through a block of words and in registers.
//!
//! # Invariants
//! The native functions are the compiler's own, so they are the oracle. The two thunks are stand-ins that change no state.
use super::*;

/// The runtime's native thunk, without records and states.
#[unsafe(naked)]
unsafe extern "C" fn native_thunk() {
    naked_asm!(
        "push rbp", "mov rbp, rsp", "push rbx", "push r15", "mov rbx, rdi",
        "mov rcx, [rbx + {n}]", "lea rax, [rcx + 1]", "and rax, -2", "shl rax, 3", "sub rsp, rax", "xor eax, eax",
        "2: cmp rax, rcx", "jae 3f", "mov rdx, [rbx + rax * 8 + {stack}]", "mov [rsp + rax * 8], rdx", "inc rax", "jmp 2b",
        "3: mov rdi, [rbx + {ints}]", "mov rsi, [rbx + {ints} + 8]", "mov rdx, [rbx + {ints} + 16]",
        "mov rcx, [rbx + {ints} + 24]", "mov r8, [rbx + {ints} + 32]", "mov r9, [rbx + {ints} + 40]",
        "movsd xmm0, [rbx + {sse}]", "movsd xmm1, [rbx + {sse} + 8]", "movsd xmm2, [rbx + {sse} + 16]",
        "movsd xmm3, [rbx + {sse} + 24]", "movsd xmm4, [rbx + {sse} + 32]", "movsd xmm5, [rbx + {sse} + 40]",
        "movsd xmm6, [rbx + {sse} + 48]", "movsd xmm7, [rbx + {sse} + 56]", "mov rax, [rbx + {al}]",
        "call [rbx + {target}]",
        "mov [rbx + {rax}], rax", "mov [rbx + {rdx}], rdx", "movsd [rbx + {xmm0}], xmm0", "movsd [rbx + {xmm1}], xmm1",
        "lea rsp, [rbp - 16]", "pop r15", "pop rbx", "pop rbp", "ret",
        n = const offset_of!(NativeCall, n_stack_words),
        stack = const offset_of!(NativeCall, stack_words),
        ints = const offset_of!(NativeCall, int_regs),
        sse = const offset_of!(NativeCall, sse_regs),
        al = const offset_of!(NativeCall, al),
        target = const offset_of!(NativeCall, target),
        rax = const offset_of!(NativeCall, ret_rax),
        rdx = const offset_of!(NativeCall, ret_rdx),
        xmm0 = const offset_of!(NativeCall, ret_xmm0),
        xmm1 = const offset_of!(NativeCall, ret_xmm1),
    )
}

/// In place of the thunk for arguments in registers.
#[unsafe(naked)]
unsafe extern "C" fn plain_native_thunk() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "mov eax, 8",
        "call r9",
        "pop rbp",
        "ret"
    )
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pair(u64, u64);
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
struct Big(u64, u64, i32, i32, u64);

extern "C" fn native_sum(
    a: i8,
    b: u16,
    c: i64,
    d: f32,
    e: f64,
    big: Big,
    f: i32,
    g: i64,
    pair: Pair,
    h: i64,
    i: f64,
    j: f64,
    k: f64,
    l: f64,
    m: f64,
    n: f64,
    o: f64,
    p: i16,
) -> f64 {
    let ints = i64::from(a)
        + i64::from(b) * 2
        + c * 3
        + i64::from(f) * 4
        + g * 5
        + h * 6
        + i64::from(p) * 7;
    let structs = big.0 as i64
        + i64::from(big.2) * 2
        + big.4 as i64 * 3
        + pair.0 as i64 * 4
        + pair.1 as i64 * 5;
    f64::from(d) + e * 2.0 + i + j + k + l + m + n * 3.0 + o * 4.0 + (ints + structs) as f64
}
extern "C" fn native_big(a: i64, b: i32) -> Big {
    Big(a as u64, 2, b, 4, 5)
}
extern "C" fn native_pair(a: i64) -> Pair {
    Pair(a as u64, 17)
}
/// Integers and floats in turn: each kind has registers of its own.
extern "C" fn native_mix(a: i8, b: f32, c: u16, d: f64, e: i64, f: f64, g: u32, h: i16) -> f32 {
    let ints = i64::from(a) + i64::from(c) * 2 + e * 3 + i64::from(g) * 4 + i64::from(h) * 5;
    b + d as f32 * 2.0 + f as f32 * 3.0 + ints as f32
}
/// Leaves what it likes above the low byte of the result.
extern "C" fn native_small(a: i64) -> i8 {
    a as i8
}
/// True is whatever is not 0 in the low four bytes.
extern "C" fn native_bool(a: i32) -> u64 {
    0xffff_ffff_0000_0000 | a as u64
}

/// A managed function that does an unmanaged `calli` of its first argument with the others.
fn calli(
    codegen: &Codegen,
    module: ModuleRef,
    ret: ClassRef,
    params: &[ClassRef],
) -> (LoweredSignature, Blob) {
    let native: &'static MethodSig = Box::leak(Box::new(sig(false, ret, params)));
    let mut all = vec![known(module, Known::IntPtr)];
    all.extend(params);
    let lowered = lowered(false, ret, &all);
    let blob = build(
        codegen,
        Tier::Quick,
        "calli",
        lowered.clif.clone(),
        |e, args| {
            let first = lowered.first_value(0);
            let mut rest = args.to_vec();
            let target = rest.remove(first);
            let results = pinvoke::emit_native_call(e, native, target, &rest)?;
            e.b.ins().return_(&results);
            Ok(())
        },
    );
    (lowered, blob.expect("it compiles"))
}

fn link_native(symbol: Symbol) -> usize {
    match symbol {
        Symbol::NativeThunk => native_thunk as *const () as usize,
        Symbol::PlainNativeThunk | Symbol::ScalarNativeThunk => {
            plain_native_thunk as *const () as usize
        }
        other => unresolved(other),
    }
}

#[test]
fn native_calls_place_their_arguments() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let k = |which| known(module, which);
    let (long, double, int) = (k(Known::Int64), k(Known::Double), k(Known::Int32));
    let (big, pair) = (k(Known::NativeOverlapped), k(Known::Guid));
    let params = [
        k(Known::SByte),
        k(Known::UInt16),
        long,
        k(Known::Single),
        double,
        big,
        int,
        long,
        pair,
        long,
        double,
        double,
        double,
        double,
        double,
        double,
        double,
        k(Known::Int16),
    ];
    let (lowered, blob) = calli(&codegen, module, double, &params);
    let code = arena.link(&blob, &link_native);
    let (b, p) = (Big(100, 0, -3, 0, 7), Pair(11, 13));
    let minus = |v: i32| v as u32 as u64;
    let args = [
        native_sum as *const () as u64,
        minus(-1),
        2,
        3,
        4.5f32.to_bits() as u64,
        5.25f64.to_bits(),
        &raw const b as u64,
        minus(-6),
        7,
        &raw const p as u64,
        8,
        9f64.to_bits(),
        10f64.to_bits(),
        11f64.to_bits(),
        12f64.to_bits(),
        13f64.to_bits(),
        14f64.to_bits(),
        15f64.to_bits(),
        minus(-16),
    ];
    let mut ret = [0u64];
    assert_eq!(
        call(&mut arena, &codegen, &lowered, code, &args, &mut ret),
        0
    );
    let expected = native_sum(
        -1, 2, 3, 4.5, 5.25, b, -6, 7, p, 8, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, -16,
    );
    assert_eq!(f64::from_bits(ret[0]), expected);

    let (lowered, blob) = calli(&codegen, module, big, &[long, int]);
    let code = arena.link(&blob, &link_native);
    let mut result = Big(0, 0, 0, 0, 0);
    let args = [
        &raw mut result as u64,
        native_big as *const () as u64,
        1,
        minus(-3),
    ];
    assert_eq!(
        call(&mut arena, &codegen, &lowered, code, &args, &mut []),
        0
    );
    assert_eq!(result, Big(1, 2, -3, 4, 5));

    let (lowered, blob) = calli(&codegen, module, pair, &[long]);
    let code = arena.link(&blob, &link_native);
    let mut result = Pair(0, 0);
    let args = [&raw mut result as u64, native_pair as *const () as u64, 9];
    assert_eq!(
        call(&mut arena, &codegen, &lowered, code, &args, &mut []),
        0
    );
    assert_eq!(result, Pair(9, 17));
}

/// Calls whose arguments and result travel in registers: their call has no block. What is left in the upper bits of a register has no meaning.
#[test]
fn native_calls_leave_arguments_in_registers() {
    let Some(module) = corlib() else { return };
    let (codegen, mut arena) = (codegen(), Arena::new());
    let k = |which| known(module, which);
    let (long, double) = (k(Known::Int64), k(Known::Double));
    let minus = |v: i32| v as u32 as u64;
    let mut ret = [0u64];
    let single = k(Known::Single);
    let params = [
        k(Known::SByte),
        single,
        k(Known::UInt16),
        double,
        long,
        double,
        k(Known::UInt32),
        k(Known::Int16),
    ];
    let (lowered, blob) = calli(&codegen, module, single, &params);
    let code = arena.link(&blob, &link_native);
    let args = [
        native_mix as *const () as u64,
        minus(-1),
        2.5f32.to_bits() as u64,
        3,
        4.5f64.to_bits(),
        5,
        6.5f64.to_bits(),
        7,
        minus(-8),
    ];
    assert_eq!(
        call(&mut arena, &codegen, &lowered, code, &args, &mut ret),
        0
    );
    assert_eq!(
        f32::from_bits(ret[0] as u32),
        native_mix(-1, 2.5, 3, 4.5, 5, 6.5, 7, -8)
    );

    let (lowered, blob) = calli(&codegen, module, k(Known::SByte), &[long]);
    let code = arena.link(&blob, &link_native);
    let args = [native_small as *const () as u64, 0x1234_5680];
    assert_eq!(
        call(&mut arena, &codegen, &lowered, code, &args, &mut ret),
        0
    );
    assert_eq!(ret[0] as i32, -128);

    let (lowered, blob) = calli(&codegen, module, k(Known::Boolean), &[k(Known::Boolean)]);
    let code = arena.link(&blob, &link_native);
    for (given, expected) in [(0, 0), (1, 1), (0x40, 1)] {
        assert_eq!(
            call(
                &mut arena,
                &codegen,
                &lowered,
                code,
                &[native_bool as *const () as u64, given],
                &mut ret
            ),
            0
        );
        assert_eq!(ret[0], expected);
    }
}
