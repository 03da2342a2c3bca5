//! Native half of System.Threading.Interlocked.
//!
//! Keeps nothing. Everything is sequentially consistent; reference stores mark their card.
use crate::support::args::Out;
use std::sync::atomic::{
    AtomicI32, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst,
};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::memory::cards;
use vervet_runtime::{RefSlot, icalls};
use vervet_types::Known;

/// The slot behind a `ref` parameter as an atomic. NullReferenceException for null.
pub(crate) fn slot<'cx, T, A>(cx: &'cx Cx<'cx>, at: *mut T) -> Result<&'cx A> {
    if at.is_null() {
        return Err(cx.throw_default(Known::NullReferenceException));
    }
    debug_assert!(size_of::<T>() == size_of::<A>());
    // SAFETY: managed code passed the address of an aligned slot of that size, which lives during the call.
    Ok(unsafe { &*(at as *const A) })
}
fn reference<'cx>(cx: &'cx Cx<'cx>, at: RefSlot<'cx>) -> Result<&'cx AtomicUsize> {
    slot(cx, at.ptr())
}
macro_rules! ops {
    ($cx:ident, $at:ident: $t:ty as $a:ty) => {
        slot::<$t, $a>($cx, $at.ptr())
    };
}
pub(crate) use ops;

icalls! {
    "System.Threading.Interlocked::CompareExchange(int&,int,int)" fn compare_exchange_i32(cx, at: Out<'cx, i32>, value: i32, comparand: i32) -> i32 {
        Ok(ops!(cx, at: i32 as AtomicI32)?.compare_exchange(comparand, value, SeqCst, SeqCst).unwrap_or_else(|v| v))
    }
    "System.Threading.Interlocked::CompareExchange(int&,int,int,bool&)" fn compare_exchange_i32_ok(cx, at: Out<'cx, i32>, value: i32, comparand: i32, ok: Out<'cx, u8>) -> i32 {
        let r = ops!(cx, at: i32 as AtomicI32)?.compare_exchange(comparand, value, SeqCst, SeqCst);
        ok.set(r.is_ok() as u8);
        Ok(r.unwrap_or_else(|v| v))
    }
    "System.Threading.Interlocked::CompareExchange(object&,object&,object&,object&)" fn compare_exchange_object(
        cx, at: RefSlot<'cx>, value: RefSlot<'cx>, comparand: RefSlot<'cx>, result: RefSlot<'cx>,
    ) {
        let (value, comparand) = (value.get(), comparand.get());
        let old = match reference(cx, at)?.compare_exchange(comparand.addr(), value.addr(), SeqCst, SeqCst) {
            Ok(old) => {
                cards::mark_card(at.ptr() as usize, value.addr());
                old
            }
            Err(old) => old,
        };
        // SAFETY: the slot held a reference.
        result.set(unsafe { vervet_runtime::ObjRef::from_addr(old) });
        Ok(())
    }
    "System.Threading.Interlocked::CompareExchange(single&,single,single)" fn compare_exchange_f32(cx, at: Out<'cx, f32>, value: f32, comparand: f32) -> f32 {
        let r = ops!(cx, at: f32 as AtomicU32)?.compare_exchange(comparand.to_bits(), value.to_bits(), SeqCst, SeqCst);
        Ok(f32::from_bits(r.unwrap_or_else(|v| v)))
    }
    "System.Threading.Interlocked::CompareExchange(double&,double,double)" fn compare_exchange_f64(cx, at: Out<'cx, f64>, value: f64, comparand: f64) -> f64 {
        let r = ops!(cx, at: f64 as AtomicU64)?.compare_exchange(comparand.to_bits(), value.to_bits(), SeqCst, SeqCst);
        Ok(f64::from_bits(r.unwrap_or_else(|v| v)))
    }
    "System.Threading.Interlocked::CompareExchange(long&,long,long)" fn compare_exchange_i64(cx, at: Out<'cx, i64>, value: i64, comparand: i64) -> i64 {
        Ok(ops!(cx, at: i64 as AtomicI64)?.compare_exchange(comparand, value, SeqCst, SeqCst).unwrap_or_else(|v| v))
    }
    "System.Threading.Interlocked::CompareExchange(intptr&,intptr,intptr)" fn compare_exchange_ptr(cx, at: Out<'cx, usize>, value: usize, comparand: usize) -> usize {
        Ok(ops!(cx, at: usize as AtomicUsize)?.compare_exchange(comparand, value, SeqCst, SeqCst).unwrap_or_else(|v| v))
    }
    "System.Threading.Interlocked::Exchange(int&,int)" fn exchange_i32(cx, at: Out<'cx, i32>, value: i32) -> i32 { Ok(ops!(cx, at: i32 as AtomicI32)?.swap(value, SeqCst)) }
    "System.Threading.Interlocked::Exchange(object&,object&,object&)" fn exchange_object(cx, at: RefSlot<'cx>, value: RefSlot<'cx>, result: RefSlot<'cx>) {
        let value = value.get();
        let old = reference(cx, at)?.swap(value.addr(), SeqCst);
        cards::mark_card(at.ptr() as usize, value.addr());
        // SAFETY: the slot held a reference.
        result.set(unsafe { vervet_runtime::ObjRef::from_addr(old) });
        Ok(())
    }
    "System.Threading.Interlocked::Exchange(single&,single)" fn exchange_f32(cx, at: Out<'cx, f32>, value: f32) -> f32 {
        Ok(f32::from_bits(ops!(cx, at: f32 as AtomicU32)?.swap(value.to_bits(), SeqCst)))
    }
    "System.Threading.Interlocked::Exchange(double&,double)" fn exchange_f64(cx, at: Out<'cx, f64>, value: f64) -> f64 {
        Ok(f64::from_bits(ops!(cx, at: f64 as AtomicU64)?.swap(value.to_bits(), SeqCst)))
    }
    "System.Threading.Interlocked::Exchange(long&,long)" fn exchange_i64(cx, at: Out<'cx, i64>, value: i64) -> i64 { Ok(ops!(cx, at: i64 as AtomicI64)?.swap(value, SeqCst)) }
    "System.Threading.Interlocked::Exchange(intptr&,intptr)" fn exchange_ptr(cx, at: Out<'cx, usize>, value: usize) -> usize { Ok(ops!(cx, at: usize as AtomicUsize)?.swap(value, SeqCst)) }
    "System.Threading.Interlocked::Decrement(int&)" fn decrement_i32(cx, at: Out<'cx, i32>) -> i32 { Ok(ops!(cx, at: i32 as AtomicI32)?.fetch_sub(1, SeqCst).wrapping_sub(1)) }
    "System.Threading.Interlocked::Decrement(long&)" fn decrement_i64(cx, at: Out<'cx, i64>) -> i64 { Ok(ops!(cx, at: i64 as AtomicI64)?.fetch_sub(1, SeqCst).wrapping_sub(1)) }
    "System.Threading.Interlocked::Increment(int&)" fn increment_i32(cx, at: Out<'cx, i32>) -> i32 { Ok(ops!(cx, at: i32 as AtomicI32)?.fetch_add(1, SeqCst).wrapping_add(1)) }
    "System.Threading.Interlocked::Increment(long&)" fn increment_i64(cx, at: Out<'cx, i64>) -> i64 { Ok(ops!(cx, at: i64 as AtomicI64)?.fetch_add(1, SeqCst).wrapping_add(1)) }
    "System.Threading.Interlocked::Add(int&,int)" fn add_i32(cx, at: Out<'cx, i32>, value: i32) -> i32 {
        Ok(ops!(cx, at: i32 as AtomicI32)?.fetch_add(value, SeqCst).wrapping_add(value))
    }
    "System.Threading.Interlocked::Add(long&,long)" fn add_i64(cx, at: Out<'cx, i64>, value: i64) -> i64 {
        Ok(ops!(cx, at: i64 as AtomicI64)?.fetch_add(value, SeqCst).wrapping_add(value))
    }
    "System.Threading.Interlocked::Read" fn read(cx, at: Out<'cx, i64>) -> i64 { Ok(ops!(cx, at: i64 as AtomicI64)?.load(SeqCst)) }
    "System.Threading.Interlocked::MemoryBarrierProcessWide" fn memory_barrier_process_wide(cx) {
        // SAFETY: membarrier touches no memory; where it is missing the fence below is all there is.
        unsafe { libc::syscall(libc::SYS_membarrier, 1 /* MEMBARRIER_CMD_GLOBAL */, 0, 0) };
        std::sync::atomic::fence(SeqCst);
        Ok(())
    }
}
