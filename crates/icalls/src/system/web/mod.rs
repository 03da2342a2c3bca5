//! Native halves of the namespaces below System.Web.
pub mod util;
