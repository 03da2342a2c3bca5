//! The plan of the process's address space: how much of it each part of the runtime reserves.
//!
//! A reservation costs no memory, but a process may be given little address space (`ulimit -v`, batch systems, a system that
//! counts what may be written). All reservations are therefore sized together, before the first is made, from what is left of
//! the limit. `docs/architecture.md` has the table.
//!
//! # Invariants
//! * The plan is made once, by the only thread, before anything is reserved. Its total, with [`room`] for what grows later, was
//!   granted by the system a moment ago; so no reservation of the plan fails for want of address space.
//! * Every part is at least [`MINIMUM`]'s. A process with less is told so, and does not start.
//! * What generated code holds as constants ([`TableSizes`]) is fixed by the plan.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vervet_abi::TableSizes;
use vervet_handles::layout as handles;
use vervet_os::memory;

/// Bytes that each part reserves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AddressPlan {
    /// The heap's range. Its side tables come on top.
    pub heap: usize,
    /// The card table covers addresses modulo a power of two, which is the heap's size or more; GC handles have so many slots.
    pub tables: TableSizes,
    /// Machine code. It is mapped twice.
    pub code: usize,
    /// The slots of methods, behind the code.
    pub slots: usize,
    /// VTables, below 2 GiB.
    pub vtables: usize,
    /// One thread's memory for localloc; a thread with a larger stack has more.
    pub localloc_stack: usize,
}

/// Of a process without a limit.
pub const USUAL: AddressPlan = AddressPlan {
    heap: 256 << 30,
    tables: TableSizes::USUAL,
    code: 512 << 20,
    slots: 128 << 20,
    vtables: 1 << 30,
    localloc_stack: 16 << 20,
};

/// The least of each part with which programs run.
const MINIMUM: AddressPlan = AddressPlan {
    heap: 64 << 20,
    tables: TableSizes {
        card_mask: (1 << 17) - 1,
        handle_index_bits: 16,
    },
    code: 16 << 20,
    slots: 4 << 20,
    vtables: 8 << 20,
    localloc_stack: 1 << 20,
};

/// Below this much address space the C library's allocator gets one arena: each of the others takes 64 MiB for a thread.
const ONE_ARENA: usize = 8 << 30;

/// Bytes of the stack on which a thread compiles.
pub(crate) const SERVICE_STACK: usize = 4 << 20;

/// What is kept free for thread stacks, libraries, assemblies and native memory.
fn room(plan: &AddressPlan) -> usize {
    (plan.heap / 4).clamp(64 << 20, 1 << 30)
}

fn floor(n: usize) -> usize {
    n & !((1 << 20) - 1)
}

impl AddressPlan {
    /// What is reserved in all.
    pub fn total(&self) -> usize {
        vervet_heap::address_space(self.heap)
            + self.tables.card_mask
            + 1
            + handles::address_space(self.tables.handle_index_bits)
            + 2 * self.code
            + self.slots
            + self.vtables
            + self.localloc_stack
    }

    /// The largest plan for that much address space. None: nothing runs in it.
    pub fn within(bytes: usize) -> Option<AddressPlan> {
        if bytes >= USUAL.total() + room(&USUAL) {
            return Some(USUAL);
        }
        let heap = floor(bytes / 2).clamp(MINIMUM.heap, USUAL.heap);
        let bits = (MINIMUM.tables.handle_index_bits..=USUAL.tables.handle_index_bits)
            .rev()
            .find(|bits| handles::address_space(*bits) <= bytes / 16);
        let code = floor(bytes / 16).clamp(MINIMUM.code, USUAL.code);
        let plan = AddressPlan {
            heap,
            tables: TableSizes {
                card_mask: (heap >> vervet_abi::object::CARD_SHIFT).next_power_of_two() - 1,
                handle_index_bits: bits.unwrap_or(MINIMUM.tables.handle_index_bits),
            },
            code,
            slots: code / 4,
            vtables: floor(bytes / 32).clamp(MINIMUM.vtables, USUAL.vtables),
            localloc_stack: floor(bytes / 256).clamp(MINIMUM.localloc_stack, USUAL.localloc_stack),
        };
        [plan, MINIMUM]
            .into_iter()
            .find(|plan| plan.total() + room(plan) <= bytes)
    }

