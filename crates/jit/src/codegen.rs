//! The way from a Rust closure that emits CLIF to a [`Blob`]: ISAs, the emitter, and what is read out of a
//! compiled function.
//!
//! # How it works
//! [`Codegen::function`] hands an [`Emitter`] to a closure, compiles what it emitted and converts code,
//! relocations, call sites, traps and source locations. An emitter knows symbols (the only way to name
//! something outside the function), the context (pinned register), and the current handlers: while there are
//! any, every call is a `try_call`.
//!
//! # Invariants
//! * Nothing is named but through [`Symbol`]s; a library call that Cranelift would insert is an error.
//! * A frame larger than a page is probed page by page, so that it ends at the guard page of a stack and not behind it.
//! * A source location is an IL offset; its bit [`NO_REDIRECT`] marks a store/mark pair.
use crate::blob::*;
use crate::compiler::{AllocProtection, CompileError, Options, Tier};
use cranelift_codegen::binemit::Reloc as ClReloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{self, types::*, *};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachExceptionHandler, FinalizedRelocTarget};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::time::Instant;
use vervet_abi::helpers::result;
use vervet_abi::{Declared, Helper, ThrowKind, Ty, call};
use vervet_types::MethodRef;

/// Bit of a source location: an asynchronous exception must not be raised here.
pub const NO_REDIRECT: u32 = 1 << 30;
/// Bit of a source location: the rest is an index in the emitter's list of places in inlined methods.
const INLINED: u32 = 1 << 29;
/// Tag of a handler that catches everything (invoke stubs).
pub const CATCH_ALL: u32 = u32::MAX;

/// The values a call returns.
pub type Results = SmallVec<[Value; 4]>;

thread_local! {
    static WORKER: RefCell<Option<Box<Worker>>> = const { RefCell::new(None) };
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// The IL offset this thread's compile has reached, for reports of our own bugs.
pub fn current_offset() -> u32 {
    CURRENT.with(Cell::get)
}

/// What a compile reuses from the one before on the same thread.
struct Worker {
    context: Context,
    builder: FunctionBuilderContext,
}

/// What the compile before has left. Nothing once the thread's locals are gone: functions registered with `atexit`, and
/// destructors of a thread's keys, may still call managed code then.
fn taken() -> Option<Box<Worker>> {
    WORKER.try_with(|w| w.borrow_mut().take()).ok().flatten()
}
fn keep(worker: Box<Worker>) {
    let _ = WORKER.try_with(|w| *w.borrow_mut() = Some(worker));
}

/// The two configurations of the code generator.
pub struct Codegen {
    quick: OwnedTargetIsa,
    optimised: OwnedTargetIsa,
    allocation: AllocProtection,
    tables: vervet_abi::TableSizes,
}

fn isa(options: &Options, opt: &str, regalloc: &str) -> OwnedTargetIsa {
    let mut b = settings::builder();
    let verify = if options.verify { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", opt),
        ("regalloc_algorithm", regalloc),
        ("enable_pinned_reg", "true"),
        ("preserve_frame_pointers", "true"),
        ("unwind_info", "false"),
        ("is_pic", "false"),
        ("enable_verifier", verify),
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("probestack_size_log2", "12"),
    ] {
        b.set(name, value)
            .expect("a setting of this Cranelift version");
    }
    cranelift_native::builder()
        .expect("a supported machine")
        .finish(settings::Flags::new(b))
        .expect("valid settings")
}

/// Where things of a compiled function ended up, for functions that work on its frame (filters).
#[derive(Default, Clone)]
pub struct FrameMap {
    /// By stack slot number: what to add to the frame pointer.
    pub slots: Vec<i32>,
}

/// What to compile.
pub struct Request<'a> {
    /// Full name, for errors and listings.
    pub name: &'a str,
    /// Signature of the function.
    pub signature: Signature,
    /// How much effort.
    pub tier: Tier,
    /// Make [`Blob::listing`].
    pub listing: bool,
}

impl Codegen {
    /// Builds both configurations for this machine.
    pub fn new(options: &Options) -> Codegen {
        Codegen {
            quick: isa(options, "none", "single_pass"),
            optimised: isa(options, "speed", "backtracking"),
            allocation: options.allocation,
            tables: options.tables,
        }
    }

