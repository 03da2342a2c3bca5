//! Native half of System.Diagnostics.PerformanceCounterCategory.
//!
//! Keeps nothing.
use crate::support::args::Chars;
use crate::support::arrays::string_array;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// There are no categories.
    "System.Diagnostics.PerformanceCounterCategory::CategoryDelete_icall" fn category_delete(cx, name: Chars<'cx>, length: i32) -> bool { Ok(false) }
    /// There are no categories.
    "System.Diagnostics.PerformanceCounterCategory::CounterCategoryExists_icall" fn counter_category_exists(cx, counter: Chars<'cx>, counter_length: i32, category: Chars<'cx>, category_length: i32) -> bool { Ok(false) }
    /// There are no instances.
    "System.Diagnostics.PerformanceCounterCategory::InstanceExistsInternal_icall" fn instance_exists(cx, instance: Chars<'cx>, instance_length: i32, category: Chars<'cx>, category_length: i32) -> bool { Ok(false) }
    /// An empty array.
    "System.Diagnostics.PerformanceCounterCategory::GetCategoryNames" fn get_category_names(cx) -> ObjRef<'cx> { string_array::<&str>(cx, &[]) }
    /// An empty array.
    "System.Diagnostics.PerformanceCounterCategory::GetCounterNames_icall" fn get_counter_names(cx, category: Chars<'cx>, length: i32) -> ObjRef<'cx> { string_array::<&str>(cx, &[]) }
    /// An empty array.
    "System.Diagnostics.PerformanceCounterCategory::GetInstanceNames_icall" fn get_instance_names(cx, category: Chars<'cx>, length: i32) -> ObjRef<'cx> { string_array::<&str>(cx, &[]) }
}
