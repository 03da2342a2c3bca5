//! Functions without a frame: those that call nothing, keep nothing on the stack and do not loop.
//!
//! Cranelift gives every function a frame. Saving the frame pointer and loading it again is most of the time of a small function, because each
//! such pair waits for the one before it. So both are replaced by instructions of the same length that do nothing:
//!
//! ```text
//! push rbp; mov rbp, rsp     ->  MARK, by which a walk of the stack knows such a function
//! mov rsp, rbp; pop rbp      ->  nop
//! ```
//!
//! # Invariants
//! * In such a function the return address is at the stack pointer, and the frame pointer is the caller's, at every instruction.
//! * The collector and requests never find a thread in it for long: it has neither calls nor loops. Nothing is called from between two of its
//!   instructions (`prologue_end` is 0), and no handler is in it.
//! * It may trap. The runtime makes the frame then, before it raises the exception.
//! * What looks like the end of the frame stands in front of a return or a jump, and is counted against the returns of the CLIF: bytes of a constant
//!   that look the same make the numbers differ, and the function keeps its frame.
use super::finish::Finished;
use crate::blob::Blob;
use cranelift_codegen::ir::{Function, Opcode};

/// `nop dword [rax + 0x5A]`, the first bytes of a function without a frame. No other function begins so.
pub const MARK: [u8; 4] = [0x0F, 0x1F, 0x40, 0x5A];
/// `push rbp; mov rbp, rsp`.
const ENTER: [u8; 4] = [0x55, 0x48, 0x89, 0xE5];
/// `mov rsp, rbp; pop rbp`.
const LEAVE: [u8; 4] = [0x48, 0x89, 0xEC, 0x5D];
/// `nop dword [rax]`.
const NOP: [u8; 4] = [0x0F, 0x1F, 0x40, 0x00];

/// Takes the frame out of a function that needs none; nothing stands in front of its body.
pub(super) fn take_out(blob: &mut Blob, f: &Finished<'_>) {
    let stays = f.stack_arg_bytes.max(f.tail_bytes) > 0
        || blob.frame_size > 0
        || !blob.call_sites.is_empty()
        || !blob.code.starts_with(&ENTER);
    if stays {
        return;
    }
    let Some(ends) = ends_of_leaf(f.function) else {
        return;
    };
    let leaves = |code: &[u8]| {
        let at = code.windows(LEAVE.len()).enumerate();
        at.filter_map(|(at, bytes)| (bytes == LEAVE).then_some(at))
            .collect::<Vec<_>>()
    };
    // Each return has one end of the frame in front of it; returns that Cranelift found to be unreachable have none.
    let found = leaves(&blob.code);
    let leaves_function = |at: &usize| {
        // ret, ret n; jmp near, jmp [rip + n] or a register, jmp of one with a prefix
        matches!(
            blob.code.get(at + LEAVE.len()),
            Some(0xC3 | 0xC2 | 0xE9 | 0xFF | 0x41)
        )
    };
    if found.len() != ends || !found.iter().all(leaves_function) {
        return;
    }
    for at in found {
        blob.code[at..at + NOP.len()].copy_from_slice(&NOP);
    }
    blob.code[..MARK.len()].copy_from_slice(&MARK);
    blob.prologue_end = 0;
}

/// How many instructions leave a function that goes forward only, calls nothing and does not ask for its frame; None: it is another one.
fn ends_of_leaf(function: &Function) -> Option<usize> {
    let (mut ends, mut seen) = (0, rustc_hash::FxHashSet::default());
    for block in function.layout.blocks() {
        seen.insert(block);
        for inst in function.layout.block_insts(block) {
            let data = &function.dfg.insts[inst];
            match data.opcode() {
                Opcode::Return | Opcode::ReturnCall | Opcode::ReturnCallIndirect => ends += 1,
                Opcode::GetFramePointer | Opcode::GetStackPointer | Opcode::GetReturnAddress => {
                    return None;
                }
                other if other.is_call() => return None,
                _ => {}
            }
            let tables = (&function.dfg.jump_tables, &function.dfg.exception_tables);
            // In the order of the blocks only, so some functions without loops count as having one.
            let goes_back = data
                .branch_destination(tables.0, tables.1)
                .iter()
                .any(|to| seen.contains(&to.block(&function.dfg.value_lists)));
            if goes_back {
                return None;
            }
        }
    }
    Some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::sequences::build;
    use crate::emit::{Codegen, Emitter};
    use crate::options::{Options, Tier};
    use cranelift_codegen::ir::types::I64;
    use cranelift_codegen::ir::{AbiParam, BlockArg, InstBuilder, Signature, Value};
    use cranelift_codegen::isa::CallConv;

    /// The code of a function of two integers.
    fn compile(tier: Tier, body: impl FnOnce(&mut Emitter<'_>, &[Value])) -> Blob {
        let codegen = Codegen::new(&Options {
            verify: true,
            ..Options::default()
        });
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params = vec![AbiParam::new(I64); 2];
        signature.returns = vec![AbiParam::new(I64)];
        let name = "(a function of this test)";
        build(&codegen, tier, name, signature, |e, args| {
            body(e, args);
            Ok(())
        })
        .expect("it compiles")
    }
    fn is_frameless(blob: &Blob) -> bool {
        blob.code.starts_with(&MARK)
    }
    /// `a + constant`.
    fn add(e: &mut Emitter<'_>, args: &[Value], constant: i64) {
        let constant = e.b.ins().iconst(I64, constant);
        let sum = e.b.ins().iadd(args[0], constant);
        e.b.ins().return_(&[sum]);
    }

    #[test]
    fn a_leaf_has_no_frame() {
        let blob = compile(Tier::Optimised, |e, args| add(e, args, 1));
        assert!(is_frameless(&blob));
        assert!(!blob.code.windows(4).any(|bytes| bytes == LEAVE));
    }

    // One end of the frame is real, the other is a constant: nothing tells them apart.
    #[test]
    fn constants_that_look_like_the_end_of_a_frame_are_left_alone() {
        let blob = compile(Tier::Optimised, |e, args| {
            add(e, args, i64::from(u32::from_le_bytes(LEAVE)));
        });
        assert!(!is_frameless(&blob));
        assert_eq!(blob.code.windows(4).filter(|b| *b == LEAVE).count(), 2);
    }

    // A thread may be in it for long, and must be found by requests.
    #[test]
    fn a_loop_keeps_its_frame() {
        let blob = compile(Tier::Optimised, |e, args| {
            let head = e.b.create_block();
            let end = e.b.create_block();
            let n = e.b.append_block_param(head, I64);
            e.b.ins().jump(head, &[BlockArg::Value(args[0])]);
            e.b.switch_to_block(head);
            let less = e.b.ins().isub(n, args[1]);
            e.b.ins()
                .brif(less, head, &[BlockArg::Value(less)], end, &[]);
            e.b.switch_to_block(end);
            e.b.ins().return_(&[less]);
        });
        assert!(blob.code.starts_with(&ENTER));
    }
}
