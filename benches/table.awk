# The table of a bench: medians by figure, what Vervet takes of Mono's and CoreCLR's, and whether aims are met.
#
# Reads lines `runtime figure value unit` sorted by figure, runtime and value. `aims`: a file of `figure base limit`; `order`: the
# same lines in the order in which figures are to be shown; `runs`: how many values there are of each.
function ratio(a, b) { return a == "" || b == "" || b == 0 ? "-" : sprintf("%.2f", a / b) }
function show(x) { return x == "" ? "-" : x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
function verdict(f,   n, a, i, w, got, base, met, all) {
    n = split(wanted[f], a, ";"); if (!n || m["vervet", f] == "") return ""
    all = ""
    for (i = 1; i <= n; i++) {
        split(a[i], w, " ")
        base = w[1] == "is" ? 1 : w[1] == "best" ? best(f) : m[w[1], f]
        if (base == "") continue
        got = m["vervet", f] / base
        met = got <= w[2] + 0
        all = all (all ? ", " : "") (met ? "met" : "MISSED") " (" w[2] (w[1] == "is" ? " " unit[f] : " of " w[1]) ")"
    }
    return all
}
function best(f,   a, b) { a = m["mono", f]; b = m["coreclr", f]; return a == "" ? b : b == "" || a < b ? a : b }
BEGIN {
    while ((getline line < aims) > 0) if (line !~ /^#/ && split(line, w, " ") == 3) wanted[w[1]] = wanted[w[1]] (wanted[w[1]] ? ";" : "") w[2] " " w[3]
    while ((getline line < order) > 0) { split(line, w, "\t"); if (!(w[2] in place)) { place[w[2]] = ++figures; name[figures] = w[2]; unit[w[2]] = w[4] } }
}
{ key = $1 SUBSEP $2; if (key != last) { flush(); last = key; count = 0 } v[++count] = $3; if ($1 ~ /^vervet /) variant[$1] = 1 }
function flush() { if (last != "") m[last] = v[int((count + 1) / 2)] }
END {
    flush()
    printf "%-28s %-4s %9s %9s %9s %9s %9s %7s %9s  %s\n", "median of " runs, "unit", "vervet", "mono", "coreclr", "go", "java", "/mono", "/coreclr", "aim"
    for (i = 1; i <= figures; i++) {
        f = name[i]
        printf "%-28s %-4s %9s %9s %9s %9s %9s %7s %9s  %s\n", f, unit[f], show(m["vervet", f]), show(m["mono", f]), show(m["coreclr", f]),
            show(m["go", f]), show(m["java", f]), ratio(m["vervet", f], m["mono", f]), ratio(m["vervet", f], m["coreclr", f]), verdict(f)
        for (r in variant) if ((r, f) in m) printf "%-28s %-4s %9s %9s %9s %9s %9s %7s %9s  %s\n", "  " r, unit[f], show(m[r, f]), "", "", "", "", ratio(m[r, f], m["mono", f]), ratio(m[r, f], m["coreclr", f]), ratio(m[r, f], m["vervet", f]) " of the default"
    }
}