package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/orrery/orrery/shared/engine"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/filter"
	"github.com/orrery/orrery/shared/query"
)

// TestDamageIn has messages of Trino 476 over damaged objects, in its own words, and of Athena.
func TestDamageIn(t *testing.T) {
	const (
		url   = "s3://lake-bucket/lake/fresh/2026/01/02/00/1f2e3d4c5b6a7988-0.parquet"
		fresh = "fresh/2026/01/02/00/1f2e3d4c5b6a7988-0.parquet"
		late  = "compact/2026/01/02/00/1f2e3d4c5b6a7988-2-0.parquet"
	)
	cause := errors.New("query 1 failed")
	q, err := query.Bind(filter.Parse("timestamp between 2026-01-01 21:10 and 2026-01-02 03:00"), query.Stats{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		error, message string
		damaged        bool
		object         string
		within         string // hours in the message for users
	}{
		"not Parquet": {
			"HIVE_BAD_DATA", "Malformed Parquet file. Expected magic number: PAR1 got:  all [" + url + "]",
			true, fresh, "between 2026-01-02 00:00:00 and 2026-01-02 01:00:00",
		},
		"shorter than a footer": {
			"HIVE_BAD_DATA", "Malformed Parquet file. " + url + " is not a valid Parquet File [" + url + "]",
			true, fresh, "between 2026-01-02 00:00:00 and 2026-01-02 01:00:00",
		},
		"a long footer": {
			"HIVE_BAD_DATA", "Malformed Parquet file. Metadata index: -2147441011 out of range [" + url + "]",
			true, fresh, "between 2026-01-02 00:00:00 and 2026-01-02 01:00:00",
		},
		"a changed footer": {
			"HIVE_CANNOT_OPEN_SPLIT", "Error opening Hive split " + url + " (offset=0, length=42644): " +
				"can not read class org.apache.parquet.format.FileMetaData: Unrecognized type 0",
			true, fresh, "between 2026-01-02 00:00:00 and 2026-01-02 01:00:00",
		},
		"a changed index": {
			"HIVE_CANNOT_OPEN_SPLIT", "Error opening Hive split s3://b/lake/" + late + " (offset=0, length=42644): java.io." +
				"IOException: can not read class org.apache.parquet.format.ColumnIndex: don't know what type: 15",
			true, late, "between 2026-01-02 00:00:00 and 2026-01-02 01:00:00",
		},
		"a changed page header": {
			"GENERIC_INTERNAL_ERROR",
			"java.io.IOException: can not read class org.apache.parquet.format.PageHeader: don't know what type: 15",
			true, "", "between 2026-01-01 21:00:00 and 2026-01-02 04:00:00",
		},
		"a changed page": {
			"GENERIC_INTERNAL_ERROR", "Unknown error occurred during decompression: Data corruption detected",
			true, "", "between 2026-01-01 21:00:00 and 2026-01-02 04:00:00",
		},
		"a changed level": {
			"GENERIC_INTERNAL_ERROR", "Corrupted Parquet file: extra 5 values to be consumed when scanning current batch",
			true, "", "between 2026-01-01 21:00:00 and 2026-01-02 04:00:00",
		},
		"an object that was removed": {"HIVE_FILE_NOT_FOUND", "File " + url + " does not exist", false, "", ""},
		"a bucket that is busy": {
			"HIVE_CANNOT_OPEN_SPLIT", "Error opening Hive split " + url + " (offset=0, length=18614): Slow Down " +
				"(Service: Amazon S3; Status Code: 503; Error Code: 503 Slow Down)",
			false, "", "",
		},
		"a bug of the engine": {"GENERIC_INTERNAL_ERROR", "null", false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine.DamageIn(q, test.error, test.message, cause)
			if e == nil {
				if test.damaged {
					t.Error("the message is not recognized")
				}
				return
			}
			failure := engine.DamagedError(e)
			var known *fault.Error
			if !test.damaged || e.Object != test.object || !errors.Is(failure, cause) || !errors.As(failure, &known) {
				t.Fatalf("%+v, %v", e, failure)
			}
			if !strings.Contains(known.Message, test.within) || known.Kind != fault.Damaged || known.RetryAfter != 0 {
				t.Errorf("%+v", known)
			}
			if strings.Contains(known.Message, "bucket") || strings.Contains(known.Message, "parquet") {
				t.Errorf("the message shows where the data is: %s", known.Message)
			}
		})
	}
}
