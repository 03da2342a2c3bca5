//! A check of the walker: the thread runs one instruction at a time, and after each of them the
//! walk is compared with what the instructions did.
//!
//! # How it works
//! With `VERVET_DEBUG_STEP_WALKS=1` a thread that sends itself SIGTRAP is stepped by the
//! processor's trap flag until it does so again. After each instruction the handler follows
//! calls and returns in a list of its own (the *shadow*), walks, and compares. A walk is right
//! if it gives the managed frames as they were before the instruction, as they are after it, or
//! as they are after the next one. A second walk with random registers must only come to an
//! end.
//!
//! The second signal ends the process with code 1 if a walk was wrong, or if too many could not
//! begin; otherwise it prints what was walked.
//!
//! # Invariants
//! * One thread is stepped. The trap flag is cleared wherever it is found without a reason.
//! * What the runtime does in Native state of itself (compiling, waiting) is not stepped: its
//!   return address is replaced by that of code that sets the trap flag again.
//! * The shadow knows instructions and stack pointers only: nothing that the walker reads.
use super::walk::{self, Own};
use crate::arch::Registers;
use crate::arch::unwind::{self, Rule};
use crate::code::{arena, table};
use crate::process::fatal::write_stderr;
use std::arch::naked_asm;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::State;
use vervet_abi::stack::Segment;
use vervet_os::signal;
use vervet_profiler::sample::{FRAMELESS, FrameKind, FrameWord, MOST_FRAMES};

const TRAP_FLAG: i64 = 0x100;
const TRAP_TRACE: i32 = 2;
/// Walks that cannot begin, of a thousand: those between the end of a throw and its landing
/// pad. In managed code all can.
const MOST_FRAMELESS: usize = 15;

/// A return address in the arena, and where it lies.
#[derive(Clone, Copy)]
struct Call {
    slot: usize,
    address: usize,
}

/// What a thread of the program has called.
struct Shadow {
    context: *mut ThreadContext,
    calls: Vec<Call>,
}

/// How long the lists may become: nothing here takes memory while a thread is stepped, because
/// it may be stepped through `malloc`.
const ROOM: usize = 2048;
/// Threads of the program that the stepped one may carry.
const MOST_SHADOWS: usize = 32;

struct Stepper {
    shadows: Vec<Shadow>,
    before: Vec<usize>,
    now: Vec<usize>,
    found: Vec<usize>,
    /// A walk that is right only if the next instruction leads there.
    pending: Vec<usize>,
    last: Option<(usize, usize)>,
    steps: usize,
    managed: usize,
    frameless: usize,
    frameless_managed: usize,
    /// Where the first of them were.
    frames_lost_at: Vec<usize>,
    wrong: Vec<Wrong>,
    wrongs: usize,
    random: u64,
}

/// A walk that was wrong.
#[derive(Clone, Copy)]
struct Wrong {
    pc: usize,
    last: Option<(usize, usize)>,
    found: Part,
    before: Part,
    now: Part,
}
/// The innermost frames, 0 behind the last.
type Part = [usize; 12];

fn part(of: &[usize]) -> Part {
    std::array::from_fn(|i| of.get(i).copied().unwrap_or(0))
}

impl Stepper {
    fn new() -> Stepper {
        let list = || Vec::with_capacity(ROOM);
        let shadow = || Shadow {
            context: std::ptr::null_mut(),
            calls: Vec::with_capacity(ROOM),
        };
        Stepper {
            shadows: (0..MOST_SHADOWS).map(|_| shadow()).collect(),
            before: list(),
            now: list(),
            found: list(),
            pending: list(),
            last: None,
            steps: 0,
            managed: 0,
            frameless: 0,
            frameless_managed: 0,
            frames_lost_at: Vec::with_capacity(16),
            wrong: Vec::with_capacity(8),
            wrongs: 0,
            random: 88_172_645_463_325_252,
        }
    }
}

struct Cell(UnsafeCell<Option<Stepper>>);
// SAFETY: used in the handler of the thread that is stepped only.
unsafe impl Sync for Cell {}
static STEPPER: Cell = Cell(UnsafeCell::new(None));
/// The thread that is stepped; 0: none.
static OWNER: AtomicI32 = AtomicI32::new(0);
static RETURN: AtomicUsize = AtomicUsize::new(0);

