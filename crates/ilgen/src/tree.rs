//! A program as a tree: what the generator makes, the emitter prints as IL and the reducer cuts down.
//!
//! Expressions and statements are one kind of node. A node's `ty` is what it leaves on the IL stack (`Ty::Void`:
//! nothing). Invariants:
//!
//! * The type of a node on the stack is a stack type ([`Ty::stack`]): narrow integers exist only in places.
//! * Any node that is not `Void` may be replaced by `Op::Const` of its type, and any node in a `Block` may be left out:
//!   what comes out is a valid program again. The reducer relies on it, so the emitter gives every operation a meaning
//!   wherever it stands (a `Break` outside of a loop does nothing).

/// A type of a variable, field, element, parameter or stack slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Nothing: a statement, or a method without result.
    Void,
    /// `int8`
    I1,
    /// `uint8`
    U1,
    /// `int16`
    I2,
    /// `uint16`
    U2,
    /// `bool`
    Bool,
    /// `char`
    Char,
    /// `int32`
    I4,
    /// `uint32`
    U4,
    /// `int64`
    I8,
    /// `uint64`
    U8,
    /// `native int`
    I,
    /// `float32`
    R4,
    /// `float64`
    R8,
    /// `string`
    Str,
    /// `object`
    Obj,
    /// Class of the program.
    Class(usize),
    /// The program's interface.
    Iface,
    /// Struct of the program.
    Struct(usize),
    /// Vector.
    Array(Box<Ty>),
    /// Two-dimensional array.
    Array2(Box<Ty>),
    /// Delegate from `int32` and `int64` to `int64`.
    Delegate,
    /// The generic class of the prelude over a type.
    Cell(Box<Ty>),
    /// Managed pointer.
    Ref(Box<Ty>),
}

impl Ty {
    /// What a value of this type is on the IL stack.
    pub fn stack(&self) -> Ty {
        match self {
            Ty::I1 | Ty::U1 | Ty::I2 | Ty::U2 | Ty::Bool | Ty::Char | Ty::I4 | Ty::U4 => Ty::I4,
            Ty::I8 | Ty::U8 => Ty::I8,
            other => other.clone(),
        }
    }
    /// Whether null is a value of it.
    pub fn is_reference(&self) -> bool {
        matches!(
            self,
            Ty::Str
                | Ty::Obj
                | Ty::Class(_)
                | Ty::Iface
                | Ty::Array(_)
                | Ty::Array2(_)
                | Ty::Delegate
                | Ty::Cell(_)
        )
    }
    /// Whether it is a number, a bool or a character.
    pub fn is_primitive(&self) -> bool {
        !self.is_reference() && !matches!(self, Ty::Struct(_) | Ty::Ref(_) | Ty::Void)
    }
}

/// Who declares a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Struct by number.
    Struct(usize),
    /// Class by number.
    Class(usize),
}

/// What a catch clause names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clause {
    /// The index of a class in [`CAUGHT`].
    Catch(usize),
    /// A filter, whose expression stands before the handler.
    Filter,
}

/// The exceptions that catch clauses name; the first [`THROWN`] are thrown by generated code.
pub const CAUGHT: [&str; 11] = [
    "class E0",
    "class E1",
    "class E2",
    "[mscorlib]System.DivideByZeroException",
    "[mscorlib]System.NullReferenceException",
    "[mscorlib]System.IndexOutOfRangeException",
    "[mscorlib]System.OverflowException",
    "[mscorlib]System.InvalidCastException",
    "[mscorlib]System.ArithmeticException",
    "[mscorlib]System.Exception",
    "[mscorlib]System.Object",
];
/// How many of [`CAUGHT`] generated code throws itself.
pub const THROWN: usize = 3;

/// How a method is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallMode {
    /// `call`; an instance method may get null as `this`.
    Call,
    /// `callvirt`
    Virtual,
    /// `calli` through `ldftn`.
    Indirect,
}

/// How memory is read or written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// `volatile.`
    pub volatile: bool,
    /// `unaligned. 1`
    pub unaligned: bool,
}

