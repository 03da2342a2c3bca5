//! Threads, told apart although the system uses their ids again.
//!
//! # Invariants
//! A thread is a number that is never used again; its id is that of the last thread that began with it.
use rustc_hash::FxHashMap;

/// The number of a thread.
pub(crate) type Thread = u32;

/// What is known of a thread.
#[derive(Debug, Default, Clone)]
pub(crate) struct ThreadInfo {
    pub id: u64,
    pub name: Option<String>,
    pub began: Option<u64>,
    pub ended: Option<u64>,
    pub samples: u64,
    pub allocated: u64,
    pub objects: u64,
    pub waited_ns: u64,
    pub waits: u64,
    pub throws: u64,
}

/// All threads.
#[derive(Default)]
pub(crate) struct Threads {
    pub all: Vec<ThreadInfo>,
    by_id: FxHashMap<u64, Vec<Thread>>,
}

impl Threads {
    fn add(&mut self, id: u64, began: Option<u64>) -> Thread {
        let thread = self.all.len() as Thread;
        self.all.push(ThreadInfo {
            id,
            began,
            ..ThreadInfo::default()
        });
        self.by_id.entry(id).or_default().push(thread);
        thread
    }

    /// The thread that has an id now.
    pub(crate) fn of(&mut self, id: u64) -> Thread {
        match self.by_id.get(&id).and_then(|t| t.last()) {
            Some(thread) => *thread,
            None => self.add(id, None),
        }
    }

    /// The thread that had an id at a time.
    pub(crate) fn at(&mut self, id: u64, time: u64) -> Thread {
        let all = self.by_id.get(&id).map(Vec::as_slice).unwrap_or_default();
        let began = |t: &&Thread| self.all[**t as usize].began.is_none_or(|b| b <= time);
        match all.iter().rev().find(began).or(all.first()) {
            Some(thread) => *thread,
            None => self.add(id, None),
        }
    }

    /// What is known of a thread.
    pub(crate) fn info(&mut self, thread: Thread) -> &mut ThreadInfo {
        &mut self.all[thread as usize]
    }

    /// A thread begins.
    pub(crate) fn begin(&mut self, id: u64, time: u64) {
        let current = self.of(id);
        let info = self.info(current);
        match info.began.or(info.ended) {
            None => info.began = Some(time),
            Some(_) => {
                self.add(id, Some(time));
            }
        }
    }

    /// A thread ends.
    pub(crate) fn end(&mut self, id: u64, time: u64) {
        let current = self.of(id);
        self.info(current).ended = Some(time);
    }

    /// A thread has a name.
    pub(crate) fn name(&mut self, id: u64, name: &str) {
        let current = self.of(id);
        self.info(current).name = Some(name.to_owned());
    }

    /// Its name, or its id.
    pub(crate) fn label(&self, thread: Thread) -> String {
        match self.all.get(thread as usize) {
            Some(ThreadInfo {
                name: Some(name), ..
            }) if !name.is_empty() => name.clone(),
            Some(info) => format!("thread {:#x}", info.id),
            None => "[unknown thread]".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_used_again_is_another_thread() {
        let mut threads = Threads::default();
        threads.name(5, "before it began");
        threads.begin(5, 100);
        threads.end(5, 200);
        threads.begin(5, 300);
        threads.name(5, "second");
        assert_eq!(threads.at(5, 50), 0);
        assert_eq!(threads.at(5, 150), 0);
        assert_eq!(threads.at(5, 300), 1);
        assert_eq!(threads.label(0), "before it began");
        assert_eq!(threads.label(threads.all.len() as Thread - 1), "second");
        assert_eq!(threads.all.len(), 2);
    }
}
