//! Methods that stand for native functions: what reflection shows as the method of a delegate that was made from a function's address.
//!
//! Such a method is static, belongs to `System.Object` without being one of the methods that the class lists, and has the
//! parameters of the delegate class's `Invoke`. Calling it calls the function, marshalled as that `Invoke` says.
//!
//! # Invariants
//! It has no row and no IL, and nothing that is kept for another process names it.
use crate::method::{MethodCells, MethodKind, Rare, method_flags};
use crate::*;

/// The function that such a method stands for.
#[derive(Clone, Copy, Debug)]
pub struct NativeFunction {
    /// Its address.
    pub address: usize,
    /// `Invoke` of a delegate class, which says how arguments and result are marshalled.
    pub invoke: MethodRef,
}

impl Universe {
    /// A method that calls a native function. Each call makes another one; the runtime keeps them.
    ///
    /// # Errors
    /// [`LoadError`] if the signature of `invoke` names a type that cannot be loaded.
    pub fn add_native_function(&'static self, function: NativeFunction) -> R<MethodRef> {
        let sig = function.invoke.sig()?;
        let name: &'static str =
            Box::leak(format!("wrapper_native_{:#x}", function.address).into_boxed_str());
        let class = self.known(Known::Object);
        let method = self.add_method(|id| Method {
            id,
            class,
            rid: 0,
            index: u32::MAX,
            name,
            flags: method_flags::STATIC,
            impl_flags: 0,
            generic_arity: 0,
            param_count: sig.params.len() as u32,
            kind: MethodKind::NativeFunction,
            typical: None,
            rare: Some(Box::leak(Box::new(Rare::Native(function)))),
            blob: &[],
            cells: MethodCells::default(),
        });
        let own = MethodSig::plain(false, sig.ret, sig.params.clone());
        let own = method.cells.sig.put(own);
        method.cells.open_sig.set(own);
        Ok(method)
    }
}

impl Method {
    /// The native function that the method stands for, if it does.
    pub fn native_function(&self) -> Option<NativeFunction> {
        match self.rare {
            Some(Rare::Native(function)) => Some(*function),
            _ => None,
        }
    }
    /// Was it made while the program runs, without metadata? Its class and index do not name it then.
    pub fn is_nameless(&self) -> bool {
        matches!(self.kind, MethodKind::Dynamic | MethodKind::NativeFunction)
    }
}
