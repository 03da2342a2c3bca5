//! A blob: the result of a compile, machine code without addresses.
//!
//! # How it works
//! The runtime links a blob: it copies the code to executable memory, applies the relocations, and
//! enters the tables in its map from code addresses to methods. The tables serve these purposes:
//!
//! ```text
//! call_sites, handlers, clauses    finding the landing pads of an exception, by return address
//! traps                            turning a fault into an exception, by fault address
//! il_map, inline_map               stack traces
//! no_redirect                      where no asynchronous exception may be raised
//! prologue_end                     samplers: before it the frame pointer is not set up
//! initialise                       what the first call initialises before it goes on to the code
//! ```
//!
//! How a stack trace reads the maps: `Main` calls `A`, which was inlined, and `A` calls `B`,
//! inlined too; B's body calls at code offset 0x40:
//!
//! ```text
//! inline_sites    1: A, called in site 0 at IL 5      2: B, called in site 1 at IL 2
//! inline_map      (0x30, site 1, IL 0)  (0x38, site 2, IL 0)  (0x48, site 0, ...)
//! il_map          (0x30, IL 5)  (0x48, IL 10)
//! frames at 0x40  B at IL 0, A at IL 2, Main at IL 5
//! ```
//!
//! # Invariants
//! * Everything that a blob needs from its process is a relocation against a [`Symbol`]. The enum
//!   is closed, so a blob can be linked again for another domain, or later from a cache.
//! * Offsets are bytes from the start of `code`.
pub use crate::emit::MAY_BE_REMOTE;
pub use crate::emit::front::{TO_CODE, TO_COUNTER, behind_count, counter_from};
use vervet_abi::Helper;
use vervet_types::{ClassRef, FieldRef, MethodRef, ModuleRef};

/// What a relocation refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// Address of the 8-byte slot that holds the method's (unboxed) code address.
    MethodSlot(MethodRef),
    /// Address of the method's permanent `jmp [slot]` stub (ldftn); unboxed entry.
    MethodStub(MethodRef),
    /// Address of the 4-byte counter of the method's calls; near.
    CallCounter(MethodRef),
    /// Code address of the method's prestub, entered as the method is; near.
    Prestub(MethodRef),
    /// The VTable's address (below 2 GiB: also usable as a u32).
    VTable(ClassRef),
    /// The address of the VTable that the objects of a guessed class have; 0, which none has, if the
    /// class cannot be loaded.
    GuessedVTable(ClassRef),
    /// Address of the class's memory of static reference fields.
    StaticRefs(ClassRef),
    /// Address of the card of a static field that is a reference (statics never move).
    StaticCard(FieldRef),
    /// Address of the class's memory of other static fields.
    StaticValues(ClassRef),
    /// Address of an RVA static's data (writable copy).
    RvaData(FieldRef),
    /// The initial data of an RVA field, as the image has it.
    RvaImage(FieldRef),
    /// Address of the root slot that holds an interned string: (module, user-string token).
    Literal(ModuleRef, u32),
    /// Address of the root slot that holds a string literal of a dynamic method, by its number.
    DynamicLiteral(u32),
    /// Address of the root slot that holds the class's Type object.
    TypeObject(ClassRef),
    /// Value of the class's RuntimeTypeHandle (the `&'static Class`).
    ClassHandle(ClassRef),
    /// Value of the method's RuntimeMethodHandle (the `&'static Method`).
    MethodHandle(MethodRef),
    /// Value of the field's RuntimeFieldHandle (the `&'static Field`).
    FieldHandle(FieldRef),
    /// Code address of a helper's stub.
    Helper(Helper),
    /// Code address of a helper's stub that preserves all registers ([`Helper::preserves_registers`]).
    PreservingHelper(Helper),
    /// Code address of the stub that leaves an exception pending besides.
    DeferringHelper(Helper),
    /// Code address of the stub for calls that preserve all registers ([`crate::stubs::cold_call`]).
    ColdCall(ColdResult),
    /// Address of the cell ([`vervet_abi::profile::Cell`]) of a call of this blob, by its number in
    /// [`Blob::profiled`].
    Profile(u32),
    /// Base of the card table.
    CardTable,
    /// The address of the words of GC handles (`vervet_abi::handles`).
    HandleRows,
    /// Address of the two words that hold a P/Invoke's bound native address, 0 before, and the same
    /// address if it is that of a [`ShortFunction`](vervet_abi::ShortFunction).
    PInvokeCell(MethodRef),
    /// The assembly thunk that calls native code (module `arch` of the runtime).
    NativeThunk,
    /// The same for calls whose arguments travel in the registers in which managed code passes them.
    PlainNativeThunk,
    /// The same where no argument is as wide as an address.
    ScalarNativeThunk,
    /// The process-wide cookie of a signature (vararg calls): the `&'static MethodSig`.
    Signature(&'static vervet_types::MethodSig),
    /// This blob's own code: to grow the stack, the function is called again.
    SelfCode,
}

