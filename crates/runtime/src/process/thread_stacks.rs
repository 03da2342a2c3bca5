//! The stacks of all managed threads at one moment, for `Thread.GetStackTraces`.
//!
//! # How it works
//! The world is stopped, and each stack is noted as words (`exceptions/stack_words.rs`), each thread in a managed array. What they mean is found out when the
//! threads run again.
//!
//! # Invariants
//! * Nothing is allocated while the world is stopped. If the room that was made before does not do, more is made, and the world is stopped again;
//!   of threads and frames beyond [`MOST_WORDS`] nothing is noted.
use crate::cx::{Cx, Result};
use crate::exceptions::stack_words::{self, Word};
use crate::exceptions::trace::Frame;
use crate::object::ObjRef;
use crate::safepoint::{self, ThreadView, green_contexts, registry};
use crate::threads::green;
use vervet_types::Known;

/// The most frames of one thread that are noted.
const MOST_FRAMES: usize = 1024;
/// The most frames of all threads.
const MOST_WORDS: usize = 1 << 22;
/// Threads that may be started between the making of the room and the stop.
const MORE: usize = 64;

/// See the module.
pub struct ThreadStacks<'cx> {
    /// The Thread objects, at the beginning of a longer array.
    threads: ObjRef<'cx>,
    words: Vec<Word>,
    /// Where the words of each thread end.
    ends: Vec<usize>,
}

impl<'cx> ThreadStacks<'cx> {
    /// Stops the world and looks.
    ///
    /// # Errors
    /// OutOfMemoryException.
    pub fn take(cx: &'cx Cx<'cx>) -> Result<ThreadStacks<'cx>> {
        let mut room = 1 << 14;
        loop {
            let count = registry::count() + green_contexts::count() + MORE;
            let mut stacks = ThreadStacks {
                threads: cx.alloc_array(cx.known(Known::Thread), count)?,
                words: Vec::new(),
                ends: Vec::new(),
            };
            let has_room = stacks.words.try_reserve_exact(room).is_ok()
                && stacks.ends.try_reserve_exact(count).is_ok();
            if !has_room {
                return Err(cx.rt().throw_out_of_memory(cx));
            }
            let mut fits = true;
            // SAFETY: a token's context is that of the calling thread, which is in Runtime state.
            unsafe {
                safepoint::stop(cx.context(), |world| {
                    world.for_each_thread(|view| fits &= stacks.add(&view));
                });
            }
            if fits || room >= MOST_WORDS {
                return Ok(stacks);
            }
            room *= 4;
        }
    }
    /// Notes a thread; false if there is no room. Only words that lie in what was reserved are written.
    ///
    /// # Safety
    /// The world is stopped.
    unsafe fn add(&mut self, view: &ThreadView<'_>) -> bool {
        // SAFETY: the caller's promise: contexts and stacks stay as they are.
        unsafe {
            let context = view.context;
            let is_idle = (*context).green != 0 && view.tid == 0 && green::is_free(context);
            let thread: ObjRef<'_> = ObjRef::from_addr((*context).thread_object);
            if thread.is_null() || is_idle {
                return true;
            }
            if self.ends.len() == self.ends.capacity() {
                return false;
            }
            let first = self.words.len();
            let mut fits = true;
            stack_words::collect(context, view.at, |word| {
                if self.words.len() - first == MOST_FRAMES {
                    return false;
                }
                fits = self.words.len() < self.words.capacity();
                if fits {
                    self.words.push(word);
                }
                fits
            });
            self.threads.set_element_ref(self.ends.len(), thread);
            self.ends.push(self.words.len());
            fits
        }
    }
    /// How many threads there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// A Thread object.
    pub fn thread(&self, i: usize) -> ObjRef<'cx> {
        self.threads.element_ref(i)
    }
    /// The frames of a thread, innermost first.
    pub fn frames(&self, i: usize) -> Vec<Frame> {
        let first = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        stack_words::frames(&self.words[first..self.ends[i]])
    }
}
