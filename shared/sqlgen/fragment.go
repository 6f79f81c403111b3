package sqlgen

import (
	"regexp"
	"strings"

	"github.com/orrery/orrery/shared/lake"
)

// fragment is a piece of SQL. The type is not exported, so that text does not become SQL by accident. Only constants
// of this package, names of the table (by function name) and users' values (by literal.go) become fragments.
type fragment string

var plainName = regexp.MustCompile(`\A[a-z_][a-z0-9_]*\z`)

// name returns the name of a column, member or alias as SQL. Names come from the tables in lake and catalog, so name
// panics on an invalid one.
func name(s string) fragment {
	if !plainName.MatchString(s) {
		panic("sqlgen: not a name: " + s)
	}
	return fragment(s)
}

func names(list []string) []fragment {
	out := make([]fragment, len(list))
	for i, s := range list {
		out[i] = name(s)
	}
	return out
}

// typeName returns a column's type as Athena's queries write it. Athena's DDL has other names.
func typeName(t lake.Type) fragment { return fragment(t.Trino()) }

func join(parts []fragment, separator fragment) fragment {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = string(p)
	}
	return fragment(strings.Join(texts, string(separator)))
}

// either joins conditions with OR, in parentheses if there are several.
func either(parts []fragment) fragment { return combined(parts, " OR ", "false") }

// both joins conditions with AND, in parentheses if there are several.
func both(parts []fragment) fragment { return combined(parts, " AND ", "true") }

func combined(parts []fragment, operator, empty fragment) fragment {
	switch len(parts) {
	case 0:
		return empty
	case 1:
		return parts[0]
	}
	return "(" + join(parts, operator) + ")"
}

// line is one line of a statement. The depth is separate from the text, because a literal may hold line breaks, which
// must not be indented.
type line struct {
	depth int
	sql   fragment
}

// block is several lines of SQL.
type block []line

func lines(parts ...fragment) block {
	b := make(block, len(parts))
	for i, p := range parts {
		b[i].sql = p
	}
	return b
}

// deeper returns the block indented by one step.
func (b block) deeper() block {
	out := make(block, len(b))
	for i, l := range b {
		out[i] = line{l.depth + 1, l.sql}
	}
	return out
}

// around adds text before the first line and after the last.
func (b block) around(before, after fragment) block {
	out := append(block(nil), b...)
	out[0].sql = before + out[0].sql
	out[len(out)-1].sql += after
	return out
}

// bracketed returns the indented block between parentheses, which have their own lines.
func (b block) bracketed(before, after fragment) block {
	out := append(lines(before+"("), b.deeper()...)
	return append(out, line{0, ")" + after})
}

func (b block) String() string {
	var s strings.Builder
	for i, l := range b {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(strings.Repeat("  ", l.depth))
		s.WriteString(string(l.sql))
	}
	return s.String()
}

// listed returns the parts, one on each line, separated by commas.
func listed(parts []fragment) block {
	b := lines(parts...)
	for i := range b[:len(b)-1] {
		b[i].sql += ","
	}
	return b
}

// selection is one SELECT.
type selection struct {
	columns []fragment
	from    block
	where   []block // ANDed
	group   fragment
	order   fragment
	limit   fragment
}

func (s selection) block() block {
	b := append(lines("SELECT"), listed(s.columns).deeper()...)
	b = append(b, s.from.around("FROM ", "")...)
	for i, condition := range s.where {
		if i == 0 {
			b = append(b, condition.around("WHERE ", "")...)
		} else {
			b = append(b, condition.around("AND ", "").deeper()...)
		}
	}
	if s.group != "" {
		b = append(b, line{0, "GROUP BY " + s.group})
	}
	if s.order != "" {
		b = append(b, line{0, "ORDER BY " + s.order})
	}
	if s.limit != "" {
		b = append(b, line{0, "LIMIT " + s.limit})
	}
	return b
}

// unionAll joins SELECTs with UNION ALL.
func unionAll(parts []block) block {
	out := append(block(nil), parts[0]...)
	for _, p := range parts[1:] {
		out = append(out, line{0, "UNION ALL"})
		out = append(out, p...)
	}
	return out
}
