//! Classes, and which class the object at an address is of.
//!
//! # Invariants
//! * The table of objects has a fixed size. An entry is what was last seen at an address; where nothing was seen the class is not known.
//! * A class without a name yet is a number; names are asked for when the recording was read.
use rustc_hash::FxHashMap;

/// Entries of the table of objects, a power of two.
const OBJECTS: usize = 1 << 16;

/// The number of a class as the recording has it; 0 is one that is not known.
pub(crate) type Class = u64;

/// Names of classes, VTables and objects.
#[derive(Default)]
pub(crate) struct Classes {
    names: FxHashMap<Class, String>,
    vtables: FxHashMap<u64, Class>,
    /// Address and VTable.
    objects: Vec<(u64, u64)>,
}

impl Classes {
    pub(crate) fn name(&mut self, class: Class, name: &str) {
        self.names.insert(class, name.to_owned());
    }

    pub(crate) fn vtable(&mut self, vtable: u64, class: Class) {
        self.vtables.insert(vtable, class);
    }

    /// The class of a VTable. One that is announced later is booked under its class all the same.
    pub(crate) fn of_vtable(&self, vtable: u64) -> Option<Class> {
        self.vtables.get(&vtable).copied()
    }

    fn slot(object: u64) -> usize {
        ((object >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize % OBJECTS
    }

    /// An object of that VTable is at an address.
    pub(crate) fn saw(&mut self, object: u64, vtable: u64) {
        if self.objects.is_empty() {
            self.objects = vec![(0, 0); OBJECTS];
        }
        self.objects[Self::slot(object)] = (object, vtable);
    }

    /// An object is at another address.
    pub(crate) fn moved(&mut self, from: u64, to: u64) {
        if self.objects.is_empty() {
            return;
        }
        let old = self.objects[Self::slot(from)];
        let new = &mut self.objects[Self::slot(to)];
        match old.0 == from {
            true => *new = (to, old.1),
            false if new.0 == to => *new = (0, 0),
            false => {}
        }
    }

    /// The VTable of the object at an address; 0 if nothing was seen there.
    pub(crate) fn vtable_of(&self, object: u64) -> u64 {
        let found = self.objects.get(Self::slot(object));
        found
            .filter(|o| o.0 == object && object != 0)
            .map_or(0, |o| o.1)
    }

    /// The name of a VTable's class, for a table.
    pub(crate) fn name_of_vtable(&self, vtable: u64) -> String {
        match self.of_vtable(vtable) {
            Some(class) => match self.names.get(&class) {
                Some(name) => name.clone(),
                None => format!("[unknown class {class:#x}]"),
            },
            None if vtable == 0 => "[unknown class]".into(),
            None => format!("[class of unknown VTable {vtable:#x}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_of_an_object_follows_it() {
        let mut classes = Classes::default();
        classes.moved(8, 16);
        classes.saw(0x1000, 1);
        classes.saw(0x2000, 2);
        classes.moved(0x1000, 0x3000);
        assert_eq!(classes.vtable_of(0x3000), 1);
        // Something that was not seen moves onto a place that was.
        classes.moved(0x9000, 0x2000);
        assert_eq!(classes.vtable_of(0x2000), 0);
        assert_eq!(classes.vtable_of(0), 0);
        classes.vtable(1, 10);
        assert_eq!(classes.name_of_vtable(1), "[unknown class 0xa]");
        classes.name(10, "System.String");
        assert_eq!(classes.name_of_vtable(1), "System.String");
    }
}
