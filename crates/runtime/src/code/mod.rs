//! Machine code: where it lies, how it is linked, how it is found again.
//!
//! * [`area`]: a range that is given out from its start
//! * [`arena`]: the memory, seen twice (writable, executable), with the slots beside it
//! * [`char_sets`]: sets of characters in regular expressions
//! * [`cold_calls`]: the stubs of calls that are made rarely
//! * [`crypto`]: steps of hashes and ciphers
//! * [`entries`]: a method's slot, permanent stub and prestub
//! * [`enums`]: names of enums
//! * [`first_call`]: what a method's first call does before it goes on
//! * [`hot`]: methods that are called often are compiled again
//! * [`kept_stub`]: stubs that are made from the key of a signature
//! * [`libm`]: functions of floating-point numbers
//! * [`link`]: from a blob to code at an address
//! * [`ordinal`]: strings by the numbers of their characters
//! * [`packed`]: what is known about the instructions of code, packed
//! * [`perf`]: the files by which Linux `perf` names code
//! * [`plain_calls`]: calls through reflection whose arguments need no conversion
//! * [`profiles`]: of which classes the receivers of calls were
//! * [`aot`]: methods that are compiled before a program runs
//! * [`cache`]: code that is kept for the next process
//! * [`table`]: from an address to the code it lies in
//! * [`texts`]: conversions of ASCII
pub mod aot;
pub mod area;
pub mod arena;
pub(crate) mod background;
pub mod cache;
pub(crate) mod call_counts;
mod cold_calls;
mod collation;
pub(crate) mod compiling;
mod crypto;
pub mod entries;
mod enums;
pub mod first_call;
pub mod helper_table;
pub mod helpers;
pub(crate) mod hot;
pub mod icall;
pub mod invoke;
pub(crate) mod kept_stub;
mod keys;
pub mod libm;
mod library;
pub mod link;
pub(crate) mod loops;
mod neutral;
mod ordinal;
mod packed;
pub mod perf;
pub mod plain_calls;
pub mod prestub;
mod profiles;
mod regex;
pub mod table;
mod texts;
