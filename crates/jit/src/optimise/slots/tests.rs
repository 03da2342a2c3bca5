//! Functions as text before and after the pass, and random functions that are interpreted before and after it.
//! `VERVET_TEST_SEED=N` begins with that seed.
use crate::optimise::testing::isa;
use crate::optimise::{FrameNotes, run};
use cranelift_codegen::Context;
use cranelift_codegen::data_value::DataValue;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Endianness, Function, InstBuilder, MemFlagsData, Opcode, Signature,
    StackSlot, StackSlotData, StackSlotKind, Type, UserFuncName, Value, condcodes::IntCC, types::*,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_interpreter::environment::FunctionStore;
use cranelift_interpreter::interpreter::{Interpreter, InterpreterState};
use cranelift_interpreter::step::ControlFlow;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// What the passes make of a function.
fn optimised(func: Function, notes: &mut FrameNotes) -> Function {
    let isa = isa();
    let mut context = Context::for_function(func);
    run(&mut context, notes, &*isa).expect("valid");
    context
        .verify(&*isa)
        .map_err(|e| format!("{e}\n{}", context.func))
        .expect("valid");
    context.func
}

/// The function in the text, without its signature and empty slots, after the passes. Slots below `plain` hold no references.
fn promoted(text: &str, plain: u32) -> String {
    let (func, mut notes) = parsed(text);
    for slot in func.sized_stack_slots.keys().filter(|s| s.as_u32() < plain) {
        notes.holds(slot, &[]);
    }
    body(optimised(func, &mut notes))
}

/// The function of a text, and notes that allow everything.
fn parsed(text: &str) -> (Function, FrameNotes) {
    let func = cranelift_reader::parse_functions(text)
        .expect("valid")
        .remove(0);
    let mut notes = FrameNotes::default();
    notes.allow();
    (func, notes)
}

/// The function as text, without its signature and empty slots.
fn body(mut func: Function) -> String {
    func.dfg.resolve_all_aliases();
    let text = func.to_string();
    let is_body = |l: &&str| !l.is_empty() && !l.contains("explicit_slot 0");
    let lines = text
        .lines()
        .skip(1)
        .filter(is_body)
        .map(|l| l.split("  ;").next().expect("one").trim());
    lines.filter(|l| *l != "}").collect::<Vec<_>>().join("\n")
}

/// Two fields, one of them by an address of its own.
#[test]
fn fields_become_values() {
    let text = promoted(
        "function %f(f64, f64) -> f64 {
            ss0 = explicit_slot 16, align = 8
        block0(v0: f64, v1: f64):
            v2 = stack_addr.i64 ss0
            store v0, v2
            store v1, v2+8
            v3 = load.f64 v2
            v4 = stack_addr.i64 ss0+8
            v5 = load.f64 v4
            v6 = fadd v3, v5
            return v6
        }",
        1,
    );
    assert_eq!(
        text,
        "block0(v0: f64, v1: f64):
v6 = fadd v0, v1
return v6"
    );
}

/// A copy of an int and a byte with its padding: the copy is made of no instruction, and what goes to other memory is the word that came from there.
const COPY: &str = "function %f(i64, i64) -> i32 {
        ss0 = explicit_slot 8, align = 8
        ss1 = explicit_slot 8, align = 8
    block0(v0: i64, v1: i64):
        v2 = stack_addr.i64 ss0
        v3 = load.i64 v0
        store v3, v2
        v4 = stack_addr.i64 ss1
        v5 = load.i64 v2
        store v5, v4
        v6 = load.i64 v4
        store v6, v1
        v7 = load.i32 v2
        v8 = uload8.i32 v4+4
        v9 = iadd v7, v8
        return v9
    }";

#[test]
fn a_copy_hands_pieces_on() {
    assert_eq!(
        promoted(COPY, 2),
        "block0(v0: i64, v1: i64):
v3 = load.i64 v0
v10 = ireduce.i32 v3
v11 = iconst.i32 32
v12 = ushr v3, v11
v13 = ireduce.i8 v12
v14 = iconst.i32 40
v15 = ushr v3, v14
v16 = ireduce.i16 v15
v17 = iconst.i32 56
v18 = ushr v3, v17
v19 = ireduce.i8 v18
store v3, v1
v20 = uextend.i32 v13
v9 = iadd v10, v20
return v9"
    );
}

