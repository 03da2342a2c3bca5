//! A game loop in Rust whose rules are a script in C#, loaded again while the game runs: game.c without a raw pointer.
//!
//! ```sh
//! mcs -t:library samples/embedding/Ball.cs -out:Ball.dll
//! cargo run -p vervet-embed --example game -- lib/libvervet.so.1 Ball.dll
//! ```
use vervet_embed::{Error, Runtime};

fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1);
    let library = words.next().unwrap_or_else(|| "libvervet.so.1".into());
    let script = words.next().unwrap_or_else(|| "Ball.dll".into());
    let runtime = Runtime::start(library, "game")?;

    for level in 1..=2 {
        let domain = runtime.new_domain("scripts")?;
        let ball = domain.open(&script)?.class("", "Ball")?.new_object()?;
        for frame in 1..=4 {
            let height: f32 = ball.call("Step", &[0.25f32.into()])?.try_into()?;
            println!("level {level}, frame {frame}: height {height:.3}");
        }
        // What is wrong is an error, not the end of the process.
        println!("{}", ball.call("Step", &[true.into()]).expect_err("a bool"));
        println!(
            "{}",
            ball.call("Burst", &["loud".into()]).expect_err("it throws")
        );
        domain.unload()?;
        println!(
            "{}",
            ball.call("Step", &[0.25f32.into()]).expect_err("gone")
        );
    }
    Ok(())
}
