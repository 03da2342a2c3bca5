//! What makes a method worth optimising, at its first call or later.
//!
//! # Invariants
//! * The answers depend on the method alone, so that each process gives the same and kept code is what a compile would make.
//! * A method with a loop is either optimised at once or never: a loop in code that was compiled quickly would go on in it, however long it runs. (One that is
//!   too long for that may be compiled again all the same, not optimised, to have a smaller frame.)
use vervet_metadata::MethodBody;
use vervet_metadata::il::Operand;
use vervet_types::MethodRef;
use vervet_types::method::impl_flags;

/// Methods of at most this many bytes of IL are always optimised: it takes no longer than to compile them quickly. (With 96, which was
/// so once, a cold F# compiler made half of its code with optimisation, of which one method in forty was called often: it took 1.6 of the time.)
const SMALL: usize = 12;
/// Methods of more bytes of IL than this are never optimised, because the time of the optimising
/// register allocator grows faster than the method.
const LARGE: usize = 6000;

/// Whether a method with that body is optimised at its first call: it has a loop, or is small.
pub fn is_worth_at_once(body: &MethodBody<'_>) -> bool {
    let len = body.code.len();
    len <= SMALL || len <= LARGE && has_loop(body)
}

/// Whether a method may be compiled again: it is not one that runs once, and does not forbid it.
pub fn may_be_compiled_again(method: MethodRef) -> bool {
    let forbids = impl_flags::NO_OPTIMIZATION;
    !method.is_cctor() && method.has_body() && method.impl_flags & forbids == 0
}

/// Whether a method may be optimised at all: it is not one that runs once, and not so long that optimising takes out of proportion.
pub fn is_worth_optimising(method: MethodRef) -> bool {
    may_be_compiled_again(method) && method.body().is_ok_and(|body| body.code.len() <= LARGE)
}

/// Whether the body contains a backward branch.
pub fn has_loop(body: &MethodBody<'_>) -> bool {
    body.instructions()
        .map_while(Result::ok)
        .any(|i| match i.operand {
            Operand::Branch(to) => to <= i.offset,
            Operand::Switch(to) => to.iter().any(|t| t <= i.offset),
            _ => false,
        })
}
