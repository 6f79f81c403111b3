package simulate

// Curve returns, for each threshold, the number of records on which the limit would act if it had that threshold.
func Curve(limit Limit, records []Record, thresholds []int) []int {
	curve := make([]int, len(thresholds))
	for i, threshold := range thresholds {
		limit.Threshold = threshold
		for _, acts := range Limits(limit, records) {
			if acts {
				curve[i]++
			}
		}
	}
	return curve
}
