//! Custom modifiers (ECMA-335 II.7.1.1). Types do not carry them, but methods that differ in
//! nothing else are different methods.
//!
//! # How it works
//! C++/CLI distinguishes overloads by `modopt`, and C# marks `in` parameters by `modreq`.
//! Signatures are compared without modifiers first. Only if two methods of a class have equal
//! signatures, the blobs are read again for their modifiers.
//!
//! # Invariants
//! * Modifiers are compared by name and in order, at the same places of two signatures. Those of a
//!   type argument follow those of the parameter it replaces.
//! * Nearly all signatures have none; one look at the blob finds that out.
use crate::*;
use vervet_metadata::{SigType, Table, parse_method_sig, parse_type_spec};

/// `modreq` or `modopt`, with namespace and name.
type Modifier = (bool, &'static str, &'static str);
/// The modifiers of each argument of a class.
type OfArgs = Vec<Vec<Modifier>>;
/// The modifiers of a signature, with their places.
type Places = Vec<(u32, Modifier)>;

/// Whether a signature can contain modifiers: some byte of the blob is that of `modreq` or
/// `modopt`.
fn may_have(blob: &[u8]) -> bool {
    blob.iter().any(|b| matches!(b, 0x1F | 0x20))
}

/// A modifier by its name.
fn modifier(module: ModuleRef, required: bool, token: Token) -> Modifier {
    match module.image.type_name(token) {
        Ok(n) => (required, n.namespace, n.name),
        Err(_) => (required, "", ""),
    }
}

/// Adds what a type has, in order of writing; every type written in it is a place of its own.
fn collect(
    module: ModuleRef,
    ty: &SigType,
    args: &[Vec<Modifier>],
    at: &mut u32,
    out: &mut Places,
) {
    let mut next = |ty: &SigType, out: &mut Places| {
        *at += 1;
        collect(module, ty, args, at, out);
    };
    match ty {
        SigType::Modified {
            required,
            modifier: token,
            inner,
        } => {
            out.push((*at, modifier(module, *required, *token)));
            collect(module, inner, args, at, out);
        }
        SigType::Pinned(inner) => collect(module, inner, args, at, out),
        SigType::Var(n) => {
            let of_arg = args.get(*n as usize).map_or(&[][..], Vec::as_slice);
            out.extend(of_arg.iter().map(|m| (*at, *m)));
        }
        SigType::Ptr(inner) | SigType::ByRef(inner) | SigType::SzArray(inner) => next(inner, out),
        SigType::Array(form) => next(&form.elem, out),
        SigType::GenericInst { args, .. } => args.iter().for_each(|a| next(a, out)),
        SigType::FnPtr(sig) => {
            std::iter::once(&sig.ret)
                .chain(&sig.params)
                .for_each(|t| next(t, out));
        }
        _ => {}
    }
}

/// The modifiers of a method signature.
fn of_sig(module: ModuleRef, blob: &'static [u8], args: &[Vec<Modifier>]) -> R<Places> {
    let raw = parse_method_sig(blob).map_err(|e| module.bad(e))?;
    let mut out = Vec::new();
    for (n, ty) in std::iter::once(&raw.ret).chain(&raw.params).enumerate() {
        const ROOM: u32 = 1 << 16;
        collect(module, ty, args, &mut (n as u32 * ROOM), &mut out);
    }
    Ok(out)
}

/// The modifiers of the arguments of `ancestor`, as the chain of `extends` from `class` to it writes them.
fn of_parent_args(class: ClassRef, ancestor: ClassRef) -> R<OfArgs> {
    let (mut at, mut args) = (class, OfArgs::new());
    while at != ancestor {
        let Some(parent) = at.parent()? else { break };
        let module = at.module;
        let row = module.image.type_def(at.rid()).map_err(|e| module.bad(e))?;
        let mut of_parent = OfArgs::new();
        if row.extends.is(Table::TypeSpec) {
            let spec = module
                .image
                .type_spec(row.extends.rid())
                .map_err(|e| module.bad(e))?;
            let raw = parse_type_spec(module.blob(spec.signature)?).map_err(|e| module.bad(e))?;
            if let SigType::GenericInst { args: written, .. } = raw.unmodified() {
                for ty in written {
                    let mut places = Vec::new();
                    collect(module, ty, &args, &mut 0, &mut places);
                    of_parent.push(
                        places
                            .into_iter()
                            .filter(|p| p.0 == 0)
                            .map(|p| p.1)
                            .collect(),
                    );
                }
            }
        }
        (at, args) = (parent, of_parent);
    }
    Ok(args)
}

/// Whether a method has the modifiers of a base class's method, or of an interface's, of an equal signature.
pub(crate) fn same(method: MethodRef, base: MethodRef) -> R<bool> {
    if !may_have(method.blob) && !may_have(base.blob) {
        return Ok(true);
    }
    let own = of_sig(method.module(), method.blob, &[])?;
    let written = of_sig(base.module(), base.blob, &[])?;
    if own.is_empty() && written.is_empty() {
        return Ok(true);
    }
    if base.class.is_interface() || base.class.args().is_empty() {
        return Ok(own == written);
    }
    let args = of_parent_args(method.class, base.class)?;
    Ok(own == of_sig(base.module(), base.blob, &args)?)
}

/// Of the methods of the found one's class that differ from it in modifiers only: the one a reference names.
pub(crate) fn choose(
    found: MethodRef,
    module: ModuleRef,
    reference: &'static [u8],
) -> R<MethodRef> {
    let overloads = found.class.methods_named(found.name)?;
    if overloads.len() < 2 {
        return Ok(found);
    }
    let methods = found.class.def().methods()?;
    let fits = |m: MethodRef| {
        m.index == found.index
            || m.param_count == found.param_count
                && m.generic_arity == found.generic_arity
                && (may_have(m.blob) || may_have(found.blob))
                && m.open_sig()
                    .is_ok_and(|s| found.open_sig().is_ok_and(|f| s == f))
    };
    let candidates: Vec<u32> = overloads
        .into_iter()
        .filter(|i| fits(methods[*i as usize]))
        .collect();
    if candidates.len() < 2 {
        return Ok(found);
    }
    let wanted = of_sig(module, reference, &[])?;
    for i in candidates {
        if of_sig(found.module(), methods[i as usize].blob, &[])? == wanted {
            return found.class.method_at(i);
        }
    }
    Ok(found)
}
