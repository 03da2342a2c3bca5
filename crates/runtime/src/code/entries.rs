//! A method's way in: its slot, its permanent stub, its prestub.
//!
//! ```text
//!   caller:  call [slot]                         before the first call            afterwards
//!   slot  -> 8 bytes of the slot area            address of the prestub part      address of the code
//!   stub  -> +0   jmp [rip + slot]               what a function pointer, a delegate and a VTable hold
//!            +16  mov eax, entry; jmp prestub    what the slot holds at first; the entry's id
//!   boxed -> unboxing stub: this += header; jmp [slot]     for VTables of value types, made when it is asked for
//!   count -> 4 bytes of the slot area        how many calls are left to be counted, of code that counts them (`code/hot.rs`)
//! ```
//! A caller that still goes through the stub after the method was compiled pays for one jump more; nothing else differs.
//!
//! A method has an entry of its own in each domain that calls it: code contains addresses of statics and literals.
//!
//! # Invariants
//! * The slot always holds callable code: the prestub until the method is compiled, then its code. Code that was replaced stays callable: threads may
//!   be in it.
//! * The permanent stub `jmp [slot]` never changes and is the method's identity as a function pointer in its domain.
//! * An entry is found by its id before any thread can reach its stub.
//! * A slot of a VTable holds a slot stub, which all VTables share, until the first call through it: most slots of most classes are
//!   never called, and their methods need no entry. From then on it holds the permanent stub (or an unboxing stub in front of it) until
//!   the method is compiled, then the code itself. [`fill_slot`], [`Entry::compiled`] and [`Entry::replace`] store it under the entry's lock, so that
//!   what is stored last is the code.
//! * Places in VTables that hold code which counts its calls are known, because the code may be replaced.
use crate::code::call_counts::CallCounter;
use crate::code::profiles::Profile;
use crate::code::{arena, perf};
use crate::domain::Domain;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use vervet_abi::VTable;
use vervet_os::{Chunks, LeafLock, Published};
use vervet_types::{LoadError, MethodRef};

/// See the module.
pub struct Entry {
    /// What the prestub knows it by, in the process.
    id: u32,
    /// The domain that the method's code runs in.
    pub domain: &'static Domain,
    /// The method.
    pub method: MethodRef,
    /// Address of the slot, which generated code calls through.
    slot: usize,
    /// Address of the permanent stub.
    stub: usize,
    /// Address of the unboxing stub, 0 while there is none.
    boxed: AtomicUsize,
    /// Address of the method's code, 0 until it is compiled. Set after the code is in the table, and once more if the method is compiled again.
    code: AtomicUsize,
    /// Address of the counter of its calls, 0 if no code of the method counts them.
    counter: AtomicUsize,
    /// Some thread has seen to it that the method is compiled again.
    is_claimed: AtomicBool,
    /// Code that counted was replaced by code that does not. Changes under the lock of `tables`.
    is_replaced: AtomicBool,
    /// Places in VTables that hold the permanent stub, or code that may be replaced.
    tables: LeafLock<Vec<usize>>,
    /// Cell of a P/Invoke: the bound address, and that address again if it is that of a short function.
    pub pinvoke: PInvokeCell,
    /// What its first code notes of receivers.
    pub profile: Profile,
}

/// What a P/Invoke is bound to. Generated code reads the two words.
#[repr(C)]
#[derive(Default)]
pub struct PInvokeCell {
    /// The native function; 0 before the first call.
    pub address: AtomicUsize,
    /// The same, if it is the C library's [`ShortFunction`](vervet_abi::ShortFunction) of the name that the method gives; else 0.
    pub short: AtomicUsize,
}

/// All entries, by id. One that another thread was quicker to make stays here, and nobody calls it.
static ENTRIES: Chunks<Published<Entry>> = Chunks::new();
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Layout of the 32-byte stub block: `jmp [rip+slot]` (6 bytes, padded to 16), then `mov eax, id; jmp prestub`.
const PRESTUB_AT: usize = 16;
const STUB_SIZE: usize = 32;

