//! Instruction sequences that several thunks share.
//!
//! # The frame of a thunk that leaves managed code
//! ```text
//!   rbp + 8    return address into managed code (the record's pc)
//!   rbp        the caller's rbp (the record's fp)
//!   rbp - 32   rbx, r12, r13, r14: managed code may hold references in them
//!   rbp - 80   r9, r8, rcx, rdx, rsi, rdi: the integer arguments, which may be references
//!   rbp - 128  the record: previous, kind, sp, fp, pc, method
//! ```
//! The frame lies on the managed stack, and everything that the callee needs lies on the native stack: [`to_native_stack`]. The collector
//! scans the native stack from `scan_sp` upwards and the managed stack from the record upwards (both at once where they are one
//! stack). So it finds every reference that managed code had in a register.

/// Notes for the walker ([`unwind`](super::unwind)) where the caller of the thunk is, from here to the next note.
macro_rules! caller_is {
    ($rule:ident) => {
        concat!(
            "
    77:
    .pushsection vervet_thunk_rows,\"aR\",@progbits
    .balign 4
    .long 77b - .
    .long ",
            rule_number!($rule),
            "
    .popsection
"
        )
    };
}

/// The number of a [`Rule`](super::unwind::Rule) as text.
macro_rules! rule_number {
    (end) => {
        "0"
    };
    (at_sp) => {
        "1"
    };
    (at_sp_8) => {
        "2"
    };
    (in_frame) => {
        "3"
    };
    (in_records) => {
        "4"
    };
    (in_r11) => {
        "5"
    };
    (in_frame_moved) => {
        "6"
    };
    (exact_at_sp) => {
        "7"
    };
    (exact_at_sp_8) => {
        "8"
    };
    (exact_in_frame) => {
        "9"
    };
    (target_frame_in_rdx) => {
        "10"
    };
    (target_frame_in_rbp) => {
        "11"
    };
}

/// Pushes what every exit pushes: rbp frame, callee-saved registers, integer argument registers (rdi at
/// [rbp-80]), and the record (at rbp-128). r11 = method.
macro_rules! push_exit {
    ($kind:literal) => {
        push_exit!($kind, at_sp, at_sp_8, in_frame)
    };
    ($kind:literal, $at_sp:ident, $at_sp_8:ident, $in_frame:ident) => {
        concat!(
            caller_is!($at_sp),
            "
    push rbp
    ",
            caller_is!($at_sp_8),
            "
    mov rbp, rsp
    ",
            caller_is!($in_frame),
            "
    push rbx
    push r12
    push r13
    push r14
    push r9
    push r8
    push rcx
    push rdx
    push rsi
    push rdi
    push r11
    push qword ptr [rbp + 8]
    push qword ptr [rbp]
    lea r11, [rbp + 16]
    push r11
    push ",
            $kind,
            "
    mov r11, [r15 + {record}]
    push r11
    mov [r15 + {record}], rsp
",
            caller_is!(in_records)
        )
    };
}

/// As [`push_exit`] for a call whose arguments refer to nothing: argument registers are not pushed. The record before is in r11 then, as behind [`push_exit`].
macro_rules! push_exit_of_scalars {
    ($kind:literal) => {
        concat!(
            caller_is!(at_sp),
            "
    push rbp
    ",
            caller_is!(at_sp_8),
            "
    mov rbp, rsp
    ",
            caller_is!(in_frame),
            "
    push rbx
    push r12
    push r13
    push r14
    push r11
    push qword ptr [rbp + 8]
    push qword ptr [rbp]
    lea r11, [rbp + 16]
    push r11
    push ",
            $kind,
            "
    mov r11, [r15 + {record}]
    push r11
    mov [r15 + {record}], rsp
",
            caller_is!(in_records)
        )
    };
}

