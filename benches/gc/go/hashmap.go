// A hash map that grows and shrinks, in Go: the work of HashMap.cs.
package main

type entry struct{ key int32 }

func hashMap(live, count int) {
	m := map[int32]*entry{}
	key := func(i int) int32 { return int32(uint32(uint64(i) * 2654435761)) }
	for i := 0; i < count; i++ {
		m[key(i)] = &entry{key(i)}
		if i >= live {
			old := key(i - live)
			e := m[old]
			check(e != nil && e.key == old, "an entry that was put in")
			delete(m, old)
		}
		if i%(live*2) == live {
			next := make(map[int32]*entry, len(m))
			for k, v := range m {
				next[k] = v
			}
			m = next
		}
	}
	check(len(m) == live, "the number of entries")
	for k, v := range m {
		check(v.key == k, "each entry at its key")
	}
}
