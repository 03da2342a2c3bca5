//! Native half of System.Reflection.Emit.ModuleBuilder.
//!
//! Keeps nothing: the rows are in the module, and what pseudo tokens stand for is in the [`registry`].
use crate::support::emit::encoder::{self, encode};
use crate::support::emit::{handles, modules, registry, save};
use crate::support::objects;
use vervet_metadata::Token;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{Known, ModuleRef};

/// The table number of user string tokens.
const USER_STRING: u32 = 0x70 << 24;

/// The module of a ModuleBuilder.
fn module<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<ModuleRef> {
    encoder::module_of(cx.non_null(builder)?).map_err(|e| e.throw(cx))
}

icalls! {
    /// Makes the module.
    "System.Reflection.Emit.ModuleBuilder::basic_init" fn basic_init(cx, ab: ObjRef<'cx>) {
        modules::define_module(cx, ab)
    }
    /// Makes the bytes of the module's file.
    "System.Reflection.Emit.ModuleBuilder::build_metadata" fn build_metadata(cx, mb: ObjRef<'cx>) {
        save::build(cx, cx.non_null(mb)?)
    }
    /// Writes them to an open file.
    "System.Reflection.Emit.ModuleBuilder::WriteToFile" fn write_to_file(cx, this: ObjRef<'cx>, handle: usize) {
        save::write_to(cx, this, handle)
    }
    /// The type that mono puts wrappers into. There are no such methods here.
    "System.Reflection.Emit.ModuleBuilder::set_wrappers_type" fn set_wrappers_type(cx, mb: ObjRef<'cx>, ab: ObjRef<'cx>) {
        Ok(())
    }
    /// The token of a user string.
    "System.Reflection.Emit.ModuleBuilder::getUSIndex" fn get_us_index(cx, mb: ObjRef<'cx>, str: ObjRef<'cx>) -> u32 {
        let module = module(cx, mb)?;
        let bytes: Vec<u8> = cx.non_null(str)?.units().iter().flat_map(|u| u.to_le_bytes()).collect();
        let growing = cx.load(module.growing())?;
        let index = cx.load(growing.add_user_string(&bytes).map_err(Into::into))?;
        Ok(USER_STRING | index)
    }
    /// The token of a type or member of the runtime's, or of a signature.
    "System.Reflection.Emit.ModuleBuilder::getToken" fn get_token(cx, mb: ObjRef<'cx>, obj: ObjRef<'cx>, create_open_instance: bool) -> u32 {
        let module = module(cx, mb)?;
        if obj.is_null() {
            return Err(cx.throw_arg_null("obj"));
        }
        Ok(encode(cx, |e| e.code_token(module, obj, create_open_instance))?.0)
    }
    /// The token of a method at a call site with variable arguments.
    "System.Reflection.Emit.ModuleBuilder::getMethodToken" fn get_method_token(cx, mb: ObjRef<'cx>, method: ObjRef<'cx>, opt_param_types: ObjRef<'cx>) -> u32 {
        let module = module(cx, mb)?;
        let method = cx.non_null(method)?;
        let plain = opt_param_types.is_null() || opt_param_types.array_len() == 0;
        if !plain && objects::is_known(method.class(), Known::MethodBuilder) {
            return Ok(encode(cx, |e| e.method_builder(module, method, true, opt_param_types))?.0);
        }
        if plain {
            return Ok(encode(cx, |e| e.token(module, method, true))?.0);
        }
        let token = encode(cx, |e| {
            e.method(module, handles::runtime_method(method)?, true, opt_param_types)
        })?;
        Ok(token.0)
    }
    /// Remembers what a pseudo token stands for.
    "System.Reflection.Emit.ModuleBuilder::RegisterToken" fn register_token(cx, this: ObjRef<'cx>, obj: ObjRef<'cx>, token: u32) {
        registry::register(module(cx, this)?, Token(token), cx.non_null(obj)?);
        Ok(())
    }
    /// What a pseudo token stands for.
    "System.Reflection.Emit.ModuleBuilder::GetRegisteredToken" fn get_registered_token(cx, this: ObjRef<'cx>, token: u32) -> ObjRef<'cx> {
        Ok(registry::registered(module(cx, this)?, Token(token)))
    }
}
