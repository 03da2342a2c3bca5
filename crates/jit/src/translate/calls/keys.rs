//! Hash codes of the keys of `Dictionary<string, V>`.
//!
//! # How it works
//! A dictionary without a comparer calls `GetHashCode` of its keys. It keeps what that returns to
//! itself: the order of its entries does not depend on it. So a hash of our own, which takes a
//! fraction of the time, is as good as that of `string`, which programs see (and which mono computes
//! with a constant seed).
//!
//! ```text
//!     ldarga key;  constrained. TKey;  callvirt object::GetHashCode     TKey is string
//!     call HashKey(key)
//! ```
//!
//! # Invariants
//! * In the methods of `Dictionary<string, V>` of the core library every such call is replaced, in
//!   code of every tier. A dictionary with a comparer asks that.
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact};
use cranelift_codegen::ir::{InstBuilder, types::I64};
use vervet_abi::call;
use vervet_types::{Known, MethodRef};

impl Translator<'_, '_> {
    /// The constrained call of a method that is being translated: the hash of a dictionary's key.
    /// False: it is another call, and nothing was emitted.
    pub(crate) fn hash_of_key(&mut self, method: MethodRef) -> Res<bool> {
        let string = self.session.universe.known(Known::String);
        let object = self.session.universe.known(Known::Object);
        let is_string = (self.body.prefixes.constrained).is_some_and(|c| std::ptr::eq(c, string));
        if !is_string
            || method.name != "GetHashCode"
            || method.param_count != 0
            || !std::ptr::eq(method.class, object)
        {
            return Ok(false);
        }
        let caller = self.body.method.class;
        let def = caller.def();
        let is_dictionary = def.module.is_corlib()
            && (def.namespace, def.name) == ("System.Collections.Generic", "Dictionary`2")
            && caller
                .args()
                .first()
                .is_some_and(|key| std::ptr::eq(*key, string));
        if !is_dictionary {
            return Ok(false);
        }
        let at = self.pop_address()?;
        let flags = self.null_checked(&at, 0, 8);
        let key = self.e.b.ins().load(I64, flags, at.value, 0);
        self.null_check(&StackValue {
            stack_type: StackType::Ref,
            value: key,
            class: Some(string),
            fact: ValueFact::None,
        });
        let hash = self.e.helper_value(call::HashKey, [key]);
        self.push(StackType::I32, hash);
        Ok(true)
    }
}
