package awscall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// request is a POST request.
type request struct {
	path    string // escaped
	header  http.Header
	body    []byte
	errorOf func(answer) error // returns the error of an answer with another status than 2xx
}

// answer is what a service answers.
type answer struct {
	header http.Header
	body   []byte
}

// send sends a request as a client of the SDK does: signed, and again after errors that can pass.
//
// The options are those of the SDK's client of STS, because package config has that client anyway. They are the same
// for all services, but for the endpoint.
func (s Service) send(ctx context.Context, c aws.Config, operation string, r request) (answer, error) {
	options := sts.NewFromConfig(c).Options()
	target, err := s.url(ctx, c, options, r.path)
	if err != nil {
		return answer{}, s.failed(operation, fmt.Errorf("failed to resolve service endpoint, %w", err))
	}
	stack := middleware.NewStack(operation, smithyhttp.NewStackRequest)
	agent := awsmiddleware.NewRequestUserAgent()
	if options.AppID != "" {
		agent.AddSDKAgentKey(awsmiddleware.ApplicationIdentifier, options.AppID)
	}
	attempts := retry.NewAttemptMiddleware(options.Retryer, smithyhttp.RequestCloner, func(a *retry.Attempt) {
		a.LogAttempts = options.ClientLogMode.IsRetries()
		a.DisableClockSkewCorrection = options.DisableClockSkewCorrection
	})
	steps := []error{
		stack.Serialize.Add(write(target, r), middleware.After),

		stack.Build.Add(agent, middleware.After),
		stack.Build.Add(&awsmiddleware.ClientRequestID{}, middleware.After),
		stack.Build.Add(&awsmiddleware.RecursionDetection{}, middleware.After),

		stack.Finalize.Add(attempts, middleware.After),
		stack.Finalize.Add(&v4.ComputePayloadSHA256{}, middleware.After),
		stack.Finalize.Add(s.sign(options), middleware.After),

		stack.Deserialize.Add(&awsmiddleware.AddRawResponse{}, middleware.After),
		stack.Deserialize.Add(&awshttp.ResponseErrorWrapper{}, middleware.After),
		stack.Deserialize.Add(&awsmiddleware.RequestIDRetriever{}, middleware.After),
		stack.Deserialize.Add(read(r), middleware.After),
		stack.Deserialize.Add(&awsmiddleware.RecordResponseTiming{
			DisableClockSkewCorrection: options.DisableClockSkewCorrection,
		}, middleware.After),
		stack.Deserialize.Add(&smithyhttp.RequestResponseLogger{
			LogRequest:          options.ClientLogMode.IsRequest(),
			LogRequestWithBody:  options.ClientLogMode.IsRequestWithBody(),
			LogResponse:         options.ClientLogMode.IsResponse(),
			LogResponseWithBody: options.ClientLogMode.IsResponseWithBody(),
		}, middleware.After),
	}
	if err := errors.Join(steps...); err != nil {
		return answer{}, err
	}
	ctx = middleware.SetLogger(middleware.ClearStackValues(ctx), options.Logger)
	ctx = awsmiddleware.SetOperationName(awsmiddleware.SetServiceID(ctx, s.id), operation)
	handler := middleware.DecorateHandler(smithyhttp.NewClientHandlerWithOptions(options.HTTPClient), stack)
	got, _, err := handler.Handle(ctx, nil)
	if err != nil {
		return answer{}, s.failed(operation, err)
	}
	return got.(answer), nil
}

// write writes the request.
func write(target *url.URL, r request) middleware.SerializeMiddleware {
	return middleware.SerializeMiddlewareFunc("OperationSerializer", func(
		ctx context.Context, in middleware.SerializeInput, next middleware.SerializeHandler,
	) (out middleware.SerializeOutput, metadata middleware.Metadata, err error) {
		to, err := in.Request.(*smithyhttp.Request).SetStream(bytes.NewReader(r.body))
		if err != nil {
			return out, metadata, &smithy.SerializationError{Err: err}
		}
		to.Method, to.URL = http.MethodPost, target
		for name, values := range r.header {
			to.Header[name] = values
		}
		in.Request = to
		return next.HandleSerialize(ctx, in)
	})
}

// sign signs each attempt. Without credentials, it signs none.
func (s Service) sign(options sts.Options) middleware.FinalizeMiddleware {
	return middleware.FinalizeMiddlewareFunc("Signing", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
		var properties smithy.Properties
		smithyhttp.SetSigV4SigningName(&properties, s.signing)
		smithyhttp.SetSigV4SigningRegion(&properties, options.Region)
		scheme := options.AuthSchemes[0] // version 4 of signatures, the only one of STS
		if credentials := scheme.IdentityResolver(options); credentials != nil {
			identity, err := credentials.GetIdentity(ctx, properties)
			if err != nil {
				return out, metadata, fmt.Errorf("get identity: %w", err)
			}
			err = scheme.Signer().SignRequest(ctx, in.Request.(*smithyhttp.Request), identity, properties)
			if err != nil {
				return out, metadata, fmt.Errorf("sign request: %w", err)
			}
		}
		return next.HandleFinalize(ctx, in)
	})
}

// read reads the answer.
func read(r request) middleware.DeserializeMiddleware {
	return middleware.DeserializeMiddlewareFunc("OperationDeserializer", func(
		ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
	) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
		out, metadata, err = next.HandleDeserialize(ctx, in)
		response, ok := out.RawResponse.(*smithyhttp.Response)
		if !ok {
			return out, metadata, err
		}
		defer func() { smithyhttp.CloseResponseBody(ctx, response, false, err) }()
		if err != nil {
			return out, metadata, err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			err = fmt.Errorf("failed to decode response body, %w", err)
			return out, metadata, &smithy.DeserializationError{Err: err}
		}
		got := answer{response.Header, body}
		if response.StatusCode < 200 || response.StatusCode >= 300 {
			return out, metadata, r.errorOf(got)
		}
		out.Result = got
		return out, metadata, nil
	})
}
