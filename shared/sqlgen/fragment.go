package sqlgen

import (
	"regexp"
	"strings"

	"github.com/orrery/orrery/shared/lake"
)

// fragment is a piece of SQL. The type is not exported and text does not become one by accident: constants of
// this package do, names of the table do in name, and users' values only in literal.go.
type fragment string

var plainName = regexp.MustCompile(`\A[a-z_][a-z0-9_]*\z`)

// name is a column, member or alias. Names come from the tables in lake and catalog, so an odd one is our bug.
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

// typeName is a column's type in the words of Athena's queries; its DDL has others.
func typeName(t lake.Type) fragment { return fragment(t.Trino()) }

func join(parts []fragment, separator fragment) fragment {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = string(p)
	}
	return fragment(strings.Join(texts, string(separator)))
}

// either is the disjunction of conditions, both the conjunction; parentheses only where there are several.
func either(parts []fragment) fragment { return combined(parts, " OR ", "false") }

func both(parts []fragment) fragment { return combined(parts, " AND ", "true") }

func combined(parts []fragment, operator, none fragment) fragment {
	switch len(parts) {
	case 0:
		return none
	case 1:
		return parts[0]
	}
	return "(" + join(parts, operator) + ")"
}

// line is one line of a statement. Its depth is kept apart from its text, because a literal may hold line breaks
// that must not be indented.
type line struct {
	depth int
	sql   fragment
}

// block is lines of SQL.
type block []line

func lines(parts ...fragment) block {
	b := make(block, len(parts))
	for i, p := range parts {
		b[i].sql = p
	}
	return b
}

// deeper is the block one step to the right.
func (b block) deeper() block {
	out := make(block, len(b))
	for i, l := range b {
		out[i] = line{l.depth + 1, l.sql}
	}
	return out
}

// around puts text before the first and after the last line.
func (b block) around(before, after fragment) block {
	out := append(block(nil), b...)
	out[0].sql = before + out[0].sql
	out[len(out)-1].sql += after
	return out
}

// bracketed is the block in parentheses of their own lines.
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

// listed is parts one a line, separated by commas.
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

// unionAll puts SELECTs one below the other.
func unionAll(parts []block) block {
	out := append(block(nil), parts[0]...)
	for _, p := range parts[1:] {
		out = append(out, line{0, "UNION ALL"})
		out = append(out, p...)
	}
	return out
}
