//! Calls that note of which class their receivers are, or which methods the delegates have that they call.
//!
//! # How it works
//! A virtual or interface call that stays one in the first code of a method has a cell ([`vervet_abi::profile::Cell`]). So has the call behind a guess that was wrong, and each
//! call of a delegate. In a loop, and of a delegate, the calls are counted, because the method may be called once and its loop run for long:
//!
//! ```text
//!     callee = uload32 this                        ; of a delegate: its method_ptr
//!     cell.changes += cell.callee != callee
//!     cell.calls += 1
//!     cell.callee = callee
//!     brif cell.calls % 4096 == 0, often, on
//! often: (cold)
//!     call counter = 0                            ; the next call of the method asks for other code
//! ```
//!
//! Elsewhere the method's own count says enough, and less code is noted with:
//!
//! ```text
//!     brif cell.callee == callee, on, other
//! other: (cold)
//!     cell.changes += 1
//!     cell.callee = callee
//! ```
//!
//! When the method is compiled again, the runtime says what the cells have ([`CompileEnv::profile`]), and a call whose receivers are nearly always of one class is
//! guarded by it ([`super::guarded`]); so is one whose delegates nearly always have one method.
//!
//! # Invariants
//! * A cell changes nothing that a program can see. Threads overwrite each other's counts, so a cell is a hint.
//! * Code that was compiled again has no cells, and counts nothing.
//!
//! [`CompileEnv::profile`]: crate::options::CompileEnv::profile
use super::call::Dispatch;
use crate::blob::{ProfiledCall, Symbol};
use crate::emit::trusted;
use crate::options::{SiteProfile, Tier};
use crate::translate::error::Res;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types::*};
use vervet_abi::profile::{CALLEE, CALLS, CHANGES, OFTEN};

/// How many calls of a method have cells.
const SITES: usize = 64;
/// How many of them there are when a call outside of loops still gets one.
const PLAIN_SITES: usize = 32;
/// After how many more calls a method whose loop has initialised a class is compiled again.
const EARLY_CALLS: i64 = 30;

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

    /// Notes the callee of the call that is about to be made.
    pub(super) fn note_callee(&mut self, dispatch: &Dispatch, this: &StackValue) -> Res {
        let is_delegate = matches!(dispatch, Dispatch::Invoke);
        let is_virtual = matches!(dispatch, Dispatch::Virtual(_) | Dispatch::Interface(_));
        let is_counted = is_delegate || self.is_repeated();
        // Code that is optimised at once is not compiled again for what lies outside of its loops.
        let is_quick = self.session.inline_limit < inline_limit(Tier::Optimised);
        let is_noted = is_delegate || is_virtual && (is_counted || is_quick);
        let most = if is_counted { SITES } else { PLAIN_SITES };
        let il_offset = self.body.plan.instrs[self.body.index].offset;
        let Some(profiled) = &mut self.session.profiled else {
            return Ok(());
        };
        if !is_noted || this.stack_type != StackType::Ref || profiled.len() >= most {
            return Ok(());
        }
        let number = profiled.len() as u32;
        profiled.push(ProfiledCall {
            method: self.body.method,
            il_offset,
            is_delegate,
            is_counted,
        });
        let callee = match is_delegate {
            true => self.method_of_delegate(this),
            false => self.vtable_of(this),
        };
        let cell = self.e.symbol(Symbol::Profile(number));
        let last = self.e.b.ins().load(I64, trusted(), cell, CALLEE);
        let differs = self.e.b.ins().icmp(IntCC::NotEqual, last, callee);
        if !is_counted {
            self.note_change(cell, callee, differs);
            return Ok(());
        }
        let differs = self.e.b.ins().uextend(I32, differs);
        let changes = self.e.b.ins().load(I32, trusted(), cell, CHANGES);
        let changes = self.e.b.ins().iadd(changes, differs);
        self.e.b.ins().store(trusted(), changes, cell, CHANGES);
        self.e.b.ins().store(trusted(), callee, cell, CALLEE);
        let calls = self.e.b.ins().load(I32, trusted(), cell, CALLS);
        let calls = self.e.b.ins().iadd_imm_s(calls, 1);
        self.e.b.ins().store(trusted(), calls, cell, CALLS);
        let rest = self.e.b.ins().band_imm_u(calls, i64::from(OFTEN - 1));
        let [often, on] = [(); 2].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(often);
        self.e.b.ins().brif(rest, on, &[], often, &[]);
        self.e.b.seal_block(often);
        self.e.b.switch_to_block(often);
        let counter = self.call_counter();
        let none = self.e.b.ins().iconst(I32, 0);
        self.e.b.ins().store(trusted(), none, counter, 0);
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
        Ok(())
    }

    /// Notes a callee that differs from the last one; what calls it is not counted.
    fn note_change(&mut self, cell: Value, callee: Value, differs: Value) {
        let [other, on] = [(); 2].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(other);
        self.e.b.ins().brif(differs, other, &[], on, &[]);
        self.e.b.seal_block(other);
        self.e.b.switch_to_block(other);
        let changes = self.e.b.ins().load(I32, trusted(), cell, CHANGES);
        let changes = self.e.b.ins().iadd_imm_s(changes, 1);
        self.e.b.ins().store(trusted(), changes, cell, CHANGES);
        self.e.b.ins().store(trusted(), callee, cell, CALLEE);
        self.e.b.ins().jump(on, &[]);
        self.e.b.seal_block(on);
        self.e.b.switch_to_block(on);
    }

    /// A class has been initialised in a loop: the method is to get other code soon, however rarely it is called, because its
    /// loop may be long.
    pub(crate) fn end_early(&mut self) {
        if self.session.profiled.is_none() || !self.is_repeated() {
            return;
        }
        let counter = self.call_counter();
        // (It may be less already.)
        let left = self.e.b.ins().load(I32, trusted(), counter, 0);
        let soon = self.e.b.ins().iconst(I32, EARLY_CALLS);
        let soon = self.e.b.ins().smin(left, soon);
        self.e.b.ins().store(trusted(), soon, counter, 0);
    }
    fn call_counter(&mut self) -> Value {
        self.e
            .symbol(Symbol::CallCounter(self.session.inline_stack[0]))
    }

    /// What the first code has noted of the call that is about to be made.
    pub(super) fn profile(&self) -> Option<SiteProfile> {
        let offset = self.body.plan.instrs[self.body.index].offset;
        self.env.profile(self.body.method, offset)
    }
}
