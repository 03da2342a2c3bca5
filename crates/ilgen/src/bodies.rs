//! Prints the instructions of one method.
//!
//! Invariants: a statement is printed only where control reaches it, and the function that prints it says whether control
//! reaches its end; control always reaches the end of an expression. A transfer that its surroundings do not allow (out of a
//! finally block, with values on the stack, a `rethrow` outside of a catch handler) is printed as nothing.

use crate::emit::{Names, int32, trace};
use crate::tree::*;

/// What a statement stands in, from outside to inside.
enum Around {
    /// A loop: labels of its end and of its next round, and whether something goes there.
    Loop(usize, usize, bool),
    /// A protected block.
    Try,
    /// A catch handler.
    Catch,
    /// A finally or fault handler, or a filter: nothing goes out.
    Closed,
    /// Values lie on the stack.
    Hold,
}

/// Prints one body.
pub struct Body<'a> {
    names: &'a Names<'a>,
    method: &'a Method,
    locals: Vec<Ty>,
    out: String,
    labels: usize,
    around: Vec<Around>,
    /// Exception clauses, inner ones first: in the form with labels, since Debian's `ilasm` writes a filter behind another
    /// clause wrong in the form with braces.
    protected: Vec<String>,
    /// The label of the common end, once something needs it, and the local that holds the result.
    end: Option<usize>,
    result: Option<usize>,
}

impl<'a> Body<'a> {
    /// The body of `method`.
    pub fn new(names: &'a Names<'a>, method: &'a Method) -> Self {
        Body {
            names,
            method,
            locals: method.locals.clone(),
            out: String::new(),
            labels: 0,
            around: Vec::new(),
            protected: Vec::new(),
            end: None,
            result: None,
        }
    }
    /// Its text: locals and instructions.
    pub fn print(mut self) -> String {
        let method = self.method;
        if !method.leaf {
            let go = self.label();
            self.put("call bool H::Tick()");
            self.put(&format!("brtrue L{go}"));
            self.zero(&method.ret.stack());
            self.put("ret");
            self.mark(go);
        }
        if self.statement(&method.body) {
            self.zero(&method.ret.stack());
            self.put("ret");
        }
        if let Some(end) = self.end {
            self.mark(end);
            if let Some(r) = self.result {
                self.get_local(r);
            }
            self.put("ret");
        }
        let all: Vec<String> = self.locals.iter().map(|l| self.names.ty(l)).collect();
        let locals = match all.is_empty() {
            true => String::new(),
            false => format!("    .locals init ({})\n", all.join(", ")),
        };
        for clause in std::mem::take(&mut self.protected) {
            self.put(&clause);
        }
        format!("    .maxstack 60\n{locals}{}", self.out)
    }

