package valuelist

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orrery/orrery/shared/fault"
)

// Mistake is a mistake in a line of a list.
type Mistake struct {
	Line    int
	Message string
}

// Mistakes are the first mistakes in a list.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = fmt.Sprintf("line %d: %s", one.Line, one.Message)
	}
	return strings.Join(lines, "; ")
}

// Unwrap returns an error of kind fault.Invalid.
func (m Mistakes) Unwrap() error { return fault.New(fault.Invalid, "the list is unacceptable") }

const noValues = "the list has no values; write one in a line, or delete the list"

// mistakeIn returns the mistake in a value, or "".
func mistakeIn(value string) string {
	switch {
	case len(value) > MaxValue:
		return fmt.Sprintf("the value has %d bytes, and the most is %d", len(value), MaxValue)
	case !utf8.ValidString(value):
		return "the value is not valid UTF-8; save the list in this encoding"
	case strings.ContainsFunc(value, unicode.IsControl):
		return "the value contains a control character, such as a tab; write one value in a line"
	}
	return ""
}

func tooManyValues(n int) error {
	return fault.New(fault.TooLarge, "the list has %d values, and the most is %d; make several lists of it", n, MaxValues)
}

func tooManyBytes(n int) error {
	return fault.New(fault.TooLarge, "the values have %d bytes, and the most is %d; make several lists of them", n, MaxBytes)
}
