//! The allocation sequence, run on TLABs of every size: what it writes, when it takes the slow path, and in what order.
use crate::emit::{Codegen, Emitter, Request, trusted};
use crate::options::{AllocProtection, Options, Tier};
use crate::stubs::tests::{Arena, context, unresolved};
use crate::translate::fast_paths::alloc::{Piece, Size, allocate_many, allocate_or};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types::*};
use cranelift_codegen::isa::CallConv;
use std::arch::naked_asm;
use vervet_abi::context::{self as offsets, ThreadContext};

/// An address that no memory is at; the sequence only stores it.
const VTABLE: i64 = 0x0123_4560;
/// Every way to protect an allocation.
const PROTECTIONS: [AllocProtection; 3] = [
    AllocProtection::CriticalFlag,
    AllocProtection::StoreOrder,
    AllocProtection::None,
];

/// Calls `code(argument)`, a Tail function, with that thread context in r15.
#[unsafe(naked)]
unsafe extern "C" fn run(_code: usize, _argument: i64, _cx: *mut ThreadContext) -> i64 {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push r15",
        "sub rsp, 8",
        "mov r15, rdx",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "add rsp, 8",
        "pop r15",
        "pop rbp",
        "ret"
    )
}

/// A code generator with that protection.
fn codegen(allocation: AllocProtection) -> Codegen {
    Codegen::new(&Options {
        verify: true,
        allocation,
        ..Options::default()
    })
}

/// A function of one argument that returns what `emit` emits.
fn compile(
    codegen: &Codegen,
    tier: Tier,
    emit: impl FnOnce(&mut Emitter<'_>, Value) -> Value,
) -> crate::Blob {
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.push(AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I64));
    let request = Request {
        name: "a test's",
        signature,
        tier,
        listing: true,
    };
    let emitted = codegen.function(request, |e| {
        let argument = e.params()[0];
        let value = emit(e, argument);
        e.b.ins().return_(&[value]);
        Ok(())
    });
    emitted.map(|(blob, _)| blob).expect("it compiles")
}

/// The slow path of the tests: returns 1 plus the critical flag, so 1 if the flag is clear.
fn slow(e: &mut Emitter<'_>) -> Value {
    let cx = e.context();
    let flag = e.b.ins().uload8(I64, trusted(), cx, offsets::CRITICAL);
    e.b.ins().iadd_imm_s(flag, 1)
}

/// Runs the code on a TLAB of that many words in zeroed memory: result, words taken or None, memory.
fn on_tlab(code: usize, argument: i64, words: usize) -> (i64, usize, Vec<u64>) {
    let mut memory = vec![0u64; 2048];
    let start = memory.as_mut_ptr() as usize;
    let mut cx = context();
    (cx.alloc_next, cx.alloc_end) = (start, start + 8 * words);
    // SAFETY: the code was made by `compile`, for this signature, and writes only between `alloc_next` and
    // `alloc_end`, which lie in `memory`.
    let result = unsafe { run(code, argument, &mut *cx) };
    assert_eq!(cx.critical, 0);
    assert_eq!(cx.alloc_end, start + 8 * words);
    let taken = (cx.alloc_next - start) / 8;
    if taken != 0 {
        assert_eq!(result as usize, start);
    }
    (result, taken, memory)
}

#[test]
fn objects_take_what_fits() {
    for protection in PROTECTIONS {
        let codegen = codegen(protection);
        for tier in [Tier::Quick, Tier::Optimised] {
            let blob = compile(&codegen, tier, |e, _| {
                let piece = Piece {
                    vtable: e.b.ins().iconst(I64, VTABLE),
                    size: Size::Known(24),
                    length: None,
                };
                allocate_or(e, piece, slow)
            });
            let code = Arena::new().link(&blob, &unresolved);
            for words in 0..3 {
                let (result, taken, memory) = on_tlab(code, 0, words);
                assert_eq!((result, taken), (1, 0), "{protection:?} {tier:?}");
                assert!(memory.iter().all(|w| *w == 0));
            }
            for words in [3, 4, 100] {
                let (_, taken, memory) = on_tlab(code, 0, words);
                assert_eq!(taken, 3);
                assert_eq!(memory[..2], [VTABLE as u64, 0]);
            }
            // A TLAB that is empty, both ends 0.
            let mut cx = context();
            // SAFETY: the code was made by `compile`; with both ends 0 it writes nothing.
            assert_eq!(unsafe { run(code, 0, &mut *cx) }, 1);
            assert_eq!((cx.alloc_next, cx.alloc_end, cx.critical), (0, 0, 0));
        }
    }
}

