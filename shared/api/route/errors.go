package route

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/orrery/orrery/shared/api/problem"
)

func errMediaType(got string, want ...string) error {
	if got == "" {
		got = "a body without Content-Type"
	}
	return &problem.Refusal{Status: http.StatusUnsupportedMediaType, Message: fmt.Sprintf(
		"%s is not supported here; send %s in UTF-8", got, strings.Join(want, " or "))}
}

func errEncodedBody(coding string) error {
	return &problem.Refusal{Status: http.StatusUnsupportedMediaType, Message: fmt.Sprintf(
		"a body with Content-Encoding %s is not supported here; send it as it is, without that header", coding)}
}

func brokenBody() problem.Detail {
	return problem.Detail{Loc: []any{"body"}, Msg: "the body could not be read completely", Type: "value_error"}
}

func unwantedBody() problem.Detail {
	return problem.Detail{Loc: []any{"body"}, Msg: "this route takes no body", Type: "value_error.unwanted"}
}
