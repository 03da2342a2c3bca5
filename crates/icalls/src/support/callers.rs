//! Who called: the stack crawls behind `GetExecutingAssembly`, `GetCallingAssembly` and stack crawl marks.
//!
//! # How it works
//! As mono does, a mark is not looked up: the caller is the first managed method that is not part of reflection's
//! own plumbing in the core library.
use vervet_runtime::cx::Cx;
use vervet_runtime::exceptions::walk::caller_methods;
use vervet_types::{Assembly, MethodRef};

/// The namespace of a method's class; of a nested class, that of the outermost one.
fn outermost_namespace(method: MethodRef) -> &'static str {
    let mut c = method.class;
    while let Ok(Some(outer)) = c.declaring_type() {
        c = outer;
    }
    c.namespace
}
/// Is the method part of the core library, in one of these namespaces?
fn is_plumbing(method: MethodRef, namespaces: &[&str]) -> bool {
    method.class.module.is_corlib() && namespaces.contains(&outermost_namespace(method))
}

/// The managed method that called the running internal call.
pub fn first(cx: &Cx<'_>) -> Option<MethodRef> {
    caller_methods(cx).next()
}
/// The caller as a stack crawl mark means it.
pub fn marked(cx: &Cx<'_>) -> Option<MethodRef> {
    caller_methods(cx).find(|m| !is_plumbing(m, &["System", "System.Reflection"]))
}
/// The assembly of [`marked`].
pub fn marked_assembly(cx: &Cx<'_>) -> Option<&'static Assembly> {
    marked(cx).and_then(|m| m.class.module.assembly())
}
/// The method whose assembly is executing.
pub fn executing(cx: &Cx<'_>) -> Option<MethodRef> {
    caller_methods(cx).find(|m| !is_plumbing(m, &["System.Reflection"]))
}
/// The caller of [`executing`], or that itself at the bottom of the stack.
pub fn calling(cx: &Cx<'_>) -> Option<MethodRef> {
    let mut rest = caller_methods(cx).skip_while(|m| is_plumbing(m, &["System.Reflection"]));
    let executing = rest.next()?;
    rest.find(|m| !is_plumbing(m, &["System.Reflection"]))
        .or(Some(executing))
}
