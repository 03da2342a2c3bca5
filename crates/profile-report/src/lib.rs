//! Reads what the log profiler recorded (format versions 16 and 17, of Vervet and of mono), and says it: as a text, as a flame graph, as a
//! page for a browser, and in the formats of other tools.
//!
//! | where | what |
//! |---|---|
//! | [`Recording`] | reads a file or stream, also one that is damaged or cut off |
//! | `decode`, `cursor`, `event` | events from bytes |
//! | `profile` | events added up |
//! | `stacks` | each call stack once, in a tree |
//! | [`Measure`] | what of it flame graphs and conversions show |
//! | [`summary`] | the text |
//! | [`write`] | the other forms |
mod cursor;
mod decode;
mod event;
mod header;
mod measure;
mod profile;
mod recording;
mod source;
mod stacks;
pub mod summary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod units;
pub mod write;

pub use header::Header;
pub use measure::Measure;
pub use profile::Filter;
pub use recording::Recording;

/// Why something cannot be reported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input does not begin as a recording.
    #[error("this is no recording of the log profiler that can be read: {0}")]
    NoRecording(String),
    /// What is asked for was not recorded.
    #[error("{0}")]
    NothingThere(String),
    /// Writing failed.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}
