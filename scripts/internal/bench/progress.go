package bench

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// newBar returns a progress bar for one part. It is visible on terminals only.
func newBar(o Options, total int, what string) *progressbar.ProgressBar {
	f, ok := o.Progress.(*os.File)
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(o.Progress),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(f.Fd()))),
		progressbar.OptionSetDescription(what),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(65_000_000),
	)
}
