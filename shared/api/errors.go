package api

import (
	"fmt"
	"net/http"

	"github.com/orrery/orrery/shared/api/problem"
)

func errMethod(method, allow string) error {
	return &problem.Refusal{Status: http.StatusMethodNotAllowed, Allow: allow,
		Message: fmt.Sprintf("%s is not supported here; use one of %s", method, allow)}
}

func errTransferEncoding() error {
	return &problem.Refusal{Status: http.StatusBadRequest, Closes: true,
		Message: "Transfer-Encoding is not supported here; send the length of the body as Content-Length"}
}

func errNoEncoding() error {
	return &problem.Refusal{Status: http.StatusNotAcceptable, Message: "Accept-Encoding refuses every form of the answer, " +
		"which is available as zstd, as gzip, or not compressed (identity)"}
}
