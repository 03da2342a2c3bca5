//! Bypasses of checks of the class library that do nothing for most calls.
//!
//! # How it works
//! `RuntimeMethodInfo.Invoke` asks eight internal calls whether the target and the arguments fit, before the one that calls the method. A leaf helper answers
//! first, and if nothing is to be converted and nothing is wrong the first block is not the method's own:
//!
//! ```text
//!     plain = IsPlainCall(this.mhandle, obj, parameters)
//!     brif plain, behind, first
//! first:                                ; the checks, as the class library has them
//!     ...
//!     call get_ContainsGenericParameters
//!     brfalse behind
//! behind:
//!     ...
//!     call InternalInvoke
//! ```
//!
//! # Invariants
//! * Where the helper says yes, the code that is left out neither throws, nor writes what the code behind it reads.
//! * The code behind it keeps its IL offsets and its handlers, so traces do not change.
use crate::emit::null_trap;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::{InstBuilder, Value, types::I64};
use vervet_abi::call;
use vervet_abi::object::HEADER_SIZE;
use vervet_metadata::il::{Op, Operand};

/// The methods that have a bypass, by class and name, and the last call that it leaves out: the `brfalse` after that call leads to where the bypass ends.
const BYPASSES: [(&str, &str, &str); 2] = [
    (
        "RuntimeMethodInfo",
        "Invoke",
        "get_ContainsGenericParameters",
    ),
    ("RuntimeConstructorInfo", "DoInvoke", "get_IsAbstract"),
];

/// The arguments that the helper looks at: the object and the `object[]`.
const ASKED: [usize; 2] = [1, 4];

impl Translator<'_, '_> {
    /// If the body's first blocks have a bypass: whether to take it, and the block where it ends.
    pub(crate) fn bypass(&mut self) -> Res<Option<(Value, usize)>> {
        let method = self.body.method;
        if self.body.inline.is_some() || !method.class.module.is_corlib() {
            return Ok(None);
        }
        let Some((_, _, last)) = BYPASSES
            .iter()
            .find(|(class, name, _)| method.class.name == *class && method.name == *name)
        else {
            return Ok(None);
        };
        let Some(behind) = self.behind(last)? else {
            return Ok(None);
        };
        let Some(handle) = method.class.find_field("mhandle")? else {
            return Ok(None);
        };
        if method.param_count as usize <= ASKED[1] {
            return Ok(None);
        }
        let this = self.body.params[0];
        let offset = (HEADER_SIZE + handle.offset()?) as i32;
        // A delegate without a target calls with null, as any method may be called.
        let handle = self.e.b.ins().load(I64, null_trap(), this, offset);
        let mut asked = [handle; 2];
        for (value, n) in asked.iter_mut().zip(ASKED) {
            self.load_argument(n)?;
            *value = self.pop_ref()?.value;
        }
        let [object, parameters] = asked;
        let args = [handle, object, parameters];
        let plain = self.e.helper_value(call::IsPlainCall, args);
        Ok(Some((plain, behind)))
    }

    /// The block that the `brfalse` behind the last call of that name leads to.
    fn behind(&self, name: &str) -> Res<Option<usize>> {
        let plan = self.body.plan;
        let scope = self.body.method.scope();
        for pair in plan.instrs.windows(2).rev() {
            let (Op::Call | Op::Callvirt, Operand::Token(token)) = (pair[0].op, pair[0].operand)
            else {
                continue;
            };
            if let (Op::Brfalse | Op::BrfalseS, Operand::Branch(to)) = (pair[1].op, pair[1].operand)
                && scope.method(token)?.name == name
            {
                return Ok(Some(plan.block(to)?));
            }
        }
        Ok(None)
    }
}