    /// Compiles what `emit` emits. The emitter has an entry block with the function's parameters, current and
    /// sealed; `emit` leaves all blocks filled (unsealed ones are sealed here). It returns the blob and, for
    /// filters, the map of the frame. `Blob::clauses` and `filters` are left empty.
    pub fn function(
        &self,
        request: Request<'_>,
        emit: impl FnOnce(&mut Emitter<'_>) -> Result<(), CompileError>,
    ) -> Result<(Blob, FrameMap), CompileError> {
        let mut worker = taken().unwrap_or_else(|| {
            Box::new(Worker {
                context: Context::new(),
                builder: FunctionBuilderContext::new(),
            })
        });
        let result = self.run(&mut worker, request, emit);
        if result.is_ok() {
            worker.context.clear();
            keep(worker);
        }
        result
    }

    fn run(
        &self,
        worker: &mut Worker,
        request: Request<'_>,
        emit: impl FnOnce(&mut Emitter<'_>) -> Result<(), CompileError>,
    ) -> Result<(Blob, FrameMap), CompileError> {
        let start = Instant::now();
        let isa = match request.tier {
            Tier::Quick => &self.quick,
            Tier::Optimised => &self.optimised,
        };
        let stack_arg_bytes = crate::shape::stack_arg_bytes(&request.signature);
        let context = &mut worker.context;
        context.func = Function::with_name_signature(UserFuncName::user(0, 0), request.signature);
        let builder = FunctionBuilder::new(&mut context.func, &mut worker.builder);
        let mut emitter = Emitter::new(builder, self.allocation, self.tables);
        emit(&mut emitter)?;
        let Emitter {
            b: mut builder,
            symbols,
            sites,
            places,
            ..
        } = emitter;
        builder.seal_all_blocks();
        builder.finalize(isa.frontend_config());
        let translated = Instant::now();
        let internal = |reason: String| CompileError::Internal {
            method: request.name.to_owned(),
            offset: current_offset(),
            reason,
        };
        let clif = request.listing.then(|| context.func.display().to_string());
        context.set_disasm(request.listing);
        if let Err(e) = context.compile(&**isa, &mut ControlPlane::default()) {
            return Err(internal(cranelift_codegen::print_errors::pretty_error(
                e.func, e.inner,
            )));
        }
        let compiled = context.compiled_code().expect("compiled just now");
        let mut blob = Blob {
            stack_arg_bytes,
            ..Blob::default()
        };
        blob.code = compiled.code_buffer().to_vec();
        blob.align = compiled.buffer.alignment.max(16);
        for r in compiled.buffer.relocs() {
            let (symbol, extra) = match &r.target {
                FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
                    let name = &context.func.params.user_named_funcs()[*name];
                    (symbols[name.index as usize], 0)
                }
                FinalizedRelocTarget::Func(offset) => (Symbol::SelfCode, i64::from(*offset)),
                FinalizedRelocTarget::ExternalName(other) => {
                    return Err(internal(format!("a relocation against {other:?}")));
                }
            };
            let kind = match r.kind {
                ClReloc::Abs8 => RelocKind::Abs8,
                ClReloc::X86CallPCRel4 | ClReloc::X86PCRel4 => RelocKind::PcRel4,
                other => return Err(internal(format!("a relocation of kind {other:?}"))),
            };
            blob.relocs.push(Reloc {
                offset: r.offset,
                kind,
                symbol,
                addend: r.addend + extra,
            });
        }
        for site in compiled.buffer.call_sites() {
            let first_handler = blob.handlers.len() as u32;
            for h in site.exception_handlers {
                match h {
                    FinalizedMachExceptionHandler::Tag(tag, code) => {
                        blob.handlers.push(Handler {
                            clause: tag.as_u32(),
                            code: *code,
                        });
                    }
                    FinalizedMachExceptionHandler::Default(code) => {
                        blob.handlers.push(Handler {
                            clause: CATCH_ALL,
                            code: *code,
                        });
                    }
                    FinalizedMachExceptionHandler::Context(_) => {}
                }
            }
            blob.call_sites.push(CallSite {
                ret: site.ret_addr,
                frame_offset: site.frame_offset.unwrap_or(u32::MAX),
                first_handler,
                handler_count: blob.handlers.len() as u32 - first_handler,
            });
        }
        for t in compiled.buffer.traps() {
            let kind = if t.code == TrapCode::INTEGER_DIVISION_BY_ZERO {
                ThrowKind::DivideByZero as u8
            } else if t.code == TrapCode::INTEGER_OVERFLOW {
                ThrowKind::Overflow as u8
            } else if t.code.as_raw().get() <= 250 {
                t.code.as_raw().get()
            } else {
                ThrowKind::NullReference as u8
            };
            blob.traps.push((t.offset, kind));
        }
        blob.traps.sort_unstable();
        let mut last = None;
        let mut last_inlined = (0, 0);
        for s in compiled.buffer.get_srclocs_sorted() {
            let loc = s.loc.bits();
            let unknown = s.loc.is_default();
            if !unknown && blob.prologue_end == 0 {
                blob.prologue_end = s.start;
            }
            if !unknown && loc & NO_REDIRECT != 0 {
                match blob.no_redirect.last_mut() {
                    Some(range) if range.1 == s.start => range.1 = s.end,
                    _ => blob.no_redirect.push((s.start, s.end)),
                }
            }
            let mut il = if unknown {
                u32::MAX
            } else {
                loc & !NO_REDIRECT
            };
            let mut inlined = (0, 0);
            if !unknown && il & INLINED != 0 {
                inlined = places[(il & !INLINED) as usize];
                let mut site = inlined.0;
                while site != 0 {
                    il = sites[site as usize - 1].il_offset;
                    site = sites[site as usize - 1].parent;
                }
            }
            if last != Some(il) {
                blob.il_map.push((s.start, il));
                last = Some(il);
            }
            if inlined != last_inlined {
                blob.inline_map.push((s.start, inlined.0, inlined.1));
                last_inlined = inlined;
            }
        }
        blob.inline_sites = sites;
        let mut frame = FrameMap::default();
        if let Some(layout) = compiled.buffer.frame_layout() {
            blob.frame_size = layout.frame_to_fp_offset;
            frame.slots = context
                .func
                .sized_stack_slots
                .keys()
                .map(|s| layout.stackslots[s].offset as i32 - layout.frame_to_fp_offset as i32)
                .collect();
        }
        blob.stats = BlobStats {
            il_bytes: 0,
            clif_insts: context.func.dfg.num_insts() as u32,
            translate_ns: (translated - start).as_nanos() as u64,
            codegen_ns: translated.elapsed().as_nanos() as u64,
        };
        if let Some(clif) = clif {
            let mut text = format!("--- {} ({:?})\n{clif}", request.name, request.tier);
            if let Some(vcode) = &compiled.vcode {
                let _ = write!(text, "\n{vcode}");
            }
            let _ = writeln!(text, "{} bytes", blob.code.len());
            blob.listing = Some(text);
        }
        Ok((blob, frame))
    }
}

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

/// Memory flags of an access through a reference that may be null, outside protected regions.
pub fn null_trap() -> MemFlagsData {
    MemFlagsData::new().with_trap_code(Some(trap_code(ThrowKind::NullReference)))
}

/// The trap code the runtime turns into that exception.
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
    /// The builder, for everything that is not here.
    pub b: FunctionBuilder<'f>,
    /// How allocations are protected.
    pub allocation: AllocProtection,
    /// Sizes of the tables that the code indexes.
    pub tables: vervet_abi::TableSizes,
    symbols: Vec<Symbol>,
    helpers: Vec<Option<FuncRef>>,
    handlers: SmallVec<[(u32, Block); 4]>,
    location: u32,
    site: u32,
    sites: Vec<InlineSite>,
    places: Vec<(u32, u32)>,
}

