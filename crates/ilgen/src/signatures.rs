//! The frame of a program: its types, and its methods without bodies.
//!
//! Invariant: whatever a body asks for exists: there are structs, classes, a slot, and a method for delegates.

use crate::rng::Rng;
use crate::tree::*;

/// A frame with about `methods` methods.
pub fn program(rng: &mut Rng, seed: u64, methods: usize) -> Program {
    let mut p = Program {
        seed,
        holders: Vec::new(),
        classes: Vec::new(),
        structs: Vec::new(),
        slots: Vec::new(),
        methods: Vec::new(),
    };
    for _ in 0..rng.between(3, 6) {
        let fields = (0..*rng.pick(&[1, 1, 2, 2, 3, 3, 4, 5, 8, 11]))
            .map(|_| variable(rng, &p))
            .collect();
        // The peers disagree on whether boxing a struct runs its constructor: few have one.
        let init = match rng.chance(7) {
            true => Init::Precise,
            false => Init::None,
        };
        p.structs.push(Struct { fields, init });
    }
    for c in 0..rng.between(3, 5) {
        let base = (c > 0 && rng.chance(60)).then(|| rng.below(c));
        let fields = (0..rng.between(1, 4)).map(|_| variable(rng, &p)).collect();
        let init = *rng.pick(&[Init::None, Init::None, Init::Relaxed, Init::Precise]);
        p.classes.push(Class { base, fields, init });
    }
    // Mono does not throw at each access of a class whose constructor threw: few do.
    let last = match rng.chance(15) {
        true => Init::Throwing,
        false => Init::Precise,
    };
    let inits = [
        Init::None,
        Init::Relaxed,
        Init::Precise,
        Init::Precise,
        last,
    ];
    for init in inits {
        let n = match init {
            Init::None => rng.between(8, 14),
            _ => rng.between(1, 4),
        };
        let fields = (0..n)
            .map(|_| {
                let ty = match init {
                    Init::None => variable(rng, &p),
                    _ => number(rng),
                };
                // In Mono a thread's own field does not run the constructor.
                (ty, init == Init::None && rng.chance(10))
            })
            .collect();
        p.holders.push(Holder { init, fields });
    }
    // One that delegates can have.
    let c = rng.below(p.classes.len());
    p.slots.push((c, vec![Ty::I4, Ty::I8], Ty::I8));
    for _ in 0..rng.between(1, 3) {
        let c = rng.below(p.classes.len());
        let params = parameters(rng, &p, 3);
        let ret = result(rng, &p);
        p.slots.push((c, params, ret));
    }
    add_methods(rng, &mut p, methods);
    p
}

fn add_methods(rng: &mut Rng, p: &mut Program, methods: usize) {
    for m in 0..methods * 3 / 10 {
        let home = match rng.below(10) {
            0..=4 => Home::Plain,
            5..=6 => Home::Holder(rng.below(p.holders.len())),
            7 => Home::Struct(rng.below(p.structs.len())),
            _ => Home::Instance(rng.below(p.classes.len())),
        };
        let params = parameters(rng, p, 3);
        let ret = result(rng, p);
        let locals = (0..rng.below(3)).map(|_| variable(rng, p)).collect();
        add(p, home, params, ret, locals, m > 0 || rng.chance(50));
    }
    let more = |rng: &mut Rng, p: &mut Program, home, params, ret| {
        let locals = (0..rng.between(2, 8)).map(|_| variable(rng, p)).collect();
        add(p, home, params, ret, locals, false);
    };
    for s in 0..p.slots.len() {
        let (declaring, params, ret) = p.slots[s].clone();
        for c in 0..p.classes.len() {
            if c == declaring || p.extends(c, declaring) && rng.chance(60) {
                more(rng, p, Home::Virtual(c, s), params.clone(), ret.clone());
            }
        }
    }
    for c in 0..p.classes.len() {
        if p.classes[c].base.is_none() || rng.chance(30) {
            more(rng, p, Home::Interface(c), vec![Ty::I4], Ty::I4);
        }
    }
    for s in 0..p.structs.len() {
        more(rng, p, Home::StructInterface(s), vec![Ty::I4], Ty::I4);
    }
    for _ in 0..2 {
        more(rng, p, Home::Plain, vec![Ty::I4, Ty::I8], Ty::I8);
    }
    let c = rng.below(p.classes.len());
    more(rng, p, Home::Instance(c), vec![Ty::I4, Ty::I8], Ty::I8);
    while p.methods.len() < methods {
        let home = match rng.below(12) {
            0..=7 => Home::Plain,
            8 => Home::Holder(rng.below(p.holders.len())),
            9 => Home::Struct(rng.below(p.structs.len())),
            _ => Home::Instance(rng.below(p.classes.len())),
        };
        let params = parameters(rng, p, 5);
        let ret = result(rng, p);
        more(rng, p, home, params, ret);
    }
}

