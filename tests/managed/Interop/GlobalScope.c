int only_here(int x) { return x + 1; }
