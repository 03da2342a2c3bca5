//! From a name to an assembly.
//!
//! ```text
//!   name --redirects, policy--> effective name
//!     1. `resolved`: a host or a resolve event has answered this request     -> that assembly
//!     2. the list of what is loaded (module `loaded`)                        -> the first that answers the name
//!     3. the binder's candidates, without and then with the directory of the requesting module: the first file that opens
//!        (of references, that directory comes after 5 or not at all, unless `LoadFrom` has loaded the module: `Beside`)
//!     4. the name of an assembly in this binary, Vervet.Threading            -> that assembly
//!     5. nothing: AssemblyResolve is raised
//! ```
//! | who asks | step 5 |
//! |---|---|
//! | managed code (`Type.GetType`) | [`Loader::load_by_name`] raises the event itself |
//! | managed code (`Assembly.Load`) | the same; the directory of the caller counts only if `LoadFrom` has loaded it: [`Loader::bind_for`] |
//! | the type system, while a method is compiled | [`Bridge`](crate::domain) answers `Need`; the prestub calls [`Loader::supply`], which raises the event, and compiles again |
//! | the background compiler | steps 3 to 5 are not taken: it loads nothing, and gives the method up |
//!
//! # Invariants
//! * A request is a name, a culture and, of a strong name, a version and a token. Every step compares all of it.
//! * What a host or an event has answered belongs to the request that it was asked for: that module's reference of that name. It answers no other module's
//!   and no `Assembly.Load`, for which the event is raised each time.
//! * A file that holds no assembly answers no name: the next one is tried, and at last the event is raised, as if it were not there.
//! * What files answered a name is asked again when something else has been loaded, which may answer it better.
use super::events::kept_quiet;
use super::host::HOST;
use super::{Beside, Loader, Purpose, Stage, THREADING, in_native, policy};
use crate::cx::{Cx, Result};
use vervet_binder::name::AssemblyName;
use vervet_binder::token::PublicKeyToken;
use vervet_types::error::Need;
use vervet_types::module::AssemblyRefInfo;
use vervet_types::{Assembly, Known, LoadError, ModuleRef};

