//! Reading all of an image: what the tests do to real images and to broken
//! ones.
//!
//! Invariant: a walk spends one unit of fuel per row, name, instruction,
//! clause or argument it looks at and ends when there is none left, so that
//! its time is bounded whatever the bytes.

use crate::body::MethodBody;
use crate::constants::decode_constant;
use crate::custom_attribute::{AttrType, CustomAttrReader};
use crate::error::Error;
use crate::il::{Instructions, Operand};
use crate::image::Image;
use crate::resources::ResourceLocation;
use crate::signature::{self, MemberSig, SigType};
use crate::symbols::SymbolFile;
use crate::tables::{Column, Table};
use crate::token::Token;

/// How much a walk may do.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// How many things may be looked at.
    pub fuel: u64,
    /// How many rows of each table, spread evenly.
    pub rows_per_table: u32,
}

impl Budget {
    /// Everything.
    pub const ALL: Budget = Budget {
        fuel: u64::MAX,
        rows_per_table: u32::MAX,
    };
}

/// What a walk has seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the counts of what they name")]
pub struct Stats {
    pub rows: u64,
    pub strings: u64,
    pub signatures: u64,
    pub bodies: u64,
    pub instructions: u64,
    pub clauses: u64,
    pub user_strings: u64,
    pub constants: u64,
    pub resources: u64,
    pub attributes: u64,
    /// Attributes whose arguments were decoded to the last byte.
    pub attributes_decoded: u64,
}

struct Walk<'i, 'a, 'f> {
    image: &'i Image<'a>,
    fuel: u64,
    stats: Stats,
    report: &'f mut dyn FnMut(Table, u32, Error),
    here: (Table, u32),
}

/// Reads everything in `image` that `budget` allows, telling `report` the row
/// and the reason whenever something is malformed.
pub fn walk(image: &Image<'_>, budget: Budget, report: &mut dyn FnMut(Table, u32, Error)) -> Stats {
    let here = (Table::Module, 0);
    let mut walk = Walk {
        image,
        fuel: budget.fuel,
        stats: Stats::default(),
        report,
        here,
    };
    for table in Table::ALL {
        let rows = image.row_count(*table);
        let stride = rows / budget.rows_per_table.max(1) + 1;
        let stride = if budget.rows_per_table >= rows {
            1
        } else {
            stride
        };
        for rid in (1..=rows).step_by(stride as usize) {
            walk.here = (*table, rid);
            if !walk.spend(1) {
                return walk.stats;
            }
            walk.stats.rows += 1;
            if let Err(e) = walk
                .columns(*table, rid)
                .and_then(|()| walk.meaning(*table, rid))
            {
                (walk.report)(*table, rid, e);
            }
            walk.relations(*table, rid);
        }
    }
    walk.stats
}

