//! The state of one translation.
use super::control::control_flow::Plan;
use super::control::{blocks, control_flow, exceptions};
use super::frame::variables::Variable;
use super::inlining::{decision, expand};
use super::values::memory;
use super::values::stack::StackValue;
use crate::emit::Emitter;
use crate::options::CompileEnv;
use crate::signature::LoweredSignature;
use cranelift_codegen::ir::{Block, StackSlot, Value};
use smallvec::SmallVec;
use vervet_types::{ClassRef, MethodRef, Scope, Universe};

/// Prefixes that wait for their instruction.
#[derive(Default, Clone, Copy)]
pub struct Prefixes {
    /// `volatile.`
    pub volatile: bool,
    /// `tail.`
    pub tail: bool,
    /// `readonly.`
    pub readonly: bool,
    /// `constrained.`
    pub constrained: Option<ClassRef>,
}

/// See the module.
pub struct Translator<'a, 'f> {
    /// Where code goes.
    pub e: &'a mut Emitter<'f>,
    /// The runtime's answers.
    pub env: &'a dyn CompileEnv,
    /// The method.
    pub method: MethodRef,
    /// Resolves its tokens.
    pub scope: Scope,
    /// All types.
    pub universe: &'static Universe,
    /// What the scan found.
    pub plan: &'a Plan,
    /// The method's own convention.
    pub lowered: &'a LoweredSignature,
    /// The IL stack.
    pub stack: Vec<StackValue>,
    /// Prefixes of the next instruction.
    pub prefixes: Prefixes,
    /// Nothing more of the block can be reached.
    pub dead: bool,
    /// Index of the instruction being translated.
    pub index: usize,
    /// Index of the block being translated.
    pub block: usize,
    /// Arguments, then locals.
    pub variables: Vec<Variable>,
    /// Instructions after this one that were translated with it.
    pub(crate) skip: usize,
    pub(crate) init_locals: bool,
    pub(crate) states: Vec<blocks::BlockState>,
    /// Of the branch being translated.
    pub(crate) back_edges: Vec<blocks::BackEdge>,
    pub(crate) temps: memory::Temps,
    pub(crate) nonnull: SmallVec<[Value; 8]>,
    /// The method, or the one around an inlined body, has filters, which write its variables while calls are active.
    pub(crate) has_filters: bool,
    /// `this` is not null wherever control is from here on.
    pub(crate) this_proven: bool,
    pub(crate) initialised: SmallVec<[ClassRef; 4]>,
    /// Lengths of arrays that were read.
    pub(crate) lengths: SmallVec<[Value; 8]>,
    pub(crate) clauses: Vec<exceptions::ClauseState>,
    pub(crate) sync: Option<(StackSlot, Block)>,
    pub(crate) liveness: Option<control_flow::Liveness>,
    /// Parameters of the function.
    pub params: SmallVec<[Value; 8]>,
    /// The localloc stack's mark at entry, if the method uses it.
    pub localloc_mark: Option<Value>,
    /// Slot that holds how far the localloc stack is in use by this method and its callers, if the method catches exceptions.
    pub(crate) localloc_top: Option<StackSlot>,
    /// Compiled as the filter of that clause.
    pub filter: Option<usize>,
    /// Set while the body is that of an inlined method.
    pub(crate) inline: Option<expand::Inlined>,
    /// Bytes of IL of what is inlined; 0: nothing is.
    pub(crate) inline_limit: usize,
    /// By method id: what was found out about inlining it.
    pub(crate) inline_decision:
        rustc_hash::FxHashMap<u32, Option<std::rc::Rc<decision::InlineDecision>>>,
    /// The method and the inlined ones around this place.
    pub(crate) inline_stack: Vec<MethodRef>,
    /// Block of variable arguments of the call being translated.
    pub(crate) var_args: Option<Value>,
    /// Slot that holds the address of this method's own block.
    pub(crate) own_var_args: Option<cranelift_codegen::ir::StackSlot>,
}
