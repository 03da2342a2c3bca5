//! Methods that stand for native functions: what reflection shows as the method of a delegate that was made from a function's address, and functions of COM interfaces.
//!
//! Such a method is static, belongs to `System.Object` without being one of the methods that the class lists, and has the
//! parameters of the delegate class's `Invoke`. Calling it calls the function, marshalled as that `Invoke` says. That of a COM interface has the interface's address
//! before its other parameters.
//!
//! # Invariants
//! It has no row and no IL, and nothing that is kept for another process names it.
use crate::method::{MethodCells, MethodKind, Rare, method_flags};
use crate::*;

/// The function that such a method stands for.
#[derive(Clone, Copy, Debug)]
pub enum NativeFunction {
    /// One that a delegate was made from.
    At {
        /// Its address.
        address: usize,
        /// `Invoke` of a delegate class, which says how arguments and result are marshalled.
        invoke: MethodRef,
    },
    /// One of the COM interface whose address is the first argument. How the others are marshalled is kept for the method itself.
    OfInterface {
        /// Its number in the interface's table.
        slot: u32,
    },
}

impl Universe {
    /// A method that calls a native function. Each call makes another one; the runtime keeps them.
    ///
    /// # Errors
    /// [`LoadError`] if the signature of `invoke` names a type that cannot be loaded.
    pub fn add_native_function(&'static self, address: usize, invoke: MethodRef) -> R<MethodRef> {
        let sig = invoke.sig()?;
        let name = Box::leak(format!("wrapper_native_{address:#x}").into_boxed_str());
        let function = NativeFunction::At { address, invoke };
        Ok(self.add_function(function, name, sig.ret, sig.params.clone()))
    }
    /// A method that calls function `slot` of the COM interface whose address is its first argument. Each call makes another one; the runtime keeps them.
    pub fn add_interface_function(
        &'static self,
        slot: u32,
        name: &'static str,
        ret: ClassRef,
        params: Vec<ClassRef>,
    ) -> MethodRef {
        self.add_function(NativeFunction::OfInterface { slot }, name, ret, params)
    }
    fn add_function(
        &'static self,
        function: NativeFunction,
        name: &'static str,
        ret: ClassRef,
        params: Vec<ClassRef>,
    ) -> MethodRef {
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
            param_count: params.len() as u32,
            kind: MethodKind::NativeFunction,
            typical: None,
            rare: Some(Box::leak(Box::new(Rare::Native(function)))),
            blob: &[],
            cells: MethodCells::default(),
        });
        let own = MethodSig::plain(false, ret, params);
        let own = method.cells.sig.put(own);
        method.cells.open_sig.set(own);
        method
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
