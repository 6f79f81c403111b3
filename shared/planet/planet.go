// Package planet validates planet settings and defines the store of their versions, which are documents.
// A configuration has one planet.
package planet

import "regexp"

// EntryID is the id of the one planet of every configuration.
const EntryID = "__default__"

// FirstConfig is the configuration of a new store.
const FirstConfig = "prod"

// MaxBytes is the maximum length of settings.
const MaxBytes = 350_000

// ConfigPattern is the form of configuration names.
const ConfigPattern = `[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`

var configName = regexp.MustCompile(`\A` + ConfigPattern + `\z`)

// ValidConfig reports whether name is a valid name of a configuration.
func ValidConfig(name string) bool { return configName.MatchString(name) }

// Settings is the settings of a planet: a valid JSON object without the id. Its members are kept as they were sent.
// Only Parse and Stored create settings.
type Settings struct{ text string }

// Stored returns the settings for a text that a store got from Text.
func Stored(text string) Settings { return Settings{text} }

// Text returns the settings as a JSON object without id, for a store.
func (s Settings) Text() string { return s.text }

// JSON returns the settings as the API shows them: the same object with the id as its first member.
func (s Settings) JSON() []byte {
	return []byte(`{"id":"` + EntryID + `",` + s.text[1:]) // never empty: name is required
}

// Default returns the settings of a new planet.
func Default() Settings {
	return Settings{`{"name":"__default__","trusted_nets":[],` +
		`"ichallenge":{"attrs":{},"lang":{},"palette":[],"position":{}}}`}
}
