//! References that do not simply keep what they refer to: ephemerons, and registrations of finalizers.
pub(crate) mod ephemerons;
pub mod finalizers;
