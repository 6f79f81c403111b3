package sqlgen

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Only this file converts values to SQL. Athena's execution parameters are SQL text themselves, so they would not make
// it safer. Both engines accept the same three kinds of literal.

// text returns a string literal. In both dialects a quote is doubled and a backslash is an ordinary character. NUL is
// refused because it ends strings in some clients, and invalid UTF-8 because neither engine can print it.
func (p *printer) text(s string) fragment {
	switch {
	case strings.ContainsRune(s, 0):
		p.fail(&ValueError{"it contains NUL"})
	case !utf8.ValidString(s):
		p.fail(&ValueError{"it is not valid UTF-8"})
	}
	return fragment("'" + strings.ReplaceAll(s, "'", "''") + "'")
}

func (p *printer) texts(values []string) []fragment {
	out := make([]fragment, len(values))
	for i, v := range values {
		out[i] = p.text(v)
	}
	return out
}

// integer returns an integer literal. Both engines accept the smallest int64, too: they do not read it as the negation
// of a number that is too large.
func integer(n int64) fragment { return fragment(strconv.FormatInt(n, 10)) }

func integers(values []int64) []fragment {
	out := make([]fragment, len(values))
	for i, v := range values {
		out[i] = integer(v)
	}
	return out
}

// number returns a floating-point literal. It has an exponent, because without one it would be a DECIMAL.
func (p *printer) number(v float64) fragment {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		p.fail(&ValueError{"it is not a finite number"})
	}
	return fragment(strconv.FormatFloat(v, 'E', -1, 64))
}
