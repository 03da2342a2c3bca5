//! The door to the compiler: options, the environment it asks, errors, and the compile boundary.
use crate::blob::Blob;
use crate::codegen::Codegen;
use crate::shape::Shape;
use crate::{stubs, translate};
use vervet_types::{ClassRef, LoadError, MethodRef};

/// What the compiler asks of the runtime.
pub trait CompileEnv: Sync {
    /// May the class-init check be left out? (The class is initialised, or has nothing to run.)
    fn is_initialized(&self, class: ClassRef) -> bool;
    /// Does loading the Type object, literal and VTable symbols need nothing more? (always true for now)
    fn wants_stack_check(&self) -> bool {
        true
    }
}

/// How much effort a compile takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// No optimisation, single-pass register allocation.
    Quick,
    /// Speed, backtracking register allocation.
    Optimised,
}

/// What keeps an allocation's window from being taken away between the load of its `next` and the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AllocProtection {
    /// The thread is `critical` meanwhile and is not stopped.
    #[default]
    CriticalFlag,
    /// The thread may be stopped; the collector must leave the windows of threads stopped by signal alone.
    StoreOrder,
    /// Nothing does: for measuring what the others cost.
    None,
}

/// Settings for the life of the process.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How inline allocation is kept apart from the collector.
    pub allocation: AllocProtection,
    /// Run the CLIF verifier.
    pub verify: bool,
    /// Methods whose listing is wanted: substring of the full name.
    pub verbose: Option<String>,
    /// Optimise every method at its first compile.
    pub optimise_all: bool,
    /// Sizes of the tables that generated code indexes.
    pub tables: vervet_abi::TableSizes,
}

/// Why there is no blob.
#[derive(thiserror::Error, Debug)]
pub enum CompileError {
    /// A type or member could not be loaded (or a resolve event is needed: `LoadError::Need`).
    #[error("{0}")]
    Load(#[from] LoadError),
    /// Bad IL: InvalidProgramException naming method and offset.
    #[error("Invalid IL code in {method}: IL_{offset:04x}: {reason}")]
    Invalid {
        /// Full name of the method.
        method: String,
        /// IL offset.
        offset: u32,
        /// Why.
        reason: String,
    },
    /// Our bug.
    #[error("internal compiler error in {method}: IL_{offset:04x}: {reason}")]
    Internal {
        /// Full name of the method.
        method: String,
        /// IL offset reached.
        offset: u32,
        /// Verifier output or panic message.
        reason: String,
    },
}

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
    /// exception is in `Context::pending`. Called only by the runtime's `enter` thunk, which sets r15.
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
            offset: crate::codegen::current_offset(),
            reason,
        })
    })
}
