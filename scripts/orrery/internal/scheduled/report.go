// Package scheduled prints scheduled reports, whom they reach, and their runs.
package scheduled

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/api/resource"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/schedule"
	"github.com/orrery/orrery/shared/zone"
)

// PrintReport prints a report and its next period for people.
func PrintReport(out io.Writer, one resource.ScheduledReport, now time.Time) error {
	d := one.Definition
	w := terminal.NewTable(out)
	fmt.Fprintf(w, "report\t%s\n", strings.TrimRight(one.Name+"  "+terminal.OneLine(d.Title), " "))
	fmt.Fprintf(w, "filter\t%s\n", cmp.Or(terminal.OneLine(d.Filters), "all requests"))
	fmt.Fprintf(w, "branches\t%s\n", cmp.Or(strings.Join(one.Branches, ", "), "all"))
	fmt.Fprintf(w, "made\t%s\n", MadeText(d))
	if d.When == definition.Attacks {
		fmt.Fprintln(w, "sent\tonly if there was an attack")
	}
	switch due, period, err := schedule.Next(d, now); {
	case err != nil:
		return err
	case d.Paused && d.Reason != "":
		fmt.Fprintf(w, "next\tnone: it was paused because %s\n", terminal.OneLine(d.Reason))
	case d.Paused:
		fmt.Fprintln(w, "next\tnone: it is paused")
	default:
		location, err := zone.Load(d.TZ)
		if err != nil {
			return err
		}
		const layout = "Mon 2006-01-02 15:04 -0700"
		from, end := time.UnixMilli(period.FromMs).In(location), time.UnixMilli(period.ToMs+1).In(location)
		fmt.Fprintf(
			w, "next\t%s, about %s to %s\n", due.In(location).Format(layout), from.Format(layout), end.Format(layout),
		)
	}
	if len(d.Deliver) == 0 {
		fmt.Fprintln(w, "to\tnobody: it is kept, and can be read in the console")
	}
	for _, to := range d.Deliver {
		if to.To != "" {
			fmt.Fprintf(w, "to\t%s\n", to.To)
		}
		for _, address := range to.Mail {
			fmt.Fprintf(w, "mail\t%s\n", address)
		}
	}
	return w.Flush()
}

// MadeText returns when a report is made.
func MadeText(d definition.Definition) string {
	var text string
	switch d.Period {
	case definition.Hour:
		text = "every hour"
	case definition.Day:
		text = "every day at " + d.At
	case definition.Week:
		text = "every " + d.Weekday + " at " + d.At
	default:
		text = "on the first of every month at " + d.At
	}
	text += " " + d.TZ
	if d.Paused {
		text += " (paused)"
	}
	return text
}

// Receivers returns where a report goes; "-" if it is only kept.
func Receivers(d definition.Definition) string {
	var list []string
	for _, to := range d.Deliver {
		list = append(list, to.String())
	}
	slices.Sort(list)
	return cmp.Or(strings.Join(list, ", "), "-")
}
