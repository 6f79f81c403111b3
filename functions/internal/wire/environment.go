package wire

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/orrery/orrery/shared/lambdas"
)

// Lookup reads one variable of the environment: os.LookupEnv.
type Lookup func(name string) (value string, set bool)

// environment is what the variables say. What a function does not need is zero.
type environment struct {
	table, lakeBucket, rawBucket string
	results                      string // s3://bucket/prefix/
	database, workgroup          string
	projectionFrom               int // year
	queryTimeout                 time.Duration
	version                      string
}

// read reads the variables of a function. The error names everything that is missing or wrong at once.
func (lookup Lookup) read(f lambdas.Function) (environment, error) {
	var e environment
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
		return e, fmt.Errorf("function %s: these variables of its environment are not set:%s", f.Name, strings.Join(append(missing, wrong...), ""))
	case len(wrong) > 0:
		return e, fmt.Errorf("function %s: these variables of its environment make no sense:%s", f.Name, strings.Join(wrong, ""))
	}
	return e, nil
}

func (e *environment) set(v lambdas.Variable, value string) (err error) {
	switch v {
	case lambdas.Table:
		e.table = value
	case lambdas.LakeBucket:
		e.lakeBucket = value
	case lambdas.RawBucket:
		e.rawBucket = value
	case lambdas.Results:
		e.results = value
		if u, err := url.Parse(value); err != nil || u.Scheme != "s3" || u.Host == "" || !strings.HasSuffix(u.Path, "/") {
			return errors.New("is not a place in S3; write s3://bucket/prefix/")
		}
	case lambdas.Database:
		e.database = value
	case lambdas.Workgroup:
		e.workgroup = value
	case lambdas.ProjectionFrom:
		if e.projectionFrom, err = strconv.Atoi(value); err != nil || e.projectionFrom < 1970 || e.projectionFrom > 9999 {
			return errors.New("is not a year from 1970 on")
		}
	case lambdas.QueryTimeout:
		if e.queryTimeout, err = time.ParseDuration(value); err != nil || e.queryTimeout <= 0 {
			return errors.New("is not a time; write 27s")
		}
	case lambdas.Version:
		e.version = value
	default:
		panic("wire: nothing reads " + v.Name)
	}
	return nil
}
