//! Methods and other functions: their names, and which of them an address is in.
//!
//! # Invariants
//! * A method's id that gets a second name is another method from then on: the first one was unloaded.
//! * Names are at most [`LONGEST`] bytes long.
//! * Addresses are looked up only after [`Frames::finish`]: code may be announced after a sample in it.
use crate::stacks::Frame;
use rustc_hash::FxHashMap;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Method,
    /// A function of a library, or of the runtime.
    Native,
    /// Code that the runtime made and that is no method.
    Stub,
    /// No code: the class of an object, below which nothing is called.
    Class,
}

struct Named {
    kind: Kind,
    name: Option<String>,
    id: u64,
}

/// A range of addresses.
#[derive(Clone, Copy)]
struct Range {
    start: u64,
    end: u64,
    frame: Frame,
}

/// Where an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the code of a method.
    Managed(Frame),
    /// In a stub, or in a function whose symbol is known.
    Native(Frame),
    /// Somewhere else.
    Unknown,
}

/// Bytes of the longest name; the rest is cut off.
const LONGEST: usize = 2048;
/// Symbols are believed that far.
const NEAR: u64 = 4096;
/// Ranges above this are doubtful: mono writes wrong sizes for methods of unloaded domains. They are asked last.
const LARGE: u64 = 1 << 20;

/// All frames.
#[derive(Default)]
pub(crate) struct Frames {
    all: Vec<Named>,
    methods: FxHashMap<u64, Frame>,
    natives: FxHashMap<String, Frame>,
    code: Vec<Range>,
    large: Vec<Range>,
    stubs: Vec<Range>,
    symbols: Vec<(u64, Frame)>,
    /// Methods with code, bytes of their code, stubs, bytes of stubs.
    pub compiled: (u64, u64),
    pub stub_total: (u64, u64),
}

impl Frames {
    fn add(&mut self, kind: Kind, name: Option<&str>, id: u64) -> Frame {
        let name = name.map(str::to_owned);
        self.all.push(Named { kind, name, id });
        self.all.len() as Frame - 1
    }

    /// The frame of a method.
    pub(crate) fn method(&mut self, id: u64) -> Frame {
        if let Some(frame) = self.methods.get(&id) {
            return *frame;
        }
        let frame = self.add(Kind::Method, None, id);
        self.methods.insert(id, frame);
        frame
    }

    /// A method has a name and code.
    pub(crate) fn name(&mut self, id: u64, name: &str, code: u64, bytes: u64) {
        let name = cut(name);
        let mut frame = self.method(id);
        let named = &mut self.all[frame as usize];
        match &named.name {
            None => named.name = Some(name.to_owned()),
            Some(known) if known == name => {}
            Some(_) => {
                frame = self.add(Kind::Method, Some(name), id);
                self.methods.insert(id, frame);
            }
        }
        if code != 0 {
            self.compiled.0 += 1;
            // As mprof-report has it: sizes are 32-bit numbers with a sign.
            let bytes = (bytes as i32).max(0) as u64;
            self.compiled.1 = self.compiled.1.saturating_add(bytes);
            let range = Range {
                start: code,
                end: code.saturating_add(bytes),
                frame,
            };
            match bytes > LARGE {
                true => self.large.push(range),
                false => self.code.push(range),
            }
        }
    }

    /// The frame of a function outside of managed code.
    pub(crate) fn native(&mut self, name: &str, kind: Kind) -> Frame {
        let name = cut(name);
        if let Some(frame) = self.natives.get(name) {
            return *frame;
        }
        let frame = self.add(kind, Some(name), 0);
        self.natives.insert(name.to_owned(), frame);
        frame
    }

    /// A function begins at or before `address`.
    pub(crate) fn symbol(&mut self, address: u64, name: &str) {
        let frame = self.native(name, Kind::Native);
        self.symbols.push((address, frame));
    }

    /// Code that belongs to no method.
    pub(crate) fn stub(&mut self, kind: u8, name: Option<&str>, start: u64, bytes: u64) {
        let what = match kind {
            0 => "code of methods",
            1 => "method trampoline",
            2 => "unbox trampoline",
            3 => "interface trampoline",
            4 => "generics trampoline",
            5 => "trampoline",
            6 => "helper",
            8 => "delegate invoke",
            9 => "exception handling",
            _ => "stub",
        };
        self.stub_total.0 += 1;
        self.stub_total.1 = self.stub_total.1.saturating_add(bytes);
        let text = match name {
            Some(name) => format!("[{what}] {name}"),
            None => format!("[{what}]"),
        };
        let frame = self.native(&text, Kind::Stub);
        self.stubs.push(Range {
            start,
            end: start.saturating_add(bytes),
            frame,
        });
    }

    /// Makes addresses ready to be looked up.
    pub(crate) fn finish(&mut self) {
        for ranges in [&mut self.code, &mut self.stubs] {
            ranges.sort_by_key(|r| r.start);
        }
        self.symbols.sort_unstable();
    }

