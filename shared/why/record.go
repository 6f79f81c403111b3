package why

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Record is a request record as the API returns it: a JSON object.
type Record map[string]any

// ReadRecord reads a record.
func ReadRecord(text []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read a record: %w", err)
	}
	return r, nil
}

// Result is what happened to a request.
type Result string

// The results. A request that the origin refused had passed the gateway.
const (
	Passed     Result = "passed"
	Blocked    Result = "blocked"
	Challenged Result = "challenged"
	Monitored  Result = "monitored"
	Refused    Result = "refused"
)

// Result returns what happened to the request. Flags count before the member result, as in the lists of the console.
func (r Record) Result() Result {
	if r["blocked"] == true {
		return Blocked
	}
	if r["challenge"] == true || r["ichallenge"] == true {
		return Challenged
	}
	switch named := Result(strings.ToLower(r.text("result"))); named {
	case Blocked, Challenged, Monitored:
		return named
	}
	if r["monitor"] == true || len(r.list("monitor_reasons")) > 0 {
		return Monitored
	}
	if status, ok := r.lastAttempt().(float64); ok && status >= 400 {
		return Refused
	}
	return Passed
}

// stopped reports whether the gateway did not let the request pass.
func (r Record) stopped() bool {
	result := r.Result()
	return result == Blocked || result == Challenged
}

// judged reports whether the log says how the gateway judged the request.
func (r Record) judged() bool { return r["result"] != nil || r["blocked"] != nil }

// reachedOrigin reports whether the request was sent to the origin.
func (r Record) reachedOrigin() bool { return len(r.list("upstream_status")) > 0 }

// lastAttempt returns the status of the last attempt at the origin, or nil.
func (r Record) lastAttempt() any { return last(r.list("upstream_status")) }

// Time returns the time of the request; the zero time if the record has none.
func (r Record) Time() time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.text("timestamp"))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// text returns a member that is text or a number, or "".
func (r Record) text(name string) string {
	switch value := r[name].(type) {
	case string, float64:
		return textOf(value)
	}
	return ""
}

// list returns a member as a list: an absent one is empty, and a single value has one element.
func (r Record) list(name string) []any {
	switch value := r[name].(type) {
	case nil:
		return nil
	case []any:
		return value
	default:
		return []any{value}
	}
}

// texts returns the elements of a member as texts.
func (r Record) texts(name string) []string {
	var texts []string
	for _, element := range r.list(name) {
		texts = append(texts, textOf(element))
	}
	return texts
}

// trigger returns the first trigger of a field, or nil.
func (r Record) trigger(field string) Record {
	triggers := r.triggers(field)
	if len(triggers) == 0 {
		return nil
	}
	return triggers[0]
}

// triggers returns the triggers of a field, which is a list of objects or one object.
func (r Record) triggers(field string) []Record {
	var found []Record
	for _, element := range r.list(field) {
		if one, ok := element.(map[string]any); ok {
			found = append(found, one)
		}
	}
	return found
}

// path returns the path of the request with its query. Some logs keep the question mark in the query.
func (r Record) path() string {
	path := r.text("path")
	if path == "" {
		path = "/"
	}
	if query := strings.TrimPrefix(r.text("query"), "?"); query != "" {
		path += "?" + query
	}
	return path
}

// line returns the request as GET shop.example/cart?q=1.
func (r Record) line() string {
	return strings.TrimSpace(r.text("method") + " " + r.text("host") + r.path())
}

// textOf returns a value of JSON as text: a number in its shortest form, an object as JSON.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("why: a value of JSON is not JSON: %v", err))
	}
	return string(text)
}

// last returns the last element of a list, or the zero value.
func last[T any](list []T) (one T) {
	if len(list) > 0 {
		one = list[len(list)-1]
	}
	return one
}
