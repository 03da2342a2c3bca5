//! Code written as bytes: the small stubs through which generated and native code reach the thunks.
//!
//! # Invariants
//! A stub changes only registers that its caller does not count on (rax, r10, r11, and those for arguments that its callee does not have; unboxing makes
//! rdi the address of the value), and ends in a jump.
use super::exits::{
    deferring_result_thunk, deferring_thunk, foreign_icall_thunk, icall_thunk, leaf_thunk,
    preserving_result_thunk, preserving_thunk,
};
use super::grow::grow;
use super::lazy::{imt_resolve, prestub, slot_resolve};
use super::native::{native_thunk, plain_native_thunk, reverse_entry, scalar_native_thunk};
use super::reentry::reentrant_thunk;
use super::{COLD_FUNCTION, HIDDEN};
use crate::code::perf;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_types::LoadError;

/// The thunk of one delegate: loads its record and goes to [`reverse_entry`].
pub fn reverse_thunk(record: usize) -> Vec<u8> {
    let mut c = vec![0x49, 0xBA]; // mov r10, record
    c.extend(record.to_le_bytes());
    jump(&mut c, reverse_entry as *const () as usize);
    c
}

static NEAR_PRESTUB: AtomicUsize = AtomicUsize::new(0);
static NEAR_IMT: AtomicUsize = AtomicUsize::new(0);
static NEAR_SLOT: AtomicUsize = AtomicUsize::new(0);
static NEAR_NATIVE: AtomicUsize = AtomicUsize::new(0);
static NEAR_PLAIN_NATIVE: AtomicUsize = AtomicUsize::new(0);
static NEAR_SCALAR_NATIVE: AtomicUsize = AtomicUsize::new(0);
static NEAR_GROW: AtomicUsize = AtomicUsize::new(0);

fn near(target: usize, name: &str) -> usize {
    // jmp [rip + 0]; address
    let mut code = [0u8; 16];
    code[..2].copy_from_slice(&[0xFF, 0x25]);
    code[6..14].copy_from_slice(&target.to_le_bytes());
    crate::code::arena::place_stub(code.to_vec(), || format!("(stub) {name}"))
        .expect("room at start-up")
}

/// Makes the jumps through which code in the arena reaches the thunks. Called once at start-up.
pub fn initialise() {
    NEAR_PRESTUB.store(
        near(prestub as *const () as usize, "prestub"),
        Ordering::Release,
    );
    NEAR_IMT.store(
        near(imt_resolve as *const () as usize, "imt_resolve"),
        Ordering::Release,
    );
    NEAR_SLOT.store(
        near(slot_resolve as *const () as usize, "slot_resolve"),
        Ordering::Release,
    );
    NEAR_NATIVE.store(
        near(native_thunk as *const () as usize, "native_thunk"),
        Ordering::Release,
    );
    NEAR_PLAIN_NATIVE.store(
        near(
            plain_native_thunk as *const () as usize,
            "plain_native_thunk",
        ),
        Ordering::Release,
    );
    NEAR_SCALAR_NATIVE.store(
        near(
            scalar_native_thunk as *const () as usize,
            "scalar_native_thunk",
        ),
        Ordering::Release,
    );
    NEAR_GROW.store(near(grow as *const () as usize, "grow"), Ordering::Release);
}
/// The prestub, as code in the arena reaches it.
pub fn near_prestub() -> usize {
    NEAR_PRESTUB.load(Ordering::Relaxed)
}
/// What every IMT entry holds at first.
pub fn imt_resolve_address() -> usize {
    NEAR_IMT.load(Ordering::Relaxed)
}
/// Bytes of a slot stub.
pub const SLOT_STUB: usize = 16;

