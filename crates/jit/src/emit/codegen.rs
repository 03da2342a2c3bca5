//! The code generator: compiles the CLIF that a closure emits.
//!
//! # How it works
//! One compile, with the memory that it takes from the thread and gives back:
//!
//! ```text
//! take_worker -> Emitter::new -> the caller's closure emits -> seal, finalize
//!             -> passes over the CLIF (optimised code) -> Cranelift compiles -> finish reads the result -> keep_worker
//! ```
//!
//! # Invariants
//! A compile takes no lock. What a thread's compile can reuse from the one before is kept in a thread-local variable.
use super::emitter::Emitter;
use super::finish::{Finished, FrameMap, finish};
use super::isa::{has_aes, isa};
use super::positions::current_offset;
use crate::blob::Blob;
use crate::error::CompileError;
use crate::optimise;
use crate::options::{AllocProtection, Options, Recorded, Tier};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{Signature, UserFuncName};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::OptLevel;
use cranelift_codegen::{CodegenResult, CompiledCode};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use std::cell::RefCell;
use std::time::Instant;
use vervet_os::Published;

thread_local! {
    static WORKER: RefCell<Option<Box<Worker>>> = const { RefCell::new(None) };
}

/// The allocations that a compile reuses from the previous compile on the same thread.
struct Worker {
    context: Context,
    builder: FunctionBuilderContext,
    registers: regalloc2::Ctx,
}

/// Takes the worker of this thread. There is none while another compile on this thread has it, nor after the destructors
/// of the thread's local variables have run: functions registered with `atexit`, and destructors of pthread keys, may
/// still call managed code then.
fn take_worker() -> Option<Box<Worker>> {
    WORKER.try_with(|w| w.borrow_mut().take()).ok().flatten()
}

/// Keeps a worker for the next compile on this thread.
fn keep_worker(worker: Box<Worker>) {
    let _ = WORKER.try_with(|w| *w.borrow_mut() = Some(worker));
}

/// Frees what compiles on this thread have kept for the next one: some MiB after a large method.
pub fn forget_worker() {
    drop(take_worker());
}

/// The configurations of the code generator, each built when it is first needed. All threads share one.
pub struct Codegen {
    quick: Published<OwnedTargetIsa>,
    compact: Published<OwnedTargetIsa>,
    optimised: Published<OwnedTargetIsa>,
    verify: bool,
    allocation: AllocProtection,
    recorded: Recorded,
    fail_guards: bool,
    counts_calls: bool,
    loop_iterations: u32,
    has_aes: bool,
    tables: vervet_abi::TableSizes,
}

/// What to compile.
pub struct Request<'a> {
    /// Full name, for errors and listings.
    pub name: &'a str,
    /// Signature of the function.
    pub signature: Signature,
    /// The configuration to compile with.
    pub tier: Tier,
    /// Whether to fill in [`Blob::listing`].
    pub listing: bool,
}

impl Codegen {
    /// A code generator for this machine.
    pub fn new(options: &Options) -> Codegen {
        Codegen {
            quick: Published::new(),
            compact: Published::new(),
            optimised: Published::new(),
            verify: options.verify,
            allocation: options.allocation,
            recorded: options.recorded,
            fail_guards: options.fail_guards,
            counts_calls: options.counts_calls,
            loop_iterations: options.loop_iterations,
            has_aes: has_aes() && !options.without_aes,
            tables: options.tables,
        }
    }

    /// See [`Options::fail_guards`].
    pub fn fails_guards(&self) -> bool {
        self.fail_guards
    }
    /// See [`Options::counts_calls`].
    pub fn counts_calls(&self) -> bool {
        self.counts_calls
    }
    /// See [`Options::loop_iterations`].
    pub fn loop_iterations(&self) -> u32 {
        self.loop_iterations.max(1)
    }
    /// What the profiler is told of.
    pub fn recorded(&self) -> Recorded {
        self.recorded
    }

