//! Performance counters: categories that every process has, and those that the program defines.
//!
//! A handle is a number that says which counter of which instance is meant, so nothing is to be freed and a wrong handle names nothing.
//! Categories of the program live in the process; in mono other processes see them.
pub mod categories;
pub mod values;

use categories::{CATEGORIES, Instances};
use vervet_os::LeafLock;

/// A counter of the program: name, type, value. All instances share the value, as in mono.
pub struct Counter {
    /// Its name.
    pub name: String,
    /// System.Diagnostics.PerformanceCounterType.
    pub kind: i32,
    value: i64,
    /// Somebody has asked for it. From then on its category has an instance that is named as it is, as in mono.
    is_wanted: bool,
}
impl Counter {
    /// A counter that is 0.
    pub fn new(name: String, kind: i32) -> Counter {
        Counter {
            name,
            kind,
            value: 0,
            is_wanted: false,
        }
    }
}
/// Categories of the program. A category is never removed: counters are named by their places.
static CUSTOM: LeafLock<Vec<(String, Vec<Counter>)>> = LeafLock::new(Vec::new());

/// Which counter a handle means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handle {
    /// The place among [`CATEGORIES`], and behind them those of the program.
    category: u16,
    counter: u16,
    instance: i32,
}
impl Handle {
    /// As a number, which is not 0.
    pub fn to_raw(self) -> usize {
        (usize::from(self.category) + 1) << 48
            | usize::from(self.counter) << 32
            | self.instance as u32 as usize
    }
    /// From any number.
    pub fn from_raw(raw: usize) -> Option<Handle> {
        Some(Handle {
            category: ((raw >> 48) as u16).checked_sub(1)?,
            counter: (raw >> 32) as u16,
            instance: raw as u32 as i32,
        })
    }
    /// The place among the program's categories.
    fn custom(self) -> Option<usize> {
        usize::from(self.category).checked_sub(CATEGORIES.len())
    }
    /// The counter's type and value, and its base.
    pub fn read(self) -> Option<(i32, i64, i64)> {
        let (category, counter) = (usize::from(self.category), usize::from(self.counter));
        if let Some(at) = self.custom() {
            let custom = CUSTOM.lock();
            let c = custom.get(at)?.1.get(counter)?;
            return Some((c.kind, c.value, 1));
        }
        let c = CATEGORIES.get(category)?;
        let (_, kind) = c.counters.get(counter)?;
        let base = i64::from(c.instances != Instances::Network);
        Some((*kind, values::value(category, counter, self.instance), base))
    }
    /// Adds to the counter, or sets it; its new value. 0 if programs do not write it.
    pub fn update(self, add: bool, by: i64) -> i64 {
        let Some(at) = self.custom() else {
            return values::update(self.category.into(), self.counter.into(), add, by);
        };
        let mut custom = CUSTOM.lock();
        let Some(c) = custom
            .get_mut(at)
            .and_then(|c| c.1.get_mut(usize::from(self.counter)))
        else {
            return 0;
        };
        c.value = if add { c.value.wrapping_add(by) } else { by };
        c.value
    }
}