/// The same function as above, with slots of which nothing is known: the first word of each is read as a whole and in parts.
#[test]
fn a_word_that_may_be_a_reference_is_not_cut() {
    let text = promoted(COPY, 0);
    assert!(text.contains("ss0 = explicit_slot 8"), "{text}");
    assert!(text.contains("ss1 = explicit_slot 8"), "{text}");
}

/// The word is moved by integers and read as a float: it never passes through a general register.
#[test]
fn a_float_is_copied_from_and_to_memory_as_a_float() {
    let text = promoted(
        "function %f(i64, i64) -> f64 {
            ss0 = explicit_slot 8, align = 8
        block0(v0: i64, v1: i64):
            v2 = stack_addr.i64 ss0
            v3 = load.i64 v0+16
            store v3, v2
            v4 = load.i64 v2
            store v4, v1
            v5 = load.f64 v2
            return v5
        }",
        1,
    );
    assert_eq!(
        text,
        "block0(v0: i64, v1: i64):
v6 = load.f64 v0+16
v7 = bitcast.i64 v6
store v6, v1
return v6"
    );
}

/// The first word is live around the loop, the second only behind it, where the value of the last iteration dominates.
#[test]
fn a_loop_gets_a_parameter_only_for_what_is_live_in_it() {
    let text = promoted(
        "function %f(i32, i64) -> i64 {
            ss0 = explicit_slot 16, align = 8
        block0(v0: i32, v1: i64):
            v2 = stack_addr.i64 ss0
            store v1, v2
            store v1, v2+8
            jump block1(v0)
        block1(v3: i32):
            v4 = stack_addr.i64 ss0
            v5 = load.i64 v4
            v6 = iadd v5, v1
            store v6, v4
            store v6, v4+8
            v7 = iconst.i32 -1
            v8 = iadd v3, v7
            brif v8, block1(v8), block2
        block2:
            v9 = stack_addr.i64 ss0+8
            v10 = load.i64 v9
            return v10
        }",
        1,
    );
    assert_eq!(
        text,
        "block0(v0: i32, v1: i64):
jump block1(v0, v1)
block1(v3: i32, v11: i64):
v6 = iadd v11, v1
v7 = iconst.i32 -1
v8 = iadd v3, v7
brif v8, block1(v8, v6), block2
block2:
return v6"
    );
}

/// A conditional expression of structs leaves the address of the same slot on every path. On one of them the slot is not written, and so is zero.
#[test]
fn an_address_that_every_edge_passes_is_followed() {
    let text = promoted(
        "function %f(i32, i64) -> i64 {
            ss0 = explicit_slot 8, align = 8
        block0(v0: i32, v1: i64):
            brif v0, block1, block2
        block1:
            v2 = stack_addr.i64 ss0
            store v1, v2
            jump block3(v2)
        block2:
            v3 = stack_addr.i64 ss0
            jump block3(v3)
        block3(v4: i64):
            v5 = load.i64 v4
            return v5
        }",
        1,
    );
    assert_eq!(
        text,
        "block0(v0: i32, v1: i64):
v7 = iconst.i64 0
brif v0, block1, block2
block1:
jump block3(v1)
block2:
jump block3(v7)
block3(v6: i64):
return v6"
    );
}

/// A vector that a loop adds to, and of which a lane is replaced and another read: one value throughout.
#[test]
fn vectors_become_values_with_their_lanes() {
    let text = promoted(
        "function %f(i64, f32) -> f32 {
            ss0 = explicit_slot 16, align = 8
            const0 = 0x00000000000000000000000000000000
        block0(v0: i64, v1: f32):
            v2 = stack_addr.i64 ss0
            v3 = vconst.i8x16 const0
            store v3, v2
            store v1, v2+4
            jump block1
        block1:
            v4 = load.f32x4 v0
            v5 = load.f32x4 v2
            v6 = fadd v4, v5
            store v6, v2
            brif v0, block1, block2
        block2:
            v7 = load.f32 v2+12
            return v7
        }",
        1,
    );
    assert!(!text.contains("stack_addr"), "{text}");
    assert_eq!(text.matches("insertlane").count(), 1, "{text}");
    assert_eq!(text.matches("extractlane").count(), 1, "{text}");
}

