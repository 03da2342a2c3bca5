//! A method as another domain has it.
//!
//! # Invariants
//! * Modules, classes and type arguments are the other domain's own, or shared by all domains.
//! * A row names the same method only in a module of the same content. Where the other domain has none, there is no counterpart.
use crate::cx::{Cx, Result};
use crate::domain::{self, Domain};
use smallvec::SmallVec;
use vervet_types::class::ClassKind;
use vervet_types::{ClassRef, MethodRef, ModuleRef};

/// The method as the domain has it, with the domain's own classes as type arguments: the same, if all domains share it; otherwise that of the module which
/// the domain has loaded from the same file.
pub(super) fn counterpart<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    domain: &'static Domain,
) -> Result<Option<MethodRef>> {
    let definition = method.definition();
    let module = definition.module();
    let Some(theirs) = module_in(cx, module, domain) else {
        return Ok(None);
    };
    let mut arguments = SmallVec::<[ClassRef; 4]>::new();
    for argument in method.method_args() {
        match class_in(cx, argument, domain)? {
            Some(class) => arguments.push(class),
            None => return Ok(None),
        }
    }
    let mut found = match std::ptr::eq(theirs, module) {
        true => definition,
        false => cx.load(theirs.method_def(definition.rid))?,
    };
    if method.class.is_inst() {
        let Some(class) = class_in(cx, method.class, domain)? else {
            return Ok(None);
        };
        found = cx.load(class.method_at(found.index))?;
    }
    match arguments.is_empty() {
        true => Ok(Some(found)),
        false => {
            let made = cx.universe().instantiate_method(found, &arguments);
            cx.load(made).map(Some)
        }
    }
}

/// The module as the domain has it: rows mean the same in both, because the content is the same. The name of the file does not say so: it may have been
/// replaced since the current domain loaded it.
fn module_in(cx: &Cx<'_>, module: ModuleRef, domain: &'static Domain) -> Option<ModuleRef> {
    // (One of them may have loaded a shadow copy.)
    let file = cx.loader().source(module);
    let assemblies = domain.loader.assemblies();
    let all = || assemblies.iter().map(|a| a.manifest);
    all().find(|m| std::ptr::eq(*m, module)).or_else(|| {
        all().find(|m| {
            file.is_some()
                && domain.loader.source(m) == file
                && m.image.data() == module.image.data()
        })
    })
}

/// The class as the domain has it. None: it has not loaded it, or has another one.
fn class_in<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    domain: &'static Domain,
) -> Result<Option<ClassRef>> {
    if domain::copy::is_core(cx, class) {
        return Ok(Some(class));
    }
    Ok(match &class.kind {
        ClassKind::Def { rid, .. } => match module_in(cx, class.module, domain) {
            Some(theirs) => Some(cx.load(theirs.type_def(*rid))?),
            None => None,
        },
        ClassKind::Inst { def, args } => {
            let Some(def) = class_in(cx, def, domain)? else {
                return Ok(None);
            };
            let mut own = SmallVec::<[ClassRef; 4]>::new();
            for argument in args.iter() {
                match class_in(cx, argument, domain)? {
                    Some(class) => own.push(class),
                    None => return Ok(None),
                }
            }
            Some(cx.load(cx.universe().instantiate(def, &own))?)
        }
        ClassKind::SzArray(element) => {
            class_in(cx, element, domain)?.map(|e| cx.universe().sz_array(e))
        }
        ClassKind::Array { elem, rank } => {
            class_in(cx, elem, domain)?.map(|e| cx.universe().array(e, *rank))
        }
        _ => None,
    })
}
