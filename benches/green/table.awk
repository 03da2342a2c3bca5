# The table of benches/green.sh: medians by figure, what vervet-green takes of the best peer's, and whether aims are met.
#
# Reads lines `runtime figure value unit` sorted by figure, runtime and value. `aims`: a file of `figure base limit`; `order`: the
# same lines in the order in which figures are to be shown; `runs`: how many values there are of each; `columns`: the runtimes.
function show(x) { return x == "" ? "-" : x >= 1000000 ? sprintf("%.3g", x) : x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
function more_is_better(f) { return unit[f] == "1/s" || unit[f] == "%" }
function mine(f) { return m["vervet-green", f] }
function best(f,   i, x, b) {
    b = ""
    for (i = 1; i <= n; i++) if (column[i] !~ /^vervet-/) {
        x = m[column[i], f]
        if (x != "" && (b == "" || (more_is_better(f) ? x > b : x < b))) { b = x; best_name = column[i] }
    }
    return b
}
function verdict(f,   k, a, i, w, base, met, all) {
    k = split(wanted[f], a, ";"); if (!k || mine(f) == "") return ""
    for (i = 1; i <= k; i++) {
        split(a[i], w, " ")
        base = w[1] == "is" ? 1 : (w[1] in unit) ? mine(w[1]) : m[w[1], f]
        if (base == "" || base == 0) continue
        met = more_is_better(f) ? mine(f) / base >= w[2] + 0 : mine(f) / base <= w[2] + 0
        all = all (all ? ", " : "") (met ? "met" : "MISSED") " (" w[2] (w[1] == "is" ? " " unit[f] : " of " w[1]) ")"
    }
    return all
}
function flush() { if (last != "") m[last] = v[int((count + 1) / 2)] + 0 }
BEGIN {
    n = split(columns, column, " ")
    while ((getline line < aims) > 0) if (line !~ /^#/ && split(line, w, " ") == 3) wanted[w[1]] = wanted[w[1]] (wanted[w[1]] ? ";" : "") w[2] " " w[3]
    while ((getline line < order) > 0) { split(line, w, "\t"); if (!(w[2] in unit)) { name[++figures] = w[2]; unit[w[2]] = w[4] } }
}
{ key = $1 SUBSEP $2; if (key != last) { flush(); last = key; count = 0 } v[++count] = $3 }
END {
    flush()
    printf "\n%-26s %-4s", "median of " runs, "unit"
    for (i = 1; i <= n; i++) { width[i] = length(column[i]) > 9 ? length(column[i]) : 9; printf " %" width[i] "s", column[i] }
    printf "  %-24s %s\n", "green to best peer", "aim"
    for (j = 1; j <= figures; j++) {
        f = name[j]
        printf "%-26s %-4s", f, unit[f]
        for (i = 1; i <= n; i++) printf " %" width[i] "s", show(m[column[i], f])
        b = best(f)
        printf "  %-24s %s\n", b == "" || b == 0 || mine(f) == "" ? "-" : sprintf("%.2f of %s", mine(f) / b, best_name), verdict(f)
    }
}
