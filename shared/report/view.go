package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orrery/orrery/shared/wording"
)

// The texts of a report that its forms have in common.

// word returns a state as a headline, with a sign that does not depend on colour.
func (s State) word() string {
	switch s {
	case Quiet:
		return "✓ Quiet"
	case QuietLook:
		return "! Quiet, but look"
	case AttackedHeld:
		return "▲ Attacked, held"
	case AttackedLook:
		return "! Attacked, look"
	case Attacked:
		return "▲ Attacked; unknown whether it held"
	case Look:
		return "! Look; the rest is unknown"
	}
	return "? Unknown"
}

// headline returns the first words that a reader sees: the state, after "Demo" or "Incomplete" if the data is that.
func (r Report) headline() string {
	state := string(r.Verdict.State)
	switch {
	case r.Run.Demo:
		return "Demo · " + state
	case r.incomplete():
		return "Incomplete · " + state
	}
	first := min(1, len(state))
	return strings.ToUpper(state[:first]) + state[first:]
}

// value returns a number of the figure as text.
func (f Figure) value(n *float64) string {
	switch {
	case n == nil && f.Unit == "seconds":
		return "none"
	case n == nil:
		return "unknown"
	case f.Unit == "seconds":
		return seconds(*n)
	case f.Unit == "bytes":
		return byteCount(*n)
	}
	return wording.Count(int64(*n))
}

// text returns the figure as a part of another one, or "" if it is not known.
func (f Figure) text() string {
	if f.Value == nil {
		return ""
	}
	whole := func(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }
	text := f.Label + " " + whole(f.value(f.Value))
	if f.Previous != nil {
		was := f.value(f.Previous)
		if change := f.change(); change != "" {
			was += " (" + change + ")"
		}
		text += ", before " + whole(was)
	}
	return text
}

// change returns the difference to the previous period, or "" if it is unknown or would mislead.
func (f Figure) change() string {
	if f.Value == nil || f.Previous == nil || f.Incomparable {
		return ""
	}
	return difference(*f.Value, *f.Previous)
}

// difference returns the difference of a number to an earlier one.
func difference(now, was float64) string {
	switch {
	case now == was:
		return "as before"
	case was == 0:
		return "was 0"
	case now >= 10*was:
		return "× " + wording.Count(int64(math.Round(now/was)))
	}
	change := math.Round((now - was) / was * 100)
	switch {
	case change > 0:
		return "+" + wording.Count(int64(change)) + " %"
	case change < 0:
		return "−" + wording.Count(int64(-change)) + " %"
	case now > was:
		return "+ < 1 %"
	}
	return "− < 1 %"
}

// text returns a change as a sentence without its value.
func (c Change) text() string {
	switch c.Kind {
	case "new":
		return "new: " + wording.Plural(c.Requests, "request")
	case "gone":
		return "gone: " + wording.Plural(c.Before, "request") + " before"
	case "more":
		return fmt.Sprintf("%s times the share: %s, before %s", factor(c.Share/c.ShareBefore), wording.Count(c.Requests),
			wording.Count(c.Before))
	}
	return fmt.Sprintf("a share %s times smaller: %s, before %s", factor(c.ShareBefore/c.Share), wording.Count(c.Requests),
		wording.Count(c.Before))
}

// request returns the method and the target of an example.
func (e Record) request(limit int) string {
	return strings.TrimSpace(optional(e.Method, 20) + " " + optional(e.Target, limit))
}

// facts returns the address, the country and the cause of an example, as far as it has them. A reason whose cause is not
// known stands for it.
func (e Record) facts() []string {
	var list []string
	for _, value := range []string{e.IP, e.Country, cmp.Or(e.Cause, e.Reason)} {
		if value != "" {
			list = append(list, wording.Shown(value, keyLength))
		}
	}
	return list
}

// noChanges returns why the list of changes is empty.
func (r Report) noChanges() string {
	switch {
	case r.Previous == nil:
		return "The report compares with no other period."
	case r.failed(Changes):
		return "The changes are not known."
	case len(r.GapsBefore) > 0 || r.begins != "":
		return "Requests of the previous period are missing, so there is nothing to compare."
	case !r.Compared:
		return "One of the two periods has no requests, so there is nothing to compare."
	}
	return "No value is new, gone or three times as frequent."
}

func (r Report) failed(part Part) bool {
	for _, f := range r.Failed {
		if f.Part == part {
			return true
		}
	}
	return false
}

// noRows returns the sentence of a section without lists.
func (r Report) noRows(part Part, sentence string) string {
	if r.failed(part) {
		return "This part is missing; the reason is at the top."
	}
	return sentence
}

// section is a section with lists or changes, or the sentence that replaces them.
type section struct {
	Name    string
	Lists   []List
	Changes []Change // of the section that has no lists
	None    string
}