/// As [`push_exit`] of a helper, with the flags and rbx as the only ones that change. What was in rbx is at rbp - 8.
macro_rules! push_exit_preserving {
    () => {
        concat!(
            caller_is!(at_sp),
            "
    push rbp
    ",
            caller_is!(at_sp_8),
            "
    mov rbp, rsp
    ",
            caller_is!(in_frame),
            "
    push rbx
    push r12
    push r13
    push r14
    push r9
    push r8
    push rcx
    push rdx
    push rsi
    push rdi
    push 0
    push qword ptr [rbp + 8]
    push qword ptr [rbp]
    lea rbx, [rbp + 16]
    push rbx
    push 0
    push qword ptr [r15 + {record}]
    mov [r15 + {record}], rsp
",
            caller_is!(in_records)
        )
    };
}

/// Takes the record of [`push_exit`] out of the list. Changes r11.
macro_rules! unlink_exit {
    () => {
        concat!(
            "
    mov r11, [rbp - 128]
    mov [r15 + {record}], r11
",
            caller_is!(in_frame)
        )
    };
}

/// Goes to the native stack. On a thread with one stack for all, the native frames follow below the stack pointer. Changes flags.
///
/// (A branch, which is predicted: with a conditional move whatever lies on the stack would wait for the load.)
macro_rules! to_native_stack {
    () => {
        "
    cmp qword ptr [r15 + {native_sp}], 0
    je 97f
    mov rsp, [r15 + {native_sp}]
97:
"
    };
}

/// Where the stack pointer is the address of the entry record that was just linked: goes to the managed stack, below the record by
/// which managed code was left before, or to its base. The way back is by the frame pointer. Changes r10, r11 and flags.
macro_rules! to_managed_stack {
    () => {
        "
    mov r10, [r15 + {managed_base}]
    test r10, r10
    cmovz r10, rsp
    jz 99f
    mov [r15 + {native_sp}], rsp
    mov r11, [rsp]
    test r11, r11
    cmovnz r10, r11
    and r10, -16
    99: mov rsp, r10
"
    };
}

/// Pushes the callee-saved registers of the C calling convention, but for rbp.
macro_rules! push_callee_saved {
    () => {
        "
    push rbx
    push r12
    push r13
    push r14
    push r15
"
    };
}

/// Goes on where the stack with the pointer in rax was left.
macro_rules! resume_rax {
    () => {
        "
    mov rsp, rax
    pop rcx
    jmp rcx
"
    };
}

/// Undoes [`push_callee_saved`].
macro_rules! pop_callee_saved {
    () => {
        "
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbx
"
    };
}

/// Saves the vector argument registers at rsp (128 bytes).
macro_rules! save_vectors {
    () => {
        "
    movups [rsp], xmm0
    movups [rsp + 16], xmm1
    movups [rsp + 32], xmm2
    movups [rsp + 48], xmm3
    movups [rsp + 64], xmm4
    movups [rsp + 80], xmm5
    movups [rsp + 96], xmm6
    movups [rsp + 112], xmm7
"
    };
}

/// Undoes [`save_vectors`].
macro_rules! load_vectors {
    () => {
        "
    movups xmm0, [rsp]
    movups xmm1, [rsp + 16]
    movups xmm2, [rsp + 32]
    movups xmm3, [rsp + 48]
    movups xmm4, [rsp + 64]
    movups xmm5, [rsp + 80]
    movups xmm6, [rsp + 96]
    movups xmm7, [rsp + 112]
"
    };
}

/// Waits while the world is stopped. Keeps rax.
macro_rules! wait_for_restart {
    () => {
        "
    test byte ptr [rip + {stop}], {stopping}
    jz 6f
    push rax
    push rax
    mov rdi, r15
    call {park}
    pop rax
    pop rax
    6:
"
    };
}

/// At label 7 a thread that found the stop word set when it left Native waits, and goes on at 4.
macro_rules! leave_native_slowly {
    () => {
        "
    7: mov rdi, r15
    mov [r15 + {scan_sp}], rsp
    call {leave}
    jmp 4b
"
    };
}

