f=/usr/lib/mono/4.5/Facades
cs Facade -noconfig -nostdlib -r:$f/netstandard.dll
run Facade.exe
cs Facade -noconfig -nostdlib -out:Runtime.exe -r:$f/System.Runtime.dll -r:$f/System.Console.dll -r:$f/System.Linq.dll -r:$f/System.Collections.Concurrent.dll -r:$f/System.Text.RegularExpressions.dll -r:$f/System.Reflection.dll -r:$f/System.Collections.dll -r:$f/System.Runtime.Extensions.dll -r:/usr/lib/mono/4.5/mscorlib.dll
run Runtime.exe
