// The library of Order.cs. The number stands in the code of Number, which is inlined into Text.
namespace Library {
    public static class Answer {
        static int Number() { return 0x11223344; }
        public static string Text() { return Number().ToString("x"); }
    }
    public static class Plain {
        public static int Zero;
    }
}
