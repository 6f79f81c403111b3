package grafana

import (
	"encoding/json"
	"fmt"
	"net/url"
)

// Types of dashboards, as far as this one needs them. The names of the members are Grafana's and Infinity's.
type (
	object = map[string]any

	dashboard struct {
		UID           string        `json:"uid"`
		Title         string        `json:"title"`
		Description   string        `json:"description"`
		Tags          []string      `json:"tags"`
		SchemaVersion int           `json:"schemaVersion"`
		Timezone      string        `json:"timezone"`
		Time          timeRange     `json:"time"`
		Refresh       string        `json:"refresh"`
		GraphTooltip  int           `json:"graphTooltip"` // 1: a cursor on all charts
		Templating    templating    `json:"templating"`
		Panels        []panelObject `json:"panels"`
	}
	timeRange struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
	templating struct {
		List []object `json:"list"`
	}
	panelObject struct {
		ID          int        `json:"id"`
		Type        kind       `json:"type"`
		Title       string     `json:"title"`
		Description string     `json:"description"`
		GridPos     gridPos    `json:"gridPos"`
		Datasource  datasource `json:"datasource"`
		Targets     []target   `json:"targets"`
		FieldConfig object     `json:"fieldConfig"`
		Options     object     `json:"options"`
	}
	gridPos struct {
		H int `json:"h"`
		W int `json:"w"`
		X int `json:"x"`
		Y int `json:"y"`
	}
	datasource struct {
		Type string `json:"type"`
		UID  string `json:"uid"`
	}
	target struct {
		RefID        string         `json:"refId"`
		Datasource   datasource     `json:"datasource"`
		Type         string         `json:"type"`
		Source       string         `json:"source"`
		Parser       string         `json:"parser"`
		Format       string         `json:"format"`
		URL          string         `json:"url"` // after the base URL of the data source
		URLOptions   urlOptions     `json:"url_options"`
		RootSelector string         `json:"root_selector"`
		Columns      []columnObject `json:"columns"`
		Filters      []string       `json:"filters"`
	}
	urlOptions struct {
		Method string        `json:"method"`
		Data   string        `json:"data"`
		Params []paramObject `json:"params"`
	}
	paramObject struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	columnObject struct {
		Selector string     `json:"selector"`
		Text     string     `json:"text"`
		Type     columnType `json:"type"`
	}
)

const (
	dashboardID = "orrery-traffic"
	basePath    = "/api/v4.0/data/"
	// consoleAddress is replaced at the installation.
	consoleAddress = "http://127.0.0.1:8080"

	lineHeight = 8
	lineWidth  = 24
)

var source = datasource{Type: "yesoreyeram-infinity-datasource", UID: "orrery"}

// Dashboard returns the dashboard as JSON.
func Dashboard() []byte {
	d := dashboard{
		UID: dashboardID, Title: "Orrery: traffic and attacks",
		Description:   "Recorded traffic of a web application security gateway.",
		Tags:          []string{"orrery"},
		SchemaVersion: 39, Timezone: "utc", Refresh: "1m", GraphTooltip: 1,
		Time: timeRange{"now-24h", "now"},
	}
	for _, v := range variables {
		d.Templating.List = append(d.Templating.List, v.object())
	}
	d.Templating.List = append(d.Templating.List, object{
		"type": "textbox", "name": "where", "label": "Conditions",
		"description": `Further conditions, each after a comma: , status>=500, path~"^/api"`,
		"query":       "", "current": object{"text": "", "value": ""},
	})
	d.Templating.List = append(d.Templating.List, object{
		"type": "constant", "name": "console", "label": "Console", "hide": 2, // not shown
		"skipUrlSync": true, // a link to the dashboard must not set where its links lead
		"query":       consoleAddress, "current": object{"text": consoleAddress, "value": consoleAddress},
	})
	x, y := 0, 0
	for i, p := range panels {
		if x+p.width > lineWidth {
			x, y = 0, y+lineHeight
		}
		d.Panels = append(d.Panels, p.object(i+1, gridPos{H: lineHeight, W: p.width, X: x, Y: y}))
		x += p.width
	}
	encoded, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic("grafana: " + err.Error()) // texts and numbers can always be encoded
	}
	return append(encoded, '\n')
}

