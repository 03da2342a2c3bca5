//! The side table of monitors: which objects have an inflated one. The collector frees the monitor of a dead object and deflates that
//! of a live object which no thread uses.
//!
//! ```text
//!   collection   list    the object is              its monitor is           the entry
//!   ----------   -----   ------------------------   ----------------------   ---------------------------------------
//!   minor        young   dead                       abandoned                goes
//!                        alive and young            left alone               stays, with the new address
//!                        alive and old now          left alone               goes to `old`
//!   major        both    dead                       abandoned                goes
//!                        alive, nobody uses it      deflated                 goes; the sync word is free or a hash again
//!                        alive and in use           left alone               stays, with the new address
//! ```
//! Minor collections do not deflate, so a lock for which threads compete now and then keeps its monitor from one major collection to the next.
//!
//! # Invariants
//! * An object whose sync word names a monitor is in one of the lists, once; the thread that inflated the monitor adds it,
//!   before that thread lets the world stop.
//! * The lists hold addresses weakly; the collector corrects them, world stopped. An object is in `young` until it is old.
use super::fat;
use crate::object::ObjRef;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::object::SYNC_OFFSET;
use vervet_heap::Inspection;
use vervet_heap::memory::{List, UNBOUNDED};
use vervet_os::LeafLock;

/// The lists, by the age of the object: a minor collection looks at the young ones only.
struct SideTable {
    young: List<usize>,
    old: List<usize>,
}
static SIDE_TABLE: LeafLock<Option<SideTable>> = LeafLock::new(None);

/// The object's sync word was made to name a monitor.
pub(super) fn add(object: ObjRef<'_>) {
    let mut table = SIDE_TABLE.lock();
    table
        .get_or_insert_with(|| {
            let list = || List::new(UNBOUNDED).expect("a list reserves nothing yet");
            SideTable {
                young: list(),
                old: list(),
            }
        })
        .young
        .push(object.addr());
}

/// The sync word of an object, by its address. The world is stopped.
fn sync_word(object: usize) -> &'static AtomicU32 {
    // SAFETY: the world is stopped, and the memory of an object, dead or alive, stays as it was until the collection ends. The word is
    // aligned to 4.
    unsafe { &*((object + SYNC_OFFSET as usize) as *const AtomicU32) }
}

/// World stopped: `seen` says where an object is now and whether it is young, or None if it is gone for good.
pub fn visit(young_only: bool, seen: &mut dyn FnMut(usize) -> Option<(usize, bool)>) {
    let mut table = SIDE_TABLE.lock();
    let Some(SideTable { young, old }) = &mut *table else {
        return;
    };
    // The place of an entry that stays. The word of a dead object is read where the object was: its memory is freed later in the collection.
    let mut inspect = |object: usize, deflate: bool| {
        let place = seen(object);
        let word = sync_word(place.map_or(object, |p| p.0));
        let index = fat::index_of(word.load(Ordering::Relaxed))?;
        if place.is_none() {
            fat::abandon(index);
            return None;
        }
        if deflate && let Some(plain) = fat::deflate(index) {
            word.store(plain, Ordering::Relaxed);
            return None;
        }
        place
    };
    if !young_only {
        old.retain_map(|o| inspect(o, true).map(|p| p.0));
    }
    young.retain_map(|o| match inspect(o, !young_only)? {
        (to, true) => Some(to),
        (to, false) => {
            old.push(to);
            None
        }
    });
}

