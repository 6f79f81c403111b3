package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/orrery/orrery/scripts/internal/local"
)

// mixedLog has requests that some conditions and figures count differently: by another origin, another flag or a reason.
func mixedLog() string {
	var log strings.Builder
	for i, members := range []string{
		`"upstream_status":[502,200],"result":"Passed"`, `"upstream_status":[200,502]`, `"upstream_status":[404]`,
		`"monitor_reasons":["Monitor - acl Deny [\"all\"] - acl1 - [request]"]`, `"monitor":true`,
		`"challenge":true,"result":"Passed"`, `"ichallenge":true,"result":"Challenged"`, `"challenge":true,"result":"Challenged"`,
		`"blocked":true,"result":"Blocked"`, `"human":true,"blocked":false`, `"human":false`, `"status":200`, `"upstream_status":[]`,
	} {
		fmt.Fprintf(&log, `{"processing_stage":6,"timestamp":"2026-01-01T10:00:%02dZ","ip":"192.0.2.1",%s}`+"\n", i, members)
	}
	return log.String()
}

// numberOf is the figure of a tile.
func numberOf(name string) string {
	return fmt.Sprintf("Number(document.querySelector('.tile.%s .number')?.firstChild.textContent.replaceAll(',', ''))", name)
}

// TestFigures compares what figures count with what their links show.
func TestFigures(t *testing.T) {
	walk := walksAt(t, serveLog(t, mixedLog()))

	for name, want := range map[string]int{"blocked": 1, "challenged": 2, "monitored": 1, "human": 1, "refused": 3} {
		walk("the link of the tile "+name+" shows as many requests as the tile counts",
			open("#/?t="+demoDay), tile("requests", 13), holds(numberOf(name)+" >= 0", "has the figure"),
			is(numberOf(name), want), click(".tile."+name, ""), holds("$('#filter').value !== ''", "has the condition of the tile"),
			holds(fmt.Sprintf("%s !== 13 && !$('[aria-busy=true]')", numberOf("requests")), "has the answer"),
			is(numberOf("requests"), want))
	}
	walk.run("a comparison has the figures of the dashboard", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/compare?vs=1d&t="+demoDay), sees("Both sides over time"))
		for name, want := range map[string]int{"requests": 13, "blocked": 1, "challenged": 2, "human": 1, "refused": 3} {
			if n := b.figure(name); n != want {
				t.Errorf("the tile %s has %d, want %d", name, n, want)
			}
		}
		b.do(open(`#/compare?f=status=200&f2=upstream_status>=400&t=`+demoDay),
			text(".overlay .tile.refused .change", "other 3 · 100 %"))
	})
	const reason = `Monitor - acl Deny ["all"] - acl1 - [request]`
	walk("the busiest reasons include the reasons of monitored requests",
		open("#/?sort=requests&t="+demoDay),
		holds(fmt.Sprintf("$$('.list .value button').some((e) => e.title === %q)", reason), "has the reason"),
		evaluate(fmt.Sprintf("$$('.list .value button').find((e) => e.title === %q).click()", reason)),
		click("[role=menuitem]", "Only"), filterBegins("monitor_reasons="), tile("requests", 1))
	for _, field := range []string{"upstream_status", "human", "monitor", "status", "result"} {
		walk("requests without a value of "+field+" are found",
			open("#/events?panel=facets&by="+field+"&t="+demoDay), exists(".facet p .count"),
			note("n", "$('.facet p .count').textContent.split(' ')[0]"), click(".facet .link", "without a value"),
			sees("No request has this field"), holds("document.body.innerText.includes(`all ${seen.n} shown`)", "has as many requests"))
	}
}

