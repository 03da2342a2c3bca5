//! Minor collections: they collect the nursery while the world is stopped.
//!
//! # Map
//! * [`collection`]: the phases of a minor collection, and the choice of its mode.
//! * [`copying`]: one worker: scans slots, copies or marks young objects. [`worker`]: what it owns.
//! * [`cards`]: old objects on marked cards as roots.
//! * [`finalizers`]: young objects with finalizers. [`parked`]: parked threads.
//! * [`rebuild`]: the nursery after the collection.
//! * [`nursery`]: pieces of young memory for TLABs. [`pace`]: how many there are until the next collection.
//! * [`promote_all`], [`promote_all_policy`]: collections that promote everything without tracing.
//! * [`aging`]: whether survivors are worth a second collection in the nursery.
pub(crate) mod aging;
pub mod cards;
pub mod collection;
pub mod copying;
pub(crate) mod finalizers;
pub mod nursery;
pub(crate) mod pace;
pub(crate) mod parked;
pub mod promote_all;
pub(crate) mod promote_all_policy;
pub mod rebuild;
pub mod worker;
