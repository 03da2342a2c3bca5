//! Native half of Vervet.Threading.Native, by which the assembly Vervet.Threading reaches the runtime.
use vervet_runtime::cx::Result;
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_runtime::threads::{current_internal, green, name};

icalls! {
    /// Names the running thread, whatever its name was.
    "Vervet.Threading.Native::SetName" fn set_name(cx, text: ObjRef<'cx>) {
        let internal = current_internal(cx);
        if !internal.is_null() {
            name::free(internal);
            name::set(internal, text.non_null().map(|t| t.units()));
            name::show(internal);
        }
        Ok(())
    }
    /// Chooses the size of the next segment of the running green thread's stack, and the most bytes of the whole. 0 or less chooses nothing.
    "Vervet.Threading.Native::SetStack" fn set_stack(cx, hint: i64, most: i64) {
        green::choose_stack(cx, usize::try_from(hint).unwrap_or(0), usize::try_from(most).unwrap_or(0));
        Ok(())
    }
    /// Writes what the scheduler has done into an array.
    "Vervet.Threading.Native::Read" fn read(cx, figures: ObjRef<'cx>) { fill(cx.non_null(figures)?) }
}

fn fill(figures: ObjRef<'_>) -> Result<()> {
    let values = green::statistics();
    for (place, value) in figures.elements::<i64>().iter_mut().zip(values) {
        *place = value as i64;
    }
    Ok(())
}
