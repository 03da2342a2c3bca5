//! Threads that run as compiled code does, against a model: they keep addresses in registers, which are scanned conservatively, and are stopped
//! between any two of their steps, also between a store and its card mark.
//!
//! # How it works
//! Each thread has objects of its own in the heap they share, and a [`Model`] of them: what refers to what, by ids. At every [`Machine::point`] it
//! may collect, ask for a cycle and go on, or let the others stop the world. What can be reached must be as the model says; what cannot must
//! be gone after a full collection, as weak handles tell; finalizers run once, and not for what can be reached.
//!
//! Each thread has one more object, at the end of a long list, which the marker comes to last: what is taken out of it while marking runs, and
//! put elsewhere, is known to nobody but by way of cards.
use crate::toy::seeds::seeds;
use crate::toy::{
    CRITICAL, Rng, Slot, TABLE, ToyHeap, Yard, end_refers, field, fields, id, read, try_make,
};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering::*;
use std::time::Duration;
use vervet_heap::{Config, Debug, World};
use vervet_os::LeafLock;

/// Registers that hold the address of an object.
const REGISTERS: usize = 12;
/// Words that hold an address inside of one, or the one past it if that refers to it.
const INSIDE: usize = 4;
/// Roots, root memory words and handles of each kind that a thread has.
const OWN: usize = 24;

/// Green threads that a thread runs in turn: one at a time has the registers, the others are parked.
const GREEN: usize = 6;
/// Roots of a parked thread.
const PARKED_ROOTS: usize = 2;

/// Fields of the object at the end of the list: it is a large one, which does not move.
const FAR: usize = 1100;

#[derive(Clone, Default)]
struct Object {
    /// Ids, 0 for null. Of a table keys and values in turn.
    fields: Vec<usize>,
    table: bool,
    /// Its finalizer is to run.
    registered: bool,
}

/// What a parked thread refers to.
#[derive(Clone, Copy, Default)]
struct Parked {
    registers: [usize; REGISTERS],
    inside: [usize; INSIDE],
    roots: [usize; PARKED_ROOTS],
}

/// What a thread knows of its objects, by their ids.
struct Model {
    objects: HashMap<usize, Object>,
    registers: [usize; REGISTERS],
    inside: [usize; INSIDE],
    parked: [Parked; GREEN],
    roots: [usize; OWN],
    statics: [usize; OWN],
    far: [usize; FAR],
    strong: [usize; OWN],
    pinned: [usize; OWN],
    short: [usize; OWN],
    long: [usize; OWN],
    listed: [usize; OWN],
}

impl Model {
    fn new() -> Model {
        Model {
            objects: HashMap::new(),
            registers: [0; REGISTERS],
            inside: [0; INSIDE],
            parked: [Parked::default(); GREEN],
            far: [0; FAR],
            roots: [0; OWN],
            statics: [0; OWN],
            strong: [0; OWN],
            pinned: [0; OWN],
            short: [0; OWN],
            long: [0; OWN],
            listed: [0; OWN],
        }
    }
    /// What can be reached.
    fn reachable(&self) -> HashSet<usize> {
        let lists: [&[usize]; 7] = [
            &self.far,
            &self.registers,
            &self.inside,
            &self.roots,
            &self.statics,
            &self.strong,
            &self.pinned,
        ];
        let parked = self.parked.iter();
        let parked = parked.flat_map(|p| [&p.registers[..], &p.inside, &p.roots]);
        self.closure(lists.into_iter().chain(parked).flatten().copied())
    }
    /// What these keep. A value is kept by its table and its key; by its table alone if there is no key.
    fn closure(&self, from: impl Iterator<Item = usize>) -> HashSet<usize> {
        let mut seen = HashSet::new();
        let mut todo: Vec<usize> = from.collect();
        // By key: the values that wait for it.
        let mut waiting = HashMap::<usize, Vec<usize>>::new();
        while let Some(o) = todo.pop() {
            if o == 0 || !seen.insert(o) {
                continue;
            }
            todo.extend(waiting.remove(&o).into_iter().flatten());
            let object = &self.objects[&o];
            if !object.table {
                todo.extend(&object.fields);
                continue;
            }
            for pair in object.fields.chunks(2) {
                match pair[0] {
                    k if k == 0 || seen.contains(&k) => todo.push(pair[1]),
                    k => waiting.entry(k).or_default().push(pair[1]),
                }
            }
        }
        seen
    }
}

