// The rules of the game in game.c: a ball that falls and bounces.
using System.Runtime.CompilerServices;

class Rules {
    float height = 2, speed;

    [MethodImpl (MethodImplOptions.InternalCall)]
    static extern void Say (string text);

    public float Step (float seconds) {
        speed -= 9.81f * seconds;
        height += speed * seconds;
        if (height < 0) {
            height = -height;
            speed = -speed * 0.8f;
            Say ("the ball bounces");
        }
        return height;
    }
}
