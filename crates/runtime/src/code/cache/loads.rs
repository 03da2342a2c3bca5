//! The assemblies that compiling a method loads: kept beside its code, and loaded before the code is looked for.
//!
//! ```text
//! run 1   compile(Main) binds Main's module -> System.Core, and loads it      kept: code of Main, with System.Core in its set
//!                                                                                   loads of Main, with the set of before
//! run 2   look(Main): the set of the code does not hold, System.Core is not bound
//!         the loads hold: the edge is bound, System.Core is loaded
//!         look(Main): the code is used
//! ```
//!
//! # Invariants
//! * A program sees the same loads in the same order as if the method were compiled: they are kept with everything that the compile depended on before it
//!   loaded, which must hold here too. Each load is compared with what was loaded then before the next one is made.
//! * What a guessed receiver's body needs is loaded too when it is inlined, and another run may guess otherwise. So only the loads of a compile that
//!   asked for no receivers are kept, and none if the code that loads could not be kept either.
//! * A class that the compile might have inlined, had it been initialised, must have a name under the set of before: else another run, in which its
//!   assembly is loaded for another reason, could not tell whether it is initialised.
//! * Only a look-up whose method would be compiled now loads anything ([`super::lookup`]).