/// The entry of a method in a domain, made if need be.
pub fn entry(domain: &'static Domain, method: MethodRef) -> Result<&'static Entry, LoadError> {
    let cell = domain.entries.at(method.id);
    if let Some(id) = cell.load(Ordering::Acquire).checked_sub(1) {
        return Ok(by_id(id as u32));
    }
    let made = make(domain, method)?;
    Ok(
        match cell.compare_exchange(0, made.id as usize + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => made,
            Err(first) => by_id(first as u32 - 1),
        },
    )
}

/// The entry whose prestub was called.
pub fn by_id(id: u32) -> &'static Entry {
    ENTRIES
        .get(id)
        .and_then(Published::get)
        .expect("an entry is found by its id before its stub is known")
}

/// The entry of a method in a domain, if there is one. Makes nothing and takes no lock.
pub fn existing(domain: &Domain, method: MethodRef) -> Option<&'static Entry> {
    let id = domain.entries.get(method.id)?.load(Ordering::Acquire);
    Some(by_id(id.checked_sub(1)? as u32))
}

/// Has the method been compiled for the domain? Makes nothing and takes no lock.
pub fn is_compiled(domain: &Domain, method: MethodRef) -> bool {
    existing(domain, method).is_some_and(|entry| entry.code() != 0)
}

