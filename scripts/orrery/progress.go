package main

import (
	"io"

	"github.com/schollz/progressbar/v3"
)

// newProgress returns a progress bar, which is visible on terminals only. It is labelled with what is counted or read.
// total is the number of items or bytes, or -1 if it is unknown. The caller must call Finish or Exit.
func newProgress(w io.Writer, total int64, what string, bytes bool) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(isTerminal(w)),
		progressbar.OptionSetDescription(printable(what)),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetSpinnerChangeInterval(0), // no goroutine, which would race and draw after Exit
		progressbar.OptionThrottle(65_000_000),        // ns: about 15 times a second
	)
}

// show moves the bar to n. It ignores errors, because a bar that cannot be drawn must not stop the work.
func show(bar *progressbar.ProgressBar, n int64) { _ = bar.Set64(n) }