// questions returns what was asked about requests, or what only had to be estimated, each question once.
func (s *served) questions(estimates bool) []string {
	found := map[string]bool{}
	for _, one := range s.aboutRequests(estimates) {
		found[fmt.Sprint(one.path, " ", one.body)] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// aboutRequests returns the calls of questions, each as often as it was asked. They are without dry_run and max_bytes.
func (s *served) aboutRequests(estimates bool) (list []sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.calls {
		if one.body["filters"] == nil || strings.HasSuffix(one.path, "/parse") || (one.body["dry_run"] == true) != estimates {
			continue
		}
		one.body = maps.Clone(one.body)
		delete(one.body, "dry_run")
		delete(one.body, "max_bytes") // the explanation is about questions, not about their ceilings
		list = append(list, one)
	}
	return list
}

// differs returns an error if the questions that a screen asks are not the ones that its explanation is about.
func differs(asked, estimated []string) error {
	if slices.Equal(asked, estimated) {
		return nil
	}
	return fmt.Errorf("the screen asks\n%s\nand the explanation is about\n%s",
		strings.Join(asked, "\n"), strings.Join(estimated, "\n"))
}

// withoutPeriod leaves out the period of filters.
var withoutPeriod = regexp.MustCompile(`timestamp between [^,\]]* and [^,\]]*?(, |$)`)

// TestDashboardQuestions: a server that starts asks what a dashboard of 30 days asks.
func TestDashboardQuestions(t *testing.T) {
	walksAt(t, demo.address(t)).run("a dashboard of 30 days", func(t *testing.T, b *tab, s *served) {
		b.do(open("#/?t=2025-12-03T00:00Z..2026-01-02T00:00Z"), exists(".lists"), visible(".plot canvas"), answered())
		var asked, want []string
		for _, one := range s.aboutRequests(false) {
			params := map[string]string{}
			for name, value := range one.body {
				if list, several := value.([]any); several {
					texts := make([]string, len(list))
					for i, text := range list {
						texts[i] = fmt.Sprint(text)
					}
					value = strings.Join(texts, ",")
				}
				params[name] = fmt.Sprint(value)
			}
			params["filters"] = withoutPeriod.ReplaceAllString(params["filters"], "")
			asked = append(asked, fmt.Sprint(path.Base(one.path), " ", params))
		}
		for _, q := range local.DashboardQuestions {
			params := map[string]string{"filters": q.Condition}
			maps.Copy(params, q.Params)
			want = append(want, fmt.Sprint(q.Route, " ", params))
			if q.Before {
				want = append(want, want[len(want)-1])
			}
		}
		slices.Sort(asked)
		slices.Sort(want)
		if err := differs(asked, want); err != nil {
			t.Error(err)
		}
	})
}

// TestPrices walks through what is said about the price of questions and the age of answers.
func TestPrices(t *testing.T) {
	server := demo.address(t)
	walk := walksAt(t, server)
	reference := firstRecord(t, behind(t, server), "blocked is true")["record_ref"].(string)

	for screen, address := range map[string]string{
		"dashboard": "#/?f=human+is+true&t=", "events": "#/events?cols=timestamp,status&t=", "record": "#/events/" + reference + "?t=",
		"comparison": "#/compare?where=blocked+is+true&by=country&t=",
	} {
		walk.run("the explanation has the questions of the "+screen, func(t *testing.T, b *tab, s *served) {
			b.do(open(address+demoDay), exists(".lists, .event, .findings"))
			if screen == "record" {
				b.do(exists(".evidence li"))
			}
			b.do(answered())
			asked := s.questions(false)
			s.forget()
			b.do(blur(), keys("x"), exists(".explain tbody tr"))
			b.untilIs(func() (bool, error) {
				for _, one := range s.questions(false) { // a part that is loaded later asks later
					if !slices.Contains(asked, one) {
						asked = append(asked, one)
					}
				}
				slices.Sort(asked)
				estimated := s.questions(true)
				return len(asked) > 0, differs(asked, estimated)
			}, "asks what the explanation is about")
		})
	}
	walk("figures of an earlier question are dimmed while the present one waits",
		open("#/?t="+demoDay), moreThan(20, ".list tbody tr"),
		answers(heavy()), keys("["), sees("This is a heavy question"),
		sees("What is shown below is an earlier answer"),
		holds("$('.tiles.old') && $$('.answer.old').length === 3", "dims all of it"), accessible("old answer"),
		screenshot("old-answer"), answers(), click("button", "Run it"), lacks(".old, .trouble.held"))
	walk("a question of unknown size waits if its period is longer than a day",
		answers(func(c *call) bool {
			return c.estimate() && c.changed(func(meta map[string]any) {
				estimate := meta["estimate"].(map[string]any)
				estimate["bytes"], estimate["wait_ms"] = nil, nil
				delete(estimate, "cost_usd")
			})
		}), open("#/events?t="+demoDay), sees("200 of "), open("#/events?t=2025-12-31T00:00Z..2026-01-02T00:00Z"),
		sees("It reads an unknown amount of 24 objects in a period of 2 d."), click("button", "Run it"), sees("200 of "))
	walk("a question without an estimate waits if its period is long",
		answers(func(c *call) bool {
			return c.estimate() && c.changed(func(meta map[string]any) { delete(meta, "estimate") })
		}),
		open("#/?t=2025-12-01T00:00Z..2026-01-02T00:00Z"), sees("It reads an unknown amount in a period of 32 d."))
	var ran atomic.Int32
	walk("an older page waits if it is heavy, and can be cancelled",
		answers(func(c *call) bool {
			if c.body["cursor"] == nil {
				return false
			}
			return c.estimate() && c.changed(costly) || ran.Add(1) == 1 && c.leaves()
		}), open("#/events?t="+demoDay), sees("200 of "), click(".more button", "Load older"),
		textHas(".more .held", "costs $1.50–$2.00"), counts(&ran, 0), click(".more button", "Run it"),
		click(".more button", "Cancel"), sees("Cancelled."), click(".more button", "Ask again"), sees("400 of "))
	walk("the next record is loaded with its page",
		answers(func(c *call) bool { return c.body["cursor"] != nil && c.estimate() && c.changed(costly) }),
		open("#/events?t="+demoDay), sees("200 of "), focus(".rows"), keys(kb.End), enter(), exists(".record .why"),
		note("before", "location.hash"), answered(), keys("j"), click(".record button", "Run it"),
		holds("location.hash !== seen.before && $('.record .why')", "goes on when it is there"))
	walk("a chart has its zone and the length of its segments",
		open("#/?tz=Europe/Berlin&t="+demoDay), sees("each 5 min, Europe/Berlin"),
		textHas(".chart figcaption", "segments of 5 min; peak"), textHas(".chart figcaption", "Times are of Europe/Berlin."))
	walk.run("a catalogue that comes late uncovers what is not sensitive", func(t *testing.T, b *tab, s *served) {
		held := make(chan struct{})
		b.do(answers(func(c *call) bool {
			if c.to("/data/fields") {
				<-held
			}
			return false
		}), open("#/events/"+reference+"?t="+demoDay))
		const method = "[...document.querySelectorAll('.leaf')].find((e) => e.querySelector('dt').textContent === 'method')" +
			"?.querySelector('dd').innerText"
		b.do(holds(method+".startsWith('••••••')", "hides everything at first"), closes(held),
			holds("/^(GET|POST|PUT|DELETE|HEAD)/.test("+method+")", "shows the method"))
	})
}
