package sqlgen

// For tests that need a Trino, which imports this package.
var (
	Joni          = joni
	RandomPattern = randomPattern
	Texts         = texts
)
