//! Signatures (II.23.2): a reader over a blob and the trees it builds.
//!
//! Invariant: recursion is bounded by [`MAX_DEPTH`], and every counted item
//! takes at least one byte of the blob, so a tree is never larger than a small
//! multiple of its blob.

use crate::bytes;
use crate::error::Error;
use crate::tables::Coded;
use crate::token::Token;

/// How deeply types may nest.
pub const MAX_DEPTH: u32 = 200;

/// A type in a signature (II.23.2.12).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SigType {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `char`
    Char,
    /// `int8`
    I1,
    /// `unsigned int8`
    U1,
    /// `int16`
    I2,
    /// `unsigned int16`
    U2,
    /// `int32`
    I4,
    /// `unsigned int32`
    U4,
    /// `int64`
    I8,
    /// `unsigned int64`
    U8,
    /// `float32`
    R4,
    /// `float64`
    R8,
    /// `string`
    String,
    /// `object`
    Object,
    /// `native int`
    IntPtr,
    /// `native unsigned int`
    UIntPtr,
    /// `typedref`
    TypedByRef,
    /// Unmanaged pointer.
    Ptr(Box<SigType>),
    /// Managed pointer.
    ByRef(Box<SigType>),
    /// A value type by TypeDef, TypeRef or TypeSpec.
    ValueType(Token),
    /// A reference type by TypeDef, TypeRef or TypeSpec.
    Class(Token),
    /// A generic parameter of the type.
    Var(u32),
    /// A generic parameter of the method.
    MVar(u32),
    /// A vector.
    SzArray(Box<SigType>),
    /// A general array.
    Array(Box<ArrayShapeSig>),
    /// An instantiated generic type.
    GenericInst {
        /// Whether `def` is marked as a value type.
        value_type: bool,
        /// The generic type.
        def: Token,
        /// Its arguments.
        args: Vec<SigType>,
    },
    /// A function pointer.
    FnPtr(Box<MethodSig>),
    /// A type with a custom modifier.
    Modified {
        /// `modreq` rather than `modopt`.
        required: bool,
        /// The modifier.
        modifier: Token,
        /// The type modified.
        inner: Box<SigType>,
    },
    /// A pinned local.
    Pinned(Box<SigType>),
}

impl SigType {
    /// The type without its outer custom modifiers.
    pub fn unmodified(&self) -> &SigType {
        let mut ty = self;
        while let SigType::Modified { inner, .. } = ty {
            ty = inner;
        }
        ty
    }
}

/// A general array type (II.23.2.13).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayShapeSig {
    /// Element type.
    pub elem: SigType,
    /// Number of dimensions, at least 1.
    pub rank: u32,
    /// Sizes of the first dimensions.
    pub sizes: Vec<u32>,
    /// Lower bounds of the first dimensions.
    pub lo_bounds: Vec<i32>,
}

/// How a method is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallConvKind {
    /// Managed, fixed arguments.
    Default,
    /// Native `cdecl`.
    C,
    /// Native `stdcall`.
    StdCall,
    /// Native `thiscall`.
    ThisCall,
    /// Native `fastcall`.
    FastCall,
    /// Managed, variable arguments.
    VarArg,
    /// Native, the platform's default.
    Unmanaged,
}

/// A method signature (II.23.2.1–3).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodSig {
    /// The raw first byte.
    pub flags: u8,
    /// Whether there is a `this`.
    pub has_this: bool,
    /// Whether `this` is the first of `params`.
    pub explicit_this: bool,
    /// How it is called.
    pub call_conv: CallConvKind,
    /// How many generic parameters it has; 0 if not generic.
    pub generic_arity: u32,
    /// Return type.
    pub ret: SigType,
    /// Parameter types.
    pub params: Vec<SigType>,
    /// Where the variable arguments start in `params`, at a call site.
    pub sentinel: Option<usize>,
}

/// A property signature (II.23.2.5).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PropertySig {
    /// Whether there is a `this`.
    pub has_this: bool,
    /// The property's type.
    pub ty: SigType,
    /// The indexes.
    pub params: Vec<SigType>,
}

/// The signature of a MemberRef.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MemberSig {
    /// Of a method.
    Method(MethodSig),
    /// Of a field.
    Field(SigType),
}

/// A signature whose first byte says what it is (as those of StandAloneSig).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AnySig {
    /// A method.
    Method(MethodSig),
    /// A field.
    Field(SigType),
    /// Local variables.
    Locals(Vec<SigType>),
    /// A property.
    Property(PropertySig),
    /// Arguments of a generic method.
    MethodSpec(Vec<SigType>),
}

