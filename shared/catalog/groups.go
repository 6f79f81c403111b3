package catalog

import (
	"slices"
	"strings"
)

// Group is the part of a request record that a field is about.
type Group string

// The groups, in the order in which they are shown.
const (
	Client    Group = "client"
	Requested Group = "request"
	Decision  Group = "decision"
	Rules     Group = "rules"
	Origin    Group = "origin"
	Timing    Group = "timing"
	Geography Group = "geography"
)

// Groups lists the groups in the order in which they are shown.
var Groups = []Group{Client, Requested, Decision, Rules, Origin, Timing, Geography}

// Variety is how many different values of a field to expect in much traffic.
type Variety string

// The varieties.
const (
	Few    Variety = "few"    // up to some hundreds, so that they can be listed
	Many   Variety = "many"   // a value usually occurs in several requests
	Unique Variety = "unique" // a value usually occurs in one request
)

// properties has a row for each group of fields that have the same properties.
var properties = []struct {
	group     Group
	variety   Variety
	sensitive bool // the values may identify a person or give access; tools that share records leave them out
	fields    string
}{
	{Client, Many, true, "biometric cookies ip session session_ids svcid svcsessionid"},
	{Client, Many, false, "user_agent"},
	{Client, Few, false, "bot human"},
	{Requested, Many, true, "arguments headers log_rest query referer url"},
	{Requested, Unique, false, "record_ref request_id"},
	{Requested, Many, false, "bytes_sent path path_parts request_length"},
	{Requested, Few, false, "authority host hostname method port protocol"},
	{Decision, Few, false, "blocked branch challenge challenge_type ichallenge monitor processing_stage result status"},
	{Decision, Many, false, "logs reason monitor_reasons tags"},
	{Rules, Many, false, "acl_triggers cf_restrict_triggers cf_triggers dr_triggers gf_triggers rl_triggers"},
	{Rules, Few, false, "profiling security_config trigger_counters version"},
	{Origin, Many, false, "proxy upstream_data"},
	{Origin, Few, false, "upstream_addr upstream_status"},
	{Timing, Many, false, "request_time svc_latency upstream_response_time"},
	{Timing, Unique, false, "time_period timestamp"},
	{Geography, Many, false, "asn geo_region organization"},
	{Geography, Few, false, "country"},
}

// setProperties sets the properties of the field that Describe returns.
func (d *Description) setProperties() {
	for _, p := range properties {
		if slices.Contains(strings.Fields(p.fields), d.Name) {
			d.Group, d.Values, d.Sensitive = p.group, p.variety, p.sensitive
		}
	}
	d.Aliases = []string{}
	for alias, name := range aliases {
		if name == d.Name {
			d.Aliases = append(d.Aliases, alias)
		}
	}
	slices.Sort(d.Aliases)
}
