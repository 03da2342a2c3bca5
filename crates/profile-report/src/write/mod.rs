//! A recording in other forms: for pictures, for a browser, for other tools.
//!
//! | where | what |
//! |---|---|
//! | [`collapsed`] | a line for each stack |
//! | [`flamegraph`] | a picture, with a script that zooms and searches |
//! | [`html`] | a page with everything, in one file |
//! | [`speedscope`] | for speedscope.app |
//! | [`pprof`] | for `go tool pprof` |
mod collapsed;
mod flamegraph;
mod html;
mod json;
mod palette;
mod pprof;
mod speedscope;

pub use collapsed::collapsed;
pub use flamegraph::flamegraph;
pub use html::html;
pub use pprof::pprof;
pub use speedscope::speedscope;
