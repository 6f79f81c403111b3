package trino

import (
	"context"
	"errors"
	"net/http"

	"github.com/orrery/orrery/shared/engine"
)

// Result is the complete result of a statement. Values are strings as Athena prints them; NULL is nil.
type Result struct {
	Columns []string
	Rows    [][]*string
	Cost    engine.Cost
}

// Read runs a statement. It calls progress with the cost so far after each page, and also when the statement fails. An
// error that the cluster reports is a *Failure.
func (c *Client) Read(ctx context.Context, sql string, progress func(engine.Cost)) (Result, error) {
	var result Result
	err := c.retry(ctx, func() (err error) {
		result, err = c.readOnce(ctx, sql, progress)
		return err
	})
	var e *clusterError
	if errors.As(err, &e) {
		return Result{}, &Failure{Name: e.ErrorName, Type: e.ErrorType, Message: e.Message}
	}
	return result, err
}

func (c *Client) readOnce(ctx context.Context, sql string, progress func(engine.Cost)) (Result, error) {
	s, err := c.start(ctx, sql)
	if err != nil {
		return Result{}, err
	}
	defer s.close(ctx)
	defer func() { progress(s.cost()) }()
	var result Result
	for {
		if s.page.Columns != nil && result.Columns == nil {
			for _, column := range s.page.Columns {
				result.Columns = append(result.Columns, column.Name)
			}
		}
		for _, row := range s.page.Data {
			cells, err := texts(row)
			if err != nil {
				return Result{}, err
			}
			result.Rows = append(result.Rows, cells)
		}
		progress(s.cost())
		if s.page.NextURI == "" {
			result.Cost = s.cost()
			return result, nil
		}
		if err := s.read(ctx, http.MethodGet, s.page.NextURI, ""); err != nil {
			return Result{}, err
		}
	}
}

// Failure is the cluster's report of a failed statement.
type Failure struct {
	Name    string // SYNTAX_ERROR
	Type    string // USER_ERROR, INSUFFICIENT_RESOURCES, EXTERNAL, INTERNAL_ERROR
	Message string
}

func (f *Failure) Error() string { return f.Name + ": " + f.Message }
