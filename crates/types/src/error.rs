//! Why a type or member could not be loaded.
//!
//! # Invariants
//! * Each variant stands for exactly one managed exception ([`LoadError::exception`]), except
//!   [`LoadError::Need`]. That one asks the caller to run managed resolve events, which needs a
//!   thread in managed mode without locks, and to try again.
//! * Errors are not cached. A level that failed is computed again when it is next asked for,
//!   because a resolve event may have supplied an assembly in the meantime.
use crate::*;

/// Result of everything that may load a type.
pub type R<T> = Result<T, LoadError>;

/// What only managed code (resolve events) can supply.
#[derive(Debug, Clone)]
pub enum Need {
    /// An assembly that no file was found for.
    Assembly {
        /// The module that refers to it.
        requesting: ModuleRef,
        /// The reference.
        reference: AssemblyRefInfo,
    },
    /// A module file of a multi-module assembly.
    Module {
        /// The manifest module.
        manifest: ModuleRef,
        /// Name of the file.
        file: String,
    },
    /// A type that its assembly does not have.
    Type {
        /// Where it was looked for.
        module: ModuleRef,
        /// Its full name.
        name: String,
    },
    /// That a type that has been named is completed: `TypeBuilder.CreateType`.
    Builder {
        /// The definition.
        class: ClassRef,
        /// How it is asked for.
        ask: Ask,
    },
}

/// How the program is asked to complete a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// AppDomain.TypeResolve is raised; it is no error if nobody completes the type.
    Offer,
    /// AppDomain.TypeResolve is raised, and the type must be complete then.
    Must,
    /// `CreateType` is called.
    Create,
}

/// See the module.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    /// TypeLoadException.
    #[error("{}", type_load_text(.class, .assembly, .message))]
    TypeLoad {
        /// Full name of the type.
        class: String,
        /// Display name of its assembly, "" if unknown.
        assembly: String,
        /// What is wrong; "" for "could not be found".
        message: String,
    },
    /// TypeLoadException: a reference names a type that is not there.
    #[error(
        "Could not resolve type with token {token:08x} from typeref (expected class '{class}' in assembly '{assembly}')"
    )]
    NoSuchType {
        /// The token of the reference.
        token: u32,
        /// Namespace and name of the type; of a nested type, its name.
        class: String,
        /// Display name of the assembly that the reference names, "" if it names none.
        assembly: String,
    },
    /// TypeLoadException: the operand of an instruction names a type that cannot be loaded. Mono does not say why.
    #[error("Failure has occurred while loading a type.")]
    Operand,
    /// TypeLoadException: the type of a field cannot be loaded.
    #[error("{text}")]
    Unusable {
        /// Full name of the class.
        class: String,
        /// Display name of its assembly.
        assembly: String,
        /// What is wrong with what.
        text: String,
    },
    /// MissingMethodException.
    #[error("Method not found: {class}.{member}{sig}")]
    MissingMethod {
        /// Full name of the type; for an overload, what it returns and `namespace.name`, as mono writes it.
        class: String,
        /// Name of the method.
        member: String,
        /// Its parameters, `(int,string)`, or "".
        sig: String,
    },
    /// MissingFieldException.
    #[error("Field not found: {class}.{member} Due to: {why}")]
    MissingField {
        /// Full name of the type; for a typed field, its type and `namespace.name`, as mono writes it.
        class: String,
        /// Name of the field.
        member: String,
        /// What is wrong.
        why: String,
    },
    /// BadImageFormatException.
    #[error("{message}")]
    BadImage {
        /// Path or name of the file, "" if unknown.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// FileNotFoundException.
    #[error("Could not load file or assembly '{name}' or one of its dependencies.")]
    FileNotFound {
        /// Display name of the assembly or path of the file.
        name: String,
    },
    /// FileNotFoundException: what an assembly that was loaded to be looked at refers to has not been loaded so.
    #[error(
        "Cannot resolve dependency to assembly because it has not been preloaded. When using the ReflectionOnly APIs, dependent assemblies must be pre-loaded or loaded on demand through the ReflectionOnlyAssemblyResolve event."
    )]
    NotPreloaded {
        /// Display name of the assembly.
        name: String,
    },
    /// FileNotFoundException: another file of a multi-module assembly. Mono gives no message.
    #[error("")]
    NoModule {
        /// Its name in the assembly.
        name: String,
    },
    /// FileLoadException.
    #[error("{message}")]
    FileLoad {
        /// Display name of the assembly or path of the file.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// InvalidProgramException.
    #[error("Invalid IL code in {method}: IL_{offset:04x}: {reason}")]
    InvalidProgram {
        /// Full name of the method.
        method: String,
        /// IL offset.
        offset: u32,
        /// What is wrong.
        reason: String,
    },
    /// FieldAccessException or MethodAccessException.
    #[error("{message}")]
    Access {
        /// A field is meant.
        field: bool,
        /// What may not be used from where.
        message: String,
    },
    /// VerificationException.
    #[error("{message}")]
    Verification {
        /// What breaks a rule that code relies on.
        message: String,
    },
    /// AmbiguousImplementationException.
    #[error(
        "Could not call method '{method}' with type '{class}' because there are multiple incompatible interface methods overriding this method."
    )]
    Ambiguous {
        /// Full name of the interface's method.
        method: String,
        /// Full name of the class it was called on.
        class: String,
    },
    /// MemberAccessException: `newobj` of a class that has no instances.
    #[error("Cannot create an abstract class: {0}")]
    Abstract(String),
    /// NotSupportedException: a member of a type that has not been created.
    #[error("The invoked member is not supported in a dynamic module.")]
    NotCreated,
    /// OutOfMemoryException: an area of the runtime's is used up.
    #[error("there is no room for more {0}")]
    OutOfMemory(&'static str),
    /// The error of a class whose rows name what cannot be loaded, for who asks first: when the program gets it, this is remembered
    /// ([`Class::remember_failure`]).
    #[error("{1}")]
    First(ClassRef, Box<LoadError>),
    /// Not an error yet: managed code must be asked first.
    #[error("an assembly or type must be resolved by managed code: {0:?}")]
    Need(Box<Need>),
}

