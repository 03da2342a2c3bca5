//! From a seed to a program.
//!
//! Invariants: the tree is typed (see `tree`); every program ends, because a method without fuel returns at once, a loop
//! without fuel ends, and what has no fuel test (a leaf) has no loop and calls one earlier leaf at most; the depth of
//! calls is bounded by the fuel; nothing is generated whose result ECMA-335 leaves open where the peers disagree.

use crate::rng::Rng;
use crate::signatures;
use crate::tree::*;

/// How large programs are.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Methods.
    pub methods: usize,
    /// Nodes of a method, about.
    pub nodes: usize,
}

/// The program that `seed` names.
pub fn program(seed: u64, size: Size) -> Program {
    let mut rng = Rng::new(seed);
    let mut program = signatures::program(&mut rng, seed, size.methods);
    for m in 0..program.methods.len() {
        let body = Bodies::new(&mut rng, &program, m, size.nodes).body();
        program.methods[m].body = body;
    }
    program
}

/// Makes the body of one method.
pub(crate) struct Bodies<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) program: &'a Program,
    pub(crate) index: usize,
    pub(crate) method: &'a Method,
    /// How many nodes there may still be.
    pub(crate) budget: isize,
    /// Within an expression the stack is not empty: no `try`.
    pub(crate) within_expression: usize,
    loops: usize,
    catches: usize,
    handlers: usize,
    pub(crate) depth: usize,
    called: bool,
}

const COMPARING: [&str; 10] = [
    "beq", "bge", "bgt", "ble", "blt", "bne.un", "bge.un", "bgt.un", "ble.un", "blt.un",
];

impl<'a> Bodies<'a> {
    fn new(rng: &'a mut Rng, program: &'a Program, index: usize, nodes: usize) -> Self {
        let method = &program.methods[index];
        let budget = match method.leaf {
            true => rng.between(3, 16),
            false => rng.between(nodes / 3, nodes * 5 / 3),
        };
        Bodies {
            rng,
            program,
            index,
            method,
            budget: budget as isize,
            within_expression: 0,
            loops: 0,
            catches: 0,
            handlers: 0,
            depth: 0,
            called: false,
        }
    }
    fn body(mut self) -> Node {
        let mut all = Vec::new();
        // Some variables begin with values.
        for i in 0..self.method.locals.len() {
            if !self.method.leaf && self.rng.chance(85) {
                let ty = self.method.locals[i].clone();
                let value = self.short(&ty.stack());
                all.push(Node::stmt(Op::SetLoc(i), vec![value]));
            }
        }
        if self.method.leaf {
            for _ in 0..self.rng.below(3) {
                all.push(self.statement());
            }
        } else {
            while self.budget > 0 {
                let s = self.statement();
                // An exception seldom ends the whole method.
                let caught = !matches!(s.op, Op::Try(_)) && self.rng.chance(45);
                all.push(if caught { self.caught(s) } else { s });
            }
        }
        self.budget = self.budget.max(6);
        if !self.method.leaf {
            for i in 0..self.method.locals.len() {
                let ty = self.method.locals[i].clone();
                if self.rng.chance(70) {
                    let value = Node::leaf(Op::Loc(i), ty.stack());
                    all.push(Node::stmt(Op::Trace(ty), vec![value]));
                }
            }
        }
        all.push(self.ret());
        Node::stmt(Op::Block, all)
    }
    fn caught(&mut self, s: Node) -> Node {
        let clause = self.rng.between(CAUGHT.len() - 2, CAUGHT.len() - 1);
        let handler = match self.rng.chance(30) {
            true => self.handler(true),
            false => Node::nothing(),
        };
        Node::stmt(Op::Try(vec![Clause::Catch(clause)]), vec![s, handler])
    }
    fn ret(&mut self) -> Node {
        let ty = self.method.ret.stack();
        if ty == Ty::Void {
            return Node::stmt(Op::Return, vec![]);
        }
        if self.rng.chance(12)
            && let Some(call) = self.call_of(&self.method.ret.clone())
        {
            return Node::stmt(Op::ReturnTail, vec![call]);
        }
        let value = self.expr(&ty);
        Node::stmt(Op::Return, vec![value])
    }

