//! What an inlined body does, and what its translator needs beyond that of a method.
use crate::emit::positions::Position;
use crate::translate::control::join::Join;
use crate::translate::values::stack::StackValue;
use cranelift_codegen::ir::Block;
use smallvec::SmallVec;

/// What the code up to some point has done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SideEffect {
    /// Nothing, and only the arguments decided what was done.
    None,
    /// It has read memory that another thread may write.
    Reads,
    /// It has done something that must not be done twice.
    Writes,
}

/// How a method is inlined.
pub struct InlineDecision {
    /// The effect of the blocks that are kept.
    pub effect: SideEffect,
    /// The IL offsets of the outlined blocks; true if only [`SideEffect::None`] lies before the
    /// block, so that the call never returns.
    pub outlined: SmallVec<[(u32, bool); 2]>,
}

/// What the translator of an inlined body needs at `ret` and for outlined blocks.
pub struct Inlined {
    /// The block where several `ret`s meet; None for a body of one block.
    pub(crate) join: Option<Join>,
    /// The result of a body of one block.
    pub result: Option<StackValue>,
    /// Whether a `ret` was reached.
    pub returned: bool,
    /// The outlined blocks; true if the call in place of the block never returns.
    pub outlined: SmallVec<[(usize, bool); 2]>,
    /// The block of that call, which all outlined blocks share; true if it never returns for any of
    /// them.
    pub call: Option<(Block, bool)>,
    /// The arguments as the caller pushed them, if there are outlined blocks.
    pub arguments: SmallVec<[StackValue; 8]>,
    /// The source position of the call.
    pub outer: Position,
}
