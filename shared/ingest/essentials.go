package ingest

import "github.com/orrery/orrery/shared/lake"

// essentials are what nearly every log of requests has. An import names those that none of its records has: the log may
// be another kind of log, or be read by the wrong format.
var essentials = []struct {
	name string
	of   func(*lake.Row) bool
}{
	{"address", func(r *lake.Row) bool { return r.IP != nil }},
	{"method", func(r *lake.Row) bool { return r.Method != nil }},
	{"host", func(r *lake.Row) bool { return r.Host != nil || r.Hostname != nil }},
	{"path", func(r *lake.Row) bool { return r.Path != nil || r.URL != nil }},
	{"status", func(r *lake.Row) bool { return r.Status != nil }},
}

// essentialSet is a set of essentials, by index.
type essentialSet uint

// add adds the essentials of a record.
func (s *essentialSet) add(row *lake.Row) {
	for i, e := range essentials {
		if *s&(1<<i) == 0 && e.of(row) {
			*s |= 1 << i
		}
	}
}

// absent returns the names of the essentials that the set lacks.
func (s essentialSet) absent() (names []string) {
	for i, e := range essentials {
		if s&(1<<i) == 0 {
			names = append(names, e.name)
		}
	}
	return names
}