/// Places `count` slot stubs one behind the other, for the slots from `first`: each goes to the resolver with the number of its slot. What
/// slots of VTables hold at first; the same stubs serve all VTables.
pub fn place_slot_stubs(first: u32, count: u32) -> Result<usize, LoadError> {
    let resolver = NEAR_SLOT.load(Ordering::Relaxed);
    let mut code = vec![0xCC; SLOT_STUB * count as usize];
    let patch = |code: &mut [u8], at: usize| {
        for (i, stub) in code.chunks_exact_mut(SLOT_STUB).enumerate() {
            let end = at + SLOT_STUB * i + 10;
            stub[0] = 0xB8; // mov eax, slot
            stub[1..5].copy_from_slice(&(first + i as u32).to_le_bytes());
            stub[5] = 0xE9; // jmp resolver
            stub[6..10].copy_from_slice(&((resolver as i64 - end as i64) as i32).to_le_bytes());
        }
    };
    let at = crate::code::arena::place(&mut code, SLOT_STUB, patch, |at| at)?;
    let last = first + count - 1;
    perf::stub(at, code.len(), || format!("(stub) slots {first} to {last}"));
    Ok(at)
}
/// The native thunk.
pub fn native_thunk_address() -> usize {
    NEAR_NATIVE.load(Ordering::Relaxed)
}
/// The native thunk for arguments in registers.
pub fn plain_native_thunk_address() -> usize {
    NEAR_PLAIN_NATIVE.load(Ordering::Relaxed)
}
/// The native thunk for arguments in registers, none of which is as wide as an address.
pub fn scalar_native_thunk_address() -> usize {
    NEAR_SCALAR_NATIVE.load(Ordering::Relaxed)
}
/// The grow thunk.
pub fn grow_address() -> usize {
    NEAR_GROW.load(Ordering::Relaxed)
}

/// Clears the integer argument registers behind the first `used`. The thunk pushes all of them, and the collector takes what it finds there for references:
/// an object that was passed to some call before would stay alive.
fn clear_behind(c: &mut Vec<u8>, used: u32) {
    const XOR: [&[u8]; 6] = [
        &[0x31, 0xFF],       // xor edi, edi
        &[0x31, 0xF6],       // xor esi, esi
        &[0x31, 0xD2],       // xor edx, edx
        &[0x31, 0xC9],       // xor ecx, ecx
        &[0x45, 0x31, 0xC0], // xor r8d, r8d
        &[0x45, 0x31, 0xC9], // xor r9d, r9d
    ];
    for xor in XOR.iter().skip(used as usize) {
        c.extend(*xor);
    }
}

