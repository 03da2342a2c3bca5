//! The compiler as the runtime sees it: which tier a method is compiled at, and where its code comes from.
use crate::blob::Blob;
use crate::emit::Codegen;
use crate::error::CompileError;
use crate::options::{CompileEnv, Options, Tier};
use crate::signature::Shape;
use crate::{stubs, translate};
use vervet_types::MethodRef;

/// Holds the two ISAs; shared by all threads.
pub struct Compiler {
    codegen: Codegen,
    options: Options,
}

impl Compiler {
    /// Builds the compiler for this machine's features.
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
    /// Which configuration a method gets: the one place that decides. There is no second compile yet, so what is
    /// likely to run often is optimised at once: methods with a loop, and small ones (measured: optimising costs
    /// 1.6 times the quick compile and halves the code).
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
        let len = body.code.len();
        if len <= SMALL || len <= LARGE && has_loop(&body) {
            Tier::Optimised
        } else {
            Tier::Quick
        }
    }
    /// Compiles a method that has IL, or whose body the JIT generates (delegate Invoke/BeginInvoke..., array
    /// accessors, P/Invoke stubs, synchronized methods). Icalls are stubbed by the runtime.
    pub fn compile(
        &self,
        method: MethodRef,
        env: &dyn CompileEnv,
        tier: Tier,
    ) -> Result<Blob, CompileError> {
        guarded(
            || method.full_name(),
            || {
                method.class.check()?;
                method.check_constraints()?;
                if method.has_body() {
                    return translate::compile(
                        &self.codegen,
                        method,
                        env,
                        tier,
                        self.wants_listing(method),
                    );
                }
                match stubs::method_stub(&self.codegen, method)? {
                    Some(blob) => Ok(blob),
                    None => Err(CompileError::Invalid {
                        method: method.full_name(),
                        offset: 0,
                        reason: "the method has no body".to_owned(),
                    }),
                }
            },
        )
    }
    /// Compiles a body from elsewhere in place of a method's own, without inlining (tests).
    pub fn compile_body(
        &self,
        method: MethodRef,
        body: vervet_metadata::MethodBody<'static>,
        env: &dyn CompileEnv,
        tier: Tier,
    ) -> Result<Blob, CompileError> {
        guarded(
            || method.full_name(),
            || translate::compile_body(&self.codegen, method, body, env, tier, false, 0),
        )
    }
    /// `extern "C" fn(code, args: *const u64, ret: *mut u64, ctx) -> u32`: calls managed code of that shape with
    /// `args` = one word per CLIF parameter, `ret` = one word per CLIF result. 0: done; 1: it threw, the
    /// exception is in `ThreadContext::pending`. Called only by the runtime's `enter` thunk, which sets r15.
    pub fn invoke_stub(&self, shape: &Shape) -> Result<Blob, CompileError> {
        guarded(
            || "an invoke stub".to_owned(),
            || stubs::invoke::invoke_stub(&self.codegen, shape),
        )
    }
    fn wants_listing(&self, method: MethodRef) -> bool {
        self.options
            .verbose
            .as_ref()
            .is_some_and(|part| method.full_name().contains(part.as_str()))
    }
}

/// Code that belongs to no one method.
impl Compiler {
    /// What `invoke_impl` of a delegate points to; `shape` is that of the delegate class's `Invoke`. Which one a
    /// delegate needs: [`stubs::delegate::DelegateThunk::of`].
    pub fn delegate_thunk(
        &self,
        kind: stubs::delegate::DelegateThunk,
        shape: &Shape,
    ) -> Result<Blob, CompileError> {
        let name = || format!("the delegate thunk {kind:?}");
        guarded(name, || {
            stubs::delegate::delegate_thunk(self.codegen(), kind, shape)
        })
    }
    /// What `invoke_impl` of a delegate around a native function points to; `invoke` is the class's `Invoke`.
    /// The function's address is in `extra_arg`, `m_target` is null.
    pub fn native_delegate_thunk(&self, invoke: MethodRef) -> Result<Blob, CompileError> {
        let name = || invoke.full_name();
        guarded(name, || {
            stubs::native::pinvoke::native_delegate_thunk(self.codegen(), invoke)
        })
    }
    /// What the reverse thunk calls, a Tail function `(delegate, ReverseCall block)`; `invoke` is the delegate
    /// class's `Invoke`.
    pub fn reverse_stub(&self, invoke: MethodRef) -> Result<Blob, CompileError> {
        let name = || invoke.full_name();
        guarded(name, || {
            stubs::native::reverse::reverse_stub(self.codegen(), invoke)
        })
    }
}

/// Methods of at most this many IL bytes are always optimised.
const SMALL: usize = 96;
/// Methods of more IL bytes than this never are: the optimising register allocator is not linear.
const LARGE: usize = 6000;

/// Is there a branch back?
fn has_loop(body: &vervet_metadata::MethodBody<'_>) -> bool {
    use vervet_metadata::il::Operand;
    body.instructions()
        .map_while(Result::ok)
        .any(|i| match i.operand {
            Operand::Branch(to) => to <= i.offset,
            Operand::Switch(to) => to.iter().any(|t| t <= i.offset),
            _ => false,
        })
}

/// The compile boundary: a panic inside is reported as our bug.
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
