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

// planets returns the planets as documents. Their routes differ from those of others: there is one planet in a
// configuration, which is never deleted, and clients expect a message as the answer to a write.
func (s *server) planets() documents {
	return documents{
		server: s, store: s.Planets, limit: planet.MaxBytes,
		find: func(c *call) (document.ID, error) {
			config, err := c.entry()
			return planet.DocumentOf(config), err
		},
		parse: func(_ *call, body []byte) (replacement, error) {
			settings, err := planet.Parse(body)
			if err != nil {
				return nil, err
			}
			return unconditional(settings.Text()), nil
		},
		show: func(_ document.ID, v document.Version) ([]byte, error) { return planet.Stored(v.Text).JSON(), nil },
		written: func(v document.Version, restored int) any {
			switch {
			case restored > 0:
				return Message{fmt.Sprintf("Successfully restored version %d as version %d", restored, v.Number)}
			case v.Number == 1:
				return Message{"Successfully created entry"} // 200, because clients accept no other status
			}
			return Message{"Successfully updated entry"}
		},
	}
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
	if id := c.r.PathValue("entry_id"); id != "" && id != planet.EntryID { // the path of all planets has none
		return "", errEntry(id)
	}
	return config, nil
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
