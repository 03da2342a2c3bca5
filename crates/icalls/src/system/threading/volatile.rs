//! Native half of System.Threading.Volatile, and of Thread.VolatileRead and VolatileWrite.
//!
//! Keeps nothing.
use crate::support::args::Out;
use crate::system::threading::interlocked::{ops, slot};
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize, Ordering::SeqCst, fence,
};
use vervet_runtime::{ObjRef, RefSlot, icalls};

icalls! {
    "System.Threading.Volatile::Read(long&)" fn read_long(cx, at: Out<'cx, i64>) -> i64 { Ok(ops!(cx, at: i64 as AtomicI64)?.load(SeqCst)) }
    "System.Threading.Volatile::Read(ulong&)" fn read_ulong(cx, at: Out<'cx, u64>) -> u64 { Ok(ops!(cx, at: u64 as AtomicU64)?.load(SeqCst)) }
    "System.Threading.Volatile::Read(double&)" fn read_double(cx, at: Out<'cx, f64>) -> f64 { Ok(f64::from_bits(ops!(cx, at: f64 as AtomicU64)?.load(SeqCst))) }
    "System.Threading.Volatile::Write(long&,long)" fn write_long(cx, at: Out<'cx, i64>, value: i64) {
        ops!(cx, at: i64 as AtomicI64)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Volatile::Write(ulong&,ulong)" fn write_ulong(cx, at: Out<'cx, u64>, value: u64) {
        ops!(cx, at: u64 as AtomicU64)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Volatile::Write(double&,double)" fn write_double(cx, at: Out<'cx, f64>, value: f64) {
        ops!(cx, at: f64 as AtomicU64)?.store(value.to_bits(), SeqCst);
        Ok(())
    }

    "System.Threading.Thread::VolatileRead(byte&)" fn volatile_read_byte(cx, at: Out<'cx, u8>) -> u8 { Ok(ops!(cx, at: u8 as AtomicU8)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(double&)" fn volatile_read_double(cx, at: Out<'cx, f64>) -> f64 { Ok(f64::from_bits(ops!(cx, at: f64 as AtomicU64)?.load(SeqCst))) }
    "System.Threading.Thread::VolatileRead(int16&)" fn volatile_read_int16(cx, at: Out<'cx, i16>) -> i16 { Ok(ops!(cx, at: i16 as AtomicI16)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(int&)" fn volatile_read_int(cx, at: Out<'cx, i32>) -> i32 { Ok(ops!(cx, at: i32 as AtomicI32)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(long&)" fn volatile_read_long(cx, at: Out<'cx, i64>) -> i64 { Ok(ops!(cx, at: i64 as AtomicI64)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(intptr&)" fn volatile_read_intptr(cx, at: Out<'cx, usize>) -> usize { Ok(ops!(cx, at: usize as AtomicUsize)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(sbyte&)" fn volatile_read_sbyte(cx, at: Out<'cx, i8>) -> i8 { Ok(ops!(cx, at: i8 as AtomicI8)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(single&)" fn volatile_read_single(cx, at: Out<'cx, f32>) -> f32 { Ok(f32::from_bits(ops!(cx, at: f32 as AtomicU32)?.load(SeqCst))) }
    "System.Threading.Thread::VolatileRead(uint16&)" fn volatile_read_uint16(cx, at: Out<'cx, u16>) -> u16 { Ok(ops!(cx, at: u16 as AtomicU16)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(uint&)" fn volatile_read_uint(cx, at: Out<'cx, u32>) -> u32 { Ok(ops!(cx, at: u32 as AtomicU32)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(ulong&)" fn volatile_read_ulong(cx, at: Out<'cx, u64>) -> u64 { Ok(ops!(cx, at: u64 as AtomicU64)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(uintptr&)" fn volatile_read_uintptr(cx, at: Out<'cx, usize>) -> usize { Ok(ops!(cx, at: usize as AtomicUsize)?.load(SeqCst)) }
    "System.Threading.Thread::VolatileRead(object&)" fn volatile_read_object(cx, at: RefSlot<'cx>) -> ObjRef<'cx> {
        let value = at.get();
        fence(SeqCst);
        Ok(value)
    }
    "System.Threading.Thread::VolatileWrite(byte&,byte)" fn volatile_write_byte(cx, at: Out<'cx, u8>, value: u8) {
        ops!(cx, at: u8 as AtomicU8)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(double&,double)" fn volatile_write_double(cx, at: Out<'cx, f64>, value: f64) {
        ops!(cx, at: f64 as AtomicU64)?.store(value.to_bits(), SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(int16&,int16)" fn volatile_write_int16(cx, at: Out<'cx, i16>, value: i16) {
        ops!(cx, at: i16 as AtomicI16)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(int&,int)" fn volatile_write_int(cx, at: Out<'cx, i32>, value: i32) {
        ops!(cx, at: i32 as AtomicI32)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(long&,long)" fn volatile_write_long(cx, at: Out<'cx, i64>, value: i64) {
        ops!(cx, at: i64 as AtomicI64)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(intptr&,intptr)" fn volatile_write_intptr(cx, at: Out<'cx, usize>, value: usize) {
        ops!(cx, at: usize as AtomicUsize)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(sbyte&,sbyte)" fn volatile_write_sbyte(cx, at: Out<'cx, i8>, value: i8) {
        ops!(cx, at: i8 as AtomicI8)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(single&,single)" fn volatile_write_single(cx, at: Out<'cx, f32>, value: f32) {
        ops!(cx, at: f32 as AtomicU32)?.store(value.to_bits(), SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(uint16&,uint16)" fn volatile_write_uint16(cx, at: Out<'cx, u16>, value: u16) {
        ops!(cx, at: u16 as AtomicU16)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(uint&,uint)" fn volatile_write_uint(cx, at: Out<'cx, u32>, value: u32) {
        ops!(cx, at: u32 as AtomicU32)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(ulong&,ulong)" fn volatile_write_ulong(cx, at: Out<'cx, u64>, value: u64) {
        ops!(cx, at: u64 as AtomicU64)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(uintptr&,uintptr)" fn volatile_write_uintptr(cx, at: Out<'cx, usize>, value: usize) {
        ops!(cx, at: usize as AtomicUsize)?.store(value, SeqCst);
        Ok(())
    }
    "System.Threading.Thread::VolatileWrite(object&,object)" fn volatile_write_object(cx, at: RefSlot<'cx>, value: ObjRef<'cx>) {
        fence(SeqCst);
        at.set(value);
        fence(SeqCst);
        Ok(())
    }
}