/// A cursor over a signature blob.
#[derive(Debug, Clone)]
pub struct SigReader<'b> {
    blob: &'b [u8],
    at: usize,
}

const FIELD: u8 = 0x06;
const LOCALS: u8 = 0x07;
const PROPERTY: u8 = 0x08;
const METHOD_SPEC: u8 = 0x0A;
const HAS_THIS: u8 = 0x20;

impl<'b> SigReader<'b> {
    /// A reader at the start of `blob`.
    pub fn new(blob: &'b [u8]) -> SigReader<'b> {
        SigReader { blob, at: 0 }
    }

    /// How many bytes were read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'b [u8] {
        self.blob.get(self.at..).unwrap_or_default()
    }

    fn bad(&self, reason: &'static str) -> Error {
        Error::blob(reason, self.at)
    }

    /// The next byte, without reading it.
    pub fn peek(&self) -> Option<u8> {
        self.blob.get(self.at).copied()
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Error> {
        let b = self.peek().ok_or(self.bad("the signature is truncated"))?;
        self.at += 1;
        Ok(b)
    }

    /// An unsigned compressed integer.
    #[inline]
    pub fn compressed_u32(&mut self) -> Result<u32, Error> {
        let (v, n) = bytes::compressed_u32(self.rest())
            .ok_or(self.bad("bad compressed integer in a signature"))?;
        self.at += n;
        Ok(v)
    }

    /// A signed compressed integer.
    #[inline]
    pub fn compressed_i32(&mut self) -> Result<i32, Error> {
        let (v, n) = bytes::compressed_i32(self.rest())
            .ok_or(self.bad("bad compressed integer in a signature"))?;
        self.at += n;
        Ok(v)
    }

    /// A count of items that take at least a byte each.
    pub fn count(&mut self) -> Result<usize, Error> {
        let n = self.compressed_u32()? as usize;
        if n > self.rest().len() {
            return Err(self.bad("a count exceeds the signature"));
        }
        Ok(n)
    }

    /// A TypeDefOrRefOrSpecEncoded (II.23.2.8).
    pub fn type_def_or_ref(&mut self) -> Result<Token, Error> {
        let raw = self.compressed_u32()?;
        Coded::TypeDefOrRef
            .decode(raw)
            .ok_or(self.bad("bad type token in a signature"))
    }

    /// A type.
    pub fn ty(&mut self) -> Result<SigType, Error> {
        self.ty_at(0)
    }

    fn boxed(&mut self, depth: u32) -> Result<Box<SigType>, Error> {
        self.ty_at(depth + 1).map(Box::new)
    }

    fn types(&mut self, count: usize, depth: u32) -> Result<Vec<SigType>, Error> {
        let mut types = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            types.push(self.ty_at(depth + 1)?);
        }
        Ok(types)
    }

    fn ty_at(&mut self, depth: u32) -> Result<SigType, Error> {
        if depth > MAX_DEPTH {
            return Err(self.bad("the signature nests too deeply"));
        }
        Ok(match self.u8()? {
            0x01 => SigType::Void,
            0x02 => SigType::Bool,
            0x03 => SigType::Char,
            0x04 => SigType::I1,
            0x05 => SigType::U1,
            0x06 => SigType::I2,
            0x07 => SigType::U2,
            0x08 => SigType::I4,
            0x09 => SigType::U4,
            0x0A => SigType::I8,
            0x0B => SigType::U8,
            0x0C => SigType::R4,
            0x0D => SigType::R8,
            0x0E => SigType::String,
            0x0F => SigType::Ptr(self.boxed(depth)?),
            0x10 => SigType::ByRef(self.boxed(depth)?),
            0x11 => SigType::ValueType(self.type_def_or_ref()?),
            0x12 => SigType::Class(self.type_def_or_ref()?),
            0x13 => SigType::Var(self.compressed_u32()?),
            0x14 => SigType::Array(Box::new(self.array(depth)?)),
            0x15 => {
                let value_type = match self.u8()? {
                    0x11 => true,
                    0x12 => false,
                    _ => return Err(self.bad("a generic instance is of neither class nor value")),
                };
                let def = self.type_def_or_ref()?;
                let count = self.count()?;
                if count == 0 {
                    return Err(self.bad("a generic instance has no arguments"));
                }
                SigType::GenericInst {
                    value_type,
                    def,
                    args: self.types(count, depth)?,
                }
            }
            0x16 => SigType::TypedByRef,
            0x18 => SigType::IntPtr,
            0x19 => SigType::UIntPtr,
            0x1B => SigType::FnPtr(Box::new(self.method_at(depth + 1)?)),
            0x1C => SigType::Object,
            0x1D => SigType::SzArray(self.boxed(depth)?),
            0x1E => SigType::MVar(self.compressed_u32()?),
            code @ (0x1F | 0x20) => SigType::Modified {
                required: code == 0x1F,
                modifier: self.type_def_or_ref()?,
                inner: self.boxed(depth)?,
            },
            0x45 => SigType::Pinned(self.boxed(depth)?),
            _ => {
                self.at -= 1;
                return Err(self.bad("unknown element type in a signature"));
            }
        })
    }

