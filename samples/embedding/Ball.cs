// The rules of the game in game.rs: a ball that falls and bounces.
public class Ball {
    float height = 2, speed;

    public float Step (float seconds) {
        speed -= 9.81f * seconds;
        height += speed * seconds;
        if (height < 0) {
            height = -height;
            speed = -speed * 0.8f;
        }
        return height;
    }

    // By reference, of a value type, and generic.
    public struct Wind { public float Speed; }
    public Wind Calm () { return new Wind { Speed = 1 }; }
    public bool Blow (ref Wind wind, byte times, out string said) {
        wind.Speed *= times;
        speed += wind.Speed;
        said = "blown at " + wind.Speed;
        return speed > 0;
    }
    public static float SpeedOf (Wind wind) { return wind.Speed; }
    public static string Describe<T> (T what) { return typeof (T).Name + " " + what; }

    public void Burst (string how) {
        throw new System.InvalidOperationException ("the ball bursts, " + how);
    }
}
