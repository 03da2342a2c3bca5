namespace One { public class Thing { public int Number () { return new Two.Thing ().N; } } }
