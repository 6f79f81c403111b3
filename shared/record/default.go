package record

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/orrery/orrery/shared/lake"
)

// SetDefault sets a field to the value in text form, unless the record has the field, even if it is null. It can set
// fields with a single string, number or boolean, and lists of strings, which it sets to one element. It returns an
// error if the field cannot be set or the value is invalid for it. The error does not depend on the row.
func SetDefault(row *lake.Row, name, value string) error {
	i, known := fieldIndex[name]
	if !known {
		return fmt.Errorf("no field %q", name)
	}
	set, err := defaultOf(&fields[i], value)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	if row.Extra != nil {
		e := encoder{extra: membersOf(*row.Extra)}
		if e.overridden(name) {
			return nil
		}
	}
	set(row)
	return nil
}

// defaultOf parses a value and returns a function that sets it in a row without the field.
func defaultOf(f *field, value string) (set func(*lake.Row), err error) {
	switch f.kind {
	case text:
		return func(row *lake.Row) { fill(f.text(row), value) }, nil
	case stage:
		return func(row *lake.Row) { fill(&row.ProcessingStage, value) }, nil
	case flag:
		v, err := strconv.ParseBool(value)
		if err != nil || value != strconv.FormatBool(v) {
			return nil, fmt.Errorf("%q is neither true nor false", value)
		}
		return func(row *lake.Row) { fill(f.flag(row), v) }, nil
	case whole:
		return defaultNumber(f, value, 0, "an integer of 64 bits")
	case seconds, originSeconds:
		return defaultNumber(f, value, micros, "a number of seconds in whole microseconds")
	case textList:
		return func(row *lake.Row) {
			if list := f.texts(row); *list == nil {
				*list = []string{value}
			}
		}, nil
	}
	return nil, errors.New("only fields with a single string, number or boolean can be set, and lists of strings")
}

func defaultNumber(f *field, value string, scale int, what string) (func(*lake.Row), error) {
	if !isNumber([]byte(value)) {
		return nil, fmt.Errorf("%q is not %s", value, what)
	}
	v, exact, ok := parseScaled([]byte(value), scale)
	if !ok || !exact {
		return nil, fmt.Errorf("%q is not %s", value, what)
	}
	return func(row *lake.Row) {
		if f.kind != originSeconds || !row.OriginNull {
			fill(f.int(row), v)
		}
	}, nil
}

// fill sets a column to the value if the column is nil.
func fill[T any](column **T, value T) {
	if *column == nil {
		*column = &value
	}
}
