//! The order in which `Type.GetInterfaces` lists interfaces.
//!
//! Programs print it, and some take the first that fits. Mono collects the interfaces in a hash table with chains, whose hash is the token of the
//! interface's definition, and lists the table. So the order depends on nothing but metadata, and [`Table`] is such a table.
//!
//! # Invariants
//! A chain has the newest first. A key that is in the table keeps its place.
use crate::support::objects::same;
use vervet_types::{ClassRef, LoadError};

/// The sizes that a table takes, up to more than a class can have interfaces in practice; the last serves all larger ones.
const SIZES: [usize; 10] = [11, 19, 37, 73, 109, 163, 251, 367, 557, 823];

/// The hash table. The last of each chain is its first.
struct Table {
    chains: Vec<Vec<ClassRef>>,
    entries: usize,
    /// The size that it had before the last change of it.
    before: usize,
}

impl Table {
    fn new() -> Table {
        Table {
            chains: vec![Vec::new(); SIZES[0]],
            entries: 0,
            before: SIZES[0],
        }
    }

    fn chain(&mut self, interface: ClassRef) -> &mut Vec<ClassRef> {
        let hash = interface.def().token().0 as usize;
        let size = self.chains.len();
        &mut self.chains[hash % size]
    }

    fn insert(&mut self, interface: ClassRef) {
        let change = self.before.abs_diff(self.entries);
        if change * 3 > self.chains.len() * 8 {
            self.grow();
        }
        let chain = self.chain(interface);
        if !chain.iter().any(|i| same(i, interface)) {
            chain.push(interface);
            self.entries += 1;
        }
    }

    fn grow(&mut self) {
        self.before = self.chains.len();
        let fits = SIZES.into_iter().find(|s| *s >= self.entries);
        let size = fits.unwrap_or(SIZES[SIZES.len() - 1]);
        let old = std::mem::replace(&mut self.chains, vec![Vec::new(); size]);
        for interface in old.into_iter().flat_map(|c| c.into_iter().rev()) {
            self.chain(interface).push(interface);
        }
    }

    /// The interfaces that a class declares, each with those that it has itself.
    fn collect(&mut self, class: ClassRef) -> Result<(), LoadError> {
        for interface in class.declared_interfaces()? {
            self.insert(interface);
            self.collect(interface)?;
        }
        Ok(())
    }
}

/// All interfaces of a type, in mono's order.
///
/// # Errors
/// One of them cannot be loaded.
pub fn of_type(class: ClassRef) -> Result<Vec<ClassRef>, LoadError> {
    let mut table = Table::new();
    // This checks as well that the chains of interfaces end.
    let known = class.interfaces()?;
    let constraints = match class.is_generic_param() {
        true => class.param_constraints()?,
        false => Vec::new(),
    };
    for constraint in constraints {
        if constraint.is_interface() {
            table.insert(constraint);
            table.collect(constraint)?;
        } else {
            constraint
                .interfaces()?
                .iter()
                .for_each(|i| table.insert(i));
        }
    }
    // The class itself, then its parents.
    let mut at = Some(class);
    while let Some(c) = at {
        table.collect(c)?;
        at = c.parent()?;
    }
    // What the runtime adds to arrays and the like.
    known.iter().for_each(|i| table.insert(i));
    let chains = table.chains.into_iter();
    Ok(chains.flat_map(|c| c.into_iter().rev()).collect())
}
