package sqlgen

// Exported for the tests with a real Trino, which cannot be in this package because package trino imports it.
var (
	Joni          = joni
	RandomPattern = randomPattern
	Texts         = texts
)