    fn put(&mut self, text: &str) {
        self.out.push_str("    ");
        self.out.push_str(text);
        self.out.push('\n');
    }
    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }
    fn mark(&mut self, label: usize) {
        self.out.push_str(&format!("  L{label}:\n"));
    }
    /// A local of that type for this place alone.
    fn scratch(&mut self, ty: &Ty) -> usize {
        self.locals.push(ty.clone());
        self.locals.len() - 1
    }
    fn get_local(&mut self, i: usize) {
        self.variable("ldloc", i);
    }
    fn set_local(&mut self, i: usize) {
        self.variable("stloc", i);
    }
    /// Every form of the instruction has its turn.
    fn variable(&mut self, op: &str, i: usize) {
        let short = !op.ends_with('a') && op != "starg" && i < 4;
        let text = match i {
            _ if short => format!("{op}.{i}"),
            _ if i % 5 != 4 && i < 250 => format!("{op}.s {i}"),
            _ => format!("{op} {i}"),
        };
        self.put(&text);
    }
    /// Arguments: Mono hands on what a narrow parameter gets, .NET cuts it, so it fits before.
    fn arguments(&mut self, kids: &[Node], params: &[Ty]) {
        for (k, p) in kids.iter().zip(params) {
            self.value(k);
            self.fit(p);
        }
    }
    fn fit(&mut self, ty: &Ty) {
        let text = fitting(ty);
        if !text.is_empty() {
            self.put(text);
        }
    }
    /// A struct that is copied from or into null ends the process in Mono: the object is asked for something else before.
    fn not_null(&mut self, owner: Owner, f: usize) {
        if let Owner::Class(c) = owner
            && matches!(self.names.program.classes[c].fields[f], Ty::Struct(_))
        {
            self.put("dup callvirt instance class [mscorlib]System.Type [mscorlib]System.Object::GetType() pop");
        }
    }
    fn kids(&mut self, kids: &[Node]) {
        for k in kids {
            self.value(k);
        }
    }
    fn prefix(&mut self, p: Prefix) {
        if p.unaligned {
            self.put("unaligned. 1");
        }
        if p.volatile {
            self.put("volatile.");
        }
    }

    // ---- statements

    /// Prints a statement; says whether control comes out at its end.
    fn statement(&mut self, s: &Node) -> bool {
        match &s.op {
            Op::Block => return s.kids.iter().all(|k| self.statement(k)),
            Op::If(by) => return self.branch(by, &s.kids),
            Op::Switch => return self.switch(&s.kids),
            Op::Loop(n, at_end) => self.counted(*n, *at_end, &s.kids[0]),
            Op::While => self.while_loop(&s.kids),
            Op::Break => return self.leave_loop(true),
            Op::Continue => return self.leave_loop(false),
            Op::Try(clauses) => return self.try_catch(clauses, &s.kids),
            Op::Finally => return self.try_finally("finally", &s.kids),
            Op::Fault => return self.try_finally("fault", &s.kids),
            Op::Throw(k) => {
                let class = CAUGHT[*k].trim_start_matches("class ");
                return self.throw(&format!("newobj instance void {class}::.ctor()"), "throw");
            }
            Op::ThrowNull => return self.throw("ldnull", "throw"),
            Op::Rethrow => return self.rethrow(),
            Op::Return => return self.ret(s.kids.first()),
            Op::ReturnTail => return self.tail(&s.kids[0]),
            Op::LocAlloc(n) => return self.localloc(*n, &s.kids),
            _ => self.simple(s),
        }
        true
    }
    /// A statement that control goes through.
    fn simple(&mut self, s: &Node) {
        let n = self.names;
        match &s.op {
            Op::Call(m, _) => {
                let params = &n.program.methods[*m].params;
                self.arguments(&s.kids, params);
            }
            Op::SetField(o, f, _) => {
                self.value(&s.kids[0]);
                self.not_null(*o, *f);
                self.value(&s.kids[1]);
            }
            _ => self.kids(&s.kids),
        }
        match &s.op {
            Op::SetLoc(i) => self.set_local(*i),
            Op::SetArg(i) => self.variable("starg", *i),
            Op::SetStatic(h, f) => self.put(&format!("stsfld {}", n.static_field(*h, *f))),
            Op::SetField(o, f, p) => {
                self.prefix(*p);
                self.put(&format!("stfld {}", n.field(*o, *f)));
            }
            Op::SetElem => {
                let Ty::Array(of) = &s.kids[0].ty else {
                    unreachable!("an element of {:?}", s.kids[0].ty)
                };
                self.put(&element("stelem", of, n));
            }
            Op::SetElem2 => {
                let Ty::Array2(of) = &s.kids[0].ty else {
                    unreachable!("an element of {:?}", s.kids[0].ty)
                };
                self.fit(of);
                let (array, of) = (n.ty(&s.kids[0].ty), n.ty(of));
                self.put(&format!(
                    "call instance void {array}::Set(int32, int32, {of})"
                ));
            }
            Op::Store(ty, p) => {
                self.prefix(*p);
                let text = indirect("stind", ty, *p, n);
                self.put(&text);
            }
            Op::Init(ty) => self.put(&format!("initobj {}", n.token(ty))),
            Op::Copy(ty) => self.put(&format!("cpobj {}", n.token(ty))),
            Op::Trace(ty) => self.put(&trace(n, ty)),
            Op::Eval => self.put("pop"),
            // A call without result.
            Op::Call(m, mode) => self.call(*m, *mode),
            other => unreachable!("{other:?} is no statement"),
        }
    }
    fn branch(&mut self, by: &str, kids: &[Node]) -> bool {
        let (operands, arms) = kids.split_at(kids.len() - 2);
        self.kids(operands);
        let (then, end) = (self.label(), self.label());
        self.put(&format!("{by} L{then}"));
        let mut out = self.statement(&arms[1]);
        if out {
            self.put(&format!("br L{end}"));
        }
        self.mark(then);
        let more = self.statement(&arms[0]);
        if out {
            self.mark(end);
        }
        out |= more;
        out
    }
    fn switch(&mut self, kids: &[Node]) -> bool {
        self.value(&kids[0]);
        let labels: Vec<usize> = kids[2..].iter().map(|_| self.label()).collect();
        let end = self.label();
        let list: Vec<String> = labels.iter().map(|l| format!("L{l}")).collect();
        self.put(&format!("switch ({})", list.join(", ")));
        let mut out = false;
        for (i, k) in kids[1..].iter().enumerate() {
            if i > 0 {
                self.mark(labels[i - 1]);
            }
            if self.statement(k) {
                self.put(&format!("br L{end}"));
                out = true;
            }
        }
        if out {
            self.mark(end);
        }
        out
    }
    /// The body of a loop; says whether the next round can be reached.
    fn round(&mut self, end: usize, next: usize, body: &Node) -> bool {
        self.around.push(Around::Loop(end, next, false));
        let out = self.statement(body);
        let Some(Around::Loop(_, _, continued)) = self.around.pop() else {
            unreachable!("loops are balanced")
        };
        out || continued
    }
    fn counted(&mut self, n: u8, at_end: bool, body: &Node) {
        let count = self.scratch(&Ty::I4);
        let (top, next, end) = (self.label(), self.label(), self.label());
        self.put(&int32(n as i32));
        self.set_local(count);
        self.mark(top);
        if !at_end {
            self.get_local(count);
            self.put("ldc.i4.0");
            self.put(&format!("ble L{end}"));
        }
        self.put("call bool H::Tick()");
        self.put(&format!("brfalse L{end}"));
        if self.round(end, next, body) {
            self.mark(next);
            self.get_local(count);
            self.put("ldc.i4.1");
            self.put("sub");
            self.set_local(count);
            if at_end {
                self.get_local(count);
                self.put("ldc.i4.0");
                self.put(&format!("bgt L{top}"));
            } else {
                self.put(&format!("br L{top}"));
            }
        }
        self.mark(end);
    }
    fn while_loop(&mut self, kids: &[Node]) {
        let (top, next, end) = (self.label(), self.label(), self.label());
        self.mark(top);
        self.put("call bool H::Tick()");
        self.put(&format!("brfalse L{end}"));
        self.value(&kids[0]);
        self.put(&format!("brfalse L{end}"));
        if self.round(end, next, &kids[1]) {
            self.mark(next);
            self.put(&format!("br L{top}"));
        }
        self.mark(end);
    }
    fn leave_loop(&mut self, breaks: bool) -> bool {
        let mut by = "br";
        for a in self.around.iter_mut().rev() {
            match a {
                Around::Loop(end, next, continued) => {
                    let to = if breaks { *end } else { *next };
                    *continued |= !breaks;
                    self.put(&format!("{by} L{to}"));
                    return false;
                }
                Around::Try | Around::Catch => by = "leave",
                Around::Closed | Around::Hold => return true,
            }
        }
        true
    }
    fn within(&mut self, around: Around, s: &Node) -> bool {
        self.around.push(around);
        let out = self.statement(s);
        self.around.pop();
        out
    }
    fn holding(&self) -> bool {
        // A loop or a handler inside of what is held still has values beneath.
        self.around.iter().any(|a| matches!(a, Around::Hold))
    }
    fn try_catch(&mut self, clauses: &[Clause], kids: &[Node]) -> bool {
        if self.holding() {
            return self.statement(&kids[0]);
        }
        let end = self.label();
        let (from, to) = (self.label(), self.label());
        self.mark(from);
        let mut out = self.within(Around::Try, &kids[0]);
        if out {
            self.put(&format!("leave L{end}"));
        }
        self.mark(to);
        let mut kids = kids[1..].iter();
        let mut next = || kids.next().expect("a handler for each clause");
        let mut ends = to;
        let mut protected = Vec::new();
        for c in clauses {
            let mut begins = ends;
            let kind = match c {
                Clause::Catch(k) => {
                    format!("catch {}", CAUGHT[*k].trim_start_matches("class "))
                }
                Clause::Filter => {
                    let filter = begins;
                    self.put("call void H::TO(object)");
                    self.around.push(Around::Closed);
                    self.value(next());
                    self.around.pop();
                    self.put("ldc.i4.0");
                    self.put("cgt.un");
                    self.put("endfilter");
                    begins = self.label();
                    self.mark(begins);
                    format!("filter L{filter}")
                }
            };
            self.put("call void H::TO(object)");
            if self.within(Around::Catch, next()) {
                self.put(&format!("leave L{end}"));
                out = true;
            }
            ends = self.label();
            self.mark(ends);
            protected.push(format!(
                ".try L{from} to L{to} {kind} handler L{begins} to L{ends}"
            ));
        }
        // Clauses of blocks within come first: they are complete by now.
        self.protected.extend(protected);
        if out {
            self.mark(end);
        }
        out
    }
    fn try_finally(&mut self, kind: &str, kids: &[Node]) -> bool {
        if self.holding() {
            return self.statement(&kids[0]);
        }
        let end = self.label();
        let (from, to, ends) = (self.label(), self.label(), self.label());
        self.mark(from);
        let out = self.within(Around::Try, &kids[0]);
        if out {
            self.put(&format!("leave L{end}"));
        }
        self.mark(to);
        if self.within(Around::Closed, &kids[1]) {
            self.put("endfinally");
        }
        self.mark(ends);
        self.protected.push(format!(
            ".try L{from} to L{to} {kind} handler L{to} to L{ends}"
        ));
        if out {
            self.mark(end);
        }
        out
    }
    /// Where values lie on the stack, control must seem to come out.
    fn throw(&mut self, what: &str, how: &str) -> bool {
        let over = self.holding().then(|| self.label());
        if let Some(over) = over {
            self.put("ldsfld bool H::'true'");
            self.put(&format!("brfalse L{over}"));
        }
        if !what.is_empty() {
            self.put(what);
        }
        self.put(how);
        match over {
            Some(over) => {
                self.mark(over);
                true
            }
            None => false,
        }
    }
    fn rethrow(&mut self) -> bool {
        for a in self.around.iter().rev() {
            match a {
                Around::Catch => return self.throw("", "rethrow"),
                Around::Closed => return true,
                _ => {}
            }
        }
        true
    }
    /// Whether the method can be left here, and whether only by `leave`.
    fn way_out(&self) -> Option<bool> {
        let closed = |a: &Around| matches!(a, Around::Closed | Around::Hold);
        if self.around.iter().any(closed) {
            return None;
        }
        Some(
            self.around
                .iter()
                .any(|a| matches!(a, Around::Try | Around::Catch)),
        )
    }
    fn ret(&mut self, value: Option<&Node>) -> bool {
        let Some(leaves) = self.way_out() else {
            return true;
        };
        match value {
            Some(v) if self.method.ret != Ty::Void => {
                self.value(v);
                self.fit(&self.method.ret);
            }
            _ => self.zero(&self.method.ret.stack()),
        }
        // Outside of loops results stay on the stack; elsewhere they go through the common end.
        if !leaves && (self.around.is_empty() || self.method.leaf) {
            self.put("ret");
            return false;
        }
        if self.method.ret != Ty::Void {
            let r = match self.result {
                Some(r) => r,
                None => self.scratch(&self.method.ret.clone()),
            };
            self.result = Some(r);
            self.set_local(r);
        }
        let end = match self.end {
            Some(end) => end,
            None => self.label(),
        };
        self.end = Some(end);
        let by = if leaves { "leave" } else { "br" };
        self.put(&format!("{by} L{end}"));
        false
    }
    fn tail(&mut self, call: &Node) -> bool {
        let Op::Call(m, mode) = call.op else {
            // The reducer has put something else in its place.
            return match call.ty {
                Ty::Void => self.statement(call) && self.ret(None),
                _ => self.ret(Some(call)),
            };
        };
        let callee = &self.names.program.methods[m];
        let safe = callee.ret == self.method.ret
            && !callee.params.iter().any(|p| matches!(p, Ty::Ref(_)))
            && self.way_out() == Some(false);
        if !safe {
            return match call.ty {
                Ty::Void => self.statement(call) && self.ret(None),
                _ => self.ret(Some(call)),
            };
        }
        self.arguments(&call.kids, &callee.params);
        if mode == CallMode::Indirect {
            self.call(m, mode);
        } else {
            self.put("tail.");
            self.call(m, mode);
        }
        self.put("ret");
        false
    }
    fn localloc(&mut self, n: u8, kids: &[Node]) -> bool {
        if !self
            .around
            .iter()
            .all(|a| matches!(a, Around::Loop(..) | Around::Try))
        {
            return true;
        }
        let at = self.scratch(&Ty::I);
        self.put(&int32(n as i32 * 4));
        // Runtimes treat a size that they see apart.
        if n % 2 == 1 {
            self.put("ldc.i4.0 or");
        }
        self.put("conv.u");
        self.put("localloc");
        self.set_local(at);
        // All bytes, then the first four again from the last four.
        self.get_local(at);
        self.put(&format!("ldc.i4 90 {} initblk", int32(n as i32 * 4)));
        for store in [true, false] {
            self.get_local(at);
            self.put(&int32(n as i32 / 2 * 4));
            self.put("add");
            if store {
                self.value(&kids[0]);
                self.put("stind.i4");
                self.get_local(at);
                self.get_local(at);
                self.put(&format!("{} add ldc.i4.4 cpblk", int32(n as i32 * 4 - 4)));
                if !self.statement(&kids[1]) {
                    return false;
                }
            } else {
                self.put("ldind.i4");
                self.put("call void H::T4(int32)");
            }
        }
        true
    }

    // ---- values

    /// Pushes a zero of a stack type; nothing for `Void`.
    fn zero(&mut self, ty: &Ty) {
        self.constant(ty, 0);
    }
    fn constant(&mut self, ty: &Ty, bits: u64) {
        let text = match ty {
            Ty::Void => return,
            Ty::I4 => int32(bits as i32),
            Ty::I8 if i8::try_from(bits as i64).is_ok() => {
                format!("{} conv.i8", int32(bits as i32))
            }
            Ty::I8 => format!("ldc.i8 {}", bits as i64),
            Ty::I if i32::try_from(bits as i64).is_ok() => {
                format!("{} conv.i", int32(bits as i32))
            }
            Ty::I => format!("ldc.i8 {} conv.i", bits as i64),
            Ty::R4 => format!("ldc.r4 ({})", bytes(&(bits as u32).to_le_bytes())),
            Ty::R8 => format!("ldc.r8 ({})", bytes(&bits.to_le_bytes())),
            Ty::Str if bits > 0 => {
                let all = ["abc", "a", "mono", "z\u{e9}ta"];
                format!("ldstr \"{}\"", all[(bits as usize - 1) % all.len()])
            }
            Ty::Struct(s) if bits != 0 => format!(
                "{} call valuetype {space}.S{s} {space}.S{s}::Mk(int32)",
                int32(bits as i32),
                space = self.names.space
            ),
            Ty::Struct(_) => {
                let s = self.scratch(ty);
                self.variable("ldloca", s);
                self.put(&format!("initobj {}", self.names.ty(ty)));
                self.get_local(s);
                return;
            }
            Ty::Ref(of) => {
                let s = self.scratch(of);
                self.variable("ldloca", s);
                return;
            }
            _ => "ldnull".into(),
        };
        self.put(&text);
    }
    /// Runs a statement with values on the stack.
    fn beneath(&mut self, s: &Node) {
        self.around.push(Around::Hold);
        self.statement(s);
        self.around.pop();
    }
    /// Prints an expression whose operands are not simply evaluated in order before one instruction: constants, branches
    /// and statements that run with a value on the stack. False if the expression is none of these.
    fn value_with_control_flow(&mut self, e: &Node) -> bool {
        match &e.op {
            Op::Const(bits) => self.constant(&e.ty, *bits),
            Op::Cond(by) => {
                let (operands, arms) = e.kids.split_at(e.kids.len() - 2);
                self.kids(operands);
                let (then, end) = (self.label(), self.label());
                let short = arms.iter().all(|a| a.size() < 3 && a.ty.is_primitive());
                let s = if short { ".s" } else { "" };
                let by = match by.split_once(".un") {
                    Some((by, _)) => format!("{by}.un{s}"),
                    None => format!("{by}{s}"),
                };
                self.put(&format!("{by} L{then}"));
                self.value(&arms[1]);
                self.put(&format!("br{s} L{end}"));
                self.mark(then);
                self.value(&arms[0]);
                self.mark(end);
            }
            Op::Hold => {
                self.value(&e.kids[0]);
                self.beneath(&e.kids[1]);
            }
            Op::StackLoop(times) => {
                self.value(&e.kids[0]);
                let (count, top) = (self.scratch(&Ty::I4), self.label());
                self.put(&int32(*times as i32));
                self.set_local(count);
                self.mark(top);
                self.beneath(&e.kids[1]);
                self.get_local(count);
                self.put("ldc.i4.1");
                self.put("sub");
                self.put("dup");
                self.set_local(count);
                self.put(&format!("brtrue L{top}"));
            }
            _ => return false,
        }
        true
    }
    /// Prints the operands of an expression, fitted to the types of the parameters where it is a call.
    fn operands(&mut self, e: &Node) {
        let n = self.names;
        match (&e.op, &e.ty) {
            (Op::Call(m, _), _) => {
                let params = &n.program.methods[*m].params;
                self.arguments(&e.kids, params);
            }
            (Op::New, Ty::Class(c)) => {
                let first = n.program.classes[*c].fields[0].clone();
                self.arguments(&e.kids, &[first]);
            }
            (Op::NewCell, Ty::Cell(of)) => self.arguments(&e.kids, &[(**of).clone()]),
            (Op::Prelude(text, Some(of)), _) if !text.contains("Get()") => {
                let second = if text.contains("Same") {
                    of.clone()
                } else {
                    Ty::I4
                };
                self.arguments(&e.kids, &[of.clone(), second]);
            }
            (Op::Field(o, f, _), _) => {
                self.kids(&e.kids);
                self.not_null(*o, *f);
            }
            _ => self.kids(&e.kids),
        }
    }
    /// Prints an expression.
    fn value(&mut self, e: &Node) {
        let n = self.names;
        if self.value_with_control_flow(e) {
            return;
        }
        self.operands(e);
        let text = match &e.op {
            Op::Loc(i) => return self.get_local(*i),
            Op::Arg(i) => return self.variable("ldarg", *i),
            Op::LocA(i) => return self.variable("ldloca", *i),
            Op::ArgA(i) => return self.variable("ldarga", *i),
            Op::Call(m, mode) => return self.call(*m, *mode),
            Op::Static(h, f) => format!("ldsfld {}", n.static_field(*h, *f)),
            Op::StaticA(h, f) => format!("ldsflda {}", n.static_field(*h, *f)),
            Op::Field(o, f, p) => {
                self.prefix(*p);
                format!("ldfld {}", n.field(*o, *f))
            }
            Op::FieldA(o, f) => format!("ldflda {}", n.field(*o, *f)),
            Op::Bin(op) | Op::Un(op) if e.ty == Ty::R4 => format!("{op} conv.r4"),
            Op::Bin(op) | Op::Un(op) => op.to_string(),
            Op::Conv("conv.r.un") => "conv.r.un conv.r8".into(),
            Op::Conv(op) => op.to_string(),
            Op::DupBin(op) => format!("dup {op}"),
            Op::Shift(op) => {
                let mask = if e.ty == Ty::I4 { 31 } else { 63 };
                format!("{} and {op}", int32(mask))
            }
            Op::FloatTo => match e.ty {
                Ty::I4 => "conv.r8 call int32 H::F4(float64)".into(),
                Ty::I8 => "conv.r8 call int64 H::F8(float64)".into(),
                _ => "conv.r8 call int64 H::F8(float64) conv.i".into(),
            },
            Op::Through(ty) => {
                let s = self.scratch(ty);
                self.set_local(s);
                return self.get_local(s);
            }
            Op::Len => "ldlen conv.i4".into(),
            Op::NewDelegate(m) => {
                let how = match n.program.methods[*m].home {
                    Home::Virtual(..) => "dup ldvirtftn",
                    Home::Instance(_) => "ldftn",
                    _ => "ldnull ldftn",
                };
                let method = n.method(*m);
                format!("{how} {method} newobj instance void Del::.ctor(object, native int)")
            }
            Op::NameOf(ty) => format!(
                "ldtoken {} call string H::Name(valuetype [mscorlib]System.RuntimeTypeHandle)",
                n.token(ty)
            ),
            Op::ThroughTyped(ty) => {
                let token = n.token(ty);
                let load = indirect("ldind", ty, Prefix::default(), n);
                format!("mkrefany {token} refanyval {token} {load}")
            }
            Op::Invoke => "callvirt instance int64 Del::Invoke(int32, int64)".into(),
            // Peers take `box` and `unbox.any` together for nothing: the value is made fit before.
            Op::Box(ty) => format!("{} box {}", fitting(ty), n.token(ty)),
            Op::Unbox(ty) => format!("unbox.any {}", n.token(ty)),
            Op::IsInst => format!("isinst {}", n.token(&e.ty)),
            Op::Cast => format!("castclass {}", n.token(&e.ty)),
            Op::IsA(ty) => format!("isinst {} ldnull cgt.un", n.token(ty)),
            Op::Widen => return,
            Op::CallIface => "callvirt instance int32 I0::IM(int32)".into(),
            Op::Constrained(ty) => {
                format!(
                    "constrained. {} callvirt instance int32 I0::IM(int32)",
                    n.ty(ty)
                )
            }
            Op::Prelude(text, of) => match of {
                Some(of) => text.replace("{}", &n.ty(of)),
                None => text.to_string(),
            },
            Op::SizeOf(ty) => format!("sizeof {}", n.token(ty)),
            Op::Load(ty, p) => {
                self.prefix(*p);
                indirect("ldind", ty, *p, n)
            }
            _ => self.of_array(e),
        };
        self.put(&text);
    }
    /// Operations on arrays, and the addresses in boxes.
    fn of_array(&self, e: &Node) -> String {
        let n = self.names;
        let array = e.kids.first().map(|k| n.ty(&k.ty)).unwrap_or_default();
        match (&e.op, &e.ty, e.kids.first().map(|k| &k.ty)) {
            (Op::Elem, _, Some(Ty::Array(of))) => element("ldelem", of, n),
            (Op::ElemA(_), Ty::Ref(of), _) => format!("ldelema {}", n.token(of)),
            (Op::UnboxA, Ty::Ref(of), _) => format!("unbox {}", n.token(of)),
            (Op::Elem2, _, Some(Ty::Array2(of))) => {
                format!("call instance {} {array}::Get(int32, int32)", n.ty(of))
            }
            (Op::ElemA2, Ty::Ref(of), _) => {
                format!("call instance {}& {array}::Address(int32, int32)", n.ty(of))
            }
            (Op::NewArray, Ty::Array(of), _) => format!("ldc.i4.7 and newarr {}", n.token(of)),
            (Op::NewArray2, ty, _) => {
                format!("newobj instance void {}::.ctor(int32, int32)", n.ty(ty))
            }
            (Op::New, Ty::Class(c), _) => {
                let first = n.ty(&n.program.classes[*c].fields[0]);
                format!("newobj instance void {}.C{c}::.ctor({first})", n.space)
            }
            (Op::NewCell, ty, _) => format!("newobj instance void {}::.ctor(!0)", n.ty(ty)),
            other => unreachable!("{other:?} is no expression"),
        }
    }
    fn call(&mut self, m: usize, mode: CallMode) {
        let (n, callee) = (self.names, &self.names.program.methods[m]);
        match mode {
            CallMode::Call => self.put(&format!("call {}", n.method(m))),
            CallMode::Virtual => self.put(&format!("callvirt {}", n.method(m))),
            CallMode::Indirect => {
                self.put(&format!("ldftn {}", n.method(m)));
                let (ret, params) = (n.ty(&callee.ret), n.params(callee));
                self.put(&format!("calli {ret}({params})"));
            }
        }
    }
}