/// A stub that calls `target` through the icall thunk for `method`, which has arguments in `used` integer registers and in that many bytes of the stack.
pub fn icall_stub(target: usize, method: usize, used: u32, stack_bytes: u32) -> Vec<u8> {
    let mut c = Vec::with_capacity(64);
    clear_behind(&mut c, used);
    c.extend([0x48, 0xB8]); // mov rax, target
    c.extend(target.to_le_bytes());
    c.extend([0x49, 0xBB]); // mov r11, method
    c.extend(method.to_le_bytes());
    c.extend([0x41, 0xBA]); // mov r10d, bytes
    c.extend(stack_bytes.to_le_bytes());
    jump(&mut c, icall_thunk as *const () as usize);
    c
}
/// How the result register of a C function becomes the word that managed code takes.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Extend {
    /// As it is.
    No = 0,
    /// The low 8 bits, unsigned.
    U1 = 1,
    /// The low 8 bits, signed.
    I1 = 2,
    /// The low 16 bits, unsigned.
    U2 = 3,
    /// The low 16 bits, signed.
    I2 = 4,
}
/// A stub that calls the host's function `target` through the foreign icall thunk for `method`.
pub fn foreign_icall_stub(
    target: usize,
    method: usize,
    (used, stack_bytes): (u32, u32),
    ext: Extend,
) -> Vec<u8> {
    let mut c = Vec::with_capacity(68);
    clear_behind(&mut c, used);
    c.extend([0x48, 0xB8]); // mov rax, target
    c.extend(target.to_le_bytes());
    c.extend([0x49, 0xBB]); // mov r11, method
    c.extend(method.to_le_bytes());
    c.extend([0x49, 0xBA]); // mov r10, extension and bytes
    c.extend((u64::from(stack_bytes) | (ext as u64) << 32).to_le_bytes());
    jump(&mut c, foreign_icall_thunk as *const () as usize);
    c
}
/// A stub that calls `target` through the reentrant thunk for `method`. It has no stack arguments.
pub fn reentrant_stub(target: usize, method: usize, used: u32) -> Vec<u8> {
    let mut c = Vec::with_capacity(56);
    clear_behind(&mut c, used);
    c.extend([0x48, 0xB8]); // mov rax, target
    c.extend(target.to_le_bytes());
    c.extend([0x49, 0xBB]); // mov r11, method
    c.extend(method.to_le_bytes());
    jump(&mut c, reentrant_thunk as *const () as usize);
    c
}
/// A stub that calls a helper's body and changes no register; with `defers`, an exception stays pending. The word of the context through which the address of the body travels is its thunk's alone.
pub fn preserving_stub(target: usize, has_result: bool, defers: bool) -> Vec<u8> {
    let mut c = Vec::with_capacity(40);
    for half in [0, 4] {
        c.extend([0x41, 0xC7, 0x87]); // mov dword ptr [r15 + cold_function + half], imm32
        c.extend((COLD_FUNCTION as u32 + half).to_le_bytes());
        c.extend(((target >> (8 * half)) as u32).to_le_bytes());
    }
    let thunk = match (has_result, defers) {
        (true, false) => preserving_result_thunk as *const (),
        (false, false) => preserving_thunk as *const (),
        (true, true) => deferring_result_thunk as *const (),
        (false, true) => deferring_thunk as *const (),
    };
    jump(&mut c, thunk as usize);
    c
}
/// A stub that calls a leaf helper.
pub fn leaf_stub(target: usize) -> Vec<u8> {
    let mut c = Vec::with_capacity(32);
    c.extend([0x48, 0xB8]);
    c.extend(target.to_le_bytes());
    jump(&mut c, leaf_thunk as *const () as usize);
    c
}
fn jump(c: &mut Vec<u8>, target: usize) {
    c.extend([0xFF, 0x25, 0, 0, 0, 0]);
    c.extend(target.to_le_bytes());
}

/// What an IMT stub leads to for one interface method.
#[derive(Clone, Copy)]
pub struct ImtTarget {
    /// The interface method, as `hidden` has it.
    pub method: usize,
    /// The implementation's slot.
    pub slot: usize,
    /// The implementation wants a byref to the value in the box.
    pub boxed: bool,
}

/// Places an IMT stub: compares `hidden` with each interface method and jumps through its implementation's slot;
/// otherwise to the resolver.
pub fn place_imt_stub(known: &[ImtTarget], resolver: usize) -> Result<usize, LoadError> {
    let mut c = Vec::new();
    let mut fixups = Vec::new();
    c.extend([0x49, 0x8B, 0x87]); // mov rax, [r15 + hidden]
    c.extend((HIDDEN as u32).to_le_bytes());
    for t in known {
        c.extend([0x49, 0xBB]); // mov r11, method
        c.extend(t.method.to_le_bytes());
        c.extend([0x4C, 0x39, 0xD8]); // cmp rax, r11
        c.extend([0x75, if t.boxed { 10 } else { 6 }]); // jne over the jump
        if t.boxed {
            c.extend([0x48, 0x83, 0xC7, 0x08]); // add rdi, 8
        }
        c.extend([0xFF, 0x25, 0, 0, 0, 0]); // jmp [slot]
        fixups.push((c.len(), t.slot));
    }
    jump(&mut c, resolver);
    let patch = |c: &mut [u8], at: usize| {
        for (end, slot) in fixups {
            let d = (slot as i64 - (at + end) as i64) as i32;
            c[end - 4..end].copy_from_slice(&d.to_le_bytes());
        }
    };
    let at = crate::code::arena::place(&mut c, 16, patch, |at| at)?;
    perf::stub(at, c.len(), || String::from("(stub) interface call"));
    Ok(at)
}