struct Machine<'t> {
    heap: &'static ToyHeap,
    seat: usize,
    rng: Rng,
    model: Model,
    /// Root memory of its own.
    statics: usize,
    /// The object at the end of the list.
    far: usize,
    /// Ids of objects that somebody took out of the queue of finalizers.
    finalized: &'t LeafLock<Vec<usize>>,
    /// It collects at one of so many points.
    rarely: usize,
    /// There is no other thread. (An address where an object begins may be the end of the one before, and keeps both: of another
    /// thread's objects and registers nothing is known.)
    alone: bool,
}

impl Machine<'_> {
    fn world(&self) -> &'static Yard {
        &self.heap.world
    }
    fn own(&self, i: usize) -> usize {
        self.seat * OWN + i
    }
    fn register(&self, r: usize) -> usize {
        self.world().seats[self.seat].stack[r].load(Relaxed)
    }
    fn set_register(&mut self, r: usize, address: usize) {
        self.world().seats[self.seat].stack[r].store(address, Relaxed);
        self.model.registers[r] = id(address);
    }
    /// Between two steps.
    fn point(&mut self) {
        match self.rng.below(self.rarely) {
            0 => self.heap.collect_minor(),
            1 => drop(self.heap.ask_for_major()),
            2 if self.rng.below(20) == 0 => self.heap.collect_all(),
            3 => {
                let us = self.rng.below(100) as u64;
                let sleep = || std::thread::sleep(Duration::from_micros(us));
                self.world().blocking(&mut { sleep });
            }
            _ => self.world().poll(),
        }
    }
    /// Stores a register's object, or null, at an address that a register keeps valid.
    fn store(&mut self, at: usize, from: Option<usize>) {
        self.point();
        let value = from.map_or(0, |r| self.register(r));
        self.world().store_only(at, value);
        if value == 0 {
            return;
        }
        let storing = &self.world().seats[self.seat].storing;
        storing.store(true, SeqCst);
        self.point();
        self.world().mark_card(at, value);
        storing.store(false, SeqCst);
    }
    fn any_register(&mut self) -> usize {
        self.rng.below(REGISTERS)
    }
    /// A register that holds a table, or something else with fields.
    fn holder(&mut self, table: bool) -> Option<(usize, usize)> {
        let r = self.any_register();
        let object = self.model.objects.get(&self.model.registers[r])?;
        let n = object.fields.len();
        (n > 0 && object.table == table).then_some((r, n))
    }

    fn step(&mut self) {
        match self.rng.below(100) {
            0..26 => self.make(),
            26..28 => self.switch(),
            28..45 => self.store_field(),
            45..54 => self.load_field(),
            54..60 => self.use_far(),
            60..68 => self.set_pair(),
            68..73 => self.look_up(),
            73..82 => self.use_root(),
            82..92 => self.use_handle(),
            92..94 => self.use_finalizer(),
            94 => self.switch(),
            95 => self.finalize(),
            96 => self.point_inside(),
            97 => {
                let r = self.any_register();
                self.world().seats[self.seat].stack[r].store(0, Relaxed);
                self.model.registers[r] = 0;
            }
            98 => self.heap.close(self.world().tlab(self.seat)),
            _ => self.point(),
        }
    }
    fn make(&mut self) {
        let (mut n, plain, mut flags) = match self.rng.below(300) {
            0 => (1100 + self.rng.below(5000), 0, 0),
            1 => (0, 1100 + self.rng.below(20_000), 0),
            2 => (1100 + self.rng.below(3000), 0, TABLE),
            3..20 => (2 + self.rng.below(60), 0, TABLE),
            20..30 => (100 + self.rng.below(700), 0, 0),
            k => (k % 5, k % 7, 0),
        };
        if flags == TABLE {
            n &= !1;
        } else if self.rng.below(4) == 0 {
            flags = CRITICAL;
        }
        let o = try_make(self.heap, self.seat, n, plain, flags).expect("memory");
        let object = Object {
            fields: vec![0; n],
            table: flags == TABLE,
            registered: false,
        };
        self.model.objects.insert(id(o), object);
        let r = self.any_register();
        self.set_register(r, o);
    }
    fn store_field(&mut self) {
        let Some((r, n)) = self.holder(false) else {
            return;
        };
        let (f, from) = (self.rng.below(n), self.any_register());
        let (to, value) = (self.model.registers[r], self.model.registers[from]);
        self.store(field(self.register(r), f), Some(from));
        self.model.objects.get_mut(&to).expect("held").fields[f] = value;
    }
    fn load_field(&mut self) {
        let Some((r, n)) = self.holder(false) else {
            return;
        };
        let (f, to) = (self.rng.below(n), self.any_register());
        let at = field(self.register(r), f);
        let want = self.model.objects[&self.model.registers[r]].fields[f];
        self.point();
        let v = read(at);
        assert_eq!(id(v), want, "field {f}");
        self.set_register(to, v);
    }
    /// The value goes first, so that no pair has a key and the value of another. Then the key comes first, or the value.
    fn set_pair(&mut self) {
        let Some((r, n)) = self.holder(true) else {
            return;
        };
        let (f, key, value) = (
            self.rng.below(n / 2) * 2,
            self.any_register(),
            self.any_register(),
        );
        let table = self.model.registers[r];
        let mut parts = vec![(f + 1, None)];
        if self.rng.below(2) == 0 {
            parts.extend([(f, Some(key)), (f + 1, Some(value))]);
        } else {
            parts.extend([(f, None), (f + 1, Some(value)), (f, Some(key))]);
        }
        for (f, from) in parts {
            let id = from.map_or(0, |from| self.model.registers[from]);
            self.store(field(self.register(r), f), from);
            self.model.objects.get_mut(&table).expect("held").fields[f] = id;
        }
    }
    /// What a register's object is the key of, goes to a register.
    fn look_up(&mut self) {
        let (Some((r, n)), key) = (self.holder(true), self.any_register()) else {
            return;
        };
        let key_id = self.model.registers[key];
        let pairs = &self.model.objects[&self.model.registers[r]].fields;
        let Some(f) = (0..n)
            .step_by(2)
            .find(|f| key_id != 0 && pairs[*f] == key_id)
        else {
            return;
        };
        let want = pairs[f + 1];
        self.point();
        let table = self.register(r);
        assert_eq!(read(field(table, f)), self.register(key), "key {f}");
        let value = read(field(table, f + 1));
        assert_eq!(id(value), want, "value {f}");
        let to = self.any_register();
        self.set_register(to, value);
    }
    /// A root, or a word of root memory, is read or written.
    fn use_root(&mut self) {
        let (i, r) = (self.rng.below(OWN), self.any_register());
        let (is_static, reads) = (self.rng.below(2) == 0, self.rng.below(3) == 0);
        let at = self.statics + 8 * i;
        let root = &self.world().roots[self.own(i)];
        match (is_static, reads) {
            (true, true) => {
                self.point();
                assert_eq!(id(read(at)), self.model.statics[i], "root memory {i}");
                self.set_register(r, read(at));
            }
            (true, false) => {
                let value = self.model.registers[r];
                self.store(at, Some(r));
                self.model.statics[i] = value;
            }
            (false, true) => {
                let o = root.load(Relaxed);
                assert_eq!(id(o), self.model.roots[i], "root {i}");
                self.set_register(r, o);
            }
            (false, false) => {
                root.store(self.register(r), Relaxed);
                self.model.roots[i] = self.model.registers[r];
            }
        }
    }
    /// An object goes out of the far one into a register, or back.
    fn use_far(&mut self) {
        let (i, r) = (self.rng.below(FAR / 8), self.any_register());
        let at = field(self.far, i);
        let known = self.model.far[i];
        if known == 0 {
            self.model.far[i] = self.model.registers[r];
            return self.store(at, Some(r));
        }
        self.point();
        assert_eq!(id(read(at)), known, "the far object's field {i}");
        self.set_register(r, read(at));
        self.store(at, None);
        self.model.far[i] = 0;
    }
    /// Makes the far object and the list, `length` others before it.
    fn go_far(&mut self, length: usize) {
        let root = &self.world().roots[self.seat];
        let make = |n| try_make(self.heap, self.seat, n, 0, 0).expect("memory");
        root.store(make(FAR), Relaxed);
        self.far = root.load(Relaxed);
        for _ in 0..length {
            let o = make(1);
            self.world().store(field(o, 0), root.load(Relaxed));
            root.store(o, Relaxed);
        }
    }
    fn use_handle(&mut self) {
        let (i, r) = (self.rng.below(OWN), self.any_register());
        let (w, m, own) = (self.world(), &mut self.model, self.seat * OWN + i);
        // What is pinned stays so for long: few are.
        let (slot, knows): (&Slot, _) = match self.rng.below(9) {
            0 | 1 => (&w.strong[own], &mut m.strong),
            2 => (&w.pinned[self.seat * OWN], &mut m.pinned),
            3 | 4 => (&w.short[own], &mut m.short),
            5 | 6 => (&w.long[own], &mut m.long),
            _ => (&w.listed[own], &mut m.listed),
        };
        let i = if std::ptr::eq(slot, &w.pinned[self.seat * OWN]) {
            0
        } else {
            i
        };
        let free = self.rng.below(3) == 0;
        let o = w.seats[self.seat].stack[r].load(Relaxed);
        slot.store(if free { 0 } else { o }, Relaxed);
        knows[i] = if free { 0 } else { m.registers[r] };
    }
    fn use_finalizer(&mut self) {
        let r = self.any_register();
        let o = self.register(r);
        let Some(object) = self.model.objects.get_mut(&id(o)) else {
            return;
        };
        object.registered = self.rng.below(3) > 0;
        if object.registered {
            self.heap.register_finalizer(o);
        } else {
            self.heap.suppress_finalizer(o);
        }
    }
    /// Takes what waits in the queue; forgets it.
    fn finalize(&mut self) {
        while let Some(o) = self.heap.finalizers.next() {
            self.finalized.lock().push(id(o));
        }
        let mut mine = Vec::new();
        self.finalized.lock().retain(|o| {
            let own = self.model.objects.contains_key(o);
            mine.extend(own.then_some(*o));
            !own
        });
        if mine.is_empty() {
            return;
        }
        let live = self.model.reachable();
        for o in mine {
            assert!(!live.contains(&o), "{o} is finalized and can be reached");
            let object = self.model.objects.get_mut(&o).expect("its own");
            assert!(object.registered, "{o} has no finalizer to run");
            object.registered = false;
        }
    }
    /// Parks the green thread that runs, and goes on with another one. Its exact roots are changed, too.
    fn switch(&mut self) {
        self.point();
        let (g, root, from) = (
            self.rng.below(GREEN),
            self.rng.below(PARKED_ROOTS),
            self.any_register(),
        );
        let world = self.world();
        let parked = &world.parked[(self.seat - 1) * GREEN + g];
        let stack = &world.seats[self.seat].stack;
        let value = self.register(from);
        parked.change(|| {
            for (word, kept) in stack.iter().zip(&parked.words) {
                word.store(kept.swap(word.load(Relaxed), Relaxed), Relaxed);
            }
            parked.roots[root].store(value, Relaxed);
        });
        let m = &mut self.model;
        m.parked[g].roots[root] = m.registers[from];
        std::mem::swap(&mut m.parked[g].registers, &mut m.registers);
        std::mem::swap(&mut m.parked[g].inside, &mut m.inside);
    }
    /// What the parked threads refer to exactly is as the model says; the addresses.
    fn parked_objects(&self) -> Vec<usize> {
        let mut all = Vec::new();
        for (g, known) in self.model.parked.iter().enumerate() {
            let parked = &self.world().parked[(self.seat - 1) * GREEN + g];
            let words = parked.words.iter().zip(known.registers);
            for (word, want) in words.chain(parked.roots.iter().zip(known.roots)) {
                assert_eq!(id(word.load(Relaxed)), want, "parked thread {g}");
                all.push(word.load(Relaxed));
            }
        }
        all
    }
    fn point_inside(&mut self) {
        let (i, r) = (self.rng.below(INSIDE), self.any_register());
        let o = self.register(r);
        let size = if o == 0 {
            0
        } else {
            8 * (2 + fields(read(o) as u64) + (read(o) >> 32))
        };
        let ends = usize::from(o != 0 && end_refers(o));
        let word = o + self.rng.below((size + ends).max(1));
        self.world().seats[self.seat].stack[REGISTERS + i].store(word, Relaxed);
        self.model.inside[i] = self.model.registers[r];
    }

    /// What can be reached is as the model says; returns it, with the addresses.
    fn check(&self) -> HashMap<usize, usize> {
        let live = self.model.reachable();
        let (w, m) = (self.world(), &self.model);
        let mut at = HashMap::new();
        let mut todo = self.parked_objects();
        for i in 0..OWN {
            let own = self.own(i);
            for (what, address, want) in [
                ("root", w.roots[own].load(Relaxed), m.roots[i]),
                ("root memory", read(self.statics + 8 * i), m.statics[i]),
                ("strong handle", w.strong[own].load(Relaxed), m.strong[i]),
                ("pinned handle", w.pinned[own].load(Relaxed), m.pinned[i]),
            ] {
                assert_eq!(id(address), want, "{what} {i}");
                todo.push(address);
            }
        }
        for (i, want) in m.far.iter().enumerate() {
            let o = read(field(self.far, i));
            assert_eq!(id(o), *want, "the far object's field {i}");
            todo.push(o);
        }
        for r in 0..REGISTERS {
            assert_eq!(id(self.register(r)), m.registers[r], "register {r}");
            todo.push(self.register(r));
        }
        while let Some(o) = todo.pop() {
            if o == 0 || at.insert(id(o), o).is_some() {
                continue;
            }
            self.check_object(o, &live, &mut todo);
        }
        for i in 0..OWN {
            for (what, list, known) in [
                ("short", &w.short, &m.short),
                ("long", &w.long, &m.long),
                ("listed", &w.listed, &m.listed),
            ] {
                let (is, want) = (list[self.own(i)].load(Relaxed), known[i]);
                let right = id(is) == want || is == 0 && !live.contains(&want);
                assert!(right, "{what} {i} is {is:#x}, of {want}");
                if let Some(o) = at.get(&want) {
                    assert_eq!(is, *o, "{what} {i}");
                }
            }
        }
        at
    }
    fn check_object(&self, o: usize, live: &HashSet<usize>, todo: &mut Vec<usize>) {
        let h = read(o) as u64;
        let object = &self.model.objects[&id(o)];
        assert_eq!(fields(h), object.fields.len());
        for w in 2 + fields(h)..2 + fields(h) + (h >> 32) as usize {
            assert_eq!(read(o + 8 * w), id(o), "plain word {w} of {o:#x}");
        }
        if !object.table {
            for (f, want) in object.fields.iter().enumerate() {
                let v = read(field(o, f));
                assert_eq!(id(v), *want, "field {f} of {o:#x}");
                todo.push(v);
            }
            return;
        }
        let tombstone = self.world().tombstone.load(Relaxed);
        for (p, want) in object.fields.chunks(2).enumerate() {
            let (k, v) = (read(field(o, 2 * p)), read(field(o, 2 * p + 1)));
            let dead = want[0] != 0 && !live.contains(&want[0]);
            let buried = dead && (k, v) == (tombstone, 0);
            assert!(
                buried || [id(k), id(v)] == *want,
                "pair {p} of {o:#x} is {k:#x}, {v:#x}; to be {want:?}"
            );
            if !dead {
                todo.extend([k, v]);
            }
        }
    }
    /// Collects everything; what cannot be reached is gone then, if no register keeps it.
    fn check_all(&mut self) {
        if self.alone {
            let stack = &self.world().seats[self.seat].stack;
            stack.iter().for_each(|word| word.store(0, Relaxed));
            (self.model.registers, self.model.inside) = Default::default();
            let world = self.world();
            for (g, known) in self.model.parked.iter_mut().enumerate() {
                let parked = &world.parked[(self.seat - 1) * GREEN + g];
                parked.change(|| parked.words.iter().for_each(|w| w.store(0, Relaxed)));
                (known.registers, known.inside) = Default::default();
            }
        }
        self.finalize();
        let live = self.model.reachable();
        self.heap.collect_all();
        let m = &self.model;
        let waiting = |(o, object): (&usize, &Object)| object.registered.then_some(*o);
        let kept = m.closure(m.objects.iter().filter_map(waiting));
        let gone = |o: &usize| self.alone && !live.contains(o) && !kept.contains(o);
        let w = self.world();
        for i in 0..OWN {
            let is = |list: &[Slot]| list[self.own(i)].load(Relaxed) != 0;
            // (What is kept for a finalizer keeps short ones, too, if it was queued before its referent was found dead.)
            assert!(!(is(&w.short) && gone(&m.short[i])), "short {i}");
            assert!(!(is(&w.long) && gone(&m.long[i])), "long {i}");
            assert!(!(is(&w.listed) && gone(&m.listed[i])), "listed {i}");
        }
        self.check();
        self.forget_what_is_gone();
    }
    /// Of what is gone the model keeps nothing but what handles and tables still name.
    fn forget_what_is_gone(&mut self) {
        let m = &self.model;
        let mut named = m.reachable();
        let registered = m.objects.iter().filter(|(_, object)| object.registered);
        named.extend(m.closure(registered.map(|(o, _)| *o)));
        let tables = m
            .objects
            .iter()
            .filter(|(o, object)| object.table && named.contains(o));
        let of_tables: Vec<usize> = tables.flat_map(|(_, o)| o.fields.clone()).collect();
        let handles = [m.short, m.long, m.listed];
        named.extend(of_tables.into_iter().chain(handles.into_iter().flatten()));
        self.model.objects.retain(|o, _| named.contains(o));
    }
    fn run(&mut self, steps: usize) {
        for step in 1..=steps {
            self.step();
            match step % 1000 {
                0 => self.check_all(),
                500 => drop(self.check()),
                _ => {}
            }
        }
        self.check_all();
    }
}