    // ---- statements

    fn block(&mut self, most: usize) -> Node {
        self.depth += 1;
        let n = self.rng.between(1, most);
        let all = (0..n).map(|_| self.statement()).collect();
        self.depth -= 1;
        Node::stmt(Op::Block, all)
    }
    /// A block that a loop repeats.
    fn repeated(&mut self) -> Node {
        self.loops += 1;
        let b = self.block(4);
        self.loops -= 1;
        b
    }
    pub(crate) fn statement(&mut self) -> Node {
        self.budget -= 1;
        if self.budget <= 0 || self.depth > 5 {
            return self.simple_statement();
        }
        let leaf = self.method.leaf;
        let tries = self.within_expression == 0 && (!leaf || self.rng.chance(15));
        let loops = !leaf;
        let weights = [
            45,
            13,
            if leaf { 0 } else { 3 },
            if loops { 9 } else { 0 },
            if loops { 3 } else { 0 },
            if tries { 12 } else { 0 },
            if tries { 9 } else { 0 },
            if tries { 3 } else { 0 },
            if self.loops > 0 || self.catches > 0 {
                6
            } else {
                2
            },
            if leaf { 14 } else { 4 },
            if self.handlers == 0 && tries && self.loops == 0 {
                2
            } else {
                0
            },
        ];
        match self.rng.weighted(&weights) {
            0 => self.simple_statement(),
            1 => self.branch(),
            2 => self.switch(),
            3 => {
                let (n, at_end) = (self.rng.between(1, 5) as u8, self.rng.chance(40));
                let body = self.repeated();
                Node::stmt(Op::Loop(n, at_end), vec![body])
            }
            4 => {
                let c = self.expr(&Ty::I4);
                let body = self.repeated();
                Node::stmt(Op::While, vec![c, body])
            }
            5 => self.try_catch(),
            6 => self.finally(Op::Finally),
            7 => self.finally(Op::Fault),
            8 => self.transfer(),
            9 => {
                let k = self.rng.below(THROWN);
                let throw = match self.rng.chance(8) {
                    true => Op::ThrowNull,
                    false => Op::Throw(k),
                };
                self.guarded(Node::stmt(throw, vec![]))
            }
            _ => {
                let n = self.rng.between(1, 40) as u8;
                let seed = self.expr(&Ty::I4);
                let meanwhile = self.block(4);
                Node::stmt(Op::LocAlloc(n), vec![seed, meanwhile])
            }
        }
    }
    fn condition(&mut self) -> (&'static str, Vec<Node>) {
        if self.rng.chance(50) {
            let by = *self.rng.pick(&["brtrue", "brfalse"]);
            let ty = match self.rng.below(8) {
                0 => Ty::I8,
                1 => Ty::I,
                2 => self.some_reference(),
                _ => Ty::I4,
            };
            let c = self.expr(&ty);
            return (by, vec![c]);
        }
        let by = *self.rng.pick(&COMPARING);
        let ty = match (by, self.rng.below(10)) {
            ("beq" | "bne.un", 0) => self.some_reference(),
            (_, 1..=2) => Ty::I8,
            (_, 3) => Ty::I,
            (_, 4) => Ty::R4,
            (_, 5) => Ty::R8,
            _ => Ty::I4,
        };
        let (a, b) = (self.expr(&ty), self.expr(&ty));
        (by, vec![a, b])
    }
    fn branch(&mut self) -> Node {
        let (by, mut kids) = self.condition();
        kids.push(self.block(3));
        kids.push(match self.rng.chance(50) {
            true => self.block(3),
            false => Node::nothing(),
        });
        Node::stmt(Op::If(by), kids)
    }
    fn guarded(&mut self, what: Node) -> Node {
        let (by, mut kids) = self.condition();
        kids.push(what);
        kids.push(Node::nothing());
        Node::stmt(Op::If(by), kids)
    }
    fn switch(&mut self) -> Node {
        let mut value = self.expr(&Ty::I4);
        if self.rng.chance(75) {
            let mask = Node::leaf(Op::Const(7), Ty::I4);
            value = Node::new(Op::Bin("and"), Ty::I4, vec![value, mask]);
        }
        let mut kids = vec![value];
        for _ in 0..self.rng.between(2, 5) {
            kids.push(self.block(2));
        }
        Node::stmt(Op::Switch, kids)
    }
    fn handler(&mut self, catch: bool) -> Node {
        self.handlers += 1;
        self.catches += catch as usize;
        let b = self.block(3);
        self.catches -= catch as usize;
        self.handlers -= 1;
        b
    }
    fn try_catch(&mut self) -> Node {
        let mut kids = vec![self.block(4)];
        let mut clauses = Vec::new();
        for _ in 0..self.rng.between(1, 3) {
            if self.rng.chance(25) {
                clauses.push(Clause::Filter);
                self.within_expression += 1;
                self.handlers += 1;
                let (catches, loops) = (self.catches, self.loops);
                (self.catches, self.loops) = (0, 0);
                // The peers disagree on exceptions within filters: most are short.
                let mut filter = match self.rng.chance(85) {
                    true => self.short(&Ty::I4),
                    false => self.expr(&Ty::I4),
                };
                // What it writes is seen by handlers, and by the protected block if the exception is superseded.
                if !self.method.locals.is_empty() && self.rng.chance(50) {
                    let i = self.rng.below(self.method.locals.len());
                    let value = self.short(&self.method.locals[i].stack());
                    let write = Node::stmt(Op::SetLoc(i), vec![value]);
                    filter = Node::new(Op::Hold, Ty::I4, vec![filter, write]);
                }
                kids.push(filter);
                (self.catches, self.loops) = (catches, loops);
                self.handlers -= 1;
                self.within_expression -= 1;
            } else {
                clauses.push(Clause::Catch(self.rng.below(CAUGHT.len())));
            }
            kids.push(self.handler(true));
        }
        Node::stmt(Op::Try(clauses), kids)
    }
    fn finally(&mut self, op: Op) -> Node {
        let body = self.block(4);
        let (catches, loops) = (self.catches, self.loops);
        (self.catches, self.loops) = (0, 0);
        let handler = self.handler(false);
        (self.catches, self.loops) = (catches, loops);
        Node::stmt(op, vec![body, handler])
    }
    /// Leaves a loop, a handler or the method, perhaps under a condition.
    fn transfer(&mut self) -> Node {
        let what = match self.rng.below(4) {
            0 | 1 if self.loops > 0 => {
                Node::stmt(self.rng.pick(&[Op::Break, Op::Continue]).clone(), vec![])
            }
            2 if self.catches > 0 => Node::stmt(Op::Rethrow, vec![]),
            _ if self.within_expression == 0 => self.ret(),
            _ => return self.simple_statement(),
        };
        match self.rng.chance(85) {
            true => self.guarded(what),
            false => what,
        }
    }
    /// A statement without statements in it.
    fn simple_statement(&mut self) -> Node {
        self.budget -= 1;
        match self.rng.weighted(&[30, 5, 12, 10, 10, 3, 6, 3, 3, 12, 6]) {
            0 if !self.method.locals.is_empty() => {
                let i = self.rng.below(self.method.locals.len());
                let value = self.expr(&self.method.locals[i].stack());
                Node::stmt(Op::SetLoc(i), vec![value])
            }
            1 => self.set_argument(),
            2 => {
                let (h, f, ty) = self.some_static();
                let value = self.expr(&ty.stack());
                Node::stmt(Op::SetStatic(h, f), vec![value])
            }
            3 => self.set_field(),
            4 => {
                let ty = self.some_element();
                let array = self.expr(&Ty::Array(Box::new(ty.clone())));
                let (at, value) = (self.index(), self.expr(&ty.stack()));
                Node::stmt(Op::SetElem, vec![array, at, value])
            }
            5 => {
                let ty = self.some_element();
                let array = self.expr(&Ty::Array2(Box::new(ty.clone())));
                let (i, j) = (self.index(), self.index());
                let value = self.expr(&ty.stack());
                Node::stmt(Op::SetElem2, vec![array, i, j, value])
            }
            6 => {
                let ty = self.some_type();
                let (to, value) = (self.place(&ty), self.expr(&ty.stack()));
                let prefix = self.prefix(&ty);
                Node::stmt(Op::Store(ty, prefix), vec![to, value])
            }
            7 => {
                let ty = self.some_struct_or_type();
                let to = self.place(&ty);
                Node::stmt(Op::Init(ty), vec![to])
            }
            8 => {
                let ty = self.some_struct_or_type();
                let (to, from) = (self.place(&ty), self.place(&ty));
                Node::stmt(Op::Copy(ty), vec![to, from])
            }
            9 => {
                let ty = self.some_type();
                let value = self.expr(&ty.stack());
                Node::stmt(Op::Trace(ty), vec![value])
            }
            _ => match self.call_of(&Ty::Void) {
                Some(call) => call,
                None => {
                    let ty = self.some_type();
                    let value = self.expr(&ty.stack());
                    Node::stmt(Op::Eval, vec![value])
                }
            },
        }
    }
    fn set_argument(&mut self) -> Node {
        let first = self.method.has_this() as usize;
        let n = self.method.params.len();
        if n <= first {
            return Node::nothing();
        }
        let i = self.rng.between(first, n - 1);
        match self.method.params[i].clone() {
            Ty::Ref(of) => {
                let to = Node::leaf(Op::Arg(i), Ty::Ref(of.clone()));
                let value = self.expr(&of.stack());
                let prefix = self.prefix(&of);
                Node::stmt(Op::Store(*of, prefix), vec![to, value])
            }
            ty => {
                let value = self.expr(&ty.stack());
                Node::stmt(Op::SetArg(i), vec![value])
            }
        }
    }
    fn set_field(&mut self) -> Node {
        let (owner, f, ty) = self.some_field();
        let on = match owner {
            Owner::Struct(s) => self.place(&Ty::Struct(s)),
            Owner::Class(c) => self.expr(&Ty::Class(c)),
        };
        let value = self.expr(&ty.stack());
        let prefix = self.prefix(&ty);
        Node::stmt(Op::SetField(owner, f, prefix), vec![on, value])
    }
    pub(crate) fn prefix(&mut self, _of: &Ty) -> Prefix {
        Prefix {
            volatile: self.rng.chance(6),
            unaligned: self.rng.chance(4),
        }
    }
    /// An index that is mostly in range.
    pub(crate) fn index(&mut self) -> Node {
        match self.rng.chance(75) {
            true => Node::leaf(Op::Const(*self.rng.pick(&[0, 0, 1, 1, 1, 2])), Ty::I4),
            false => {
                let value = self.expr(&Ty::I4);
                let mask = Node::leaf(Op::Const(*self.rng.pick(&[1, 1, 3])), Ty::I4);
                Node::new(Op::Bin("and"), Ty::I4, vec![value, mask])
            }
        }
    }
    /// Operands of a branch and its instruction, for an expression.
    pub(crate) fn condition_within(&mut self) -> (&'static str, Vec<Node>) {
        self.condition()
    }

