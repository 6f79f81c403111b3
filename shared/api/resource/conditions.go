package resource

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
)

// Headers of preconditions.
var (
	ifMatch = parameter.Parameter{
		Name: "If-Match", Schema: &huma.Schema{Type: "string", MinLength: new(1), Pattern: matchPattern},
		Doc: "Write only if the newest version has this ETag, or, with *, if there is one.",
	}
	ifNoneMatchWrite = parameter.Parameter{
		Name: "If-None-Match", Schema: &huma.Schema{Type: "string", Enum: []any{"*"}},
		Doc: "*: write only if it does not exist yet.",
	}
	ifNoneMatchRead = parameter.Parameter{
		Name: "If-None-Match", Schema: &huma.Schema{Type: "string"},
		Doc: "Answer 304 if the newest version still has this ETag.",
	}
)

// matchPattern is the form of If-Match: * or a list of ETags.
const matchPattern = `^(\*|(W/)?"[^",]*"( *, *(W/)?"[^",]*")*)$`

// change returns a write by the caller with the preconditions of the request, without the text.
func (s *server) change(c *route.Call) (document.Change, error) {
	condition, err := precondition(c.Request.Header)
	if err != nil {
		return document.Change{}, err
	}
	if s.RequirePrecondition && !condition.Exists && !condition.Absent && len(condition.Match) == 0 {
		return document.Change{}, errPreconditionNeeded()
	}
	return document.Change{By: c.Caller.Name, At: s.Now(), Precondition: condition}, nil
}

// precondition reads If-Match and If-None-Match. An empty value, for example from an unset variable, is an error,
// because the client intended a condition.
func precondition(h http.Header) (document.Precondition, error) {
	var e document.Precondition
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if values := h.Values(name); len(values) > 0 && strings.Trim(strings.Join(values, ""), ", \t") == "" {
			return e, problem.Details{parameter.Empty("header", name)}
		}
	}
	match, ok := content.EntityTags(h.Values("If-Match"))
	if !ok {
		return e, problem.Details{badHeader("If-Match", `must be * or ETags in quotes, such as "3-0f5a…"`)}
	}
	if slices.Contains(match, "*") {
		e.Exists = true
	} else {
		for _, tag := range match {
			e.Match = append(e.Match, content.PlainETag(tag)) // weak ETags keep their W/ and so match no version
		}
	}
	switch none := strings.TrimSpace(strings.Join(h.Values("If-None-Match"), ",")); none {
	case "":
	case "*":
		e.Absent = true
	default:
		return e, problem.Details{badHeader("If-None-Match", "on a write it can only be *")}
	}
	return e, nil
}
