package lambdahttp

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// ownPath is the path of the API that was asked for. A custom domain puts its base path before it, and the stage
// too when its mapping names none; the resource that the gateway matched tells where the path itself begins. An
// event without a resource, written by hand, may begin with the stage.
func ownPath(event events.APIGatewayProxyRequest) string {
	path := "/" + strings.TrimPrefix(event.Path, "/")
	if event.Resource == "/" {
		return "/"
	}
	if event.Resource == "" {
		if rest, ok := strings.CutPrefix(path, "/"+event.RequestContext.Stage+"/"); ok && event.RequestContext.Stage != "" {
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

// matches tells whether the segments are what a resource stands for. {name} stands for one segment, {name+} at the
// end for all the rest, which the parameter of that name tells. The gateway lets a slash follow at the end.
func matches(template, segments []string, parameters map[string]string) bool {
	last := len(template) - 1
	if name, greedy := strings.CutSuffix(template[last], "+}"); greedy {
		rest, told := parameters[strings.TrimPrefix(name, "{")]
		if len(segments) <= last || !told || !samePath(strings.Join(segments[last:], "/"), rest) {
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

// samePath compares a part of a path with a parameter, which some gateways decode and some do not.
func samePath(part, parameter string) bool {
	trim := func(s string) string { return strings.TrimSuffix(s, "/") }
	decoded, err := url.PathUnescape(part)
	return trim(part) == trim(parameter) || err == nil && trim(decoded) == trim(parameter)
}

// escapePath encodes what cannot stand in a path as it is and leaves alone what is encoded already. REST APIs leave
// the path as the client encoded it; other senders of the same event have decoded it.
func escapePath(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		escape := c == '%' && i+2 < len(path) && isHex(path[i+1]) && isHex(path[i+2])
		switch {
		case escape, 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("/-._~!$&'()*+,;=:@", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
