//! Native half of System.Runtime.CompilerServices.RuntimeHelpers.
//!
//! Keeps nothing.
use crate::support::handles;
use crate::support::objects::load;
use vervet_abi::object::STRING_CHARS_OFFSET;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::icalls;
use vervet_runtime::memory::allocate;
use vervet_runtime::memory::copy;
use vervet_runtime::object::ObjRef;
use vervet_runtime::threads::stack_guard;
use vervet_types::{Class, Field, Known, Module};

/// What must be left of the stack for `EnsureSufficientExecutionStack`.
const ENOUGH_STACK: usize = 128 << 10;

icalls! {
    /// Copies a field's initial data over an array.
    "System.Runtime.CompilerServices.RuntimeHelpers::InitializeArray" fn initialize_array(cx, array: ObjRef<'cx>, field: Handle<Field>) {
        let Some(array) = array.non_null() else { return Err(cx.throw_arg_null("array")) };
        let field = handles::field(cx, field)?;
        let element = array.class().element();
        let plain = match element {
            Some(e) => e.is_ptr() || load(cx, || e.stack_prim())?.is_some(),
            None => false,
        };
        if !plain {
            return Err(cx.throw2(Known::ArgumentException, "Cannot initialize array of non-primitive type", "array"));
        }
        if !field.has_rva() {
            return Err(cx.throw2(Known::ArgumentException, &format!("Field '{}' doesn't have an RVA", field.name), "field_handle"));
        }
        let data = load(cx, || field.rva_data())?;
        let declared = load(cx, || field.ty()?.layout())?.size as usize;
        let size = array.array_len() * array.vtable().size as usize;
        if size > data.len().min(declared) {
            return Err(cx.throw2(Known::ArgumentException, "Field not large enough to fill array", "field_handle"));
        }
        // SAFETY: the array has `size` bytes of elements, the data at least as many.
        unsafe { copy::move_bytes(cx, array.array_data(), data.as_ptr(), size, false) };
        Ok(())
    }
    /// Where a string's units begin, from the start of the object.
    "System.Runtime.CompilerServices.RuntimeHelpers::get_OffsetToStringData" fn get_offset_to_string_data(cx) -> i32 { Ok(STRING_CHARS_OFFSET) }
    /// A copy of a boxed value; anything else itself.
    "System.Runtime.CompilerServices.RuntimeHelpers::GetObjectValue" fn get_object_value(cx, object: ObjRef<'cx>) -> ObjRef<'cx> {
        match object.non_null() {
            Some(o) if load(cx, || o.class().is_value_type())? => allocate::clone_object(cx, o),
            _ => Ok(object),
        }
    }
    /// Runs a class constructor if it has not run.
    "System.Runtime.CompilerServices.RuntimeHelpers::RunClassConstructor" fn run_class_constructor(cx, ty: Handle<Class>) {
        let class = cx.class_of_handle(ty)?;
        if class.is_open { Ok(()) } else { cx.run_class_init(class) }
    }
    /// Is there a good piece of stack left?
    "System.Runtime.CompilerServices.RuntimeHelpers::SufficientExecutionStack" fn sufficient_execution_stack(cx) -> bool {
        Ok(stack_guard::room(cx) > ENOUGH_STACK)
    }
    /// Runs a module's initializer if it has not run.
    "System.Runtime.CompilerServices.RuntimeHelpers::RunModuleConstructor" fn run_module_constructor(cx, module: Handle<Module>) {
        let module = handles::module(cx, module)?;
        let class = load(cx, || module.type_def(1))?;
        cx.run_class_init(class)
    }

}
