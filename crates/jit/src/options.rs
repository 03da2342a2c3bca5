//! Settings of the compiler, and what it asks of the runtime.
use vervet_types::ClassRef;

/// How much effort a compile takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tier {
    /// No optimisation, single-pass register allocation.
    Quick,
    /// No optimisation, backtracking register allocation: the frame is small. For bodies so long that optimising takes out of proportion.
    Compact,
    /// Optimisation for speed, backtracking register allocation.
    Optimised,
}

/// What keeps the collector from taking a thread's TLAB away between the load of `alloc_next` and
/// its store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AllocProtection {
    /// The flag `critical` of the thread context: a thread that has set it is not stopped.
    #[default]
    CriticalFlag,
    /// Only the order of the stores: the collector must not take the TLABs of threads that were
    /// stopped by signal.
    StoreOrder,
    /// Nothing does: for measuring what the others cost.
    None,
}

/// What the profiler is told of: code for it calls the runtime where it would otherwise do the work itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Recorded {
    /// Every allocation.
    pub allocations: bool,
    /// GC handles made and freed.
    pub handles: bool,
    /// Finally clauses that no exception enters.
    pub finallys: bool,
    /// Calls of the methods that [`CompileEnv::records_calls`] names; nothing is inlined then.
    pub calls: bool,
}

/// Settings that hold for the life of the process.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What protects inline allocation.
    pub allocation: AllocProtection,
    /// What the profiler is told of.
    pub recorded: Recorded,
    /// Whether to run the CLIF verifier.
    pub verify: bool,
    /// Methods whose listing is wanted: a part of the full name.
    pub verbose: Option<String>,
    /// Whether every method is optimised when it is first compiled.
    pub optimise_all: bool,
    /// Whether no test of a guarded call ever passes: a debug aid, by which the calls behind the tests run.
    pub fail_guards: bool,
    /// Whether the processor's instructions for AES are left alone: a debug aid, by which the class library's ciphers run.
    pub without_aes: bool,
    /// Whether methods count their calls that would be compiled otherwise by the time they are called often.
    pub counts_calls: bool,
    /// After how many iterations of a loop quick code asks for other code, if it counts calls; 0 counts as 1.
    pub loop_iterations: u32,
    /// Sizes of the tables that generated code indexes.
    pub tables: vervet_abi::TableSizes,
}

/// What the callee of a call depends on.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// The class of the receiver of a virtual or interface call.
    Class(ClassRef),
    /// The method of the delegate that is called.
    Method(vervet_types::MethodRef),
}

/// What was noted of the callees of a call.
#[derive(Clone, Copy, Debug)]
pub struct SiteProfile {
    /// That of nearly all calls, if there is one.
    pub callee: Option<Callee>,
    /// How many calls there were, at least.
    pub calls: u32,
    /// How many of them had another callee than the call before.
    pub changes: u32,
}

impl SiteProfile {
    /// Fewer calls say nothing.
    const FEW: u32 = 32;

    /// Whether there were so many calls that they are no exception.
    pub fn is_often(&self) -> bool {
        self.calls >= SiteProfile::FEW
    }
    /// What was noted of so many calls with so many changes, the last of which had that callee. None: there were too few.
    pub fn of(last: Callee, calls: u32, changes: u32) -> Option<SiteProfile> {
        let profile = SiteProfile {
            callee: (changes <= calls / 8).then_some(last),
            calls,
            changes,
        };
        profile.is_often().then_some(profile)
    }
    /// What was noted of calls that were not counted: the last of them had that callee, and so many had another one than the call before, the first included.
    /// None: there was no call.
    pub fn of_changes(last: Callee, changes: u32) -> Option<SiteProfile> {
        /// More are no accident.
        const FEW: u32 = 3;
        let profile = SiteProfile {
            callee: (changes <= FEW).then_some(last),
            calls: changes,
            changes,
        };
        (changes > 0).then_some(profile)
    }
    /// The class of nearly all receivers, if there is one.
    pub fn dominant_class(&self) -> Option<ClassRef> {
        match self.callee {
            Some(Callee::Class(class)) => Some(class),
            _ => None,
        }
    }
    /// The method of nearly all delegates, if there is one.
    pub fn dominant_method(&self) -> Option<vervet_types::MethodRef> {
        match self.callee {
            Some(Callee::Method(method)) => Some(method),
            _ => None,
        }
    }
}

/// What the compiler asks of the runtime during a compile.
pub trait CompileEnv {
    /// Whether the class-initialisation check may be left out: the class is initialised, or has
    /// nothing to run. Within a compile the answer for a class does not change.
    fn is_initialized(&self, class: ClassRef) -> bool;
    /// A method outside the core library is not inlined, which may be because these classes are not initialised.
    fn missed(&self, _classes: &[ClassRef]) {}
    /// The classes that an object at a call may be of, as far as is known, where its static type is `base`; for code of the method `asker`. A guess:
    /// objects may be of other classes. Empty: nothing is known, or too many are. Within a compile the answer for a class does not change.
    fn receivers(&self, _base: ClassRef, _asker: vervet_types::MethodRef) -> Vec<ClassRef> {
        Vec::new()
    }
    /// Whether the code is to note of which classes the receivers of its calls are: it is a method's first.
    fn wants_profile(&self) -> bool {
        false
    }
    /// What the first code has noted of the call at an IL offset of a method, which is the one that is compiled or is inlined there. Within a compile the answer does
    /// not change.
    fn profile(&self, _method: vervet_types::MethodRef, _il_offset: u32) -> Option<SiteProfile> {
        None
    }
    /// Whether calls of the method are recorded, if calls are ([`Recorded::calls`]).
    fn records_calls(&self, _method: vervet_types::MethodRef) -> bool {
        true
    }
    /// The IL offsets of a method that stack traces are to say, sorted. None: those of statements, and what follows calls.
    fn sequence_points(&self, _method: vervet_types::MethodRef) -> Option<Vec<u32>> {
        None
    }
    /// Whether methods check their stack in the prologue.
    fn wants_stack_check(&self) -> bool {
        true
    }
}
