//! Random expressions and addresses.
//!
//! Invariants: operations whose results ECMA-335 leaves open are masked (shift counts, sizes) or left out (integers from
//! floats out of range, floats from 64 bits in one rounding); what is evaluated inside an expression has no `try`.

use crate::generate::Bodies;
use crate::signatures;
use crate::tree::*;

const ARITHMETIC: [&str; 16] = [
    "add",
    "sub",
    "mul",
    "and",
    "or",
    "xor",
    "div",
    "div.un",
    "rem",
    "rem.un",
    "add.ovf",
    "add.ovf.un",
    "sub.ovf",
    "sub.ovf.un",
    "mul.ovf",
    "mul.ovf.un",
];
const COMPARISONS: [&str; 5] = ["ceq", "cgt", "cgt.un", "clt", "clt.un"];
const CONV_I4: [&str; 18] = [
    "conv.i1",
    "conv.u1",
    "conv.i2",
    "conv.u2",
    "conv.i4",
    "conv.u4",
    "conv.ovf.i1",
    "conv.ovf.u1",
    "conv.ovf.i2",
    "conv.ovf.u2",
    "conv.ovf.i4",
    "conv.ovf.u4",
    "conv.ovf.i1.un",
    "conv.ovf.u1.un",
    "conv.ovf.i2.un",
    "conv.ovf.u2.un",
    "conv.ovf.i4.un",
    "conv.ovf.u4.un",
];
const CONV_I8: [&str; 6] = [
    "conv.i8",
    "conv.u8",
    "conv.ovf.i8",
    "conv.ovf.u8",
    "conv.ovf.i8.un",
    "conv.ovf.u8.un",
];
const CONV_I: [&str; 6] = [
    "conv.i",
    "conv.u",
    "conv.ovf.i",
    "conv.ovf.u",
    "conv.ovf.i.un",
    "conv.ovf.u.un",
];
const INTERESTING: [i64; 24] = [
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    10,
    31,
    33,
    63,
    100,
    127,
    128,
    255,
    256,
    -128,
    -129,
    32767,
    32768,
    65535,
    -32768,
    i32::MAX as i64,
    i32::MIN as i64,
];
const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    -2.5,
    100.25,
    1e10,
    -1e20,
    1e-40,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

