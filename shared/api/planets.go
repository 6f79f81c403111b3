package api

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/planet"
)

// Message is the answer of a write.
type Message struct {
	Message string `json:"message"`
}

// Versions is the history of a planet or of a saved filter, newest first.
type Versions struct {
	Versions []VersionInfo `json:"versions"`
}

// VersionInfo is one version of a planet or of a saved filter, without its contents.
type VersionInfo struct {
	Version int       `json:"version" doc:"1, 2, 3, … without gaps"`
	At      time.Time `json:"at" doc:"When it was written, UTC"`
	By      string    `json:"by" doc:"Name of the API key that wrote it"`
	ETag    string    `json:"etag" doc:"For If-Match"`
	Bytes   int       `json:"bytes" doc:"Length of what is stored"`
	Deleted bool      `json:"deleted,omitempty" doc:"The version is a deletion, which planets do not have"`
}

// getPlanet sends the newest settings.
func (s *server) getPlanet(c *call) error {
	config, err := c.config()
	if err != nil {
		return err
	}
	v, err := s.Planets.Newest(c.r.Context(), config)
	if err != nil {
		return err
	}
	return c.sendPlanet(v)
}

// putPlanet replaces the settings.
func (s *server) putPlanet(c *call) error {
	config, err := s.writable(c)
	if err != nil {
		return err
	}
	sent, err := c.body(planet.MaxBytes, jsonType)
	if err != nil {
		return err
	}
	settings, err := planet.Parse(sent.text)
	if err != nil {
		return err
	}
	change, err := s.change(c)
	if err != nil {
		return err
	}
	written, err := planet.Put(c.r.Context(), s.Planets, config, planetChange(settings, change))
	if err != nil {
		return err
	}
	if written.Number == 1 {
		return c.sendWritten(written, "Successfully created entry") // 200, because clients accept no other status
	}
	return c.sendWritten(written, "Successfully updated entry")
}

// listVersions sends the history.
func (s *server) listVersions(c *call) error {
	config, err := c.entry()
	if err != nil {
		return err
	}
	infos, err := s.Planets.Versions(c.r.Context(), config)
	if err != nil {
		return err
	}
	if len(infos) == 0 {
		return planet.NotFound(config, 0)
	}
	c.sendVersions(infos)
	return nil
}

func (c *call) sendVersions(infos []document.Info) {
	v := Versions{Versions: make([]VersionInfo, len(infos))}
	for i, info := range infos {
		v.Versions[i] = VersionInfo{
			Version: info.Number, At: info.At, By: info.By, ETag: info.ETag, Bytes: info.Bytes, Deleted: info.Deleted(),
		}
	}
	c.sendJSON(http.StatusOK, v)
}

// getVersion sends the settings of one version.
func (s *server) getVersion(c *call) error {
	config, err := c.entry()
	if err != nil {
		return err
	}
	number, err := c.version()
	if err != nil {
		return err
	}
	v, err := s.Planets.Version(c.r.Context(), config, number)
	if err != nil {
		return err
	}
	return c.sendPlanet(v)
}

// restoreVersion makes the settings of an earlier version the newest.
func (s *server) restoreVersion(c *call) error {
	config, err := s.writable(c)
	if err != nil {
		return err
	}
	number, err := c.version()
	if err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	change, err := s.change(c)
	if err != nil {
		return err
	}
	written, err := planet.Restore(c.r.Context(), s.Planets, config, number, planetChange(planet.Settings{}, change))
	if err != nil {
		return err
	}
	message := fmt.Sprintf("Successfully restored version %d as version %d", number, written.Number)
	return c.sendWritten(written, message)
}

// config returns the configuration in the path. It returns an error if the name is invalid or not visible to the
// caller.
func (c *call) config() (string, error) {
	if _, err := readQuery(c.r.URL.RawQuery, nil); err != nil {
		return "", err
	}
	config := c.r.PathValue("config")
	if !planet.ValidConfig(config) || !c.caller.Sees(config) {
		return "", errConfigName(config)
	}
	return config, nil
}

