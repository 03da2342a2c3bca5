using System;

namespace Vervet
{
    /// <summary>
    /// Marks a class whose public static methods and properties the runtime adds to a type of the core library.
    /// docs/design/grafts.md has the rules.
    /// </summary>
    [AttributeUsage(AttributeTargets.Class, Inherited = false)]
    sealed class GraftOntoAttribute : Attribute
    {
        public GraftOntoAttribute(string assembly, string type)
        {
            Assembly = assembly;
            Type = type;
        }

        /// <summary>Simple name of the target's assembly: always mscorlib.</summary>
        public string Assembly { get; }

        /// <summary>Full name of the target.</summary>
        public string Type { get; }
    }
}