// sections returns the sections between the chart and the examples, in the order in which they are printed.
func (r Report) sections() []section {
	clients := "Attackers"
	if len(r.Attackers) > 0 && !r.Attackers[0].ByBlocked {
		clients = "Clients"
	}
	list := []section{
		{Name: clients, Lists: r.Attackers, None: r.noRows(Top, "No request has an address.")},
		{Name: "Targets", Lists: r.Targets, None: r.noRows(Top, "No request has a host.")},
	}
	errors := func(name, none string) section {
		none = r.noRows(PassedBots, r.noRows(OriginErrors, r.noRows(OtherErrors, none)))
		return section{Name: name, Lists: r.Passed, None: none}
	}
	if r.Chart.Undecided {
		list = append(list, errors("Errors", "No request has an error of the server."))
	} else {
		list = append(list,
			section{Name: "Rules", Lists: r.Rules, None: r.noRows(Blocked,
				r.noRows(MonitorReasons, "No rule blocked or monitored a request."))},
			errors("What got through", "No request of a bot passed, and the origin reported no error."))
	}
	if r.Template == Traffic {
		list = append(list, section{Name: "What changed", Changes: r.Changes, None: r.noChanges()})
	}
	if r.Chart.Undecided {
		return list
	}
	return append(list, section{
		Name: "Possibly wrong blocks", Lists: r.Wrong, None: r.noRows(WrongBlocks, "No request of a human was blocked."),
	})
}

// shown returns the figures without those that the log does not have.
func (r Report) shown() []Figure {
	return slices.DeleteFunc(slices.Clone(r.Figures), func(f Figure) bool {
		return f.Absent || f.ID == p99Time && f.Value == nil
	})
}

// count returns the number that the list is about.
func (l List) count(row Row) int64 {
	if l.ByBlocked {
		return row.Blocked
	}
	return row.Requests
}

// note returns the further numbers of a row as text.
func (l List) note(row Row) string {
	var notes []string
	if row.New {
		notes = append(notes, "new")
	}
	if !l.ByBlocked {
		return strings.Join(notes, ", ")
	}
	if row.Passed != nil && *row.Passed > 0 {
		notes = append(notes, wording.Count(*row.Passed)+" passed")
	}
	if row.Challenged > 0 {
		notes = append(notes, wording.Count(row.Challenged)+" challenged")
	}
	if !row.New && row.BlockedBefore != nil {
		notes = append(notes, "before "+wording.Count(*row.BlockedBefore))
	}
	return strings.Join(notes, ", ")
}

// share returns the bar of a number, in whole percent; a number that is not zero has a bar.
func share(n, whole int64) int {
	if n <= 0 || whole <= 0 {
		return 0
	}
	return min(100, max(1, int(math.Round(float64(n)/float64(whole)*100))))
}

// fact is a line of the foot of a report.
type fact struct {
	Name, Text string
	Data       bool // the text has values

	// Command is set if the text is a command to copy. A mail has no commands, because the characters that keep mail
	// programs from making links would be copied, too. The attached page has them.
	Command bool
}

// facts returns the foot of a report: the facts about its question, and the facts about its run, which may differ
// between two reports about the same data.
func (r Report) facts() (about, run []fact) {
	about = []fact{
		{Name: "Filter", Text: r.Filter, Data: true},
		{Name: "Period", Text: r.Period.Text + " (" + r.Zone + ")"},
		{Name: "In UTC", Text: r.Period.From + " – " + r.Period.To},
	}
	if r.Previous != nil {
		about = append(about, fact{Name: "Compared with", Text: r.comparedWith()})
	}
	about = append(about, fact{Name: "Records", Text: r.records()})
	if r.Fingerprint != "" {
		about = append(about, fact{Name: "Fingerprint", Text: r.Fingerprint})
	}
	about = append(about, r.commands()...)
	complete := "unknown"
	if r.Run.Complete != nil {
		complete = r.instant(*r.Run.Complete)
	}
	run = []fact{{Name: "Complete through", Text: complete}}
	if r.Run.Newest != nil {
		run = append(run, fact{Name: "Newest record", Text: r.instant(*r.Run.Newest)})
	}
	skipped := fact{Name: "Skipped", Text: "none"}
	if n := len(r.Run.Skipped); n > 0 {
		names := make([]string, min(n, listed))
		for i := range names {
			names[i] = wording.Shown(r.Run.Skipped[i], 120)
		}
		skipped.Text, skipped.Data = r.skippedObjects()+": "+strings.Join(names, ", "), true
	}
	price := "no charge by query"
	if r.Run.CostUSD != nil {
		price = fmt.Sprintf("$%.5f", *r.Run.CostUSD)
	}
	return about, append(run, skipped, fact{Name: "Read", Text: fmt.Sprintf("%s by %s, %s, the slowest took %s",
		byteCount(float64(r.Run.Bytes)), wording.Plural(int64(r.Run.Questions), "question"), price, seconds(r.Run.ElapsedMS/1000))})
}

// records returns how many records the report is about.
func (r Report) records() string {
	f := r.Figures[0]
	text := f.value(f.Value)
	if r.Previous != nil {
		text += " of the period, " + f.value(f.Previous) + " of the previous one"
	}
	return text
}

