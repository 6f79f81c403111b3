package catalog

import (
	"slices"
	"strings"
	"testing"
)

func TestProperties(t *testing.T) {
	t.Run("every field is in one row of the table", func(t *testing.T) {
		var listed []string
		for _, p := range properties {
			listed = append(listed, strings.Fields(p.fields)...)
		}
		slices.Sort(listed)
		if want := Names(); !slices.Equal(listed, want) {
			t.Errorf("the table has %v, want %v", listed, want)
		}
	})
	t.Run("every group has fields", func(t *testing.T) {
		for _, group := range Groups {
			if !slices.ContainsFunc(Describe(), func(d Description) bool { return d.Group == group }) {
				t.Errorf("no field is in the group %s", group)
			}
		}
	})
	t.Run("secrets and addresses of clients are sensitive", func(t *testing.T) {
		for _, name := range []string{
			"arguments", "cookies", "headers", "ip", "log_rest", "query", "session", "session_ids", "svcid",
		} {
			if f, _ := Lookup(name); !f.Describe().Sensitive {
				t.Errorf("%s is not sensitive", name)
			}
		}
	})
	t.Run("aliases are those that messages suggest", func(t *testing.T) {
		listed := 0
		for _, d := range Describe() {
			for _, alias := range d.Aliases {
				if listed++; Alias(alias) != d.Name {
					t.Errorf("%s is an alias of %s and of %s", alias, d.Name, Alias(alias))
				}
			}
		}
		if listed != len(aliases) {
			t.Errorf("%d of %d aliases are listed", listed, len(aliases))
		}
	})
	t.Run("times and durations are not groupable", func(t *testing.T) {
		for _, d := range Describe() {
			f, _ := Lookup(d.Name)
			if d.Groupable != f.Groupable() {
				t.Errorf("%s: groupable is %v", d.Name, d.Groupable)
			}
		}
		for name, want := range map[string]bool{"timestamp": false, "request_time": false, "status": true, "headers": true} {
			if f, _ := Lookup(name); f.Describe().Groupable != want {
				t.Errorf("%s: groupable is %v", name, !want)
			}
		}
		f, _ := Lookup("upstream_data")
		for _, m := range f.Describe().Key.Members {
			if want := m.Name != "response_time"; m.Groupable != want {
				t.Errorf("upstream_data[%q]: groupable is %v", m.Name, m.Groupable)
			}
		}
	})
}
