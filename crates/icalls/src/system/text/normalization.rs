//! Native half of System.Text.Normalization.
//!
//! Keeps nothing: there are no tables yet, so normalising anything but ASCII is not supported, which the library
//! allows for.
use crate::support::args::Out;
use vervet_runtime::icalls;

icalls! {
    /// The tables are not there: NotSupportedException.
    "System.Text.Normalization::load_normalization_resource" fn load_normalization_resource(
        cx, props: Out<'cx, usize>, mapped: Out<'cx, usize>, char_map: Out<'cx, usize>, helper: Out<'cx, usize>,
        composite: Out<'cx, usize>, combining: Out<'cx, usize>,
    ) {
        Err(crate::support::fields::not_supported(cx, "Unicode normalization is not available."))
    }
}
