//! Regions, found by their two letters.
use crate::tables::REGIONS;
use crate::text::Text;

/// What is known of a region.
pub struct Region {
    /// Geographical id.
    pub geo_id: i32,
    /// Two letters (ISO 3166).
    pub iso2: Text,
    /// Three letters (ISO 3166).
    pub iso3: Text,
    /// Three letters under Windows.
    pub win3: Text,
    /// Its name in English.
    pub english: Text,
    /// Its name in its own language.
    pub native: Text,
    /// Sign of its currency.
    pub currency_symbol: Text,
    /// Code of its currency (ISO 4217).
    pub iso_currency: Text,
    /// Its currency's name in English.
    pub currency_english: Text,
    /// Its currency's name in its own language.
    pub currency_native: Text,
}
impl Region {
    /// The region of two letters in upper case.
    pub fn by_code(code: &str) -> Option<&'static Region> {
        let at = REGIONS.binary_search_by_key(&code, |r| r.iso2.get()).ok()?;
        Some(&REGIONS[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_is_found_by_its_letters() {
        assert_eq!(REGIONS.len(), 136);
        for r in &REGIONS {
            let found = Region::by_code(r.iso2.get()).expect("it is in the table");
            assert_eq!(found.geo_id, r.geo_id);
        }
    }
    #[test]
    fn a_region_is_not_found_by_anything_else() {
        for code in ["", "us", "en-US", "USA", "ZZ"] {
            assert!(Region::by_code(code).is_none(), "{code}");
        }
    }
    #[test]
    fn every_territory_of_a_culture_is_a_region() {
        for c in crate::cultures() {
            assert!(
                c.territory().is_none_or(|t| Region::by_code(t).is_some()),
                "{}",
                c.name.get()
            );
        }
    }
}
