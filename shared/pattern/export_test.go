package pattern

// Exported for the tests with a real Trino, which cannot be in this package because package trino imports it.
var (
	RandomPattern = randomPattern
	Texts         = regexTexts
)
