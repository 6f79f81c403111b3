package query

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Values asks for the different values of a dimension in which a text is found, for completion. The query has no
// conditions besides the branches that the caller may see. An engine.ValueFinder answers it.
type Values struct {
	By     Dimension
	Find   Find
	Limit  int  // 1…50
	Counts bool // the records of each value are counted, and the most frequent values come first
}

func (Values) shape() {}

// DefaultValues is the number of values if the request names none.
const DefaultValues = 20

// ValuesAnswer is the answer to Values.
type ValuesAnswer struct {
	// Values are in the order of Find.Compare or, if they are counted, by requests (descending), then value. If they
	// are not counted, their counts are 0.
	Values []FacetValue
	More   bool // further values were found
}

// Find is a test of a value: it holds if the text is found in it, without regard to case.
type Find struct {
	text   string // folded
	prefix bool   // the value begins with the text
}

// Containing returns the test of values that contain a text.
func Containing(text string) Find { return Find{text: Fold(text)} }

// Beginning returns the test of values that begin with a text.
func Beginning(text string) Find { return Find{text: Fold(text), prefix: true} }

// Passes reports whether a value passes the test.
func (f Find) Passes(value string) bool {
	switch {
	case f.text == "":
		return true
	case f.prefix:
		return f.begins(value)
	}
	return strings.Contains(Fold(value), f.text)
}

func (f Find) begins(value string) bool { return strings.HasPrefix(Fold(value), f.text) }

// Compare orders values that pass the test: those that begin with the text come first, then bytes
// decide.
func (f Find) Compare(a, b string) int {
	if !f.prefix && f.text != "" {
		switch begins := f.begins(a); {
		case begins == f.begins(b):
		case begins:
			return -1
		default:
			return 1
		}
	}
	return cmp.Compare(a, b)
}

// String prints the test for people.
func (f Find) String() string {
	if f.prefix {
		return "prefix=" + f.text
	}
	return "contains=" + f.text
}

// Fold returns a text in which letters that differ only in case are equal. It is the only such function for values, so
// that a value is found on every engine or on none.
func Fold(text string) string {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, text)
		}
	}
	return text
}

// foldRune returns the lower-case letter for ASCII, and otherwise the smallest of the runes that differ only in case.
func foldRune(r rune) rune {
	if r >= utf8.RuneSelf {
		smallest := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			smallest = min(smallest, next)
		}
		r = smallest
	}
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// FirstValues collects the first values of an answer. Values may be added in any order, and repeatedly.
type FirstValues struct {
	shape  Values
	values []string // sorted
	more   bool
}

// NewFirstValues returns an empty collection for a shape without counts.
func NewFirstValues(shape Values) *FirstValues { return &FirstValues{shape: shape} }

// Add adds a value if it passes the test.
func (f *FirstValues) Add(value string) {
	if !f.shape.Find.Passes(value) {
		return
	}
	at, known := slices.BinarySearchFunc(f.values, value, f.shape.Find.Compare)
	switch {
	case known:
		return
	case at >= f.shape.Limit:
		f.more = true
		return
	case len(f.values) == f.shape.Limit:
		f.values, f.more = f.values[:len(f.values)-1], true
	}
	f.values = slices.Insert(f.values, at, strings.Clone(value))
}

// Full reports whether there are as many values as the answer may have.
func (f *FirstValues) Full() bool { return len(f.values) >= f.shape.Limit }

// Answer returns the values.
func (f *FirstValues) Answer() ValuesAnswer {
	a := ValuesAnswer{More: f.more}
	for _, value := range f.values {
		a.Values = append(a.Values, FacetValue{Value: value})
	}
	return a
}
