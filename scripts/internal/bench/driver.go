//go:build cgo

package bench

import _ "github.com/duckdb/duckdb-go/v2" // the driver "duckdb"; without a C compiler the product does not open anyway