impl<'f> Emitter<'f> {
    fn new(
        mut b: FunctionBuilder<'f>,
        allocation: AllocProtection,
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
            tables,
            symbols: Vec::new(),
            helpers: vec![None; Helper::ALL.len()],
            handlers: SmallVec::new(),
            location: 0,
            site: 0,
            sites: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The parameters of the function.
    pub fn params(&self) -> SmallVec<[Value; 8]> {
        let entry = self.b.func.layout.entry_block().expect("the entry block");
        self.b.block_params(entry).into()
    }

    /// Sets the IL offset of what follows.
    pub fn at(&mut self, il_offset: u32) {
        if self.site == 0 {
            self.location = il_offset;
            CURRENT.with(|c| c.set(il_offset));
        } else {
            self.location = INLINED | self.places.len() as u32;
            self.places.push((self.site, il_offset));
        }
        self.b.set_srcloc(SourceLoc::new(self.location));
    }

    /// What follows is the body of an inlined method, until [`Emitter::leave_inlined`] gets the result back.
    pub fn enter_inlined(&mut self, method: MethodRef) -> (u32, u32) {
        let outer = (self.site, self.location);
        let (parent, il_offset) = match outer.1 & INLINED {
            0 => (0, outer.1),
            _ => self.places[(outer.1 & !INLINED) as usize],
        };
        self.sites.push(InlineSite {
            method,
            parent,
            il_offset,
        });
        self.site = self.sites.len() as u32;
        self.at(0);
        outer
    }
    /// Number of bodies inlined so far.
    pub fn inlined(&self) -> usize {
        self.sites.len()
    }
    /// See [`Emitter::enter_inlined`].
    pub fn leave_inlined(&mut self, outer: (u32, u32)) {
        (self.site, self.location) = outer;
        self.b.set_srcloc(SourceLoc::new(self.location));
    }

    /// The place becomes another; gives the one before.
    pub fn swap_place(&mut self, place: (u32, u32)) -> (u32, u32) {
        let before = (self.site, self.location);
        self.leave_inlined(place);
        before
    }

    /// The current block runs at most once in a while: it is put behind the others.
    pub fn cold(&mut self) {
        if let Some(block) = self.b.current_block()
            && self.b.func.layout.entry_block() != Some(block)
        {
            self.b.set_cold_block(block);
        }
    }

    /// Notes the IL offset reached, for errors; what follows keeps the location of its sequence point.
    pub fn reached(&mut self, il_offset: u32) {
        if self.site == 0 {
            CURRENT.with(|c| c.set(il_offset));
        }
    }

    /// Emits something during which no asynchronous exception may be raised.
    pub fn without_redirect(&mut self, f: impl FnOnce(&mut Self)) {
        self.begin_no_redirect();
        f(self);
        self.end_no_redirect();
    }
    /// From here on no asynchronous exception may be raised.
    pub fn begin_no_redirect(&mut self) {
        self.b
            .set_srcloc(SourceLoc::new(self.location | NO_REDIRECT));
    }
    /// See [`Emitter::begin_no_redirect`].
    pub fn end_no_redirect(&mut self) {
        self.b.set_srcloc(SourceLoc::new(self.location));
    }

    /// From here on calls have these handlers (clause or [`CATCH_ALL`], landing pad), innermost first. A landing
    /// pad has two I64 parameters: exception and unwind record.
    pub fn set_handlers(&mut self, handlers: &[(u32, Block)]) {
        self.handlers.clear();
        self.handlers.extend_from_slice(handlers);
    }

    /// Are there handlers: must a fault be an explicit check?
    pub fn has_handlers(&self) -> bool {
        !self.handlers.is_empty()
    }

    fn name_of(&mut self, symbol: Symbol) -> ExternalName {
        let index = self.symbols.len() as u32;
        self.symbols.push(symbol);
        let name = self
            .b
            .func
            .declare_imported_user_function(UserExternalName::new(0, index));
        ExternalName::user(name)
    }

    /// The address (or value) of a symbol.
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

    /// The context's address. Not to be kept over a call: a green thread's context never moves, but the rule
    /// keeps live ranges short.
    pub fn context(&mut self) -> Value {
        self.b.ins().get_pinned_reg(I64)
    }

    /// Loads a word of the context.
    pub fn load_context(&mut self, ty: ir::Type, offset: i32) -> Value {
        let base = self.context();
        self.b.ins().load(ty, trusted(), base, offset)
    }

    /// Stores a word of the context.
    pub fn store_context(&mut self, value: Value, offset: i32) {
        let base = self.context();
        self.b.ins().store(trusted(), value, base, offset);
    }

    /// An explicit stack slot, 8-aligned.
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

    /// A helper's function.
    fn helper_ref(&mut self, helper: Helper) -> FuncRef {
        if let Some(f) = self.helpers[helper as usize] {
            return f;
        }
        let abi = helper.sig();
        let mut signature = Signature::new(CallConv::Tail);
        signature
            .params
            .extend(abi.params.iter().map(|t| AbiParam::new(clif_type(*t))));
        signature
            .returns
            .extend(abi.ret.iter().map(|t| AbiParam::new(clif_type(*t))));
        let signature = self.b.import_signature(signature);
        let name = self.name_of(Symbol::Helper(helper));
        let f = self.b.import_function(ExtFuncData {
            name,
            signature,
            colocated: false,
            patchable: false,
        });
        self.helpers[helper as usize] = Some(f);
        f
    }

    /// Leaf helpers never throw and are called plainly.
    fn call_helper(&mut self, helper: Helper, args: &[Value]) -> Option<Value> {
        let f = self.helper_ref(helper);
        let sig = helper.sig();
        for (value, ty) in args.iter().zip(sig.params) {
            let have = self.b.func.dfg.value_type(*value);
            assert!(have == clif_type(*ty), "{have} for an {ty:?} of {helper:?}");
        }
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

    /// Calls a helper that has a result.
    pub fn helper_value<H: Declared<N, result::Value>, const N: usize>(
        &mut self,
        _: H,
        args: [Value; N],
    ) -> Value {
        self.call_helper(H::HELPER, &args)
            .expect("declared with a result")
    }

    /// Calls a helper that does not come back, and ends the block.
    pub fn helper_noreturn<H: Declared<N, result::Never>, const N: usize>(
        &mut self,
        _: H,
        args: [Value; N],
    ) {
        self.call_helper(H::HELPER, &args);
        self.unreachable();
    }

    /// Ends the block, where control never comes.
    pub fn unreachable(&mut self) {
        self.b.ins().trap(trap_code(ThrowKind::ExecutionEngine));
    }

    /// Throws an exception of that kind, and ends the block.
    pub fn throw(&mut self, kind: ThrowKind) {
        let kind = self.b.ins().iconst(I32, i64::from(kind as u8));
        self.helper_noreturn(call::ThrowKind, [kind]);
    }

    /// Goes on only if `condition` is zero, else throws: a hardware trap, or inside handlers a cold call.
    pub fn throw_if(&mut self, condition: Value, kind: ThrowKind) {
        if !self.has_handlers() {
            self.b.ins().trapnz(condition, trap_code(kind));
            return;
        }
        let (cold, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(condition, cold, &[], on, &[]);
        self.cold_throw(cold, on, kind);
    }

    /// Goes on only if `condition` is not zero, else throws.
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

    /// Calls a method's current code through its slot.
    pub fn call_method(&mut self, method: MethodRef, signature: SigRef, args: &[Value]) -> Results {
        let target = self.load_symbol(I64, Symbol::MethodSlot(method), 0);
        self.call_indirect(signature, target, args)
    }

    /// Calls the code a symbol names (a thunk or a helper) with a signature of the caller's choosing.
    pub fn call_symbol(&mut self, symbol: Symbol, signature: SigRef, args: &[Value]) -> Results {
        let target = self.symbol(symbol);
        self.call_indirect(signature, target, args)
    }

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
        let on = self.b.create_block();
        let count = self.b.func.dfg.signatures[signature].returns.len();
        let mut passed: SmallVec<[BlockArg; 4]> = SmallVec::new();
        for i in 0..count {
            let ty = self.b.func.dfg.signatures[signature].returns[i].value_type;
            self.b.append_block_param(on, ty);
            passed.push(BlockArg::TryCallRet(i as u32));
        }
        let normal = self.b.func.dfg.block_call(on, &passed);
        let mut items: SmallVec<[ExceptionTableItem; 4]> = SmallVec::new();
        for i in 0..self.handlers.len() {
            let (tag, pad) = self.handlers[i];
            let pad = self
                .b
                .func
                .dfg
                .block_call(pad, &[BlockArg::TryCallExn(0), BlockArg::TryCallExn(1)]);
            items.push(match tag {
                CATCH_ALL => ExceptionTableItem::Default(pad),
                tag => ExceptionTableItem::Tag(ExceptionTag::from_u32(tag), pad),
            });
        }
        let table = self
            .b
            .func
            .dfg
            .exception_tables
            .push(ExceptionTableData::new(signature, normal, items));
        match target {
            Target::Function(f) => self.b.ins().try_call(f, args, table),
            Target::Address(_, address) => self.b.ins().try_call_indirect(address, args, table),
        };
        self.b.seal_block(on);
        self.b.switch_to_block(on);
        self.b.block_params(on).into()
    }
}
