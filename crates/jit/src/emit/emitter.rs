//! The emitter: a CLIF function builder that knows symbols, helpers, the thread context and exception
//! handlers.
//!
//! # Invariants
//! * While [`Emitter::set_handlers`] has set any handler, every call that can throw is a `try_call`
//!   and every check that can fail is an explicit branch. A hardware trap inside a protected region
//!   would have no landing pad.
//! * The thread context is the pinned register (r15). It is read again wherever it is needed.
use super::front::StackCheck;
use super::positions::{Position, Positions};
use crate::blob::{ColdResult, Symbol};
use crate::optimise::FrameNotes;
use crate::optimise::{ColdCall, Rarely};
use crate::options::{AllocProtection, Recorded};
use cranelift_codegen::ir::{self, types::*, *};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use smallvec::SmallVec;
use vervet_abi::helpers::result;
use vervet_abi::{Declared, Helper, ThrowKind, Ty, call};
use vervet_types::MethodRef;

/// Tag of a handler that catches every exception (invoke stubs).
pub const CATCH_ALL: u32 = u32::MAX;

/// The values a call returns.
pub type Results = SmallVec<[Value; 4]>;

/// The CLIF type of a helper's argument or result.
pub fn clif_type(ty: Ty) -> ir::Type {
    match ty {
        Ty::I32 => I32,
        Ty::I64 => I64,
        Ty::F32 => F32,
        Ty::F64 => F64,
    }
}

/// Memory flags of an access that cannot fault.
pub fn trusted() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Memory flags of an access through a reference that may be null, outside protected regions: a
/// fault there becomes a NullReferenceException.
pub fn null_trap() -> MemFlagsData {
    MemFlagsData::new().with_trap_code(Some(trap_code(ThrowKind::NullReference)))
}

/// The trap code that the runtime turns into an exception of that kind.
pub fn trap_code(kind: ThrowKind) -> TrapCode {
    TrapCode::unwrap_user(kind as u8)
}

/// What a call goes to.
#[derive(Clone, Copy)]
enum Target {
    Function(FuncRef),
    Address(SigRef, Value),
}

/// Emits CLIF. See the module.
pub struct Emitter<'f> {
    /// The builder, for all instructions that have no method here.
    pub b: FunctionBuilder<'f>,
    /// How the collector is kept away from an allocation in progress.
    pub allocation: AllocProtection,
    /// What the profiler is told of.
    pub recorded: Recorded,
    /// Sizes of the tables that the emitted code indexes.
    pub tables: vervet_abi::TableSizes,
    /// Whether the function checks its stack.
    pub check: StackCheck,
    /// The method whose calls the function counts.
    pub counted: Option<MethodRef>,
    /// Bytes of stack arguments of the largest tail call: the function's own arguments move down to
    /// make room for them.
    pub(super) tail_bytes: u32,
    pub(super) symbols: Vec<Symbol>,
    helpers: Vec<Option<FuncRef>>,
    /// By helper: the stub that preserves all registers, and the one that leaves exceptions pending.
    preserving: Vec<[Option<FuncRef>; 2]>,
    handlers: SmallVec<[(u32, Block); 4]>,
    pub(super) positions: Positions,
    /// Whether passes over the finished function follow.
    pub optimises: bool,
    /// Whether helpers are called where a sequence would do the same faster: the function is to be
    /// compiled soon, and is not expected to run often.
    pub is_brief: bool,
    /// Whether helpers of ciphers may be called.
    pub has_aes: bool,
    /// What they must know of its slots.
    pub notes: FrameNotes,
    /// How many unmanaged pointers to slots of the function were made and not given to internal calls
    /// only (`translate/values/exposure.rs`).
    pub frame_pointers: u32,
}

