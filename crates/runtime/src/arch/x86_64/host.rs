//! From the code of a host straight into managed code: what `foreign::enter`, an invocation and the way back do, where nothing has to be looked up.
//!
//! # Invariants
//! * Whatever is not the plain case goes to Rust code, with the registers of the call as they were and the state as it was.
//! * What a stopper may change of the context, the domain above all, is read in Runtime state, behind the test of the stop word.
//! * The argument registers lie above the entry record, where native frames are scanned, until managed code has them.
use super::{DOMAIN, FOREIGN, MANAGED, MANAGED_BASE, NATIVE_SP, PENDING, RECORD, RUNTIME, STATE};
use crate::safepoint::stop_word::STOP;
use std::arch::naked_asm;
use std::mem::offset_of;
use vervet_abi::context::RecordKind;

/// What a straight call is made of. Nothing of it changes.
#[repr(C)]
#[derive(Debug)]
pub struct StraightCall {
    /// Where the call goes when it is not the plain case: with r10 = `record`.
    pub fallback: usize,
    /// What the fallback gets.
    pub record: usize,
    /// The word stub (`code/invoke.rs`).
    pub stub: usize,
    /// Address of the slot that leads to the method's code in the domain.
    pub slot: usize,
    /// Words of arguments, `this` included; the one behind them is the address of the variable for the exception.
    pub count: usize,
    /// 0: the first word is an object, and null is not the plain case. 1: it is anything.
    pub any_first: usize,
    /// Id of the domain that the slot belongs to.
    pub domain: u32,
}

/// A call by C: r10 = [`StraightCall`], at most six words in general registers. The exception's variable is written in either case; the result is what the
/// method left in rax, or 0.
///
/// # Safety
/// Entered by code that loads r10, called as the method's thunk is.
#[unsafe(naked)]
pub unsafe extern "C" fn straight_call() {
    naked_asm!(
        caller_is!(in_records),
        "push rbp",
        "mov rbp, rsp",
        "lea rax, [rip + vervet_current_context@TLSDESC]",
        "call qword ptr [rax + vervet_current_context@TLSCALL]",
        "mov rax, qword ptr fs:[rax]",
        "test rax, rax",
        "jz 4f",
        "mov r11, rdi",
        "or r11, [r10 + {any_first}]",
        "jz 4f",
        "cmp byte ptr [rax + {state}], {foreign}",
        "jne 4f",
        // A green thread, or one whose stack grows.
        "cmp qword ptr [rax + {managed_base}], 0",
        "jne 4f",
        // The state first, then the word, as everyone who leaves a native state.
        "mov byte ptr [rax + {state}], {runtime}",
        "cmp dword ptr [rip + {stop}], 0",
        "jne 3f",
        // Not before: an unload sends threads home that are in a host's code.
        "mov r11d, [r10 + {domain}]",
        "cmp [rax + {current_domain}], r11d",
        "jne 3f",
        push_callee_saved!(),
        "push qword ptr [rax + {native_sp}]",
        "push r10",
        "push r9",
        "push r8",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push 0",
        "push 0",
        "push 0",
        "push rbp",
        "push rbp",
        "push {entry}",
        "push qword ptr [rax + {record}]",
        "mov r15, rax",
        "mov [r15 + {record}], rsp",
        "mov byte ptr [r15 + {state}], {managed}",
        "mov rdi, [r10 + {slot}]",
        "mov rdi, [rdi]",
        "lea rsi, [rbp - 104]",
        "lea rdx, [rbp - 112]",
        "mov rcx, r15",
        "call [r10 + {stub}]",
        "mov byte ptr [r15 + {state}], {runtime}",
        "mov r11, [rbp - 160]",
        "mov [r15 + {record}], r11",
        // The exception, if there is one, and where it goes.
        "mov r10, [rbp - 56]",
        "mov r10, [r10 + {count}]",
        "mov r10, [rbp + 8 * r10 - 104]",
        "xor r11d, r11d",
        "test eax, eax",
        "mov rax, [rbp - 112]",
        "jnz 5f",
        "2: test r10, r10",
        "jz 6f",
        "mov [r10], r11",
        "6: mov byte ptr [r15 + {state}], {foreign}",
        "lea rsp, [rbp - 40]",
        pop_callee_saved!(),
        "pop rbp",
        "ret",
        // A stop is under way, the kernel gives no process fence, or it is another domain.
        "3: mov byte ptr [rax + {state}], {foreign}",
        "4: pop rbp",
        "mov r11, [r10 + {fallback}]",
        "mov r10, [r10 + {fallback_record}]",
        "jmp r11",
        "5: mov r11, [r15 + {pending}]",
        "mov qword ptr [r15 + {pending}], 0",
        "xor eax, eax",
        "jmp 2b",
        caller_is!(end),
        any_first = const offset_of!(StraightCall, any_first),
        domain = const offset_of!(StraightCall, domain),
        slot = const offset_of!(StraightCall, slot),
        stub = const offset_of!(StraightCall, stub),
        count = const offset_of!(StraightCall, count),
        fallback = const offset_of!(StraightCall, fallback),
        fallback_record = const offset_of!(StraightCall, record),
        state = const STATE,
        current_domain = const DOMAIN,
        managed_base = const MANAGED_BASE,
        native_sp = const NATIVE_SP,
        record = const RECORD,
        pending = const PENDING,
        entry = const RecordKind::Entry as usize,
        foreign = const FOREIGN,
        runtime = const RUNTIME,
        managed = const MANAGED,
        stop = sym STOP,
    )
}
