//! The year, month and day of a `DateTime`: `DateTime.GetDatePart(int)` with a part that is known, by two divisions.
//!
//! # How it works
//! The class library divides by the days of 400, 100, 4 years and one year in turn, and looks for the month in a table. Here the days are counted in quarters, so
//! that one division by the days of 400 years gives the century and one by those of 4 years the year in it, and the month is a linear function of the day in a
//! year that begins in March (C. Neri and L. Schneider, "Euclidean affine functions and their application to calendar algorithms", 2022):
//!
//! ```text
//!     data = load [this];  days = (data & TICKS) / ticks of a day
//!     brif days < DAYS, known, call
//! known:
//!     quarters = 4 * (days + shift) + 3             ; shift: of the month and the day 306, from the first of January to the first of March before it
//!     century = quarters / 146097;  rest = quarters % 146097 | 3
//!     year in the century = rest / 1461;  day of the year = rest % 1461 / 4
//!     jump join(..)
//! call: (cold)
//!     copy = data
//!     jump join(GetDatePart(&copy, part))
//! ```
//!
//! What calls it: `Year`, `Month`, `Day`, `DayOfYear`, and so the formats of dates. Parts of one date that stand together share what is the same.
//!
//! # Invariants
//! * The answer is the method's. A number of ticks beyond 9999-12-31, which no constructor makes, is left to the method.
//! * The address of the date does not leave the code, so that it may stay in a register.
use crate::emit::trusted;
use crate::translate::calls::crypto::offset_of;
use crate::translate::error::Res;
use crate::translate::translator::Translator;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type, Value, types::*};
use vervet_types::{MethodRef, Prim};

/// The bits of a `DateTime` that are ticks of 100 ns; the others say which clock it is by.
const TICKS: i64 = (1 << 62) - 1;
const TICKS_PER_DAY: i64 = 864_000_000_000;
/// Days from 0001-01-01 to 9999-12-31, both included.
const DAYS: i64 = 3_652_059;
const DAYS_OF_400_YEARS: i64 = 146_097;
const DAYS_OF_4_YEARS: i64 = 1461;
/// Days from the first of March of the year 0 to the first of January of the year 1.
const FROM_MARCH: i64 = 306;

/// The parts, by the numbers that the class library gives them.
#[derive(Clone, Copy)]
enum Part {
    Year,
    DayOfYear,
    Month,
    Day,
}

impl Part {
    fn of_number(number: i64) -> Option<Part> {
        Some(match number {
            0 => Part::Year,
            1 => Part::DayOfYear,
            2 => Part::Month,
            3 => Part::Day,
            _ => return None,
        })
    }
}

impl Translator<'_, '_> {
    /// The date's address and the part are on the stack. False: the call must be made.
    pub(crate) fn date_part(&mut self, method: MethodRef) -> Res<bool> {
        let sig = method.sig()?;
        let is_meant = sig.has_this
            && matches!(sig.params[..], [part] if part.prim == Some(Prim::I4))
            && sig.ret.prim == Some(Prim::I4);
        let [.., _, number] = self.body.stack[..] else {
            return Ok(false);
        };
        let Some(part) = self.constant(number.value).and_then(Part::of_number) else {
            return Ok(false);
        };
        let is_word = |c: &vervet_types::ClassRef| c.prim == Some(Prim::U8);
        let Some(offset) = offset_of(method.class, "_dateData", is_word)? else {
            return Ok(false);
        };
        let offset = offset - vervet_abi::object::HEADER_SIZE as i32;
        if !is_meant || offset != 0 {
            return Ok(false);
        }
        self.spill_aliased(2)?;
        let number = self.pop_i32()?;
        let at = self.pop_address()?;
        let flags = self.null_checked(&at, 0, 8);
        let data = self.e.b.ins().load(I64, flags, at.value, 0);
        let ticks = self.e.b.ins().band_imm_s(data, TICKS);
        let days = self.quotient(I64, ticks, TICKS_PER_DAY);
        let [call, join] = [(); 2].map(|()| self.e.b.create_block());
        self.e.b.append_block_param(join, I32);
        self.e.b.set_cold_block(call);
        let is_known = (self.e.b.ins()).icmp_imm_u(IntCC::UnsignedLessThan, days, DAYS);
        self.only_if(is_known, call);
        let days = self.e.b.ins().ireduce(I32, days);
        let answer = self.part_of_days(part, days);
        self.e.b.ins().jump(join, &[BlockArg::Value(answer)]);
        // The call is of a copy.
        self.e.b.switch_to_block(call);
        let slot = self.e.slot(8);
        let copy = self.e.slot_addr(slot);
        self.e.b.ins().store(trusted(), data, copy, 0);
        self.or_call(method, &[copy, number], call, join)
    }

