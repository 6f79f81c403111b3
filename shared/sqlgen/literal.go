package sqlgen

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file alone turns values into SQL. Athena's execution parameters are SQL text themselves, so they would be
// no help there; both engines take the same three kinds of literal.

// text is a string literal. In both dialects the quote is doubled and a backslash is an ordinary character. NUL
// ends strings in some client on the way, and neither engine can print invalid UTF-8.
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

// integer is an integer literal; both engines read the smallest one as a number of its own, not as a negation.
func integer(n int64) fragment { return fragment(strconv.FormatInt(n, 10)) }

func integers(values []int64) []fragment {
	out := make([]fragment, len(values))
	for i, v := range values {
		out[i] = integer(v)
	}
	return out
}

// number is a floating-point literal with an exponent: without one it would be a DECIMAL.
func (p *printer) number(v float64) fragment {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		p.fail(&ValueError{"it is not a finite number"})
	}
	return fragment(strconv.FormatFloat(v, 'E', -1, 64))
}
