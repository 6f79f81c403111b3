package destination

import (
	"os"
	"strings"
)

// Secret is where a secret is: in a file, or in a parameter of AWS Systems Manager. The zero value is no secret.
type Secret struct {
	File      string // its first line
	Parameter string // its name
}

// String returns the place.
func (s Secret) String() string {
	if s.Parameter != "" {
		return "the parameter " + s.Parameter
	}
	return s.File
}

// firstLine returns the first line of a file.
func firstLine(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(first, "\r"), nil
}

// ReadFile returns the secret of a file. It is read when it is needed, so that it can be changed.
func (s Secret) ReadFile() (string, error) { return firstLine(s.File) }
