//! Thread statics: where the calling thread's values of a class lie.
//!
//! # Invariants
//! * A block stays where it is as long as its thread lives, and a method runs on one thread, an OS thread or a green one. So what was looked up holds for the whole
//!   method.
//! * A look-up initialises no class. It may give a thread a block that it does not need, which no program sees.
use crate::blob::Symbol;
use crate::emit::trusted;
use crate::options::Tier;
use crate::translate::error::Res;
use crate::translate::inlining::limits::inline_limit;
use crate::translate::translator::{ThreadBlock, Translator};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types::*};
use cranelift_frontend::Variable;
use vervet_abi::{call, context, vtable};
use vervet_metadata::il::{Op, Operand};
use vervet_types::ClassRef;
use vervet_types::field::StaticKind;

impl Translator<'_, '_> {
    /// The block with this thread's values of the thread statics of a class. It stays where it is as long as the thread lives, so one lookup serves all accesses that
    /// come after it: a variable has the block, and 0 before:
    ///
    /// ```text
    ///     known = variable
    ///     brif known, join(known), look_up
    /// look_up:
    ///     variable = look up
    ///     jump join(variable)
    /// ```
    /// The first access, unless it is in a loop, looks up without asking. The classes of accesses in loops are looked up before the body
    /// ([`Self::look_up_for_loops`]).
    pub(super) fn thread_statics(&mut self, class: ClassRef) -> Value {
        if self.e.has_handlers() {
            return self.look_up_thread_statics(class);
        }
        let offset = self.body.plan.instrs[self.body.index].offset;
        let may_repeat = self.body.inline.is_some() || self.body.plan.in_loop(offset);
        let known = self.session.thread_blocks.iter().find(|b| b.class == class);
        let (variable, is_first) = match known {
            Some(block) if block.is_known => return self.e.b.use_var(block.variable),
            Some(block) => (block.variable, false),
            None => (self.thread_block(class, false), !may_repeat),
        };
        if is_first {
            let block = self.look_up_thread_statics(class);
            self.e.b.def_var(variable, block);
            return block;
        }
        let known = self.e.b.use_var(variable);
        let (look_up, join) = (self.e.b.create_block(), self.e.b.create_block());
        self.e.b.append_block_param(join, I64);
        let args = [BlockArg::Value(known)];
        self.e.b.ins().brif(known, join, &args, look_up, &[]);
        self.e.b.seal_block(look_up);
        self.e.b.switch_to_block(look_up);
        let block = self.look_up_thread_statics(class);
        self.e.b.ins().jump(join, &[BlockArg::Value(block)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        let block = self.e.b.block_params(join)[0];
        self.e.b.def_var(variable, block);
        block
    }

    fn thread_block(&mut self, class: ClassRef, is_known: bool) -> Variable {
        let variable = self.e.b.declare_var(I64);
        self.session.thread_blocks.push(ThreadBlock {
            class,
            variable,
            is_known,
        });
        variable
    }

    /// In the prologue: looks up the blocks of the thread statics that the body uses in loops. A thread gets a block that it may not need, which no program sees; the
    /// class is not initialised.
    pub(crate) fn look_up_for_loops(&mut self) -> Res {
        let plan = self.body.plan;
        if self.session.inline_limit < inline_limit(Tier::Optimised) || !plan.clauses.is_empty() {
            return Ok(());
        }
        for instr in &plan.instrs {
            let (Op::Ldsfld | Op::Stsfld | Op::Ldsflda, Operand::Token(token)) =
                (instr.op, instr.operand)
            else {
                continue;
            };
            if !plan.in_loop(instr.offset) {
                continue;
            }
            // What cannot be found is an error where it is used.
            let Ok(field) = self.body.scope.field(token) else {
                continue;
            };
            let class = field.class;
            if class.is_open
                || !matches!(field.static_kind(), Ok(StaticKind::Thread))
                || self.session.thread_blocks.iter().any(|b| b.class == class)
            {
                continue;
            }
            let block = self.look_up_thread_statics(class);
            let variable = self.thread_block(class, true);
            self.e.b.def_var(variable, block);
        }
        Ok(())
    }

    /// A table lookup, and a helper call when the thread first uses the class.
    ///
    /// ```text
    ///     index = vtable.thread_static_index
    ///     brif index < context.thread_statics_len, look, slow
    /// look:
    ///     block = load context.thread_statics[index]
    ///     brif block, join(block), slow
    /// slow: (cold)
    ///     call ThreadStatics(vtable)             ; fills the table
    ///     block = load context.thread_statics[index]
    ///     jump join(block)
    /// ```
    fn look_up_thread_statics(&mut self, class: ClassRef) -> Value {
        let vt = self.e.symbol(Symbol::VTable(class));
        let (look, slow, join) = (
            self.e.b.create_block(),
            self.e.b.create_block(),
            self.e.b.create_block(),
        );
        self.e.b.set_cold_block(slow);
        self.e.b.append_block_param(join, I64);
        let index = self
            .e
            .b
            .ins()
            .uload32(trusted(), vt, vtable::THREAD_STATIC_INDEX_OFFSET);
        let count = self.e.load_context(I64, context::THREAD_STATICS_LEN);
        let known = self.e.b.ins().icmp(IntCC::UnsignedLessThan, index, count);
        self.e.b.ins().brif(known, look, &[], slow, &[]);
        self.e.b.seal_block(look);
        self.e.b.switch_to_block(look);
        let block = self.in_table(index);
        self.e
            .b
            .ins()
            .brif(block, join, &[BlockArg::Value(block)], slow, &[]);
        self.e.b.seal_block(slow);
        self.e.b.switch_to_block(slow);
        self.e.cold_helper(call::ThreadStatics, [vt]);
        let block = self.in_table(index);
        self.e.b.ins().jump(join, &[BlockArg::Value(block)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        self.e.b.block_params(join)[0]
    }

    /// The entry of the thread's table. The table grows when the thread uses new classes, so its address is loaded each time.
    fn in_table(&mut self, index: Value) -> Value {
        let at = self.e.b.ins().ishl_imm_u(index, 3);
        let table = self.e.load_context(I64, context::THREAD_STATICS);
        let place = self.e.b.ins().iadd(table, at);
        self.e.b.ins().load(I64, trusted(), place, 0)
    }
}