    /// What is at an address.
    pub(crate) fn at(&self, address: u64) -> Place {
        let in_sorted = |ranges: &[Range]| {
            let last = ranges
                .partition_point(|r| r.start <= address)
                .checked_sub(1)?;
            (address < ranges[last].end).then_some(ranges[last].frame)
        };
        let in_large = || {
            let found = self
                .large
                .iter()
                .find(|r| (r.start..r.end).contains(&address));
            found.map(|r| r.frame)
        };
        if let Some(frame) = in_sorted(&self.code).or_else(in_large) {
            return Place::Managed(frame);
        }
        if let Some(frame) = in_sorted(&self.stubs) {
            return Place::Native(frame);
        }
        let before = self
            .symbols
            .partition_point(|s| s.0 <= address)
            .checked_sub(1);
        match before.map(|n| self.symbols[n]) {
            Some((start, frame)) if address - start < NEAR => Place::Native(frame),
            _ => Place::Unknown,
        }
    }

    /// The full name.
    pub(crate) fn full_name(&self, frame: Frame) -> String {
        match self.all.get(frame as usize) {
            Some(Named {
                name: Some(name), ..
            }) => name.clone(),
            Some(named) => format!("[unknown method {:#x}]", named.id),
            None => "[unknown]".into(),
        }
    }

    /// The name without the types of its arguments and without namespace: `List`1<T>:Add`.
    pub(crate) fn brief_name(&self, frame: Frame) -> String {
        let name = self.short_name(frame);
        let class = name.find([':', '<', '[']).unwrap_or(0);
        match name[..class].rfind('.') {
            Some(dot) if self.kind(frame) == Kind::Method => name[dot + 1..].to_owned(),
            _ => name,
        }
    }

    /// The name without the types of its arguments.
    pub(crate) fn short_name(&self, frame: Frame) -> String {
        let mut name = self.full_name(frame);
        if self.kind(frame) == Kind::Method
            && let Some(at) = name.rfind(" (")
            && name.ends_with(')')
            && at > 0
        {
            name.truncate(at);
        }
        name
    }

    /// What it is.
    pub(crate) fn kind(&self, frame: Frame) -> Kind {
        self.all
            .get(frame as usize)
            .map_or(Kind::Native, |f| f.kind)
    }

    /// Is it a method of the class library? Names of its simplest types are those of C#.
    pub(crate) fn is_of_library(&self, frame: Frame) -> bool {
        const NAMESPACES: [&str; 5] = ["System.", "Mono.", "Microsoft.", "Internal.", "Interop"];
        const KEYWORDS: [&str; 17] = [
            "bool", "byte", "sbyte", "char", "short", "ushort", "int", "uint", "long", "ulong",
            "intptr", "uintptr", "single", "double", "string", "object", "void",
        ];
        let name = self.all.get(frame as usize).and_then(|f| f.name.as_deref());
        let name = name.unwrap_or("");
        let class = name.split(':').next().unwrap_or("");
        self.kind(frame) == Kind::Method
            && (NAMESPACES.iter().any(|n| name.starts_with(n)) || KEYWORDS.contains(&class))
    }

    /// Methods that the runtime makes around others: they are nobody's code.
    pub(crate) fn is_wrapper(&self, frame: Frame) -> bool {
        let name = self.all.get(frame as usize).and_then(|f| f.name.as_deref());
        name.is_some_and(|n| n.starts_with("(wrapper "))
    }
}

fn cut(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_a_method_a_stub_near_a_symbol_or_nowhere() {
        let mut frames = Frames::default();
        frames.name(1, "A:One (int)", 0x1000, 0x10);
        frames.name(2, "A:Two ()", 0x1010, 8);
        frames.name(3, "A:Wrong ()", 0x10_0000, 500 << 20);
        frames.name(4, "A:Negative ()", 0x2000, u64::MAX);
        frames.stub(2, None, 0x1100, 0x20);
        frames.symbol(0x9000_0000, "memset");
        frames.finish();
        let one = frames.method(1);
        assert_eq!(frames.at(0x100F), Place::Managed(one));
        assert_eq!(frames.at(0x1018), Place::Unknown);
        assert!(
            matches!(frames.at(0x1110), Place::Native(f) if frames.full_name(f) == "[unbox trampoline]")
        );
        assert!(
            matches!(frames.at(0x9000_0010), Place::Native(f) if frames.full_name(f) == "memset")
        );
        assert_eq!(frames.at(0x9000_1000), Place::Unknown);
        assert!(
            matches!(frames.at(0x20_0000), Place::Managed(f) if frames.full_name(f) == "A:Wrong ()")
        );
        assert_eq!(frames.at(0x2000), Place::Unknown);
        assert_eq!(frames.short_name(one), "A:One");
        frames.name(
            5,
            "System.Collections.Generic.List`1<System.Int32>:Add (System.Int32)",
            0,
            0,
        );
        let add = frames.method(5);
        assert_eq!(frames.brief_name(add), "List`1<System.Int32>:Add");
        assert_eq!(frames.brief_name(one), "A:One");
        frames.name(6, "string:Concat (string,string)", 0, 0);
        let concat = frames.method(6);
        assert_eq!(
            [one, add, concat].map(|f| frames.is_of_library(f)),
            [false, true, true]
        );
    }

    #[test]
    fn an_id_with_a_second_name_is_a_second_method() {
        let mut frames = Frames::default();
        let first = frames.method(7);
        frames.name(7, "A:M ()", 0, 0);
        frames.name(7, "A:M ()", 0, 0);
        assert_eq!(frames.method(7), first);
        frames.name(7, "B:N ()", 0, 0);
        let second = frames.method(7);
        assert_eq!(frames.full_name(first), "A:M ()");
        assert_eq!(frames.full_name(second), "B:N ()");
    }
}