    /// The plan of this process: as large as its limit, and the system, allow. `Err` is a sentence for the user.
    pub fn make() -> Result<AddressPlan, String> {
        let limit = memory::address_space_left();
        let mut bytes = limit.unwrap_or(usize::MAX);
        let plan = loop {
            let Some(plan) = AddressPlan::within(bytes) else {
                let (wanted, left) = (MINIMUM.total() + room(&MINIMUM), limit.map(|l| l >> 20));
                return Err(format!(
                    "not enough address space: {} MiB are needed{} (see ulimit -v)",
                    wanted.div_ceil(1 << 20),
                    left.map_or(String::new(), |l| format!(", {l} MiB are left"))
                ));
            };
            if memory::is_granted(plan.total() + room(&plan)) {
                break plan;
            }
            bytes = (plan.total() + room(&plan)) / 4 * 3;
        };
        if plan != USUAL && plan.total() < ONE_ARENA {
            // SAFETY: a setting of the C library's allocator, made while there is one thread.
            unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
        }
        Ok(plan.overridden())
    }

    /// With the parts that `VERVET_DEBUG_PLAN` names (`code=1m,vtables=8m,…`) at the sizes it gives, so that tests can use them up.
    fn overridden(mut self) -> AddressPlan {
        let text = std::env::var("VERVET_DEBUG_PLAN").unwrap_or_default();
        for (name, value) in text.split(',').filter_map(|part| part.split_once('=')) {
            let Some(value) = crate::memory::gc::options::size(value) else {
                continue;
            };
            match name {
                "code" => self.code = value,
                "slots" => self.slots = value,
                "vtables" => self.vtables = value,
                "localloc-stack" => self.localloc_stack = value,
                "handle-bits" => self.tables.handle_index_bits = value.clamp(12, 29) as u32,
                _ => {}
            }
        }
        self
    }

    /// Makes the plan the process's. Called once, before the first thread of ours.
    pub fn adopt(&self) {
        LOCALLOC_STACK.store(self.localloc_stack, Ordering::Relaxed);
        LIMITED.store(*self != USUAL, Ordering::Relaxed);
    }
}

static LIMITED: AtomicBool = AtomicBool::new(false);

/// Has the process less address space than usual?
pub fn is_limited() -> bool {
    LIMITED.load(Ordering::Relaxed)
}

/// What a thread that is started leaves of the address space for everybody else: native memory, the next assembly.
const LEFT_BY_THREADS: usize = 48 << 20;

/// May a thread with such a stack be started? It may need a new [`crate::safepoint::registry::Thread`] with its stacks. Where address space is limited, a thread that got the last of it would only end the
/// process, because what cannot be had later (native memory, a stack to compile on) has nobody to tell.
pub fn has_room_for_thread(stack: usize) -> bool {
    has_room_beside_thread(stack, 0)
}

/// As [`has_room_for_thread`], and so many bytes are left besides.
pub fn has_room_beside_thread(stack: usize, others: usize) -> bool {
    has_room_for(stack + super::localloc_stack::size_for(stack) + SERVICE_STACK + others)
}

/// Would so many bytes leave enough for everybody else?
pub(crate) fn has_room_for(bytes: usize) -> bool {
    !is_limited() || memory::is_granted(bytes + LEFT_BY_THREADS)
}

static LOCALLOC_STACK: AtomicUsize = AtomicUsize::new(USUAL.localloc_stack);

/// Bytes of one thread's localloc stack, if the thread's own is of a usual size.
pub fn localloc_stack() -> usize {
    LOCALLOC_STACK.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_fits_what_it_is_made_for() {
        let mut before = 0;
        for mib in (256..1 << 20).step_by(97) {
            let bytes = mib << 20;
            let plan = AddressPlan::within(bytes).expect("256 MiB are enough");
            assert!(plan.total() + room(&plan) <= bytes, "{mib} MiB: {plan:?}");
            assert!(
                plan.heap <= (plan.tables.card_mask + 1) << 9,
                "{mib} MiB: cards for less than the heap"
            );
            assert!(plan.heap >= before, "{mib} MiB: more space, smaller heap");
            before = plan.heap;
        }
        assert_eq!(before, USUAL.heap);
    }

    #[test]
    fn the_least_plan_is_one() {
        let least = (1..).find(|mib| AddressPlan::within(mib << 20).is_some());
        assert!(least.is_some_and(|mib| mib <= 256), "{least:?}");
        assert_eq!(AddressPlan::within(0), None);
    }

    #[test]
    fn a_process_without_a_limit_has_the_usual_plan() {
        assert_eq!(AddressPlan::within(usize::MAX), Some(USUAL));
    }
}
