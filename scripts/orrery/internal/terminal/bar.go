package terminal

import "strings"

// barWidth is the length of the bar of a whole, in characters.
const barWidth = 20

// Bar draws a share of a whole, in eighths of a character. A share that is not zero is at least one eighth long.
func Bar(part, whole int64) string {
	if part <= 0 || whole <= 0 {
		return ""
	}
	eighths := max(1, int(float64(part)/float64(whole)*barWidth*8+0.5))
	text := strings.Repeat("█", eighths/8)
	if last := eighths % 8; last > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[last-1])
	}
	return text
}
