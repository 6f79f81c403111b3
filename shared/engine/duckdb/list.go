package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/orrery/orrery/shared/query"
	"github.com/orrery/orrery/shared/sqlgen"
)

// lists is the function sqlgen.InListFunction: it tests values by the lists of the queries that are running.
type lists struct {
	mu    sync.RWMutex
	tests map[string]*runningList // by query.InList.Handle
}

// runningList is a test of a list and the number of queries that need it.
type runningList struct {
	test    query.InList
	queries int
}

var errNoList = errors.New("duckdb: no query with this list is running")

// register defines the function in a database.
func (l *lists) register(ctx context.Context, db *sql.DB) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return duckdb.RegisterScalarUDF(conn, sqlgen.InListFunction, l)
}

// Config implements duckdb.ScalarFunc. The function is NULL for a value that is NULL.
func (l *lists) Config() duckdb.ScalarFuncConfig {
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		panic(fmt.Sprintf("duckdb: no type VARCHAR: %v", err))
	}
	boolean, err := duckdb.NewTypeInfo(duckdb.TYPE_BOOLEAN)
	if err != nil {
		panic(fmt.Sprintf("duckdb: no type BOOLEAN: %v", err))
	}
	return duckdb.ScalarFuncConfig{InputTypeInfos: []duckdb.TypeInfo{text, text}, ResultTypeInfo: boolean}
}

// Executor implements duckdb.ScalarFunc.
func (l *lists) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: func(values []driver.Value) (any, error) {
		test, running := l.of(values[1].(string))
		if !running {
			return nil, errNoList
		}
		return test.PassesStored(values[0].(string)), nil
	}}
}

func (l *lists) of(handle string) (query.InList, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	r := l.tests[handle]
	if r == nil {
		return query.InList{}, false
	}
	return r.test, true
}

// use keeps the lists of a query until the query calls done.
func (l *lists) use(q query.Query) (done func()) {
	tests := q.ListTests()
	if len(tests) == 0 {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range tests {
		if l.tests == nil {
			l.tests = map[string]*runningList{}
		}
		if l.tests[t.Handle()] == nil {
			l.tests[t.Handle()] = &runningList{test: t}
		}
		l.tests[t.Handle()].queries++
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, t := range tests {
			if r := l.tests[t.Handle()]; r.queries > 1 {
				r.queries--
			} else {
				delete(l.tests, t.Handle())
			}
		}
	}
}
