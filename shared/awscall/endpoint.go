package awscall

import (
	"context"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// url returns the URL of a request. The rules for endpoints are those of STS, with another first label.
func (s Service) url(ctx context.Context, c aws.Config, options sts.Options, path string) (*url.URL, error) {
	fips := options.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled
	dualStack := options.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled
	base := s.base(ctx, c)
	parameters := sts.EndpointParameters{UseFIPS: &fips, UseDualStack: &dualStack, Endpoint: base}
	if c.Region != "" {
		parameters.Region = &c.Region
	}
	endpoint, err := options.EndpointResolverV2.ResolveEndpoint(ctx, parameters)
	if err != nil {
		return nil, err
	}
	if base == nil {
		label, rest, _ := strings.Cut(endpoint.URI.Host, ".")
		label = s.host + strings.TrimPrefix(label, "sts")
		if fips && s.fipsInGov && !strings.HasSuffix(label, "-fips") {
			label += "-fips"
		}
		endpoint.URI.Host = label + "." + rest
	}
	endpoint.URI.RawPath = smithyhttp.JoinPath(endpoint.URI.EscapedPath(), path)
	endpoint.URI.Path, err = url.PathUnescape(endpoint.URI.RawPath)
	return &endpoint.URI, err
}

// base returns the endpoint that the configuration has instead of that of AWS, or nil. As in clients of the SDK, one
// for all services in the environment goes before one for this service in a file.
func (s Service) base(ctx context.Context, c aws.Config) *string {
	_, forAll := os.LookupEnv("AWS_ENDPOINT_URL")
	_, forThis := os.LookupEnv("AWS_ENDPOINT_URL_" + strings.ToUpper(s.id))
	if forAll && !forThis {
		return c.BaseEndpoint
	}
	for _, source := range c.ConfigSources {
		p, ok := source.(interface {
			GetIgnoreConfiguredEndpoints(context.Context) (bool, bool, error)
		})
		if !ok {
			continue
		}
		if ignore, found, err := p.GetIgnoreConfiguredEndpoints(ctx); found || err != nil {
			if ignore {
				return c.BaseEndpoint
			}
			break
		}
	}
	for _, source := range c.ConfigSources {
		p, ok := source.(interface {
			GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
		})
		if !ok {
			continue
		}
		if value, found, err := p.GetServiceBaseEndpoint(ctx, s.id); err == nil && found {
			return &value
		}
	}
	return c.BaseEndpoint
}
