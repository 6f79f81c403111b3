package metrics

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kind is a type of metrics.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
	summary   kind = "summary"
)

// exposition is metrics by their names in the text format of Prometheus,
// https://prometheus.io/docs/instrumenting/exposition_formats/.
type exposition map[string]*metric

// metric has the lines of a metric.
type metric struct {
	name  string
	lines bytes.Buffer
}

// metric returns a metric, which it adds if it is new. The help is one line without backslashes.
func (e exposition) metric(k kind, name, help string) *metric {
	m := e[name]
	if m == nil {
		m = &metric{name: name}
		m.lines.WriteString("# HELP " + name + " " + help + "\n# TYPE " + name + " " + string(k) + "\n")
		e[name] = m
	}
	return m
}

// one adds a metric that has one value and no labels.
func (e exposition) one(k kind, name, help string, value float64) {
	e.metric(k, name, help).add("", value)
}

// escaped has what must be escaped in values of labels.
var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// add adds a value. The suffix distinguishes the values of histograms and summaries; labels are names and values by
// turns.
func (m *metric) add(suffix string, value float64, labels ...string) {
	m.lines.WriteString(m.name + suffix)
	for i := 0; i < len(labels); i += 2 {
		before := ","
		if i == 0 {
			before = "{"
		}
		m.lines.WriteString(before + labels[i] + `="` + escaped.Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		m.lines.WriteByte('}')
	}
	m.lines.WriteString(" " + number(value) + "\n")
}

// number returns a number as the format has it.
func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }

// bytes returns the metrics in the order of their names.
func (e exposition) bytes() []byte {
	var all bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(e)) {
		all.Write(e[name].lines.Bytes())
	}
	return all.Bytes()
}
