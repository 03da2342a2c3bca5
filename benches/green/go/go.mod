module greenbench

go 1.21
