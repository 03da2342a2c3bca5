//! A game loop in Rust whose rules are a script in C#, loaded again while the game runs: game.c without a raw pointer.
//!
//! ```sh
//! mcs -t:library samples/embedding/Ball.cs -out:Ball.dll
//! cargo run -p vervet-embed --example game -- lib/libvervet.so.1 Ball.dll
//! ```
use vervet_embed::{Error, Runtime, Value};

fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1);
    let library = words.next().unwrap_or_else(|| "libvervet.so.1".into());
    let script = words.next().unwrap_or_else(|| "Ball.dll".into());
    let runtime = Runtime::start(library, "game")?;

    // What goes by reference comes back in its argument; other value types are boxes.
    let rules = runtime.new_domain("rules")?;
    let class = rules.open(&script)?.class("", "Ball")?;
    let ball = class.new_object()?;
    let mut arguments = [ball.call("Calm", &[])?, 3.into(), Value::Null];
    let rises = ball.call_by_ref("Blow", &mut arguments)?;
    let [wind, _, said] = arguments;
    let speed: f32 = class.call("SpeedOf", &[wind])?.try_into()?;
    println!("{said:?}, rises: {rises:?}, speed {speed}");
    println!(
        "{:?}",
        class.call_generic("Describe", &[&class], &mut [ball.into()])?
    );
    println!(
        "{}",
        class.call("SpeedOf", &[3.into()]).expect_err("a number")
    );
    drop(class);
    rules.unload()?;

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
