package api

import (
	"fmt"
	"net/http"
)

func errMethod(method, allow string) error {
	return &refusal{status: http.StatusMethodNotAllowed, allow: allow,
		message: fmt.Sprintf("%s is not supported here; use one of %s", method, allow)}
}

func errTransferEncoding() error {
	return &refusal{status: http.StatusBadRequest, closes: true,
		message: "Transfer-Encoding is not supported here; send the length of the body as Content-Length"}
}

func errNoEncoding() error {
	return &refusal{status: http.StatusNotAcceptable, message: "Accept-Encoding refuses every form of the answer, " +
		"which is available as zstd, as gzip, or not compressed (identity)"}
}
