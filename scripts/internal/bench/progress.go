package bench

import (
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newBar returns a progress bar for one step. It is visible on terminals only. Elsewhere, newBar announces the step.
func newBar(o Options, total int, what string) *progressbar.ProgressBar {
	announce(o, what)
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(o.Progress),
		progressbar.OptionSetVisibility(onTerminal(o)),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(65_000_000),
	)
}

// announce prints a line about a step that begins, except on a terminal.
func announce(o Options, what string) {
	if !onTerminal(o) {
		fmt.Fprintln(o.Progress, what)
	}
}

// onTerminal reports whether the progress is shown on a terminal.
func onTerminal(o Options) bool {
	f, ok := o.Progress.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// shownFile is a file that shows on a bar how much of it was read. An import that continues can rewind it.
type shownFile struct {
	file *os.File
	bar  *progressbar.ProgressBar
}

func (f shownFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	_ = f.bar.Add(n) // only the bar would be wrong
	return n, err
}

func (f shownFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.file.Seek(offset, whence)
	_ = f.bar.Set64(at)
	return at, err
}
