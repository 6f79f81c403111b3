package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// maxRows is the largest number of rows of a page, including the header.
const maxRows = 1_000

// results returns a page of rows. The first row of the first page is the header.
func (s *Server) results(ctx context.Context, in request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.find(in)
	if err != nil {
		return nil, err
	}
	if x.state != succeeded {
		return nil, invalid("Query has not yet finished. Current state: %s", x.state)
	}
	if err := s.look(ctx, x); err != nil {
		return nil, err
	}
	from, err := offsetOf(in.NextToken, x)
	size := in.MaxResults
	if size == 0 {
		size = maxRows
	}
	if err != nil || size < 1 || size > maxRows {
		return nil, invalid("the token or MaxResults is not valid")
	}
	all := len(x.result.Rows) + 1
	to := min(from+size, all)
	var page []any
	for i := from; i < to; i++ {
		if i == 0 {
			page = append(page, rowOf(header(x.result)))
			continue
		}
		page = append(page, rowOf(x.result.Rows[i-1]))
	}
	out := map[string]any{
		"UpdateCount": 0,
		"ResultSet": map[string]any{
			"Rows":              page,
			"ResultSetMetadata": map[string]any{"ColumnInfo": columnInfo(x.result)},
		},
	}
	if to < all {
		out["NextToken"] = fmt.Sprintf("%s/%d", x.id, to)
	}
	return out, nil
}

// offsetOf returns the first row of the page that a token refers to. The token consists of the execution's id and the
// row, counted from the header, which is row 0.
func offsetOf(token string, x *execution) (int, error) {
	if token == "" {
		return 0, nil
	}
	id, number, _ := strings.Cut(token, "/")
	n, err := strconv.Atoi(number)
	if err != nil || id != x.id || n < 1 || n > len(x.result.Rows) {
		return 0, fmt.Errorf("%q is not a token of this result", token)
	}
	return n, nil
}

func header(r Result) []*string {
	names := make([]*string, len(r.Columns))
	for i := range r.Columns {
		names[i] = &r.Columns[i].Name
	}
	return names
}

func rowOf(cells []*string) any {
	data := make([]map[string]string, len(cells))
	for i, cell := range cells {
		data[i] = map[string]string{}
		if cell != nil {
			data[i]["VarCharValue"] = *cell
		}
	}
	return map[string]any{"Data": data}
}

func columnInfo(r Result) []any {
	list := make([]any, len(r.Columns))
	for i, c := range r.Columns {
		list[i] = map[string]any{
			"CatalogName": "hive", "SchemaName": "", "TableName": "", "Name": c.Name, "Label": c.Name, "Type": c.Type,
			"Precision": 0, "Scale": 0, "Nullable": "UNKNOWN", "CaseSensitive": false,
		}
	}
	return list
}

// look returns an error if the object with the result was removed, as by a rule of its bucket.
func (s *Server) look(ctx context.Context, x *execution) error {
	if s.S3 == nil || x.reused {
		return nil
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(x.location(), "s3://"), "/")
	_, err := s.S3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	var missing *types.NotFound
	if errors.As(err, &missing) {
		return invalid("Could not find results")
	}
	return err
}

// location returns the URL of the object with the result.
func (x *execution) location() string {
	return strings.TrimSuffix(x.workgroup.Output, "/") + "/" + x.id + ".csv"
}

// write writes the result to the workgroup's output location. Like Athena, it also writes a metadata file.
func (s *Server) write(ctx context.Context, x *execution, r Result) error {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(x.location(), "s3://"), "/")
	if !ok {
		return &Failure{Category: 2, Type: 1000, Reason: "INVALID_OUTPUT_LOCATION: " + x.location()}
	}
	for _, object := range []struct {
		key  string
		body []byte
	}{{key, csvOf(r)}, {key + ".metadata", nil}} {
		in := &s3.PutObjectInput{Bucket: &bucket, Key: &object.key, Body: bytes.NewReader(object.body)}
		if _, err := s.S3.PutObject(ctx, in); err != nil {
			return fmt.Errorf("write %s: %w", object.key, err)
		}
	}
	return nil
}

// csvOf returns a result in Athena's CSV format: every value in double quotes, NULL as an empty field without quotes.
func csvOf(r Result) []byte {
	var b bytes.Buffer
	line := func(cells []*string) {
		for i, cell := range cells {
			if i > 0 {
				b.WriteByte(',')
			}
			if cell != nil {
				b.WriteString(`"` + strings.ReplaceAll(*cell, `"`, `""`) + `"`)
			}
		}
		b.WriteByte('\n')
	}
	line(header(r))
	for _, row := range r.Rows {
		line(row)
	}
	return b.Bytes()
}
