//! The pool of texts, NUL-terminated and each there once, and the pool of lists of texts.
use std::collections::HashMap;

/// Both pools, growing.
pub struct Pool {
    bytes: Vec<u8>,
    texts: HashMap<String, usize>,
    lists: Vec<usize>,
    known_lists: HashMap<Vec<usize>, usize>,
}
impl Pool {
    /// With the empty text at 0.
    pub fn new() -> Pool {
        Pool {
            bytes: vec![0],
            texts: HashMap::from([(String::new(), 0)]),
            lists: Vec::new(),
            known_lists: HashMap::new(),
        }
    }
    /// Where a text lies in the pool.
    fn offset(&mut self, text: &str) -> usize {
        if let Some(at) = self.texts.get(text) {
            return *at;
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        self.texts.insert(text.to_string(), at);
        at
    }
    /// The expression for a text.
    pub fn text(&mut self, text: &str) -> String {
        format!("Text({})", self.offset(text))
    }
    /// The expression for a list: its length and its texts lie in the pool of lists.
    pub fn list(&mut self, texts: &[String]) -> String {
        let list: Vec<usize> = texts.iter().map(|t| self.offset(t)).collect();
        let at = *self.known_lists.entry(list).or_insert_with_key(|list| {
            let at = self.lists.len();
            self.lists.push(list.len());
            self.lists.extend(list);
            at
        });
        format!("Texts({at})")
    }
    /// The source of both.
    pub fn source(&self) -> String {
        format!(
            "/// All texts, NUL-terminated.\npub static POOL: [u8; {}] = {:?};\n/// All lists: the length, then offsets into the pool.\npub static LISTS: [u32; {}] = {:?};\n",
            self.bytes.len(),
            self.bytes,
            self.lists.len(),
            self.lists
        )
    }
}
