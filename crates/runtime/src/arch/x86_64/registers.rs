//! The registers of an interrupted thread that walks of its stack look at.

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// rip.
    pub pc: usize,
    /// rsp.
    pub sp: usize,
    /// rbp.
    pub fp: usize,
    /// r11.
    pub r11: usize,
    /// rdi.
    pub rdi: usize,
    /// rdx.
    pub rdx: usize,
}

impl Registers {
    /// Those that a signal handler was given.
    pub fn of(uc: &libc::ucontext_t) -> Registers {
        let register = |r: i32| uc.uc_mcontext.gregs[r as usize] as usize;
        Registers {
            pc: register(libc::REG_RIP),
            sp: register(libc::REG_RSP),
            fp: register(libc::REG_RBP),
            r11: register(libc::REG_R11),
            rdi: register(libc::REG_RDI),
            rdx: register(libc::REG_RDX),
        }
    }
}