/// A vector of which four bytes in the middle are read: it is put together of its words.
#[test]
fn vectors_that_are_cut_are_put_together() {
    let text = promoted(
        "function %f(i64) -> i32 {
            ss0 = explicit_slot 16, align = 8
        block0(v0: i64):
            v1 = stack_addr.i64 ss0
            v2 = load.i32x4 v0
            store v2, v1
            v3 = load.i32x4 v1
            store v3, v0+16
            v4 = load.i32 v1+6
            return v4
        }",
        1,
    );
    assert!(!text.contains("stack_addr"), "{text}");
}

/// Zeros go to both halves of a vector in two different stores of sixteen bytes, which would each cover half a vector.
#[test]
fn zeros_that_cover_parts_of_vectors_cut_them() {
    let text = promoted(
        "function %f(i64) -> i64 {
            ss0 = explicit_slot 32, align = 8
            const0 = 0x00000000000000000000000000000000
        block0(v0: i64):
            v1 = stack_addr.i64 ss0
            v2 = load.i8x16 v0
            store v2, v1+8
            v3 = vconst.i8x16 const0
            store v3, v1
            v4 = load.i8x16 v1+8
            store v4, v0+16
            v5 = load.i64 v1+8
            return v5
        }",
        1,
    );
    assert!(
        text.contains("v5 = iconst.i64 0") || text.contains("iconst.i64 0"),
        "{text}"
    );
    assert!(text.contains("extractlane"), "{text}");
}

/// One for each way that an address can be used otherwise than by a load or store that values can replace: compared, stored, added to a variable, and
/// so on. The last passes it to a block that another edge enters with something else.
#[test]
fn a_slot_whose_address_is_used_otherwise_stays() {
    for other in [
        "v9 = icmp ult v1, v0",
        "v9 = icmp eq v1, v1",
        "store v1, v0",
        "v9 = iadd v1, v0",
        "v9 = atomic_load.i64 v1",
        "v9 = load.i64 v1+12",
        "jump block1(v0)\nblock2:\njump block1(v1)\nblock1(v9: i64):",
    ] {
        let text = promoted(
            &format!(
                "function %f(i64) -> i64 {{
                    ss0 = explicit_slot 16, align = 8
                block0(v0: i64):
                    v1 = stack_addr.i64 ss0
                    store v0, v1
                    brif v0, block3, block2
                block3:
                    {other}
                    v2 = load.i64 v1
                    return v2
                {}",
                match other.contains("block2") {
                    true => "}".to_owned(),
                    false => "block2: return v0 }".to_owned(),
                }
            ),
            1,
        );
        assert!(text.contains("explicit_slot 16"), "{other}: {text}");
    }
}

/// An address is not null, is none that it cannot be, and its card need not be marked.
#[test]
fn what_asks_for_null_and_what_marks_a_card_goes() {
    let (func, mut notes) = parsed(
        "function %f(i64, i64) -> i64 {
            ss0 = explicit_slot 16, align = 8
        block0(v0: i64, v1: i64):
            v2 = stack_addr.i64 ss0
            v3 = iconst.i64 8
            v4 = iadd v2, v3
            store v0, v2+8
            v5 = iconst.i64 9
            v6 = ushr v4, v5
            v7 = iconst.i64 0xffff
            v8 = band v6, v7
            v9 = iadd v1, v8
            istore8 v0, v9
            sequence_point
            trapz v2, user1
            v10 = icmp eq v2, v1
            v11 = uextend.i64 v10
            brif v2, block1, block2
        block1:
            v12 = load.i64 v2+8
            v13 = iadd v12, v11
            return v13
        block2:
            return v1
        }",
    );
    let mark = (func.layout.blocks())
        .flat_map(|b| func.layout.block_insts(b).collect::<Vec<_>>())
        .find(|i| func.dfg.insts[*i].opcode() == Opcode::Istore8);
    notes.mark(mark.expect("a mark"));
    let text = body(optimised(func, &mut notes));
    for gone in [
        "ss0",
        "istore8",
        "sequence_point",
        "trapz",
        "brif",
        "icmp",
        "block2",
    ] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
}

