package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/orrery/orrery/shared/tomlfile"
)

// Keep returns how long records are kept, by the key keep in the file orrery.toml of a folder; 0 for ever. It returns
// nil without the key or the file. An error of kind fault.Invalid names the line and the key of a mistake.
func Keep(folder string) (*time.Duration, error) {
	file := filepath.Join(folder, FileName)
	document, text, err := read(file)
	if err != nil || document.Keep == nil {
		return nil, err
	}
	keep, err := ParseKeep(*document.Keep)
	if err != nil {
		return nil, tomlfile.Mistake(file, lineOfMember(text, 1, "", "keep"), "keep", err.Error())
	}
	return &keep, nil
}

// ParseKeep parses how long records are kept: a whole number of days or hours, at least a day, or 0d for ever.
func ParseKeep(text string) (time.Duration, error) {
	keep, err := parseAge(text)
	switch {
	case err != nil:
		return 0, err
	case keep == nil:
		return 0, errors.New("write a number of days or hours, such as 90d, or 0d to keep all records")
	case *keep > 0 && *keep < 24*time.Hour:
		return 0, fmt.Errorf("%s is less than a day; write 1d or more, or 0d to keep all records", text)
	}
	return *keep, nil
}

// FormatKeep is the inverse of ParseKeep.
func FormatKeep(keep time.Duration) string {
	if keep%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", keep/(24*time.Hour))
	}
	return fmt.Sprintf("%dh", keep/time.Hour)
}
