//! The door to the compiler: options, the environment it asks, errors, and the compile boundary.
use crate::blob::Blob;
use crate::shape::Shape;
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

/// Settings for the life of the process.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Run the CLIF verifier.
    pub verify: bool,
    /// Methods whose listing is wanted: substring of the full name.
    pub verbose: Option<String>,
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
    _private: (),
}

impl Compiler {
    /// Builds the compiler for this machine's features.
    pub fn new(options: Options) -> Compiler {
        let _ = options;
        todo!()
    }
    /// Which configuration a method gets: the one place that decides.
    pub fn tier_for(&self, method: MethodRef) -> Tier {
        let _ = method;
        Tier::Quick
    }
    /// Compiles a method that has IL, or whose body the JIT generates (delegate Invoke/BeginInvoke..., array
    /// accessors, P/Invoke stubs, synchronized methods). Icalls are stubbed by the runtime.
    pub fn compile(&self, method: MethodRef, env: &dyn CompileEnv, tier: Tier) -> Result<Blob, CompileError> {
        let _ = (method, env, tier);
        todo!()
    }
    /// `extern "C" fn(code, args: *const u64, ret: *mut u64, ctx) -> u32`: calls managed code of that shape with
    /// `args` = one word per CLIF parameter, `ret` = one word per CLIF result. 0: done; 1: it threw, the
    /// exception is in `Context::pending`. Called only by the runtime's `enter` thunk, which sets r15.
    pub fn invoke_stub(&self, shape: &Shape) -> Result<Blob, CompileError> {
        let _ = shape;
        todo!()
    }
}
