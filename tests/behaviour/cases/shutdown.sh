cs VoidMain
run VoidMain.exe abort
run VoidMain.exe abort 5
run VoidMain.exe background 7
run VoidMain.exe spinning
run VoidMain.exe thread 8
run VoidMain.exe foreground 9
