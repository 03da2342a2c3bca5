//! Searches for an element by the processor's vectors of 256 and 512 bits.
//!
//! # Invariants
//! * Only the elements of the slice are read, in any order and as often as it takes: another thread may write them meanwhile, and the answer is that of
//!   some order of reads and writes.
//! * Nothing here runs unless the processor has the instructions. Vectors of 512 bits are used where they cost no clock rate: by processors that have VBMI.
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_cmpeq_epi8, _mm256_cmpeq_epi16, _mm256_cmpeq_epi32,
    _mm256_cmpeq_epi64, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm512_cmpeq_epi8_mask,
    _mm512_cmpeq_epi16_mask, _mm512_cmpeq_epi32_mask, _mm512_cmpeq_epi64_mask, _mm512_loadu_si512,
    _mm512_maskz_loadu_epi8, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_set1_epi64,
};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// An element of a vector.
pub trait Lane: Copy + PartialEq {
    /// A vector of the value.
    ///
    /// # Safety
    /// The processor has AVX2.
    unsafe fn splat(self) -> __m256i;
    /// All bits set in each element that is equal, none in the others.
    ///
    /// # Safety
    /// As above.
    unsafe fn equal(a: __m256i, b: __m256i) -> __m256i;
    /// A large vector of the value.
    ///
    /// # Safety
    /// The processor has AVX-512 F and BW.
    unsafe fn splat_wide(self) -> __m512i;
    /// A bit for each element that is equal.
    ///
    /// # Safety
    /// As above.
    unsafe fn equal_wide(a: __m512i, b: __m512i) -> u64;
}
macro_rules! lane {
    ($ty:ty, $signed:ty, $splat:ident, $equal:ident, $splat_wide:ident, $equal_wide:ident) => {
        impl Lane for $ty {
            #[inline]
            #[target_feature(enable = "avx2")]
            unsafe fn splat(self) -> __m256i {
                $splat(self as $signed)
            }
            #[inline]
            #[target_feature(enable = "avx2")]
            unsafe fn equal(a: __m256i, b: __m256i) -> __m256i {
                $equal(a, b)
            }
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw")]
            unsafe fn splat_wide(self) -> __m512i {
                $splat_wide(self as $signed)
            }
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw")]
            unsafe fn equal_wide(a: __m512i, b: __m512i) -> u64 {
                u64::from($equal_wide(a, b))
            }
        }
    };
}
lane!(
    u8,
    i8,
    _mm256_set1_epi8,
    _mm256_cmpeq_epi8,
    _mm512_set1_epi8,
    _mm512_cmpeq_epi8_mask
);
lane!(
    u16,
    i16,
    _mm256_set1_epi16,
    _mm256_cmpeq_epi16,
    _mm512_set1_epi16,
    _mm512_cmpeq_epi16_mask
);
lane!(
    u32,
    i32,
    _mm256_set1_epi32,
    _mm256_cmpeq_epi32,
    _mm512_set1_epi32,
    _mm512_cmpeq_epi32_mask
);
lane!(
    u64,
    i64,
    _mm256_set1_epi64x,
    _mm256_cmpeq_epi64,
    _mm512_set1_epi64,
    _mm512_cmpeq_epi64_mask
);

/// The vectors that the processor has, as one of the numbers below.
static VECTORS: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NONE: u8 = 1;
const NARROW: u8 = 2;
const WIDE: u8 = 3;

/// Asks the processor.
#[cold]
fn detect() {
    let vectors = if std::is_x86_feature_detected!("avx512vbmi")
        && std::is_x86_feature_detected!("avx512bw")
    {
        WIDE
    } else if std::is_x86_feature_detected!("avx2") {
        NARROW
    } else {
        NONE
    };
    VECTORS.store(vectors, Relaxed);
}

/// Index of the first element that is `value`; -1 if none is. `otherwise` looks where there are too few elements, or no such vectors.
#[inline]
pub fn find<T: Lane>(all: &[T], value: T, otherwise: fn(&[T], T) -> i32) -> i32 {
    match VECTORS.load(Relaxed) {
        // SAFETY: the processor has AVX-512 F, too, if it has the others.
        WIDE => unsafe { in_wide_vectors(all, value) },
        // SAFETY: the processor has AVX2, and there is a vector of elements.
        NARROW if size_of_val(all) >= size_of::<__m256i>() => unsafe { in_vectors(all, value) },
        UNKNOWN => find_first(all, value, otherwise),
        _ => otherwise(all, value),
    }
}