impl<'f> Emitter<'f> {
    /// An emitter for a function that has no block yet. It starts in the entry block.
    pub(super) fn new(
        mut b: FunctionBuilder<'f>,
        (allocation, recorded): (AllocProtection, Recorded),
        tables: vervet_abi::TableSizes,
    ) -> Emitter<'f> {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.ensure_inserted_block();
        b.seal_block(entry);
        Emitter {
            b,
            allocation,
            recorded,
            tables,
            check: StackCheck::LargeFrame,
            counted: None,
            tail_bytes: 0,
            symbols: Vec::new(),
            helpers: vec![None; Helper::ALL.len()],
            preserving: vec![[None; 2]; Helper::ALL.len()],
            handlers: SmallVec::new(),
            positions: Positions::default(),
            optimises: false,
            is_brief: false,
            has_aes: false,
            notes: FrameNotes::default(),
            frame_pointers: 0,
        }
    }

    /// Calls a code address in place of this function's own return.
    pub fn return_call_indirect(&mut self, signature: SigRef, code: Value, args: &[Value]) {
        let bytes = crate::signature::stack_arg_bytes(&self.b.func.dfg.signatures[signature]);
        self.tail_bytes = self.tail_bytes.max(bytes);
        self.b.ins().return_call_indirect(signature, code, args);
    }
    /// The parameters of the function.
    pub fn params(&self) -> SmallVec<[Value; 8]> {
        let entry = self.b.func.layout.entry_block().expect("the entry block");
        self.b.block_params(entry).into()
    }

    /// Sets the IL offset of what follows.
    pub fn at(&mut self, il_offset: u32) {
        let location = self.positions.at(il_offset);
        self.b.set_srcloc(location);
    }

    /// Says of what follows, up to the next [`Emitter::at`], that it calls a method of what might be
    /// a transparent proxy.
    pub fn at_remote_call(&mut self) {
        let location = self.positions.at_remote_call();
        self.b.set_srcloc(location);
    }

    /// Whether [`Emitter::at_remote_call`] has been said of what follows.
    pub fn is_at_remote_call(&self) -> bool {
        self.positions.is_at_remote_call()
    }

    /// Starts the body of an inlined method. The position returned goes to [`Emitter::leave_inlined`].
    pub fn enter_inlined(&mut self, method: MethodRef) -> Position {
        let outer = self.positions.enter(method);
        self.b.set_srcloc(self.positions.current());
        outer
    }
    /// The number of bodies inlined so far.
    pub fn inlined(&self) -> usize {
        self.positions.sites.len()
    }
    /// Ends the body that [`Emitter::enter_inlined`] started.
    pub fn leave_inlined(&mut self, outer: Position) {
        self.swap_position(outer);
    }

    /// Replaces the position of what follows, and returns the one before.
    pub fn swap_position(&mut self, position: Position) -> Position {
        let before = self.positions.swap(position);
        self.b.set_srcloc(self.positions.current());
        before
    }

    /// Moves the current block behind the others, because it runs rarely.
    pub fn cold(&mut self) {
        if let Some(block) = self.b.current_block()
            && self.b.func.layout.entry_block() != Some(block)
        {
            self.b.set_cold_block(block);
        }
    }

    /// Records the IL offset reached, for error reports only; the source location of what follows
    /// does not change.
    pub fn reached(&mut self, il_offset: u32) {
        self.positions.reached(il_offset);
    }

    /// Emits code within which no asynchronous exception may be raised.
    pub fn without_redirect(&mut self, f: impl FnOnce(&mut Self)) {
        self.begin_no_redirect();
        f(self);
        self.end_no_redirect();
    }
    /// From here on no asynchronous exception may be raised.
    pub fn begin_no_redirect(&mut self) {
        self.b.set_srcloc(self.positions.no_redirect());
    }
    /// Ends what [`Emitter::begin_no_redirect`] began.
    pub fn end_no_redirect(&mut self) {
        self.b.set_srcloc(self.positions.current());
    }

    /// Sets the handlers of the calls that follow, innermost first: a clause index or
    /// [`CATCH_ALL`], and the landing pad, which has two I64 parameters: the exception and the
    /// unwind record.
    pub fn set_handlers(&mut self, handlers: &[(u32, Block)]) {
        self.handlers.clear();
        self.handlers.extend_from_slice(handlers);
    }

    /// Whether calls have handlers now, so that every check must be explicit.
    pub fn has_handlers(&self) -> bool {
        !self.handlers.is_empty()
    }

    /// The external name of a symbol.
    fn name_of(&mut self, symbol: Symbol) -> ExternalName {
        let index = self.symbols.len() as u32;
        self.symbols.push(symbol);
        let name = self
            .b
            .func
            .declare_imported_user_function(UserExternalName::new(0, index));
        ExternalName::user(name)
    }

    /// The address (or value) of a symbol, which the linker fills in.
    pub fn symbol(&mut self, symbol: Symbol) -> Value {
        let name = self.name_of(symbol);
        let gv = self.b.create_global_value(GlobalValueData::Symbol {
            name,
            offset: ir::immediates::Imm64::new(0),
            colocated: matches!(symbol, Symbol::SelfCode),
            tls: false,
        });
        self.b.ins().symbol_value(I64, gv)
    }

    /// Loads from the address of a symbol.
    pub fn load_symbol(&mut self, ty: ir::Type, symbol: Symbol, offset: i32) -> Value {
        let base = self.symbol(symbol);
        self.b.ins().load(ty, trusted(), base, offset)
    }

    /// The address of the thread context. It is read again for every use: that costs no
    /// instruction, while a copy would occupy a register.
    pub fn context(&mut self) -> Value {
        self.b.ins().get_pinned_reg(I64)
    }

    /// Loads a word of the thread context.
    pub fn load_context(&mut self, ty: ir::Type, offset: i32) -> Value {
        let base = self.context();
        self.b.ins().load(ty, trusted(), base, offset)
    }

    /// Stores a word of the thread context.
    pub fn store_context(&mut self, value: Value, offset: i32) {
        let base = self.context();
        self.b.ins().store(trusted(), value, base, offset);
    }

    /// Calls a helper if another thread has requested something of this one:
    ///
    /// ```text
    ///     v0 = load.i32 context+interrupts
    ///     brif v0, cold, on
    /// cold:
    ///     call helper          ; may raise ThreadAbortException, or block for a collection
    ///     jump on
    /// on:
    /// ```
    pub fn poll_interrupts(&mut self, helper: impl Declared<0, result::Nothing>) {
        let wanted = self.load_context(I32, vervet_abi::context::INTERRUPTS);
        let (cold, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(wanted, cold, &[], on, &[]);
        self.b.seal_block(cold);
        self.b.switch_to_block(cold);
        self.cold_helper(helper, []);
        self.b.ins().jump(on, &[]);
        self.b.seal_block(on);
        self.b.switch_to_block(on);
    }

    /// Notes that the address becomes an unmanaged pointer, if it lies on the first segment of the
    /// thread's managed stack:
    ///
    /// ```text
    ///     v1 = isub context+managed_base, address
    ///     v2 = icmp ule v1, FIRST_SEGMENT
    ///     brif v2, cold, on
    /// cold:
    ///     context+exposed = umax context+exposed, address
    ///     jump on
    /// on:
    /// ```
    pub fn expose(&mut self, address: Value) {
        use vervet_abi::context::{EXPOSED, MANAGED_BASE};
        let base = self.load_context(I64, MANAGED_BASE);
        let below = self.b.ins().isub(base, address);
        let size = vervet_abi::stack::FIRST_SEGMENT as i64;
        let here = self
            .b
            .ins()
            .icmp_imm_u(condcodes::IntCC::UnsignedLessThanOrEqual, below, size);
        let (cold, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(here, cold, &[], on, &[]);
        self.b.seal_block(cold);
        self.b.switch_to_block(cold);
        let before = self.load_context(I64, EXPOSED);
        let highest = self.b.ins().umax(before, address);
        self.store_context(highest, EXPOSED);
        self.b.ins().jump(on, &[]);
        self.b.seal_block(on);
        self.b.switch_to_block(on);
    }

    /// A new stack slot of that many bytes, rounded up to 8 and 8-aligned. The alignment lets the
    /// conservative scan find every reference in it.
    pub fn slot(&mut self, size: u32) -> StackSlot {
        self.b.create_sized_stack_slot(StackSlotData::new(
            StackSlotKind::ExplicitSlot,
            size.max(1).next_multiple_of(8),
            3,
        ))
    }

    /// The address of a slot.
    pub fn slot_addr(&mut self, slot: StackSlot) -> Value {
        self.b.ins().stack_addr(I64, slot, 0)
    }

    /// The function of a helper. It is imported once per function.
    fn helper_ref(&mut self, helper: Helper) -> FuncRef {
        if let Some(f) = self.helpers[helper as usize] {
            return f;
        }
        let f = self.import_helper(helper, Symbol::Helper(helper), CallConv::Tail);
        self.helpers[helper as usize] = Some(f);
        f
    }

    /// The function of a helper's stub that preserves all registers.
    fn preserving_ref(&mut self, helper: Helper, defers: bool) -> FuncRef {
        if let Some(f) = self.preserving[helper as usize][usize::from(defers)] {
            return f;
        }
        let symbol = match defers {
            true => Symbol::DeferringHelper(helper),
            false => Symbol::PreservingHelper(helper),
        };
        let f = self.import_helper(helper, symbol, CallConv::PreserveAll);
        self.preserving[helper as usize][usize::from(defers)] = Some(f);
        f
    }

    /// Imports a stub of a helper. One that preserves all registers returns none.
    fn import_helper(&mut self, helper: Helper, stub: Symbol, convention: CallConv) -> FuncRef {
        let abi = helper.sig();
        let mut signature = Signature::new(convention);
        let params = abi.params.iter();
        signature
            .params
            .extend(params.map(|t| AbiParam::new(clif_type(*t))));
        if convention != CallConv::PreserveAll {
            let returned = abi.ret.iter();
            signature
                .returns
                .extend(returned.map(|t| AbiParam::new(clif_type(*t))));
        }
        let signature = self.b.import_signature(signature);
        let name = self.name_of(stub);
        self.b.import_function(ExtFuncData {
            name,
            signature,
            colocated: false,
            patchable: false,
        })
    }

    /// Calls a helper that [`Helper::preserves_registers`] from code that runs rarely, so that what
    /// lives across the call may stay in any register. Its result is in the context then. False:
    /// nothing was emitted. In code that is compiled quickly every value has its place in the frame
    /// anyway.
    ///
    /// A handler is entered with no register preserved. So where there are some, the call leaves
    /// an exception pending, and another one throws it, which does not come back:
    ///
    /// ```text
    ///           call helper(args), PreserveAll
    ///           brif context.pending, throw, on
    /// throw:    try_call ThrowPending(), [handlers]
    /// ```
    fn call_preserving(&mut self, helper: Helper, args: &[Value]) -> bool {
        debug_assert!(helper.preserves_registers(), "{helper:?}");
        let defers = self.has_handlers();
        if !self.optimises || defers && !helper.raises_nothing_itself() {
            return false;
        }
        let f = self.preserving_ref(helper, defers);
        self.b.ins().call(f, args);
        if defers {
            let pending = self.load_context(I64, vervet_abi::context::PENDING);
            let [throw, on] = [(); 2].map(|()| self.b.create_block());
            self.b.set_cold_block(throw);
            self.b.set_cold_block(on);
            self.b.ins().brif(pending, throw, &[], on, &[]);
            self.b.seal_block(throw);
            self.b.seal_block(on);
            self.b.switch_to_block(throw);
            self.helper_noreturn(call::ThrowPending, []);
            self.b.switch_to_block(on);
        }
        true
    }

    /// As [`Emitter::helper`], from code that runs rarely, of a helper that
    /// [`Helper::preserves_registers`].
    pub fn cold_helper<H: Declared<N, result::Nothing>, const N: usize>(
        &mut self,
        _: H,
        args: [Value; N],
    ) {
        if !self.call_preserving(H::HELPER, &args) {
            self.call_helper(H::HELPER, &args);
        }
    }

    /// As [`Emitter::helper_value`], from code that runs rarely, of a helper that
    /// [`Helper::preserves_registers`].
    pub fn cold_helper_value<H: Declared<N, result::Value>, const N: usize>(
        &mut self,
        _: H,
        args: [Value; N],
    ) -> Value {
        if !self.call_preserving(H::HELPER, &args) {
            return self
                .call_helper(H::HELPER, &args)
                .expect("declared with a result");
        }
        self.take_cold_result()
    }

    /// Calls a helper. A leaf helper never throws and never stops for a collection, so it needs no
    /// handlers. (An abort may be raised where it returns, as at any instruction, but only in methods
    /// without handlers.)
    fn call_helper(&mut self, helper: Helper, args: &[Value]) -> Option<Value> {
        let f = self.helper_ref(helper);
        let sig = helper.sig();
        for (value, ty) in args.iter().zip(sig.params) {
            let have = self.b.func.dfg.value_type(*value);
            assert!(have == clif_type(*ty), "{have} for an {ty:?} of {helper:?}");
        }
        // No handlers: it would be an edge that is never taken.
        if sig.effect == vervet_abi::Effect::Leaf {
            let call = self.b.ins().call(f, args);
            return self.b.inst_results(call).first().copied();
        }
        self.emit_call(Target::Function(f), args).first().copied()
    }

    /// Calls a helper without a result.
    pub fn helper<H: Declared<N, result::Nothing>, const N: usize>(
        &mut self,
        _: H,
        args: [Value; N],
    ) {
        self.call_helper(H::HELPER, &args);
    }

    /// Calls a helper with a result.
    pub fn helper_value<H: Declared<N, result::Value>, const N: usize>(
        &mut self,
        _: H,
        args: [Value; N],
    ) -> Value {
        self.call_helper(H::HELPER, &args)
            .expect("declared with a result")
    }

    /// Calls a helper that never returns, and ends the block.
    pub fn helper_noreturn<H: Declared<N, result::Never>, const N: usize>(
        &mut self,
        _: H,
        args: [Value; N],
    ) {
        self.call_helper(H::HELPER, &args);
        self.unreachable();
    }

    /// Ends a block at a point that control never reaches.
    pub fn unreachable(&mut self) {
        self.b.ins().trap(trap_code(ThrowKind::ExecutionEngine));
    }

    /// Throws an exception of that kind, and ends the block.
    pub fn throw(&mut self, kind: ThrowKind) {
        let kind = self.b.ins().iconst(I32, i64::from(kind as u8));
        self.helper_noreturn(call::ThrowKind, [kind]);
    }

    /// Throws if `condition` is not zero: by a hardware trap, or inside handlers by a call in a
    /// cold block.
    pub fn throw_if(&mut self, condition: Value, kind: ThrowKind) {
        if !self.has_handlers() {
            self.b.ins().trapnz(condition, trap_code(kind));
            return;
        }
        // Inside handlers a trap would have no landing pad, so the exception is thrown by a call.
        let (cold, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(condition, cold, &[], on, &[]);
        self.cold_throw(cold, on, kind);
    }

    /// Throws if `condition` is zero.
    pub fn throw_unless(&mut self, condition: Value, kind: ThrowKind) {
        if !self.has_handlers() {
            self.b.ins().trapz(condition, trap_code(kind));
            return;
        }
        let (cold, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(condition, on, &[], cold, &[]);
        self.cold_throw(cold, on, kind);
    }

    /// Fills the cold block of a check, and continues in `on`.
    fn cold_throw(&mut self, cold: Block, on: Block, kind: ThrowKind) {
        self.b.seal_block(cold);
        self.b.seal_block(on);
        self.b.switch_to_block(cold);
        self.throw(kind);
        self.b.switch_to_block(on);
    }

    /// Calls a code address.
    pub fn call_indirect(&mut self, signature: SigRef, target: Value, args: &[Value]) -> Results {
        self.emit_call(Target::Address(signature, target), args)
    }

    /// As [`Emitter::call_indirect`], of a call that is to cost the code around it nothing, if it turns out to be made rarely: what lives across it may stay in any
    /// register then ([`crate::optimise`], `cold_calls`). `result` is what the call gives back in that case; where there is none, it is an ordinary call.
    pub fn call_indirect_rarely(
        &mut self,
        signature: SigRef,
        rarely: Rarely,
        result: Option<ColdResult>,
        target: Value,
        args: &[Value],
    ) -> Results {
        let Some(result) = result.filter(|_| self.optimises && !self.has_handlers()) else {
            return self.call_indirect(signature, target, args);
        };
        let call = self.b.ins().call_indirect(signature, target, args);
        let stub = self.name_of(Symbol::ColdCall(result));
        self.notes.cold_call(ColdCall {
            call,
            rarely,
            result,
            stub,
        });
        self.b.inst_results(call).into()
    }

    /// Takes the reference that a call which preserves all registers has left.
    fn take_cold_result(&mut self) -> Value {
        let result = self.load_context(I64, vervet_abi::context::COLD_RESULT);
        let none = self.b.ins().iconst(I64, 0);
        self.store_context(none, vervet_abi::context::COLD_RESULT);
        result
    }

    /// Calls the current code of a method through its slot.
    pub fn call_method(&mut self, method: MethodRef, signature: SigRef, args: &[Value]) -> Results {
        let target = self.load_symbol(I64, Symbol::MethodSlot(method), 0);
        self.call_indirect(signature, target, args)
    }

    /// Calls the code that a symbol names, with a signature of the caller's choice.
    pub fn call_symbol(&mut self, symbol: Symbol, signature: SigRef, args: &[Value]) -> Results {
        let target = self.symbol(symbol);
        self.call_indirect(signature, target, args)
    }

    /// Emits a call, or inside handlers a `try_call`, which ends the block:
    ///
    /// ```text
    ///     v2 = call fn0(v1)               try_call fn0(v1), block1(ret0), [tag0: pad0(exn0, exn1)]
    ///                                 block1(v2: i64):
    /// ```
    fn emit_call(&mut self, target: Target, args: &[Value]) -> Results {
        if self.handlers.is_empty() {
            let call = match target {
                Target::Function(f) => self.b.ins().call(f, args),
                Target::Address(s, address) => self.b.ins().call_indirect(s, address, args),
            };
            return self.b.inst_results(call).into();
        }
        let signature = match target {
            Target::Function(f) => self.b.func.dfg.ext_funcs[f].signature,
            Target::Address(s, _) => s,
        };
        // A `try_call` ends its block. The results are parameters of the block behind it.
        let on = self.b.create_block();
        let count = self.b.func.dfg.signatures[signature].returns.len();
        let mut passed: SmallVec<[BlockArg; 4]> = SmallVec::new();
        for i in 0..count {
            let ty = self.b.func.dfg.signatures[signature].returns[i].value_type;
            self.b.append_block_param(on, ty);
            passed.push(BlockArg::TryCallRet(i as u32));
        }
        let normal = self.b.func.dfg.block_call(on, &passed);
        let mut operands: SmallVec<[ExceptionTableItem; 4]> = SmallVec::new();
        for i in 0..self.handlers.len() {
            let (tag, pad) = self.handlers[i];
            let pad = self
                .b
                .func
                .dfg
                .block_call(pad, &[BlockArg::TryCallExn(0), BlockArg::TryCallExn(1)]);
            operands.push(match tag {
                CATCH_ALL => ExceptionTableItem::Default(pad),
                tag => ExceptionTableItem::Tag(ExceptionTag::from_u32(tag), pad),
            });
        }
        let table = self
            .b
            .func
            .dfg
            .exception_tables
            .push(ExceptionTableData::new(signature, normal, operands));
        match target {
            Target::Function(f) => self.b.ins().try_call(f, args, table),
            Target::Address(_, address) => self.b.ins().try_call_indirect(address, args, table),
        };
        self.b.seal_block(on);
        self.b.switch_to_block(on);
        self.b.block_params(on).into()
    }
}
