//! From programs to IL text for `ilasm`.
//!
//! Invariants: every tree has a text (see `tree`); what follows an unconditional transfer is not printed up to the next
//! label that something branches to, so the stack is the same on all ways to an instruction; only what the methods that
//! are run can reach is printed.

use crate::bodies::{Body, fitting};
use crate::rng::Rng;
use crate::tree::*;
use std::fmt::Write;

const PRELUDE: &str = include_str!("prelude.il");

/// One assembly of several programs, each in a namespace of its own; `runs` says which methods of each are run (`None`: all).
pub fn assembly(programs: &[(&Program, Option<&[usize]>)]) -> String {
    let mut out = PRELUDE.to_string();
    let mut calls = String::new();
    for (i, (program, runs)) in programs.iter().enumerate() {
        let names = Names {
            space: format!("P{i}"),
            program,
        };
        let all: Vec<usize> = (0..program.methods.len()).collect();
        let chosen = runs.unwrap_or(&all);
        out.push_str(&Printer { names: &names }.program(chosen));
        writeln!(calls, "    call void P{i}.Run::All()").unwrap();
    }
    let main = ".class public abstract auto ansi sealed beforefieldinit Program extends [mscorlib]System.Object {\n  \
        .method public static void Main(string[]) cil managed {\n    .entrypoint\n    ldarg.0 call void H::Start(string[])\n";
    format!("{out}\n{main}{calls}    ret }} }}\n")
}

/// How types, fields and methods of a program are called in IL.
pub struct Names<'a> {
    /// Namespace.
    pub space: String,
    /// Whose names these are.
    pub program: &'a Program,
}

impl Names<'_> {
    /// A type in a signature or as an operand.
    pub fn ty(&self, ty: &Ty) -> String {
        match ty {
            Ty::Void => "void".into(),
            Ty::I1 => "int8".into(),
            Ty::U1 => "uint8".into(),
            Ty::I2 => "int16".into(),
            Ty::U2 => "uint16".into(),
            Ty::Bool => "bool".into(),
            Ty::Char => "char".into(),
            Ty::I4 => "int32".into(),
            Ty::U4 => "uint32".into(),
            Ty::I8 => "int64".into(),
            Ty::U8 => "uint64".into(),
            Ty::I => "native int".into(),
            Ty::R4 => "float32".into(),
            Ty::R8 => "float64".into(),
            Ty::Str => "string".into(),
            Ty::Obj => "object".into(),
            Ty::Class(c) => format!("class {}.C{c}", self.space),
            Ty::Iface => "class I0".into(),
            Ty::Struct(s) => format!("valuetype {}.S{s}", self.space),
            Ty::Array(of) => format!("{}[]", self.ty(of)),
            Ty::Array2(of) => format!("{}[0...,0...]", self.ty(of)),
            Ty::Delegate => "class Del".into(),
            Ty::Cell(of) => format!("class Cell`1<{}>", self.ty(of)),
            Ty::Ref(of) => format!("{}&", self.ty(of)),
        }
    }
    /// A type as the operand of an instruction: primitive types by their classes' names.
    pub fn token(&self, ty: &Ty) -> String {
        let name = match ty {
            Ty::I1 => "SByte",
            Ty::U1 => "Byte",
            Ty::I2 => "Int16",
            Ty::U2 => "UInt16",
            Ty::Bool => "Boolean",
            Ty::Char => "Char",
            Ty::I4 => "Int32",
            Ty::U4 => "UInt32",
            Ty::I8 => "Int64",
            Ty::U8 => "UInt64",
            Ty::I => "IntPtr",
            Ty::R4 => "Single",
            Ty::R8 => "Double",
            _ => return self.ty(ty),
        };
        format!("[mscorlib]System.{name}")
    }
    /// Parameters in a signature, without `this`.
    pub fn params(&self, m: &Method) -> String {
        let all = &m.params[m.has_this() as usize..];
        all.iter()
            .map(|p| self.ty(p))
            .collect::<Vec<_>>()
            .join(", ")
    }
    /// The class of a method.
    pub fn home(&self, home: Home) -> String {
        let space = &self.space;
        match home {
            Home::Plain => format!("{space}.M"),
            Home::Holder(k) => format!("{space}.K{k}"),
            Home::Instance(c) | Home::Virtual(c, _) | Home::Interface(c) => {
                format!("{space}.C{c}")
            }
            Home::Struct(s) | Home::StructInterface(s) => format!("{space}.S{s}"),
        }
    }
    /// The name of a method.
    pub fn method_name(&self, m: usize) -> String {
        match self.program.methods[m].home {
            Home::Virtual(_, slot) => format!("V{slot}"),
            Home::Interface(_) | Home::StructInterface(_) => "IM".into(),
            _ => format!("m{m}"),
        }
    }
    /// A method as the operand of a call.
    pub fn method(&self, m: usize) -> String {
        let method = &self.program.methods[m];
        let this = if method.has_this() { "instance " } else { "" };
        let (ret, home) = (self.ty(&method.ret), self.home(method.home));
        let (name, params) = (self.method_name(m), self.params(method));
        format!("{this}{ret} {home}::{name}({params})")
    }
    /// An instance field as the operand of an instruction.
    pub fn field(&self, owner: Owner, f: usize) -> String {
        let space = &self.space;
        match owner {
            Owner::Struct(s) => {
                let ty = self.ty(&self.program.structs[s].fields[f]);
                format!("{ty} {space}.S{s}::f{f}")
            }
            Owner::Class(c) => {
                let ty = self.ty(&self.program.classes[c].fields[f]);
                format!("{ty} {space}.C{c}::f{f}")
            }
        }
    }
    /// A static field as the operand of an instruction.
    pub fn static_field(&self, h: usize, f: usize) -> String {
        let ty = self.ty(&self.program.holders[h].fields[f].0);
        format!("{ty} {}.K{h}::s{f}", self.space)
    }
}

