//! References that do not simply keep alive what they refer to: [`ephemerons`], and registrations of [`finalizers`]. (Weak handles are the
//! world's: [`World::weak_handles`](crate::World::weak_handles).)
pub(crate) mod ephemerons;
pub mod finalizers;
