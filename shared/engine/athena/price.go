package athena

// The price of queries in most regions.
const (
	// USDPerTB is the default of Config.USDPerTB.
	USDPerTB = 5
	// MinimumBytes is how many bytes every query is charged for at least.
	MinimumBytes = minCharged
)