/// What a node does. Children are named in brackets, in the order in which they are evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    // ---- values
    /// A constant: bits of a number, number of a string (0: null), null, a struct of zeros, the address of a zero.
    Const(u64),
    /// Local variable.
    Loc(usize),
    /// Parameter.
    Arg(usize),
    /// Static field of a holder.
    Static(usize, usize),
    /// Field. [object, struct or address]
    Field(Owner, usize, Prefix),
    /// Binary operation by its instruction. [left, right]
    Bin(&'static str),
    /// The same on one value and its copy (`dup`). [value]
    DupBin(&'static str),
    /// Unary operation by its instruction. [value]
    Un(&'static str),
    /// Shift by its instruction; the count is masked. [value, count]
    Shift(&'static str),
    /// Conversion by its instruction; the storage type tells floats apart. [value]
    Conv(&'static str),
    /// Float to integer, through the prelude: out of range is zero. [float]
    FloatTo,
    /// Copies the value with all its bits normalised by a narrow local. [value]
    Through(Ty),
    /// Value of either. The instruction of the branch and its operands come first. [operands.., then, else]
    Cond(&'static str),
    /// The first child stays on the stack while the statement runs. [value, statement]
    Hold,
    /// The value stays on the stack across a backward branch; the statement runs each time. [start, statement, count]
    StackLoop(u8),
    /// Element of a vector. [array, index]
    Elem,
    /// Element of a two-dimensional array. [array, i, j]
    Elem2,
    /// Length as `int32`. [array]
    Len,
    /// New vector, the length masked. [length]
    NewArray,
    /// New two-dimensional array; lengths are masked. [i, j]
    NewArray2,
    /// New object of a class of the program. [value for its first field]
    New,
    /// New cell. [value]
    NewCell,
    /// Delegate of a method; an instance method's is closed over an object, a virtual one's goes through `ldvirtftn`. [object..]
    NewDelegate(usize),
    /// The name of a type, through `ldtoken`.
    NameOf(Ty),
    /// Reads through a typed reference: `mkrefany` and `refanyval`. [address]
    ThroughTyped(Ty),
    /// Calls a delegate. [delegate, int32, int64]
    Invoke,
    /// Boxes a value of a storage type. [value]
    Box(Ty),
    /// `unbox.any` of a storage type. [object]
    Unbox(Ty),
    /// `isinst` of the node's type. [object]
    IsInst,
    /// `castclass` to the node's type. [object]
    Cast,
    /// Whether it is an instance, as `int32`. [object]
    IsA(Ty),
    /// Reference as a wider type; nothing happens. [object]
    Widen,
    /// Method of the program. [this.., arguments]
    Call(usize, CallMode),
    /// Method of the prelude's interface, on an object. [object, int32]
    CallIface,
    /// The same on an address with `constrained.`; the type is a struct. [address, int32]
    Constrained(Ty),
    /// Method of the prelude by its text after the result type, with type arguments. [arguments]
    Prelude(&'static str, Option<Ty>),
    /// Size of a type.
    SizeOf(Ty),
    /// Reads through an address of a storage type. [address]
    Load(Ty, Prefix),
    // ---- addresses
    /// Address of a local.
    LocA(usize),
    /// Address of a parameter.
    ArgA(usize),
    /// Address of a static field.
    StaticA(usize, usize),
    /// Address of a field. [object or address]
    FieldA(Owner, usize),
    /// Address of an element; true with `readonly.`. [array, index]
    ElemA(bool),
    /// Address of an element of a two-dimensional array. [array, i, j]
    ElemA2,
    /// Address in a box. [object]
    UnboxA,
    // ---- statements
    /// One after the other. [statements..]
    Block,
    /// Local variable. [value]
    SetLoc(usize),
    /// Parameter. [value]
    SetArg(usize),
    /// Static field. [value]
    SetStatic(usize, usize),
    /// Field. [object or address, value]
    SetField(Owner, usize, Prefix),
    /// Element of a vector. [array, index, value]
    SetElem,
    /// Element of a two-dimensional array. [array, i, j, value]
    SetElem2,
    /// Stores through an address of a storage type. [address, value]
    Store(Ty, Prefix),
    /// `initobj`. [address]
    Init(Ty),
    /// `cpobj`. [address, address]
    Copy(Ty),
    /// Branches by an instruction. [operands.., then, else]
    If(&'static str),
    /// `switch`. [value, default, cases..]
    Switch,
    /// So many times; true: the test stands at the end. [body]
    Loop(u8, bool),
    /// While the condition holds. [condition, body]
    While,
    /// Leaves the nearest loop.
    Break,
    /// Next round of the nearest loop.
    Continue,
    /// Catch clauses. [body, (handler | filter, handler)..]
    Try(Vec<Clause>),
    /// Finally. [body, handler]
    Finally,
    /// Fault. [body, handler]
    Fault,
    /// Throws an exception of the program.
    Throw(usize),
    /// Throws null.
    ThrowNull,
    /// `rethrow`
    Rethrow,
    /// Returns. [value..]
    Return,
    /// Returns the result of a call with `tail.`. [call]
    ReturnTail,
    /// Adds a value of a storage type to the trace. [value]
    Trace(Ty),
    /// Evaluates and forgets. [value]
    Eval,
    /// `localloc` of some bytes, filled with and read back as `int32` behind the statement. [seed, statement]
    LocAlloc(u8),
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// What it leaves.
    pub ty: Ty,
    /// What it does it to.
    pub kids: Vec<Node>,
}

impl Node {
    /// A node with children.
    pub fn new(op: Op, ty: Ty, kids: Vec<Node>) -> Node {
        Node { op, ty, kids }
    }
    /// A statement.
    pub fn stmt(op: Op, kids: Vec<Node>) -> Node {
        Node::new(op, Ty::Void, kids)
    }
    /// A node without children.
    pub fn leaf(op: Op, ty: Ty) -> Node {
        Node::new(op, ty, Vec::new())
    }
    /// A statement that does nothing.
    pub fn nothing() -> Node {
        Node::stmt(Op::Block, Vec::new())
    }
    /// How many nodes there are.
    pub fn size(&self) -> usize {
        1 + self.kids.iter().map(Node::size).sum::<usize>()
    }
}

/// Who declares a method, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Static, in the class without constructor.
    Plain,
    /// Static, in a holder of static fields.
    Holder(usize),
    /// Instance method of a class, not virtual.
    Instance(usize),
    /// A class's implementation of a virtual slot; the slot's first is new.
    Virtual(usize, usize),
    /// A class's implementation of the interface.
    Interface(usize),
    /// Instance method of a struct.
    Struct(usize),
    /// A struct's implementation of the interface.
    StructInterface(usize),
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// Where it is declared.
    pub home: Home,
    /// Parameters, `this` first where there is one.
    pub params: Vec<Ty>,
    /// Result.
    pub ret: Ty,
    /// Local variables.
    pub locals: Vec<Ty>,
    /// Whether it has a fuel test at its entry; a leaf has none, and may be inlined.
    pub leaf: bool,
    /// Body.
    pub body: Node,
}

impl Method {
    /// Whether its first parameter is `this`.
    pub fn has_this(&self) -> bool {
        !matches!(self.home, Home::Plain | Home::Holder(_))
    }
}

/// How a type's constructor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Init {
    /// There is none.
    None,
    /// `beforefieldinit`: some time before the first access of a field. Sets constants only.
    Relaxed,
    /// At the first access, and with effects.
    Precise,
    /// The same, and it throws.
    Throwing,
}

/// A class whose static fields programs use.
#[derive(Clone, Debug)]
pub struct Holder {
    /// Its constructor.
    pub init: Init,
    /// Its fields; true: one for each thread.
    pub fields: Vec<(Ty, bool)>,
}

/// A class with instances.
#[derive(Clone, Debug)]
pub struct Class {
    /// Class that it extends.
    pub base: Option<usize>,
    /// Fields declared here.
    pub fields: Vec<Ty>,
    /// Its constructor (`None`, `Relaxed` or `Precise`).
    pub init: Init,
}

/// A struct.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Fields.
    pub fields: Vec<Ty>,
    /// Whether it has a precise constructor.
    pub init: Init,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The seed that it was made from.
    pub seed: u64,
    /// Holders of static fields; the first has no constructor.
    pub holders: Vec<Holder>,
    /// Classes; a base precedes what extends it.
    pub classes: Vec<Class>,
    /// Structs; one that is a field precedes the other.
    pub structs: Vec<Struct>,
    /// Signatures of virtual slots, without `this`: class that declares it, parameters, result.
    pub slots: Vec<(usize, Vec<Ty>, Ty)>,
    /// Methods.
    pub methods: Vec<Method>,
}

impl Program {
    /// Whether an object of class `c` is one of class `base`.
    pub fn extends(&self, c: usize, base: usize) -> bool {
        c == base || self.classes[c].base.is_some_and(|b| self.extends(b, base))
    }
}
