//! What the translator keeps of each block and each exception clause of a body.
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::{Block, BlockArg, StackSlot, Value};
use smallvec::SmallVec;
use vervet_types::ClassRef;

/// The types on the stack at the start of a block, and the classes of structs, and of objects if all paths to it agree.
pub type Entry = SmallVec<[(StackType, Option<ClassRef>); 2]>;

/// A block during the translation.
#[derive(Default)]
pub struct BlockState {
    /// The CLIF block, once an edge leads to it.
    pub clif: Option<Block>,
    /// The types of its parameters, once an edge has decided them.
    pub entry: Option<Entry>,
    /// Edges may come from code that is emitted after the walk (`endfinally` dispatch), so the
    /// block is not sealed early and is translated even if no edge has been seen.
    pub late: bool,
    /// By depth on the stack at the block's start: where the edges put a struct, if paths join here.
    pub carried: SmallVec<[Option<StackSlot>; 2]>,
}

/// An edge to a join with structs on the stack, whose copies are still to be emitted.
pub struct CopyingEdge {
    /// The CLIF block that the branch goes to and that will hold the copies.
    pub split: Block,
    /// The target block and its arguments.
    pub to: (Block, SmallVec<[BlockArg; 4]>),
    /// The structs: class, where it lies, the slot it is copied to.
    pub structs: SmallVec<[(ClassRef, Value, StackSlot); 2]>,
    /// Whether the target is the head of a loop.
    pub loops: bool,
}

/// Where control goes on after a finally handler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// At an IL block.
    Block(usize),
    /// In the finally of another clause, with that index.
    Finally(usize, u32),
}

/// A clause during the translation. Slots and blocks are created when something first needs them.
#[derive(Default)]
pub struct ClauseState {
    /// Its landing pad.
    pub pad: Option<Block>,
    /// Slot of the caught exception, for `rethrow`, or of the exception that passes through a
    /// finally.
    pub exception: Option<StackSlot>,
    /// Slot of the unwind record of the exception that passes.
    pub record: Option<StackSlot>,
    /// Slot of the index in `continuations`, plus 1; 0 while an exception passes.
    pub index: Option<StackSlot>,
    /// The block that `endfinally` jumps to.
    pub dispatch: Option<Block>,
    /// Where the `leave`s through this finally go.
    pub continuations: Vec<Continuation>,
    /// Whether the handler contains a `rethrow`, so that the pad must keep the exception.
    pub rethrows: bool,
    /// The class that a catch clause names. It is loaded when the method is compiled, so that a
    /// missing class is an error of the method and not of a throw.
    pub class: Option<ClassRef>,
}