/// Threads, and how the heap collects, as the seed has it.
fn config(rng: &mut Rng) -> (usize, Config) {
    let threads = 1 + rng.below(3);
    let concurrent = rng.below(3) > 0;
    let config = Config {
        nursery: 256 << 10,
        min_major: [1 << 20, 1 << 30][rng.below(2)],
        stop_below: if concurrent { 0 } else { 1 << 30 },
        helpers: rng.below(3),
        evacuate: [4 << 20, 256 << 10][rng.below(2)],
        debug: Debug {
            verify_before: true,
            verify_after: true,
            poison: true,
            promote_in_place: [0, 0, 2, 3, 5][rng.below(5)],
            collect_every: [0, 0, 150][rng.below(3)],
            concurrent_marking: concurrent,
            slow_marker: [0, 1, 20, 60][rng.below(4)],
            no_tlabs: rng.below(8) == 0,
            ..Debug::default()
        },
        ..Config::default()
    };
    (threads, config)
}

fn run(seed: u64, steps: usize) {
    let mut rng = Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (threads, config) = config(&mut rng);
    println!("seed {seed}: {threads} threads, {config:?}");
    let heap = crate::toy::start(OWN * (threads + 1), config);
    let list = [0, 1500, 5000][rng.below(3)];
    let tombstone = try_make(heap, 0, 0, 0, 0).expect("memory");
    heap.world.tombstone.store(tombstone, Relaxed);
    let finalized = LeafLock::new(Vec::new());
    std::thread::scope(|scope| {
        let all: Vec<_> = (1..=threads)
            .map(|seat| {
                let rng = Rng(rng.next() as u64 | 1);
                let finalized = &finalized;
                let work = move || {
                    let statics = heap.allocate_statics(8 * OWN, 0..OWN);
                    let mut machine = Machine {
                        heap,
                        seat,
                        rng,
                        model: Model::new(),
                        statics: statics.expect("memory"),
                        far: 0,
                        finalized,
                        rarely: 150,
                        alone: threads == 1,
                    };
                    heap.world.attached(seat, heap, || {
                        machine.go_far(list);
                        machine.run(steps);
                    });
                };
                let thread = std::thread::Builder::new().name(format!("GC test {seat}"));
                thread.spawn_scoped(scope, work).expect("a thread")
            })
            .collect();
        heap.world.blocking(&mut || {
            while !all.iter().all(|t| t.is_finished()) {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
    });
    assert!(heap.minor_count() > 0 && heap.major_count() > 0);
}

#[test]
fn threads_are_stopped_anywhere_and_lose_nothing() {
    let all = seeds("machine", &[], 4);
    vervet_os::perturb::enable(all[0]);
    for seed in all {
        run(seed, 2000);
    }
}

/// For as long as VERVET_TEST_SECONDS says.
#[test]
#[ignore = "takes as long as it is told to"]
fn threads_are_stopped_anywhere_for_long() {
    let seconds = std::env::var("VERVET_TEST_SECONDS").map_or(600, |s| s.parse().expect("seconds"));
    let end = std::time::Instant::now() + Duration::from_secs(seconds);
    vervet_os::perturb::enable(seeds("machine", &[], 1)[0]);
    let mut runs = 0;
    while std::time::Instant::now() < end {
        run(seeds("machine", &[], 1)[0], 10_000);
        runs += 1;
    }
    println!("{runs} runs");
}
