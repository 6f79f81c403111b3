//go:build cgo

package bench

import _ "github.com/duckdb/duckdb-go/v2" // the driver "duckdb"; without a C compiler, the bench command returns an error
