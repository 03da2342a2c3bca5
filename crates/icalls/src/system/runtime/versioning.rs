//! Native half of System.Runtime.Versioning.VersioningHelper.
//!
//! Keeps nothing: the answers are constant.
use vervet_runtime::icalls;

icalls! {
    /// The id of the only runtime of the process.
    "System.Runtime.Versioning.VersioningHelper::GetRuntimeId" fn get_runtime_id(cx) -> i32 { Ok(0) }
}
