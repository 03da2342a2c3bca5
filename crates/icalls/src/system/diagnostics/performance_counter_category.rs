//! Native half of System.Diagnostics.PerformanceCounterCategory.
//!
//! Keeps nothing: [`crate::support::performance`] has the categories.
use crate::support::args::Chars;
use crate::support::arrays::string_array;
use crate::support::fields::string_field;
use crate::support::performance::{self, Counter};
use crate::support::text::text;
use vervet_runtime::{ObjRef, icalls};

icalls! {
    /// False: no category is ever removed, in mono neither.
    "System.Diagnostics.PerformanceCounterCategory::CategoryDelete_icall" fn category_delete(cx, name: Chars<'cx>, length: i32) -> bool { Ok(false) }
    /// Whether a category has a counter; without a counter's name, whether there is the category.
    "System.Diagnostics.PerformanceCounterCategory::CounterCategoryExists_icall" fn counter_category_exists(cx, counter: Chars<'cx>, counter_length: i32, category: Chars<'cx>, category_length: i32) -> bool {
        let Some(names) = performance::counter_names(&text(category.take(category_length))) else { return Ok(false) };
        Ok(counter.is_null() || names.contains(&text(counter.take(counter_length))))
    }
    /// Whether a category of the program has the instance; false, as in mono, for every other category.
    "System.Diagnostics.PerformanceCounterCategory::InstanceExistsInternal_icall" fn instance_exists(cx, instance: Chars<'cx>, instance_length: i32, category: Chars<'cx>, category_length: i32) -> bool {
        Ok(performance::has_instance(&text(category.take(category_length)), &text(instance.take(instance_length))))
    }
    /// Adds a category of the program's own; one that is there stays as it is. The help is not kept: nothing gives it back.
    "System.Diagnostics.PerformanceCounterCategory::Create_icall" fn create_category(
        cx, name: Chars<'cx>, length: i32, help: Chars<'cx>, help_length: i32, kind: i32, items: ObjRef<'cx>,
    ) -> bool {
        let items = cx.non_null(items)?;
        let mut counters = Vec::with_capacity(items.array_len());
        for i in 0..items.array_len() {
            let item = cx.non_null(items.element_ref(i))?;
            let kind = item.read::<i32>(crate::support::fields::field_offset(cx, item.class(), "type")?);
            counters.push(Counter::new(string_field(cx, item, "name")?.unwrap_or_default(), kind));
        }
        Ok(performance::create(text(name.take(length)), counters))
    }
    /// All categories.
    "System.Diagnostics.PerformanceCounterCategory::GetCategoryNames" fn get_category_names(cx) -> ObjRef<'cx> { string_array(cx, &performance::category_names()) }
    /// The counters of a category, none if there is no such category.
    "System.Diagnostics.PerformanceCounterCategory::GetCounterNames_icall" fn get_counter_names(cx, category: Chars<'cx>, length: i32) -> ObjRef<'cx> {
        string_array(cx, &performance::counter_names(&text(category.take(length))).unwrap_or_default())
    }
    /// The instances of a category, none if there is no such category.
    "System.Diagnostics.PerformanceCounterCategory::GetInstanceNames_icall" fn get_instance_names(cx, category: Chars<'cx>, length: i32) -> ObjRef<'cx> {
        let category = text(category.take(length));
        let names = cx.native(|| performance::instance_names(&category));
        string_array(cx, &names)
    }
}