/// What a call that preserves all registers gives back ([`crate::stubs::cold_call`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ColdResult {
    /// Nothing in a register.
    Nothing,
    /// An integer, or an address outside of the heap.
    Word,
    /// A reference to an object.
    Reference,
    /// A float.
    Float,
}

impl ColdResult {
    /// All of them, in order of their numbers.
    pub const ALL: [ColdResult; 4] = [
        ColdResult::Nothing,
        ColdResult::Word,
        ColdResult::Reference,
        ColdResult::Float,
    ];
}

/// How a relocation is applied. S is the address of the symbol, A the addend, P the place that is
/// patched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelocKind {
    /// 8 bytes: S + A.
    Abs8,
    /// 4 bytes: S + A - P.
    PcRel4,
    /// 4 bytes: S + A, zero-extended (VTables only).
    Abs4,
}

/// A place to patch.
#[derive(Clone, Copy)]
pub struct Reloc {
    /// Where in the code.
    pub offset: u32,
    /// How.
    pub kind: RelocKind,
    /// Against what.
    pub symbol: Symbol,
    /// What to add.
    pub addend: i64,
}

/// The return address of a call, and the handlers around it.
#[derive(Clone, Copy, Debug)]
pub struct CallSite {
    /// Offset of the return address.
    pub ret: u32,
    /// The handler's stack pointer is the frame pointer minus this; `u32::MAX`: there are no
    /// handlers.
    pub frame_offset: u32,
    /// First of its handlers in `Blob::handlers`, innermost clause first.
    pub first_handler: u32,
    /// Number of its handlers.
    pub handler_count: u32,
}

/// A landing pad of a call site. It is entered with sp, fp and r15 set, the exception in rax and
/// the unwind record in rdx.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// Index in `Blob::clauses`, or u32::MAX: catches everything (invoke stubs).
    pub clause: u32,
    /// Offset of the landing pad.
    pub code: u32,
}

/// An exception clause of the method.
#[derive(Clone)]
pub struct Clause {
    /// Its kind.
    pub kind: ClauseKind,
}

/// What a clause does.
#[derive(Clone)]
pub enum ClauseKind {
    /// Catches instances of the class.
    Catch(ClassRef),
    /// Asks `Blob::filters[i]`, a Tail function (frame pointer of the method: i64, exception: i64)
    /// -> i32, where 1 means that the handler runs. The first pass calls it while the frames below
    /// the method are still there.
    Filter(u32),
    /// Runs in the second pass, when an exception passes, and when control leaves the protected
    /// range.
    Finally,
    /// Runs in the second pass, when an exception passes.
    Fault,
}

/// A call that was replaced by the body of its callee.
#[derive(Clone, Copy)]
pub struct InlineSite {
    /// The method whose body is here.
    pub method: MethodRef,
    /// The site it was called in; 0 is the method that was compiled.
    pub parent: u32,
    /// IL offset of the call in that method.
    pub il_offset: u32,
}

/// A call that notes its callee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProfiledCall {
    /// The method that has the call: the one that was compiled, or one that is inlined.
    pub method: MethodRef,
    /// Where in that method.
    pub il_offset: u32,
    /// It calls a delegate: the cell has `method_ptr`, not a VTable.
    pub is_delegate: bool,
    /// The cell counts the calls; otherwise it counts only how often the callee was another one than before.
    pub is_counted: bool,
}