#[test]
fn lengths_give_sizes() {
    // Offset of the elements (of a string: and the terminator), their size, the longest that is no large object.
    for (offset, element, longest) in [
        (16, 1, 8176),
        (16, 2, 4088),
        (16, 4, 2044),
        (16, 8, 1022),
        (16, 12, 681),
        (16, 9000, 0),
        (14, 2, 4089),
    ] {
        let codegen = codegen(AllocProtection::CriticalFlag);
        for tier in [Tier::Quick, Tier::Optimised] {
            let blob = compile(&codegen, tier, |e, argument| {
                let vtable = e.b.ins().iconst(I64, VTABLE);
                let length = e.b.ins().ireduce(I32, argument);
                allocate_many(e, vtable, (offset, 8), element, length, slow)
            });
            let code = Arena::new().link(&blob, &unresolved);
            for length in [0, 1, 2, 3, 5, longest - 1, longest] {
                if !(0..=longest).contains(&length) {
                    continue;
                }
                let words = (offset as usize + length as usize * element as usize).div_ceil(8);
                let (_, taken, memory) = on_tlab(code, length, words);
                assert_eq!(taken, words, "{length} of {element}");
                assert_eq!(memory[0], VTABLE as u64);
                assert_eq!(memory[1], length as u64);
                assert!(memory[2..].iter().all(|w| *w == 0));
                assert_eq!(on_tlab(code, length, words - 1).0, 1);
            }
            for length in [-1, i64::from(i32::MIN), i64::from(i32::MAX), longest + 1] {
                let (result, taken, _) = on_tlab(code, length, 1500);
                assert_eq!((result, taken), (1, 0), "{length} of {element}");
            }
        }
    }
}

/// Two allocations in a row: no flag store is merged away, `next` is read inside the region and stored last.
#[test]
fn the_region_holds_the_sequence() {
    let codegen = codegen(AllocProtection::CriticalFlag);
    let blob = compile(&codegen, Tier::Optimised, |e, _| {
        let mut last = None;
        for _ in 0..2 {
            let piece = Piece {
                vtable: e.b.ins().iconst(I64, VTABLE),
                size: Size::Known(16),
                length: Some((e.b.ins().iconst(I32, 2), 8)),
            };
            last = Some(allocate_or(e, piece, slow));
        }
        last.expect("two objects")
    });
    let listing = blob.listing.expect("it was asked for");
    let (_, machine) = listing
        .split_once("\n}\n")
        .expect("CLIF, then machine code");
    let kinds: Vec<char> = machine
        .lines()
        .filter_map(|l| {
            let l = l.trim();
            let critical = format!("{:#x}(", offsets::CRITICAL);
            let next = format!("{:#x}(", offsets::ALLOC_NEXT);
            Some(match l {
                _ if l.starts_with("movb $0x1,") && l.contains(&critical) => '[',
                _ if l.starts_with("movb $0x0,") && l.contains(&critical) => ']',
                _ if l.starts_with("movq") && l.contains(&format!("{next}%r")) => {
                    if l.ends_with(')') { 'S' } else { 'L' }
                }
                _ if l.starts_with("movl $0x2, 8(") => 'n',
                _ => return None,
            })
        })
        .collect();
    let order: String = kinds.into_iter().collect();
    // The fast path first, then the two slow ones, which only clear the flag.
    assert_eq!(order, "[LnS][LnS]]]", "{machine}");
}
