//! Calls of steps of hashes and ciphers, which the runtime has in better form: module `code/crypto.rs` of `vervet-runtime`.
//!
//! # How it works
//! A method that gets pointers is a helper. For one that gets vectors the helper says whether they are long enough; if not, the method is called, and throws:
//!
//! ```text
//!     done = HashBlock(this._H, bytes, at, step)
//!     brif done, join, call
//! call: (cold)
//!     method(this, bytes, at)
//!     jump join
//! ```
//!
//! | method | what uses it |
//! |---|---|
//! | `SHA256Managed.SHATransform`, and those of SHA-1, SHA-384 and SHA-512 | the managed hashes, what `SHA256.Create` and its like make, and `HMAC` and `Rfc2898DeriveBytes` over them |
//! | `ProcessBlock` of `MD5CryptoServiceProvider` and `SHA1Internal` | what `MD5.Create` and `SHA1.Create` make, and the same |
//! | `AesTransform.Encrypt128`, `Decrypt128` (System.Core) | `AesCryptoServiceProvider`, which `Aes.Create` makes |
//! | `RijndaelManagedTransform.Enc`, `Dec` | `RijndaelManaged` with blocks of 128 bits, and `AesManaged` |
//!
//! # Invariants
//! * A step leaves what the method leaves, except in buffers that hold nothing between two blocks.
//! * A method whose parameters or fields are not as expected is called.
//! * Ciphers are left to the methods on a processor without instructions for AES.
use crate::emit::trusted;
use crate::signature::LoweredSignature;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use crate::translate::values::stack::{StackType, StackValue};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types::*};
use vervet_abi::object::HEADER_SIZE;
use vervet_abi::{CipherStep, HashStep, call};
use vervet_types::{ClassRef, MethodRef, Prim};

/// Which step.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    /// `SHATransform(scratch, state, block)`.
    Sha(Sha),
    /// `ProcessBlock(bytes, index)`.
    Hash(HashStep),
    /// `Encrypt128(from, to, keys)` or `Decrypt128`.
    Aes { decipher: bool },
    /// `Enc(indices, keys, table, table, work, to)` or `Dec`.
    Rijndael { decipher: bool },
}

/// A hash that the class library computes with pointers.
#[derive(Clone, Copy)]
pub(crate) enum Sha {
    /// SHA-1: five words of 32 bits, blocks of 64 bytes.
    Sha1,
    /// SHA-256: eight words of 32 bits, blocks of 64 bytes.
    Sha256,
    /// SHA-512 and SHA-384: eight words of 64 bits, blocks of 128 bytes.
    Sha512,
}

/// The step that a method of `System.Security.Cryptography` is: in the core library, or in System.Core.
pub(crate) fn step_of(class: &str, method: &str, is_corlib: bool) -> Option<Step> {
    let decipher = matches!(method, "Decrypt128" | "Dec");
    Some(match (is_corlib, class, method) {
        (true, "SHA1Managed", "SHATransform") => Step::Sha(Sha::Sha1),
        (true, "SHA256Managed", "SHATransform") => Step::Sha(Sha::Sha256),
        (true, "SHA384Managed" | "SHA512Managed", "SHATransform") => Step::Sha(Sha::Sha512),
        (true, "SHA1Internal", "ProcessBlock") => Step::Hash(HashStep::Sha1),
        (true, "MD5CryptoServiceProvider", "ProcessBlock") => Step::Hash(HashStep::Md5),
        (true, "RijndaelManagedTransform", "Enc" | "Dec") => Step::Rijndael { decipher },
        (false, "AesTransform", "Encrypt128" | "Decrypt128") => Step::Aes { decipher },
        _ => return None,
    })
}

/// Is it a vector of elements of that type?
fn is_vector(class: &ClassRef, element: Prim) -> bool {
    class.is_sz_array() && class.element().is_some_and(|e| e.prim == Some(element))
}