fn make(domain: &'static Domain, method: MethodRef) -> Result<&'static Entry, LoadError> {
    let id = COUNT.fetch_add(1, Ordering::Relaxed);
    let slot = arena::new_slot()? as usize;
    let mut code = [0xCCu8; STUB_SIZE];
    let prestub = crate::arch::near_prestub();
    let stub = arena::place(
        &mut code,
        16,
        |c, at| {
            c[0..2].copy_from_slice(&[0xFF, 0x25]);
            c[2..6].copy_from_slice(&((slot as i64 - (at as i64 + 6)) as i32).to_le_bytes());
            c[PRESTUB_AT] = 0xB8;
            c[PRESTUB_AT + 1..PRESTUB_AT + 5].copy_from_slice(&id.to_le_bytes());
            c[PRESTUB_AT + 5] = 0xE9; // jmp prestub
            c[PRESTUB_AT + 6..PRESTUB_AT + 10].copy_from_slice(
                &((prestub as i64 - (at + PRESTUB_AT + 10) as i64) as i32).to_le_bytes(),
            );
        },
        |at| at,
    )?;
    perf::stub(stub, STUB_SIZE, || format!("(stub) {}", method.full_name()));
    // SAFETY: the slot is fresh and ours.
    unsafe { *(slot as *mut usize) = stub + PRESTUB_AT };
    Ok(ENTRIES.at(id).put(Entry {
        id,
        domain,
        method,
        slot,
        stub,
        boxed: AtomicUsize::new(0),
        code: AtomicUsize::new(0),
        counter: AtomicUsize::new(0),
        is_claimed: AtomicBool::new(false),
        is_replaced: AtomicBool::new(false),
        tables: LeafLock::default(),
        pinvoke: PInvokeCell::default(),
        profile: Profile::default(),
    }))
}

/// The method behind an address that [`Entry::stub`] or [`Entry::boxed_stub`] gave out, in whatever domain.
pub fn method_of_stub(address: usize) -> Option<MethodRef> {
    if !arena::contains(address) {
        return None;
    }
    // SAFETY: the address lies in the code arena; stub blocks are recognised by their bytes.
    unsafe {
        let code = address as *const u8;
        let boxed = (code as *const u32).read_unaligned() == ADD_RDI_8;
        let id_at = if boxed { 10 } else { PRESTUB_AT };
        let jump = code.add(if boxed { 4 } else { 0 });
        if *jump != 0xFF || *jump.add(1) != 0x25 || *code.add(id_at) != 0xB8 {
            return None;
        }
        let id = (code.add(id_at + 1) as *const u32).read_unaligned();
        let e = ENTRIES.get(id)?.get()?;
        let own = if boxed {
            e.boxed.load(Ordering::Acquire)
        } else {
            e.stub
        };
        (own == address).then_some(e.method)
    }
}

// add rdi, 8 = 48 83 C7 08
const ADD_RDI_8: u32 = 0x08C7_8348;

impl Entry {
    /// What the prestub knows it by.
    pub fn id(&self) -> u32 {
        self.id
    }
    /// Address of the slot.
    pub fn slot(&self) -> usize {
        self.slot
    }
    /// The permanent `jmp [slot]` stub.
    pub fn stub(&self) -> usize {
        self.stub
    }
    /// The code that has the method compiled and goes on to it.
    pub fn prestub(&self) -> usize {
        self.stub + PRESTUB_AT
    }
    /// Address of the counter of the method's calls, made if need be: before there is code that counts.
    pub fn counter(&self) -> Result<usize, LoadError> {
        let have = self.counter.load(Ordering::Acquire);
        if have != 0 {
            return Ok(have);
        }
        let made = arena::new_slot()? as usize;
        // SAFETY: the slot is fresh and ours, and a counter has the size of one.
        unsafe { (made as *mut CallCounter).write(CallCounter::of(self.method)) };
        Ok(
            match self
                .counter
                .compare_exchange(0, made, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => made,
                Err(first) => first,
            },
        )
    }
    /// The counter of the method's calls; None: no code of the method counts.
    pub fn calls(&self) -> Option<&CallCounter> {
        match self.counter.load(Ordering::Acquire) {
            0 => None,
            // SAFETY: the slot is the entry's for ever, and was written before its address.
            at => Some(unsafe { &*(at as *const CallCounter) }),
        }
    }
    /// Whether the calling thread is the one that sees to it that the method is compiled again: the first that asks.
    pub fn claim(&self) -> bool {
        !self.is_claimed.swap(true, Ordering::AcqRel)
    }
    /// Whether the code that counted was replaced.
    pub fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Acquire)
    }
    /// Whether the code may be replaced: then places that hold it are to be known.
    fn may_be_replaced(&self) -> bool {
        self.calls().is_some() && !self.is_replaced()
    }
    /// The stub that turns a boxed `this` into a byref and goes on to the method (value-type methods).
    pub fn boxed_stub(&self) -> Result<usize, LoadError> {
        let have = self.boxed.load(Ordering::Acquire);
        if have != 0 {
            return Ok(have);
        }
        // add rdi, 8; jmp [slot]; then the id, for `method_of_stub`
        let mut code = [0xCCu8; 16];
        code[..6].copy_from_slice(&[0x48, 0x83, 0xC7, 0x08, 0xFF, 0x25]);
        code[10] = 0xB8;
        code[11..15].copy_from_slice(&self.id.to_le_bytes());
        let slot = self.slot;
        let made = arena::place(
            &mut code,
            16,
            |c, at| {
                c[6..10].copy_from_slice(&((slot as i64 - (at as i64 + 10)) as i32).to_le_bytes())
            },
            |at| at,
        )?;
        perf::stub(made, code.len(), || {
            format!("(unboxing stub) {}", self.method.full_name())
        });
        Ok(
            match self
                .boxed
                .compare_exchange(0, made, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => made,
                Err(first) => first,
            },
        )
    }
    /// The code, 0 before it is compiled.
    pub fn code(&self) -> usize {
        self.code.load(Ordering::Acquire)
    }
    /// Publishes the method's code unless another thread was first; the code that stands.
    pub fn compiled(&self, code: usize) -> usize {
        let first = self
            .code
            .compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        if let Err(standing) = first {
            return standing;
        }
        self.publish(None);
        code
    }
    /// Publishes code that does not count calls in place of code that does, unless another thread was first; the code that stands.
    pub fn replace(&self, code: usize) -> usize {
        self.publish(Some(code));
        self.code()
    }
    /// Stores the code where callers find it: the slot goes first, then the tables that hold the stub or code of before. What the code is changes, and is
    /// asked, under the lock. So whoever stores last stores what stands, and a place that gets the code of before is known.
    fn publish(&self, new: Option<usize>) {
        let mut tables = self.tables.lock();
        if let Some(code) = new
            && !self.is_replaced()
        {
            self.code.store(code, Ordering::Release);
            self.is_replaced.store(true, Ordering::Release);
        }
        let code = self.code();
        // SAFETY: the slot is ours; an aligned word store is seen whole by callers.
        unsafe { (*(self.slot as *const AtomicUsize)).store(code, Ordering::Release) };
        for place in tables.iter() {
            // SAFETY: places are slots of VTables, which live for ever; the word holds the stub, or code of the method.
            unsafe { (*(*place as *const AtomicUsize)).store(code, Ordering::Release) };
        }
        if !self.may_be_replaced() {
            *tables = Vec::new();
        }
    }
}