impl Loader {
    /// The assembly that a reference in a module of the loader's domain means. Called in any state, by threads that compile.
    ///
    /// # Errors
    /// `Need`: a host, or the program by a resolve event, may supply it.
    pub(crate) fn answer(
        &self,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        let name = name_of_reference(reference);
        if requesting.is_reflection_only() {
            let given = self.reflection_only.given(requesting, &name);
            let known = given
                .flatten()
                .or_else(|| self.named_reflection_only(&name));
            return match (known, given) {
                (Some(a), _) => Ok(a),
                (None, None) => Err(needed(requesting, reference)),
                (None, Some(_)) => Err(LoadError::NotPreloaded {
                    name: name.to_string(),
                }),
            };
        }
        let request = (requesting.id, name);
        let resolved = self.state.lock().resolved.get(&request).copied();
        if let Some(a) = resolved {
            return Ok(a);
        }
        let asks_host = HOST.get().is_some_and(|host| (host.has_preload)())
            && !self.preload_asked.lock().contains(&request)
            && self.loaded_as(&request.1).is_none();
        if asks_host {
            return Err(needed(requesting, reference));
        }
        let beside = self.beside(requesting);
        let at_once = beside == Beside::AtOnce;
        if let Some(a) = self.bind(&request.1, at_once.then_some(requesting))? {
            return Ok(a);
        }
        if !self.state.lock().unresolved.contains(&request) {
            return Err(needed(requesting, reference));
        }
        let last = match beside {
            Beside::AfterEvent => self.bind(&request.1, Some(requesting))?,
            Beside::AtOnce | Beside::Never => None,
        };
        last.ok_or_else(|| LoadError::FileNotFound {
            name: request.1.to_string(),
        })
    }
    /// When what a module refers to is looked for beside it.
    pub(super) fn beside(&self, requesting: ModuleRef) -> Beside {
        let manifest = requesting.assembly().map_or(requesting, |a| a.manifest);
        let state = self.state.lock();
        state.beside.get(&manifest.id).copied().unwrap_or_default()
    }
    /// Binds a name in the default context, without events, in Native state.
    pub fn bind(
        &self,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        self.look_at_setup();
        in_native(|| self.bind_name(name, requesting))
    }
    /// Binds a name that managed code gives, without events. What lies beside the caller counts only if `LoadFrom` has loaded that, or it lay beside what was so loaded.
    pub fn bind_for(
        &self,
        name: &AssemblyName,
        caller: Option<ModuleRef>,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        self.bind(name, caller.filter(|m| self.beside(m) == Beside::AtOnce))
    }
    fn bind_name(
        &self,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        let key = (name.clone(), requesting.map(|m| m.id));
        let begun = match self.state.lock().bound.ask(&key) {
            Ok(known) => return Ok(Some(known)),
            Err(begun) => begun,
        };
        let found = self.look_for(name, requesting)?;
        if let Some(assembly) = found {
            self.state.lock().bound.keep(begun, key, assembly);
        }
        Ok(found)
    }
    fn look_for(
        &self,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        let binder = self.binder();
        let effective = binder.effective_name(name, policy::redirects).into_owned();
        if let Some(a) = self.loaded_as(&effective) {
            return Ok(Some(a));
        }
        if crate::threads::current_context().is_null() || LOADS_NOTHING.get() {
            // A thread that compiles ahead loads nothing: what is loaded, and when, is the program's doing.
            return Ok(None);
        }
        for with_dir in [false, true] {
            let dir = if with_dir {
                requesting.and_then(|m| self.directory(m))
            } else {
                None
            };
            if with_dir && dir.is_none() {
                break;
            }
            for c in binder.candidates(&effective, dir.as_deref()) {
                if !c.path.is_file() {
                    continue;
                }
                let is_neighbour =
                    with_dir && requesting.is_some_and(|m| self.beside(m) == Beside::AtOnce);
                let purpose = match is_neighbour {
                    true => Purpose::Neighbour,
                    false => Purpose::Name,
                };
                self.look_at_setup();
                match self.open_named(&c.path, purpose) {
                    Ok(a) => return Ok(Some(a)),
                    Err(e) => tracing::debug!("{}: {e}", c.path.display()),
                }
            }
        }
        if effective.name == "Vervet.Threading" && !THREADING.is_empty() {
            return self.open_own(THREADING).map(Some);
        }
        Ok(None)
    }
    /// Binds a name for managed code, raising AssemblyResolve if nothing is found; handlers are not told who asks, as in mono.
    pub fn load_by_name<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> Result<&'static Assembly> {
        if let Some(a) = self.ask_host(cx, name) {
            cx.tell_loaded()?;
            return Ok(a);
        }
        if let Some(a) = cx.load(self.bind(name, requesting))? {
            cx.tell_loaded()?;
            return Ok(a);
        }
        if let Some(host) = HOST.get()
            && let Some(a) = (host.find)(cx, name, Stage::Postload)
        {
            cx.tell_loaded()?;
            return Ok(a);
        }
        match self.resolve_quietly(cx, &name.to_string(), None)? {
            Some(a) => Ok(a),
            None => Err(cx.throw2(
                Known::FileNotFoundException,
                &format!("Could not load file or assembly '{name}' or one of its dependencies."),
                &name.to_string(),
            )),
        }
    }
    /// Raises the event for a reference that was not found, in the loader's domain, which is the current one. A handler that throws has given nothing.
    pub(crate) fn supply<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> Result<()> {
        let name = name_of_reference(reference);
        if requesting.is_reflection_only() {
            return self.supply_reflection_only(cx, requesting, &name);
        }
        let request = (requesting.id, name);
        if let Some(host) = HOST.get() {
            let asked = !self.preload_asked.lock().insert(request.clone());
            let given = match asked {
                true => (host.find)(cx, &request.1, Stage::Postload),
                false => self.ask_host(cx, &request.1),
            };
            if let Some(a) = given {
                self.state.lock().resolved.insert(request, a);
                return Ok(());
            }
            if !asked {
                // The ordinary way is tried now.
                return Ok(());
            }
        }
        let given = self.resolve_quietly(cx, &request.1.to_string(), Some(requesting))?;
        let mut state = self.state.lock();
        match given {
            Some(a) => {
                state.resolved.insert(request, a);
            }
            None => {
                state.unresolved.insert(request);
            }
        }
        Ok(())
    }
    /// Raises the event for a reference of an assembly that is looked at; if it gives nothing, the next try fails for good.
    fn supply_reflection_only<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        requesting: ModuleRef,
        name: &AssemblyName,
    ) -> Result<()> {
        let given = self.raise_resolve(cx, &name.to_string(), Some(requesting), true);
        let given = kept_quiet(cx, given)?;
        self.reflection_only.give(requesting, name, given);
        Ok(())
    }
}

thread_local! {
    /// Binds of this thread load nothing.
    static LOADS_NOTHING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}
thread_local! {
    /// What this thread's last bind needed that failed for it.
    static NEED: std::cell::Cell<Option<Box<Need>>> = const { std::cell::Cell::new(None) };
}
fn needed(requesting: ModuleRef, reference: &AssemblyRefInfo) -> LoadError {
    let need = Box::new(Need::Assembly {
        requesting,
        reference: *reference,
    });
    // A thread that ends keeps nothing.
    let _ = NEED.try_with(|last| last.set(Some(need.clone())));
    LoadError::Need(need)
}
/// What a bind of the calling thread has needed since the last call, for who asks the type system without looking at errors.
pub fn take_need() -> Option<Box<Need>> {
    NEED.try_with(std::cell::Cell::take).ok().flatten()
}
/// Does something during which this thread's binds find what is loaded, and load nothing.
pub fn without_loading<T>(work: impl FnOnce() -> T) -> T {
    let before = LOADS_NOTHING.with(|l| l.replace(true));
    let result = work();
    LOADS_NOTHING.with(|l| l.set(before));
    result
}
/// What a reference in metadata asks for.
pub fn name_of_reference(r: &AssemblyRefInfo) -> AssemblyName {
    let token = match r.public_key_or_token.len() {
        0 => None,
        8 => r.public_key_or_token.try_into().ok().map(PublicKeyToken),
        _ => Some(PublicKeyToken::of_key(r.public_key_or_token)),
    };
    AssemblyName {
        version: Some(r.version),
        culture: Some(r.culture.to_string()),
        public_key_token: token,
        token_is_null: token.is_none(),
        retargetable: r.flags & 0x100 != 0,
        ..AssemblyName::simple(r.name)
    }
}
