//! Settings of the compiler, and what it asks of the runtime.
use vervet_types::ClassRef;

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

/// What the compiler asks of the runtime.
pub trait CompileEnv: Sync {
    /// May the class-init check be left out? (The class is initialised, or has nothing to run.)
    fn is_initialized(&self, class: ClassRef) -> bool;
    /// Does loading the Type object, literal and VTable symbols need nothing more? (always true for now)
    fn wants_stack_check(&self) -> bool {
        true
    }
}