    /// The configuration of a tier.
    fn isa(&self, tier: Tier) -> &'static OwnedTargetIsa {
        let (cell, opt, regalloc) = match tier {
            Tier::Quick => (&self.quick, "none", "single_pass"),
            Tier::Compact => (&self.compact, "none", "backtracking"),
            Tier::Optimised => (&self.optimised, "speed", "backtracking"),
        };
        cell.get()
            .unwrap_or_else(|| cell.put(isa(self.verify, opt, regalloc)))
    }

    /// Compiles the function that `emit` emits. The emitter starts in an entry block, sealed, that has the function's
    /// parameters; `emit` must end every block, and blocks that it left unsealed are sealed afterwards. Returns the blob,
    /// without `clauses` and `filters`, and the map of the frame.
    ///
    /// # Errors
    /// The error of `emit`, or [`CompileError::Internal`] if the CLIF is not valid or cannot be compiled.
    pub fn function(
        &self,
        request: Request<'_>,
        emit: impl FnOnce(&mut Emitter<'_>) -> Result<(), CompileError>,
    ) -> Result<(Blob, FrameMap), CompileError> {
        let mut worker = take_worker().unwrap_or_else(|| {
            Box::new(Worker {
                context: Context::new(),
                builder: FunctionBuilderContext::new(),
                registers: regalloc2::Ctx::default(),
            })
        });
        let result = self.run(&mut worker, request, emit);
        // A builder context that a failed compile left half-filled must not be used again.
        if result.is_ok() {
            worker.context.clear();
            keep_worker(worker);
        }
        result
    }

    /// Emits and compiles one function with the worker's memory.
    fn run(
        &self,
        worker: &mut Worker,
        request: Request<'_>,
        emit: impl FnOnce(&mut Emitter<'_>) -> Result<(), CompileError>,
    ) -> Result<(Blob, FrameMap), CompileError> {
        let start = Instant::now();
        let isa = self.isa(request.tier);
        let stack_arg_bytes = crate::signature::stack_arg_bytes(&request.signature);
        let context = &mut worker.context;
        // It is empty, and keeps its memory.
        context.func.name = UserFuncName::user(0, 0);
        context.func.signature = request.signature;
        let builder = FunctionBuilder::new(&mut context.func, &mut worker.builder);
        let mut emitter = Emitter::new(builder, (self.allocation, self.recorded), self.tables);
        emitter.optimises = request.tier == Tier::Optimised;
        emitter.has_aes = self.has_aes;
        emit(&mut emitter)?;
        let Emitter {
            b: mut builder,
            symbols,
            positions,
            check,
            counted,
            tail_bytes,
            mut notes,
            frame_pointers,
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
        if request.tier == Tier::Optimised
            && let Err(e) = optimise::run(context, &mut notes, &**isa)
        {
            return Err(internal(e.to_string()));
        }
        let clif = request.listing.then(|| context.func.display().to_string());
        context.set_disasm(request.listing);
        let compiled = compile(context, &mut worker.registers, &**isa).map_err(|e| {
            internal(cranelift_codegen::print_errors::pretty_error(
                &context.func,
                e,
            ))
        })?;
        let compiled = &compiled;
        let finished = Finished {
            function: &context.func,
            compiled,
            symbols: &symbols,
            positions,
            check,
            counted,
            stack_arg_bytes,
            tail_bytes,
            exposes_frame: frame_pointers != 0,
            needed: notes.needed(),
        };
        let (mut blob, frame) = finish(finished).map_err(internal)?;
        blob.stats.translate_ns = (translated - start).as_nanos() as u64;
        blob.stats.codegen_ns = translated.elapsed().as_nanos() as u64;
        if let Some(clif) = clif {
            let vcode = compiled.vcode.as_deref().unwrap_or_default();
            let bytes = blob.code.len();
            let (name, tier) = (request.name, request.tier);
            let separator = if vcode.is_empty() { "" } else { "\n" };
            blob.listing = Some(format!(
                "--- {name} ({tier:?})\n{clif}{separator}{vcode}{bytes} bytes\n"
            ));
        }
        Ok((blob, frame))
    }
}

/// Compiles the function of the context, as [`Context::compile`] does it, with our own passes behind Cranelift's.
fn compile(
    context: &mut Context,
    registers: &mut regalloc2::Ctx,
    isa: &dyn TargetIsa,
) -> CodegenResult<CompiledCode> {
    let plane = &mut ControlPlane::default();
    context.optimize(isa, plane)?;
    let is_optimised = isa.flags().opt_level() != OptLevel::None;
    if is_optimised {
        optimise::finish(context);
        context.verify_if(isa)?;
    } else {
        optimise::finish_quick(context);
    }
    let (func, domtree) = (&context.func, &context.domtree);
    let stencil = isa.compile_function(func, domtree, registers, context.want_disasm, plane)?;
    let code = stencil.apply_params(&func.params);
    if cfg!(debug_assertions) && is_optimised {
        assert_eq!(optimise::gap(&code), None, "a step has a gap");
    }
    Ok(code)
}
