module bench

go 1.20
