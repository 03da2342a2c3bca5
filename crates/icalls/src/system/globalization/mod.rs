//! Native halves of System.Globalization.
pub mod culture;
pub mod data;
