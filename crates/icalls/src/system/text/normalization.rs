//! Native half of System.Text.Normalization.
//!
//! Keeps nothing: the tables are constants of `vervet-globalization`.
use crate::support::args::Out;
use vervet_globalization::normalization as tables;
use vervet_runtime::icalls;

icalls! {
    /// The addresses of the tables, for the life of the process.
    "System.Text.Normalization::load_normalization_resource" fn load_normalization_resource(
        cx, props: Out<'cx, usize>, mapped: Out<'cx, usize>, char_map: Out<'cx, usize>, helper: Out<'cx, usize>,
        composite: Out<'cx, usize>, combining: Out<'cx, usize>,
    ) {
        props.set(tables::PROPERTIES.as_ptr().addr());
        mapped.set(tables::MAPPED.as_ptr().addr());
        char_map.set(tables::CHAR_MAP.as_ptr().addr());
        helper.set(tables::HELPER.as_ptr().addr());
        composite.set(tables::COMPOSITE.as_ptr().addr());
        combining.set(tables::COMBINING.as_ptr().addr());
        Ok(())
    }
}
