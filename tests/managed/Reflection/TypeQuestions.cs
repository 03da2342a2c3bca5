// Questions to types whose answers are mono's own.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Formatters.Binary;

public interface ITakes<in T> { void Take(T value); }
public class TakesObjects : ITakes<object> { public void Take(object value) { } }

[Serializable]
class Stateful : Exception
{
    [NonSerialized] State state;
    public int Value { get { return state.Value; } }

    public Stateful(int value) : base("message")
    {
        state.Value = value;
        SerializeObjectState += (o, e) => e.AddSerializedState(state);
    }

    [Serializable]
    struct State : ISafeSerializationData
    {
        public int Value;
        void ISafeSerializationData.CompleteDeserialization(object o) { ((Stateful)o).state = this; }
    }
}

class TypeQuestions
{
    class Bad
    {
        public static int Field = 1;
        static Bad() { throw new Exception(); }
    }

    static void Ask(string name, Func<object> question)
    {
        try { Console.WriteLine(name + ": " + (question() ?? "null")); }
        catch (Exception e) { Console.WriteLine(name + ": " + e.GetType() + ": " + e.Message); }
    }

    static void Main()
    {
        Ask("interface", () => typeof(ICloneable).IsSubclassOf(typeof(object)));                                  // expect: interface: True
        Ask("by-ref", () => typeof(int).MakeByRefType().IsSubclassOf(typeof(object)));                            // expect: by-ref: True
        Ask("pointer", () => typeof(int*).IsSubclassOf(typeof(object)));                                          // expect: pointer: True
        Ask("object", () => typeof(object).IsSubclassOf(typeof(object)));                                         // expect: object: False
        Ask("map", () => typeof(TakesObjects).GetInterfaceMap(typeof(ITakes<string>)).TargetMethods[0]);          // expect: map: Void Take(System.Object)
        Ask("method", () => typeof(int).DeclaringMethod);                                                         // expect: method: System.InvalidOperationException: DeclaringMethod can only be used on generic arguments
        Ask("spans", () => typeof(Span<int>).MakeArrayType());                                                    // expect: spans: System.TypeLoadException: Could not create array type 'System.Span`1[System.Int32][]'
        try { Type.GetType("System.Collections.Generic.Dictionary`2[System.String]", true); }
        catch (ArgumentException e) { Console.WriteLine("arity: " + e.ParamName); }                               // expect: arity: types
        Ask("pointers", () => typeof(int*).IsAssignableFrom(typeof(uint*)));                                      // expect: pointers: False
        Ask("by-refs", () => typeof(string).MakeByRefType().IsAssignableFrom(typeof(object).MakeByRefType()));    // expect: by-refs: True
        try { Assembly.LoadFile("nowhere/it.dll"); }
        catch (ArgumentException e) { Console.WriteLine("file: " + e.ParamName); }                                // expect: file: assemblyFile
        Ask("array", () => (int)typeof(int[,]).GetMethod("Get").GetMethodImplementationFlags());                  // expect: array: 4099
        Ask("cctor", () => { try { return Bad.Field; } catch (TypeInitializationException e) { return e.TypeName; } });  // expect: cctor: Bad
        var constructor = typeof(Exception).GetConstructor(BindingFlags.NonPublic | BindingFlags.Instance, null, new[] { typeof(SerializationInfo), typeof(StreamingContext) }, null);
        Ask("critical", () => constructor.IsSecurityCritical + " " + constructor.IsSecuritySafeCritical);         // expect: critical: True True
        Ask("transparent", () => typeof(TypeQuestions).GetMethod("Main", BindingFlags.NonPublic | BindingFlags.Static).IsSecurityTransparent);  // expect: transparent: True
        var stream = new MemoryStream();
        var formatter = new BinaryFormatter();
        formatter.Serialize(stream, new Stateful(7));
        stream.Position = 0;
        var back = (Stateful)formatter.Deserialize(stream);
        Console.WriteLine("state: " + back.Value + " " + back.Message);                                           // expect: state: 7 message
    }
}
