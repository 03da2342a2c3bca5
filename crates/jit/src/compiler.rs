//! The compiler as the runtime sees it: the tier of a method, and the compile itself.
//!
//! # How it works
//! ```text
//! the method                            its code
//! has IL                                translate::compile
//! delegate member, array accessor,
//!   P/Invoke                            stubs::method_stub
//! internal call                         a stub of the runtime; never compiled here
//! abstract                              CompileError::Invalid
//! ```
//!
//! The runtime's prestub calls [`Compiler::compile`] when a method is first called, on the thread
//! that calls it or on the background compiler's thread. Several threads may compile at the same
//! time, even the same method.
//!
//! # Invariants
//! * A compile never touches the heap, never runs managed code, and takes no lock for its duration.
//! * A panic below is caught here and reported as [`CompileError::Internal`], so a mistake in this
//!   crate costs one method and not the process.
use crate::blob::Blob;
use crate::emit::Codegen;
use crate::error::CompileError;
use crate::initialisers::Initialisers;
use crate::options::{CompileEnv, Options, Tier};
use crate::signature::LoweredSignature;
use crate::{stubs, tiers, translate};
use vervet_types::MethodRef;

/// The compiler. All threads share one.
pub struct Compiler {
    codegen: Codegen,
    options: Options,
}

impl Compiler {
    /// Builds the compiler for the features of this machine.
    pub fn new(options: Options) -> Compiler {
        Compiler {
            codegen: Codegen::new(&options),
            options,
        }
    }
    /// The code generator, for stubs that belong to no method.
    pub fn codegen(&self) -> &Codegen {
        &self.codegen
    }
    /// A number for all that decides what code is made from given IL and types: the
    /// instructions of this machine that are used, and the
    /// options. Numbers of one build of this crate may be compared.
    pub fn fingerprint(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut h = rustc_hash::FxHasher::default();
        crate::emit::hash_machine(&mut h);
        let o = &self.options;
        (o.allocation as u8, o.verify, o.optimise_all, o.fail_guards).hash(&mut h);
        (o.counts_calls, o.loop_iterations, o.without_aes).hash(&mut h);
        (o.tables.card_mask, o.tables.handle_index_bits).hash(&mut h);
        h.finish()
    }
    /// The tier of a method's first compile: the only place that decides. Methods of a few
    /// bytes are optimised at once, and so are those with a loop that
    /// cannot be left (the translator finds that out: `translate/control/replacement.rs`). The
    /// others count their calls ([`Options::counts_calls`]) and the
    /// iterations of their loops, and are compiled again if there are many. Optimising costs
    /// 1.6 times a quick compile and halves the code (measured).
    pub fn tier_for(&self, method: MethodRef) -> Tier {
        if self.options.optimise_all && method.has_body() {
            return Tier::Optimised;
        }
        if method.is_cctor() || !method.has_body() {
            return Tier::Quick;
        }
        let Ok(body) = method.body() else {
            return Tier::Quick;
        };
        // Most dynamic methods are called a few times, and the class library waits for their
        // code: compiled expressions, binders of `dynamic`.
        let is_small = tiers::is_small(&body) && !method.is_dynamic();
        let is_at_once = tiers::has_loop(&body)
            && tiers::is_not_too_long(&body)
            && !(self.options.counts_calls
                && !self.options.recorded.calls
                && tiers::has_replaceable_loops(method));
        match is_small || is_at_once {
            true => Tier::Optimised,
            false => Tier::Quick,
        }
    }
    /// The tier of a method where time for compiling does not count: the best, except for what
    /// runs once, and a smaller frame for bodies so long that
    /// optimising takes out of proportion.
    pub fn best_tier_for(&self, method: MethodRef) -> Tier {
        match self.tier_for(method) {
            Tier::Quick if tiers::is_worth_optimising(method) => Tier::Optimised,
            Tier::Quick if tiers::may_be_compiled_again(method) => Tier::Compact,
            tier => tier,
        }
    }
    /// Compiles a method that has IL, or whose body is generated: delegate members, array
    /// accessors, P/Invoke stubs. The runtime itself makes the stubs of internal calls.
    ///
    /// # Errors
    /// [`CompileError`], also for type arguments that violate a constraint.
    pub fn compile(
        &self,
        method: MethodRef,
        env: &dyn CompileEnv,
        tier: Tier,
    ) -> Result<Blob, CompileError> {
        guarded(
            || method.full_name(),
            || {
                method.class.check_constraints()?;
                method.check_constraints()?;
                let mut blob = match method.has_body() {
                    true => {
                        let listing = self.wants_listing(method);
                        translate::compile(&self.codegen, method, env, tier, listing)?
                    }
                    false => stubs::method_stub(&self.codegen, method)?.ok_or_else(|| {
                        CompileError::Invalid {
                            method: method.full_name(),
                            offset: 0,
                            reason: "the method has no body".to_owned(),
                        }
                    })?,
                };
                // What the class is made of is looked at when its VTable is wanted: after the
                // body, whose errors are those of the code that is called.
                method.class.check()?;
                blob.initialise = Initialisers::default().of(method).to_vec();
                Ok(blob)
            },
        )
    }
    /// Compiles a method of which quick code runs for long in the loop whose head is at an IL
    /// offset: code that is called with the values of its variables, and
    /// goes on at the head (`translate/control/replacement.rs`).
    ///
    /// # Errors
    /// As [`compile`](Compiler::compile).
    pub fn compile_loop(
        &self,
        method: MethodRef,
        env: &dyn CompileEnv,
        head: u32,
    ) -> Result<Blob, CompileError> {
        guarded(
            || method.full_name(),
            || {
                translate::compile_loop(
                    &self.codegen,
                    method,
                    env,
                    head,
                    self.wants_listing(method),
                )
            },
        )
    }
    /// Compiles a given body in place of the method's own, without inlining. For tests.
    pub fn compile_body(
        &self,
        method: MethodRef,
        body: vervet_metadata::MethodBody<'static>,
        env: &dyn CompileEnv,
        tier: Tier,
    ) -> Result<Blob, CompileError> {
        guarded(
            || method.full_name(),
            || translate::compile_body(&self.codegen, method, body, env, tier),
        )
    }
    /// The stub by which the runtime calls managed code of a signature: `extern "C" fn(code, args:
    /// *const u64, ret: *mut u64, context) -> u32`. `args` has one word for each CLIF parameter,
    /// `ret` one for each CLIF result. The result is 0, or 1 if the callee threw; then the
    /// exception is in `ThreadContext::pending`. Only the runtime's `enter` thunk calls it, which
    /// sets r15.
    pub fn invoke_stub(&self, lowered: &LoweredSignature) -> Result<Blob, CompileError> {
        guarded(
            || "an invoke stub".to_owned(),
            || stubs::invoke::invoke_stub(&self.codegen, lowered),
        )
    }
    /// Whether a listing of the method is wanted.
    fn wants_listing(&self, method: MethodRef) -> bool {
        self.options
            .verbose
            .as_ref()
            .is_some_and(|part| method.full_name().contains(part.as_str()))
    }
}