impl Translator<'_, '_> {
    /// A call whose arguments are on the stack. False: the call must be made.
    pub(crate) fn crypto_step(&mut self, step: Step, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        if sig.has_this == matches!(step, Step::Sha(_)) || !method.method_args().is_empty() {
            return Ok(false);
        }
        match (step, &sig.params[..]) {
            (Step::Sha(sha), [scratch, state, block])
                if [scratch, state, block].iter().all(|p| p.is_ptr()) =>
            {
                self.sha(sha)
            }
            (Step::Hash(hash), [bytes, at])
                if is_vector(bytes, Prim::U1) && matches!(at.prim, Some(Prim::I4 | Prim::U4)) =>
            {
                self.process_block(hash, method)
            }
            (Step::Aes { decipher }, [from, to, keys])
                if is_vector(from, Prim::U1)
                    && is_vector(to, Prim::U1)
                    && is_vector(keys, Prim::U4)
                    && self.e.has_aes =>
            {
                self.aes_block(decipher, method)
            }
            (Step::Rijndael { decipher }, params @ [_, _, _, _, _, _])
                if params.iter().all(|p| p.is_ptr()) && self.e.has_aes =>
            {
                self.rijndael_block(decipher, method)
            }
            _ => Ok(false),
        }
    }

    /// One block of a hash. The scratch, which callers clear, is left as it is.
    fn sha(&mut self, sha: Sha) -> Res<bool> {
        self.spill_aliased(3)?;
        let block = self.pop_native()?;
        let state = self.pop_native()?;
        self.pop()?;
        match sha {
            Sha::Sha1 => self.e.helper(call::Sha1Block, [state, block]),
            Sha::Sha256 => self.e.helper(call::Sha256Block, [state, block]),
            Sha::Sha512 => self.e.helper(call::Sha512Block, [state, block]),
        };
        Ok(true)
    }

    /// One block of a vector. The method counts the bytes in `count`. Its buffer `buff` is left as it is.
    fn process_block(&mut self, hash: HashStep, method: MethodRef) -> Res<bool> {
        let (Some(state), Some(count)) = (
            offset_of(method.class, "_H", |c| is_vector(c, Prim::U4))?,
            offset_of(method.class, "count", |c| c.prim == Some(Prim::U8))?,
        ) else {
            return Ok(false);
        };
        self.spill_aliased(3)?;
        let at = self.pop_i32()?;
        let bytes = self.pop_ref()?.value;
        let this = self.pop_ref()?;
        let words = self.load_private(&this, state, I64);
        let step = self.i32(hash as i32);
        let done = self
            .e
            .helper_value(call::HashBlock, [words, bytes, at, step]);
        let args = [this.value, bytes, at];
        self.done_or_call(method, &args, done, |t| {
            let before = t.e.b.ins().load(I64, trusted(), this.value, count);
            let after = t.e.b.ins().iadd_imm_s(before, 64);
            t.e.b.ins().store(trusted(), after, this.value, count);
        })
    }

    /// One block of `AesTransform`, with as many rounds as its field says.
    fn aes_block(&mut self, decipher: bool, method: MethodRef) -> Res<bool> {
        let Some(rounds) = offset_of(method.class, "Nr", |c| c.prim == Some(Prim::I4))? else {
            return Ok(false);
        };
        self.spill_aliased(4)?;
        let keys = self.pop_ref()?.value;
        let to = self.pop_ref()?.value;
        let from = self.pop_ref()?.value;
        let this = self.pop_ref()?;
        let rounds = self.load_private(&this, rounds, I32);
        let step = self.cipher_step(rounds, decipher);
        let done = self.e.helper_value(call::AesBlock, [keys, from, to, step]);
        self.done_or_call(method, &[this.value, from, to, keys], done, |_| {})
    }

