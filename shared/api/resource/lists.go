package resource

import (
	"errors"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/problem"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/document"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/valuelist"
)

// ValueLists is the lists of values of a configuration, by name.
type ValueLists struct {
	Lists []ValueList `json:"lists"`
}

// ValueList is a version of a list of values.
type ValueList struct {
	Name        string         `json:"name" example:"tor"`
	Kind        query.ListKind `json:"kind" enum:"addresses,integers,asns,texts" doc:"The narrowest kind that fits all values"`
	NumOfValues int            `json:"num_of_values"`
	Digest      string         `json:"digest" doc:"SHA-256 of the values"`
	Values      []string       `json:"values,omitempty" doc:"The values, in the order of their bytes; present only if the list is read"`
	Version     int            `json:"version" doc:"Number of the version: 1, 2, 3, … without gaps"`
	At          time.Time      `json:"at" doc:"When the version was written, UTC"`
	By          string         `json:"by" doc:"Name of the API key that wrote the version"`
	ETag        string         `json:"etag" doc:"ETag of the version, for If-Match"`
}

// maxListBody is the largest body of a list: comments and white space are not stored.
const maxListBody = 4_000_000

// listRoutes returns the routes of lists of values.
func (s *server) listRoutes() []route.Route {
	d := documents{
		server: s, store: s.Documents, limit: maxListBody, find: named(valuelist.Kind, "list", "list"),
		types: []string{content.Text}, parse: s.readValueList, show: showValueList, read: s.showValues, list: s.listValueLists,
	}
	return d.routes(documentTexts{
		id: "list", tag: route.ListsTag, param: "list", noun: "list of values", nouns: "lists of values", it: "list",
		put:  "Write a list of values",
		list: "Filters name a list with @, as in ip in @tor.",
		stored: "A list has one value a line, at most 100,000: addresses and networks, numbers of autonomous systems, or any " +
			"texts. Empty lines and lines that begin with # count for nothing. Every accepted write is kept as a version.",
		again:  "Writes an earlier version as a new version, even if the list is deleted.",
		listed: ValueLists{}, one: ValueList{}, read: keys.ConfRead, write: keys.ConfWrite,
		body: &route.RequestBody{Doc: "The values, one a line.", Types: []string{content.Text}},
	})
}

// listValueLists returns the lists of a configuration, without their values.
func (s *server) listValueLists(c *route.Call, config string) (any, error) {
	list, err := s.Documents.List(c.Request.Context(), valuelist.Kind, config)
	if err != nil {
		return nil, err
	}
	v := ValueLists{Lists: make([]ValueList, len(list))}
	for i, one := range list {
		if v.Lists[i], err = valueListOf(one.Name, one.Version); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// readValueList reads a list from the body of a request. The values are stored just before their description is.
func (s *server) readValueList(c *route.Call, body []byte) (replacement, error) {
	d, values, err := valuelist.Parse(body)
	var wrong valuelist.Mistakes
	if errors.As(err, &wrong) {
		var details problem.Details
		for _, one := range wrong {
			details = append(details, problem.Detail{Loc: []any{"body", "line", one.Line}, Msg: one.Message, Type: "value_error.line"})
		}
		return nil, details
	}
	if err != nil {
		return nil, err
	}
	return func(string) (string, error) {
		return d.Text(), s.Lists.Put(c.Request.Context(), d.Digest, values)
	}, nil
}

// valueListOf returns a version of a list as the API shows it, without the values.
func valueListOf(name string, v document.Version) (ValueList, error) {
	d, err := valuelist.Stored(v.Text)
	return ValueList{
		Name: name, Kind: d.Kind, NumOfValues: d.Values, Digest: d.Digest,
		Version: v.Number, At: v.At, By: v.By, ETag: v.ETag,
	}, err
}

func showValueList(id document.ID, v document.Version) ([]byte, error) {
	list, err := valueListOf(id.Name, v)
	return content.Encode(list), err
}

// showValues returns a version of a list with its values.
func (s *server) showValues(c *route.Call, id document.ID, v document.Version) ([]byte, error) {
	list, err := valueListOf(id.Name, v)
	if err != nil {
		return nil, err
	}
	if list.Values, err = valuelist.Read(c.Request.Context(), s.Lists, list.Digest); err != nil {
		return nil, err
	}
	body := content.Encode(list)
	if len(body) > content.MaxAnswer {
		return nil, problem.AnswerTooLarge(len(body))
	}
	return body, nil
}
