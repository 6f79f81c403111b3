package access

import (
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/keys"
)

func errForeignHost() error {
	return fault.New(fault.Forbidden, "a server without API keys answers requests to a loopback name only: "+
		"use localhost, or start the server with a key")
}

func errForeignPage() error {
	return fault.New(fault.Forbidden, "requests from web pages of other origins are refused")
}

func errNoKey() error {
	return fault.New(fault.Unauthorized, `an API key is needed: `+
		`send it as "Authorization: Basic KEY", "Authorization: Bearer KEY" or "x-api-key: KEY"`)
}

func errUnknownKey() error {
	return fault.New(fault.Unauthorized, "the API key is not known")
}

func errWrongKeys() error {
	return fault.New(fault.TooMany, "too many requests from this address had an unknown API key; "+
		"check the key and try again in a minute")
}

func errScope(scope keys.Scope) error {
	return fault.New(fault.Forbidden, "the API key does not have the scope %s", scope)
}