impl Walk<'_, '_, '_> {
    fn spend(&mut self, units: u64) -> bool {
        let left = self.fuel.checked_sub(units);
        self.fuel = left.unwrap_or(0);
        left.is_some()
    }

    fn bad(&self, reason: &'static str) -> Error {
        Error::Row {
            table: self.here.0,
            rid: self.here.1,
            reason,
        }
    }

    /// What every cell refers to exists.
    fn columns(&mut self, table: Table, rid: u32) -> Result<(), Error> {
        let image = self.image;
        image.tables().check_row(table, rid)?;
        let cells = image.tables().cells(table, rid)?;
        for (i, column) in table.columns().iter().enumerate() {
            let raw = cells.get(i);
            match column {
                Column::U8 | Column::U16 | Column::U32 | Column::List(_) => {}
                Column::Str => {
                    self.stats.strings += 1;
                    image.string(raw)?;
                }
                Column::Guid => drop(image.guid(raw)?),
                Column::Blob => drop(image.blob(raw)?),
                Column::Rid(t) if raw > image.row_count(*t) => {
                    return Err(self.bad("a cell names a row that does not exist"));
                }
                Column::Rid(_) => {}
                Column::Coded(kind) => {
                    let token = kind.decode(raw).ok_or(self.bad("unassigned tag"))?;
                    self.token(token)?;
                }
            }
        }
        Ok(())
    }

    fn token(&self, token: Token) -> Result<(), Error> {
        match token.table() {
            Some(t) if token.rid() > self.image.row_count(t) => {
                Err(self.bad("a token names a row that does not exist"))
            }
            _ => Ok(()),
        }
    }

    /// What the row's blobs and addresses say.
    fn meaning(&mut self, table: Table, rid: u32) -> Result<(), Error> {
        let image = self.image;
        let signature = match table {
            Table::Field => {
                signature::parse_field_sig(image.blob(image.field(rid)?.signature)?).map(drop)
            }
            Table::MethodDef => {
                let row = image.method_def(rid)?;
                signature::parse_method_sig(image.blob(row.signature)?)?;
                // Code type IL only: native code has no header.
                if row.rva != 0 && row.impl_flags & 3 == 0 {
                    self.body(row.rva)?;
                }
                Ok(())
            }
            Table::MemberRef => {
                let blob = image.blob(image.member_ref(rid)?.signature)?;
                signature::parse_member_ref_sig(blob).map(drop)
            }
            Table::Property => {
                let blob = image.blob(image.property(rid)?.signature)?;
                signature::parse_property_sig(blob).map(drop)
            }
            Table::StandAloneSig => {
                let blob = image.blob(image.stand_alone_sig(rid)?.signature)?;
                signature::parse_any_sig(blob).map(drop)
            }
            Table::TypeSpec => {
                signature::parse_type_spec(image.blob(image.type_spec(rid)?.signature)?).map(drop)
            }
            Table::MethodSpec => {
                let blob = image.blob(image.method_spec(rid)?.instantiation)?;
                signature::parse_method_spec(blob).map(drop)
            }
            Table::Constant => {
                self.stats.constants += 1;
                return image.constant_value(rid).map(drop);
            }
            Table::CustomAttribute => return self.attribute(rid),
            Table::FieldRva => return image.rva_data(image.field_rva(rid)?.rva).map(drop),
            Table::ManifestResource => {
                if let ResourceLocation::Embedded(_) = image.resource_row(rid)?.location {
                    self.stats.resources += 1;
                }
                return Ok(());
            }
            Table::TypeDef | Table::TypeRef | Table::ExportedType => {
                return image.type_full_name(Token::new(table, rid)).map(drop);
            }
            Table::Module => return image.mvid().map(drop),
            _ => return Ok(()),
        };
        self.stats.signatures += 1;
        signature
    }

    fn body(&mut self, rva: u32) -> Result<(), Error> {
        let body = self.image.method_body(rva)?;
        self.stats.bodies += 1;
        self.stats.clauses += body.clauses.len() as u64;
        self.token(body.local_sig)?;
        if !self.spend(body.clauses.len() as u64) {
            return Ok(());
        }
        for instr in body.instructions() {
            let instr = instr?;
            self.stats.instructions += 1;
            let mut cost = 1;
            match instr.operand {
                Operand::Token(token) if token.table_byte() == Token::USER_STRING => {
                    self.stats.user_strings += 1;
                    let text = self.image.user_string(token.0)?;
                    cost += text.units().len() as u64 / 16;
                }
                Operand::Token(token) => self.token(token)?,
                Operand::Switch(targets) => cost += targets.iter().len() as u64,
                _ => {}
            }
            if !self.spend(cost) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn attribute(&mut self, rid: u32) -> Result<(), Error> {
        let image = self.image;
        let row = image.custom_attribute(rid)?;
        let signature = match row.constructor.table() {
            Some(Table::MethodDef) => image.method_def(row.constructor.rid())?.signature,
            _ => image.member_ref(row.constructor.rid())?.signature,
        };
        let signature = signature::parse_member_ref_sig(image.blob(signature)?)?;
        let mut reader = CustomAttrReader::new(image.blob(row.value)?)?;
        self.stats.attributes += 1;
        if let MemberSig::Method(method) = signature {
            let read = self.arguments(&mut reader, &method.params);
            if read.is_ok() && reader.rest().is_empty() {
                self.stats.attributes_decoded += 1;
            }
        }
        Ok(())
    }

    /// Reads the arguments of an attribute, taking enumerations that are not
    /// declared here for 32-bit ones.
    fn arguments(
        &mut self,
        reader: &mut CustomAttrReader<'_>,
        params: &[SigType],
    ) -> Result<(), Error> {
        let guess = &mut |_: &str| Some(AttrType::I4);
        for param in params {
            let ty = self
                .attr_type(param)
                .ok_or(self.bad("not an attribute parameter"))?;
            reader.value(&ty, guess)?;
        }
        for _ in 0..reader.named_count()? {
            if !self.spend(1) {
                break;
            }
            let arg = reader.named_arg()?;
            reader.value(&arg.ty, guess)?;
        }
        Ok(())
    }

    fn attr_type(&self, ty: &SigType) -> Option<AttrType<'static>> {
        Some(match ty {
            SigType::Bool => AttrType::Bool,
            SigType::Char => AttrType::Char,
            SigType::I1 => AttrType::I1,
            SigType::U1 => AttrType::U1,
            SigType::I2 => AttrType::I2,
            SigType::U2 => AttrType::U2,
            SigType::I4 => AttrType::I4,
            SigType::U4 => AttrType::U4,
            SigType::I8 => AttrType::I8,
            SigType::U8 => AttrType::U8,
            SigType::R4 => AttrType::R4,
            SigType::R8 => AttrType::R8,
            SigType::String => AttrType::String,
            SigType::Object => AttrType::Boxed,
            SigType::Class(_) => AttrType::Type,
            SigType::SzArray(element) => AttrType::SzArray(Box::new(self.attr_type(element)?)),
            SigType::ValueType(token) if token.is(Table::TypeDef) => {
                let mut fields = self.image.type_fields(token.rid()).take(1000);
                let row = fields
                    .find_map(|f| self.image.field(f).ok().filter(|row| row.flags & 0x10 == 0))?;
                let ty = signature::parse_field_sig(self.image.blob(row.signature).ok()?).ok()?;
                if matches!(ty, SigType::ValueType(_) | SigType::SzArray(_)) {
                    return None;
                }
                self.attr_type(&ty)?
            }
            SigType::ValueType(_) => AttrType::I4,
            _ => return None,
        })
    }

    /// Every lookup that starts at the row; answers are only counted.
    fn relations(&mut self, table: Table, rid: u32) {
        let image = self.image;
        let token = Token::new(table, rid);
        let left = usize::try_from(self.fuel).unwrap_or(usize::MAX);
        let mut n = image.custom_attributes_of(token).take(left).count();
        match table {
            Table::TypeDef => {
                n += image.type_fields(rid).take(left).count();
                n += image.type_methods(rid).take(left).count();
                n += image.type_events(rid).take(left).count();
                n += image.type_properties(rid).take(left).count();
                n += image.nested_classes_in(rid).take(left).count();
                n += image.interface_impls_of(rid).take(left).count();
                n += image.method_impls_of(rid).take(left).count();
                n += image.generic_params_of(token).take(left).count();
                n += image.decl_security_of(token).take(left).count();
                n += usize::from(image.class_layout_of(rid).is_some());
                n += usize::from(image.nested_class_of(rid).is_some());
            }
            Table::Field => {
                n += usize::from(image.field_layout_of(rid).is_some());
                n += usize::from(image.field_rva_of(rid).is_some());
                n += usize::from(image.field_marshal_of(token).is_some());
                n += usize::from(image.constant_of(token).is_some());
                n += usize::from(image.impl_map_of(token).is_some());
                n += usize::from(image.field_owner(rid).is_some());
            }
            Table::MethodDef => {
                n += image.method_params(rid).take(left).count();
                n += image.generic_params_of(token).take(left).count();
                n += image.decl_security_of(token).take(left).count();
                n += usize::from(image.impl_map_of(token).is_some());
                n += usize::from(image.method_owner(rid).is_some());
            }
            Table::Param => {
                n += usize::from(image.field_marshal_of(token).is_some());
                n += usize::from(image.constant_of(token).is_some());
                n += usize::from(image.param_owner(rid).is_some());
            }
            Table::GenericParam => {
                n += image.generic_param_constraints_of(rid).take(left).count();
            }
            Table::Event => {
                n += image.method_semantics_of(token).take(left).count();
                n += usize::from(image.event_owner(rid).is_some());
            }
            Table::Property => {
                n += image.method_semantics_of(token).take(left).count();
                n += usize::from(image.constant_of(token).is_some());
                n += usize::from(image.property_owner(rid).is_some());
            }
            _ => {}
        }
        self.spend(n as u64);
    }
}

/// The fuzz target: reads `data` as everything the crate can read. It must
/// return, soon, whatever the bytes.
pub fn fuzz_image(data: &[u8]) {
    if let Ok(image) = Image::parse(data) {
        let _ = image.entry_point();
        walk(
            &image,
            Budget {
                fuel: 400_000,
                rows_per_table: 500,
            },
            &mut |_, _, _| {},
        );
    }
    if let Ok(symbols) = SymbolFile::parse(data) {
        for rid in 1..64 {
            let _ = symbols.lookup(Token::new(Table::MethodDef, rid), rid * 3);
        }
    }
    let head = &data[..data.len().min(4096)];
    let _ = signature::parse_any_sig(head);
    let _ = signature::parse_type_spec(head);
    let _ = MethodBody::parse(head, 0);
    for instr in Instructions::new(head).flatten() {
        let _ = instr.to_string();
    }
    for kind in 0..0x20 {
        let _ = decode_constant(kind, head);
    }
    let mut reader = CustomAttrReader::without_prolog(head);
    while let Ok(ty) = reader.type_tag() {
        if reader.value(&ty, &mut |_| Some(AttrType::U1)).is_err() {
            break;
        }
    }
}
