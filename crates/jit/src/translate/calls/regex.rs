//! Searches of regular expressions: the interpreter's two methods, in front of whose bodies a helper is asked.
//!
//! ```text
//!     answer = RegexGo(this)                ; or RegexFind
//!     brif answer < 0, first, done
//! done:
//!     return                                ; FindFirstChar: the answer
//! first:                                    ; the body, as the class library has it
//!     ...
//! ```
//!
//! # Invariants
//! * A helper that does not answer has left the runner as a call finds it that begins where the runner is now.
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder};
use vervet_abi::call;
use vervet_types::Prim;

impl Translator<'_, '_> {
    /// In front of the body of a search: the answer, or the way to the body's `first` block. False: it is none, and nothing was emitted.
    pub(crate) fn answer_search(&mut self, first: Block) -> Res<bool> {
        let method = self.body.method;
        let class = method.class;
        if self.body.inline.is_some()
            || class.name != "RegexInterpreter"
            || class.namespace != "System.Text.RegularExpressions"
            || !class.module.is_of_class_library("System")
            || method.param_count != 0
            || !method.has_this()
        {
            return Ok(false);
        }
        let finds = match (method.name, method.sig()?.ret.prim) {
            ("FindFirstChar", Some(Prim::Bool)) => true,
            ("Go", Some(Prim::Void)) => false,
            _ => return Ok(false),
        };
        let this = self.body.params[0];
        let answer = match finds {
            true => self.e.helper_value(call::RegexFind, [this]),
            false => self.e.helper_value(call::RegexGo, [this]),
        };
        let done = self.e.b.create_block();
        let is_none = self.e.b.ins().icmp_imm_s(IntCC::SignedLessThan, answer, 0);
        self.e.b.ins().brif(is_none, first, &[], done, &[]);
        self.e.b.seal_block(done);
        self.e.b.switch_to_block(done);
        if finds {
            self.push(StackType::I32, answer);
        }
        self.ret()?;
        Ok(true)
    }
}