/// Code that belongs to no one method.
impl Compiler {
    /// The code that `invoke_impl` of a delegate points to; `lowered` is the signature of the
    /// class's `Invoke`. [`stubs::delegate::DelegateThunk::of`] says which one a delegate needs.
    pub fn delegate_thunk(
        &self,
        kind: stubs::delegate::DelegateThunk,
        lowered: &LoweredSignature,
    ) -> Result<Blob, CompileError> {
        let name = || format!("the delegate thunk {kind:?}");
        guarded(name, || {
            stubs::delegate::delegate_thunk(self.codegen(), kind, lowered)
        })
    }
    /// The code that `invoke_impl` of a delegate around a native function points to; `invoke` is
    /// the class's `Invoke`. The function's address is in `extra_arg`, and `m_target` is null.
    pub fn native_delegate_thunk(&self, invoke: MethodRef) -> Result<Blob, CompileError> {
        let name = || invoke.full_name();
        guarded(name, || {
            stubs::native::pinvoke::native_delegate_thunk(self.codegen(), invoke)
        })
    }
    /// The stub for calls that preserve all registers.
    pub fn cold_call(&self, result: crate::blob::ColdResult) -> Result<Blob, CompileError> {
        let name = || format!("the stub of cold calls, {result:?}");
        guarded(name, || stubs::cold_call::cold_call(self.codegen(), result))
    }
    /// What a call of an instance method on a transparent proxy reaches: code with the method's signature.
    pub fn remote_stub(&self, method: MethodRef) -> Result<Blob, CompileError> {
        guarded(
            || method.full_name(),
            || stubs::remote::remote_stub(self.codegen(), method),
        )
    }
    /// As [`Compiler::reverse_stub`], of a method of a COM interface: it is called with the
    /// object, and calls `wrapper`.
    pub fn com_stub(&self, wrapper: MethodRef) -> Result<Blob, CompileError> {
        let name = || wrapper.full_name();
        guarded(name, || {
            stubs::native::reverse::com_stub(self.codegen(), wrapper)
        })
    }
    /// As [`Compiler::reverse_stub`], of one of the functions that all COM interfaces have.
    pub fn com_unknown_stub(&self, slot: u32) -> Result<Blob, CompileError> {
        let name = || format!("function {slot} of COM interfaces");
        guarded(name, || {
            stubs::native::reverse::com_unknown_stub(self.codegen(), slot)
        })
    }
    /// The code that the reverse thunk calls: a Tail function `(delegate, ReverseCall block)`.
    /// `invoke` is the `Invoke` of the delegate class.
    pub fn reverse_stub(&self, invoke: MethodRef) -> Result<Blob, CompileError> {
        let name = || invoke.full_name();
        guarded(name, || {
            stubs::native::reverse::reverse_stub(self.codegen(), invoke)
        })
    }
}

/// Runs a compile, and turns a panic into [`CompileError::Internal`].
pub fn guarded(
    name: impl Fn() -> String,
    f: impl FnOnce() -> Result<Blob, CompileError>,
) -> Result<Blob, CompileError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let reason = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_else(|| "a panic".to_owned());
        Err(CompileError::Internal {
            method: name(),
            offset: crate::emit::current_offset(),
            reason,
        })
    })
}