/// The conversion after which an `int32` is a value of a narrow type.
pub fn fitting(ty: &Ty) -> &'static str {
    match ty {
        Ty::I1 => "conv.i1",
        Ty::U1 | Ty::Bool => "conv.u1",
        Ty::I2 => "conv.i2",
        Ty::U2 | Ty::Char => "conv.u2",
        _ => "",
    }
}

fn bytes(all: &[u8]) -> String {
    let all: Vec<String> = all.iter().map(|b| format!("{b:02X}")).collect();
    all.join(" ")
}

/// `ldelem` or `stelem` in the form of the type.
fn element(op: &str, of: &Ty, n: &Names) -> String {
    let store = op == "stelem";
    let form = match of {
        Ty::I1 => "i1",
        Ty::U1 | Ty::Bool if store => "i1",
        Ty::U1 | Ty::Bool => "u1",
        Ty::I2 => "i2",
        Ty::U2 | Ty::Char if store => "i2",
        Ty::U2 | Ty::Char => "u2",
        Ty::U4 if !store => "u4",
        Ty::I4 | Ty::U4 => "i4",
        Ty::I8 | Ty::U8 => "i8",
        Ty::I => "i",
        Ty::R4 => "r4",
        Ty::R8 => "r8",
        Ty::Struct(_) => return format!("{op} {}", n.token(of)),
        _ => "ref",
    };
    format!("{op}.{form}")
}

/// `ldind` or `stind` in the form of the type, or `ldobj` and `stobj`.
fn indirect(op: &str, of: &Ty, p: Prefix, n: &Names) -> String {
    if p.unaligned || matches!(of, Ty::Struct(_)) {
        let op = if op == "ldind" { "ldobj" } else { "stobj" };
        return format!("{op} {}", n.token(of));
    }
    let form = element(if op == "ldind" { "ldelem" } else { "stelem" }, of, n);
    format!("{op}.{}", form.split_once('.').expect("a form").1)
}
