//! What is recorded: the text behind `--profile=log:`.
//!
//! The grammar and the defaults are mono's. Unlike there, an unknown item is an error: a recording that lacks what was asked for is noticed
//! too late.
//!
//! # Invariants
//! * The first item decides the defaults: none for `nodefaults`, exceptions and counters otherwise, and nothing if there is no item at all.
//! * `noX` wins over `X`, wherever it stands.
use std::net::{Ipv4Addr, SocketAddrV4};
use thiserror::Error;

/// Sets of events: the words of the grammar.
pub mod sets {
    /// Exceptions thrown, and the clauses they meet.
    pub const EXCEPTION: u32 = 1;
    /// Monitors that a thread waits for.
    pub const MONITOR: u32 = 1 << 1;
    /// Phases of collections, and the size of the heap.
    pub const GC: u32 = 1 << 2;
    /// Every allocation.
    pub const GC_ALLOC: u32 = 1 << 3;
    /// Objects that move.
    pub const GC_MOVE: u32 = 1 << 4;
    /// Roots of the heap.
    pub const GC_ROOT: u32 = 1 << 5;
    /// GC handles.
    pub const GC_HANDLE: u32 = 1 << 6;
    /// Finalizers.
    pub const FINALIZATION: u32 = 1 << 7;
    /// Counters, once a second.
    pub const COUNTER: u32 = 1 << 8;
    /// Code that is not a method's.
    pub const JIT: u32 = 1 << 9;
}
use sets::*;

/// Where a recording goes that nobody named.
pub const DEFAULT_OUTPUT: &str = "output.mlpd";
/// No backtrace has more frames.
pub const MOST_FRAMES: u32 = 32;
/// Samples a second, unless the option says otherwise.
pub const DEFAULT_HZ: u32 = 100;
/// Nobody takes more samples a second: more are wanted in vain.
pub const MOST_HZ: u32 = 100_000;
/// Bytes between two sampled allocations, on average, unless the option says otherwise.
pub const DEFAULT_ALLOCATION_PERIOD: u64 = 512 << 10;
/// Microseconds of waiting that a sample of it stands for, unless the option says otherwise.
pub const DEFAULT_WAIT_US: u32 = 10_000;
/// Calls that lie deeper than this are not recorded, unless the option says otherwise.
pub const DEFAULT_CALL_DEPTH: u32 = 100;

const WORDS: &[(&str, u32)] = &[
    ("exception", EXCEPTION),
    ("monitor", MONITOR),
    ("gc", GC),
    ("gcalloc", GC_ALLOC),
    ("gcmove", GC_MOVE),
    ("gcroot", GC_ROOT),
    ("gchandle", GC_HANDLE),
    ("finalization", FINALIZATION),
    ("counter", COUNTER),
    ("counters", COUNTER),
    ("jit", JIT),
    ("alloc", GC | GC_ALLOC | GC_MOVE),
    (
        "legacy",
        EXCEPTION | MONITOR | GC | GC_MOVE | GC_ROOT | GC_HANDLE | FINALIZATION | COUNTER,
    ),
];

/// The items, as the message about an unknown one lists them.
const KNOWN: &str = "help, nodefaults, [no]exception, [no]monitor, [no]gc, [no]gcalloc, [no]gcmove, [no]gcroot, [no]gchandle, [no]finalization, \
[no]counter, [no]jit, [no]alloc, [no]legacy, sample[=HZ], sample-real[=HZ], waits[=US], calls, callspec=SPEC, calldepth=N, maxframes=N, maxsamples=N, \
heapshot[=Nms|Ngc|ondemand], heapshot-on-shutdown, allocsample[=BYTES], output=FILE, report, zip, port=[ADDRESS:]N, debug, coverage";

