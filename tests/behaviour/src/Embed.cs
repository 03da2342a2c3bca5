using System;
using System.Linq;
using Mono.Cecil;
using Mono.Cecil.Cil;

// Writes an assembly with a portable PDB: each instruction of Offsets' methods on a line of its own, or only those that begin the first two statements.
static class Embed
{
    static void Main(string[] args)
    {
        var module = ModuleDefinition.ReadModule(args[0]);
        var source = new Document("/src/offsets.x");
        foreach (var method in module.Types.First(t => t.Name == "Offsets").Methods.Where(m => m.HasBody))
        {
            int line = 100;
            foreach (var i in method.Body.Instructions)
            {
                if (i.OpCode == OpCodes.Nop || args[2] == "few" && i.Offset != 1 && i.Offset != 3) continue;
                method.DebugInformation.SequencePoints.Add(new SequencePoint(i, source) { StartLine = line, EndLine = line, StartColumn = line - 95, EndColumn = line - 90 });
                line++;
            }
        }
        ISymbolWriterProvider writer = new PortablePdbWriterProvider();
        if (args[2] == "embedded") writer = new EmbeddedPortablePdbWriterProvider();
        module.Write(args[1], new WriterParameters { WriteSymbols = true, SymbolWriterProvider = writer });
    }
}
