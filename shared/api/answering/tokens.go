package answering

import (
	"github.com/orrery/orrery/shared/api/access"
	"github.com/orrery/orrery/shared/api/representation"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/search"
)

// tokensFor returns how the tokens of an answer of a route are encrypted for the caller, or nil if they are not.
func (s *server) tokensFor(c *route.Call, to search.Route) (*access.Tokens, error) {
	if to != search.Logs {
		return nil, nil
	}
	return s.Access.Tokens(c.Request.Context(), c.Caller)
}

// decryptTokens replaces the encrypted tokens of a request. nil: they are not encrypted.
func decryptTokens(tokens *access.Tokens, r *search.Request) error {
	if tokens == nil {
		return nil
	}
	for _, one := range []struct {
		param string
		token *string
	}{{"since", &r.Since}, {"cursor", &r.Cursor}} {
		if *one.token == "" {
			continue
		}
		opened, ok := tokens.Decrypt(*one.token)
		if !ok {
			return search.InvalidToken(one.param)
		}
		*one.token = opened
	}
	return nil
}

// encryptTokens returns records and their meta with encrypted tokens. nil: they are not encrypted.
func encryptTokens(tokens *access.Tokens, found representation.Records, meta search.Meta) (representation.Records, search.Meta) {
	if tokens == nil {
		return found, meta
	}
	if meta.Next != nil {
		next := encryptNext(tokens, *meta.Next)
		meta.Next = &next
	}
	if meta.Head != "" {
		meta.Head = tokens.Encrypt(meta.Head)
	}
	return encryptedRecords{found, tokens}, meta
}

func encryptNext(with *access.Tokens, next *string) *string {
	if next == nil {
		return nil
	}
	encrypted := with.Encrypt(*next)
	return &encrypted
}

// encryptedRecords are records with encrypted cursors.
type encryptedRecords struct {
	representation.Records
	tokens *access.Tokens
}

func (r encryptedRecords) Next(n int) *string { return encryptNext(r.tokens, r.Records.Next(n)) }

func (r encryptedRecords) LongestNext() int {
	return access.EncryptedLen(r.Records.LongestNext())
}