/// Why a text is not a choice of what to record.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    /// No such profiler.
    #[error("'{0}' is not a profiler; there is 'log'")]
    Profiler(String),
    /// No such item.
    #[error("'{0}' is not an item of --profile=log; the items are {KNOWN}")]
    Unknown(String),
    /// `nodefaults` behind another item.
    #[error("'nodefaults' must be the first item")]
    LateNoDefaults,
    /// A number was expected.
    #[error("'{0}' does not have a number behind '='")]
    Number(String),
    /// No time of heapshots.
    #[error("'{0}' is none of heapshot, heapshot=Nms, heapshot=Ngc and heapshot=ondemand")]
    Heapshot(String),
    /// A quote without its partner.
    #[error("a quote is not closed")]
    Quote,
    /// `report` reads its standard input, and `mprof-report` does not unpack that.
    #[error("'zip' and 'report' do not go together")]
    ZippedReport,
}

/// The clock that samples are taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The processor time of each thread.
    Cpu,
    /// The time of day.
    Real,
}

/// When the objects of the heap are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Heapshot {
    /// Never.
    #[default]
    Never,
    /// In every major collection.
    EveryMajor,
    /// In a major collection, so many milliseconds after the last time at the earliest.
    Milliseconds(u32),
    /// In every so many-th collection.
    Collections(u32),
    /// When the command port is told so.
    OnDemand,
}

/// What is recorded, and where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Events: bits of [`sets`].
    pub events: u32,
    /// `exception` or `legacy` was named, so that exceptions are not recorded by default only.
    names_exceptions: bool,
    /// Frames of a backtrace; 0: none is written.
    pub max_frames: u32,
    /// Samples: by which clock, and how many a second.
    pub sample: Option<(Clock, u32)>,
    /// A sample is taken for each so many microseconds that a thread waits.
    pub wait_us: Option<u32>,
    /// So many samples of all threads wait for the writer at most; None: as many as rings have room for.
    pub max_samples: Option<u32>,
    /// Every call and return.
    pub calls: bool,
    /// Which methods `calls` means, in the syntax of mono's `--trace`; None: all.
    pub call_spec: Option<String>,
    /// Calls that lie deeper are not recorded.
    pub call_depth: u32,
    /// Heapshots.
    pub heapshot: Heapshot,
    /// Roots are reported at the end of each collection, not only with heapshots.
    pub reports_roots_always: bool,
    /// A heapshot at the end of the run.
    pub heapshot_on_shutdown: bool,
    /// An allocation is recorded every so many bytes, on average.
    pub allocation_period: Option<u64>,
    /// The address that takes commands; port 0: any free one.
    pub port: Option<SocketAddrV4>,
    /// File name, `|command`, `#descriptor`, with `%p`, `%t`, `%%` still to be replaced.
    pub output: String,
    /// The stream is compressed by gzip.
    pub zip: bool,
    /// Usage is wanted, and nothing else.
    pub help: bool,
    /// Coverage is wanted, which another profiler of mono's records.
    pub coverage: bool,
    /// The whole text, for the header of the file.
    pub text: String,
}

/// What is known only when all items have been read.
#[derive(Default)]
struct Parsing {
    disabled: u32,
    compatible: bool,
    report: bool,
}

impl Options {
    /// Reads what stands behind `--profile=`; empty or `default` means `log:report`.
    pub fn parse(text: &str) -> Result<Options, OptionError> {
        let text = if matches!(text, "" | "default") {
            "log:report"
        } else {
            text
        };
        let (name, items) = text.split_once(':').unwrap_or((text, ""));
        if name != "log" {
            return Err(OptionError::Profiler(name.to_owned()));
        }
        let mut options = Options {
            events: 0,
            names_exceptions: false,
            max_frames: MOST_FRAMES,
            sample: None,
            wait_us: None,
            max_samples: None,
            calls: false,
            call_spec: None,
            call_depth: DEFAULT_CALL_DEPTH,
            heapshot: Heapshot::Never,
            reports_roots_always: false,
            heapshot_on_shutdown: false,
            allocation_period: None,
            port: None,
            output: String::new(),
            zip: false,
            help: false,
            coverage: false,
            text: text.to_owned(),
        };
        let mut parsing = Parsing::default();
        for (at, item) in split(items)?.iter().enumerate() {
            match (at, item.as_str()) {
                (0, "nodefaults") => continue,
                (_, "nodefaults") => return Err(OptionError::LateNoDefaults),
                (0, _) => {
                    parsing.compatible = true;
                    options.events |= EXCEPTION | COUNTER;
                }
                _ => {}
            }
            options.item(item, &mut parsing)?;
        }
        options.events &= !parsing.disabled;
        options.reports_roots_always = parsing.compatible;
        options.name_output(parsing.report)?;
        Ok(options)
    }