    /// One block of `RijndaelManagedTransform`, if it has four words, and as many rounds as AES has.
    ///
    /// ```text
    ///     brif this.m_Nb == 4 and this.m_Nr is 10, 12 or 14 and keys, work and to are no null pointers, here, call
    /// here:
    ///     RijndaelBlock(keys, work, to, this.m_Nr)
    /// ```
    fn rijndael_block(&mut self, decipher: bool, method: MethodRef) -> Res<bool> {
        let is_int = |c: &ClassRef| c.prim == Some(Prim::I4);
        let (Some(words), Some(rounds)) = (
            offset_of(method.class, "m_Nb", is_int)?,
            offset_of(method.class, "m_Nr", is_int)?,
        ) else {
            return Ok(false);
        };
        self.spill_aliased(7)?;
        let mut args = [self.i64(0); 7];
        // Behind `this`: indices, keys, two tables, and the two buffers of a block.
        for n in (1..7).rev() {
            args[n] = self.pop_native()?;
        }
        let this = self.pop_ref()?;
        args[0] = this.value;
        let words = self.load_private(&this, words, I32);
        let rounds = self.load_private(&this, rounds, I32);
        let [_, _, keys, _, _, work, to] = args;
        let [few, some, many] = CipherStep::ROUNDS.map(|n| {
            let n = i64::from(n);
            self.e.b.ins().icmp_imm_u(IntCC::Equal, rounds, n)
        });
        let mut fits = self.e.b.ins().bor(few, some);
        fits = self.e.b.ins().bor(fits, many);
        let four = self.e.b.ins().icmp_imm_u(IntCC::Equal, words, 4);
        fits = self.e.b.ins().band(fits, four);
        // A transform that is disposed has no keys.
        for address in [keys, work, to] {
            let mapped = self.mapped(address);
            fits = self.e.b.ins().band(fits, mapped);
        }
        self.done_or_call(method, &args, fits, |t| {
            let step = t.cipher_step(rounds, decipher);
            t.e.helper(call::RijndaelBlock, [keys, work, to, step]);
        })
    }

    /// The last argument of a helper of ciphers.
    fn cipher_step(&mut self, rounds: Value, decipher: bool) -> Value {
        match decipher {
            true => self
                .e
                .b
                .ins()
                .bor_imm_u(rounds, i64::from(CipherStep::DECIPHER)),
            false => rounds,
        }
    }

    /// Pops a pointer.
    fn pop_native(&mut self) -> Res<Value> {
        let operand = self.pop()?;
        self.coerce(&operand, StackType::Native)
    }

    /// Loads a field of a receiver, whose class has it.
    fn load_private(&mut self, this: &StackValue, offset: i32, ty: Type) -> Value {
        let flags = self.null_checked(this, i64::from(offset), ty.bytes());
        self.e.b.ins().load(ty, flags, this.value, offset)
    }

    /// What is to be done where the step is `done`, or else the call of a method without a result.
    fn done_or_call(
        &mut self,
        method: MethodRef,
        args: &[Value],
        done: Value,
        then: impl FnOnce(&mut Self),
    ) -> Res<bool> {
        let lowered = LoweredSignature::of_method(method)?;
        let [here, call, join] = [(); 3].map(|()| self.e.b.create_block());
        self.e.b.set_cold_block(call);
        self.e.b.ins().brif(done, here, &[], call, &[]);
        self.e.b.seal_block(here);
        self.e.b.switch_to_block(here);
        then(self);
        self.e.b.ins().jump(join, &[]);
        self.e.b.seal_block(call);
        self.e.b.switch_to_block(call);
        let signature = self.e.b.import_signature(lowered.clif);
        self.e.call_method(method, signature, args);
        self.e.b.ins().jump(join, &[]);
        self.e.b.seal_block(join);
        self.e.b.switch_to_block(join);
        Ok(true)
    }
}

/// Where an own instance field of a class lies in an object. None: there is none of that name and type.
pub(crate) fn offset_of(
    class: ClassRef,
    name: &str,
    is_expected: impl FnOnce(&ClassRef) -> bool,
) -> Res<Option<i32>> {
    let Some(field) = class.find_field(name)? else {
        return Ok(None);
    };
    if field.is_static() || !is_expected(&field.ty()?) {
        return Ok(None);
    }
    Ok(Some((HEADER_SIZE + field.offset()?) as i32))
}