/// (A function of its own, so that the others have no frame for what this one calls.)
#[cold]
#[inline(never)]
fn find_first<T: Lane>(all: &[T], value: T, otherwise: fn(&[T], T) -> i32) -> i32 {
    detect();
    find(all, value, otherwise)
}

/// # Safety
/// The processor has AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn in_wide_vectors<T: Lane>(all: &[T], value: T) -> i32 {
    let size = size_of::<T>();
    let lanes = size_of::<__m512i>() / size;
    // SAFETY: the instructions are there.
    let sought = unsafe { value.splat_wide() };
    let mut at = 0;
    while at + lanes <= all.len() {
        // SAFETY: a vector of elements begins at `at`.
        let equal =
            unsafe { T::equal_wide(_mm512_loadu_si512(all.as_ptr().add(at).cast()), sought) };
        if equal != 0 {
            return (at + equal.trailing_zeros() as usize) as i32;
        }
        at += lanes;
    }
    if at == all.len() {
        return -1;
    }
    // A bit for each byte that is left.
    let left = !0u64 >> (64 - (all.len() - at) * size);
    // SAFETY: bytes whose bits are not set are not accessed.
    let equal = unsafe {
        let last = _mm512_maskz_loadu_epi8(left, all.as_ptr().add(at).cast());
        T::equal_wide(last, sought)
    };
    // (Elements behind the last are 0, which may be what is sought.)
    let first = at + equal.trailing_zeros() as usize;
    if first < all.len() { first as i32 } else { -1 }
}

/// # Safety
/// The processor has AVX2, and the slice has at least a vector of elements.
#[target_feature(enable = "avx2")]
unsafe fn in_vectors<T: Lane>(all: &[T], value: T) -> i32 {
    let size = size_of::<T>();
    let lanes = size_of::<__m256i>() / size;
    // SAFETY: AVX2 is there.
    let sought = unsafe { value.splat() };
    let first = |at: usize| -> Option<i32> {
        // SAFETY: a vector of elements begins at `at`.
        let equal = unsafe { T::equal(_mm256_loadu_si256(all.as_ptr().add(at).cast()), sought) };
        let bytes = _mm256_movemask_epi8(equal) as u32;
        (bytes != 0).then(|| (at + bytes.trailing_zeros() as usize / size) as i32)
    };
    let mut at = 0;
    while at + lanes <= all.len() {
        if let Some(found) = first(at) {
            return found;
        }
        at += lanes;
    }
    // The last vector, a part of which has been looked at.
    let last = (at < all.len()).then(|| first(all.len() - lanes));
    last.flatten().unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use super::{Lane, find, in_vectors, in_wide_vectors};

    fn by_one<T: Lane>(all: &[T], value: T) -> i32 {
        let at = all.iter().position(|x| *x == value);
        at.map_or(-1, |at| at as i32)
    }

    fn finds<T: Lane>(other: T, value: T) {
        for length in 0..150 {
            let mut all = vec![other; length];
            for at in (0..=length).rev() {
                if at < length {
                    all[at] = value;
                }
                let want = if at < length { at as i32 } else { -1 };
                assert_eq!(find(&all, value, by_one), want, "{at} of {length}");
                if std::is_x86_feature_detected!("avx2") && size_of_val(&all[..]) >= 32 {
                    // SAFETY: it has been asked for.
                    assert_eq!(unsafe { in_vectors(&all, value) }, want);
                }
                if std::is_x86_feature_detected!("avx512bw") {
                    // SAFETY: it has been asked for.
                    assert_eq!(unsafe { in_wide_vectors(&all, value) }, want);
                }
            }
        }
    }

    #[test]
    fn the_first_is_found_at_each_place_of_each_length() {
        finds(1u8, 0xFF);
        finds(1u8, 0);
        finds(0x100u16, 0x101);
        finds(0x100u16, 0);
        finds(0x8000_0000u32, 0x8000);
        finds(1u64 << 32, 1);
        finds(1u64, 0);
    }
}