/// The unwinder enters the landing pad with two registers only; what else the handler reads must be in memory.
#[test]
fn a_slot_that_a_landing_pad_reads_stays() {
    let text = promoted(
        "function %f(i64) -> i64 tail {
            ss0 = explicit_slot 8, align = 8
            ss1 = explicit_slot 8, align = 8
            sig0 = () tail
            fn0 = %g() tail
        block0(v0: i64):
            v1 = stack_addr.i64 ss0
            store v0, v1
            v2 = stack_addr.i64 ss1
            store v0, v2
            try_call fn0(), sig0, block1, [ tag0: block2(exn0, exn1) ]
        block1:
            v3 = load.i64 v2
            return v3
        block2(v4: i64, v5: i64):
            v6 = load.i64 v1
            return v6
        }",
        2,
    );
    assert!(text.contains("ss0 = explicit_slot 8"), "{text}");
    assert!(!text.contains("ss1 = explicit_slot 8"), "{text}");
}

/// Cranelift would make `(v0 + v1) - 984` of it, whose first sum may lie beyond the object that v0 refers to; the collector would not find the object
/// by that.
#[test]
fn a_sum_that_was_hidden_in_a_slot_stays_hidden_from_other_constants() {
    let text = promoted(
        "function %f(i64, i64) -> i64 {
            ss0 = explicit_slot 8, align = 8
        block0(v0: i64, v1: i64):
            v2 = iconst.i64 16
            v3 = iadd v0, v2
            v4 = stack_addr.i64 ss0
            store v3, v4
            v5 = iconst.i64 -1000
            v6 = iadd v1, v5
            v7 = load.i64 v4
            v8 = iadd v7, v6
            v9 = load.i64 v8
            return v9
        }",
        1,
    );
    assert!(text.contains("sequence_point"), "{text}");
}

/// Random functions over slots, some of which are kept in memory.
///
/// A function is a loop over blocks that branch forwards at random. Each block reads and writes bytes of slots in every width, at aligned and other
/// offsets, by addresses of every form, and copies between slots; it is entered with the address of a slot of its own. In the end a sum over all bytes of
/// all slots is returned, so that any byte that is not what it should be shows.
struct Generator<'f> {
    random: SplitMix64,
    b: FunctionBuilder<'f>,
    slots: Vec<(StackSlot, u32)>,
    /// Whether some accesses are not aligned.
    wild: bool,
    /// Values of the current block.
    values: Vec<Value>,
}

