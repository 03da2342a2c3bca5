//! Calls that note of which class their receivers are.
//!
//! # How it works
//! A virtual or interface call that stays one in the first code of a method, and lies in a loop, has a cell ([`vervet_abi::profile::Cell`]). So has the call behind a guess that
//! was wrong. (Outside of loops cells would help less than they cost: a cold run of a compiler took a tenth longer.)
//!
//! ```text
//!     vt = uload32 this
//!     cell.changes += cell.class != vt
//!     cell.calls += 1
//!     cell.class = vt
//!     brif cell.calls % 4096 == 0, often, on
//! often: (cold)
//!     call counter = 0                            ; the next call of the method asks for other code
//! ```
//!
//! When the method is compiled again, the runtime says what the cells have ([`CompileEnv::profile`]), and a call whose receivers are nearly always of one class is
//! guarded by it ([`super::guarded`]).
//!
//! # Invariants
//! * A cell changes nothing that a program can see. Threads overwrite each other's counts, so a cell is a hint.
//! * Code that was compiled again has no cells, and counts nothing.
//!
//! [`CompileEnv::profile`]: crate::options::CompileEnv::profile
use super::call::Dispatch;
use crate::blob::{ProfiledCall, Symbol};
use crate::emit::trusted;
use crate::options::SiteProfile;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, types::*};
use vervet_abi::profile::{CALLS, CHANGES, CLASS, OFTEN};

/// How many calls of a method have cells.
const SITES: usize = 64;

impl Translator<'_, '_> {
    /// Whether what is translated lies in a loop.
    pub(super) fn is_repeated(&self) -> bool {
        match self.body.inline {
            None => {
                let il_offset = self.body.plan.instrs[self.body.index].offset;
                self.body.plan.in_loop(il_offset)
            }
            Some(_) => self.session.is_inlined_in_loop,
        }
    }

    /// Notes the receiver of the call that is about to be made.
    pub(super) fn note_receiver(&mut self, dispatch: &Dispatch, this: &StackValue) -> Res {
        let is_virtual = matches!(dispatch, Dispatch::Virtual(_) | Dispatch::Interface(_));
        let is_repeated = self.is_repeated();
        let il_offset = self.body.plan.instrs[self.body.index].offset;
        let Some(profiled) = &mut self.session.profiled else {
            return Ok(());
        };
        if !is_repeated
            || !is_virtual
            || this.stack_type != StackType::Ref
            || profiled.len() >= SITES
        {
            return Ok(());
        }
        let number = profiled.len() as u32;
        profiled.push(ProfiledCall {
            method: self.body.method,
            il_offset,
        });
        let vt = self.vtable_of(this);
        let vt = self.e.b.ins().ireduce(I32, vt);
        let cell = self.e.symbol(Symbol::Profile(number));
        let class = self.e.b.ins().load(I32, trusted(), cell, CLASS);
        let differs = self.e.b.ins().icmp(IntCC::NotEqual, class, vt);
        let differs = self.e.b.ins().uextend(I32, differs);
        let changes = self.e.b.ins().load(I32, trusted(), cell, CHANGES);
        let changes = self.e.b.ins().iadd(changes, differs);
        self.e.b.ins().store(trusted(), changes, cell, CHANGES);
        self.e.b.ins().store(trusted(), vt, cell, CLASS);
        let calls = self.e.b.ins().load(I32, trusted(), cell, CALLS);
        let calls = self.e.b.ins().iadd_imm_s(calls, 1);
        self.e.b.ins().store(trusted(), calls, cell, CALLS);
        let rest = self.e.b.ins().band_imm_u(calls, i64::from(OFTEN - 1));
        let [often, on] = [(); 2].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(often);
        self.e.b.ins().brif(rest, on, &[], often, &[]);
        self.e.b.seal_block(often);
        self.e.b.switch_to_block(often);
        let counter = self
            .e
            .symbol(Symbol::CallCounter(self.session.inline_stack[0]));
        let none = self.e.b.ins().iconst(I32, 0);
        self.e.b.ins().store(trusted(), none, counter, 0);
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
        Ok(())
    }

    /// What the first code has noted of the call that is about to be made.
    pub(super) fn profile(&self) -> Option<SiteProfile> {
        let offset = self.body.plan.instrs[self.body.index].offset;
        self.env.profile(self.body.method, offset)
    }
}