/// What is known of a counter that a program asks for.
pub struct Found {
    /// How to reach it, if it is there.
    pub handle: Option<Handle>,
    /// Its type, 0 if there is no counter of that name.
    pub kind: i32,
    /// Whether programs may write counters of the category.
    pub writable: bool,
}
/// Looks a counter up.
pub fn find(category: &str, counter: &str, instance: &str) -> Found {
    let nothing = Found {
        handle: None,
        kind: 0,
        writable: false,
    };
    if let Some(at) = CATEGORIES.iter().position(|c| c.name == category) {
        let c = &CATEGORIES[at];
        let place = c.counters.iter().position(|(name, _)| *name == counter);
        let handle = place.and_then(|counter| {
            Some(Handle {
                category: at as u16,
                counter: counter as u16,
                instance: values::instance(at, instance)?,
            })
        });
        return Found {
            handle,
            kind: place.map_or(0, |i| c.counters[i].1),
            writable: c.instances == Instances::Own,
        };
    }
    let mut custom = CUSTOM.lock();
    let Some(at) = custom.iter().position(|c| c.0 == category) else {
        return nothing;
    };
    let place = custom[at].1.iter().position(|c| c.name == counter);
    if let Some(place) = place {
        custom[at].1[place].is_wanted = true;
    }
    Found {
        handle: place.map(|counter| Handle {
            category: (CATEGORIES.len() + at) as u16,
            counter: counter as u16,
            instance: 0,
        }),
        kind: place.map_or(0, |i| custom[at].1[i].kind),
        writable: true,
    }
}
/// Adds a category of the program. One that is there stays as it is. False if there are too many, or too many counters.
pub fn create(category: String, counters: Vec<Counter>) -> bool {
    let mut custom = CUSTOM.lock();
    if CATEGORIES.iter().any(|c| c.name == category) || custom.iter().any(|c| c.0 == category) {
        return true;
    }
    let fits = CATEGORIES.len() + custom.len() < usize::from(u16::MAX) - 1
        && counters.len() <= usize::from(u16::MAX);
    if fits {
        custom.push((category, counters));
    }
    fits
}
/// The names of all categories.
pub fn category_names() -> Vec<String> {
    let own = CATEGORIES.iter().map(|c| c.name.to_owned());
    own.chain(CUSTOM.lock().iter().map(|c| c.0.clone()))
        .collect()
}
/// The names of a category's counters, None if there is no such category.
pub fn counter_names(category: &str) -> Option<Vec<String>> {
    if let Some(c) = CATEGORIES.iter().find(|c| c.name == category) {
        return Some(c.counters.iter().map(|c| c.0.to_owned()).collect());
    }
    let custom = CUSTOM.lock();
    let c = custom.iter().find(|c| c.0 == category)?;
    Some(c.1.iter().map(|c| c.name.clone()).collect())
}
/// The names of a category's instances. Those of the program's categories are named after the counters that somebody has asked for.
pub fn instance_names(category: &str) -> Vec<String> {
    if let Some(at) = CATEGORIES.iter().position(|c| c.name == category) {
        return values::instances(at);
    }
    let custom = CUSTOM.lock();
    let of = custom.iter().find(|c| c.0 == category);
    let wanted = of.into_iter().flat_map(|c| &c.1).filter(|c| c.is_wanted);
    wanted.map(|c| c.name.clone()).collect()
}
/// Whether a category of the program has an instance. Of those that every process has mono finds none.
pub fn has_instance(category: &str, instance: &str) -> bool {
    let is_own = CATEGORIES.iter().any(|c| c.name == category);
    !is_own && instance_names(category).iter().any(|n| n == instance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_read_back_from_its_number() {
        for h in [(0, 0, 0), (13, 2, -1), (0xfffe, 0xffff, i32::MIN)] {
            let h = Handle {
                category: h.0,
                counter: h.1,
                instance: h.2,
            };
            assert_eq!(Handle::from_raw(h.to_raw()), Some(h));
        }
        assert_eq!(Handle::from_raw(0), None);
        assert_eq!(Handle::from_raw(usize::MAX).and_then(Handle::read), None);
    }
    #[test]
    fn a_category_of_the_program_counts() {
        assert!(create(
            "a test's".into(),
            vec![Counter::new("c".into(), 0x10000)]
        ));
        let c = find("a test's", "c", "any").handle.unwrap();
        assert_eq!(c.update(true, 5), 5);
        assert_eq!(
            find("a test's", "c", "").handle.unwrap().read(),
            Some((0x10000, 5, 1))
        );
        assert_eq!(c.update(false, -1), -1);
        assert!(find("a test's", "d", "").handle.is_none());
    }
}
