//! The emitted sequences against the lists beside their models.
//!
//! # How it works
//! The models of handles (`vervet-handles`) and monitors (`vervet-parking`) explore the
//! interleavings of several threads. What they execute are the lines of `inlined.txt`, one for each
//! memory access. These tests emit the sequences, reduce the CLIF to such lines, and compare.
//!
//! # Invariants
//! A sequence that changes fails here. The list and the model are then changed with it.
use crate::emit::{Codegen, Emitter, Request};
use crate::options::{Options, Tier};
use crate::translate::fast_paths::handles;
use crate::translate::fast_paths::monitors;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types::*};
use cranelift_codegen::isa::CallConv;

/// The memory accesses and jumps of a sequence, one line each, with values unnamed.
fn effects(emit: impl FnOnce(&mut Emitter<'_>, &[Value])) -> Vec<String> {
    let options = Options {
        verify: true,
        ..Options::default()
    };
    let mut signature = Signature::new(CallConv::Tail);
    signature.params.extend([I64, I32].map(AbiParam::new));
    let request = Request {
        name: "a sequence",
        signature,
        tier: Tier::Quick,
        listing: true,
    };
    let emitted = Codegen::new(&options).function(request, |e| {
        let arguments = e.params().to_vec();
        emit(e, &arguments);
        e.b.ins().return_(&[]);
        Ok(())
    });
    let (blob, _) = emitted.expect("it compiles");
    let listing = blob.listing.expect("asked for");
    let clif = listing.split("\n}").next().unwrap_or_default();
    clif.lines().filter_map(effect).collect()
}

/// The line of an instruction, if the lists contain instructions of its kind.
fn effect(line: &str) -> Option<String> {
    let line = line.split(';').next().unwrap_or_default().trim();
    // A source location in front.
    let line = line
        .strip_prefix('@')
        .map_or(line, |l| l.split_once(' ').map_or("", |l| l.1))
        .trim();
    let what = line.split_once(" = ").map_or(line, |(_, what)| what);
    let name = what.split([' ', '.']).next().unwrap_or_default();
    let is_label = name.starts_with("block");
    let counts = [
        "load",
        "uload8",
        "store",
        "istore8",
        "atomic_cas",
        "brif",
        "jump",
        "call",
        "call_indirect",
        "sequence_point",
    ];
    (is_label || counts.contains(&name)).then(|| unnamed(what))
}

/// Removes the numbers of values.
fn unnamed(what: &str) -> String {
    let mut out = String::new();
    let mut rest = what.chars().peekable();
    let mut before = ' ';
    while let Some(c) = rest.next() {
        out.push(c);
        if c == 'v' && !before.is_alphanumeric() {
            while rest.next_if(char::is_ascii_digit).is_some() {}
        }
        before = c;
    }
    out
}

/// The lines of one list, without their comments.
fn list(text: &str, name: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|l| *l != format!("== {name}"));
    let lines = lines.skip(1).take_while(|l| !l.starts_with("=="));
    let said = lines.map(|l| l.split('#').next().unwrap_or_default().trim().to_owned());
    said.filter(|l| !l.is_empty()).collect()
}

/// Compares the list of that name with what is emitted.
fn check(text: &str, name: &str, emit: impl FnOnce(&mut Emitter<'_>, &[Value])) {
    let found = effects(emit);
    assert_eq!(
        list(text, name),
        found,
        "{name}: generated code does this:\n{}\n",
        found.join("\n")
    );
}

/// Ends the path that the list does not contain.
fn elsewhere(e: &mut Emitter<'_>, slow: cranelift_codegen::ir::Block) {
    e.b.ins().return_(&[]);
    e.b.seal_block(slow);
    e.b.switch_to_block(slow);
}

#[test]
fn handles_are_as_their_models_have_them() {
    const TEXT: &str = include_str!("../../../../handles/src/inlined.txt");
    check(TEXT, "read", |e, a| {
        let slow = e.b.create_block();
        handles::read(e, a[1], slow);
        elsewhere(e, slow);
    });
    check(TEXT, "make", |e, a| {
        let slow = e.b.create_block();
        handles::make(e, a[0], a[1], slow);
        elsewhere(e, slow);
    });
    check(TEXT, "free", |e, a| handles::free(e, a[1]));
}

#[test]
fn monitors_are_as_their_models_have_them() {
    const TEXT: &str = include_str!("../../../../parking/src/inlined.txt");
    check(TEXT, "enter", |e, a| {
        monitors::enter(e, a[0], None, false, |_| {})
    });
    check(TEXT, "exit", |e, a| monitors::exit(e, a[0], false, |_| {}));
}