// comparedWith returns the previous period, or "" if there is none.
func (r Report) comparedWith() string {
	switch was := r.Figures[0].Previous; {
	case r.Previous == nil:
		return ""
	case was != nil && *was == 0:
		return r.Previous.Text + ", which has no requests"
	}
	return r.Previous.Text
}

// commands returns the commands that ask for the same report, except commands that are too long to be copied from a
// page.
func (r Report) commands() (list []fact) {
	for _, f := range []fact{{Name: "Ask again", Text: r.again()}, {Name: "With curl", Text: r.curl()}} {
		if f.Text != "" && len(f.Text) <= commandLength {
			f.Data, f.Command = true, true
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return []fact{{Name: "Ask again", Text: "The filter is too long for a command."}}
	}
	return list
}

// commandLength is the length of the longest command in bytes.
const commandLength = 2000

// again returns the command that asks for the same report, or "" if the filter has characters that cannot be shown as
// they are.
func (r Report) again() string {
	if wording.Shown(r.Filter, len(r.Filter)+wording.HashLength) != r.Filter {
		return ""
	}
	command := "orrery report run"
	if r.Template != Traffic {
		command += " --template " + string(r.Template)
	}
	if compare := r.compare(); compare != "" {
		command += " --compare " + compare
	}
	if r.Zone != "UTC" {
		command += " --tz " + r.Zone
	}
	return command + " " + quoted(r.Filter)
}

// curl returns the command that asks the API for the same report. The key is a variable of the shell, and so is the
// address of the server, unless the server knows it itself: a link that somebody asked for may lead anywhere, and the
// key must not be sent there. The command has only characters that can be shown: JSON has escapes for the others.
func (r Report) curl() string {
	address := `"$ORRERY_URL/api/v4.0/data/report"`
	if r.server != "" {
		address = quoted(r.server + "/api/v4.0/data/report")
	}
	question := struct {
		Filters  string   `json:"filters"`
		Template Template `json:"template,omitempty"`
		Compare  string   `json:"compare,omitempty"`
		Zone     string   `json:"tz"`
		Format   string   `json:"format"`
	}{Filters: r.Filter, Compare: r.compare(), Zone: r.Zone, Format: "text"}
	if r.Template != Traffic {
		question.Template = r.Template
	}
	return "curl -sS " + address + ` -H "Authorization: Bearer $ORRERY_API_KEY" -H 'Content-Type: application/json' -d ` +
		quoted(jsonText(question))
}

// summary returns the finding of the chart in words.
func (c Chart) summary(of string, number func(Bar) int64, before func(Bar) *int64) string {
	if len(c.Bars) == 0 {
		return "No data."
	}
	most, total, was, compared := 0, int64(0), int64(0), false
	for i, bar := range c.Bars {
		if number(bar) > number(c.Bars[most]) {
			most = i
		}
		total += number(bar)
		if n := before(bar); n != nil {
			was, compared = was+*n, true
		}
	}
	text := fmt.Sprintf("%s %s per %s. Most: %s at %s.", wording.Count(total), of, c.Step, wording.Count(number(c.Bars[most])),
		c.Bars[most].Label)
	if compared {
		for _, bar := range c.LeftOut {
			was += number(bar)
		}
		text += fmt.Sprintf(" In the previous period: %s.", wording.Count(was))
	}
	return text
}

// notes returns the sentences that a reader needs to understand the bars.
func (c Chart) notes() []string {
	var list []string
	if c.Coarse {
		list = append(list, "The period is so long that the bars are made of longer segments of UTC: a request close to the "+
			"end of a bar may be in the next one.")
	}
	if n := len(c.LeftOut); n > 0 {
		var requests int64
		for _, bar := range c.LeftOut {
			requests += bar.Requests
		}
		bars := wording.Plural(int64(n), c.Step)
		if c.Step == string(minutes5) {
			bars = fmt.Sprintf("%d × %s", n, minutes5)
		}
		list = append(list, fmt.Sprintf("The previous period is longer: its last %s, with %s, are not in the chart.", bars,
			wording.Plural(requests, "request")))
	}
	return list
}

// series is one of the two charts.
type series struct {
	Name, Class string
	number      func(Bar) int64
	before      func(Bar) *int64
}

// series returns the charts: of requests, and of blocked requests if they are known.
func (c Chart) series() []series {
	if c.Undecided {
		return bothSeries[:1]
	}
	return bothSeries
}

var bothSeries = []series{
	{"Requests", "requests", func(b Bar) int64 { return b.Requests }, func(b Bar) *int64 { return b.RequestsBefore }},
	{"Blocked", "blocked", func(b Bar) int64 { return b.Blocked }, func(b Bar) *int64 { return b.BlockedBefore }},
}

// most returns the largest number of a series, in either period.
func (s series) most(bars []Bar) int64 {
	var most int64
	for _, bar := range bars {
		most = max(most, s.number(bar))
		if n := s.before(bar); n != nil {
			most = max(most, *n)
		}
	}
	return most
}
