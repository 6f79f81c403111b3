// Package tomlfile decodes orrery.toml. Several packages read a part of the file each.
package tomlfile

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/orrery/orrery/shared/fault"
)

// Name is the name of the file in the data folder.
const Name = "orrery.toml"

// Decode decodes the text of a file into a structure, which must have all keys of the file. An error is of kind
// fault.Invalid and names the line and the key.
func Decode(file string, text []byte, into any) error {
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(into)
	if err == nil {
		return nil
	}
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		var failed error
		for _, e := range unknown.Errors {
			line, _ := e.Position()
			failed = errors.Join(failed, Mistake(file, line, strings.Join(e.Key(), "."), "there is no such key"))
		}
		return failed
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		return Mistake(file, line, strings.Join(decode.Key(), "."), strings.TrimPrefix(decode.Error(), "toml: "))
	}
	return fault.Wrap(fault.Invalid, err, "%s", file)
}

// Mistake returns the error of a mistake in a line of a file. The key may be "".
func Mistake(file string, line int, key, message string) error {
	if key != "" {
		message = key + ": " + message
	}
	return fault.New(fault.Invalid, "%s: line %d: %s", file, line, message)
}
