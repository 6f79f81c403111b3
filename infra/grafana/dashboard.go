package grafana

import (
	"encoding/json"
	"fmt"
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
	lineHeight  = 8
	lineWidth   = 24
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

// conditions are those of every panel.
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
		o.Options = object{"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi"}}
		if p.route == "histogram" {
			defaults["custom"] = object{"drawStyle": "bars", "fillOpacity": 60, "stacking": object{"mode": "normal"}}
		}
	case table:
		o.Options = object{"showHeader": true}
		if p.route == "facets" {
			overrides = linked(p.columns[0].title)
		}
	default:
		panic(fmt.Sprintf("grafana: no options for panels of type %q", p.kind))
	}
	o.FieldConfig = object{"defaults": defaults, "overrides": overrides}
	return o
}

// linked returns the settings of a table whose first column links to the dashboard with the condition of the row.
func linked(first string) []object {
	property := func(name, id string, value any) object {
		return object{
			"matcher":    object{"id": "byName", "options": name},
			"properties": []object{{"id": id, "value": value}},
		}
	}
	link := object{
		"title": "Show only these requests",
		"url": "/d/" + dashboardID + "?${__url_time_range}&${host:queryparam}&${country:queryparam}" +
			"&var-where=${where:percentencode}%2C%20${__data.fields." + condition + ":percentencode}",
	}
	return []object{
		property(first, "links", []object{link}),
		property(condition, "custom.hidden", true),
	}
}
