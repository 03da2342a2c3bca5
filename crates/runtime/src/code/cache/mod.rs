//! Compiled code that is kept for the next process.
//!
//! # How it works
//! ```text
//! prestub          find ---------> entry of the method, in the file of its home        -> link, as after a compile
//!                   | none, or something it was made under does not hold here
//!                   v
//!                  compile, watched --> blob --> an entry in memory  --(idle, exit)-->  files of the user's cache directory
//!
//! modules   which content modules have, and what they were bound to
//! names     types, methods and fields as bytes
//! blobs     code and its tables as bytes
//! setting   the mode, the directory, the key
//! lookup    from a method to a blob
//! loads     what compiling a method loads, kept beside its code
//! role      what an entry holds of its method
//! record    from a compile to an entry
//! save      from entries to files
//! ahead     entries that are made before a program runs
//! counts    what `--stats` says
//! ```
//!
//! # What code is made from, and what makes sure that it is the same
//! | | covered by |
//! |---|---|
//! | this build of the runtime and the grafts in it | the build id, in the key |
//! | instructions of the machine, options of the compiler, sizes of tables | [`vervet_jit::Compiler::fingerprint`], in the key |
//! | metadata and IL of any module that can be reached | what tells its content from others, in the set ([`modules`]) |
//! | which assembly a reference means | the edges in the set |
//! | what symbols name, under `--debug` | a checksum of the points, in the identity |
//! | classes that were initialised already | named in the entry, and asked again ([`lookup`]) |
//! | addresses, ids, hashes of addresses | not in a blob: symbols are names ([`blobs`]) |
//!
//! `docs/design/code-cache.md` has the whole list.
//!
//! # Invariants
//! * A hit never changes what a program does. In any doubt the method is compiled.
//! * A failure of any kind is a miss. Nothing here throws.
//! * Assemblies are loaded when they are without a cache: by a compile, or by the look-up in its place, which loads what the compile has loaded
//!   ([`loads`]). Where a compile might load more than that, because classes are initialised by now, the method is compiled.
pub mod ahead;
mod blobs;
pub mod counts;
mod loads;
mod lookup;
mod modules;
mod names;
mod record;
mod role;
mod save;
pub mod setting;

pub use lookup::{Found, find, find_again, find_stub, is_known};
pub use record::{
    Compiled, compile, compile_as, compile_loop, keep, keep_again, keep_bare, keep_stub,
};
pub use save::{at_exit, has_much, has_new, when_idle};