impl Generator<'_> {
    fn below(&mut self, n: usize) -> usize {
        (self.random.next_u64() % n as u64) as usize
    }
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
    /// A value of a type: one of the block, or a new one.
    fn value(&mut self, ty: Type) -> Value {
        let is_ty = |v: &&Value| self.b.func.dfg.value_type(**v) == ty;
        let known: Vec<Value> = self.values.iter().filter(is_ty).copied().collect();
        if !known.is_empty() && self.below(3) != 0 {
            return self.pick(&known);
        }
        let bits = match self.below(3) {
            0 => 0,
            _ => self.random.next_u64() as i64,
        };
        match ty {
            F32 => {
                let int = self.b.ins().iconst(I32, bits & 0x7fff_ffff);
                self.b.ins().bitcast(F32, MemFlagsData::new(), int)
            }
            F64 => {
                let int = self.b.ins().iconst(I64, bits);
                self.b.ins().bitcast(F64, MemFlagsData::new(), int)
            }
            ty if ty.is_vector() => {
                if bits == 0 {
                    let zeros = self.b.func.dfg.constants.insert([0; 16][..].into());
                    return self.b.ins().vconst(ty, zeros);
                }
                let low = self.b.ins().iconst(I64, bits);
                let lanes = self.b.ins().splat(I64X2, low);
                let high = self.value(I64);
                let lanes = self.b.ins().insertlane(lanes, high, 1);
                let flags = MemFlagsData::new().with_endianness(Endianness::Little);
                match ty == I64X2 {
                    true => lanes,
                    false => self.b.ins().bitcast(ty, flags, lanes),
                }
            }
            _ => {
                let keep = 64 - ty.bits();
                self.b
                    .ins()
                    .iconst(ty, ((bits as u64) << keep >> keep) as i64)
            }
        }
    }
    /// An address in a slot with room for that many bytes, and an offset to it.
    fn address(&mut self, width: u32) -> (Value, i32) {
        let mut slots = self.slots.clone();
        slots.retain(|(_, size)| *size >= width);
        let (slot, size) = self.pick(&slots);
        // Most accesses are aligned.
        let step = if self.wild && self.below(8) == 0 {
            1
        } else {
            width
        };
        let at = self.below(((size - width) / step + 1) as usize) as i32 * step as i32;
        let split = self.below(at as usize + 1) as i32;
        match self.below(3) {
            0 => (self.b.ins().stack_addr(I64, slot, at - split), split),
            1 => {
                let base = self.b.ins().stack_addr(I64, slot, 0);
                (self.b.ins().iadd_imm_s(base, i64::from(at - split)), split)
            }
            _ => (self.b.ins().stack_addr(I64, slot, 0), at),
        }
    }
    fn instruction(&mut self) {
        let flags = MemFlagsData::new().with_notrap();
        match self.below(6) {
            0 | 1 => {
                let ty = self.pick(&[I8, I16, I32, I64, I64, F32, F64, I8X16, F32X4]);
                let (address, offset) = self.address(ty.bytes());
                let value = self.b.ins().load(ty, flags, address, offset);
                self.values.push(value);
            }
            2 => {
                let ty = self.pick(&[I8, I16, I32, I64, I64, F32, F64, I64X2, I32X4]);
                let value = self.value(ty);
                let (address, offset) = self.address(ty.bytes());
                self.b.ins().store(flags, value, address, offset);
            }
            3 => {
                let value = self.value(I64);
                match self.below(3) {
                    0 => {
                        let (address, offset) = self.address(1);
                        self.b.ins().istore8(flags, value, address, offset);
                        let (address, offset) = self.address(1);
                        self.values
                            .push(self.b.ins().sload8(I32, flags, address, offset));
                    }
                    1 => {
                        let (address, offset) = self.address(2);
                        self.b.ins().istore16(flags, value, address, offset);
                        let (address, offset) = self.address(2);
                        self.values
                            .push(self.b.ins().uload16(I64, flags, address, offset));
                    }
                    _ => {
                        let (address, offset) = self.address(4);
                        self.b.ins().istore32(flags, value, address, offset);
                        let (address, offset) = self.address(4);
                        self.values
                            .push(self.b.ins().sload32(flags, address, offset));
                    }
                }
            }
            _ => {
                // A copy of some bytes.
                let ty = self.pick(&[I64, I64, I64, I32, I16, I8, I8X16, I64X2]);
                let (address, offset) = self.address(ty.bytes());
                let value = self.b.ins().load(ty, flags, address, offset);
                let (address, offset) = self.address(ty.bytes());
                self.b.ins().store(flags, value, address, offset);
            }
        }
    }
    /// The rest of the function: a loop over random forward branches, and the sum of all memory.
    fn body(&mut self, entry: Block) {
        let count = 2 + self.below(6);
        // Each block is entered with the address of one slot, its own.
        let blocks: Vec<(Block, StackSlot)> = (0..count)
            .map(|_| {
                let block = self.b.create_block();
                self.b.append_block_param(block, I32);
                self.b.append_block_param(block, I64);
                let slots = self.slots.clone();
                (block, self.pick(&slots).0)
            })
            .collect();
        let end = self.b.create_block();
        let param = self.b.block_params(entry)[0];
        let rounds = self.b.ins().iconst(I32, 12);
        let address = self.b.ins().stack_addr(I64, blocks[0].1, 0);
        self.b
            .ins()
            .jump(blocks[0].0, &[rounds.into(), address.into()]);
        for (n, (block, _)) in blocks.iter().enumerate() {
            self.b.switch_to_block(*block);
            let [rounds, address] = self.b.block_params(*block)[..] else {
                unreachable!("two parameters")
            };
            self.values = vec![param];
            let flags = MemFlagsData::new().with_notrap();
            self.values.push(self.b.ins().load(I64, flags, address, 0));
            for _ in 0..1 + self.below(8) {
                self.instruction();
            }
            let value = self.value(I64);
            let condition = self.b.ins().icmp(IntCC::SignedLessThan, value, param);
            let rounds = self.b.ins().iadd_imm_s(rounds, -1);
            let mut args: Vec<(Block, Vec<BlockArg>)> = Vec::new();
            for _ in 0..2 {
                let forward = n + 1 + self.below(count - n);
                args.push(match blocks.get(forward) {
                    Some((to, slot)) => {
                        let address = self.b.ins().stack_addr(I64, *slot, 0);
                        (*to, vec![rounds.into(), address.into()])
                    }
                    None => (end, Vec::new()),
                });
            }
            // The last block may go back.
            if n + 1 == count {
                let back = self.below(count);
                let address = self.b.ins().stack_addr(I64, blocks[back].1, 0);
                args[0] = (blocks[back].0, vec![rounds.into(), address.into()]);
                let more = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, rounds, 0);
                self.b.ins().brif(more, args[0].0, &args[0].1, end, &[]);
            } else {
                self.b
                    .ins()
                    .brif(condition, args[0].0, &args[0].1, args[1].0, &args[1].1);
            }
        }
        self.b.switch_to_block(end);
        let flags = MemFlagsData::new().with_notrap();
        let mut sum = self.b.ins().iconst(I64, 0);
        for (slot, size) in self.slots.clone() {
            for at in (0..size as i32).step_by(8) {
                let address = self.b.ins().stack_addr(I64, slot, at);
                let word = self.b.ins().load(I64, flags, address, 0);
                sum = self.b.ins().imul_imm_s(sum, 31);
                sum = self.b.ins().iadd(sum, word);
            }
        }
        self.b.ins().return_(&[sum]);
    }
}

