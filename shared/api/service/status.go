package service

import (
	"net/http"
	"time"

	"github.com/orrery/orrery/shared/api/content"
	"github.com/orrery/orrery/shared/api/parameter"
	"github.com/orrery/orrery/shared/api/route"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/keys"
	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/search"
	"github.com/orrery/orrery/shared/status"
)

// InstallationStatus is the answer of /status.
type InstallationStatus struct {
	Data Installation `json:"data"`
}

// Installation describes the data, limits and routes of a server. A key that is limited to branches gets no numbers,
// names and sources of other branches.
type Installation struct {
	Version  string              `json:"version" doc:"Version of the program" example:"1.0.0"`
	Engine   string              `json:"engine" doc:"The engine that answers queries" enum:"scan,duckdb,athena,trino"`
	Extent   *InstallationExtent `json:"extent" doc:"The period of the records; null if there are none"`
	Complete *string             `json:"complete_through" nullable:"true" doc:"Every log handed in before this time is in the data, or was refused; null if unknown"`
	Kept     *InstallationKept   `json:"kept" doc:"How long records are kept; null if they are kept for ever, if this is unknown, or for a key limited to branches"`
	Records  *int64              `json:"records" nullable:"true" doc:"Number of records; null if unknown, or for a key limited to branches"`
	Objects  *int                `json:"objects" nullable:"true" doc:"Number of Parquet objects with the records; null if unknown, or for a key limited to branches"`
	Bytes    *int64              `json:"bytes" nullable:"true" doc:"Size of these objects; null if unknown, or for a key limited to branches"`
	Hours    []InstallationHour  `json:"hours" doc:"The hours with records among the newest 72, newest first; null if unknown, or for a key limited to branches"`
	Demo     bool                `json:"demo" doc:"The records come from the demo, because nothing has been imported yet"`
	Ingest   *InstallationIngest `json:"ingest" doc:"The imports; null if the server does not know them, or for a key limited to branches"`
	Price    *InstallationPrice  `json:"price" doc:"The price of queries; null if the engine charges nothing"`
	Limits   InstallationLimits  `json:"limits"`
	Features []string            `json:"features" doc:"Operation ids of the routes that the server has, without their POST forms"`
	Key      *InstallationKey    `json:"key" doc:"The key of the request; null if the server requires none"`
}

// InstallationExtent is the period of the records. Both ends are included.
type InstallationExtent struct {
	From *string `json:"from" nullable:"true" doc:"Time of the oldest record, RFC 3339, UTC; null for a key limited to branches"`
	To   string  `json:"to" doc:"Time of the newest record, RFC 3339, UTC; for a key limited to branches, only its minute"`
}

// InstallationKept is how long records are kept.
type InstallationKept struct {
	Hours int64  `json:"hours" doc:"Number of hours that records are kept; older records are removed in whole hours"`
	From  string `json:"from" doc:"Time from which records are kept, RFC 3339, UTC; older records have been removed"`
}

// InstallationHour describes the objects of an hour.
type InstallationHour struct {
	Partition string `json:"partition" example:"2026/01/01/10"`
	Objects   int    `json:"objects"`
	Records   *int64 `json:"records" nullable:"true" doc:"Number of records; null if unknown"`
	Bytes     int64  `json:"bytes"`
	Compacted bool   `json:"compacted" doc:"The hour is compacted: nothing is left to merge"`
}

// InstallationIngest describes the imports.
type InstallationIngest struct {
	Watching    bool                    `json:"watching" doc:"Logs are imported when they are put into the folder or bucket of raw logs"`
	LastSource  *string                 `json:"last_source" nullable:"true" doc:"Name of the log of the latest import; null if there was none"`
	LastAt      *string                 `json:"last_at" nullable:"true" doc:"Time of the latest import; null if there was none"`
	Quarantined InstallationQuarantined `json:"quarantined"`
}

// InstallationQuarantined describes the lines of imported logs that are not records.
type InstallationQuarantined struct {
	Lines      *int64  `json:"lines" nullable:"true" doc:"Number of lines in the quarantine, from all imports; null if unknown"`
	NewestCode *string `json:"newest_code" nullable:"true" doc:"Why the newest of these lines was rejected; null if there is none, or its file is gone" example:"bad_json"`
	Unreadable *string `json:"unreadable" nullable:"true" doc:"Name of the log with the newest of these lines, if its file of rejected lines is damaged"`
}

// InstallationPrice is the price of queries.
type InstallationPrice struct {
	USDPerTB     float64 `json:"usd_per_tb" doc:"Price of reading a terabyte, in US dollars"`
	MinimumBytes int64   `json:"minimum_bytes" doc:"Number of bytes that every query is charged for, even if it reads less"`
}

// InstallationLimits are the limits of requests and answers.
type InstallationLimits struct {
	Filter   int               `json:"filter_bytes" doc:"Maximum size of a filter"`
	Body     int               `json:"body_bytes" doc:"Maximum size of the body of a data request"`
	Answer   int               `json:"answer_bytes" doc:"Maximum size of a data answer as it is sent"`
	Segments int               `json:"segments" doc:"Maximum number of segments of an answer, multiplied by the number of series"`
	By       int               `json:"by" doc:"Maximum number of fields to group by"`
	Limit    InstallationLimit `json:"limit" doc:"The largest value of the parameter limit, by data route"`
	Wait     *float64          `json:"wait_seconds" nullable:"true" doc:"How long a request waits for its query; null if unknown"`
}

