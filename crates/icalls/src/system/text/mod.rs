//! Native halves of System.Text.
pub mod encoding_helper;
pub mod normalization;