/// Installs the handler if the environment asks for it. Called once at start-up.
pub(crate) fn initialise() {
    if std::env::var_os("VERVET_DEBUG_STEP_WALKS").is_some_and(|v| v == "1") {
        unwind::initialise();
        // SAFETY: debugging; the handler interrupts a P/Invoke that sends the signal, or a thread that is stepped.
        unsafe {
            signal::install(
                libc::SIGTRAP,
                on_trap,
                0,
                &[crate::safepoint::stop_word::SUSPEND],
            )
        };
    }
}

extern "C" fn on_trap(_: i32, info: *mut libc::siginfo_t, uc: *mut libc::c_void) {
    // SAFETY: the kernel's records. The stepper belongs to the thread that is stepped.
    unsafe {
        let uc = &mut *(uc as *mut libc::ucontext_t);
        let errno = *libc::__errno_location();
        let me = signal::thread_id();
        let owner = OWNER.load(Ordering::Relaxed);
        let flags = &raw mut uc.uc_mcontext.gregs[libc::REG_EFL as usize];
        let stepper = &mut *STEPPER.0.get();
        if (*info).si_code == TRAP_TRACE {
            match stepper {
                Some(s) if owner == me => {
                    if s.step(uc) {
                        *flags &= !TRAP_FLAG;
                    }
                }
                _ => *flags &= !TRAP_FLAG,
            }
        } else if owner == 0 {
            *stepper = Some(Stepper::new());
            OWNER.store(me, Ordering::Relaxed);
            *flags |= TRAP_FLAG;
        } else if owner == me {
            *flags &= !TRAP_FLAG;
            OWNER.store(0, Ordering::Relaxed);
            if let Some(s) = stepper.take() {
                s.report();
            }
        }
        *libc::__errno_location() = errno;
    }
}

/// Sets the trap flag and returns to where the call that was not stepped was made.
#[unsafe(naked)]
unsafe extern "C" fn step_again() {
    naked_asm!(
        "push qword ptr [rip + {to}]",
        "pushfq",
        "or dword ptr [rsp], {flag}",
        "popfq",
        "ret",
        to = sym RETURN,
        flag = const TRAP_FLAG,
    )
}

/// Is the instruction at `pc` a call?
///
/// # Safety
/// Code is at that address.
unsafe fn is_call(pc: usize) -> bool {
    // SAFETY: the caller's promise.
    let byte = |i: usize| unsafe { ((pc + i) as *const u8).read() };
    let at = usize::from((0x40..0x50).contains(&byte(0)));
    byte(at) == 0xE8 || (byte(at) == 0xFF && byte(at + 1) & 0x38 == 0x10)
}

impl Stepper {
    /// The shadow of a context; a new one begins with the frames that a walk by frame pointers
    /// finds below the innermost exit record.
    fn shadow(&mut self, context: *mut ThreadContext) -> usize {
        if let Some(i) = self.shadows.iter().position(|s| s.context == context) {
            return i;
        }
        let free = self.shadows.iter().position(|s| s.context.is_null());
        let at = free.expect("fewer threads than that are stepped");
        self.shadows[at].context = context;
        let calls = &mut self.shadows[at].calls;
        // SAFETY: the thread is in a P/Invoke or has not run yet, so its records and frames are whole.
        unsafe {
            let mut record = (*context).record;
            while let Some(r) = record.as_ref() {
                record = r.previous;
                if !r.begins_piece() {
                    let (mut slot, mut address, mut fp) = (r.sp - 8, r.pc, r.fp);
                    while arena::contains(address) {
                        calls.push(Call { slot, address });
                        (slot, address) = (fp + 8, ((fp + 8) as *const usize).read());
                        fp = (fp as *const usize).read();
                    }
                }
            }
        }
        calls.reverse();
        at
    }