    fn array(&mut self, depth: u32) -> Result<ArrayShapeSig, Error> {
        let elem = self.ty_at(depth + 1)?;
        let rank = self.compressed_u32()?;
        if rank == 0 || rank > 0xFFFF {
            return Err(self.bad("bad array rank"));
        }
        let count = self.count()?;
        let sizes = (0..count)
            .map(|_| self.compressed_u32())
            .collect::<Result<Vec<_>, _>>()?;
        let count = self.count()?;
        let lo_bounds = (0..count)
            .map(|_| self.compressed_i32())
            .collect::<Result<Vec<_>, _>>()?;
        if sizes.len() > rank as usize || lo_bounds.len() > rank as usize {
            return Err(self.bad("an array has more bounds than dimensions"));
        }
        Ok(ArrayShapeSig {
            elem,
            rank,
            sizes,
            lo_bounds,
        })
    }

    /// A method signature.
    pub fn method(&mut self) -> Result<MethodSig, Error> {
        self.method_at(0)
    }

    fn method_at(&mut self, depth: u32) -> Result<MethodSig, Error> {
        let flags = self.u8()?;
        let call_conv = match flags & 0x0F {
            0 => CallConvKind::Default,
            1 => CallConvKind::C,
            2 => CallConvKind::StdCall,
            3 => CallConvKind::ThisCall,
            4 => CallConvKind::FastCall,
            5 => CallConvKind::VarArg,
            9 => CallConvKind::Unmanaged,
            _ => return Err(self.bad("unknown calling convention")),
        };
        let generic_arity = if flags & 0x10 != 0 {
            self.compressed_u32()?
        } else {
            0
        };
        let count = self.count()?;
        let ret = self.ty_at(depth + 1)?;
        let mut params = Vec::with_capacity(count.min(64));
        // Only these have variable arguments; after the last argument of any
        // other, a sentinel is that of a signature around this one.
        let variable = matches!(call_conv, CallConvKind::VarArg | CallConvKind::C);
        let mut sentinel = None;
        for i in 0..=count {
            if variable && sentinel.is_none() && self.peek() == Some(0x41) {
                self.at += 1;
                sentinel = Some(i);
            }
            if i < count {
                params.push(self.ty_at(depth + 1)?);
            }
        }
        Ok(MethodSig {
            flags,
            has_this: flags & HAS_THIS != 0,
            explicit_this: flags & 0x40 != 0,
            call_conv,
            generic_arity,
            ret,
            params,
            sentinel,
        })
    }

    fn expect(&mut self, kind: u8, reason: &'static str) -> Result<(), Error> {
        if self.u8()? != kind {
            return Err(Error::blob(reason, 0));
        }
        Ok(())
    }

    /// A field signature.
    pub fn field(&mut self) -> Result<SigType, Error> {
        self.expect(FIELD, "not a field signature")?;
        self.ty()
    }

    /// A local variable signature.
    pub fn locals(&mut self) -> Result<Vec<SigType>, Error> {
        self.expect(LOCALS, "not a local variable signature")?;
        let count = self.count()?;
        self.types(count, 0)
    }

    /// A property signature.
    pub fn property(&mut self) -> Result<PropertySig, Error> {
        let kind = self.u8()?;
        if kind & !HAS_THIS != PROPERTY {
            return Err(Error::blob("not a property signature", 0));
        }
        let count = self.count()?;
        let ty = self.ty()?;
        Ok(PropertySig {
            has_this: kind & HAS_THIS != 0,
            ty,
            params: self.types(count, 0)?,
        })
    }

    /// The arguments of a generic method.
    pub fn method_spec(&mut self) -> Result<Vec<SigType>, Error> {
        self.expect(METHOD_SPEC, "not a generic method instantiation")?;
        let count = self.count()?;
        self.types(count, 0)
    }
}

/// Parses a MethodDefSig, MethodRefSig or StandAloneMethodSig.
pub fn parse_method_sig(blob: &[u8]) -> Result<MethodSig, Error> {
    SigReader::new(blob).method()
}

