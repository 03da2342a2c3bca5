//! Object graphs that go from one domain to another as copies, where that cannot be told from serializing them.
//!
//! # How it works
//! ```text
//!   vectors of references, ArrayList, List<T>      an empty object is made; it is filled when its turn comes
//!   Hashtable, if all its keys are strings or      likewise; the class library's `Insert` fills it, in the order in which a serialized table
//!   boxed numbers and it has no comparer           would be filled
//!   strings, vectors of plain values               copied when they are met
//!   boxes                                          copied each time they are met: the serializer writes the number, not the box
//! ```
//! The classes are exactly these, of the core library, with type arguments of the core library: a class derived from one may say how it is serialized. If the graph has
//! anything else in it, nothing is copied, and the class library serializes the whole.
//!
//! | what | what the serializer does with it | what the copy has |
//! |---|---|---|
//! | a string | writes it once, and refers to it | one string, however often it is met |
//! | a boxed number, DateTime or TimeSpan | writes what is in it, each time | a box for each time |
//! | any other box: an enumeration, IntPtr, Guid | writes it as an object | nothing: the graph is serialized |
//! | `ArrayList._items`, `List._items` | writes the whole vector, with unused elements | a vector as long |
//! | a Hashtable | writes its keys and values, and the number of buckets | as many buckets, filled in that order |
//! | a class with callbacks, surrogates or `ISerializable` of its own | asks it | nothing: the graph is serialized |
//!
//! For instance a list of itself, `"a"`, `"a"` and `1`: three objects are met (the list, its vector and the string), the `1` is boxed anew, and the copy's first element is the
//! copy.
//!
//! The classes' fields are copied as the serializer does: all but `_syncRoot`, which is not serialized, so it is null.
//!
//! # Invariants
//! * An object that is met twice is copied once ([`Walk::met`] knows it by its address), so shared references and cycles stay what they are.
//! * Objects that have been met, and their copies, lie in [`Walk::pairs`], which the collector scans as a stack: so it moves none of them.
//! * There are at most [`MOST`] of them. A graph that has more is serialized.
//! * Other threads may change the graph meanwhile: each reference is read once, and the copy is an object of the right class whatever was read.
use super::copy::{self, Leaf};
use crate::cx::{Cx, Result, Value};
use crate::memory::localloc_stack::Scope;
use crate::object::{ObjRef, load_word};
use rustc_hash::FxHashMap;
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::vtable::flags;
use vervet_os::Published;
use vervet_types::{ClassRef, Known, LoadError};

/// So many objects are copied, boxes not counted.
const MOST: usize = 8192;

/// How an object with references is copied.
#[derive(Clone, Copy)]
enum Kind {
    Leaf,
    Vector,
    List(&'static ListFields),
    Table,
}

/// An object of the graph and its copy, as addresses.
#[derive(Clone, Copy)]
struct Pair {
    from: usize,
    to: usize,
    kind: Kind,
}

/// Where a field of the class lies in its objects, which is looked up once.
///
/// # Errors
/// The class has no such field.
pub(crate) fn offset<'cx>(
    cx: &'cx Cx<'cx>,
    kept: &'static Published<usize>,
    class: ClassRef,
    name: &str,
) -> Result<usize> {
    let find = || {
        let field = class.find_field(name)?;
        let field = field.ok_or_else(|| LoadError::type_load(class, name))?;
        Ok(field.offset()? as usize + HEADER_SIZE as usize)
    };
    cx.load(kept.get_or_try(find)).copied()
}

/// Where ArrayList or List has its fields. All instantiations of List have the same layout: the element type is only that of a vector.
struct ListFields {
    items: Published<usize>,
    size: Published<usize>,
    version: Published<usize>,
}
impl ListFields {
    const fn new() -> ListFields {
        ListFields {
            items: Published::new(),
            size: Published::new(),
            version: Published::new(),
        }
    }
}
static ARRAY_LIST: ListFields = ListFields::new();
static LIST: ListFields = ListFields::new();

/// The way through a graph.
struct Walk<'s, 'cx> {
    cx: &'cx Cx<'cx>,
    scope: &'s Scope<'cx>,
    /// Are copies made, or is it only asked whether they can be?
    makes: bool,
    /// What has been met, by address: the place in `pairs`.
    met: FxHashMap<usize, usize>,
    pairs: &'s mut [Pair],
    count: usize,
}

/// Can the object be copied?
pub(super) fn is_copyable<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<bool> {
    walk(cx, object, false).map(|copied| copied.is_some())
}
/// A copy of the object and all that it refers to, in the current domain. None: it has to be serialized.
pub(super) fn copy<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<Option<ObjRef<'cx>>> {
    walk(cx, object, true)
}

