//! Bad IL is reported as such or translates: it is never an internal error, a CLIF verifier error or a crash.
//!
//! Bodies of the class library are changed (instructions, operands, branch targets, locals, exception clauses, cuts) and
//! compiled at either tier, without being run, so what they would do to memory does not matter. The number of a case
//! names it: `VERVET_JIT_SEED=n` begins with case n (by default the clock chooses), `VERVET_JIT_FUZZ=s` goes on for s
//! seconds (0: that case alone), `VERVET_JIT_TEST=a.dll,path/b.exe` takes the bodies of other assemblies.

mod common;

use common::{DIRECTORIES, Env, closed, load, methods, universe};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};
use vervet_jit::{CompileError, Compiler, Options, Tier};
use vervet_metadata::{EhClause, EhKind, Instr, Instructions, MethodBody, Op, Operand};
use vervet_types::MethodRef;

/// The random numbers of a run; the seed names them.
struct Random(SplitMix64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }
    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// A body on its way to something else.
struct Mutant {
    body: MethodBody<'static>,
    code: Vec<u8>,
}

impl Mutant {
    fn instructions(&self) -> Vec<Instr<'_>> {
        Instructions::new(&self.code)
            .map_while(Result::ok)
            .collect()
    }
    /// Offsets of instructions, and the end.
    fn boundaries(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.instructions().iter().map(|i| i.offset).collect();
        all.push(self.code.len() as u32);
        all
    }
    /// Changes one thing; `other` is a body of the same module.
    fn change(&mut self, r: &mut Random, other: &MethodBody<'static>) {
        match r.below(12) {
            0 => self.any_byte(r),
            1 | 2 => self.opcode(r),
            3 | 4 => self.operand(r, other),
            5 => self.target(r),
            6 => self.swap(r),
            7 => self.splice(r, other),
            8 => {
                self.body.local_sig = other.local_sig;
            }
            9 => {
                self.body.init_locals ^= true;
                self.body.max_stack = [0, 1, 8, u16::MAX][r.below(4)];
            }
            10 => self.cut(r),
            _ => self.clauses(r, other),
        }
    }
    fn any_byte(&mut self, r: &mut Random) {
        let at = r.below(self.code.len());
        let from = self.code[r.below(self.code.len())];
        self.code[at] = match r.below(3) {
            0 => r.bits() as u8,
            1 => from,
            _ => self.code[at] ^ 1 << r.below(8),
        };
    }
    /// Another opcode with an operand of the same kind.
    fn opcode(&mut self, r: &mut Random) {
        let Some((offset, old)) = r.pick(&self.instructions()).map(|i| (i.offset, i.op)) else {
            return;
        };
        let wide = |op: Op| op as u16 > 0xFF;
        let all: Vec<Op> = Op::ALL
            .iter()
            .copied()
            .filter(|o| o.operand_kind() == old.operand_kind() && wide(*o) == wide(old))
            .collect();
        let new = *r.pick(&all).expect("the old one is among them") as u16;
        self.code[offset as usize + wide(old) as usize] = new as u8;
    }
    /// The same operand as elsewhere, or a number near it.
    fn operand(&mut self, r: &mut Random, other: &MethodBody<'static>) {
        let Some((end, len, operand)) = r
            .pick(&self.instructions())
            .map(|i| (i.end() as usize, i.len as usize, i.operand.kind()))
        else {
            return;
        };
        let foreign: Vec<Instr> = Instructions::new(other.code)
            .map_while(Result::ok)
            .filter(|i| i.operand.kind() == operand && i.len as usize == len)
            .collect();
        let size = match operand {
            "token" | "i32" => 4,
            "i64" => 8,
            "var" | "i8" => 1,
            _ => return,
        };
        if size > len {
            return;
        }
        if let Some(i) = r.pick(&foreign).filter(|_| operand == "token") {
            let from = &other.code[i.end() as usize - size..i.end() as usize];
            self.code[end - size..end].copy_from_slice(from);
        } else {
            let at = end - size + r.below(size.min(2));
            self.code[at] = self.code[at].wrapping_add([1, 255, 128, 7][r.below(4)]);
        }
    }
    /// A branch to another instruction.
    fn target(&mut self, r: &mut Random) {
        let boundaries = self.boundaries();
        let branches: Vec<(usize, usize)> = self
            .instructions()
            .iter()
            .filter(|i| matches!(i.operand, Operand::Branch(_)))
            .map(|i| (i.end() as usize, i.len as usize))
            .collect();
        let (Some((end, len)), Some(to)) = (r.pick(&branches), r.pick(&boundaries)) else {
            return;
        };
        let distance = *to as i32 - *end as i32;
        match len {
            2 => self.code[end - 1] = distance as i8 as u8,
            _ => self.code[end - 4..*end].copy_from_slice(&distance.to_le_bytes()),
        }
    }
    /// Two instructions of one length change places.
    fn swap(&mut self, r: &mut Random) {
        let all: Vec<(usize, usize)> = self
            .instructions()
            .iter()
            .map(|i| (i.offset as usize, i.len as usize))
            .collect();
        let Some(&(a, len)) = r.pick(&all) else {
            return;
        };
        let same: Vec<usize> = all.iter().filter(|i| i.1 == len).map(|i| i.0).collect();
        let b = *r.pick(&same).expect("itself");
        for i in 0..len {
            self.code.swap(a + i, b + i);
        }
    }
    /// Instructions of another body in place of some of this one.
    fn splice(&mut self, r: &mut Random, other: &MethodBody<'static>) {
        let theirs: Vec<u32> = Instructions::new(other.code)
            .map_while(Result::ok)
            .map(|i| i.offset)
            .collect();
        let ours = self.boundaries();
        let (Some(at), Some(from)) = (r.pick(&ours), r.pick(&theirs)) else {
            return;
        };
        let piece = &other.code[*from as usize..];
        let n = piece
            .len()
            .min(r.below(24))
            .min(self.code.len() - *at as usize);
        self.code[*at as usize..*at as usize + n].copy_from_slice(&piece[..n]);
    }
    /// Ends the code early; clauses keep within it, as the reader of bodies checks.
    fn cut(&mut self, r: &mut Random) {
        let at = match r.below(2) {
            0 => *r.pick(&self.boundaries()).expect("the end") as usize,
            _ => r.below(self.code.len()),
        };
        self.code.truncate(at.max(1));
        let len = self.code.len() as u32;
        self.body.clauses.retain(|c| within(c, len));
    }
    fn clauses(&mut self, r: &mut Random, other: &MethodBody<'static>) {
        let all = self.boundaries();
        let offset = |r: &mut Random| *r.pick(&all).expect("the end");
        let n = self.body.clauses.len();
        let kind = match r.below(5) {
            0 => EhKind::Finally,
            1 => EhKind::Fault,
            2 => EhKind::Filter(offset(r)),
            _ => other
                .clauses
                .iter()
                .chain(&self.body.clauses)
                .map(|c| c.kind)
                .find(|k| matches!(k, EhKind::Catch(_)))
                .unwrap_or(EhKind::Finally),
        };
        if n == 0 || r.below(4) == 0 {
            let mut at = [offset(r), offset(r), offset(r), offset(r)];
            if r.below(3) > 0 {
                at.sort_unstable();
            }
            self.body.clauses.push(EhClause {
                kind,
                try_offset: at[0],
                try_len: at[1].saturating_sub(at[0]),
                handler_offset: at[2],
                handler_len: at[3].saturating_sub(at[2]),
            });
        } else {
            let i = r.below(n);
            let to = offset(r);
            let c = &mut self.body.clauses[i];
            match r.below(7) {
                0 => c.kind = kind,
                1 => (c.try_offset, c.try_len) = (to, c.try_len.min(4)),
                2 => c.try_len = to.saturating_sub(c.try_offset),
                3 => c.handler_offset = to,
                4 => c.handler_len = to.saturating_sub(c.handler_offset),
                5 => {
                    self.body.clauses.remove(i);
                }
                _ => self.body.clauses.swap(0, i),
            }
        }
        let len = self.code.len() as u32;
        self.body.clauses.retain(|c| within(c, len));
    }
}

