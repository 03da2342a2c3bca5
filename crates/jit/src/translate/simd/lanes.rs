//! Which classes are vectors: `System.Numerics.Vector<T>` of a numeric type, 16 bytes as under mono, and the structs of Mono.Simd.
//!
//! # Invariants
//! * A class that is a vector has 16 bytes without references, lane 0 at the lowest address.
//! * There are no vectors on a processor without AVX: Cranelift makes comparisons of floats in memory for the others that need it aligned, which a frame is not.
use cranelift_codegen::ir::{Type, types::*};
use smallvec::SmallVec;
use vervet_types::{ClassRef, LoadError, Prim};

/// The lanes of a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lanes {
    /// The type of the whole.
    pub ty: Type,
    /// Lanes are signed integers, or floats.
    pub signed: bool,
}

impl Lanes {
    /// Lanes of a numeric type. None: there are no vectors of these.
    pub fn of(prim: Prim) -> Option<Lanes> {
        let (ty, signed) = match prim {
            Prim::I1 => (I8X16, true),
            Prim::U1 => (I8X16, false),
            Prim::I2 => (I16X8, true),
            Prim::U2 => (I16X8, false),
            Prim::I4 => (I32X4, true),
            Prim::U4 => (I32X4, false),
            Prim::I8 => (I64X2, true),
            Prim::U8 => (I64X2, false),
            Prim::R4 => (F32X4, true),
            Prim::R8 => (F64X2, true),
            _ => return None,
        };
        Some(Lanes { ty, signed })
    }
    /// How many there are.
    pub fn count(self) -> u32 {
        self.ty.lane_count()
    }
    /// Are they floats?
    pub fn is_float(self) -> bool {
        self.ty.lane_type().is_float()
    }
    /// Bytes of a lane.
    pub fn size(self) -> u32 {
        self.ty.lane_type().bytes()
    }
    /// The same bits as integers.
    pub fn bits(self) -> Type {
        self.ty.as_truthy()
    }
}

/// Has the processor the instructions?
pub(super) fn has_simd() -> bool {
    cfg!(not(target_arch = "x86_64"))
        || std::is_x86_feature_detected!("avx") && std::is_x86_feature_detected!("sse4.2")
}

/// The lanes of a class, if it is a vector.
pub(crate) fn lanes_of(class: ClassRef) -> Option<Lanes> {
    let lanes = match class.args() {
        [element] if is_generic_vector(class.def()) && class.is_inst() => element.prim,
        [] if class.namespace == MONO_SIMD => of_mono_simd(class),
        _ => None,
    };
    lanes.filter(|_| has_simd()).and_then(Lanes::of)
}
/// Is it `Vector<T>`?
fn is_generic_vector(def: ClassRef) -> bool {
    def.name == "Vector`1" && def.namespace == "System.Numerics" && def.module.is_corlib()
}

/// The namespace and the assembly of mono's vectors.
pub(super) const MONO_SIMD: &str = "Mono.Simd";

/// The lanes of a struct of Mono.Simd.
fn of_mono_simd(class: ClassRef) -> Option<Prim> {
    let lane = match class.name {
        "Vector16sb" => Prim::I1,
        "Vector16b" => Prim::U1,
        "Vector8s" => Prim::I2,
        "Vector8us" => Prim::U2,
        "Vector4i" => Prim::I4,
        "Vector4ui" => Prim::U4,
        "Vector2l" => Prim::I8,
        "Vector2ul" => Prim::U8,
        "Vector4f" => Prim::R4,
        "Vector2d" => Prim::R8,
        _ => return None,
    };
    class.module.is_of_class_library(MONO_SIMD).then_some(lane)
}

/// Is the class a vector?
pub(crate) fn is_simd(class: ClassRef) -> bool {
    lanes_of(class).is_some()
}

/// The offsets of the vectors in a value of a class, in any order.
pub(crate) fn simd_vectors_in(class: ClassRef) -> Result<SmallVec<[u32; 4]>, LoadError> {
    let mut found = SmallVec::new();
    if has_simd() {
        add_vectors(class, 0, &mut found)?;
    }
    Ok(found)
}

/// Adds those of a value that lies at an offset.
fn add_vectors(class: ClassRef, at: u32, found: &mut SmallVec<[u32; 4]>) -> Result<(), LoadError> {
    if is_simd(class) {
        found.push(at);
        return Ok(());
    }
    if class.prim.is_some() || class.layout()?.size < 16 {
        return Ok(());
    }
    for field in class.fields()? {
        if !field.is_static() && field.ty()?.is_value_type()? {
            add_vectors(field.ty()?, at + field.offset()?, found)?;
        }
    }
    Ok(())
}
