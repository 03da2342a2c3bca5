//! `EqualityComparer<T>.Default`: its class is known, and it is fetched only where the object itself is wanted.
//!
//! # Invariants
//! * [`Translator::comparer_class`] says what `EqualityComparer<T>.CreateComparer` makes; where it does not say, nothing is
//!   assumed.
//! * An item noted [`Note::Comparer`] has no value until [`Translator::comparer`] gives it one. That happens wherever it is
//!   popped, and at the end of the block; fetching it later than the program says is noticed by nobody.
use crate::signature::Shape;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{Item, Kind, Note};
use vervet_types::{ClassRef, MethodRef, Prim};

const NAMESPACE: &str = "System.Collections.Generic";

impl<'a, 'f> Translator<'a, 'f> {
    /// `EqualityComparer<T>.get_Default`; false: the call is to be made.
    pub(crate) fn default_comparer(&mut self, method: MethodRef) -> Res<bool> {
        let &[of] = method.class.args() else {
            return Ok(false);
        };
        let Some(class) = self.comparer_class(of)? else {
            return Ok(false);
        };
        let value = self.i64(0);
        self.push_item(Item {
            kind: Kind::Ref,
            value,
            class: Some(class),
            note: Note::Comparer(method),
        });
        Ok(true)
    }

    /// The class of the default comparer for values of a class, where that is simple to say.
    fn comparer_class(&self, of: ClassRef) -> Res<Option<ClassRef>> {
        let corlib = self.universe.corlib();
        if of.is_open {
            return Ok(None);
        }
        if of.prim == Some(Prim::U1) && !of.is_enum()? {
            return Ok(corlib.find_type(NAMESPACE, "ByteEqualityComparer")?);
        }
        let Some(equatable) = corlib.find_type("System", "IEquatable`1")? else {
            return Ok(None);
        };
        let equatable = self.universe.instantiate(equatable, &[of])?;
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
            Some(def) => Ok(Some(self.universe.instantiate(def, &[of])?)),
            None => Ok(None),
        }
    }

    /// The item with its value.
    pub(crate) fn comparer(&mut self, item: Item) -> Res<Item> {
        let Note::Comparer(method) = item.note else {
            return Ok(item);
        };
        let shape = Shape::of_method(method)?;
        let signature = self.e.b.import_signature(shape.clif);
        Ok(Item {
            value: self.e.call_method(method, signature, &[])[0],
            note: Note::Exact,
            ..item
        })
    }
}