/// What the reader of bodies lets pass.
fn within(c: &EhClause, len: u32) -> bool {
    let ends = |offset: u32, n: u32| offset.checked_add(n).is_some_and(|e| e <= len);
    ends(c.try_offset, c.try_len)
        && ends(c.handler_offset, c.handler_len)
        && !matches!(c.kind, EhKind::Filter(f) if f >= len)
}

trait Kind {
    /// The kind of an operand as a word.
    fn kind(&self) -> &'static str;
}
impl Kind for Operand<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Operand::None => "none",
            Operand::I8(_) => "i8",
            Operand::Var(_) => "var",
            Operand::I32(_) => "i32",
            Operand::I64(_) => "i64",
            Operand::Token(_) => "token",
            Operand::Branch(_) => "branch",
            _ => "other",
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|s| s.parse().ok())
}

/// Cases that were our bugs.
const FOUND: &[u64] = &[583370057317];

#[test]
fn mutated_bodies_are_never_an_internal_error() {
    if !PathBuf::from(DIRECTORIES[0]).join("mscorlib.dll").exists() {
        eprintln!("the class library is not installed: nothing to test");
        return;
    }
    let seconds = number("VERVET_JIT_FUZZ").unwrap_or(10);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let first = number("VERVET_JIT_SEED")
        .unwrap_or_else(|| clock.map_or(1, |d| d.as_micros() as u64 % 1_000_000_000_000));
    let u = universe();
    let names = std::env::var("VERVET_JIT_TEST").unwrap_or_else(|_| "mscorlib,System.Core".into());
    let modules: Vec<Vec<MethodRef>> = names
        .split(',')
        .map(|name| {
            let module = load(name.trim_end_matches(".dll")).expect("the assembly");
            let types = module.types().expect("types").into_iter();
            let classes = types.flat_map(|c| closed(u, c));
            classes.flat_map(|c| methods(u, c)).collect()
        })
        .collect();
    let compiler = Compiler::new(Options {
        verify: true,
        ..Options::default()
    });
    println!("VERVET_JIT_SEED={first}");
    std::panic::set_hook(Box::new(|_| {}));
    let (mut case, mut compiled) = (first, 0);
    let mut failures: BTreeMap<String, (u32, String)> = BTreeMap::new();
    let start = Instant::now();
    let mut found = FOUND.iter();
    loop {
        let again = found.next().copied();
        let case_now = again.unwrap_or(case);
        let mut r = Random(SplitMix64::seed_from_u64(
            case_now.wrapping_mul(0x2545_F491_4F6C_DD1D),
        ));
        match run(&compiler, &modules, &mut r) {
            Ok(ok) => compiled += ok as u64,
            Err((what, method, offset)) => {
                // The CLIF verifier prints the function and its errors among the instructions.
                let error = what.lines().find(|l| l.starts_with("; error"));
                let key = error.or(what.lines().next()).unwrap_or("").to_owned();
                let key: String = key.chars().filter(|c| !c.is_ascii_digit()).collect();
                let text = format!("VERVET_JIT_SEED={case_now}: {method} IL_{offset:04x}: {what}");
                let entry = failures.entry(key).or_insert((0, text));
                entry.0 += 1;
            }
        }
        case += u64::from(again.is_none());
        if again.is_none() && start.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    let _ = std::panic::take_hook();
    println!(
        "{} mutated bodies from case {first}, {compiled} compiled",
        case - first
    );
    for (key, (count, example)) in &failures {
        let example: String = example.chars().take(4000).collect();
        println!("{count} x {key}\n    {example}");
    }
    assert!(failures.is_empty(), "{} kinds of failure", failures.len());
}

/// One case: whether it compiled, or what was our bug, where.
fn run(
    compiler: &Compiler,
    modules: &[Vec<MethodRef>],
    r: &mut Random,
) -> Result<bool, (String, String, u32)> {
    let module = r.pick(modules).expect("a module");
    let (method, other) = (
        *r.pick(module).expect("a body"),
        r.pick(module).expect("a body"),
    );
    let (Ok(body), Ok(other)) = (method.body(), other.body()) else {
        return Ok(false);
    };
    if body.code.is_empty() || body.code.len() > 600 || other.code.is_empty() {
        return Ok(false);
    }
    let mut m = Mutant {
        code: body.code.to_vec(),
        body,
    };
    for _ in 0..=r.below(3) {
        m.change(r, &other);
    }
    let mut body = m.body;
    body.code = Vec::leak(m.code);
    let tier = [Tier::Quick, Tier::Optimised][r.below(2)];
    match compiler.compile_body(method, body, &Env, tier) {
        Ok(_) => Ok(true),
        Err(CompileError::Internal {
            method,
            offset,
            reason,
        }) => Err((reason, method, offset)),
        Err(_) => Ok(false),
    }
}