    /// Are finally clauses recorded that no exception enters? Each `lock` and `foreach` has one, so they are not where exceptions are recorded by default only:
    /// they would take more time than what was asked for.
    pub fn finallys(&self) -> bool {
        self.names_exceptions && self.events & EXCEPTION != 0
    }

    fn name_output(&mut self, report: bool) -> Result<(), OptionError> {
        if report && self.zip {
            return Err(OptionError::ZippedReport);
        }
        self.output = match (self.output.is_empty(), report) {
            (true, true) => "|mprof-report -".to_owned(),
            (true, false) => DEFAULT_OUTPUT.to_owned(),
            (false, true) => {
                let file = self.output.replace('\'', r"'\''");
                format!("|mprof-report '--out={file}' -")
            }
            (false, false) => return Ok(()),
        };
        Ok(())
    }

    /// Takes an item in.
    fn item(&mut self, item: &str, parsing: &mut Parsing) -> Result<(), OptionError> {
        let (name, value) = match item.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (item, None),
        };
        let wrong = || OptionError::Number(item.to_owned());
        let number = |or: Option<u32>| match value {
            None => or.ok_or_else(wrong),
            Some(v) => v.parse().map_err(|_| wrong()),
        };
        let lenient = || value.map(as_strtoul).ok_or_else(wrong);
        match (name, value) {
            ("help", None) => self.help = true,
            ("zip", None) => self.zip = true,
            ("report", None) => parsing.report = true,
            ("coverage", None) => self.coverage = true,
            ("calls", None) => self.calls = true,
            ("debug" | "nocalls", None) => {}
            ("callspec", None | Some("")) => self.call_spec = None,
            ("callspec", Some(spec)) => self.call_spec = Some(spec.to_owned()),
            ("output", Some(file)) => self.output = file.to_owned(),
            ("maxframes", _) => self.max_frames = lenient()?.min(MOST_FRAMES),
            ("calldepth", _) => self.call_depth = lenient()?,
            // As in mono, 0 changes nothing.
            ("maxsamples", _) => match lenient()? {
                0 => {}
                n => self.max_samples = Some(n),
            },
            ("port", Some(v)) => self.port = Some(address(v).ok_or_else(wrong)?),
            ("sample", _) => self.sample = Some((Clock::Cpu, frequency(value).ok_or_else(wrong)?)),
            ("sample-real" | "sampling-real", _) => {
                self.sample = Some((Clock::Real, frequency(value).ok_or_else(wrong)?));
            }
            ("waits", _) => {
                let us = Some(number(Some(DEFAULT_WAIT_US))?).filter(|us| *us > 0);
                self.wait_us = Some(us.ok_or_else(wrong)?);
            }
            ("allocsample", None) => self.allocation_period = Some(DEFAULT_ALLOCATION_PERIOD),
            ("allocsample", Some(v)) => {
                let bytes = v.parse().ok().filter(|b| *b > 0);
                self.allocation_period = Some(bytes.ok_or_else(wrong)?);
            }
            ("heapshot", mode) => {
                let wrong = || OptionError::Heapshot(item.to_owned());
                self.heapshot = heapshot(mode).ok_or_else(wrong)?;
                self.events |= GC | GC_ROOT | if parsing.compatible { GC_MOVE } else { 0 };
            }
            ("heapshot-on-shutdown", None) => {
                self.heapshot_on_shutdown = true;
                self.events |= GC | GC_ROOT;
            }
            (_, None) => return self.word(item, parsing),
            _ => return Err(OptionError::Unknown(item.to_owned())),
        }
        Ok(())
    }

    /// Takes in a set of events, or `no` with one.
    fn word(&mut self, item: &str, parsing: &mut Parsing) -> Result<(), OptionError> {
        let set = |name: &str| {
            let word = WORDS.iter().find(|w| w.0 == name)?;
            let more = if word.0 == "alloc" && parsing.compatible {
                GC_ROOT
            } else {
                0
            };
            Some(word.1 | more)
        };
        match (set(item), item.strip_prefix("no").and_then(set)) {
            (Some(wanted), _) => {
                self.events |= wanted;
                self.names_exceptions |= wanted & EXCEPTION != 0;
            }
            (None, Some(without)) => parsing.disabled |= without,
            (None, None) => return Err(OptionError::Unknown(item.to_owned())),
        }
        Ok(())
    }
}

