package lambdahttp

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// ownPath returns the path of an event without prefixes. A custom domain adds its base path, and the stage if its
// mapping names none. The path itself begins where it matches the event's resource. The path of an event without a
// resource, written by hand, may begin with the stage.
func ownPath(event events.APIGatewayProxyRequest) string {
	path := "/" + strings.TrimPrefix(event.Path, "/")
	if event.Resource == "/" {
		return "/"
	}
	if event.Resource == "" {
		stage := event.RequestContext.Stage
		if rest, ok := strings.CutPrefix(path, "/"+stage+"/"); ok && stage != "" {
			return "/" + rest
		}
		return path
	}
	template := strings.Split(strings.Trim(event.Resource, "/"), "/")
	segments := strings.Split(path[1:], "/")
	for begin := range segments {
		if matches(template, segments[begin:], event.PathParameters) {
			return "/" + strings.Join(segments[begin:], "/")
		}
	}
	return path
}

// matches reports whether segments match the template of a resource. {name} matches one segment. {name+} at the end
// matches the remaining segments, which are also the value of the path parameter. The gateway allows a final slash.
func matches(template, segments []string, parameters map[string]string) bool {
	last := len(template) - 1
	if name, greedy := strings.CutSuffix(template[last], "+}"); greedy {
		rest, ok := parameters[strings.TrimPrefix(name, "{")]
		if len(segments) <= last || !ok || !samePath(strings.Join(segments[last:], "/"), rest) {
			return false
		}
		template, segments = template[:last], segments[:last]
	} else if len(segments) == len(template)+1 && segments[len(template)] == "" {
		segments = segments[:len(template)]
	}
	if len(segments) != len(template) {
		return false
	}
	for i, want := range template {
		if !strings.HasPrefix(want, "{") && want != segments[i] {
			return false
		}
	}
	return true
}

// samePath compares a part of a path with a path parameter. Some gateways decode parameters and some do not.
func samePath(part, parameter string) bool {
	trim := func(s string) string { return strings.TrimSuffix(s, "/") }
	decoded, err := url.PathUnescape(part)
	return trim(part) == trim(parameter) || err == nil && trim(decoded) == trim(parameter)
}

// escapePath escapes the characters that are not allowed in a path and keeps existing escapes. REST APIs keep the
// client's escapes; other senders of such events decode them.
func escapePath(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		escape := c == '%' && i+2 < len(path) && isHex(path[i+1]) && isHex(path[i+2])
		switch {
		case escape, isAllowed(c):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// isAllowed reports whether a path may contain the character unescaped.
func isAllowed(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("/-._~!$&'()*+,;=:@", c) >= 0
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