/// For the heap's verifier, world stopped: sync words, entries and lists say the same. Every monitor that a sync word names is in use, and
/// no other's; its object is in one of the lists, once, and in that of old ones only if it is old; no other entry is in use, and what is free
/// is in the list of free ones.
pub fn check(heap: &dyn Inspection) {
    let mut named = List::new(1 << 28).expect("a list reserves nothing yet");
    heap.each_object(&mut |object| {
        if let Some(index) = fat::index_of(sync_word(object).load(Ordering::Relaxed)) {
            named.push((index, object));
        }
    });
    let named = named.as_mut_slice();
    named.sort_unstable();
    for &(index, object) in named.iter() {
        if !fat::is_in_use(index) {
            heap.wrong(object, "has a sync word that names a monitor that is free");
        }
    }
    if let Some(two) = named.windows(2).find(|two| two[0].0 == two[1].0) {
        heap.wrong(two[1].1, "shares its monitor with another object");
    }
    let listed = check_listed(heap);
    let (used, made) = fat::counts();
    if listed != named.len() || used != named.len() {
        let what = format!(
            "{} sync words name monitors, {listed} objects are listed for that, {used} monitors are in use",
            named.len()
        );
        heap.wrong(0, &what);
    }
    match fat::count_free() {
        Some(free) if free + used == made => {}
        free => heap.wrong(
            0,
            &format!("of {made} monitors {used} are in use, and free: {free:?}"),
        ),
    }
}
/// Every listed object is there, has a monitor, and is listed once. Returns how many there are.
fn check_listed(heap: &dyn Inspection) -> usize {
    let table = SIDE_TABLE.lock();
    let Some(SideTable { young, old }) = &*table else {
        return 0;
    };
    let mut all = List::new(1 << 28).expect("a list reserves nothing yet");
    for (list, may_be_young) in [(young, true), (old, false)] {
        for &object in list.as_slice() {
            match heap.is_young(object) {
                None => heap.wrong(
                    object,
                    "is listed for its monitor, and no object begins there",
                ),
                Some(true) if !may_be_young => {
                    heap.wrong(object, "is young, and listed for its monitor as old")
                }
                _ => {}
            }
            if fat::index_of(sync_word(object).load(Ordering::Relaxed)).is_none() {
                heap.wrong(object, "is listed for a monitor, and has none");
            }
            all.push(object);
        }
    }
    let all = all.as_mut_slice();
    all.sort_unstable();
    if let Some(two) = all.windows(2).find(|two| two[0] == two[1]) {
        heap.wrong(two[0], "is listed for its monitor twice");
    }
    all.len()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use vervet_abi::object::sync_word::{KIND_FAT, PAYLOAD_SHIFT};

    /// Objects that are their headers.
    struct Few(RefCell<Vec<(&'static [AtomicU32; 2], bool)>>);
    impl Few {
        fn object(&self, i: usize) -> usize {
            self.0.borrow()[i].0 as *const _ as usize
        }
        fn word(&self, i: usize) -> &'static AtomicU32 {
            &self.0.borrow()[i].0[1]
        }
        fn says(&self) -> String {
            let result = catch_unwind(AssertUnwindSafe(|| check(self)));
            result
                .err()
                .map_or(String::new(), |e| *e.downcast().expect("a sentence"))
        }
    }
    impl Inspection for Few {
        fn is_young(&self, object: usize) -> Option<bool> {
            let all = self.0.borrow();
            let found = all.iter().find(|(o, _)| *o as *const _ as usize == object);
            found.map(|(_, young)| *young)
        }
        fn each_object(&self, visit: &mut dyn FnMut(usize)) {
            (0..self.0.borrow().len()).for_each(|i| visit(self.object(i)));
        }
        fn wrong(&self, _: usize, what: &str) -> ! {
            panic!("{what}")
        }
    }
    fn inflate(few: &Few, i: usize) -> u32 {
        let index = fat::for_tests::allocate();
        few.word(i)
            .store(index << PAYLOAD_SHIFT | KIND_FAT, Ordering::Relaxed);
        // SAFETY: the check reads the sync word only.
        add(unsafe { ObjRef::from_addr(few.object(i)) });
        index
    }
    fn change_lists<T>(change: impl FnOnce(&mut SideTable) -> T) -> T {
        change(SIDE_TABLE.lock().as_mut().expect("there are some"))
    }

    /// The lists and the table are the process's: one test, which leaves them as they were.
    pub(in crate::threads::monitor) fn every_damage_is_found() {
        let header = || &*Box::leak(Box::new([AtomicU32::new(0), AtomicU32::new(0)]));
        let few = Few(RefCell::new((0..3).map(|i| (header(), i != 1)).collect()));
        assert_eq!(few.says(), "");
        let indices = [inflate(&few, 0), inflate(&few, 1)];
        assert_eq!(few.says(), "");
        // Two sync words that name one monitor, one that names none, and a monitor that none names.
        let word = few.word(1).load(Ordering::Relaxed);
        few.word(2).store(word, Ordering::Relaxed);
        assert!(few.says().contains("shares its monitor"), "{}", few.says());
        few.word(2)
            .store(999 << PAYLOAD_SHIFT | KIND_FAT, Ordering::Relaxed);
        assert!(few.says().contains("that is free"), "{}", few.says());
        few.word(2).store(0, Ordering::Relaxed);
        few.word(1).store(0, Ordering::Relaxed);
        assert!(few.says().contains("and has none"), "{}", few.says());
        few.word(1).store(word, Ordering::Relaxed);
        let third = fat::for_tests::allocate();
        assert!(
            few.says().contains("3 monitors are in use"),
            "{}",
            few.says()
        );
        fat::abandon(third);
        assert_eq!(few.says(), "");
        // Lists: an object twice, not at all, as old, a dead one.
        change_lists(|o| o.young.push(few.object(1)));
        assert!(few.says().contains("twice"), "{}", few.says());
        change_lists(|o| o.young.truncate(1));
        assert!(
            few.says().contains("1 objects are listed"),
            "{}",
            few.says()
        );
        change_lists(|o| o.old.push(few.object(1)));
        assert_eq!(few.says(), "", "it is old");
        few.0.borrow_mut()[1].1 = true;
        assert!(
            few.says().contains("listed for its monitor as old"),
            "{}",
            few.says()
        );
        change_lists(|o| o.old.truncate(0));
        change_lists(|o| o.young.push(few.object(1) + 8));
        assert!(
            few.says().contains("no object begins there"),
            "{}",
            few.says()
        );
        change_lists(|o| o.young.truncate(0));
        // An entry that is in use and in the list of free ones.
        few.word(1).store(0, Ordering::Relaxed);
        few.word(0).store(0, Ordering::Relaxed);
        indices.into_iter().for_each(fat::abandon);
        assert_eq!(few.says(), "");
        fat::for_tests::lose_free();
        assert!(few.says().contains("and free: "), "{}", few.says());
    }
}
