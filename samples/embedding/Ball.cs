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

    public void Burst (string how) {
        throw new System.InvalidOperationException ("the ball bursts, " + how);
    }
}