/// At label 8 a green thread says that it may hold its carrier up, and goes on at 9; at 11 it waits for a processor, and goes on at 12.
macro_rules! green_native_call {
    () => {
        "
    8: mov byte ptr [r15 + {state}], {runtime}
    mov rdi, r15
    call {enter_green}
    jmp 9b
    11: mov rdi, r15
    call {leave_green}
    jmp 12b
"
    };
}

/// Pushes the result of a native call, 32 bytes, while a function of ours is called: it is scanned there.
macro_rules! save_result {
    () => {
        "
    push rax
    push rax
    sub rsp, 16
    movsd [rsp], xmm0
"
    };
}
/// Undoes [`save_result`].
macro_rules! restore_result {
    () => {
        "
    movsd xmm0, [rsp]
    mov rax, [rsp + 16]
    add rsp, 32
"
    };
}

/// Undoes the frame, returns, and pops r11 bytes of stack arguments: the saved frame pointer and the return address move above them.
macro_rules! return_and_pop_r11 {
    () => {
        concat!(
            "
    push qword ptr [rbp + 8]
    pop qword ptr [rbp + r11 + 8]
    push qword ptr [rbp]
    pop qword ptr [rbp + r11]
",
            caller_is!(in_frame_moved),
            "
    lea rbp, [rbp + r11]
",
            caller_is!(in_frame),
            "
    mov rsp, rbp
    pop rbp
",
            caller_is!(at_sp),
            "
    ret
",
            caller_is!(in_records),
        )
    };
}

/// Loads the integer argument registers that [`push_exit`] pushed.
macro_rules! load_integers {
    () => {
        "
    mov rdi, [rbp - 80]
    mov rsi, [rbp - 72]
    mov rdx, [rbp - 64]
    mov rcx, [rbp - 56]
    mov r8, [rbp - 48]
    mov r9, [rbp - 40]
"
    };
}

/// Undoes [`save_vectors`], [`to_native_stack`] and [`push_exit`], becomes managed and goes on at the code in rax with the registers as
/// the caller left them; label 5 raises what is pending instead.
macro_rules! go_on_at_rax {
    () => {
        concat!(
            wait_for_restart!(),
            load_vectors!(),
            "
",
            load_integers!(),
            unlink_exit!(),
            "
    mov rsp, rbp
    mov byte ptr [r15 + {state}], {managed}
    pop rbp
",
            caller_is!(at_sp),
            "
    jmp rax
",
            caller_is!(in_records),
            "
    5: mov rdi, r15
    jmp {throw}
"
        )
    };
}

/// Stores all vector registers at the stack pointer: 256 bytes.
macro_rules! store_all_vectors {
    () => {
        "
    movups [rsp], xmm0
    movups [rsp + 16], xmm1
    movups [rsp + 32], xmm2
    movups [rsp + 48], xmm3
    movups [rsp + 64], xmm4
    movups [rsp + 80], xmm5
    movups [rsp + 96], xmm6
    movups [rsp + 112], xmm7
    movups [rsp + 128], xmm8
    movups [rsp + 144], xmm9
    movups [rsp + 160], xmm10
    movups [rsp + 176], xmm11
    movups [rsp + 192], xmm12
    movups [rsp + 208], xmm13
    movups [rsp + 224], xmm14
    movups [rsp + 240], xmm15
        "
    };
}

/// Undoes [`store_all_vectors`].
macro_rules! load_all_vectors {
    () => {
        "
    movups xmm0, [rsp]
    movups xmm1, [rsp + 16]
    movups xmm2, [rsp + 32]
    movups xmm3, [rsp + 48]
    movups xmm4, [rsp + 64]
    movups xmm5, [rsp + 80]
    movups xmm6, [rsp + 96]
    movups xmm7, [rsp + 112]
    movups xmm8, [rsp + 128]
    movups xmm9, [rsp + 144]
    movups xmm10, [rsp + 160]
    movups xmm11, [rsp + 176]
    movups xmm12, [rsp + 192]
    movups xmm13, [rsp + 208]
    movups xmm14, [rsp + 224]
    movups xmm15, [rsp + 240]
        "
    };
}
