# <legacyUnhandledExceptionPolicy>: an exception that nobody caught ends the thread, the work of the pool or the finalizer that threw it, except in Main.
cs Legacy
echo '<configuration><runtime><legacyUnhandledExceptionPolicy enabled="1"/></runtime></configuration>' > Legacy.exe.config
for what in thread pool finalizer main; do run Legacy.exe $what; done
rm Legacy.exe.config
run Legacy.exe thread