/// How many slots get their stubs together.
const STUBS_TOGETHER: u32 = 64;
/// The first of each group of slot stubs, 0 while there is none.
static SLOT_STUBS: Chunks<AtomicUsize> = Chunks::new();

/// What slot `slot` of every VTable holds until it is called.
pub fn slot_stub(slot: u32) -> Result<usize, LoadError> {
    let group = slot / STUBS_TOGETHER;
    let cell = SLOT_STUBS.at(group);
    let mut first = cell.load(Ordering::Acquire);
    if first == 0 {
        // Two threads may place a group at the same time; both work.
        first = crate::arch::place_slot_stubs(group * STUBS_TOGETHER, STUBS_TOGETHER)?;
        cell.store(first, Ordering::Release);
    }
    Ok(first + crate::arch::SLOT_STUB * (slot % STUBS_TOGETHER) as usize)
}

/// Stores code into slot `slot` of a VTable of transparent proxies. No method's entry knows the place, so it stays.
pub(crate) fn store_slot(vtable: &'static VTable, slot: usize, code: usize) {
    assert!(slot < vtable.slot_count as usize, "a slot of the VTable");
    let address =
        vtable as *const VTable as usize + vervet_abi::vtable::SLOTS_OFFSET as usize + 8 * slot;
    // SAFETY: the slot is a word behind the VTable, which lives for ever; it is read by calls and written as a whole.
    unsafe { &*(address as *const AtomicUsize) }.store(code, Ordering::Release);
}

/// Stores into slot `slot` of the VTable what is called through it: code or stub, boxed if the method's `this` is a value. What was stored.
pub fn fill_slot(
    method: MethodRef,
    boxed: bool,
    vtable: &'static VTable,
    slot: usize,
) -> Result<usize, LoadError> {
    assert!(slot < vtable.slot_count as usize, "a slot of the VTable");
    let address =
        vtable as *const VTable as usize + vervet_abi::vtable::SLOTS_OFFSET as usize + 8 * slot;
    // SAFETY: the slot is a word behind the VTable, which lives for ever; it is read by calls and written as a whole.
    let place = unsafe { &*(address as *const AtomicUsize) };
    let e = entry(crate::domain::by_id(vtable.domain), method)?;
    if boxed {
        let stub = e.boxed_stub()?;
        place.store(stub, Ordering::Release);
        return Ok(stub);
    }
    // Asked and stored under the lock: a thread that publishes the code either sees this place or was seen.
    let mut tables = e.tables.lock();
    let code = match e.code() {
        0 => {
            tables.push(address);
            e.stub
        }
        code => {
            if e.may_be_replaced() {
                tables.push(address);
            }
            code
        }
    };
    place.store(code, Ordering::Release);
    Ok(code)
}