/// The number that a text begins with, as mono takes it, silently: of one that begins with none it is 0, a negative one is as large as can be.
fn as_strtoul(text: &str) -> u32 {
    let (text, is_negative) = match text.trim_start().strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (text.trim_start(), false),
    };
    let end = text.find(|c: char| !c.is_ascii_digit());
    let digits = &text[..end.unwrap_or(text.len())];
    match digits.trim_start_matches('0') {
        "" => 0,
        _ if is_negative => u32::MAX,
        digits => digits.parse().unwrap_or(u32::MAX),
    }
}

/// A port of the loopback address, or an address with a port; any port, if nothing is named.
fn address(text: &str) -> Option<SocketAddrV4> {
    match text.parse() {
        _ if text.is_empty() => Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)),
        Ok(port) => Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)),
        Err(_) => text.parse().ok(),
    }
}

/// Samples a second: a number, before which mono's older versions had letters and a slash.
fn frequency(value: Option<&str>) -> Option<u32> {
    let Some(value) = value else {
        return Some(DEFAULT_HZ);
    };
    let digits = value.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let digits = digits.strip_prefix('/').unwrap_or(digits);
    match digits {
        "" => Some(DEFAULT_HZ),
        digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
            Some(as_strtoul(digits).min(MOST_HZ)).filter(|hz| *hz > 0)
        }
        _ => None,
    }
}

fn heapshot(mode: Option<&str>) -> Option<Heapshot> {
    let Some(mode) = mode else {
        return Some(Heapshot::EveryMajor);
    };
    if mode == "ondemand" {
        return Some(Heapshot::OnDemand);
    }
    if let Some(n) = mode.strip_suffix("ms") {
        return n.parse().ok().map(Heapshot::Milliseconds);
    }
    mode.strip_suffix("gc")?
        .parse()
        .ok()
        .map(Heapshot::Collections)
}

/// The items: separated by commas that no quote protects; a backslash takes the next character as it is. Empty ones are left out.
fn split(text: &str) -> Result<Vec<String>, OptionError> {
    let (mut items, mut item, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => item.extend(chars.next()),
            (c, Some(q)) if c == q => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            (',', None) => items.push(std::mem::take(&mut item)),
            _ => item.push(c),
        }
    }
    if quote.is_some() {
        return Err(OptionError::Quote);
    }
    items.push(item);
    items.retain(|i| !i.is_empty());
    Ok(items)
}