// InstallationLimit has the largest values of the parameter limit.
type InstallationLimit struct {
	TopX      int `json:"topx"`
	Facets    int `json:"facets"`
	Histogram int `json:"histogram"`
	Diff      int `json:"diff"`
	Values    int `json:"values"`
	Logs      int `json:"logs"`
}

// InstallationKey describes a key, without the key itself.
type InstallationKey struct {
	Name     string       `json:"name"`
	Scopes   []keys.Scope `json:"scopes"`
	Branches []string     `json:"branches" doc:"Branches that the key is limited to; null: all"`
	Expires  *string      `json:"expires" nullable:"true" doc:"When the key expires; null: never"`
}

// statusRoute returns the route of the status.
func (s *server) statusRoute() route.Route {
	return route.Route{
		ID:      StatusID,
		Method:  http.MethodGet,
		Path:    "/status",
		Tag:     route.ServiceTag,
		Summary: "Status of the data and of the key",
		Doc: "Reports what data the server has and what it allows: the period of the records, the time up to which " +
			"they are complete, their number, objects and hours, the imports, the price, limits and routes, and the " +
			"key of the request. No data is read. What the server cannot know is null.",
		Scope:   keys.DataRead,
		Offers:  content.Offers,
		Answers: []route.Response{{Status: http.StatusOK, Doc: "The status.", Value: InstallationStatus{}}},
		Errors:  []int{http.StatusUnprocessableEntity, http.StatusServiceUnavailable},
		Handle:  s.status,
	}
}

// status answers with what the installation knows of itself.
func (s *server) status(c *route.Call) error {
	if _, err := parameter.ReadQuery(c.Request.URL.RawQuery, nil); err != nil {
		return err
	}
	known, err := s.Status.Status(c.Request.Context())
	if err != nil {
		return err
	}
	limited := c.Caller.Branches != nil
	if limited {
		known.Extent.MaxTsMs = time.UnixMilli(known.Extent.MaxTsMs).Truncate(time.Minute).UnixMilli()
	}
	answer := s.installation(known)
	if limited {
		answer.hideOthers()
	}
	if s.NeedsKey {
		answer.Key = keyOf(c.Caller.Caller)
	}
	c.SendJSON(http.StatusOK, InstallationStatus{answer})
	return nil
}

// installation returns the status as the API prints it, without the key.
func (s *server) installation(known status.Status) Installation {
	a := Installation{
		Version: s.Version, Engine: known.Engine, Complete: printed(known.Complete),
		Records: known.Records, Objects: known.Objects, Bytes: known.Bytes, Demo: known.Demo,
		Limits: limitsOf(known), Features: s.features(known),
	}
	if e := known.Extent; e.Rows > 0 {
		a.Extent = &InstallationExtent{
			printed(time.UnixMilli(e.MinTsMs)), *printed(time.UnixMilli(e.MaxTsMs)),
		}
	}
	if k := known.Kept; k != nil {
		a.Kept = &InstallationKept{int64(k.Keep / time.Hour), *printed(k.From)}
	}
	if known.Hours != nil {
		a.Hours = make([]InstallationHour, len(known.Hours))
		for i, h := range known.Hours {
			a.Hours[i] = InstallationHour{h.Partition.String(), h.Objects, h.Records, h.Bytes, h.Compacted}
		}
	}
	if i := known.Ingest; i != nil {
		a.Ingest = &InstallationIngest{
			Watching: i.Watching, LastSource: orNil(i.LastSource), LastAt: printed(i.LastAt),
			Quarantined: InstallationQuarantined{i.Rejected, orNil(i.Code), orNil(i.Unreadable)},
		}
	}
	if p := known.Price; p != nil {
		a.Price = &InstallationPrice{p.USDPerTB, p.MinimumBytes}
	}
	return a
}

// hideOthers removes what a key that is limited to branches must not learn about others.
func (a *Installation) hideOthers() {
	a.Kept, a.Records, a.Objects, a.Bytes, a.Hours, a.Ingest = nil, nil, nil, nil, nil, nil
	if a.Extent != nil {
		a.Extent.From = nil
	}
}

func limitsOf(known status.Status) InstallationLimits {
	l := InstallationLimits{
		Filter: filter.MaxText, Body: parameter.MaxBody, Answer: content.MaxAnswer,
		Segments: query.MaxSegments, By: query.MaxDimensions,
		Limit: InstallationLimit{
			TopX: maxLimit(search.TopX), Facets: maxLimit(search.Facets), Histogram: maxLimit(search.Histogram),
			Diff: maxLimit(search.Diff), Values: maxLimit(search.Values), Logs: maxLimit(search.Logs),
		},
	}
	if known.Wait > 0 {
		wait := known.Wait.Seconds()
		l.Wait = &wait
	}
	return l
}

// features returns the ids of the routes of the API, without their POST forms. On AWS other functions answer most of
// them.
func (s *server) features(known status.Status) []string {
	ids := []string{}
	for _, r := range s.Routes() {
		twin := r.ID != r.OfGet()
		missing := r.ID == string(search.Values) && !known.Values
		if r.Tag != "" && !r.AtRoot && !twin && !missing {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func keyOf(caller keys.Caller) *InstallationKey {
	return &InstallationKey{caller.Name, caller.Scopes, caller.Branches, printed(caller.Expires)}
}

// printed returns a time in RFC 3339, with milliseconds unless they are zero, or nil for the zero time.
func printed(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format("2006-01-02T15:04:05.999Z07:00")
	return &text
}

// orNil returns nil for "".
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func maxLimit(of search.Route) int { return search.ParameterOf(of, "limit").Max }
