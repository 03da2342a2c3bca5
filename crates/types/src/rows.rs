//! Whether what the rows of a class name can be loaded: asked before reflection gives out its type, and where code names it.
//!
//! # Invariants
//! * The rows of a definition name its parent, its interfaces, the arguments of these, the constraints of its parameters, and of an enum the underlying
//!   type. What its other members are made of is not looked at: reflection gives out a type whose fields or methods are of missing types.
//! * As in mono, who asks first for a class gets the error itself, for the class and for those that were waiting for it as
//!   a parent or interface. Later each of these classes has a TypeLoadException with the text of the error; a class that
//!   names one of them only then is given out.
//! * Compiling only looks ([`Class::check_named`]): what fails is compiled again, maybe ahead by another thread. Its error says what to remember when
//!   the program gets it ([`LoadError::First`]).
//! * What failed is remembered, not why ([`LoadError`]): what has been supplied meanwhile is no error any more.
use crate::class::Nature;
use crate::*;
use std::sync::atomic::Ordering;

/// The most parents and interfaces above each other that are looked at. Chains without end are found before.
const DEEPEST: usize = 100;

/// Who gets the error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Only who asks first.
    First,
    /// Everybody.
    Always,
}

/// Is it remembered who has got the error?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Yes: the program gets it.
    Remember,
    /// No.
    Forget,
}

/// What is known of the rows of a class.
mod known {
    /// Nothing yet.
    pub(super) const NOTHING: u8 = 0;
    /// Somebody has got the error.
    pub(super) const FAILED: u8 = 1;
    /// They can be loaded.
    pub(super) const LOADED: u8 = 2;
}

/// What went wrong, and its text for those who ask later.
struct Failed {
    error: LoadError,
    text: String,
}

impl From<LoadError> for Failed {
    fn from(error: LoadError) -> Failed {
        let text = error.as_cause();
        Failed { error, text }
    }
}