    // ---- calls

    /// A call whose result is exactly of type `ret`, if there is such a method.
    pub(crate) fn call_of(&mut self, ret: &Ty) -> Option<Node> {
        let stack = ret.stack();
        let fits = |m: usize| {
            let callee = &self.program.methods[m];
            let ok = if self.method.leaf {
                !self.called && callee.leaf && m < self.index
            } else {
                true
            };
            ok && callee.ret.stack() == stack
        };
        let all: Vec<usize> = (0..self.program.methods.len())
            .filter(|m| fits(*m))
            .collect();
        if all.is_empty() {
            return None;
        }
        let m = *self.rng.pick(&all);
        self.called = true;
        Some(self.call(m))
    }
    fn call(&mut self, m: usize) -> Node {
        let callee = &self.program.methods[m];
        let mut kids = Vec::new();
        for p in &callee.params {
            let kid = match p {
                Ty::Ref(of) => self.place(of),
                ty => self.expr(&ty.stack()),
            };
            kids.push(kid);
        }
        // `call` takes null for `this`.
        let null_this = matches!(callee.home, Home::Instance(_)) && self.rng.chance(10);
        if null_this {
            kids[0] = Node::leaf(Op::Const(0), kids[0].ty.clone());
        }
        let mode = match callee.home {
            Home::Virtual(..) | Home::Interface(_) if self.rng.chance(85) => CallMode::Virtual,
            Home::Instance(_) if !null_this && self.rng.chance(50) => CallMode::Virtual,
            Home::Plain | Home::Holder(_) if self.rng.chance(6) => CallMode::Indirect,
            _ => CallMode::Call,
        };
        Node::new(Op::Call(m, mode), callee.ret.stack(), kids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit;

    const SIZE: Size = Size {
        methods: 60,
        nodes: 80,
    };

    #[test]
    fn a_seed_names_a_program() {
        let text = |seed| emit::assembly(&[(&program(seed, SIZE), None)]);
        assert_eq!(text(11), text(11));
        assert_ne!(text(11), text(12));
    }
    #[test]
    fn programs_hold_all_kinds_of_statements_and_instructions() {
        let all: String = (0..20)
            .map(|seed| emit::assembly(&[(&program(seed, SIZE), None)]))
            .collect();
        for word in [
            " filter L",
            " fault handler",
            " finally handler",
            "rethrow",
            "leave L",
            "switch (",
            "tail.",
            "volatile.",
            "unaligned. 1",
            "constrained.",
            "localloc",
            "ckfinite",
            "calli",
            "cpobj",
            "initobj",
            "ldobj",
            "stobj",
            "unbox ",
            "unbox.any",
            "isinst",
            "castclass",
            "ldflda",
            "ldelema",
            "ldsflda",
            "ldarga",
            "starg",
            "conv.ovf.u1.un",
            "conv.r.un",
            "mul.ovf.un",
            "shr.un",
            "rem.un",
            "blt.un",
            "sizeof",
            "ldelem.u2",
            "stelem.i2",
            "ThreadStatic",
            "callvirt instance int64 Del::Invoke",
            "mkrefany",
            "refanyval",
            "ldtoken",
            "initblk",
            "cpblk",
            "::Address(int32, int32)",
            "ldftn",
            "newobj",
            "dup",
        ] {
            assert!(all.contains(word), "no {word}");
        }
    }
    #[test]
    fn filters_write_and_localloc_lasts() {
        fn any(node: &Node, f: &dyn Fn(&Node) -> bool) -> bool {
            f(node) || node.kids.iter().any(|k| any(k, f))
        }
        let filter = |n: &Node| {
            matches!(&n.op, Op::Try(c) if c.contains(&Clause::Filter))
                && n.kids.iter().any(|k| k.op == Op::Hold)
        };
        let lasting = |n: &Node| {
            matches!(n.op, Op::LocAlloc(_)) && any(&n.kids[1], &|n| matches!(n.op, Op::Try(_)))
        };
        let programs: Vec<Program> = (0..20).map(|seed| program(seed, SIZE)).collect();
        let mut methods = programs.iter().flat_map(|p| &p.methods);
        assert!(methods.any(|m| any(&m.body, &filter)));
        let mut methods = programs.iter().flat_map(|p| &p.methods);
        assert!(methods.any(|m| any(&m.body, &lasting)));
    }
    /// A leaf has no fuel test: it must have no loop, and calls one leaf before it at most.
    #[test]
    fn what_has_no_fuel_test_ends() {
        fn count(node: &Node, f: &dyn Fn(&Node) -> bool) -> usize {
            f(node) as usize + node.kids.iter().map(|k| count(k, f)).sum::<usize>()
        }
        for seed in 0..30 {
            let p = program(seed, SIZE);
            for (m, method) in p.methods.iter().enumerate().filter(|(_, m)| m.leaf) {
                let loops = |n: &Node| matches!(n.op, Op::Loop(..) | Op::While | Op::StackLoop(_));
                assert_eq!(count(&method.body, &loops), 0, "seed {seed}, m{m}");
                let bad = |n: &Node| matches!(n.op, Op::Call(c, _) if c >= m || !p.methods[c].leaf);
                assert_eq!(count(&method.body, &bad), 0, "seed {seed}, m{m}");
            }
        }
    }
}