impl Bodies<'_> {
    // ---- types

    pub(crate) fn some_type(&mut self) -> Ty {
        signatures::variable(self.rng, self.program)
    }
    pub(crate) fn some_element(&mut self) -> Ty {
        signatures::element(self.rng, self.program)
    }
    pub(crate) fn some_struct_or_type(&mut self) -> Ty {
        match self.rng.chance(70) {
            true => Ty::Struct(self.rng.below(self.program.structs.len())),
            false => self.some_type(),
        }
    }
    pub(crate) fn some_reference(&mut self) -> Ty {
        match self.rng.below(5) {
            0 => Ty::Obj,
            1 => Ty::Str,
            2 => Ty::Array(Box::new(self.some_element())),
            3 => Ty::Iface,
            _ => Ty::Class(self.rng.below(self.program.classes.len())),
        }
    }
    pub(crate) fn some_static(&mut self) -> (usize, usize, Ty) {
        let h = self.rng.weighted(&[60, 10, 10, 10, 5]);
        let f = self.rng.below(self.program.holders[h].fields.len());
        (h, f, self.program.holders[h].fields[f].0.clone())
    }
    pub(crate) fn some_field(&mut self) -> (Owner, usize, Ty) {
        let (owner, fields) = match self.rng.chance(60) {
            true => {
                let s = self.rng.below(self.program.structs.len());
                (Owner::Struct(s), &self.program.structs[s].fields)
            }
            false => {
                let c = self.rng.below(self.program.classes.len());
                (Owner::Class(c), &self.program.classes[c].fields)
            }
        };
        let f = self.rng.below(fields.len());
        (owner, f, fields[f].clone())
    }

    // ---- values

    /// A constant, or null, or zeros.
    pub(crate) fn constant(&mut self, ty: &Ty) -> Node {
        let bits = match ty {
            Ty::I4 | Ty::I8 | Ty::I => {
                let value = match self.rng.below(12) {
                    0..=4 => self.rng.below(16) as i64 - 4,
                    5..=9 => *self.rng.pick(&INTERESTING),
                    10 if *ty != Ty::I4 => *self.rng.pick(&[i64::MIN, i64::MAX, 1 << 32, -1 << 31]),
                    _ => self.rng.bits() as i64,
                };
                value as u64
            }
            Ty::R4 => (*self.rng.pick(&FLOATS) as f32).to_bits() as u64,
            Ty::R8 => self.rng.pick(&FLOATS).to_bits(),
            Ty::Str => self.rng.below(5) as u64,
            Ty::Struct(_) => self.rng.below(100) as u64,
            _ => 0,
        };
        let bits = if *ty == Ty::I4 {
            bits as i32 as i64 as u64
        } else {
            bits
        };
        Node::leaf(Op::Const(bits), ty.clone())
    }
    /// Something small: a variable, a constant, a new object.
    pub(crate) fn short(&mut self, ty: &Ty) -> Node {
        if self.rng.chance(60) {
            let mut all = Vec::new();
            for (i, l) in self.method.locals.iter().enumerate() {
                if l.stack() == *ty {
                    all.push(Op::Loc(i));
                }
            }
            for (i, a) in self.method.params.iter().enumerate() {
                if a.stack() == *ty {
                    all.push(Op::Arg(i));
                    all.push(Op::Arg(i));
                }
            }
            if !all.is_empty() {
                return Node::leaf(self.rng.pick(&all).clone(), ty.clone());
            }
        }
        if self.rng.chance(40) {
            let mut all = Vec::new();
            for (h, holder) in self.program.holders.iter().enumerate() {
                if holder.init == Init::Throwing && self.rng.chance(95) {
                    continue;
                }
                for (f, field) in holder.fields.iter().enumerate() {
                    if field.0.stack() == *ty {
                        all.push(Op::Static(h, f));
                    }
                }
            }
            if !all.is_empty() {
                return Node::leaf(self.rng.pick(&all).clone(), ty.clone());
            }
        }
        if ty.is_reference() && self.rng.chance(97) {
            return self.fresh(ty, true);
        }
        self.constant(ty)
    }
    /// An object of that type that is not null.
    fn fresh(&mut self, ty: &Ty, short: bool) -> Node {
        let value = |g: &mut Self, ty: &Ty| match short {
            true => g.constant(ty),
            false => g.expr(ty),
        };
        match ty {
            Ty::Str => Node::leaf(Op::Const(self.rng.between(1, 4) as u64), Ty::Str),
            Ty::Obj => {
                let of = match self.rng.chance(25) {
                    true if !short => Ty::Struct(self.rng.below(self.program.structs.len())),
                    _ => signatures::number(self.rng),
                };
                let kid = value(self, &of.stack());
                Node::new(Op::Box(of), Ty::Obj, vec![kid])
            }
            Ty::Class(c) => {
                let all: Vec<usize> = (0..self.program.classes.len())
                    .filter(|d| self.program.extends(*d, *c))
                    .collect();
                let d = *self.rng.pick(&all);
                let kid = value(self, &self.program.classes[d].fields[0].stack());
                let new = Node::new(Op::New, Ty::Class(d), vec![kid]);
                self.widened(new, ty)
            }
            Ty::Iface => {
                let inner = match self.rng.chance(40) {
                    true => {
                        let s = Ty::Struct(self.rng.below(self.program.structs.len()));
                        let kid = value(self, &s);
                        Node::new(Op::Box(s), Ty::Obj, vec![kid])
                    }
                    false => {
                        let c = Ty::Class(self.rng.below(self.program.classes.len()));
                        self.fresh(&c, short)
                    }
                };
                match inner.ty {
                    Ty::Obj => Node::new(Op::Cast, Ty::Iface, vec![inner]),
                    _ => self.widened(inner, ty),
                }
            }
            Ty::Array(of) => {
                let n = Node::leaf(Op::Const(self.rng.between(2, 7) as u64), Ty::I4);
                if let Ty::Class(c) = **of
                    && self.rng.chance(15)
                {
                    let all: Vec<usize> = (0..self.program.classes.len())
                        .filter(|d| self.program.extends(*d, c))
                        .collect();
                    let d = Ty::Class(*self.rng.pick(&all));
                    let new = Node::new(Op::NewArray, Ty::Array(Box::new(d)), vec![n]);
                    return self.widened(new, ty);
                }
                Node::new(Op::NewArray, ty.clone(), vec![n])
            }
            Ty::Array2(_) => {
                let n = |g: &mut Self| Node::leaf(Op::Const(g.rng.between(2, 5) as u64), Ty::I4);
                let kids = vec![n(self), n(self)];
                Node::new(Op::NewArray2, ty.clone(), kids)
            }
            Ty::Delegate => {
                let fits = |m: &Method| {
                    let first = m.has_this() as usize;
                    m.params[first..] == [Ty::I4, Ty::I8]
                        && m.ret == Ty::I8
                        // Mono crashes in some delegates that come from `ldvirtftn`.
                        && matches!(m.home, Home::Plain | Home::Holder(_) | Home::Instance(_))
                };
                let all: Vec<usize> = (0..self.program.methods.len())
                    .filter(|m| fits(&self.program.methods[*m]))
                    .collect();
                let m = *self.rng.pick(&all);
                let kids = match self.program.methods[m].params[0].clone() {
                    class @ Ty::Class(_) => vec![self.fresh(&class, true)],
                    _ => vec![],
                };
                Node::new(Op::NewDelegate(m), Ty::Delegate, kids)
            }
            Ty::Cell(of) => {
                let kid = value(self, &of.stack());
                Node::new(Op::NewCell, ty.clone(), vec![kid])
            }
            _ => self.constant(ty),
        }
    }
    fn widened(&mut self, node: Node, ty: &Ty) -> Node {
        match node.ty == *ty {
            true => node,
            false => Node::new(Op::Widen, ty.clone(), vec![node]),
        }
    }
    /// A value of a stack type.
    pub(crate) fn expr(&mut self, ty: &Ty) -> Node {
        self.budget -= 1;
        if self.budget <= 0 || self.depth > 7 || self.rng.chance(18) {
            return self.short(ty);
        }
        self.depth += 1;
        self.within_expression += 1;
        let node = match self.rng.chance(45) {
            true => self.any(ty),
            false => self.special(ty),
        };
        self.within_expression -= 1;
        self.depth -= 1;
        node
    }
    /// An operation that gives values of any type.
    fn any(&mut self, ty: &Ty) -> Node {
        let leaf = self.method.leaf;
        let rare = if leaf { 0 } else { 1 };
        match self
            .rng
            .weighted(&[10, 22, 9, 3 * rare, 4 * rare, 14, 4, 4, 9, 6, 6])
        {
            0 => self.short(ty),
            1 => self.call_of(ty).unwrap_or_else(|| self.short(ty)),
            2 => {
                let (by, mut kids) = self.condition_within();
                kids.push(self.expr(ty));
                kids.push(self.expr(ty));
                Node::new(Op::Cond(by), ty.clone(), kids)
            }
            3 => {
                let (value, s) = (self.expr(ty), self.statement());
                Node::new(Op::Hold, ty.clone(), vec![value, s])
            }
            4 => {
                let n = self.rng.between(2, 4) as u8;
                let (value, s) = (self.expr(ty), self.statement());
                Node::new(Op::StackLoop(n), ty.clone(), vec![value, s])
            }
            5 => self.field_of(ty),
            6 => {
                let kid = self.expr(ty);
                let of = self.storage_of(ty);
                Node::new(
                    Op::Prelude("call !!0 Gen::Id<{}>(!!0)", Some(of)),
                    ty.clone(),
                    vec![kid],
                )
            }
            7 => {
                let of = self.storage_of(ty);
                let text = *self.rng.pick(&[
                    "call !!0 Gen::InArray<{}>(!!0, int32)",
                    "call !!0 Gen::InBox<{}>(!!0, int32)",
                    "call !!0 Gen::InCell<{}>(!!0, int32)",
                    "call !!0 Gen::ByRef<{}>(!!0, int32)",
                    "call !!0 Gen::ByVirtual<{}>(!!0, int32)",
                ]);
                let kids = vec![self.expr(ty), self.expr(&Ty::I4)];
                Node::new(Op::Prelude(text, Some(of)), ty.clone(), kids)
            }
            8 => {
                let of = self.storage_of(ty);
                let at = self.place(&of);
                if self.rng.chance(8) {
                    return Node::new(Op::ThroughTyped(of), ty.clone(), vec![at]);
                }
                let prefix = self.prefix(&of);
                Node::new(Op::Load(of, prefix), ty.clone(), vec![at])
            }
            9 => {
                let of = self.storage_of(ty);
                if matches!(of, Ty::Array(_) | Ty::Array2(_) | Ty::Ref(_)) {
                    return self.short(ty);
                }
                let array = Ty::Array(Box::new(of));
                let kids = vec![self.expr(&array), self.index()];
                Node::new(Op::Elem, ty.clone(), kids)
            }
            _ => {
                let of = self.storage_of(ty);
                match self.rng.below(3) {
                    0 if !matches!(of, Ty::Array(_) | Ty::Array2(_)) => {
                        let array = Ty::Array2(Box::new(of));
                        let kids = vec![self.expr(&array), self.index(), self.index()];
                        Node::new(Op::Elem2, ty.clone(), kids)
                    }
                    1 => {
                        let kid = match self.rng.chance(95) {
                            true => {
                                let kid = self.expr(ty);
                                Node::new(Op::Box(of.clone()), Ty::Obj, vec![kid])
                            }
                            false => self.expr(&Ty::Obj),
                        };
                        Node::new(Op::Unbox(of), ty.clone(), vec![kid])
                    }
                    _ => {
                        let cell = self.expr(&Ty::Cell(Box::new(of)));
                        Node::new(
                            Op::Prelude("callvirt instance !0 class Cell`1<{}>::Get()", {
                                let Ty::Cell(of) = cell.ty.clone() else {
                                    unreachable!()
                                };
                                Some(*of)
                            }),
                            ty.clone(),
                            vec![cell],
                        )
                    }
                }
            }
        }
    }
    /// A storage type whose values are of that stack type.
    fn storage_of(&mut self, ty: &Ty) -> Ty {
        match ty {
            Ty::I4 => self
                .rng
                .pick(&[
                    Ty::I1,
                    Ty::U1,
                    Ty::I2,
                    Ty::U2,
                    Ty::Bool,
                    Ty::Char,
                    Ty::I4,
                    Ty::I4,
                    Ty::U4,
                ])
                .clone(),
            Ty::I8 => self.rng.pick(&[Ty::I8, Ty::I8, Ty::U8]).clone(),
            other => other.clone(),
        }
    }
    /// Reads a field of that type, if there is one.
    fn field_of(&mut self, ty: &Ty) -> Node {
        let mut all = Vec::new();
        for (s, one) in self.program.structs.iter().enumerate() {
            for (f, of) in one.fields.iter().enumerate() {
                if of.stack() == *ty {
                    all.push((Owner::Struct(s), f));
                }
            }
        }
        for (c, one) in self.program.classes.iter().enumerate() {
            for (f, of) in one.fields.iter().enumerate() {
                if of.stack() == *ty {
                    all.push((Owner::Class(c), f));
                }
            }
        }
        if all.is_empty() {
            return self.short(ty);
        }
        let (owner, f) = *self.rng.pick(&all);
        let on = match owner {
            Owner::Struct(s) if self.rng.chance(60) => self.place(&Ty::Struct(s)),
            Owner::Struct(s) => self.expr(&Ty::Struct(s)),
            Owner::Class(c) => self.expr(&Ty::Class(c)),
        };
        let prefix = match matches!(on.ty, Ty::Struct(_)) {
            true => Prefix::default(),
            false => self.prefix(ty),
        };
        Node::new(Op::Field(owner, f, prefix), ty.clone(), vec![on])
    }
    /// An operation that gives values of that type in particular.
    fn special(&mut self, ty: &Ty) -> Node {
        match ty {
            Ty::I4 | Ty::I8 | Ty::I => self.integer(ty),
            Ty::R4 | Ty::R8 => self.float(ty),
            Ty::Str => self.string(),
            Ty::Obj => match self.rng.below(4) {
                0 => {
                    let of = self.some_reference();
                    let kid = self.expr(&of);
                    self.widened(kid, ty)
                }
                1 => {
                    let of = self.some_type();
                    let kid = self.expr(&of.stack());
                    Node::new(Op::Box(of), Ty::Obj, vec![kid])
                }
                _ => self.fresh(ty, false),
            },
            Ty::Class(_) | Ty::Iface | Ty::Array(_) | Ty::Cell(_) => match self.rng.below(6) {
                0 => {
                    let kid = self.castable(ty);
                    Node::new(Op::Cast, ty.clone(), vec![kid])
                }
                1 => {
                    let kid = self.castable(ty);
                    Node::new(Op::IsInst, ty.clone(), vec![kid])
                }
                _ => self.fresh(ty, false),
            },
            Ty::Ref(of) => self.place(of),
            _ => self.fresh(ty, false),
        }
    }
    /// An object that may be of that type.
    fn castable(&mut self, ty: &Ty) -> Node {
        match self.rng.chance(90) {
            true => {
                let kid = self.fresh(ty, true);
                self.widened(kid, &Ty::Obj)
            }
            false => self.expr(&Ty::Obj),
        }
    }
    fn integer(&mut self, ty: &Ty) -> Node {
        let from_reference = if *ty == Ty::I4 { 1 } else { 0 };
        let bin = |op, kids| Node::new(Op::Bin(op), ty.clone(), kids);
        match self.rng.weighted(&[
            34,
            6,
            9,
            14,
            14 * from_reference,
            3,
            16 * from_reference,
            3,
            8,
            3,
        ]) {
            0 => {
                // What throws is rarer, and a divisor is seldom zero.
                let from = self.rng.weighted(&[70, 20, 10]);
                let (low, high) = [(0, 6), (6, 10), (10, 16)][from];
                let op = ARITHMETIC[self.rng.between(low, high - 1)];
                let a = self.expr(ty);
                let mixed = *ty == Ty::I && !op.ends_with(".un") && self.rng.chance(30);
                let mut b = self.expr(if mixed { &Ty::I4 } else { ty });
                if from == 1 && self.rng.chance(85) {
                    let one = Node::leaf(Op::Const(1), b.ty.clone());
                    b = Node::new(Op::Bin("or"), b.ty.clone(), vec![b, one]);
                }
                bin(op, vec![a, b])
            }
            1 => {
                let op = *self.rng.pick(&["neg", "not"]);
                let kid = self.expr(ty);
                Node::new(Op::Un(op), ty.clone(), vec![kid])
            }
            2 => {
                let op = *self.rng.pick(&["shl", "shr", "shr.un"]);
                let kids = vec![self.expr(ty), self.expr(&Ty::I4)];
                Node::new(Op::Shift(op), ty.clone(), kids)
            }
            3 => self.conversion(ty),
            4 => {
                let of = match self.rng.below(10) {
                    0..=4 => Ty::I4,
                    5..=6 => Ty::I8,
                    7 => Ty::I,
                    8 => Ty::R4,
                    _ => Ty::R8,
                };
                let op = *self.rng.pick(&COMPARISONS);
                let kids = vec![self.expr(&of), self.expr(&of)];
                bin(op, kids)
            }
            5 => {
                let op = *self
                    .rng
                    .pick(&["add", "mul", "xor", "sub", "add", "add.ovf"]);
                let kid = self.expr(ty);
                Node::new(Op::DupBin(op), ty.clone(), vec![kid])
            }
            6 => self.integer_of_reference(),
            7 => {
                let of = self.rng.pick(&[Ty::R4, Ty::R8]).clone();
                let kid = self.expr(&of);
                Node::new(Op::FloatTo, ty.clone(), vec![kid])
            }
            8 if *ty == Ty::I4 => {
                let narrow = [Ty::I1, Ty::U1, Ty::I2, Ty::U2, Ty::Bool, Ty::Char];
                let of = self.rng.pick(&narrow).clone();
                let kid = self.expr(ty);
                Node::new(Op::Through(of), ty.clone(), vec![kid])
            }
            9 if *ty == Ty::I8 => {
                let kids = vec![
                    self.expr(&Ty::Delegate),
                    self.expr(&Ty::I4),
                    self.expr(&Ty::I8),
                ];
                Node::new(Op::Invoke, Ty::I8, kids)
            }
            _ => self.conversion(ty),
        }
    }
    fn conversion(&mut self, ty: &Ty) -> Node {
        let (all, plain, from) = match ty {
            Ty::I4 => (&CONV_I4[..], 6, [Ty::I4, Ty::I8, Ty::I]),
            Ty::I8 => (&CONV_I8[..], 2, [Ty::I4, Ty::I4, Ty::I]),
            _ => (&CONV_I[..], 2, [Ty::I4, Ty::I8, Ty::I]),
        };
        let n = if self.rng.chance(75) {
            plain
        } else {
            all.len()
        };
        let op = all[self.rng.below(n)];
        let from = self.rng.pick(&from).clone();
        let kid = self.expr(&from);
        Node::new(Op::Conv(op), ty.clone(), vec![kid])
    }
    fn integer_of_reference(&mut self) -> Node {
        let prelude = |text, of, kids| Node::new(Op::Prelude(text, of), Ty::I4, kids);
        match self.rng.below(10) {
            0 | 1 => {
                let array = Ty::Array(Box::new(self.some_element()));
                let kid = self.expr(&array);
                Node::new(Op::Len, Ty::I4, vec![kid])
            }
            2 => {
                let s = self.expr(&Ty::Str);
                prelude(
                    "callvirt instance int32 [mscorlib]System.String::get_Length()",
                    None,
                    vec![s],
                )
            }
            3 => {
                let (s, i) = (self.expr(&Ty::Str), self.index());
                prelude(
                    "callvirt instance char [mscorlib]System.String::get_Chars(int32)",
                    None,
                    vec![s, i],
                )
            }
            4 => {
                let (a, b) = (self.expr(&Ty::Str), self.expr(&Ty::Str));
                prelude(
                    "call bool [mscorlib]System.String::op_Equality(string, string)",
                    None,
                    vec![a, b],
                )
            }
            5 => {
                let of = match self.rng.chance(50) {
                    true => self.some_reference(),
                    false => self.some_element(),
                };
                let kid = self.expr(&Ty::Obj);
                Node::new(Op::IsA(of), Ty::I4, vec![kid])
            }
            6 => {
                let kids = vec![self.expr(&Ty::Iface), self.expr(&Ty::I4)];
                Node::new(Op::CallIface, Ty::I4, kids)
            }
            7 => {
                let of = match self.rng.chance(70) {
                    true => Ty::Struct(self.rng.below(self.program.structs.len())),
                    false => Ty::Class(self.rng.below(self.program.classes.len())),
                };
                let kids = vec![self.place(&of), self.expr(&Ty::I4)];
                Node::new(Op::Constrained(of), Ty::I4, kids)
            }
            8 => {
                let of = self.some_element();
                match self.rng.chance(30) {
                    true => Node::leaf(Op::SizeOf(signatures::number(self.rng)), Ty::I4),
                    false => {
                        let kids = vec![self.expr(&of.stack()), self.expr(&of.stack())];
                        prelude("call int32 Gen::Same<{}>(!!0, !!0)", Some(of), kids)
                    }
                }
            }
            _ => {
                let of = self.some_reference();
                let (a, mut b) = (self.expr(&of), self.expr(&of));
                let op = match self.rng.chance(50) {
                    true => "ceq",
                    false => {
                        b = Node::leaf(Op::Const(0), of);
                        *self.rng.pick(&["ceq", "cgt.un"])
                    }
                };
                Node::new(Op::Bin(op), Ty::I4, vec![a, b])
            }
        }
    }
    fn float(&mut self, ty: &Ty) -> Node {
        match self.rng.below(10) {
            0..=4 => {
                let op = *self.rng.pick(&["add", "sub", "mul", "div", "rem"]);
                let kids = vec![self.expr(ty), self.expr(ty)];
                Node::new(Op::Bin(op), ty.clone(), kids)
            }
            5 => {
                // What `ckfinite` throws ends the process in Mono: it gets what is finite.
                let finite = self.rng.chance(15);
                let kid = match finite {
                    true => {
                        let kid = self.expr(&Ty::I4);
                        let op = if *ty == Ty::R4 { "conv.r4" } else { "conv.r8" };
                        Node::new(Op::Conv(op), ty.clone(), vec![kid])
                    }
                    false => self.expr(ty),
                };
                let op = if finite { "ckfinite" } else { "neg" };
                Node::new(Op::Un(op), ty.clone(), vec![kid])
            }
            6 | 7 => {
                let from = match ty {
                    Ty::R4 => self.rng.pick(&[Ty::I4, Ty::R8]).clone(),
                    _ => self.rng.pick(&[Ty::I4, Ty::I8, Ty::R4]).clone(),
                };
                let kid = self.expr(&from);
                let op = match (ty, &from) {
                    (Ty::R4, _) => "conv.r4",
                    (_, Ty::I4 | Ty::I8) if self.rng.chance(40) => "conv.r.un",
                    _ => "conv.r8",
                };
                Node::new(Op::Conv(op), ty.clone(), vec![kid])
            }
            8 if *ty == Ty::R8 => {
                let kid = self.expr(ty);
                let text = *self.rng.pick(&[
                    "call float64 [mscorlib]System.Math::Sqrt(float64)",
                    "call float64 [mscorlib]System.Math::Floor(float64)",
                    "call float64 [mscorlib]System.Math::Abs(float64)",
                ]);
                Node::new(Op::Prelude(text, None), Ty::R8, vec![kid])
            }
            _ => self.constant(ty),
        }
    }
    fn string(&mut self) -> Node {
        let prelude = |text, kids| Node::new(Op::Prelude(text, None), Ty::Str, kids);
        match self.rng.below(6) {
            5 => Node::leaf(Op::NameOf(self.some_type()), Ty::Str),
            0 | 1 => {
                let kids = vec![self.expr(&Ty::Str), self.expr(&Ty::Str)];
                prelude("call string H::Join(string, string)", kids)
            }
            2 => {
                let kids = vec![self.expr(&Ty::Str), self.index(), self.index()];
                prelude(
                    "callvirt instance string [mscorlib]System.String::Substring(int32, int32)",
                    kids,
                )
            }
            3 => {
                let kid = self.expr(&Ty::I4);
                prelude("call string H::Number(int32)", vec![kid])
            }
            _ => {
                let kid = self.castable(&Ty::Str);
                let op = self.rng.pick(&[Op::Cast, Op::IsInst]).clone();
                Node::new(op, Ty::Str, vec![kid])
            }
        }
    }

    // ---- addresses

    /// The address of a variable of exactly that storage type.
    pub(crate) fn place(&mut self, of: &Ty) -> Node {
        self.budget -= 1;
        let ty = Ty::Ref(Box::new(of.clone()));
        let mut all = Vec::new();
        for (i, l) in self.method.locals.iter().enumerate() {
            if l == of {
                all.extend([Op::LocA(i), Op::LocA(i)]);
            }
        }
        for (i, a) in self.method.params.iter().enumerate() {
            match a {
                Ty::Ref(r) if **r == *of => all.extend([Op::Arg(i), Op::Arg(i)]),
                a if a == of && !(self.method.has_this() && i == 0) => all.push(Op::ArgA(i)),
                _ => {}
            }
        }
        if self.budget > 0 && self.depth < 7 {
            for (h, holder) in self.program.holders.iter().enumerate() {
                for (f, (field, _)) in holder.fields.iter().enumerate() {
                    if field == of {
                        all.push(Op::StaticA(h, f));
                    }
                }
            }
            for (s, one) in self.program.structs.iter().enumerate() {
                for (f, field) in one.fields.iter().enumerate() {
                    if field == of {
                        all.push(Op::FieldA(Owner::Struct(s), f));
                    }
                }
            }
            for (c, one) in self.program.classes.iter().enumerate() {
                for (f, field) in one.fields.iter().enumerate() {
                    if field == of {
                        all.push(Op::FieldA(Owner::Class(c), f));
                    }
                }
            }
            if !matches!(of, Ty::Array(_) | Ty::Array2(_) | Ty::Cell(_) | Ty::Ref(_)) {
                all.extend([Op::ElemA(false), Op::ElemA2]);
            }
            if of.is_primitive() || matches!(of, Ty::Struct(_)) {
                all.push(Op::UnboxA);
            }
        }
        if all.is_empty() {
            return Node::leaf(Op::Const(0), ty);
        }
        let op = self.rng.pick(&all).clone();
        self.depth += 1;
        self.within_expression += 1;
        let kids = match &op {
            Op::FieldA(Owner::Struct(s), _) => vec![self.place(&Ty::Struct(*s))],
            Op::FieldA(Owner::Class(c), _) => vec![self.expr(&Ty::Class(*c))],
            Op::ElemA(_) => vec![self.expr(&Ty::Array(Box::new(of.clone()))), self.index()],
            Op::ElemA2 => vec![
                self.expr(&Ty::Array2(Box::new(of.clone()))),
                self.index(),
                self.index(),
            ],
            Op::UnboxA => {
                let kid = match self.rng.chance(96) {
                    true => {
                        let kid = self.expr(&of.stack());
                        Node::new(Op::Box(of.clone()), Ty::Obj, vec![kid])
                    }
                    false => self.expr(&Ty::Obj),
                };
                vec![kid]
            }
            _ => vec![],
        };
        self.within_expression -= 1;
        self.depth -= 1;
        Node::new(op, ty, kids)
    }
}