impl Class {
    /// Whether what the rows of a definition name can be loaded; other types have no rows. See the module.
    pub fn check_rows(&'static self, asked: Asked) -> R<()> {
        let ClassKind::Def { .. } = self.kind else {
            return Ok(());
        };
        let is_answered = match asked {
            // What a program defines is complete later than it is named.
            Asked::First => self.failed_before() || self.module.image.grows().is_some(),
            Asked::Always => false,
        };
        match is_answered || self.module.is_corlib() {
            true => Ok(()),
            false => self
                .rows(&mut Vec::new(), Then::Remember)
                .map_err(|failed| failed.error),
        }
    }
    /// The same for code that names the type: for each definition that it is made of, unless somebody has got its error.
    ///
    /// # Errors
    /// [`LoadError::First`] where somebody must remember it.
    pub fn check_named(&'static self) -> R<()> {
        match &self.kind {
            ClassKind::Def { .. } => self.named_first(),
            ClassKind::Inst { def, args } => {
                def.named_first()?;
                args.iter().try_for_each(|a| a.check_named())
            }
            _ => self.element().map_or(Ok(()), Class::check_named),
        }
    }
    /// The same for the type of a method that code calls: also who asks later gets an error.
    pub fn check_called(&'static self) -> R<()> {
        self.check_named()?;
        match self.def().failed_before() {
            true => self.check_lacks(),
            false => Ok(()),
        }
    }
    /// [`Class::check_named`] of a definition.
    fn named_first(&'static self) -> R<()> {
        let grows = || self.module.image.grows().is_some();
        if self.cells.rows.load(Ordering::Relaxed) != known::NOTHING
            || self.module.is_corlib()
            || grows()
        {
            return Ok(());
        }
        let found = self.rows(&mut Vec::new(), Then::Forget);
        found.map_err(|failed| match failed.error {
            need @ LoadError::Need(_) => need,
            error => LoadError::First(self, Box::new(error)),
        })
    }
    /// Somebody gets the error of the definition's rows now.
    pub fn remember_failure(&'static self) {
        // Whatever the answer is by now.
        let _ = self.check_rows(Asked::First);
    }
    /// What the definition's rows lack, in words, if somebody has got the error and it is still one.
    ///
    /// # Errors
    /// [`LoadError::Need`]
    pub(crate) fn lacks(&'static self) -> R<Option<String>> {
        if !self.failed_before() {
            return Ok(None);
        }
        match self.rows(&mut Vec::new(), Then::Forget) {
            Ok(()) => Ok(None),
            Err(Failed {
                error: need @ LoadError::Need(_),
                ..
            }) => Err(need),
            Err(failed) => Ok(Some(failed.text)),
        }
    }
    /// The error of a type whose rows, or its parent's, have been asked for in vain before.
    pub(crate) fn check_lacks(&'static self) -> R<()> {
        let def = self.def();
        let mut cause = def.lacks()?;
        if let Some(text) = &cause
            && self != def
        {
            let text = def.failed_with(text);
            cause = Some(format!(
                "Generic Type Definition failed to init, due to: {text}"
            ));
        } else if cause.is_none()
            && let Some(parent) = def.find_parent()?.map(Class::def)
            && let Some(text) = parent.lacks()?
        {
            let text = parent.failed_with(&text);
            cause = Some(format!("Could not set up parent class, due to: {text}"));
        } else if cause.is_none() {
            cause = self.arguments_lack()?;
        }
        cause.map_or(Ok(()), |text| Err(self.unusable(text)))
    }
    /// The same for an instance of a generic class with fields of such a type.
    fn arguments_lack(&'static self) -> R<Option<String>> {
        let lacks = |class: ClassRef| {
            let mut at = class;
            while let Some(element) = at.element() {
                at = element;
            }
            at.def().lacks().map(|text| text.is_some())
        };
        for argument in self.args() {
            if lacks(argument)? {
                for field in self.fields()? {
                    let ty = field.ty()?;
                    if lacks(ty)? {
                        let class = self.full_name();
                        return Ok(Some(format!(
                            "Invalid type {} for instance field {class}:{}",
                            ty.full_name(),
                            field.name
                        )));
                    }
                }
            }
        }
        Ok(None)
    }
    /// The same for an instruction that names a member of it.
    pub(crate) fn check_lacks_for(&'static self, method: &str) -> R<()> {
        let def = self.def();
        let Some(text) = def.lacks()? else {
            return Ok(());
        };
        let text = def.failed_with(&text);
        let text = format!("Could not find method '{method}' due to a type load error: {text}");
        Err(def.unusable(text))
    }
    /// A text as the reason why something that needs the class cannot be loaded.
    pub(crate) fn failed_with(&self, text: &str) -> String {
        let file = self.module.path.as_deref().unwrap_or_default();
        format!("{text} assembly:{file} type:{} member:(null)", self.name)
    }
    /// A TypeLoadException about the class, with just that text.
    pub(crate) fn unusable(&'static self, text: String) -> LoadError {
        let class = match self.is_inst() {
            true => crate::names::short_name(self),
            false if self.is_generic_def() && !self.namespace.is_empty() => {
                format!("{}.{}", self.namespace, self.name)
            }
            false if self.is_generic_def() => self.name.to_string(),
            false => self.full_name(),
        };
        LoadError::Unusable {
            class,
            assembly: self.module.assembly_name(),
            text,
        }
    }
    /// Has somebody got the error?
    fn failed_before(&self) -> bool {
        self.cells.rows.load(Ordering::Relaxed) == known::FAILED
    }
    /// Remembers what failed. `path` is what is being looked at: each names the next.
    fn rows(&'static self, path: &mut Vec<ClassRef>, then: Then) -> Result<(), Failed> {
        let rows = &self.cells.rows;
        if rows.load(Ordering::Relaxed) == known::LOADED {
            return Ok(());
        }
        path.push(self);
        let named = self.named_by_rows(path, then);
        path.pop();
        let Err(failed) = named else {
            rows.store(known::LOADED, Ordering::Relaxed);
            return Ok(());
        };
        let before = match then {
            _ if matches!(failed.error, LoadError::Need(_)) => known::NOTHING,
            Then::Remember => rows.swap(known::FAILED, Ordering::Relaxed),
            Then::Forget => rows.load(Ordering::Relaxed),
        };
        if before == known::NOTHING {
            return Err(failed);
        }
        let error = self.unusable(failed.text.clone());
        Err(Failed { error, ..failed })
    }
    /// Loads what the rows name, and what the rows of these name.
    fn named_by_rows(&'static self, path: &mut Vec<ClassRef>, then: Then) -> Result<(), Failed> {
        let parent = self.find_parent()?;
        if let Ok(false) = self.has_end(parent) {
            return Err(self.endless_parents().into());
        }
        if self.nature == Nature::Enum {
            self.enum_value()?;
        }
        let interfaces = self.declared_interfaces()?;
        for parameter in self.params()? {
            parameter.param_constraints().map_err(|error| {
                let text = format!(
                    "Could not load generic parameter constrains due to {}",
                    error.as_cause()
                );
                Failed { error, text }
            })?;
        }
        for named in parent.into_iter().chain(interfaces.iter().copied()) {
            self.each_definition(named, path, then)?;
        }
        Ok(())
    }
    /// Whether an enum has a value, and its type can be loaded.
    fn enum_value(&'static self) -> Result<(), Failed> {
        let value = self.fields()?.iter().find(|field| !field.is_static());
        match value {
            Some(field) => field.open_ty().map(drop).map_err(Failed::from),
            None => Err(self.unusable("Could not find base type".to_owned()).into()),
        }
    }
    /// Looks at the definitions that a type is made of which the rows of this one name.
    fn each_definition(
        &'static self,
        named: ClassRef,
        path: &mut Vec<ClassRef>,
        then: Then,
    ) -> Result<(), Failed> {
        if let Some(element) = named.element() {
            return self.each_definition(element, path, then);
        }
        for argument in named.args() {
            self.each_definition(argument, path, then)?;
        }
        let named = named.def();
        let is_definition = matches!(named.kind, ClassKind::Def { .. });
        let is_asked = self.failed_before() || !named.failed_before();
        // One that is being looked at says itself what is wrong with it.
        if !is_definition
            || !is_asked
            || named.module.is_corlib()
            || path.len() >= DEEPEST
            || path.contains(&named)
        {
            return Ok(());
        }
        named.rows(path, then)
    }
}