/// What `--profile=log:help` prints.
pub const HELP: &str = "\
Usage: vervet --profile=log[:item,item,...] program.exe

  help                  prints this
  nodefaults            records nothing that is not named; must be the first item
  [no]exception         exceptions and the clauses they meet (default)
  [no]counter           counters, once a second (default)
  [no]monitor           monitors that a thread waits for
  [no]gc                phases of collections and the size of the heap
  [no]gcalloc           every allocation
  [no]gcmove            objects that move
  [no]gcroot            roots of the heap
  [no]gchandle          GC handles made and freed
  [no]finalization      objects that are finalized
  [no]jit               code that is not a method's
  [no]alloc             gc, gcalloc, gcmove
  [no]legacy            exception, monitor, gc, gcmove, gcroot, gchandle, finalization, counter
  sample[=HZ]           samples of threads that run, by their processor time (default 100 a second)
  sample-real[=HZ]      samples of all threads, by the clock on the wall
  waits[=US]            a sample for each US microseconds that a thread waits (default 10000), and what it waits for; not mono's
  calls                 every call and return
  callspec=SPEC         calls of these methods only, in the syntax of mono's --trace
  calldepth=N           calls that lie deeper than N are left out (default 100)
  heapshot[=WHEN]       all objects in every major collection, or every Nms, every Ngc, ondemand
  heapshot-on-shutdown  all objects at the end
  allocsample[=BYTES]   an allocation every so many bytes, on average (default 524288); not mono's
  maxframes=N           at most N frames of a backtrace (0 to 32, default 32)
  maxsamples=N          at most N samples wait to be written; others are lost
  output=FILE           writes to FILE (default output.mlpd); '|COMMAND' starts a command, '#N' is a file descriptor;
                        %p is the process, %t the time, %% a percent sign; '+FILE' appends the process
  report                shows the recording by mprof-report
  zip                   compresses the recording by gzip
  port=[ADDRESS:]N      takes commands at this TCP port (0: any that is free) of 127.0.0.1, or of another address: heapshot
