package api

import (
	"fmt"
	"net/http"
	"strings"
)

func errMediaType(got string, want ...string) error {
	if got == "" {
		got = "a body without Content-Type"
	}
	return &refusal{status: http.StatusUnsupportedMediaType, message: fmt.Sprintf(
		"%s is not supported here; send %s in UTF-8", got, strings.Join(want, " or "))}
}

func errEncodedBody(coding string) error {
	return &refusal{status: http.StatusUnsupportedMediaType, message: fmt.Sprintf(
		"a body with Content-Encoding %s is not supported here; send it as it is, without that header", coding)}
}

func brokenBody() Detail {
	return Detail{Loc: []any{"body"}, Msg: "the body could not be read completely", Type: "value_error"}
}

func unwantedBody() Detail {
	return Detail{Loc: []any{"body"}, Msg: "this route takes no body", Type: "value_error.unwanted"}
}
