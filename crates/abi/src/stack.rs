//! The segments of managed stacks, and the numbers that a function has for its stack check: what generated code, thunks and runtime share.

/// Bytes of the first segment of a green thread's managed stack. Pages that are never touched cost address space only.
pub const FIRST_SEGMENT: usize = 16 << 10;

/// The header of a segment, at its highest addresses. The `grow` thunk reads and writes it.
#[repr(C, align(16))]
pub struct Segment {
    /// The segment that was current when this one was entered; null: this is the first.
    pub previous: *mut Segment,
    /// The stack limit while this segment is current.
    pub limit: usize,
    /// While a later segment is current: the lowest address in use here.
    pub live_low: usize,
    /// A larger segment that was used before, or null.
    pub next: *mut Segment,
    /// Its lowest address.
    pub low: usize,
    /// Bytes of this segment and all before it.
    pub total: usize,
    /// How many bytes all segments may have together; 0: the stack does not grow.
    pub cap: usize,
    /// Handlers of StackOverflowException run beyond the cap.
    pub extra: bool,
}

impl Segment {
    /// The highest address of its frames.
    pub fn top(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
    /// Does a stack pointer lie on it?
    pub fn contains(&self, sp: usize) -> bool {
        (self.low..=self.top()).contains(&sp)
    }
    /// From its lowest address to the end of the memory, behind this header.
    pub fn bounds(&self) -> (usize, usize) {
        (self.low, self.top() + size_of::<Segment>())
    }
    /// Its bytes.
    pub fn size(&self) -> usize {
        self.top() - self.low
    }
}

/// Bytes of the stack that the stub of a call which preserves all registers takes at most, its return address included. It does not check the stack.
pub const COLD_CALL_FRAME: usize = 416;

/// What follows the call of the `grow` thunk in the code of a function (`jit/emit/front.rs`).
#[repr(C)]
pub struct Numbers {
    /// Bytes of arguments on the stack.
    pub stack_arguments: u32,
    /// Bytes of the frame.
    pub frame: u32,
    /// Distance back to the function's body.
    pub back: u32,
}