";

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        Options::parse(text).unwrap()
    }
    fn events(text: &str) -> u32 {
        options(text).events
    }

    #[test]
    fn the_first_item_decides_the_defaults() {
        assert_eq!(events("log"), 0);
        assert_eq!(events("log:gc"), GC | EXCEPTION | COUNTER);
        assert_eq!(events("log:nodefaults,gc"), GC);
        let late = Options::parse("log:gc,nodefaults");
        assert_eq!(late, Err(OptionError::LateNoDefaults));
    }

    #[test]
    fn aliases_mean_more_in_compatibility_mode() {
        let alloc = GC | GC_ALLOC | GC_MOVE;
        assert_eq!(events("log:nodefaults,alloc"), alloc);
        assert_eq!(events("log:alloc"), alloc | GC_ROOT | EXCEPTION | COUNTER);
        let finallys = |text| options(text).finallys();
        assert!(finallys("log:exception") && finallys("log:nodefaults,legacy"));
        assert!(!finallys("log:sample") && !finallys("log:legacy,noexception"));
        assert_eq!(events("log:nodefaults,heapshot"), GC | GC_ROOT);
        assert_eq!(
            events("log:heapshot"),
            GC | GC_ROOT | GC_MOVE | EXCEPTION | COUNTER
        );
        assert_eq!(events("log:nodefaults,heapshot-on-shutdown"), GC | GC_ROOT);
    }

    #[test]
    fn what_is_switched_off_stays_off() {
        assert_eq!(events("log:noexception,exception,nocounter"), 0);
        assert_eq!(events("log:nodefaults,alloc,nogcalloc"), GC | GC_MOVE);
        assert_eq!(events("log:noalloc,gcroot,jit"), JIT | EXCEPTION | COUNTER);
    }

    #[test]
    fn quotes_and_backslashes_protect_commas() {
        assert_eq!(options("log:output='a,b'").output, "a,b");
        assert_eq!(options(r"log:,output=a\,b,").output, "a,b");
        assert_eq!(
            options(r"log:report,output=it\'s").output,
            r"|mprof-report '--out=it'\''s' -"
        );
        assert_eq!(
            options("log:calls,callspec='M:a,b'").call_spec.as_deref(),
            Some("M:a,b")
        );
    }

    #[test]
    fn what_is_not_known_is_an_error_that_lists_the_items() {
        for text in [
            "log:gx",
            "log:gc=1",
            "log:output",
            "log:nonsense",
            "log:time=x",
            "log:allocs",
        ] {
            let error = Options::parse(text).unwrap_err();
            assert!(matches!(error, OptionError::Unknown(_)), "{text}: {error}");
            assert!(error.to_string().contains("sample-real"));
        }
        for text in [
            "maxframes",
            "calldepth",
            "sample=0",
            "sample=cycles/x",
            "port=70000",
            "allocsample=0",
        ] {
            let error = Options::parse(&format!("log:{text}")).unwrap_err();
            assert_eq!(error, OptionError::Number(text.into()));
        }
        for text in ["heapshot=5", "heapshot=xgc", "heapshot="] {
            let error = Options::parse(&format!("log:{text}")).unwrap_err();
            assert_eq!(error, OptionError::Heapshot(text.into()));
        }
        assert_eq!(
            Options::parse("cov"),
            Err(OptionError::Profiler("cov".into()))
        );
        assert_eq!(Options::parse("log:output='x"), Err(OptionError::Quote));
        assert_eq!(
            Options::parse("log:report,zip"),
            Err(OptionError::ZippedReport)
        );
    }

    #[test]
    fn modes_have_monos_spellings_and_defaults() {
        for (text, sample) in [
            ("sample", (Clock::Cpu, 100)),
            ("sample=1000", (Clock::Cpu, 1000)),
            ("sample=cycles/250", (Clock::Cpu, 250)),
            ("sample-real=7", (Clock::Real, 7)),
            ("sampling-real", (Clock::Real, 100)),
        ] {
            assert_eq!(
                options(&format!("log:{text}")).sample,
                Some(sample),
                "{text}"
            );
        }
        let shot = |text| options(text).heapshot;
        assert_eq!(shot("log:heapshot"), Heapshot::EveryMajor);
        assert_eq!(shot("log:heapshot=5gc"), Heapshot::Collections(5));
        assert_eq!(shot("log:heapshot=70ms"), Heapshot::Milliseconds(70));
        assert_eq!(shot("log:heapshot=ondemand"), Heapshot::OnDemand);
        let port = |text| options(text).port.map(|p| p.to_string());
        assert_eq!(port("log:port=0").as_deref(), Some("127.0.0.1:0"));
        let any = port("log:port=0.0.0.0:99");
        assert_eq!(any.as_deref(), Some("0.0.0.0:99"));
        let waits = |text| options(text).wait_us;
        assert_eq!(
            (waits("log:waits"), waits("log:waits=50")),
            (Some(10_000), Some(50))
        );
        assert!(Options::parse("log:waits=0").is_err());
        let o = options("log:calls,maxframes=99,allocsample");
        assert_eq!((o.calls, o.call_depth, o.max_frames), (true, 100, 32));
        assert_eq!(o.allocation_period, Some(512 << 10));
    }

    #[test]
    fn numbers_are_read_as_leniently_as_by_mono() {
        let frames = |text| options(text).max_frames;
        assert_eq!(
            ["log:maxframes=-1", "log:maxframes=0x10", "log:maxframes=8k"].map(frames),
            [32, 0, 8]
        );
        let depth = |text| options(text).call_depth;
        assert_eq!(["log:calldepth=", "log:calldepth=x"].map(depth), [0, 0]);
        let sample = |text| options(text).sample;
        assert_eq!(sample("log:sample=100hz"), Some((Clock::Cpu, 100)));
        assert_eq!(sample("log:sample=1000000"), Some((Clock::Cpu, MOST_HZ)));
        let port = options("log:port=").port.map(|p| p.to_string());
        assert_eq!(port.as_deref(), Some("127.0.0.1:0"));
        assert_eq!(options("log:calls,callspec=").call_spec, None);
    }

    #[test]
    fn reports_go_through_mprof_report() {
        assert_eq!(options("").output, "|mprof-report -");
        assert_eq!(options("default").output, "|mprof-report -");
        assert_eq!(
            options("log:report,output=x").output,
            "|mprof-report '--out=x' -"
        );
        assert_eq!(options("log:gc").output, DEFAULT_OUTPUT);
    }
}
