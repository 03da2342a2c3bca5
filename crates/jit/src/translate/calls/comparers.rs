//! `EqualityComparer<T>.Default`, whose class is known when the method is compiled.
//!
//! # How it works
//! The generic collections call `EqualityComparer<T>.Default.Equals(a, b)`. Knowing the class, the
//! call of `Equals` is direct and can be inlined, and then the comparer itself is often not needed.
//! The call of `get_Default` is therefore deferred: it pushes a value with the fact
//! [`ValueFact::Comparer`] and emits nothing.
//!
//! ```text
//! call EqualityComparer<int>.get_Default     pushes Comparer, class GenericEqualityComparer<int>
//! ldloc a
//! ldloc b
//! callvirt Equals(int, int)                  direct, then inlined: the comparer is never loaded
//! ```
//!
//! # Invariants
//! * [`Translator::comparer_class`] agrees with `EqualityComparer<T>.CreateComparer` of the class
//!   library. Where it does not know, nothing is assumed.
//! * A value with the fact [`ValueFact::Comparer`] has no CLIF value until [`Translator::comparer`]
//!   emits the call. This happens when it is popped, and at the end of a block at the latest. The
//!   getter has no effect but creating the comparer once, so the program cannot observe when it
//!   runs.
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue, ValueFact, stack_type_of};
use vervet_types::{ClassRef, MethodRef, Prim};

/// The namespace of the comparers' classes.
const NAMESPACE: &str = "System.Collections.Generic";

impl<'a, 'f> Translator<'a, 'f> {
    /// `EqualityComparer<T>.get_Default`. False: the call must be made.
    pub(crate) fn default_comparer(&mut self, method: MethodRef) -> Res<bool> {
        let &[of] = method.class.args() else {
            return Ok(false);
        };
        let Some(class) = self.comparer_class(of)? else {
            return Ok(false);
        };
        let value = self.i64(0);
        self.push_value(StackValue {
            stack_type: StackType::Ref,
            value,
            class: Some(class),
            fact: ValueFact::Comparer(method),
        });
        Ok(true)
    }

    /// The class of the default comparer for values of a class, where it is one of the simple
    /// cases.
    fn comparer_class(&self, of: ClassRef) -> Res<Option<ClassRef>> {
        let corlib = self.session.universe.corlib();
        if of.is_open {
            return Ok(None);
        }
        if of.prim == Some(Prim::U1) && !of.is_enum()? {
            return Ok(corlib.find_type(NAMESPACE, "ByteEqualityComparer")?);
        }
        let Some(equatable) = corlib.find_type("System", "IEquatable`1")? else {
            return Ok(None);
        };
        let equatable = self.session.universe.instantiate(equatable, &[of])?;
        let name = if of.implements(equatable)? {
            "GenericEqualityComparer`1"
        } else {
            match of.enum_underlying()?.and_then(|c| c.prim) {
                Some(Prim::I1) => "SByteEnumEqualityComparer`1",
                Some(Prim::I2) => "ShortEnumEqualityComparer`1",
                Some(Prim::U1 | Prim::U2 | Prim::I4 | Prim::U4) => "EnumEqualityComparer`1",
                Some(Prim::I8 | Prim::U8) => "LongEnumEqualityComparer`1",
                _ => return Ok(None),
            }
        };
        match corlib.find_type(NAMESPACE, name)? {
            Some(def) => Ok(Some(self.session.universe.instantiate(def, &[of])?)),
            None => Ok(None),
        }
    }

    /// The value, loaded if it is a default comparer that was deferred.
    pub(crate) fn comparer(&mut self, operand: StackValue) -> Res<StackValue> {
        let method = match (operand.fact, operand.class) {
            (ValueFact::Comparer(method), _) => method,
            (ValueFact::Boxed(number), Some(class)) => {
                let kind = stack_type_of(class)?;
                let number = StackValue {
                    stack_type: kind,
                    value: number,
                    ..operand
                };
                self.box_operand(class, &number)?;
                return self.pop();
            }
            _ => return Ok(operand),
        };
        let lowered = LoweredSignature::of_method(method)?;
        let value = match self.try_inline(method, &lowered, false)? {
            true => self.pop()?.value,
            false => {
                let signature = self.e.b.import_signature(lowered.clif);
                self.e.call_method(method, signature, &[])[0]
            }
        };
        Ok(StackValue {
            value,
            fact: ValueFact::Exact,
            ..operand
        })
    }
}
