package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// lineOf appends the line of a record, which is given as JSON, in a format.
type lineOf func(dst, record []byte) ([]byte, error)

// recordFormat is the format of records in JSON.
const recordFormat = "orrery"

// asRecord is the line of a record in recordFormat.
func asRecord(dst, text []byte) ([]byte, error) { return append(dst, text...), nil }

// textFormat is a format of access logs as servers write them.
type textFormat struct {
	name, format string
	append       func(dst []byte, row *lake.Row) []byte
}

var textFormats = []textFormat{
	{"combined", "combined", appendCombined},
	{
		"a format string of nginx",
		`$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" ` +
			`"$http_user_agent" "$host" $request_length $request_time $upstream_response_time`,
		appendNginx,
	},
}

// importTexts measures the import of a quarter of the records as lines of each format.
func importTexts(ctx context.Context, o Options, temp string, made *Import) error {
	for i, f := range textFormats {
		path := filepath.Join(temp, fmt.Sprintf("%d.log.gz", i))
		if _, err := writeLog(ctx, o, path, quarterOf(o), Day, f.lines()); err != nil {
			return err
		}
		took, err := importOnOneCore(ctx, o, f.format, path, filepath.Join(temp, strconv.Itoa(i)))
		if err != nil {
			return err
		}
		made.Texts = append(made.Texts, TextImport{f.name, f.format, perSecond(quarterOf(o), took)})
	}
	return nil
}

func (f textFormat) lines() lineOf {
	decoder := record.NewDecoder()
	var row lake.Row
	return func(dst, text []byte) ([]byte, error) {
		if _, err := decoder.Decode(text, &row); err != nil {
			return nil, fmt.Errorf("a generated record: %w", err)
		}
		return f.append(dst, &row), nil
	}
}

func appendCombined(dst []byte, row *lake.Row) []byte {
	dst = append(append(dst, word(row.IP)...), " - - ["...)
	dst = time.UnixMilli(row.TsMs).UTC().AppendFormat(dst, "02/Jan/2006:15:04:05 -0700")
	dst = fmt.Appendf(dst, `] "%s %s%s %s" %s %s "%s" "%s"`, word(row.Method), word(row.Path), text(row.Query),
		word(row.Protocol), number(row.Status), number(row.BytesSent), word(row.Referer), word(row.UserAgent))
	return dst
}

func appendNginx(dst []byte, row *lake.Row) []byte {
	return fmt.Appendf(appendCombined(dst, row), ` "%s" %s %s %s`, word(row.Host), number(row.RequestLength),
		seconds(row.TotalUs), seconds(row.OriginUs))
}

// word returns a text, or the dash that logs have for an absent value.
func word(value *string) string {
	if value == nil {
		return "-"
	}
	return *value
}

func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

func number(value *int64) string {
	if value == nil {
		return "0"
	}
	return strconv.FormatInt(*value, 10)
}

// seconds returns microseconds as the seconds of nginx, which have three decimals.
func seconds(us *int64) string {
	if us == nil {
		return "-"
	}
	return strconv.FormatFloat(float64(*us)/1e6, 'f', 3, 64)
}
