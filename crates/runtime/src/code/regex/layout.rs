//! Where the fields of the class library's regular expressions are.
//!
//! # Invariants
//! * A layout is that of one class, and is used for objects of just that class. A class library that has other fields has none, and does everything itself.
use crate::object::ObjRef;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use vervet_abi::HEADER_SIZE;
use vervet_os::LeafLock;
use vervet_types::{ClassRef, FieldRef};

/// Offsets in objects. See the module.
pub(super) struct Layout {
    /// The class that has been looked at.
    pub(super) interpreter: ClassRef,
    /// Of the runner: the whole text, a string.
    pub(super) text: usize,
    /// The part of it that is looked at, from
    pub(super) begin: usize,
    /// to.
    pub(super) end: usize,
    /// Where the search has begun, for `\G`.
    pub(super) search_begin: usize,
    /// Where the runner is.
    pub(super) at: usize,
    /// The `Match` that is filled in.
    pub(super) found: usize,
    /// Has the search no limit of time?
    pub(super) has_no_limit: usize,
    /// The `RegexCode`.
    pub(super) code: usize,
    /// Whose small letters are compared.
    pub(super) culture: usize,
    /// Of the code: the program.
    pub(super) codes: usize,
    /// The strings and sets that it names.
    pub(super) strings: usize,
    /// What each match begins with, as bits.
    pub(super) anchors: usize,
    /// Does it search from right to left?
    pub(super) goes_left: usize,
    /// The hole for the number of the program: 16 bits.
    pub(super) number: usize,
    /// Of the match: for each group the vector of its captures' starts and lengths.
    pub(super) captures: usize,
    /// How many captures each group has.
    pub(super) counts: usize,
    /// Of the culture, if it is of the class that is declared and of none that derives from it,
    pub(super) culture_class: ClassRef,
    /// its name.
    pub(super) culture_name: usize,
}

/// The layout of the class that was asked about last. Another one replaces it: each assembly of the class library has one such class.
static LAYOUT: AtomicPtr<Layout> = AtomicPtr::new(null_mut());

/// An instance field of a class, or of one that it derives from.
fn field(class: ClassRef, name: &str) -> Option<FieldRef> {
    let mut at = Some(class);
    while let Some(c) = at {
        if let Some(field) = c.find_field(name).ok()? {
            return Some(field);
        }
        at = c.parent().ok()?;
    }
    None
}

/// Its offset in objects.
fn offset(class: ClassRef, name: &str) -> Option<usize> {
    Some((field(class, name)?.offset().ok()? + HEADER_SIZE) as usize)
}

/// The class of its value.
fn class_of(class: ClassRef, name: &str) -> Option<ClassRef> {
    field(class, name)?.ty().ok()
}

/// The offset of 16 bits of a `RegexCode` that are behind its last field, a bool, and belong to none.
fn hole(code: ClassRef) -> Option<usize> {
    const FIELDS: [&str; 8] = [
        "Codes",
        "Strings",
        "TrackCount",
        "Caps",
        "CapSize",
        "FCPrefix",
        "BMPrefix",
        "Anchors",
    ];
    let last = offset(code, "RightToLeft")?;
    for field in FIELDS {
        if offset(code, field)? >= last {
            return None;
        }
    }
    let is_all = code
        .fields()
        .ok()?
        .iter()
        .filter(|f| !f.is_static())
        .count()
        == FIELDS.len() + 1;
    let size = (HEADER_SIZE + code.layout().ok()?.size) as usize;
    (is_all && last % 4 == 0 && last + 4 <= size).then_some(last + 2)
}

impl Layout {
    /// None: the class has not the fields of the interpreter.
    fn new(interpreter: ClassRef) -> Option<Layout> {
        let of = |name| offset(interpreter, name);
        let code = class_of(interpreter, "_code")?;
        let found = class_of(interpreter, "runmatch")?;
        let culture = class_of(interpreter, "_culture")?;
        Some(Layout {
            interpreter,
            text: of("runtext")?,
            begin: of("runtextbeg")?,
            end: of("runtextend")?,
            search_begin: of("runtextstart")?,
            at: of("runtextpos")?,
            found: of("runmatch")?,
            has_no_limit: of("_ignoreTimeout")?,
            code: of("_code")?,
            culture: of("_culture")?,
            codes: offset(code, "Codes")?,
            strings: offset(code, "Strings")?,
            anchors: offset(code, "Anchors")?,
            goes_left: offset(code, "RightToLeft")?,
            number: hole(code)?,
            culture_class: culture,
            captures: offset(found, "_matches")?,
            counts: offset(found, "_matchcount")?,
            culture_name: offset(culture, "m_name")?,
        })
    }
    /// The layout of a runner; None: it has none that is known here.
    pub(super) fn of(runner: ObjRef<'_>) -> Option<&'static Layout> {
        let class = runner.class();
        // SAFETY: what was stored there is never freed.
        if let Some(layout) = unsafe { LAYOUT.load(Ordering::Acquire).as_ref() }
            && std::ptr::eq(layout.interpreter, class)
        {
            return Some(layout);
        }
        static MADE: LeafLock<Vec<&'static Layout>> = LeafLock::new(Vec::new());
        let mut made = MADE.lock();
        let layout = match made.iter().find(|l| std::ptr::eq(l.interpreter, class)) {
            Some(layout) => *layout,
            None => {
                let layout: &'static Layout = Box::leak(Box::new(Layout::new(class)?));
                made.push(layout);
                layout
            }
        };
        LAYOUT.store(std::ptr::from_ref(layout).cast_mut(), Ordering::Release);
        Some(layout)
    }
}
