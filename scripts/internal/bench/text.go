package bench

import (
	"context"
	"encoding/json"
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
	{"caddy", "caddy", appendCaddy},
	{
		"other JSON by --map",
		`map:["timestamp=at","ip=client.ip","method=http.method","target=http.uri","host=http.host",` +
			`"user_agent=client.agent","bytes_sent=size","request_time=duration_ms/1000"]`,
		appendMapped,
	},
}

// importTexts measures the import of a quarter of the records as lines of each format.
func importTexts(ctx context.Context, o Options, temp string, made *Import) error {
	made.Texts = nil // an older benchmark may have measured fewer formats
	for i, f := range textFormats {
		path := filepath.Join(temp, fmt.Sprintf("%d.log.gz", i))
		if _, err := writeLog(ctx, o, path, o.records(quarterOf(o), Day), f.lines()); err != nil {
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

func appendCaddy(dst []byte, row *lake.Row) []byte {
	return fmt.Appendf(dst, `{"level":"info","ts":%d.%03d,"logger":"http.log.access","msg":"handled request","request":{`+
		`"remote_ip":%s,"remote_port":"443","client_ip":%[3]s,"proto":%s,"method":%s,"host":%s,"uri":%s,"headers":{`+
		`"User-Agent":[%s],"Referer":[%s],"Accept":["*/*"]}},"bytes_read":%s,"user_id":"","duration":%s,"size":%s,`+
		`"status":%s,"resp_headers":{"Content-Type":["text/html"]}}`,
		row.TsMs/1000, row.TsMs%1000, quoted(word(row.IP)), quoted(word(row.Protocol)), quoted(word(row.Method)),
		quoted(word(row.Host)), quoted(word(row.Path)+text(row.Query)), quoted(word(row.UserAgent)),
		quoted(word(row.Referer)), number(row.RequestLength), fraction(row.TotalUs), number(row.BytesSent),
		number(row.Status))
}

func appendMapped(dst []byte, row *lake.Row) []byte {
	return fmt.Appendf(dst, `{"at":%q,"service":"edge","client":{"ip":%s,"agent":%s},`+
		`"http":{"method":%s,"host":%s,"uri":%s},"status":%s,"size":%s,"duration_ms":%s,"trace":"%016x"}`,
		time.UnixMilli(row.TsMs).UTC().Format(time.RFC3339Nano), quoted(word(row.IP)), quoted(word(row.UserAgent)),
		quoted(word(row.Method)), quoted(word(row.Host)), quoted(word(row.Path)+text(row.Query)), number(row.Status),
		number(row.BytesSent), fraction(row.TotalUs), uint64(row.TsMs)*0x9E3779B97F4A7C15)
}

// quoted returns a text as a string in JSON.
func quoted(value string) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string always has a form in JSON
	}
	return string(text)
}

// fraction returns microseconds as seconds, which are 0 if they are not known.
func fraction(us *int64) string {
	if us == nil {
		return "0"
	}
	return seconds(us)
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