/// The result of a compile. See the module.
#[derive(Clone, Default)]
pub struct Blob {
    /// Machine code and its constants.
    pub code: Vec<u8>,
    /// Required alignment of `code` (at least 16).
    pub align: u32,
    /// Where `code` is best placed, if its alignment is 16: bit n stands for addresses that are 16 * n more than a multiple of 64. 0: anywhere.
    pub places: u8,
    /// Places to patch.
    pub relocs: Vec<Reloc>,
    /// Every call, by return address.
    pub call_sites: Vec<CallSite>,
    /// See [`CallSite`].
    pub handlers: Vec<Handler>,
    /// See [`Handler`].
    pub clauses: Vec<Clause>,
    /// Filters of this method: blobs with a code range of their own.
    pub filters: Vec<Blob>,
    /// Hardware traps: (offset of the instruction, ThrowKind number), sorted.
    pub traps: Vec<(u32, u8)>,
    /// (code offset, IL offset) pairs sorted by code offset; each holds until the next. u32::MAX: no
    /// IL. The offset has [`MAY_BE_REMOTE`] where code calls a method of what might be a transparent
    /// proxy.
    pub il_map: Vec<(u32, u32)>,
    /// Calls that were inlined. Site `n` is `inline_sites[n - 1]`; 0 is the method itself.
    pub inline_sites: Vec<InlineSite>,
    /// (code offset, site, IL offset in the site's method, as in `il_map`) sorted by code offset;
    /// each holds until the next; before the first, and at site 0, `il_map` alone says where the code
    /// belongs. For code of a site `il_map` has the IL offset of the outermost call.
    pub inline_map: Vec<(u32, u32, u32)>,
    /// The calls that note their callees.
    pub profiled: Vec<ProfiledCall>,
    /// Ranges [start, end) of code where an asynchronous exception must not be raised (store/mark
    /// pairs).
    pub no_redirect: Vec<(u32, u32)>,
    /// Where the prologue has ended: the frame is whole from here on, for samplers and asynchronous
    /// exceptions. 0: never.
    pub prologue_end: u32,
    /// Bytes of arguments that the caller puts on the stack.
    pub stack_arg_bytes: u32,
    /// Total frame size below fp.
    pub frame_size: u32,
    /// It makes unmanaged pointers to its own frame, which others may use while its thread waits.
    pub exposes_frame: bool,
    /// Classes that are initialised, in this order, before the code is first called
    /// ([`crate::initialisers`]).
    pub initialise: Vec<ClassRef>,
    /// What was translated, for `--stats`.
    pub stats: BlobStats,
    /// `--verbose-jit`: IL, CLIF and assembly listing.
    pub listing: Option<String>,
}

impl Blob {
    /// The first error of the classes that linking makes VTables of ([`vervet_types::Class::check`]).
    ///
    /// # Errors
    /// One of them cannot be loaded, or needs what only managed code can supply.
    pub fn check_classes(&self) -> Result<(), vervet_types::LoadError> {
        for reloc in &self.relocs {
            match reloc.symbol {
                Symbol::VTable(c) | Symbol::StaticRefs(c) | Symbol::StaticValues(c) => c.check()?,
                Symbol::StaticCard(f) => f.class.check()?,
                _ => {}
            }
        }
        self.filters.iter().try_for_each(Blob::check_classes)
    }
    /// Gives back what its vectors have room for and do not use: most of them are kept as long as the
    /// code.
    pub(crate) fn shrink(&mut self) {
        self.relocs.shrink_to_fit();
        self.call_sites.shrink_to_fit();
        self.handlers.shrink_to_fit();
        self.traps.shrink_to_fit();
        self.il_map.shrink_to_fit();
        self.inline_sites.shrink_to_fit();
        self.inline_map.shrink_to_fit();
        self.initialise.shrink_to_fit();
        self.no_redirect.shrink_to_fit();
        self.profiled.shrink_to_fit();
    }
    /// Bytes of memory that it takes, about: the blob and what its vectors have room for.
    pub fn bytes(&self) -> usize {
        fn of<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        let filters: usize = self.filters.iter().map(Blob::bytes).sum();
        size_of::<Blob>()
            + of(&self.code)
            + of(&self.relocs)
            + of(&self.call_sites)
            + of(&self.handlers)
            + of(&self.clauses)
            + of(&self.traps)
            + of(&self.il_map)
            + of(&self.inline_sites)
            + of(&self.inline_map)
            + of(&self.no_redirect)
            + of(&self.profiled)
            + of(&self.initialise)
            + filters
    }
}

/// Sizes and times of one compile.
#[derive(Clone, Copy, Default, Debug)]
#[expect(missing_docs, reason = "the names say what is counted, with the unit")]
pub struct BlobStats {
    pub il_bytes: u32,
    pub clif_insts: u32,
    pub translate_ns: u64,
    pub codegen_ns: u64,
}
