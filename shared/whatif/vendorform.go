package whatif

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// JSON returns the rule as the API of the gateway has it. ok is false for rules other than limits, and for limits whose
// conditions or fields a rate limit of the gateway does not have.
func (r Rule) JSON() (text string, ok bool) {
	l := r.Limit
	if l == nil || r.Where != "" {
		return "", false
	}
	of := struct {
		Name      string              `json:"name"`
		Active    bool                `json:"active"`
		Timeframe int64               `json:"timeframe"`
		Threshold int64               `json:"threshold"`
		TTL       int64               `json:"ttl"`
		Action    string              `json:"action"`
		IsBan     bool                `json:"is_action_ban"`
		Key       []map[string]string `json:"key"`
		PairWith  map[string]string   `json:"pairwith,omitempty"`
		Include   vendorTags          `json:"include"`
		Exclude   vendorTags          `json:"exclude"`
	}{
		Name: r.Name, Active: true, Timeframe: int64(l.Per / time.Second), Threshold: l.Threshold,
		TTL: int64(l.Ban / time.Second), Action: vendorActions[r.Action], IsBan: l.Ban > 0,
		Include: vendorTags{"OR", []string{"all"}}, Exclude: vendorTags{"OR", []string{}},
	}
	if of.Name == "" {
		of.Name = r.String()
	}
	for _, field := range l.Key {
		part, known := partOf(field)
		if !known {
			return "", false
		}
		of.Key = append(of.Key, part)
	}
	if l.With != "" {
		if of.PairWith, ok = partOf(l.With); !ok {
			return "", false
		}
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(of); err != nil {
		panic("whatif: encode a rule: " + err.Error()) // texts and numbers can always be encoded
	}
	return strings.TrimSpace(b.String()), true
}

var vendorActions = map[string]string{
	Block: "action-rate-limit-block", Challenge: "action-challenge", Monitor: "action-monitor",
}

// partOf returns the part of a key that has a field.
func partOf(field string) (map[string]string, bool) {
	for name, of := range headers {
		if of == field && of != "host" {
			return map[string]string{"headers": name}, true
		}
	}
	names := make([]string, 0, len(attributes))
	for name, of := range attributes {
		if of == field {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, false
	}
	return map[string]string{"attrs": slices.Min(names)}, true
}