/// A random function, and what is known of its slots. One slot is kept in memory: it stands for memory that is no slot. Of some nothing is known, and of
/// some it is known that their first word is a reference; neither may be cut there.
fn random(seed: u64) -> (Function, FrameNotes) {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.push(AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I64));
    let mut func = Function::with_name_signature(UserFuncName::testcase("f"), signature);
    let mut context = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut func, &mut context);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut notes = FrameNotes::default();
    notes.allow();
    let mut slots = Vec::new();
    for n in 0..5 {
        let size = 8 * (1 + random.next_u64() % 4) as u32;
        // One at least has room for a vector.
        let size = if n == 1 { size.max(16) } else { size };
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3);
        let slot = b.create_sized_stack_slot(data);
        slots.push((slot, size));
        if n == 0 {
            notes.keep(slot);
        }
        match random.next_u64() % 8 {
            0 => {}
            1 => notes.holds(slot, &[0]),
            _ => notes.holds(slot, &[]),
        }
    }
    let values = Vec::new();
    let mut generator = Generator {
        random,
        b,
        slots,
        wild: !seed.is_multiple_of(3),
        values,
    };
    generator.body(entry);
    let mut b = generator.b;
    b.seal_all_blocks();
    b.finalize(isa().frontend_config());
    (func, notes)
}

/// What the function returns under Cranelift's interpreter. Slots are zero at the start there, as pieces are that are read before they are written.
fn interpreted(func: &Function, argument: i64) -> Vec<DataValue> {
    let mut func = func.clone();
    func.dfg.resolve_all_aliases();
    let mut functions = FunctionStore::default();
    functions.add("f".to_owned(), &func);
    let state = InterpreterState::default().with_function_store(functions);
    let result = Interpreter::new(state).call_by_name("f", &[DataValue::I64(argument)]);
    match result {
        Ok(ControlFlow::Return(values)) => values.to_vec(),
        other => panic!("{other:?}\n{func}"),
    }
}

#[test]
fn random_functions_return_the_same() {
    let count = if cfg!(miri) { 2 } else { 1500 };
    let first = std::env::var("VERVET_TEST_SEED").map_or(0, |s| s.parse().expect("a number"));
    let mut emptied = 0;
    for seed in first..first + count {
        let (func, mut notes) = random(seed);
        let after = optimised(func.clone(), &mut notes);
        emptied += after
            .sized_stack_slots
            .values()
            .filter(|s| s.size == 0)
            .count();
        for argument in [0, i64::MAX, seed as i64] {
            let (was, is) = (interpreted(&func, argument), interpreted(&after, argument));
            assert_eq!(was, is, "seed {seed}\n{func}\n{after}");
        }
    }
    // The test would say nothing if nothing became a value.
    assert!(
        emptied as u64 > count,
        "{emptied} slots of {count} functions"
    );
}