/// The instruction that pushes an `int32`.
pub fn int32(value: i32) -> String {
    match value {
        -1 => "ldc.i4.m1".into(),
        0..=8 => format!("ldc.i4.{value}"),
        -128..=127 => format!("ldc.i4.s {value}"),
        _ => format!("ldc.i4 {value}"),
    }
}

/// The instructions that call the trace with the value of a storage type on the stack.
pub fn trace(names: &Names, ty: &Ty) -> String {
    match ty {
        Ty::I8 | Ty::U8 => "call void H::T8(int64)".into(),
        Ty::I => "conv.i8 call void H::T8(int64)".into(),
        Ty::R4 | Ty::R8 => "conv.r8 call void H::TR(float64)".into(),
        Ty::Str => "call void H::TS(string)".into(),
        Ty::Struct(s) => format!("call void {0}.S{s}::Tr(valuetype {0}.S{s})", names.space),
        Ty::Void => String::new(),
        Ty::Ref(_) => "pop".into(),
        t if t.stack() == Ty::I4 => "call void H::T4(int32)".into(),
        _ => "call void H::TO(object)".into(),
    }
}

/// The instructions that push a value of a storage type which `k` chooses.
pub fn sample(names: &Names, ty: &Ty, k: u64) -> String {
    let v = Rng::new(k).bits();
    match ty {
        Ty::Void => String::new(),
        Ty::I8 | Ty::U8 => format!("ldc.i8 {}", v as i64 >> (k % 60)),
        Ty::I => format!("ldc.i8 {} conv.i", v as i64 >> (k % 60)),
        Ty::R4 => format!("ldc.r8 {}.25 conv.r4", v as i16),
        Ty::R8 => format!("ldc.r8 {}.375", v as i32),
        Ty::Struct(s) => format!(
            "{} call valuetype {1}.S{s} {1}.S{s}::Mk(int32)",
            int32(v as i8 as i32),
            names.space
        ),
        t if t.is_primitive() => {
            format!("{} {}", int32((v as i32) >> (k % 30)), fitting(t))
        }
        _ if v.is_multiple_of(16) => "ldnull".into(),
        Ty::Str => format!("ldstr \"s{}\"", v % 100),
        Ty::Obj => format!("{} box [mscorlib]System.Int32", int32(v as i8 as i32)),
        Ty::Class(c) => format!("newobj instance void {}.C{c}::.ctor()", names.space),
        Ty::Array(of) => format!("ldc.i4.{} newarr {}", 2 + v % 5, names.token(of)),
        Ty::Array2(_) => format!(
            "ldc.i4.3 ldc.i4.2 newobj instance void {}::.ctor(int32, int32)",
            names.ty(ty)
        ),
        Ty::Cell(of) => format!(
            "{} newobj instance void {}::.ctor(!0)",
            sample(names, of, k + 1),
            names.ty(ty)
        ),
        _ => "ldnull".into(),
    }
}

/// Prints one program.
struct Printer<'a> {
    names: &'a Names<'a>,
}

