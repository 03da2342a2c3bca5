//! The one place where the errors of the type system become managed exceptions.
//!
//! Invariant: the class and the arguments of the exception are those that mono uses; programs test them.
use crate::cx::{Cx, Result, Throw};
use crate::exceptions::make;
use vervet_types::{Known, LoadError};

/// Leaves the managed exception for a load error pending.
pub fn throw_load(cx: &Cx<'_>, error: LoadError) -> Throw {
    let error = match error {
        LoadError::First(class, error) => {
            class.remember_failure();
            *error
        }
        error => error,
    };
    let Some(class) = error.exception() else {
        return need(cx, error);
    };
    match &error {
        // The exception that was made at start-up: making another may need the memory that is lacking.
        LoadError::OutOfMemory(_) => cx.rt().throw_out_of_memory(cx),
        LoadError::TypeLoad {
            class, assembly, ..
        }
        | LoadError::NoSuchType {
            class, assembly, ..
        }
        | LoadError::Unusable {
            class, assembly, ..
        } => make::throw_type_load(cx, class, assembly, &error.to_string()),
        LoadError::FileNotFound { name }
        | LoadError::NotPreloaded { name }
        | LoadError::NoModule { name } => make::throw_two(cx, class, &error.to_string(), name),
        LoadError::BadImage { file, .. } if !file.is_empty() => {
            make::throw_two(cx, class, &error.to_string(), file)
        }
        _ => make::throw_message(cx, class, Some(&error.to_string())),
    }
}

/// A resolve event would be needed where none can be raised: what was needed counts as missing.
fn need(cx: &Cx<'_>, error: LoadError) -> Throw {
    let LoadError::Need(need) = error else {
        unreachable!("only Need has no exception")
    };
    match &*need {
        vervet_types::error::Need::Assembly { reference, .. } => {
            let name = crate::loader::name_of_reference(reference).to_string();
            let message =
                format!("Could not load file or assembly '{name}' or one of its dependencies.");
            make::throw_two(cx, Known::FileNotFoundException, &message, &name)
        }
        vervet_types::error::Need::Module { file, .. } => make::throw_two(
            cx,
            Known::FileNotFoundException,
            &format!("Could not load file '{file}'."),
            file,
        ),
        vervet_types::error::Need::Type { module, name } => {
            let message = format!(
                "Could not load type '{name}' from assembly '{}'.",
                module.assembly_name()
            );
            make::throw_message(cx, Known::TypeLoadException, Some(&message))
        }
        vervet_types::error::Need::Builder { class, .. } => {
            let error = LoadError::type_load(class, "");
            make::throw_message(cx, Known::TypeLoadException, Some(&error.to_string()))
        }
    }
}

impl<'cx> Cx<'cx> {
    /// The managed exception for a load error.
    pub fn throw_load(&self, error: LoadError) -> Throw {
        throw_load(self, error)
    }
    /// Turns a type-system result into an icall result.
    pub fn load<T>(&self, result: std::result::Result<T, LoadError>) -> Result<T> {
        result.map_err(|e| self.throw_load(e))
    }
}