fn add(p: &mut Program, home: Home, params: Vec<Ty>, ret: Ty, locals: Vec<Ty>, leaf: bool) {
    let this = match home {
        Home::Plain | Home::Holder(_) => None,
        Home::Instance(c) | Home::Virtual(c, _) | Home::Interface(c) => Some(Ty::Class(c)),
        Home::Struct(s) | Home::StructInterface(s) => Some(Ty::Ref(Box::new(Ty::Struct(s)))),
    };
    p.methods.push(Method {
        home,
        params: this.into_iter().chain(params).collect(),
        ret,
        locals,
        leaf,
        body: Node::nothing(),
    });
}

fn parameters(rng: &mut Rng, p: &Program, most: usize) -> Vec<Ty> {
    (0..rng.between(0, most))
        .map(|_| match rng.chance(15) {
            true => Ty::Ref(Box::new(variable(rng, p))),
            false => variable(rng, p),
        })
        .collect()
}

fn result(rng: &mut Rng, p: &Program) -> Ty {
    match rng.chance(8) {
        true => Ty::Void,
        false => variable(rng, p),
    }
}

/// The type of a number, a bool or a character.
pub fn number(rng: &mut Rng) -> Ty {
    let all = [
        (Ty::I1, 4),
        (Ty::U1, 4),
        (Ty::I2, 4),
        (Ty::U2, 3),
        (Ty::Bool, 3),
        (Ty::Char, 2),
        (Ty::I4, 12),
        (Ty::U4, 4),
        (Ty::I8, 8),
        (Ty::U8, 3),
        (Ty::I, 3),
        (Ty::R4, 4),
        (Ty::R8, 5),
    ];
    let weights: Vec<usize> = all.iter().map(|a| a.1).collect();
    all[rng.weighted(&weights)].0.clone()
}

/// The type of an element or of a type argument.
pub fn element(rng: &mut Rng, p: &Program) -> Ty {
    match rng.below(20) {
        0..=12 => number(rng),
        13 => Ty::Str,
        14 => Ty::Obj,
        15 if !p.classes.is_empty() => Ty::Class(rng.below(p.classes.len())),
        _ if !p.structs.is_empty() => Ty::Struct(rng.below(p.structs.len())),
        _ => number(rng),
    }
}

/// The type of a variable.
pub fn variable(rng: &mut Rng, p: &Program) -> Ty {
    match rng.below(40) {
        0..=21 => number(rng),
        22..=23 => Ty::Str,
        24..=25 => Ty::Obj,
        26..=27 if !p.classes.is_empty() => Ty::Class(rng.below(p.classes.len())),
        28 => Ty::Iface,
        29..=31 => Ty::Array(Box::new(element(rng, p))),
        32 => Ty::Array2(Box::new(element(rng, p))),
        33 => Ty::Delegate,
        34 => Ty::Cell(Box::new(element(rng, p))),
        _ if !p.structs.is_empty() => Ty::Struct(rng.below(p.structs.len())),
        _ => number(rng),
    }
}
