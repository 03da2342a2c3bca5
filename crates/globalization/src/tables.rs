//! The tables that the build script made.
use crate::culture::{Culture, Dates, TextInfo};
use crate::region::Region;
use crate::text::{Text, Texts};

include!(concat!(env!("OUT_DIR"), "/cultures.rs"));
