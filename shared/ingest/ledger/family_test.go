package ledger_test

import (
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/ingest/ledger"
)

func TestLogFamily(t *testing.T) {
	const header = "#Version: 1.0\n#Fields: date time\n"
	long := strings.Repeat("x", 5000)
	for name, test := range map[string]struct {
		log, head, otherLog, other string
		same                       bool
	}{
		"a grown log":                          {"a", header + "1\n", "a", header + "1\n2\n", true},
		"another first record":                 {"a", header + "1\n", "a", header + "2\n", false},
		"another name":                         {"a", header + "1\n", "b", header + "1\n", false},
		"other directives":                     {"a", header + "1\n", "a", "#Date: 2026\n\n1\n", true},
		"a mark of the encoding":               {"a", header + "1\n", "a", "\ufeff" + header + "1\n", true},
		"another end of the line":              {"a", "1\n", "a", "1\r\n", true},
		"a header alone is of the name":        {"a", header, "a", "", true},
		"so is an incomplete directive":        {"a", "#Ver", "a", "", true},
		"and an incomplete first line":         {"a", header + "1", "a", "", true},
		"but not a complete line":              {"a", header + "1\n", "a", "", false},
		"a long line need not be complete":     {"a", long, "a", long + "y\n", true},
		"the end of a long line is not read":   {"a", long + "1\n", "a", long + "2\n", true},
		"a name and a line cannot be confused": {"a", "b\n", "ab", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := ledger.LogFamily(test.log, []byte(test.head)), ledger.LogFamily(test.otherLog, []byte(test.other))
			if (a == b) != test.same {
				t.Errorf("families %s and %s, want the same: %t", a, b, test.same)
			}
		})
	}
}
