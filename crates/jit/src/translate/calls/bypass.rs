//! Bypasses of checks of the class library that do nothing for most calls.
//!
//! # How it works
//! `RuntimeMethodInfo.Invoke` asks eight internal calls whether the target and the arguments fit, before the one that calls the method. A leaf helper answers
//! first, and if nothing is to be converted and nothing is wrong the first block is not the method's own:
//!
//! ```text
//!     ready.code = PlainTarget(this, obj, parameters, ready.block)
//!     brif ready.code, behind, ask
//! ask:
//!     plain = IsPlainCall(this.mhandle, obj, parameters)
//!     brif plain, behind, first
//! first:                                ; the checks, as the class library has them
//!     ...
//!     call get_ContainsGenericParameters
//!     brfalse behind
//! behind:
//!     ...
//!     call InternalInvoke(.., ready.code == 0 ? ref exception : ready | TAG)
//! ```
//!
//! What `PlainTarget` has found is kept for `InternalInvoke`, which would look at everything once more (`stubs/reflection.rs`). Constructors, whose internal call
//! is made by another method, only ask `IsPlainCall`.
//!
//! `ReadLine` of `StringReader` and `StreamReader` looks at one character after the other until one ends the line. A leaf helper finds it, and if there is one in what
//! the reader has at hand, the locals get its index and the character, and the first block is the one that the loop leads to:
//!
//! ```text
//!     index = LineEnd(chars + 2 * pos, umin(length - pos, 32768))
//!     brif index >= 0, found, first
//! found:
//!     i = pos + index;  c = chars[i]
//!     jump behind
//! first:
//!     ...
//!     ldloc i;  callvirt get_Chars, or ldelem.u2;  stloc c
//!     ldloc c;  ldc 13;  beq behind
//! ```
//!
//! # Invariants
//! * Where the helper says yes, the code that is left out neither throws, nor writes what the code behind it reads.
//! * The code that is ready is that of this call: it is asked for whenever the method begins.
//! * The code behind it keeps its IL offsets and its handlers, so traces do not change.
use crate::emit::{null_trap, trusted};
use crate::stubs::reflection::is_internal_invoke;
use crate::translate::calls::crypto::offset_of;
use crate::translate::control::control_flow::{VarOp, variable_of};
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::StackType;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types::*};
use vervet_abi::object::{
    ARRAY_DATA_OFFSET, ARRAY_LENGTH_OFFSET, HEADER_SIZE, STRING_CHARS_OFFSET, STRING_LENGTH_OFFSET,
};
use vervet_abi::{call, ready_call};
use vervet_metadata::il::{Op, Operand};
use vervet_types::{ClassRef, MethodRef, Prim};

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

/// The least number of characters that the helper is called for.
const LEAST_LINE: i64 = 8;
/// The greatest number that a leaf may look at. A longer line is left to the loop.
const MOST_OF_LINE: i32 = 32 << 10;

