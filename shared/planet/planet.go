// Package planet holds the rules of planet settings and the port to where their versions are kept.
// A configuration has one planet; every accepted write of it is a version, and versions are never changed.
package planet

import (
	"crypto/sha256"
	"fmt"
	"regexp"
)

// EntryID is the id of the one planet of every configuration.
const EntryID = "__default__"

// FirstConfig is the configuration that a new store starts with.
const FirstConfig = "prod"

// MaxBytes is the largest body of settings.
const MaxBytes = 350_000

// ConfigPattern is how configurations may be called.
const ConfigPattern = `[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`

var configName = regexp.MustCompile(`\A` + ConfigPattern + `\z`)

// ValidConfig tells whether a configuration may have that name.
func ValidConfig(name string) bool { return configName.MatchString(name) }

// Settings is a planet's settings: a JSON object that follows the rules, every member spelt as it was sent.
// The id is not part of it. Only Parse and Stored make one.
type Settings struct{ text string }

// Stored is the settings that a store kept: the text that Text gave when they were written.
func Stored(text string) Settings { return Settings{text} }

// Text is the settings as a JSON object without id: what a store keeps.
func (s Settings) Text() string { return s.text }

// JSON is the settings as the API shows them: the same object with the id as its first member.
func (s Settings) JSON() []byte {
	return []byte(`{"id":"` + EntryID + `",` + s.text[1:]) // never empty: name is required
}

// Default is the settings of a planet nobody has changed yet.
func Default() Settings {
	return Settings{`{"name":"__default__","trusted_nets":[],"ichallenge":{"attrs":{},"lang":{},"palette":[],"position":{}}}`}
}

// etag names one version: its number, so that writing the same settings again is seen, and its content.
func etag(number int, s Settings) string {
	sum := sha256.Sum256([]byte(s.text))
	return fmt.Sprintf(`"%d-%x"`, number, sum[:8])
}
