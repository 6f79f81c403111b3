package trino

import (
	"context"
	"errors"
	"net/http"

	"github.com/orrery/orrery/shared/engine"
)

// Result is the result of a statement, read whole: cells as Athena prints them, nil for NULL.
type Result struct {
	Columns []string
	Rows    [][]*string
	Cost    engine.Cost
}

// Read runs any statement. It calls progress with the cost so far, page by page, even when the statement fails. A
// failure that the cluster reports is a *Failure.
func (c *Client) Read(ctx context.Context, sql string, progress func(engine.Cost)) (Result, error) {
	var result Result
	err := c.again(ctx, func() (err error) {
		result, err = c.readOnce(ctx, sql, progress)
		return err
	})
	var told *clusterError
	if errors.As(err, &told) {
		return Result{}, &Failure{Name: told.ErrorName, Type: told.ErrorType, Message: told.Message}
	}
	return result, err
}

func (c *Client) readOnce(ctx context.Context, sql string, progress func(engine.Cost)) (Result, error) {
	s, err := c.begin(ctx, sql)
	if err != nil {
		return Result{}, err
	}
	defer s.end(ctx)
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