/// A part of a program that is printed if something mentions it.
struct Part {
    /// What a mention looks like.
    mention: String,
    /// The class that it belongs to.
    class: String,
    text: String,
}

impl Printer<'_> {
    /// The classes of the program, with `Run::All` that runs those methods in `chosen` that are static.
    fn program(&self, chosen: &[usize]) -> String {
        let (n, p) = (self.names, self.names.program);
        let space = &n.space;
        let mut run = String::new();
        for m in chosen {
            if !p.methods[*m].has_this() {
                run.push_str(&self.run(*m, 0));
                run.push_str(&self.run(*m, 1));
            }
        }
        let main = format!(
            ".class public abstract auto ansi sealed beforefieldinit {space}.Run extends [mscorlib]System.Object {{\n{}  \
             .method public static void All() cil managed noinlining {{\n{}    ret }} }}\n",
            run,
            run.lines()
                .filter_map(|l| l.split_once("void ").filter(|_| l.contains(".method")))
                .map(|(_, name)| format!(
                    "    call void {space}.Run::{}\n",
                    name.split(' ').next().unwrap_or("")
                ))
                .collect::<String>()
        );
        let mut left = self.parts();
        let mut taken = take(&mut left, &main);
        // Static fields begin every run with the same values: those that something mentions.
        let reset = self.reset(&taken);
        taken.extend(take(&mut left, &reset.text));
        taken.push(reset);
        let mut out = String::new();
        for head in taken.iter().filter(|p| p.class.is_empty()) {
            out.push_str(&head.text);
            for member in taken.iter().filter(|p| p.class == head.mention) {
                out.push_str(&member.text);
            }
            out.push_str("}\n");
        }
        out + &main
    }
    /// Runs a method with arguments and reports.
    fn run(&self, m: usize, round: usize) -> String {
        let (n, method) = (self.names, &self.names.program.methods[m]);
        let mut locals = Vec::new();
        let mut args = String::new();
        for (i, p) in method.params.iter().enumerate() {
            let k = (m * 31 + i * 7 + round * 1009) as u64;
            if let Ty::Ref(of) = p {
                let at = locals.len();
                writeln!(args, "      {} stloc {at}", sample(n, of, k)).unwrap();
                writeln!(args, "      ldloca {at}").unwrap();
                locals.push(n.ty(of));
            } else {
                writeln!(args, "      {}", sample(n, p, k)).unwrap();
            }
        }
        let (set, pushed): (Vec<&str>, Vec<&str>) = args.lines().partition(|l| l.contains("stloc"));
        let locals = match locals.is_empty() {
            true => String::new(),
            false => format!("    .locals init ({})\n", locals.join(", ")),
        };
        format!(
            "  .method public static void r{m}_{round}() cil managed noinlining {{\n{locals}    ldc.i8 {} call void H::Begin(int64)\n    \
             call void {}.K0::Reset()\n    .try {{\n{}\n{}\n      call {}\n      {} leave L }}\n    \
             catch [mscorlib]System.Object {{ call void H::TO(object) leave L }}\n    \
             L: ldstr \"{}.m{m}.{round}\" call void H::Report(string)\n    ret }}\n",
            m + 1,
            n.space,
            set.join("\n"),
            pushed.join("\n"),
            n.method(m),
            trace(n, &method.ret),
            n.space
        )
    }
    /// The method that sets the fields of the first holder that were taken.
    fn reset(&self, taken: &[Part]) -> Part {
        let n = self.names;
        let class = format!("{}.K0", n.space);
        let mut body = String::new();
        for (f, (ty, _)) in n.program.holders[0].fields.iter().enumerate() {
            if taken.iter().any(|p| p.mention == format!("{class}::s{f}")) {
                let value = sample(n, ty, f as u64);
                writeln!(body, "    {value} stsfld {}", n.static_field(0, f)).unwrap();
            }
        }
        Part {
            mention: format!("{class}::Reset"),
            class,
            text: format!(
                "  .method public static void Reset() cil managed noinlining {{\n{body}    ret }}\n"
            ),
        }
    }
    fn parts(&self) -> Vec<Part> {
        let mut all = Vec::new();
        let space = &self.names.space;
        let p = self.names.program;
        for s in 0..p.structs.len() {
            self.struct_parts(s, &mut all);
        }
        for c in 0..p.classes.len() {
            self.class_parts(c, &mut all);
        }
        for h in 0..p.holders.len() {
            self.holder_parts(h, &mut all);
        }
        all.push(Part {
            mention: format!("{space}.M"),
            class: String::new(),
            text: format!(
                ".class public abstract auto ansi sealed beforefieldinit {space}.M extends [mscorlib]System.Object {{\n"
            ),
        });
        for m in 0..p.methods.len() {
            let home = p.methods[m].home;
            let name = self.names.method_name(m);
            let mention = match home {
                // An override is called by the name of the slot, whatever the class.
                Home::Virtual(_, slot) => format!("V{slot}"),
                Home::Interface(_) | Home::StructInterface(_) => self.names.home(home),
                _ => format!("{}::{name}", self.names.home(home)),
            };
            all.push(Part {
                mention,
                class: self.names.home(home),
                text: self.method(m),
            });
        }
        all
    }
    fn struct_parts(&self, s: usize, all: &mut Vec<Part>) {
        let (n, space) = (self.names, &self.names.space);
        let one = &n.program.structs[s];
        let class = format!("{space}.S{s}");
        let relaxed = if one.init == Init::None {
            " beforefieldinit"
        } else {
            ""
        };
        let has = |m: &Method| m.home == Home::StructInterface(s);
        let implements = match n.program.methods.iter().any(has) {
            true => " implements I0",
            false => "",
        };
        let mut text = format!(
            ".class public sequential ansi sealed{relaxed} {class} extends [mscorlib]System.ValueType{implements} {{\n"
        );
        let (mut make, mut show) = (String::new(), String::new());
        for (f, ty) in one.fields.iter().enumerate() {
            writeln!(text, "  .field public {} f{f}", n.ty(ty)).unwrap();
            let field = n.field(Owner::Struct(s), f);
            let value = match ty {
                t if t.is_primitive() && !matches!(t, Ty::R4 | Ty::R8) => {
                    let wide = if t.stack() == Ty::I8 { " conv.i8" } else { "" };
                    let wide = if *t == Ty::I { " conv.i" } else { wide };
                    format!("ldarg.0 {} add{wide}", int32(f as i32 * 3))
                }
                _ => sample(n, ty, (s * 100 + f) as u64),
            };
            writeln!(make, "    ldloca.s 0 {value} stfld {field}").unwrap();
            writeln!(show, "    ldarg.0 ldfld {field} {}", trace(n, ty)).unwrap();
        }
        if one.init == Init::Precise {
            text.push_str(&self.constructor(&[], 200 + s as i32, false));
        }
        all.push(Part {
            mention: class.clone(),
            class: String::new(),
            text,
        });
        all.push(Part {
            mention: format!("{class}::Mk"),
            class: class.clone(),
            text: format!(
                "  .method public static valuetype {class} Mk(int32) cil managed {{\n    .locals init (valuetype {class})\n{make}    \
                 ldloc.0 ret }}\n"
            ),
        });
        all.push(Part {
            mention: format!("{class}::Tr"),
            class: class.clone(),
            text: format!(
                "  .method public static void Tr(valuetype {class}) cil managed {{\n{show}    ret }}\n"
            ),
        });
    }
    fn class_parts(&self, c: usize, all: &mut Vec<Part>) {
        let (n, space) = (self.names, &self.names.space);
        let one = &n.program.classes[c];
        let class = format!("{space}.C{c}");
        let base = match one.base {
            Some(b) => format!("{space}.C{b}"),
            None => "[mscorlib]System.Object".into(),
        };
        let implements = if one.base.is_none() {
            " implements I0"
        } else {
            ""
        };
        let relaxed = if one.init == Init::Precise {
            ""
        } else {
            " beforefieldinit"
        };
        let mut text =
            format!(".class public auto ansi{relaxed} {class} extends {base}{implements} {{\n");
        for (f, ty) in one.fields.iter().enumerate() {
            writeln!(text, "  .field public {} f{f}", n.ty(ty)).unwrap();
        }
        if one.init == Init::Precise {
            text.push_str(&self.constructor(&[], 300 + c as i32, false));
        }
        let mut rest = String::new();
        for (f, ty) in one.fields.iter().enumerate() {
            if !matches!(ty, Ty::Class(_) | Ty::Cell(_)) {
                let value = sample(n, ty, (c * 70 + f) as u64);
                let field = n.field(Owner::Class(c), f);
                writeln!(rest, "    ldarg.0 {value} stfld {field}").unwrap();
            }
        }
        let ctor = ".method public specialname rtspecialname instance void .ctor";
        let first = n.ty(&one.fields[0]);
        let field = n.field(Owner::Class(c), 0);
        writeln!(
            text,
            "  {ctor}() cil managed {{\n    ldarg.0 call instance void {base}::.ctor()\n{rest}    ret }}\n  {ctor}({first}) cil managed {{\n    \
             ldarg.0 call instance void {class}::.ctor() ldarg.0 ldarg.1 stfld {field} ret }}"
        )
        .unwrap();
        all.push(Part {
            mention: class,
            class: String::new(),
            text,
        });
    }
    fn holder_parts(&self, h: usize, all: &mut Vec<Part>) {
        let (n, space) = (self.names, &self.names.space);
        let one = &n.program.holders[h];
        let class = format!("{space}.K{h}");
        let relaxed = match one.init {
            Init::Precise | Init::Throwing => "",
            _ => " beforefieldinit",
        };
        let mut text = format!(
            ".class public abstract auto ansi sealed{relaxed} {class} extends [mscorlib]System.Object {{\n"
        );
        let mut set = Vec::new();
        for (f, (ty, thread)) in one.fields.iter().enumerate() {
            let of_thread = match thread {
                true => {
                    "  .custom instance void [mscorlib]System.ThreadStaticAttribute::.ctor() = ( 01 00 00 00 )\n"
                }
                false => "",
            };
            let field = n.static_field(h, f);
            let value = sample(n, ty, (h * 50 + f) as u64);
            set.push(format!("    {value} stsfld {field}\n"));
            let declaration = format!("  .field public static {} s{f}\n{of_thread}", n.ty(ty));
            match h {
                0 => all.push(Part {
                    mention: format!("{class}::s{f}"),
                    class: class.clone(),
                    text: declaration,
                }),
                _ => text.push_str(&declaration),
            }
        }
        if one.init != Init::None {
            let silent = one.init == Init::Relaxed;
            let code = if silent { -1 } else { 100 + h as i32 };
            text.push_str(&self.constructor(&set, code, one.init == Init::Throwing));
        }
        all.push(Part {
            mention: class,
            class: String::new(),
            text,
        });
    }
    /// A class constructor: it sets its own fields; with a code it shows itself in the trace and writes elsewhere.
    fn constructor(&self, set: &[String], code: i32, throws: bool) -> String {
        let n = self.names;
        let mut body: String = set.concat();
        if code >= 0 {
            writeln!(body, "    {} call void H::T4(int32)", int32(code)).unwrap();
            for (f, (ty, _)) in n.program.holders[0].fields.iter().enumerate() {
                if (f + code as usize).is_multiple_of(2) && ty.is_primitive() {
                    let value = sample(n, ty, f as u64 + code as u64);
                    writeln!(body, "    {value} stsfld {}", n.static_field(0, f)).unwrap();
                }
            }
        }
        let end = match throws {
            true => "newobj instance void E1::.ctor() throw",
            false => "ret",
        };
        format!(
            "  .method private static specialname rtspecialname void .cctor() cil managed {{\n{body}    {end} }}\n"
        )
    }
    fn method(&self, m: usize) -> String {
        let (n, method) = (self.names, &self.names.program.methods[m]);
        let how = match method.home {
            Home::Plain | Home::Holder(_) => "static",
            Home::Instance(_) | Home::Struct(_) => "instance",
            Home::Virtual(c, slot) if n.program.slots[slot].0 == c => "newslot virtual instance",
            Home::Interface(c) if n.program.classes[c].base.is_none() => "newslot virtual instance",
            Home::StructInterface(_) => "newslot virtual final instance",
            _ => "virtual instance",
        };
        format!(
            "  .method public {how} {} {}({}) cil managed {{\n{}  }}\n",
            n.ty(&method.ret),
            n.method_name(m),
            n.params(method),
            Body::new(n, method).print()
        )
    }
}

/// Takes the parts that `text` mentions, and those that they mention in turn.
fn take(left: &mut Vec<Part>, text: &str) -> Vec<Part> {
    let mut taken: Vec<Part> = Vec::new();
    let mut text = text.to_string();
    loop {
        let (now, later): (Vec<Part>, Vec<Part>) = std::mem::take(left)
            .into_iter()
            .partition(|p| mentioned(&text, &p.mention));
        *left = later;
        if now.is_empty() {
            return taken;
        }
        text = now.iter().map(|p| p.text.as_str()).collect();
        taken.extend(now);
    }
}

/// Whether `text` has `name` as a whole word.
fn mentioned(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        !text[at + name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    })
}
