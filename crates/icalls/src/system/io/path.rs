//! Native half of System.IO.Path.
//!
//! Keeps nothing.
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// `TMPDIR`, or `/tmp/`.
    "System.IO.Path::get_temp_path" fn get_temp_path(cx) -> ObjRef<'cx> {
        let dir = crate::system::environment::variable(c"TMPDIR").filter(|d| !d.is_empty());
        cx.alloc_str(dir.as_deref().unwrap_or("/tmp/"))
    }
}