    /// After an instruction; true: what follows is not to be stepped.
    ///
    /// # Safety
    /// The registers are those of the calling thread, which is stepped.
    unsafe fn step(&mut self, uc: &libc::ucontext_t) -> bool {
        let r = Registers::of(uc);
        let context = crate::threads::current_context();
        if context.is_null() {
            return false;
        }
        let at = self.shadow(context);
        // SAFETY: the calling thread's context and stack.
        let (state, called) = unsafe {
            let state = (&raw const (*context).state).read_volatile();
            let called = match self.last {
                Some((pc, sp)) if r.sp == sp.wrapping_sub(8) && is_call(pc) => {
                    Some((pc, (r.sp as *const usize).read()))
                }
                _ => None,
            };
            (state, called)
        };
        let is_managed = state == State::Managed as u8;
        // SAFETY: as above.
        unsafe { self.follow(at, context, &r, is_managed, called.map(|c| c.1)) };
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        if is_managed && arena::contains(r.pc) && table::find(r.pc).is_some() {
            self.now.push(r.pc);
        }
        let rule = unwind::rule_at(r.pc);
        if matches!(rule, Some(Rule::TargetFrameInRbp | Rule::TargetFrameInRdx)) {
            self.now.push(r.rdi);
        }
        let calls = self.shadows[at].calls.iter().rev().map(|c| c.address);
        self.now.extend(calls);
        // SAFETY: the calling thread's context.
        unsafe { self.compare(context, &r, is_managed) };
        self.last = Some((r.pc, r.sp));
        let native = crate::arch::call_native as *const () as usize;
        if let Some((from, address)) = called
            && state == State::Native as u8
            && (native..native + 128).contains(&from)
        {
            RETURN.store(address, Ordering::Relaxed);
            // SAFETY: the word is the return address of the function that begins here, which returns.
            unsafe { (r.sp as *mut usize).write(step_again as *const () as usize) };
            self.last = None;
            return true;
        }
        false
    }

    /// Follows what the last instruction did.
    ///
    /// # Safety
    /// The context and the registers are the calling thread's.
    unsafe fn follow(
        &mut self,
        at: usize,
        context: *mut ThreadContext,
        r: &Registers,
        is_managed: bool,
        returns_to: Option<usize>,
    ) {
        let rule = unwind::rule_at(r.pc);
        let calls = &mut self.shadows[at].calls;
        // SAFETY: the calling thread's context and segments.
        let segment = unsafe { ((*context).segment as *const Segment).as_ref() };
        let is_current = |at: usize| match segment {
            Some(s) => s.contains(at),
            // SAFETY: as above.
            None => unsafe { at >= r.sp && at < (*context).stack_base },
        };
        let target = match rule {
            Some(Rule::TargetFrameInRbp) => Some(r.fp),
            Some(Rule::TargetFrameInRdx) => Some(r.rdx),
            _ => None,
        };
        if let Some(fp) = target {
            // An exception goes on in the frame at `fp`: what was called from there is over.
            let keeps = |call: &Call| {
                let mut earlier = segment.map_or(std::ptr::null_mut(), |s| s.previous);
                // SAFETY: as above.
                while let Some(s) = unsafe { earlier.as_ref() } {
                    if s.contains(call.slot) {
                        return true;
                    }
                    earlier = s.previous;
                }
                (segment.is_none() || is_current(call.slot)) && call.slot >= fp + 8
            };
            let kept = calls.iter().rposition(keeps).map_or(0, |last| last + 1);
            calls.truncate(kept);
            return;
        }
        if (is_managed || rule.is_some()) && is_current(r.sp) {
            while calls
                .last()
                .is_some_and(|c| c.slot < r.sp && is_current_slot(segment, c.slot, context))
            {
                calls.pop();
            }
        }
        let is_exact = rule == Some(Rule::ExactAtSp);
        let new = match returns_to {
            Some(address) if arena::contains(address) && !is_stack_check(address) => Some(address),
            // SAFETY: a handler has put the address of an instruction there.
            _ if is_exact => Some(unsafe { (r.sp as *const usize).read() }),
            _ => None,
        };
        if let Some(address) = new
            && calls.last().is_none_or(|c| c.slot != r.sp)
        {
            calls.push(Call {
                slot: r.sp,
                address,
            });
        }
    }

