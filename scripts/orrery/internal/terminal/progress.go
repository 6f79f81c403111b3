package terminal

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// NewProgress returns a progress bar, which is visible on terminals only. It is labelled with what is counted or read.
// total is the number of items or bytes, or -1 if it is unknown. The caller must call Finish or Exit.
func NewProgress(w io.Writer, total int64, what string, bytes bool) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(Is(w)),
		progressbar.OptionSetDescription(Printable(what)),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine, which would race and draw after Exit
		progressbar.OptionThrottle(65_000_000),        // ns: about 15 times a second
	)
}

// Show moves the bar to n. It ignores errors, because a bar that cannot be drawn must not stop the work.
func Show(bar *progressbar.ProgressBar, n int64) { _ = bar.Set64(n) }
