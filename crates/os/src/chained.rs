//! The action that a library wants for a signal whose handler is the runtime's own.
//!
//! The library's call of `sigaction` notes it here and gets the one before, with flags and mask. Signals that are not the runtime's go to its handler, as the
//! kernel would have called it:
//!
//! | flag, mask | is honoured |
//! |---|---|
//! | SA_SIGINFO | three arguments, or one |
//! | `sa_mask`, SA_NODEFER | the thread's mask while the handler runs |
//! | SA_RESTART | without it, a system call that the kernel would have made again ends with EINTR |
//! | SA_RESETHAND | the handler is called once |
//! | SA_ONSTACK | the runtime's handler is on the alternate stack, and so is this one |
//! | SIG_DFL | ignored: a signal of the runtime's that comes late must not end the process |
//!
//! # Invariants
//! * All of it is async-signal-safe: no lock, no memory, and nobody waits for anybody. A reader that was interrupted for so long that its row was written again reads anew.
//! * What a handler does to the saved mask in its context stays, because the kernel restores that mask when the runtime's handler returns.
use crate::restart::Ended;
use crate::signal::{self, Handler};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering::SeqCst};

/// Rows of the table. A row is written again after so many changes.
const ROWS: usize = 16;

/// What a library wants for a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The handler's address, SIG_DFL or SIG_IGN.
    pub handler: usize,
    /// SA_SIGINFO and others.
    pub flags: i32,
    /// Signals that are held back while the handler runs: bit n - 1 for signal n.
    pub mask: u64,
}

impl Action {
    /// No handler.
    pub const DEFAULT: Action = Action {
        handler: libc::SIG_DFL,
        flags: 0,
        mask: 0,
    };
    /// As the C library has it.
    pub fn of(action: &libc::sigaction) -> Action {
        Action {
            handler: action.sa_sigaction,
            flags: action.sa_flags,
            mask: first_word(&action.sa_mask),
        }
    }
    /// For the C library.
    pub fn to_c(self) -> libc::sigaction {
        // SAFETY: zeros are a valid action.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = self.handler;
        action.sa_flags = self.flags;
        // SAFETY: a set is longer than a word, and its first word has signals 1 to 64.
        unsafe { (&raw mut action.sa_mask).cast::<u64>().write(self.mask) };
        action
    }
}

/// Signals 1 to 64 of a set.
pub fn first_word(set: &libc::sigset_t) -> u64 {
    // SAFETY: a set is longer than a word.
    unsafe { std::ptr::from_ref(set).cast::<u64>().read() }
}

/// The bit of a signal in a mask.
pub const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

struct Row {
    handler: AtomicUsize,
    flags: AtomicI32,
    mask: AtomicU64,
}

/// See the module.
pub struct Chained {
    rows: [Row; ROWS],
    /// Rows that were begun: number n lies at n modulo [`ROWS`].
    begun: AtomicU64,
    /// The number of the row that counts.
    current: AtomicU64,
}

impl Default for Chained {
    fn default() -> Chained {
        Chained::new()
    }
}

impl Chained {
    /// No handler.
    pub const fn new() -> Chained {
        Chained {
            rows: [const {
                Row {
                    handler: AtomicUsize::new(libc::SIG_DFL),
                    flags: AtomicI32::new(0),
                    mask: AtomicU64::new(0),
                }
            }; ROWS],
            begun: AtomicU64::new(1),
            current: AtomicU64::new(0),
        }
    }
    /// What the library wants.
    pub fn get(&self) -> Action {
        loop {
            let number = self.current.load(SeqCst);
            let row = &self.rows[number as usize % ROWS];
            let action = Action {
                handler: row.handler.load(SeqCst),
                flags: row.flags.load(SeqCst),
                mask: row.mask.load(SeqCst),
            };
            if self.begun.load(SeqCst) - number <= ROWS as u64 {
                return action;
            }
        }
    }
    /// Notes what the library wants, and gives what it wanted before.
    pub fn set(&self, action: Action) -> Action {
        let before = self.get();
        let number = self.begun.fetch_add(1, SeqCst);
        let row = &self.rows[number as usize % ROWS];
        row.handler.store(action.handler, SeqCst);
        row.flags.store(action.flags, SeqCst);
        row.mask.store(action.mask, SeqCst);
        self.current.fetch_max(number, SeqCst);
        before
    }

