package function

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/lambdas"
)

// Lookup returns a variable of the environment, like os.LookupEnv.
type Lookup func(name string) (value string, set bool)

// Environment holds the values of the variables. Those that a function does not need are zero.
type Environment struct {
	Table, LakeBucket, RawBucket string
	RawQueue, RawDeadLetters     string // URLs
	Results                      string // s3://bucket/prefix/
	Database, Workgroup          string
	ProjectionFrom               int // year
	HorizonDays                  int
	ScanMegabytes                int
	PartFunction                 string
	PartsAtOnce                  int
	QueryTimeout                 time.Duration
	Reports                      string // JSON, for destination.ReadJSON
	ReportQueue                  string // URL
	Version                      string
}

// Read reads the variables of a function. The error names every missing and every invalid variable.
func (lookup Lookup) Read(f lambdas.Function) (Environment, error) {
	var e Environment
	var missing, wrong []string
	for _, v := range f.Variables {
		value, _ := lookup(v.Name)
		if value == "" {
			value = v.Default
		}
		if value == "" {
			missing = append(missing, fmt.Sprintf("\n  %s: %s, such as %s", v.Name, v.Doc, v.Example))
			continue
		}
		if err := e.set(v, value); err != nil {
			wrong = append(wrong, fmt.Sprintf("\n  %s: %q %s", v.Name, value, err))
		}
	}
	switch {
	case len(missing) > 0:
		return e, fmt.Errorf("function %s: these variables of its environment are not set:%s",
			f.Name, strings.Join(append(missing, wrong...), ""))
	case len(wrong) > 0:
		return e, fmt.Errorf("function %s: these variables of its environment are invalid:%s",
			f.Name, strings.Join(wrong, ""))
	}
	return e, nil
}

func (e *Environment) set(v lambdas.Variable, value string) (err error) {
	switch v {
	case lambdas.Table:
		e.Table = value
	case lambdas.LakeBucket:
		e.LakeBucket = value
	case lambdas.RawBucket:
		e.RawBucket = value
	case lambdas.RawQueue, lambdas.RawDeadLetters, lambdas.ReportQueue:
		switch v {
		case lambdas.RawQueue:
			e.RawQueue = value
		case lambdas.ReportQueue:
			e.ReportQueue = value
		default:
			e.RawDeadLetters = value
		}
		if u, err := url.Parse(value); err != nil || u.Host == "" {
			return errors.New("is not the URL of a queue")
		}
	case lambdas.Results:
		e.Results = value
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "s3" || u.Host == "" || !strings.HasSuffix(u.Path, "/") {
			return errors.New("is not a folder in S3; write s3://bucket/prefix/")
		}
	case lambdas.Database:
		e.Database = value
	case lambdas.Workgroup, lambdas.ReportsWorkgroup:
		e.Workgroup = value
	case lambdas.ProjectionFrom:
		e.ProjectionFrom, err = strconv.Atoi(value)
		if err != nil || e.ProjectionFrom < 1970 || e.ProjectionFrom > 9999 {
			return errors.New("is not a year from 1970 to 9999")
		}
	case lambdas.HorizonDays:
		e.HorizonDays, err = strconv.Atoi(value)
		if err != nil || e.HorizonDays < 0 || e.HorizonDays > lambdas.LongestHorizonDays {
			return fmt.Errorf("is not a number of days from 0 to %d", lambdas.LongestHorizonDays)
		}
	case lambdas.ScanMegabytes:
		e.ScanMegabytes, err = strconv.Atoi(value)
		if err != nil || e.ScanMegabytes < 0 || e.ScanMegabytes > lambdas.LargestScan {
			return fmt.Errorf("is not a number of megabytes from 0 to %d", lambdas.LargestScan)
		}
	case lambdas.PartFunction:
		e.PartFunction = value
	case lambdas.PartsAtOnce:
		e.PartsAtOnce, err = strconv.Atoi(value)
		if err != nil || e.PartsAtOnce < 0 || e.PartsAtOnce > lambdas.MostPartsAtOnce {
			return fmt.Errorf("is not a number of parts from 0 to %d", lambdas.MostPartsAtOnce)
		}
	case lambdas.Reports:
		e.Reports = value
	case lambdas.QueryTimeout, lambdas.ReportTimeout:
		if e.QueryTimeout, err = time.ParseDuration(value); err != nil || e.QueryTimeout <= 0 {
			return errors.New("is not a duration; write 27s")
		}
	case lambdas.Version:
		e.Version = value
	default:
		panic("function: unknown variable " + v.Name)
	}
	return nil
}

// ResultsFolder returns the bucket and the prefix of Results.
func (e Environment) ResultsFolder() (bucket, prefix string) {
	bucket, prefix, _ = strings.Cut(strings.TrimPrefix(e.Results, "s3://"), "/")
	return bucket, prefix
}
