//! From a method to a blob: one call of the compiler, as the caller of a method and the background compiler make it.
//!
//! # Invariants
//! Compiling touches no object, takes no lock of the runtime's and loads no assembly, so any thread may do it.
use crate::runtime::rt;
use vervet_jit::{CompileEnv, CompileError};
use vervet_types::MethodRef;

struct Env;

impl CompileEnv for Env {
    fn is_initialized(&self, class: vervet_types::ClassRef) -> bool {
        rt().is_initialized(class)
    }
}

/// Compiles a method in the configuration it is to have. Touches no object: any thread may call it.
pub fn compile(method: MethodRef) -> std::result::Result<vervet_jit::Blob, CompileError> {
    let compiler = &rt().compiler;
    compiler.compile(method, &Env, compiler.tier_for(method))
}
