// Its class cannot be loaded, so the exception passes no frame.
static class Unstartable
{
    static GoneStruct gone;

    static void Main()
    {
        System.Console.WriteLine("started");
    }
}
