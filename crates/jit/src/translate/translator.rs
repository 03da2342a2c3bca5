//! The state of a translation: what lasts for the CLIF function, and what belongs to one body.
//!
//! # How it works
//! A [`Translator`] translates one body. When it inlines a call, it makes a second translator for the
//! callee's body, which borrows the emitter and the session and has a [`Body`] of its own:
//!
//! ```text
//! Translator of the method          Translator of an inlined body
//!     e        ---------------------->  e          emits into the same CLIF function
//!     session  ---------------------->  session    temporaries, known facts, inline stack
//!     body: Body                        body: Body plan, IL stack, variables, block states
//! ```
//!
//! The methods of the translator are in the modules beside this one, by topic. This module is below
//! all of them and imports only the types of their state.
//!
//! # Invariants
//! * At most one translator of a session emits at a time; the others wait for it further up the Rust
//!   stack.
//! * [`Session::nonnull`] and [`Session::initialised`] hold where code is being emitted. Whoever
//!   starts a block that another edge can reach clears or restores them.
use super::control::carried::{Countdown, Replacement};
use super::control::control_flow::Plan;
use super::control::liveness::Liveness;
use super::control::state::{BlockState, ClauseState, CopyingEdge};
use super::frame::location::Variable;
use super::inlining::effect::{InlineDecision, Inlined};
use super::values::stack::StackValue;
use super::values::temps::Temps;
use crate::blob::ProfiledCall;
use crate::emit::Emitter;
use crate::initialisers::Initialisers;
use crate::options::CompileEnv;
use crate::signature::LoweredSignature;
use crate::translate::control::join::Agreed;
use cranelift_codegen::ir::{Block, StackSlot, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;
use vervet_types::{ClassRef, MethodRef, Scope, Universe};

/// Prefixes that wait for their instruction (ECMA-335 III.2).
#[derive(Default, Clone, Copy)]
pub struct Prefixes {
    /// `volatile.`
    pub volatile: bool,
    /// `tail.`
    pub tail: bool,
    /// `readonly.`
    pub readonly: bool,
    /// `constrained.`, and its class.
    pub constrained: Option<ClassRef>,
}

/// Translates one body. See the module.
pub struct Translator<'a, 'f> {
    /// Where code is emitted.
    pub e: &'a mut Emitter<'f>,
    /// What the runtime says of classes.
    pub env: &'a dyn CompileEnv,
    /// What lasts for the whole CLIF function.
    pub session: &'a mut Session,
    /// The body being translated.
    pub body: Body<'a>,
}

/// What lasts for the whole CLIF function: a method or filter with all that is inlined in it.
pub struct Session {
    /// All types.
    pub universe: &'static Universe,
    /// Temporaries of this frame.
    pub temps: Temps,
    /// Addresses that have been checked for null on every path to here.
    pub nonnull: SmallVec<[Value; 8]>,
    /// Objects and boxes that this code allocates, and their classes.
    pub instances: FxHashMap<Value, ClassRef>,
    /// Classes that are initialised on every path to here.
    pub initialised: SmallVec<[ClassRef; 4]>,
    /// References to objects of classes that derive from MarshalByRefObject that are the objects
    /// themselves, no transparent proxies: they were tested, or are `this` of a body that is inlined.
    /// Whoever adds some takes them away where they cease to hold.
    pub unproxied: SmallVec<[Value; 4]>,
    /// By block: what is known of the results that were brought to a join.
    pub(crate) agreed: FxHashMap<Block, Agreed>,
    /// Ways of forks that a `ret` takes.
    pub(crate) reached: FxHashSet<Block>,
    /// Blocks of thread statics that are looked up.
    pub thread_blocks: SmallVec<[ThreadBlock; 1]>,
    /// Classes whose constructors inlining decisions took into account.
    pub uninitialised: Vec<ClassRef>,
    /// It is a filter: the variables whose addresses are known lie in the frame of its method.
    pub is_filter: bool,
    /// The compiled method has filters, which write its variables while calls are active.
    pub has_filters: bool,
    /// See [`crate::options::CompileEnv::sequence_points`].
    pub sequence_points: Option<Vec<u32>>,
    /// The largest body, in bytes of IL, that is inlined; 0: none is.
    pub inline_limit: usize,
    /// See [`crate::options::Options::fail_guards`].
    pub fail_guards: bool,
    /// How many guarded calls there are so far.
    pub guards: usize,
    /// How many P/Invokes were made without their stubs.
    pub native_calls: usize,
    /// The next call is made rarely: it preserves every register.
    pub is_cold_call: bool,
    /// The calls so far that note their callees; None: this code notes none.
    pub profiled: Option<Vec<ProfiledCall>>,
    /// Whether the code would be better if a class were initialised that is not: it checks
    /// that, or calls what it would inline.
    pub is_early: bool,
    /// The inlined body around the place being translated stands for a call in a loop of the compiled
    /// method.
    pub is_inlined_in_loop: bool,
    /// Backward branches ask for interrupt requests: the compiled method has handlers.
    pub polls: bool,
    /// How its loops are left, if the code has patchpoints, or is entered at a loop.
    pub replacement: Option<Replacement>,
    /// What the patchpoints count with.
    pub countdown: Option<Countdown>,
    /// A loop turned out to have something on the stack at its head: it cannot be left.
    pub has_stuck_loop: bool,
    /// By method id: how the method is inlined, if it is.
    pub inline_decisions: FxHashMap<u32, Option<Rc<InlineDecision>>>,
    /// What the first calls of inlined methods would initialise.
    pub initialisers: Initialisers,
    /// The compiled method, and the inlined ones around the place being translated.
    pub inline_stack: Vec<MethodRef>,
}

/// The thread statics of a class.
#[derive(Clone, Copy)]
pub struct ThreadBlock {
    /// The class.
    pub class: ClassRef,
    /// Has the block's address; 0 where it may not have been looked up.
    pub variable: cranelift_frontend::Variable,
    /// It was looked up in front of the body.
    pub is_known: bool,
}

impl Session {
    /// The session of a method's translation.
    pub fn new(method: MethodRef, inline_limit: usize, has_filters: bool) -> Session {
        Session {
            universe: method.class.universe(),
            temps: Temps::default(),
            nonnull: SmallVec::new(),
            instances: FxHashMap::default(),
            unproxied: SmallVec::new(),
            initialised: SmallVec::new(),
            agreed: FxHashMap::default(),
            reached: FxHashSet::default(),
            thread_blocks: SmallVec::new(),
            uninitialised: Vec::new(),
            is_filter: false,
            has_filters,
            sequence_points: None,
            inline_limit,
            fail_guards: false,
            guards: 0,
            native_calls: 0,
            is_cold_call: false,
            profiled: None,
            is_early: false,
            is_inlined_in_loop: false,
            polls: false,
            replacement: None,
            countdown: None,
            has_stuck_loop: false,
            inline_decisions: FxHashMap::default(),
            initialisers: Initialisers::default(),
            inline_stack: vec![method],
        }
    }
}

/// One body: of the compiled method, of one of its filters, or of an inlined method.
pub struct Body<'a> {
    /// The method.
    pub method: MethodRef,
    /// Resolves the tokens of its IL.
    pub scope: Scope,
    /// Its control-flow graph.
    pub plan: &'a Plan,
    /// The method's signature.
    pub lowered: &'a LoweredSignature,
    /// The IL stack.
    pub stack: Vec<StackValue>,
    /// Prefixes of the next instruction.
    pub prefixes: Prefixes,
    /// The current block has ended: control does not reach the rest of it.
    pub dead: bool,
    /// Index of the instruction being translated.
    pub index: usize,
    /// Index of the block being translated.
    pub block: usize,
    /// How many instructions after this one have been translated with it.
    pub skip: usize,
    /// The last IL offset that was recorded for traces.
    pub recorded: u32,
    /// The instruction before was a call, so the next is recorded.
    pub after_call: bool,
    /// Arguments, then locals.
    pub variables: Vec<Variable>,
    /// Whether locals are declared to start as zero.
    pub init_locals: bool,
    /// By block of the plan.
    pub states: Vec<BlockState>,
    /// Edges to joins of the branch being translated, whose copies are still to be emitted.
    pub copying_edges: Vec<CopyingEdge>,
    /// What was on the stack at the start of the block.
    pub entered: SmallVec<[Value; 4]>,
    /// `this` is not null on any path from here on.
    pub this_proven: bool,
    /// Lengths of arrays that have been loaded, which are never negative.
    pub lengths: SmallVec<[Value; 8]>,
    /// By clause of the plan.
    pub clauses: Vec<ClauseState>,
    /// Of a synchronized method: the slot of the object, and the landing pad that leaves its monitor.
    pub sync: Option<(StackSlot, Block)>,
    /// Live variables, if the method has clauses.
    pub liveness: Option<Liveness>,
    /// The parameters of the CLIF function.
    pub params: SmallVec<[Value; 8]>,
    /// Where the thread's localloc stack was at entry, if the method uses it.
    pub localloc_mark: Option<Value>,
    /// The slot that records how far the localloc stack is in use by this method and its callers, if
    /// the method catches exceptions.
    pub localloc_top: Option<StackSlot>,
    /// The clause whose filter this is.
    pub filter: Option<usize>,
    /// What an inlined body needs beyond that.
    pub inline: Option<Inlined>,
    /// A side of a branch that is known not to be taken is not emitted: an inlined body where nothing
    /// branches backward.
    pub leaves_out: bool,
    /// The block of variable arguments of the call being translated.
    pub var_args: Option<Value>,
    /// The slot that holds the address of this method's own block of variable arguments.
    pub own_var_args: Option<StackSlot>,
    /// The words of a plain call through reflection whose code was asked for in front of the
    /// body (module `calls/bypass`).
    pub ready_call: Option<StackSlot>,
    /// Locals that are not zeroed in the prologue: in which block, the slot, and its size in bytes.
    pub late: SmallVec<[(usize, StackSlot, u32); 2]>,
}

impl<'a> Body<'a> {
    /// A body of which nothing is translated yet.
    pub fn new(method: MethodRef, plan: &'a Plan, lowered: &'a LoweredSignature) -> Body<'a> {
        Body {
            method,
            scope: method.scope(),
            plan,
            lowered,
            stack: Vec::with_capacity(16),
            prefixes: Prefixes::default(),
            dead: false,
            index: 0,
            block: 0,
            skip: 0,
            recorded: 0,
            after_call: false,
            variables: Vec::new(),
            init_locals: false,
            states: Vec::new(),
            copying_edges: Vec::new(),
            entered: SmallVec::new(),
            this_proven: false,
            lengths: SmallVec::new(),
            clauses: Vec::new(),
            sync: None,
            liveness: None,
            params: SmallVec::new(),
            localloc_mark: None,
            localloc_top: None,
            filter: None,
            inline: None,
            leaves_out: false,
            var_args: None,
            own_var_args: None,
            ready_call: None,
            late: SmallVec::new(),
        }
    }
}
