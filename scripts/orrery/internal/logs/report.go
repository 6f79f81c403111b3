package logs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/ingest"
	"github.com/orrery/orrery/shared/logformat"
)

// PrintReport prints the result of an import: one line, one for each reason of rejected lines, and one for their place.
func PrintReport(w io.Writer, r ingest.Report) error {
	if r.Left > 0 && r.Records+r.RejectedLines()+r.Known == 0 {
		_, err := fmt.Fprintf(w, "%s: no records yet: its last line has no newline\n", terminal.Printable(r.Name))
		return err
	}
	text := fmt.Sprintf("%s: %s, %d rejected, %.1f s",
		terminal.Printable(r.Name), terminal.Counted(r.Records, "record"), r.RejectedLines(), r.Elapsed.Seconds())
	if r.Format != "" {
		text += " (" + logformat.Words(r.Format) + ")"
	}
	if r.Known > 0 {
		text += fmt.Sprintf("; %s imported before", terminal.Counted(r.Known, "line"))
	}
	if r.Resumed > 0 {
		text += fmt.Sprintf("; continued after %s that an interrupted import had read", terminal.Counted(r.Resumed, "line"))
	}
	if r.Expired > 0 {
		text += fmt.Sprintf("; %s left out, older than what is kept", terminal.Counted(r.Expired, "record"))
	}
	if r.Overlaps() {
		text += fmt.Sprintf("; %d of the first %d records were in the data already", r.Seen, r.Judged)
	}
	if r.Invalid > 0 {
		text += fmt.Sprintf("; %d had text that is not Unicode, which is stored unchanged", r.Invalid)
	}
	text += misfitsText(r.Misfits)
	text += "\n"
	for _, reason := range r.Reasons() {
		text += fmt.Sprintf("  rejected %d: %s\n", r.Rejected[reason], reason)
	}
	if r.First != "" {
		text += "  " + strings.ReplaceAll(r.First, "\n", "\n  ") + "\n"
	}
	if r.Quarantine != "" {
		text += fmt.Sprintf("  saved with line numbers and reasons in %s\n", terminal.Printable(r.Quarantine))
	}
	if r.Unsaved > 0 {
		text += fmt.Sprintf("  %d of them are only counted, because 100 MB of lines of this log or its archive are saved\n",
			r.Unsaved)
	}
	_, err := io.WriteString(w, text)
	return err
}

// misfitsText reports the values that are of a wrong type for their fields.
func misfitsText(misfits map[string]int64) string {
	if len(misfits) == 0 {
		return ""
	}
	total := int64(0)
	var fields []string
	for _, field := range slices.Sorted(maps.Keys(misfits)) {
		total += misfits[field]
		fields = append(fields, fmt.Sprintf("%s %d", field, misfits[field]))
	}
	verb := "are"
	if total == 1 {
		verb = "is"
	}
	return fmt.Sprintf(
		"; %s of a wrong type %s in log_rest (%s)", terminal.Counted(total, "value"), verb, strings.Join(fields, ", "),
	)
}

// absentText reports what no record of an import has, or is "".
func absentText(r ingest.Report) string {
	if len(r.Absent) == 0 {
		return ""
	}
	var names []string
	for _, name := range r.Absent {
		article := "a "
		if name == "address" {
			article = "an "
		}
		names = append(names, article+name)
	}
	last := len(names) - 1
	text := "no record has " + names[last]
	if last > 0 {
		text = "no record has " + strings.Join(names[:last], ", ") + " or " + names[last]
	}
	if slices.Equal(r.Absent, []string{"host"}) {
		text += "; --set host=NAME sets it"
	}
	return text
}

// PrintAbsent prints what no record has.
func PrintAbsent(w io.Writer, r ingest.Report) error {
	text := absentText(r)
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", terminal.Printable(r.Name), text)
	return err
}

// PrintLeft reports a last line that was left, and how to import it.
func PrintLeft(w io.Writer, r ingest.Report) error {
	if r.Left == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: 1 unfinished line at the end (%s without newline) is left for "+
		"the next import; if the file is complete, import it again with --take-last\n",
		terminal.Printable(r.Name), terminal.Counted(r.Left, "byte"))
	return err
}