/// Why a field is missing that its class does not have.
const NO_FIELD: &str = "Could not find field in class";

fn type_load_text(class: &str, assembly: &str, message: &str) -> String {
    match message {
        "" => format!("Could not load type '{class}' from assembly '{assembly}'."),
        _ => format!("Could not load type '{class}' from assembly '{assembly}': {message}"),
    }
}

impl LoadError {
    /// The same where it is the type that an instruction has for its operand. What only managed code can supply stays as it is.
    pub fn of_operand(self) -> LoadError {
        match self {
            LoadError::Need(_) | LoadError::OutOfMemory(_) | LoadError::NotCreated => self,
            LoadError::First(class, _) => LoadError::First(class, Box::new(LoadError::Operand)),
            _ => LoadError::Operand,
        }
    }
    /// Its text as the reason of another error.
    pub(crate) fn as_cause(&self) -> String {
        match self {
            LoadError::NoSuchType {
                class, assembly, ..
            } => format!("{self} assembly:{assembly} type:{class} member:(null)"),
            _ => self.to_string(),
        }
    }
    /// A TypeLoadException about a class.
    pub fn type_load(class: ClassRef, message: impl Into<String>) -> LoadError {
        let assembly = class.module.assembly_name();
        LoadError::TypeLoad {
            class: class.full_name(),
            assembly,
            message: message.into(),
        }
    }
    /// A TypeLoadException about a type that was not found.
    pub fn no_type(module: ModuleRef, namespace: &str, name: &str) -> LoadError {
        let class = if namespace.is_empty() {
            name.to_string()
        } else {
            format!("{namespace}.{name}")
        };
        LoadError::TypeLoad {
            class,
            assembly: module.assembly_name(),
            message: String::new(),
        }
    }
    /// A MissingMethodException.
    pub fn missing_method(class: ClassRef, member: &str) -> LoadError {
        LoadError::MissingMethod {
            class: class.full_name(),
            member: member.to_string(),
            sig: String::new(),
        }
    }
    /// A MissingMethodException that says which overload.
    pub fn missing_overload(class: ClassRef, member: &str, sig: &MethodSig) -> LoadError {
        LoadError::MissingMethod {
            class: format!(
                "{} {}.{}",
                crate::names::short_name(sig.ret),
                class.namespace,
                class.name
            ),
            member: match sig.generic_arity {
                0 => member.to_string(),
                n => {
                    let params: Vec<String> = (0..n).map(|i| format!("!{i}")).collect();
                    format!("{member}<{}>", params.join(","))
                }
            },
            sig: sig.params_text(),
        }
    }
    /// A MissingFieldException.
    pub fn missing_field(class: ClassRef, member: &str) -> LoadError {
        LoadError::MissingField {
            class: class.full_name(),
            member: member.to_string(),
            why: NO_FIELD.to_string(),
        }
    }
    /// A MissingFieldException that says which type the field was to have.
    pub fn missing_typed_field(class: ClassRef, member: &str, ty: ClassRef) -> LoadError {
        LoadError::MissingField {
            class: format!(
                "{} {}.{}",
                crate::names::short_name(ty),
                class.namespace,
                class.name
            ),
            member: member.to_string(),
            why: NO_FIELD.to_string(),
        }
    }
    /// The error of the type in a reference's signature as one of the field. What only managed code can supply stays as it is.
    pub(crate) fn in_field_sig(self, class: ClassRef, member: &str, token: Token) -> LoadError {
        match self {
            LoadError::NoSuchType { .. } | LoadError::FileNotFound { .. } => {
                let cause = self.as_cause();
                LoadError::MissingField {
                    class: format!("{}.{}", class.namespace, class.name),
                    member: member.to_string(),
                    why: format!(
                        "Could not parse field signature {:08x} due to: {cause}",
                        token.0
                    ),
                }
            }
            other => other,
        }
    }
    /// A BadImageFormatException about a module.
    pub fn bad_image(module: ModuleRef, message: impl Into<String>) -> LoadError {
        LoadError::BadImage {
            file: module.path.clone().unwrap_or_default(),
            message: message.into(),
        }
    }
    /// The error of a field's type as one of its class, as mono reports it. What only managed code can supply, and errors that name another
    /// culprit, stay as they are; so do the errors of parents and interfaces, for which this is not called.
    pub(crate) fn in_field(self, field: FieldRef) -> LoadError {
        if !self.is_absence() {
            return self;
        }
        let cause = self.as_cause();
        let (name, index) = (field.definition().full_name(), field.index);
        LoadError::Unusable {
            class: field.class.full_name(),
            assembly: field.class.module.assembly_name(),
            text: format!("Could not load type of field '{name}' ({index}) due to: {cause}"),
        }
    }
    /// Is it a type, or the assembly that it should be in, that is not there? Where mono has a text of its own for what needs the type, these are the errors
    /// that it replaces.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(
            self,
            LoadError::NoSuchType { .. }
                | LoadError::FileNotFound { .. }
                | LoadError::NotPreloaded { .. }
        )
    }
    /// The error of a generic method's signature as one of the instantiation that an instruction names.
    pub(crate) fn in_instance_of(self, method: MethodRef) -> LoadError {
        if !self.is_absence() {
            return self;
        }
        let class = crate::names::short_name(method.class);
        LoadError::BadImage {
            file: method.module().assembly_name(),
            message: format!(
                "Could not resolve signature of method {class}:{}",
                method.name
            ),
        }
    }
    /// The error of a signature that an overriding method is compared with as one of the class's virtual methods.
    pub(crate) fn in_vtable(self, class: ClassRef) -> LoadError {
        match self.is_absence() {
            true => {
                let name = class.def().full_name();
                class.unusable(format!("VTable setup of type {name} failed"))
            }
            false => self,
        }
    }
    /// The error of a signature that an interface's method is compared with as one of the class that should implement it.
    pub(crate) fn in_implementation(self, class: ClassRef) -> LoadError {
        match self.is_absence() {
            true => {
                class.unusable("Could not resolve the signature of a virtual method".to_owned())
            }
            false => self,
        }
    }
    /// The error of a parent's virtual methods as one of the class.
    pub(crate) fn in_parent_vtable(self, class: ClassRef, parent: ClassRef) -> LoadError {
        match self {
            LoadError::Unusable { text, .. } => {
                let text = parent.def().failed_with(&text);
                class.unusable(format!(
                    "Parent class vtable failed to initialize, due to: {text}"
                ))
            }
            other => other,
        }
    }
    /// The error of a parent as one of the class. What only managed code can supply stays as it is.
    pub(crate) fn in_parent(self, class: ClassRef, parent: ClassRef) -> LoadError {
        match self {
            LoadError::Unusable { text, .. } => {
                let text = parent.def().failed_with(&text);
                class.unusable(format!("Could not set up parent class, due to: {text}"))
            }
            other => other,
        }
    }
    /// The error of an interface as one of the class that has it. What only managed code can supply stays as it is.
    pub(crate) fn in_interface(self, class: ClassRef, interface: ClassRef) -> LoadError {
        match self {
            LoadError::Unusable { .. } => {
                let why = interface.def().failed_with("Error Loading class");
                let name = class.def().full_name();
                class.unusable(format!(
                    "Error getting the interfaces of {name} due to {why}"
                ))
            }
            other => other,
        }
    }
    /// The error of an element's type as one of the array. What only managed code can supply stays as it is.
    pub(crate) fn in_element(self, array: ClassRef, element: ClassRef) -> LoadError {
        match self {
            LoadError::Unusable { text, .. } => {
                let text = element.def().failed_with(&text);
                array.unusable(format!("Could not load array element type, due to: {text}"))
            }
            other => other,
        }
    }
    /// The same, and what is wrong with that module's image is wrong in this row: a blob does not know whose it is.
    pub(crate) fn in_row(self, module: ModuleRef, row: Token) -> LoadError {
        match self {
            LoadError::BadImage { file, message }
                if file == module.path.as_deref().unwrap_or_default() =>
            {
                let message = format!("{row}: {message}");
                LoadError::BadImage { file, message }
            }
            other => other,
        }
    }
    /// A MethodAccessException: `from` names a method that it may not use.
    pub fn method_access(from: MethodRef, target: MethodRef) -> LoadError {
        let text = |m: MethodRef| {
            let params = m.sig().map_or_else(|_| String::new(), |s| s.params_text());
            format!("{}.{}{params}", m.class.full_name(), m.name)
        };
        let message = format!(
            "Method `{}' is inaccessible from method `{}'",
            text(target),
            text(from)
        );
        LoadError::Access {
            field: false,
            message,
        }
    }
    /// A FieldAccessException: `from` names a field that it may not use.
    pub fn field_access(from: MethodRef, field: FieldRef) -> LoadError {
        let message = format!(
            "Field `{}' is inaccessible from method `{}'\n",
            field.full_name(),
            from.signed_name()
        );
        LoadError::Access {
            field: true,
            message,
        }
    }
    /// The exception class it maps to; `Need` maps to none.
    pub fn exception(&self) -> Option<Known> {
        Some(match self {
            LoadError::TypeLoad { .. }
            | LoadError::Operand
            | LoadError::NoSuchType { .. }
            | LoadError::Unusable { .. } => Known::TypeLoadException,
            LoadError::MissingMethod { .. } => Known::MissingMethodException,
            LoadError::MissingField { .. } => Known::MissingFieldException,
            LoadError::BadImage { .. } => Known::BadImageFormatException,
            LoadError::FileNotFound { .. }
            | LoadError::NotPreloaded { .. }
            | LoadError::NoModule { .. } => Known::FileNotFoundException,
            LoadError::FileLoad { .. } => Known::FileLoadException,
            LoadError::InvalidProgram { .. } => Known::InvalidProgramException,
            LoadError::Access { field: true, .. } => Known::FieldAccessException,
            LoadError::Access { .. } => Known::MethodAccessException,
            LoadError::Verification { .. } => Known::VerificationException,
            LoadError::Ambiguous { .. } => Known::AmbiguousImplementationException,
            LoadError::Abstract(_) => Known::MemberAccessException,
            LoadError::NotCreated => Known::NotSupportedException,
            LoadError::OutOfMemory(_) => Known::OutOfMemoryException,
            LoadError::First(_, error) => return error.exception(),
            LoadError::Need(_) => return None,
        })
    }
}

impl From<vervet_metadata::Error> for LoadError {
    /// Metadata that cannot be read, where it is not known of which file.
    fn from(e: vervet_metadata::Error) -> LoadError {
        LoadError::BadImage {
            file: String::new(),
            message: e.to_string(),
        }
    }
}
