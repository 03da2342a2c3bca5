namespace Carried { public static class Thing { public static string Name { get { return "carried in memory"; } } } }