    /// Walks, and compares the walk with the shadow.
    ///
    /// # Safety
    /// The context and the registers are the calling thread's.
    unsafe fn compare(&mut self, context: *mut ThreadContext, r: &Registers, is_managed: bool) {
        let mut words = [FrameWord(0); MOST_FRAMES];
        // SAFETY: the caller's promise.
        let memory = unsafe { Own::new(context, r.sp) };
        // SAFETY: the caller's promise.
        let walked = unsafe { walk::walk(context, &memory, Some(r), &mut words) };
        self.steps += 1;
        self.managed += usize::from(is_managed);
        if !self.pending.is_empty() && self.pending != self.now {
            self.wrongs += 1;
            if self.wrong.len() < self.wrong.capacity() {
                self.wrong.push(Wrong {
                    pc: r.pc,
                    last: self.last,
                    found: part(&self.pending),
                    before: part(&self.before),
                    now: part(&self.now),
                });
            }
        }
        self.pending.clear();
        if walked.flags & FRAMELESS != 0 {
            self.frameless += 1;
            self.frameless_managed += usize::from(is_managed);
            if self.frames_lost_at.len() < self.frames_lost_at.capacity() {
                self.frames_lost_at.push(r.pc);
            }
        } else {
            self.found.clear();
            let words = words[..walked.count].iter();
            let frames = words.filter(|w| w.kind() != FrameKind::Stub);
            self.found.extend(frames.map(|w| w.address()));
            if self.found != self.now && self.found != self.before {
                std::mem::swap(&mut self.found, &mut self.pending);
            }
        }
        let mut random = || {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            let near = (self.random >> 8) as usize & 0xFFFF;
            match self.random % 4 {
                0 => self.random as usize,
                1 => r.sp.wrapping_add(near & !7),
                2 => r.sp.wrapping_sub(near),
                _ => near,
            }
        };
        let strange = Registers {
            fp: random(),
            r11: random(),
            rdi: random(),
            rdx: random(),
            ..*r
        };
        // SAFETY: the caller's promise; the walker does not believe these registers.
        unsafe { walk::walk(context, &memory, Some(&strange), &mut words) };
    }

    fn report(self) {
        let text = format!(
            "walks: {} instructions, {} of them managed; {} without frames, {} of them managed; {} wrong\n",
            self.steps, self.managed, self.frameless, self.frameless_managed, self.wrongs
        );
        write_stderr(&text);
        let thunk = crate::arch::icall_thunk as *const () as usize;
        let list = |of: &Part| {
            let names = of
                .iter()
                .filter(|pc| **pc != 0)
                .map(|pc| match table::find(pc - 1) {
                    Some(code) => format!(
                        "{}+{:#x}",
                        code.method().map_or("stub".into(), |m| m.full_name()),
                        pc - code.start
                    ),
                    None => format!("{pc:#x}"),
                });
            names.collect::<Vec<_>>().join(" < ")
        };
        for w in &self.wrong {
            let (pc, sp) = w.last.unwrap_or_default();
            write_stderr(&format!(
                "walk differs at {pc:#x}, sp {sp:#x}, rule {:?}, next {:#x}; the icall thunk is at {:#x}:\n  walk   {}\n  before {}\n  now    {}\n",
                unwind::rule_at(pc),
                w.pc,
                thunk,
                list(&w.found),
                list(&w.before),
                list(&w.now),
            ));
        }
        if self.frameless != 0 {
            write_stderr(&format!(
                "without frames at {:x?} (the icall thunk is at {thunk:#x})\n",
                self.frames_lost_at
            ));
        }
        let too_many = self.frameless * 1000 > self.steps * MOST_FRAMELESS;
        if self.wrongs != 0 || too_many || self.frameless_managed != 0 || self.steps == 0 {
            // SAFETY: ends the process.
            unsafe { libc::_exit(1) };
        }
    }
}

/// Does a return address lie on the segment that is current (or on the only stack)?
fn is_current_slot(segment: Option<&Segment>, slot: usize, context: *mut ThreadContext) -> bool {
    match segment {
        Some(s) => s.contains(slot),
        // SAFETY: contexts are never freed.
        None => slot < unsafe { (*context).stack_base },
    }
}

/// Does the call of the `grow` thunk by a function's stack check return there? It never does.
fn is_stack_check(address: usize) -> bool {
    table::find(address - 1).is_some_and(|code| address + 12 == code.end)
}