// entry returns the configuration in a path that also names a planet.
func (c *call) entry() (string, error) {
	config, err := c.config()
	if err != nil {
		return "", err
	}
	if id := c.r.PathValue("entry_id"); id != planet.EntryID {
		return "", errEntry(id)
	}
	return config, nil
}

// writable returns the configuration in the path of a write.
func (s *server) writable(c *call) (string, error) {
	if _, err := c.config(); err != nil {
		return "", err
	}
	if s.Maintenance() {
		return "", errMaintenance()
	}
	return c.entry()
}

// maxVersion is the largest number that is taken for that of a version.
const maxVersion = math.MaxInt32

func (c *call) version() (int, error) {
	text := c.r.PathValue("version")
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > maxVersion || strconv.Itoa(number) != text { // each version has one path only
		return 0, details{badVersion(text)}
	}
	return number, nil
}

// change returns a write by the caller with the preconditions of the request, without the text.
func (s *server) change(c *call) (document.Change, error) {
	condition, err := precondition(c.r.Header)
	if err != nil {
		return document.Change{}, err
	}
	if s.RequirePrecondition && !condition.Exists && !condition.Absent && len(condition.Match) == 0 {
		return document.Change{}, errPreconditionNeeded()
	}
	return document.Change{By: c.caller.Name, At: s.Now(), Precondition: condition}, nil
}

func planetChange(settings planet.Settings, c document.Change) planet.Change {
	return planet.Change{Settings: settings, By: c.By, At: c.At, Precondition: c.Precondition}
}

// precondition reads If-Match and If-None-Match. An empty value, for example from an unset variable, is an error,
// because the client intended a condition.
func precondition(h http.Header) (document.Precondition, error) {
	var e document.Precondition
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if values := h.Values(name); len(values) > 0 && strings.Trim(strings.Join(values, ""), ", \t") == "" {
			return e, details{empty("header", name)}
		}
	}
	match, ok := entityTags(h.Values("If-Match"))
	if !ok {
		return e, details{badHeader("If-Match", `must be * or ETags in quotes, such as "3-0f5a…"`)}
	}
	if slices.Contains(match, "*") {
		e.Exists = true
	} else {
		for _, tag := range match {
			e.Match = append(e.Match, plainETag(tag)) // weak ETags keep their W/ and so match no version
		}
	}
	switch none := strings.TrimSpace(strings.Join(h.Values("If-None-Match"), ",")); none {
	case "":
	case "*":
		e.Absent = true
	default:
		return e, details{badHeader("If-None-Match", "on a write it can only be *")}
	}
	return e, nil
}

// entityTags splits lists of ETags. Our ETags contain no comma.
func entityTags(values []string) (tags []string, ok bool) {
	for _, tag := range strings.Split(strings.Join(values, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "" {
			continue
		}
		if tag != "*" && !entityTag.MatchString(tag) {
			return nil, false
		}
		tags = append(tags, tag)
	}
	return tags, true
}

var entityTag = regexp.MustCompile(`\A(W/)?"[^"]*"\z`)

// sendPlanet sends settings, or 304 if the client has them.
func (c *call) sendPlanet(v planet.Version) error {
	c.sendIfModified(answer{status: http.StatusOK, contentType: jsonType, body: v.Settings.JSON(), etag: v.ETag})
	return nil
}

// sendIfModified sends an answer with an ETag, or 304 if the client has it. The 304 has the ETag that the client sent,
// by which a cache finds its entry.
func (c *call) sendIfModified(a answer) {
	have, ok := entityTags(c.r.Header.Values("If-None-Match"))
	if !ok {
		have = nil
	}
	for _, tag := range have {
		if tag == "*" {
			tag = a.etag
		}
		if plainETag(strings.TrimPrefix(tag, "W/")) == a.etag {
			a = answer{status: http.StatusNotModified, etag: tag}
			break
		}
	}
	c.send(a)
}

func (c *call) sendWritten(written planet.Info, message string) error {
	c.w.Header().Set("ETag", written.ETag)
	c.sendJSON(http.StatusOK, Message{message})
	return nil
}
