package api

import (
	"strconv"

	"github.com/orrery/orrery/shared/planet"
)

// configOf returns the configuration in the path. It returns an error if the name is invalid or not visible to the
// caller.
func configOf(c *call) (string, error) {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return "", err
	}
	config := c.r.PathValue("config")
	if !planet.ValidConfig(config) || !c.caller.Sees(config) {
		return "", errConfigName(config)
	}
	return config, nil
}

// entryOf returns the configuration in a path that also names a planet.
func entryOf(c *call) (string, error) {
	config, err := configOf(c)
	if err != nil {
		return "", err
	}
	if id := c.r.PathValue("entry_id"); id != "" && id != planet.EntryID { // the path of all planets has none
		return "", errEntry(id)
	}
	return config, nil
}

// versionOf returns the number of the version in the path.
func versionOf(c *call) (int, error) {
	text := c.r.PathValue("version")
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > maxVersion || strconv.Itoa(number) != text { // each version has one path only
		return 0, details{badVersion(text)}
	}
	return number, nil
}