    /// Calls the library's handler, if there is one, from the runtime's own. `open` are signals that stay open whatever the library says; `ended` is the thread's own, if it has one. False: there is none.
    ///
    /// # Safety
    /// The arguments are those that the calling handler was given.
    pub unsafe fn call(
        &self,
        signal: i32,
        info: *mut libc::siginfo_t,
        uc: *mut libc::c_void,
        open: u64,
        ended: Option<&Ended>,
    ) -> bool {
        let action = self.get();
        if action.handler <= libc::SIG_IGN {
            return false;
        }
        if action.flags & libc::SA_RESETHAND != 0 {
            self.set(Action::DEFAULT);
        }
        // SAFETY: the kernel's records; the handler is what the library has installed for this signal, with that signature.
        unsafe {
            let context = &mut *uc.cast::<libc::ucontext_t>();
            if action.flags & libc::SA_RESTART == 0 {
                crate::restart::end_call(context, ended);
            }
            let own = match action.flags & libc::SA_NODEFER {
                0 => bit(signal),
                _ => 0,
            };
            let mask = (first_word(&context.uc_sigmask) | action.mask | own) & !open;
            let before = set_mask(mask);
            if action.flags & libc::SA_SIGINFO != 0 {
                let handler: crate::signal::Handler = std::mem::transmute(action.handler);
                handler(signal, info, uc);
            } else {
                let handler: extern "C" fn(i32) = std::mem::transmute(action.handler);
                handler(signal);
            }
            set_mask(before);
        }
        true
    }
}

/// A signal whose handler is the runtime's from some moment on: until then it is the libraries' alone.
pub struct Shared {
    signal: i32,
    handler: Handler,
    installed: AtomicBool,
    foreign: Chained,
}

impl Shared {
    /// For that signal and that handler, which is not installed.
    pub const fn new(signal: i32, handler: Handler) -> Shared {
        Shared {
            signal,
            handler,
            installed: AtomicBool::new(false),
            foreign: Chained::new(),
        }
    }
    /// Installs the handler, once. One that is there becomes the one that others' signals go to. While ours runs, `masked` are held back.
    ///
    /// # Safety
    /// The handler does only what is safe in a signal handler.
    pub unsafe fn install(&self, masked: &[i32]) {
        if self.installed.load(SeqCst) {
            return;
        }
        // SAFETY: a plain query into a record of this frame; the handler is the caller's promise.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            signal::sigaction(self.signal, std::ptr::null(), &mut before);
            // (Another thread may install it at the same time.)
            if before.sa_sigaction != self.own() {
                self.foreign.set(Action::of(&before));
            }
            signal::install(self.signal, self.handler, 0, masked);
        }
        self.installed.store(true, SeqCst);
    }
    fn own(&self) -> usize {
        self.handler as usize
    }
    /// Notes what a library wants for the signal, and gives what it wanted before. None: the signal is not ours, and the library's handler is to be installed. Our own
    /// handler, which a library may have got from the kernel itself, is never noted: it would call itself without end.
    pub fn set(&self, action: Action) -> Option<Action> {
        let before = self.get()?;
        match action.handler == self.own() {
            true => Some(before),
            false => Some(self.foreign.set(action)),
        }
    }
    /// What a library wants for the signal. None: the signal is not ours.
    pub fn get(&self) -> Option<Action> {
        self.installed.load(SeqCst).then(|| self.foreign.get())
    }
    /// The handler that others' signals go to.
    pub fn foreign(&self) -> &Chained {
        &self.foreign
    }
}

/// Sets the calling thread's mask by the kernel itself, and gives the one before.
fn set_mask(mask: u64) -> u64 {
    let mut before = 0u64;
    // SAFETY: words of this frame; 8 bytes is the size of the kernel's set.
    unsafe {
        let (new, old) = (&raw const mask, &raw mut before);
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, new, old, 8);
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_never_see_halves_of_two_actions() {
        const TIMES: usize = if cfg!(miri) { 200 } else { 200_000 };
        static CHAINED: Chained = Chained::new();
        let whole = |n: usize| Action {
            handler: n,
            flags: n as i32,
            mask: n as u64,
        };
        let setter = std::thread::spawn(move || {
            (1..=TIMES).for_each(|n| {
                assert_eq!(CHAINED.set(whole(n)), whole(n - 1));
            })
        });
        let mut last = 0;
        while last < TIMES {
            let action = CHAINED.get();
            assert_eq!(action, whole(action.handler));
            assert!(action.handler >= last);
            last = action.handler;
        }
        setter.join().unwrap();
    }
}
