//! What assembly calls upwards: functions of higher modules, declared here by their symbols.
//!
//! Assembly is below everything else, so it cannot name these functions by their paths. A higher module defines each of them under
//! the symbol that this list says (`#[unsafe(export_name = "vervet_...")]`); one that is missing fails the link. This is the whole list
//! of entries from thunks into Rust code. Each is called on the calling thread's own stack, with its context as the first argument
//! where it has one, and none of them unwinds.
use vervet_abi::ThreadContext;
use vervet_abi::native_call::ReverseCall;
use vervet_abi::stack::Numbers;

/// Bytes that the `grow` thunk uses on the segment that it leaves, below the stack pointer at the function's first instruction.
pub const GROW_BYTES: usize = 8 + 176;

/// What [`stack_check_failed`] returns where an exception is pending and the function is an invoke stub.
pub const RETURN_FAILURE: usize = 2;

/// Bit of [`ReverseEntry::before`]: the thread was attached for this call only.
pub const FOR_THE_CALL: usize = 0x100;
/// Bit of [`ReverseEntry::before`]: a green thread's native code made the call, and goes on when it is over.
pub const OF_GREEN: usize = 0x200;

/// Bit of [`ReverseEntry::before`]: the thread has left a domain for the call, whose id is in the upper half.
pub const OF_DOMAIN: usize = 0x400;

/// What [`enter_green`] tells, in two registers.
#[repr(C)]
pub struct Entered {
    /// A [`Target`](crate::arch::Target); null: the thread does not run.
    pub target: *mut (),
    /// Why not: a [`vervet_sched::Outcome`].
    pub outcome: usize,
}

/// What [`prepare_reverse_call`] tells the reverse thunk, in two registers.
#[repr(C)]
pub struct ReverseEntry {
    /// The context of the calling thread. Null: the call is not made, and the thunk returns what the block says.
    pub context: *mut ThreadContext,
    /// The state to go back to, and bits: [`FOR_THE_CALL`] or [`OF_GREEN`], and [`OF_DOMAIN`].
    pub before: usize,
}

unsafe extern "C" {
    /// From the prestub: the code of the method with that id, or 0 with an exception pending.
    #[link_name = "vervet_compile_for_call"]
    pub fn compile_for_call(context: *mut ThreadContext, id: u32) -> usize;
    /// From the resolver that IMT entries hold at first: the code to call, or 0 with an exception pending.
    #[link_name = "vervet_resolve_interface_call"]
    pub fn resolve_interface_call(context: *mut ThreadContext, hidden: usize, this: usize)
    -> usize;
    /// From the resolver that slots of VTables hold at first: the code to call, or 0 with an exception pending.
    #[link_name = "vervet_resolve_slot_call"]
    pub fn resolve_slot_call(context: *mut ThreadContext, slot: u32, this: usize) -> usize;
    /// Raises the pending exception from the innermost exit record.
    #[link_name = "vervet_throw_pending"]
    pub fn throw_pending(context: *mut ThreadContext) -> !;
    /// Raises the exception of a trap in managed code.
    #[link_name = "vervet_throw_trap"]
    pub fn throw_trap(context: *mut ThreadContext, kind: u32) -> !;
    /// The stack is used up: raises StackOverflowException.
    #[link_name = "vervet_stack_overflow"]
    pub fn stack_overflow(context: *mut ThreadContext) -> !;
    /// The part of the stack that handlers of StackOverflowException get is used up: ends the process.
    #[link_name = "vervet_end_for_overflow"]
    pub fn end_for_overflow(context: *mut ThreadContext) -> !;
    /// From the `grow` thunk. 0: an exception is pending; 1: the function goes on where it is; [`RETURN_FAILURE`]; otherwise the top of the
    /// segment on which it goes on.
    #[link_name = "vervet_stack_check_failed"]
    pub fn stack_check_failed(
        context: *mut ThreadContext,
        numbers: *const Numbers,
        sp: usize,
    ) -> usize;
    /// A stopped thread was made to call: serves the interrupt requests; 0: an exception is pending.
    #[link_name = "vervet_interrupted_at_instruction"]
    pub fn interrupted_at_instruction(context: *mut ThreadContext) -> usize;
    /// An internal call returns while some thread is asked for something: serves the interrupt requests of this one, which may leave an exception pending.
    #[link_name = "vervet_interrupted_at_return"]
    pub fn interrupted_at_return(context: *mut ThreadContext);
    /// Native code says that it may block: the state before.
    #[link_name = "vervet_enter_native"]
    pub fn enter_native(registers: *const [usize; 6], sp: usize) -> usize;
    /// A green thread calls native code: its carrier's processor may be given to another carrier. Called in Runtime state.
    #[link_name = "vervet_green_enter_native"]
    pub fn green_enter_native(context: *mut ThreadContext);
    /// A green thread's native call is over: waits for a processor. Called in Native state; errno is kept.
    #[link_name = "vervet_green_leave_native"]
    pub fn green_leave_native(context: *mut ThreadContext);
    /// The calling carrier is about to run a green thread: what is to be switched to.
    #[link_name = "vervet_enter_green"]
    pub fn enter_green(carrier: *mut (), id: u32) -> Entered;
    /// The green thread has left the calling carrier, whose own stack is in use again: an [`Outcome`](vervet_sched::Outcome).
    #[link_name = "vervet_leave_green"]
    pub fn leave_green() -> u8;
    /// The internal call under way has returned because its green thread parks: the thread leaves its carrier, and its native stack. The pointer
    /// of the carrier's stack.
    #[link_name = "vervet_leave_native_stack"]
    pub fn leave_native_stack(context: *mut ThreadContext) -> usize;
    /// The green thread that left its native stack goes on, on another one: its internal call is made again.
    #[link_name = "vervet_go_on_after_park"]
    pub fn go_on_after_park(context: *mut ThreadContext);
    /// The first call of a green thread is over. `status` is not 0 if an exception is pending.
    #[link_name = "vervet_first_call_returned"]
    pub fn first_call_returned(context: *mut ThreadContext, status: u32) -> !;
    /// A thread leaves Native, or polls, while the stop word is set: returns in Runtime state when the world runs.
    #[link_name = "vervet_leave_native"]
    pub fn leave_native(context: *mut ThreadContext);
    /// Native code calls a delegate: attaches the thread if need be, and takes it to Runtime state.
    #[link_name = "vervet_prepare_reverse_call"]
    pub fn prepare_reverse_call(record: *const (), call: *mut ReverseCall) -> ReverseEntry;
    /// The call was made [`FOR_THE_CALL`], [`OF_GREEN`] or [`OF_DOMAIN`]: detaches the thread, or is back in native code and in the domain.
    #[link_name = "vervet_finish_reverse_call"]
    pub fn finish_reverse_call(before: usize);
}