fn walk<'cx>(cx: &'cx Cx<'cx>, root: ObjRef<'cx>, makes: bool) -> Result<Option<ObjRef<'cx>>> {
    if kind_of(cx, root)?.is_none() {
        return Ok(None);
    }
    let scope = Scope::new(cx);
    let mut walk = Walk {
        cx,
        scope: &scope,
        makes,
        met: FxHashMap::default(),
        pairs: &mut [],
        count: 0,
    };
    let Some(copied) = walk.give(root)? else {
        return Ok(None);
    };
    let mut next = 0;
    while next < walk.count {
        if !walk.fill(walk.pairs[next])? {
            return Ok(None);
        }
        next += 1;
    }
    Ok(Some(copied))
}

/// How the object is copied. None: it has to be serialized.
fn kind_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<Option<Kind>> {
    if let Some(leaf) = copy::leaf(cx, object)? {
        // The serializer writes other boxes as objects.
        let is_number = leaf != Leaf::Boxed || is_written_as_number(cx, object.class())?;
        return Ok(is_number.then_some(Kind::Leaf));
    }
    let (vt, class) = (object.vtable(), object.class());
    if vt.flags & flags::SZ_ARRAY != 0 {
        let is_vector = vt.flags & flags::ELEMENT_REFS != 0 && is_core_references(cx, class)?;
        return Ok(is_vector.then_some(Kind::Vector));
    }
    if std::ptr::eq(class, cx.known(Known::ArrayList)) {
        return Ok(Some(Kind::List(&ARRAY_LIST)));
    }
    if std::ptr::eq(class, cx.known(Known::Hashtable)) {
        return Ok(Some(Kind::Table));
    }
    let is_list = class.is_inst()
        && std::ptr::eq(class.def(), cx.known(Known::List))
        && copy::is_core(cx, class);
    Ok(is_list.then_some(Kind::List(&LIST)))
}
/// Is it a class of vectors of references, whose element type is the core library's?
fn is_core_references<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<bool> {
    match class.element() {
        Some(element) => Ok(!cx.load(element.is_value_type())? && copy::is_core(cx, element)),
        None => Ok(false),
    }
}
/// Does the serializer write boxes of the class as what is in them?
fn is_written_as_number<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<bool> {
    let is = |known| std::ptr::eq(class, cx.known(known));
    Ok(!cx.load(class.is_enum())? && !is(Known::IntPtr) && !is(Known::UIntPtr))
}

