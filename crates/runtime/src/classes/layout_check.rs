//! The check of the declared layouts against the class library, at start-up.
//!
//! # Invariants
//! * After it, every field in `vervet_abi::layouts` has the offset and size the type system gives it, and the collector
//!   takes it for a reference exactly if it is declared as one.
//! * It may be left out for a core library in [`COMPARED`] only: the test `crates/runtime/tests/layouts.rs` makes the check for the
//!   installed library, in every build that is tested, and says whether that library is in the list.
use vervet_abi::HEADER_SIZE;
use vervet_abi::layouts::{DeclaredLayout, EMIT_LAYOUTS, LAYOUTS};
use vervet_types::{ModuleRef, Universe};

/// Core libraries that were compared: MVID, and bytes of the file, because tools that rewrite an assembly keep its MVID.
pub const COMPARED: &[([u8; 16], usize)] = &[
    // Debian 12's libmono-corlib4.5-dll 6.8.0.105+dfsg-3.3+deb12u1.
    (
        *b"\xA7\x18\xB4\x12\x8C\x81\xA0\x4C\x89\x3F\xEE\xAA\xF6\x7F\x1E\x7F",
        4811264,
    ),
];

/// Is it one of [`COMPARED`]? Its layouts and known types need not be checked then.
pub fn was_compared(corlib: ModuleRef) -> bool {
    let image = &corlib.image;
    let identity = image.mvid().map(|mvid| (mvid, image.data().len()));
    identity.is_ok_and(|identity| COMPARED.contains(&identity))
}

/// Compares everything; the error names the first field that differs.
pub fn check(universe: &'static Universe) -> Result<(), String> {
    compare(universe, LAYOUTS)
}

/// Compares what Reflection.Emit has, as [`check`] does the rest.
pub fn check_emit(universe: &'static Universe) -> Result<(), String> {
    compare(universe, EMIT_LAYOUTS)
}

fn compare(universe: &'static Universe, layouts: &[DeclaredLayout]) -> Result<(), String> {
    for layout in layouts {
        let header = if layout.value { 0 } else { HEADER_SIZE };
        let (namespace, name) = layout.class.rsplit_once('.').unwrap_or(("", layout.class));
        let class = universe
            .corlib()
            .find_type(namespace, name)
            .map_err(|e| e.to_string())?
            .ok_or_else(|| format!("the class library has no {}", layout.class))?;
        let references = &class.instance_layout().map_err(|e| e.to_string())?.ref_map;
        for f in layout.fields {
            let field = class
                .find_field(f.name)
                .map_err(|e| e.to_string())?
                .ok_or_else(|| format!("{} has no field {}", layout.class, f.name))?;
            let offset = field.offset().map_err(|e| e.to_string())? + header;
            if offset as usize != f.offset {
                return Err(format!(
                    "{}.{} lies at {offset}, expected at {}",
                    layout.class, f.name, f.offset
                ));
            }
            let size = field.memory_size().map_err(|e| e.to_string())?;
            if size as usize != f.size {
                return Err(format!(
                    "{}.{} has {size} bytes, expected {}",
                    layout.class, f.name, f.size
                ));
            }
            let reference = references.contains(&((offset - header) / 8));
            if reference != f.reference {
                let what = |r| if r { "a reference" } else { "no reference" };
                return Err(format!(
                    "{}.{} is {}, expected {}",
                    layout.class,
                    f.name,
                    what(reference),
                    what(f.reference)
                ));
            }
        }
    }
    Ok(())
}
