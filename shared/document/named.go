package document

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// NamePattern is the form of the names of documents.
const NamePattern = `[a-z0-9-]{1,64}`

var validName = regexp.MustCompile(`\A` + NamePattern + `\z`)

// ValidName reports whether a document can have the name.
func ValidName(name string) bool { return validName.MatchString(name) }

// JSON returns a value as the text of a document, on one line. It panics if the value cannot be written as JSON.
func JSON(v any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("document: a %T cannot be written as JSON: %v", v, err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