    /// The part of a date that many days after 0001-01-01.
    fn part_of_days(&mut self, part: Part, days: Value) -> Value {
        let (century, rest) = match part {
            Part::Year | Part::DayOfYear => self.century(days),
            Part::Month | Part::Day => {
                let since = self.e.b.ins().iadd_imm_s(days, FROM_MARCH);
                self.century(since)
            }
        };
        match part {
            Part::Year => {
                let years = self.quotient(I32, rest, DAYS_OF_4_YEARS);
                let hundreds = self.e.b.ins().imul_imm_s(century, 100);
                let year = self.e.b.ins().iadd(hundreds, years);
                self.e.b.ins().iadd_imm_s(year, 1)
            }
            Part::DayOfYear => {
                let day = self.day_of_year(rest);
                self.e.b.ins().iadd_imm_s(day, 1)
            }
            Part::Month => {
                let day = self.day_of_year(rest);
                let line = self.month_line(day);
                let month = self.e.b.ins().ushr_imm_u(line, 16);
                // January and February are the 13th and 14th month of a year that began in March.
                let cc = IntCC::UnsignedGreaterThanOrEqual;
                let is_next = self.e.b.ins().icmp_imm_u(cc, day, FROM_MARCH);
                let before = self.e.b.ins().iadd_imm_s(month, -12);
                self.e.b.ins().select(is_next, before, month)
            }
            Part::Day => {
                let day = self.day_of_year(rest);
                let line = self.month_line(day);
                let in_month = self.e.b.ins().band_imm_u(line, 0xFFFF);
                let day = self.quotient(I32, in_month, SLOPE);
                self.e.b.ins().iadd_imm_s(day, 1)
            }
        }
    }

    /// The century of a day, and the rest in quarters of days, of which the last of the day is taken.
    fn century(&mut self, days: Value) -> (Value, Value) {
        let four = self.e.b.ins().ishl_imm_u(days, 2);
        let quarters = self.e.b.ins().bor_imm_u(four, 3);
        let century = self.quotient(I32, quarters, DAYS_OF_400_YEARS);
        let before = self.e.b.ins().imul_imm_s(century, DAYS_OF_400_YEARS);
        let rest = self.e.b.ins().isub(quarters, before);
        (century, self.e.b.ins().bor_imm_u(rest, 3))
    }

    /// The day of the year, from 0, by the quarters of days of its century.
    fn day_of_year(&mut self, rest: Value) -> Value {
        let years = self.quotient(I32, rest, DAYS_OF_4_YEARS);
        let before = self.e.b.ins().imul_imm_s(years, DAYS_OF_4_YEARS);
        let quarters = self.e.b.ins().isub(rest, before);
        self.e.b.ins().ushr_imm_u(quarters, 2)
    }

    /// The month, from March as the third on, in the upper half of a word, and the day of the month times the line's slope in the lower one.
    fn month_line(&mut self, day: Value) -> Value {
        let rise = self.e.b.ins().imul_imm_s(day, SLOPE);
        self.e.b.ins().iadd_imm_s(rise, START)
    }

    fn quotient(&mut self, ty: Type, value: Value, by: i64) -> Value {
        let by = self.e.b.ins().iconst(ty, by);
        self.e.b.ins().udiv(value, by)
    }
}

/// The line that goes through the first days of the months, in 65536ths of a month.
const SLOPE: i64 = 2141;
const START: i64 = 197_913;
