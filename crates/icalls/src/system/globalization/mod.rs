//! Native halves of System.Globalization.
pub mod culture;