/// Parses a FieldSig.
pub fn parse_field_sig(blob: &[u8]) -> Result<SigType, Error> {
    SigReader::new(blob).field()
}

/// Parses a PropertySig.
pub fn parse_property_sig(blob: &[u8]) -> Result<PropertySig, Error> {
    SigReader::new(blob).property()
}

/// Parses a LocalVarSig.
pub fn parse_local_sig(blob: &[u8]) -> Result<Vec<SigType>, Error> {
    SigReader::new(blob).locals()
}

/// Parses the signature of a TypeSpec.
pub fn parse_type_spec(blob: &[u8]) -> Result<SigType, Error> {
    SigReader::new(blob).ty()
}

/// Parses the signature of a MethodSpec.
pub fn parse_method_spec(blob: &[u8]) -> Result<Vec<SigType>, Error> {
    SigReader::new(blob).method_spec()
}

/// Parses the signature of a MemberRef.
pub fn parse_member_ref_sig(blob: &[u8]) -> Result<MemberSig, Error> {
    match blob.first() {
        Some(&FIELD) => parse_field_sig(blob).map(MemberSig::Field),
        _ => parse_method_sig(blob).map(MemberSig::Method),
    }
}

/// Parses a signature by its first byte.
pub fn parse_any_sig(blob: &[u8]) -> Result<AnySig, Error> {
    match blob.first().map(|b| b & 0x0F) {
        Some(FIELD) => parse_field_sig(blob).map(AnySig::Field),
        Some(LOCALS) => parse_local_sig(blob).map(AnySig::Locals),
        Some(PROPERTY) => parse_property_sig(blob).map(AnySig::Property),
        Some(METHOD_SPEC) => parse_method_spec(blob).map(AnySig::MethodSpec),
        _ => parse_method_sig(blob).map(AnySig::Method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Table;

    #[test]
    fn method_signatures() {
        // instance class [TypeRef 2]<int32[]>& M<1>(!!0, native int, ...)
        let blob = [
            0x30, 1, 2, 0x10, 0x15, 0x12, 0x09, 1, 0x1D, 0x08, 0x1E, 0, 0x18,
        ];
        let sig = parse_method_sig(&blob).unwrap();
        assert!(sig.has_this && !sig.explicit_this);
        assert_eq!(
            (sig.call_conv, sig.generic_arity),
            (CallConvKind::Default, 1)
        );
        let inst = SigType::GenericInst {
            value_type: false,
            def: Token::new(Table::TypeRef, 2),
            args: vec![SigType::SzArray(Box::new(SigType::I4))],
        };
        assert_eq!(sig.ret, SigType::ByRef(Box::new(inst)));
        assert_eq!(sig.params, [SigType::MVar(0), SigType::IntPtr]);
        for cut in 0..blob.len() {
            assert!(parse_method_sig(&blob[..cut]).is_err());
        }
    }

    #[test]
    fn a_sentinel_splits_the_arguments() {
        let sig = parse_method_sig(&[0x05, 2, 0x01, 0x0E, 0x41, 0x08]).unwrap();
        assert_eq!((sig.params.len(), sig.sentinel), (2, Some(1)));
        assert_eq!(sig.call_conv, CallConvKind::VarArg);
    }

    #[test]
    fn arrays_and_locals() {
        let array = parse_type_spec(&[0x14, 0x08, 2, 1, 3, 2, 0, 0x7B]).unwrap();
        let SigType::Array(shape) = array else {
            panic!("not an array")
        };
        assert_eq!(
            (shape.rank, &shape.sizes[..], &shape.lo_bounds[..]),
            (2, &[3][..], &[0, -3][..])
        );
        let locals = parse_local_sig(&[7, 2, 0x45, 0x10, 0x05, 0x1C]).unwrap();
        assert_eq!(locals.len(), 2);
        assert!(matches!(locals[0], SigType::Pinned(_)));
    }

    #[test]
    fn nesting_and_counts_are_bounded() {
        let deep = vec![0x0F; 100_000];
        assert!(parse_type_spec(&deep).is_err());
        let mut fits = vec![0x1D; MAX_DEPTH as usize];
        fits.push(0x08);
        assert!(parse_type_spec(&fits).is_ok());
        fits.insert(0, 0x1D);
        assert!(parse_type_spec(&fits).is_err());
        assert!(parse_local_sig(&[7, 0xDF, 0xFF, 0xFF, 0xFF, 8]).is_err());
        assert!(parse_type_spec(&[0x14, 0x08, 0]).is_err());
    }
}