// object returns the variable. Its choices are conditions, and it requests them whenever the range changes.
func (v variable) object() object {
	query := targetOf("facets", "", []param{{"by", v.field}, {"limit", "80"}}, "data.results.0.values", []column{
		{selector: "value", title: "__text", of: text},
		{selector: "condition", title: "__value", of: text},
	})
	query.URLOptions.Params[0].Value = period // independent of the variables
	return object{
		"type": "query", "name": v.name, "label": v.label, "datasource": source, "refresh": 2, "sort": 0,
		"includeAll": true, "allValue": always, "multi": false,
		"current": object{"text": "All", "value": "$__all"},
		"query":   object{"queryType": "infinity", "refId": "variable", "infinityQuery": query},
	}
}

const period = "timestamp between ${__timeFrom:date:iso} and ${__timeTo:date:iso}"

// conditions returns the conditions that every panel has.
func conditions() string {
	all := period
	for _, v := range variables {
		all += fmt.Sprintf(", ${%s:raw}", v.name)
	}
	return all + "${where:raw}"
}

func targetOf(route, where string, params []param, root string, columns []column) target {
	t := target{
		RefID: "A", Datasource: source, Type: "json", Source: "url", Parser: "backend", Format: "table",
		URL: basePath + route, RootSelector: root, Filters: []string{},
		URLOptions: urlOptions{Method: "GET", Params: []paramObject{{"filters", conditions() + where}}},
	}
	for _, p := range params {
		t.URLOptions.Params = append(t.URLOptions.Params, paramObject{p.name, p.value})
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, columnObject{c.selector, c.title, c.of})
	}
	return t
}

func (p panel) object(id int, at gridPos) panelObject {
	t := targetOf(p.route, p.where, p.params, p.root, p.columns)
	o := panelObject{
		ID: id, Type: p.kind, Title: p.title, Description: p.doc, GridPos: at, Datasource: source, Targets: []target{t},
	}
	defaults := object{}
	if p.unit != "" {
		defaults["unit"] = p.unit
	}
	overrides := []object{}
	switch p.kind {
	case totals:
		o.Options = object{"reduceOptions": object{"calcs": []string{"sum"}, "fields": "", "values": false}}
	case chart:
		o.Targets[0].Format = "timeseries"
		o.Options = object{
			"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi"},
		}
		if p.route == "histogram" {
			defaults["custom"] = object{"drawStyle": "bars", "fillOpacity": 60, "stacking": object{"mode": "normal"}}
		}
	case table:
		o.Options = object{"showHeader": true}
		overrides = p.links()
	default:
		panic(fmt.Sprintf("grafana: no options for panels of type %q", p.kind))
	}
	o.FieldConfig = object{"defaults": defaults, "overrides": overrides}
	return o
}

// links returns the settings of a table whose first column links to the console: to the requests of a row if a column
// has their condition, or to its record if a column has the reference to that. The column with the condition or the
// reference is not shown.
func (p panel) links() []object {
	var links []object
	hidden := p.columns[len(p.columns)-1].title
	switch hidden {
	case condition:
		links = []object{
			link("Show these requests in the console", consoleEvents+"?f=${__data.fields."+condition+":percentencode}"+
				url.PathEscape(p.where)+chosenConditions("%2C%20")+"&t=${__from:date:iso}..${__to:date:iso}"),
			link("Show only these requests here", "/d/"+dashboardID+"?${__url_time_range}&${host:queryparam}"+
				"&${country:queryparam}&var-where=${where:percentencode}%2C%20${__data.fields."+condition+":percentencode}"),
		}
	case recordRef:
		links = []object{link("Show the record in the console", consoleEvents+"/${__data.fields."+recordRef+"}")}
	default:
		return []object{}
	}
	property := func(name, id string, value any) object {
		return object{
			"matcher":    object{"id": "byName", "options": name},
			"properties": []object{{"id": id, "value": value}},
		}
	}
	return []object{
		property(p.columns[0].title, "links", links),
		property(hidden, "custom.hidden", true),
	}
}

// consoleEvents is the address of the events in the console.
const consoleEvents = "${console:raw}/#/events"

func link(title, to string) object { return object{"title": title, "url": to} }

// chosenConditions returns the conditions of the variables for an address, each after a separator.
func chosenConditions(separator string) (all string) {
	for _, v := range variables {
		all += separator + "${" + v.name + ":percentencode}"
	}
	return all + "${where:percentencode}"
}
