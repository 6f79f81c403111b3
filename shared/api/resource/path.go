package resource

import (
	"strconv"

	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/planet"
)

// configOf returns the configuration in the path. It returns an error if the name is invalid or not visible to the
// caller.
func configOf(c *route.Call) (string, error) {
	if _, err := parameter.ReadQuery(c.Request.URL.RawQuery, nil); err != nil {
		return "", err
	}
	config := c.Request.PathValue("config")
	if !planet.ValidConfig(config) || !c.Caller.Sees(config) {
		return "", errConfigName(config)
	}
	return config, nil
}

// entryOf returns the configuration in a path that also names a planet.
func entryOf(c *route.Call) (string, error) {
	config, err := configOf(c)
	if err != nil {
		return "", err
	}
	if id := c.Request.PathValue("entry_id"); id != "" && id != planet.EntryID { // the path of all planets has none
		return "", errEntry(id)
	}
	return config, nil
}

// versionOf returns the number of the version in the path.
func versionOf(c *route.Call) (int, error) {
	text := c.Request.PathValue("version")
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > parameter.MaxVersion || strconv.Itoa(number) != text { // each version has one path only
		return 0, problem.Details{badVersion(text)}
	}
	return number, nil
}
