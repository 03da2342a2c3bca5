//! What makes a method worth optimising, at its first call or later.
//!
//! # Invariants
//! * The answers depend on the method alone, so that each process gives the same and kept code
//!   is what a compile would make.
//! * A loop does not go on for ever in code that was compiled quickly: it is left for optimised
//!   code when it has run for a while, or, where it cannot be left, the
//!   method is optimised at once. (One that is too long for that is compiled again at most to
//!   have a smaller frame.)
use vervet_metadata::MethodBody;
use vervet_metadata::il::Operand;
use vervet_types::MethodRef;
use vervet_types::method::impl_flags;

/// Methods of at most this many bytes of IL are always optimised: it takes no longer than to
/// compile them quickly. (With 96, which was
/// so once, a cold F# compiler made half of its code with optimisation, of which one method in
/// forty was called often: it took 1.6 of the time.)
const SMALL: usize = 12;
/// Methods of more bytes of IL than this are never optimised, because the time of the optimising
/// register allocator grows faster than the method.
const LARGE: usize = 6000;

/// Whether a method with that body is optimised at its first call because it is small.
pub fn is_small(body: &MethodBody<'_>) -> bool {
    body.code.len() <= SMALL
}

/// Whether a method with that body may be optimised.
pub fn is_not_too_long(body: &MethodBody<'_>) -> bool {
    body.code.len() <= LARGE
}

/// Whether a loop in quick code of the method may be left for optimised code, as far as the
/// method as a whole says (its loops have conditions of their own:
/// `translate/control/carried.rs`).
pub fn has_replaceable_loops(method: MethodRef) -> bool {
    let is_vararg =
        |sig: &vervet_types::MethodSig| sig.call_conv == vervet_metadata::CallConvKind::VarArg;
    is_worth_optimising(method)
        && !method.is_dynamic()
        && !method.is_synchronized()
        && method.sig().is_ok_and(|sig| !is_vararg(sig))
}

/// Whether a method may be compiled again: it is not one that runs once, and does not forbid it.
pub fn may_be_compiled_again(method: MethodRef) -> bool {
    let forbids = impl_flags::NO_OPTIMIZATION;
    !method.is_cctor() && method.has_body() && method.impl_flags & forbids == 0
}

/// Whether a method may be optimised at all: it is not one that runs once, and not so long that
/// optimising takes out of proportion.
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