impl<'cx> Walk<'_, 'cx> {
    /// The copy of an object that has been met; null if copies are not made. None: it has to be serialized.
    fn give(&mut self, object: ObjRef<'cx>) -> Result<Option<ObjRef<'cx>>> {
        let cx = self.cx;
        let Some(object) = object.non_null() else {
            return Ok(Some(object));
        };
        let is_box = object.vtable().flags & flags::VALUE_TYPE != 0;
        if !is_box && let Some(at) = self.met.get(&object.addr()) {
            // SAFETY: the address of an object, which the scope's memory holds, or 0.
            return Ok(Some(unsafe { ObjRef::from_addr(self.pairs[*at].to) }));
        }
        let Some(kind) = kind_of(cx, object)? else {
            return Ok(None);
        };
        if self.count == MOST {
            return Ok(None);
        }
        let made = match (self.makes, kind, copy::leaf(cx, object)?) {
            (false, ..) => ObjRef::NULL,
            (true, _, Some(leaf)) => copy::copy_leaf(cx, object, leaf)?,
            (true, Kind::Vector, None) => {
                let element = object.class().element().expect("a vector has elements");
                cx.alloc_array(element, object.array_len())?
            }
            (true, ..) => cx.alloc(object.class())?,
        };
        if !is_box {
            self.note(object, made, kind)?;
        }
        Ok(Some(made))
    }
    /// Notes an object that has been met for the first time.
    fn note(&mut self, from: ObjRef<'cx>, to: ObjRef<'cx>, kind: Kind) -> Result<()> {
        if self.count == self.pairs.len() {
            let none = Pair {
                from: 0,
                to: 0,
                kind: Kind::Leaf,
            };
            let more = self.scope.slice((2 * self.count).max(16), none)?;
            more[..self.count].copy_from_slice(self.pairs);
            self.pairs = more;
        }
        self.pairs[self.count] = Pair {
            from: from.addr(),
            to: to.addr(),
            kind,
        };
        self.met.insert(from.addr(), self.count);
        self.count += 1;
        Ok(())
    }
    /// Gives the copy what the object has. False: the graph has to be serialized.
    fn fill(&mut self, pair: Pair) -> Result<bool> {
        // SAFETY: addresses of objects, which the scope's memory holds, or 0.
        let (from, to): (ObjRef<'cx>, ObjRef<'cx>) =
            unsafe { (ObjRef::from_addr(pair.from), ObjRef::from_addr(pair.to)) };
        match pair.kind {
            Kind::Leaf => Ok(true),
            Kind::Vector => {
                for i in 0..from.array_len() {
                    let Some(own) = self.give(from.element_ref(i))? else {
                        return Ok(false);
                    };
                    if !own.is_null() {
                        to.set_element_ref(i, own);
                    }
                }
                Ok(true)
            }
            Kind::List(fields) => self.fill_list(from, to, fields),
            Kind::Table => self.fill_table(from, to),
        }
    }
    fn fill_list(
        &mut self,
        from: ObjRef<'cx>,
        to: ObjRef<'cx>,
        fields: &'static ListFields,
    ) -> Result<bool> {
        let (cx, class) = (self.cx, from.class());
        let items = offset(cx, &fields.items, class, "_items")?;
        let size = offset(cx, &fields.size, class, "_size")?;
        let version = offset(cx, &fields.version, class, "_version")?;
        // The size first: another thread makes the vector larger before it counts.
        let (count, changes): (i32, i32) = (from.read(size), from.read(version));
        let vector = from.read_ref(items);
        if vector.is_null() || vector.array_len() < count as usize {
            return Ok(false);
        }
        let Some(own) = self.give(vector)? else {
            return Ok(false);
        };
        if self.makes {
            to.write(size, count);
            to.write(version, changes);
            to.write_ref(items, own);
        }
        Ok(true)
    }
    /// As `Hashtable.GetObjectData` and `OnDeserialization` do it: the new table has as many buckets, and takes the entries in the order in which the old one enumerates
    /// them. So both enumerate in one order, unless entries collided or were removed; then in the order that a serialized table would have.
    ///
    /// `Insert` sees keys of this domain, whose hash codes and comparisons are the core library's. Values are filled when their turn comes.
    fn fill_table(&mut self, from: ObjRef<'cx>, to: ObjRef<'cx>) -> Result<bool> {
        static BUCKETS: Published<usize> = Published::new();
        static LOAD_FACTOR: Published<usize> = Published::new();
        static LOAD_SIZE: Published<usize> = Published::new();
        static VERSION: Published<usize> = Published::new();
        static COMPARER: Published<usize> = Published::new();
        static KEY: Published<usize> = Published::new();
        static VALUE: Published<usize> = Published::new();
        let (cx, class) = (self.cx, from.class());
        let comparer = offset(cx, &COMPARER, class, "_keycomparer")?;
        let buckets = offset(cx, &BUCKETS, class, "_buckets")?;
        let version = offset(cx, &VERSION, class, "_version")?;
        let table = from.read_ref(buckets);
        if table.is_null() || !from.read_ref(comparer).is_null() {
            return Ok(false);
        }
        let bucket = cx.non_null(table)?.class().element();
        let bucket = bucket.expect("a vector has elements");
        let key = offset(cx, &KEY, bucket, "key")? - HEADER_SIZE as usize;
        let value = offset(cx, &VALUE, bucket, "val")? - HEADER_SIZE as usize;
        if self.makes {
            let load_factor = offset(cx, &LOAD_FACTOR, class, "_loadFactor")?;
            let load_size = offset(cx, &LOAD_SIZE, class, "_loadsize")?;
            let factor = f32::from_bits(from.read(load_factor));
            to.write(load_factor, factor.to_bits());
            to.write(load_size, (factor * table.array_len() as f32) as i32);
            to.write_ref(buckets, cx.alloc_array(bucket, table.array_len())?);
        }
        let changes: i32 = from.read(version);
        let size = table.vtable().size as usize;
        for i in (0..table.array_len()).rev() {
            // SAFETY: element `i` of the vector, with references at these places.
            let (key, value): (ObjRef<'cx>, ObjRef<'cx>) = unsafe {
                let at = table.array_data().add(i * size);
                (
                    ObjRef::from_addr(load_word(at.add(key) as *const usize)),
                    ObjRef::from_addr(load_word(at.add(value) as *const usize)),
                )
            };
            // A removed entry has the vector itself as its key.
            if key.is_null() || key == table {
                continue;
            }
            // Other keys have hash codes of their own in each domain, and methods that may be the program's.
            let is_simple = matches!(copy::leaf(cx, key)?, Some(Leaf::Text | Leaf::Boxed));
            let (true, Some(key), Some(value)) = (is_simple, self.give(key)?, self.give(value)?)
            else {
                return Ok(false);
            };
            if self.makes {
                let insert = cx.known_method(Known::Hashtable, "Insert", 3)?;
                let entry = [Value::Ref(key), Value::Ref(value), Value::Int(1)];
                cx.invoke(insert, Some(Value::Ref(to)), &entry)?;
            }
        }
        if self.makes {
            to.write(version, changes);
        }
        Ok(true)
    }
}