impl Translator<'_, '_> {
    /// If the body's first blocks have a bypass: whether to take it, and the block where it ends.
    pub(crate) fn bypass(&mut self) -> Res<Option<(Value, usize)>> {
        let method = self.body.method;
        if self.body.inline.is_some() || !method.class.module.is_corlib() {
            return Ok(None);
        }
        if method.name == "ReadLine" && method.class.namespace == "System.IO" {
            return self.line_bypass();
        }
        let Some((class, _, last)) = BYPASSES
            .iter()
            .find(|(class, name, _)| method.class.name == *class && method.name == *name)
        else {
            return Ok(None);
        };
        let is_method = *class == "RuntimeMethodInfo";
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
        let join = self.e.b.create_block();
        let taken = self.e.b.append_block_param(join, I32);
        if is_method {
            let [found, ask] = [(); 2].map(|()| self.e.b.create_block());
            let ready = self.e.slot(8 * ready_call::WORDS as u32);
            self.body.ready_call = Some(ready);
            let at = self.e.slot_addr(ready);
            let block = (self.e.b.ins()).iadd_imm_s(at, 8 * ready_call::BLOCK as i64);
            let args = [this, object, parameters, block];
            let code = self.e.helper_value(call::PlainTarget, args);
            let ins = self.e.b.ins();
            ins.store(trusted(), code, at, 8 * ready_call::CODE as i32);
            self.e.b.ins().brif(code, found, &[], ask, &[]);
            self.e.b.seal_block(found);
            self.e.b.seal_block(ask);
            self.e.b.switch_to_block(found);
            let yes = self.i32(1);
            self.e.b.ins().jump(join, &[BlockArg::Value(yes)]);
            self.e.b.switch_to_block(ask);
        }
        let args = [handle, object, parameters];
        let plain = self.e.helper_value(call::IsPlainCall, args);
        self.e.b.ins().jump(join, &[BlockArg::Value(plain)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(Some((taken, behind)))
    }

    /// Whether the first blocks of the body may have a bypass: then not all paths to a block are in its plan.
    pub(crate) fn may_be_bypassed(&self) -> bool {
        let method = self.body.method;
        method.class.module.is_corlib()
            && (method.name == "ReadLine" || BYPASSES.iter().any(|b| method.name == b.1))
    }

    /// In a method that has asked for the code of a plain call: the argument of `InternalInvoke` for the exception, `exception` itself if no code is ready.
    pub(super) fn ready_call(&mut self, callee: MethodRef, exception: Value) -> Value {
        let Some(ready) = self.body.ready_call.filter(|_| is_internal_invoke(callee)) else {
            return exception;
        };
        let at = self.e.slot_addr(ready);
        let ins = self.e.b.ins();
        ins.store(trusted(), exception, at, 8 * ready_call::EXCEPTION as i32);
        let ins = self.e.b.ins();
        let code = ins.load(I64, trusted(), at, 8 * ready_call::CODE as i32);
        let tagged = self.e.b.ins().bor_imm_u(at, ready_call::TAG as i64);
        self.e.b.ins().select(code, tagged, exception)
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

    /// The bypass of the loop of `ReadLine`.
    ///
    /// | field | `StringReader` | `StreamReader` |
    /// |---|---|---|
    /// | characters | the string `_s`, null if closed | the vector `_charBuffer` |
    /// | where the reader is, and where they end | `_pos`, `_length` | `_charPos`, `_charLen` |
    /// | null if closed | | `_stream` |
    /// | null if no asynchronous read goes on | | `_asyncReadTask` |
    ///
    /// The helper is not asked where the method would throw, fill its buffer or return null first. That the string builder of `StreamReader` is null is what the
    /// locals begin with. The method itself, from the block that the loop leads to, makes the string and steps over the second character of an end.
    fn line_bypass(&mut self) -> Res<Option<(Value, usize)>> {
        let class = self.body.method.class;
        let is_int = |c: &ClassRef| c.prim == Some(Prim::I4);
        let is_ref = |c: &ClassRef| c.prim.is_none();
        let (chars, position, length, stream, task) = match class.name {
            "StringReader" => ("_s", "_pos", "_length", None, None),
            "StreamReader" => (
                "_charBuffer",
                "_charPos",
                "_charLen",
                offset_of(class, "_stream", is_ref)?,
                offset_of(class, "_asyncReadTask", is_ref)?,
            ),
            _ => return Ok(None),
        };
        let is_string = stream.is_none();
        let (Some(chars), Some(position), Some(length), Some((index, c, behind))) = (
            offset_of(class, chars, |c| c.prim != Some(Prim::I4))?,
            offset_of(class, position, is_int)?,
            offset_of(class, length, is_int)?,
            self.line_loop()?,
        ) else {
            return Ok(None);
        };
        if is_string != task.is_none() {
            return Ok(None);
        }
        // The first load is the null check, as in the method.
        let this = self.body.params[0];
        let chars = self.e.b.ins().load(I64, null_trap(), this, chars);
        let position = self.e.b.ins().load(I32, trusted(), this, position);
        let length = self.e.b.ins().load(I32, trusted(), this, length);
        let join = self.e.b.create_block();
        self.e.b.append_block_param(join, I8);
        let mut fits = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, chars, 0);
        if let Some(stream) = stream {
            let stream = self.e.b.ins().load(I64, trusted(), this, stream);
            let is_open = self.e.b.ins().icmp_imm_u(IntCC::NotEqual, stream, 0);
            fits = self.e.b.ins().band(fits, is_open);
        }
        if let Some(task) = task {
            let task = self.e.b.ins().load(I64, trusted(), this, task);
            let is_idle = self.e.b.ins().icmp_imm_u(IntCC::Equal, task, 0);
            fits = self.e.b.ins().band(fits, is_idle);
        }
        // What is left has some length. A position beyond the length or below 0 makes it negative.
        let rest = self.e.b.ins().isub(length, position);
        let some = self
            .e
            .b
            .ins()
            .icmp_imm_s(IntCC::SignedGreaterThanOrEqual, rest, LEAST_LINE);
        fits = self.e.b.ins().band(fits, some);
        self.or_join(fits, join);
        let (length_at, data) = match is_string {
            true => (STRING_LENGTH_OFFSET, STRING_CHARS_OFFSET),
            false => (ARRAY_LENGTH_OFFSET, ARRAY_DATA_OFFSET),
        };
        // The fields are private, but reflection writes them: the range is compared with the object that holds the characters.
        let whole = self.e.b.ins().load(I32, trusted(), chars, length_at);
        let cc = IntCC::UnsignedLessThanOrEqual;
        let inside = self.e.b.ins().icmp(cc, length, whole);
        let ordered = self.e.b.ins().icmp(cc, position, length);
        let fits = self.e.b.ins().band(inside, ordered);
        self.or_join(fits, join);
        let from = self.e.b.ins().uextend(I64, position);
        let from = self.e.b.ins().ishl_imm_u(from, 1);
        let from = self.e.b.ins().iadd(chars, from);
        let from = self.e.b.ins().iadd_imm_s(from, i64::from(data));
        // A leaf is short: if the first characters have no end of a line, the method looks at all of them.
        let most = self.i32(MOST_OF_LINE);
        let count = self.e.b.ins().umin(rest, most);
        let found = self.e.helper_value(call::LineEnd, [from, count]);
        let fits = self
            .e
            .b
            .ins()
            .icmp_imm_s(IntCC::SignedGreaterThanOrEqual, found, 0);
        self.or_join(fits, join);
        // The address is computed anew from the reference, which alone may live on.
        let i = self.e.b.ins().iadd(position, found);
        let wide = self.e.b.ins().uextend(I64, i);
        let scaled = self.e.b.ins().ishl_imm_u(wide, 1);
        let at = self.e.b.ins().iadd(chars, scaled);
        let end = self.e.b.ins().uload16(I32, trusted(), at, data);
        // Where the answer is no, the method stores both before it reads them.
        for (local, value) in [(index, i), (c, end)] {
            self.push(StackType::I32, value);
            self.store_variable(false, local)?;
        }
        let yes = self.e.b.ins().iconst(I8, 1);
        self.e.b.ins().jump(join, &[BlockArg::Value(yes)]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        let taken = self.e.b.block_params(join)[0];
        Ok(Some((taken, behind)))
    }

    /// Goes on where the condition holds, else to the join, with a no.
    fn or_join(&mut self, condition: Value, join: Block) {
        let next = self.e.b.create_block();
        let no = self.e.b.ins().iconst(I8, 0);
        self.e
            .b
            .ins()
            .brif(condition, next, &[], join, &[BlockArg::Value(no)]);
        self.e.b.seal_block(next);
        self.e.b.switch_to_block(next);
    }

    /// The loop that looks for the end of a line: the locals of the index and of the character, and the block that it leads to.
    /// None if the class library has it in another form; then there is no bypass.
    fn line_loop(&self) -> Res<Option<(usize, usize, usize)>> {
        const RETURN: Operand<'_> = Operand::I8(b'\r' as i8);
        let plan = self.body.plan;
        for six in plan.instrs.windows(6) {
            let [load, get, store, again, number, branch] = six else {
                continue;
            };
            let (
                Some((VarOp::Load, false, index)),
                Op::Callvirt | Op::LdelemU2,
                Some((VarOp::Store, false, c)),
                Some((VarOp::Load, false, same)),
                Op::LdcI4S,
                Op::Beq | Op::BeqS,
                Operand::Branch(to),
            ) = (
                variable_of(load),
                get.op,
                variable_of(store),
                variable_of(again),
                number.op,
                branch.op,
                branch.operand,
            )
            else {
                continue;
            };
            if same == c && number.operand == RETURN {
                return Ok(Some((index, c, plan.block(to)?)));
            }
        }
        Ok(None)
    }
}
