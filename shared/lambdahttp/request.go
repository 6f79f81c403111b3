package lambdahttp

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
)

// requestOf returns the request that the client sent, as far as the event has it, with the context ctx.
func requestOf(ctx context.Context, event events.APIGatewayProxyRequest, id string) (*http.Request, error) {
	query := queryOf(event)
	event.Path = escapePath(ownPath(event))
	// The library would write the parameters in random order.
	event.MultiValueQueryStringParameters, event.QueryStringParameters = nil, nil
	if len(event.MultiValueHeaders) == 0 {
		event.MultiValueHeaders = nil // it would hide event.Headers
	}
	var accessor core.RequestAccessor
	r, err := accessor.EventToRequestWithContext(ctx, event)
	if err != nil {
		return nil, err
	}
	r.URL.RawQuery = query
	r.RequestURI = r.URL.RequestURI()
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	r.Header.Del("Host") // as net/http does
	r.Header.Set("X-Request-Id", id)
	return r, nil
}

// queryOf returns a query with the parameters of the event. The gateway has decoded them, so queryOf escapes them
// again: filters contain characters such as & ; + % and braces. Values of one name keep their order. Names are sorted,
// because events do not have their order.
func queryOf(event events.APIGatewayProxyRequest) string {
	values := event.MultiValueQueryStringParameters
	if len(values) == 0 {
		values = map[string][]string{}
		for name, value := range event.QueryStringParameters {
			values[name] = []string{value}
		}
	}
	var query []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			query = append(query, url.QueryEscape(name)+"="+url.QueryEscape(value))
		}
	}
	return strings.Join(query, "&")
}
