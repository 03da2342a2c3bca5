//! The thunks between managed code and ours, x86-64.
//!
//! Managed code keeps the context in r15, passes arguments as `CallConv::Tail` does (rdi rsi rdx rcx r8 r9,
//! xmm0-7, the rest on the stack, popped by the callee) and may have live values in rbx, r12-r14 only where the
//! callee preserves them.
//!
//! # Invariants
//! * Every thunk that leaves managed code pushes the callee-saved and the integer argument registers, then a
//!   [`Record`](vervet_abi::context::Record), and links it, before it changes the state; the record's sp, fp and
//!   pc are those of the managed frame that left.
//! * Frame pointers chain through every thunk.
//! * Managed frames lie on the managed stack, Rust and C frames on the native stack. Whoever leaves managed code goes to the native
//!   stack; whoever enters it goes to the managed stack, below the innermost exit record. On a thread whose `managed_base` is 0
//!   both are one stack, and nothing is switched.
//! * A thread in state Managed whose stack pointer is not on the managed stack is between two stacks. The suspend signal does not stop it
//!   there (`safepoint/suspend.rs`).
//! * State changes are plain stores. Who goes from Runtime to Managed tests the stop word first; who leaves Native stores
//!   Runtime and then tests it (`safepoint/transitions.rs`). What the thunk has in registers then lies on the stack.
//! * `ThreadContext::scan_sp` is stored before the state becomes Native.
//! * A stub that reads `ThreadContext::hidden` reads it first.
//!
//! # Map
//! * [`exits`]: icalls and helpers; [`lazy`]: first calls, interface calls, traps
//! * [`grow`](mod@grow): the end of a segment of the stack
//! * [`native`]: P/Invokes, blocking calls, native code that calls delegates; [`entry`]: from Rust into managed code
//! * [`host`]: from the code of a host straight into managed code
//! * [`interrupts`]: a call that a stopped thread is made to make; [`blocks`]: block moves and fills
//! * [`reentry`](mod@reentry): internal calls that are made again after a park, and the first call of a green thread
//! * [`switch`](mod@switch): between a carrier's stack and a green thread's
//! * [`write_back`](mod@write_back): a part of the stack as it was before
//! * [`aes`]: instructions for a cipher; [`angles`]: those for sine and cosine
//! * [`search`]: vectors that look for an element
//! * [`current`](mod@current): the context of the calling thread
//! * [`unwind`]: where the caller of a thunk is, at each of its instructions
//! * [`stubs`]: the small pieces of code, written as bytes, that lead to a thunk
#[macro_use]
mod macros;
pub(crate) mod aes;
pub(crate) mod angles;
pub mod blocks;
mod current;
mod entry;
mod exits;
mod grow;
mod host;
mod interrupts;
mod lazy;
mod native;
mod reentry;
mod registers;
pub(crate) mod search;
mod stubs;
mod switch;
pub(crate) mod unwind;
mod write_back;

pub use current::*;
pub use entry::*;
pub use exits::*;
pub use grow::*;
pub use host::*;
pub use interrupts::*;
pub use lazy::*;
pub use native::*;
pub use reentry::*;
pub use registers::Registers;
pub use stubs::*;
pub use switch::*;
pub use write_back::*;

use std::mem::offset_of;
use vervet_abi::context::{State, ThreadContext};

const STATE: usize = offset_of!(ThreadContext, state);
const RECORD: usize = offset_of!(ThreadContext, record);
const PENDING: usize = offset_of!(ThreadContext, pending);
const COLD_RESULT: usize = offset_of!(ThreadContext, cold_result);
const COLD_FUNCTION: usize = offset_of!(ThreadContext, cold_function);
const CRITICAL: usize = offset_of!(ThreadContext, critical);
const LEAF_FP: usize = offset_of!(ThreadContext, leaf_fp);
const RESUMING: usize = offset_of!(ThreadContext, resuming);
const IN_LEAF: usize = vervet_abi::context::IN_LEAF as usize;
const HIDDEN: usize = offset_of!(ThreadContext, hidden);
const SCAN_SP: usize = offset_of!(ThreadContext, scan_sp);
const MANAGED_BASE: usize = offset_of!(ThreadContext, managed_base);
const SEGMENT: usize = offset_of!(ThreadContext, segment);
const LIMIT: usize = offset_of!(ThreadContext, limit);
const TRUE_LIMIT: usize = offset_of!(ThreadContext, true_limit);
const INTERRUPTS: usize = offset_of!(ThreadContext, interrupts);
const NATIVE_SP: usize = offset_of!(ThreadContext, native_sp);
const LEAVES_AT: usize = offset_of!(ThreadContext, leaves_at);
const LEFT_FUNCTION: usize = offset_of!(ThreadContext, left_function);
const STACK_BASE: usize = offset_of!(ThreadContext, stack_base);
const DOMAIN: usize = offset_of!(ThreadContext, domain);
const GREEN: usize = offset_of!(ThreadContext, green);
const LAST_ERROR: usize = offset_of!(ThreadContext, last_error);
const MANAGED: usize = State::Managed as usize;
const RUNTIME: usize = State::Runtime as usize;
const NATIVE: usize = State::Native as usize;
const FOREIGN: usize = State::Foreign as usize;
