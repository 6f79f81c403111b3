package runtimeapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/orrery/orrery/scripts/internal/runtimeapi"
)

// TestMain makes this program the function that the tests start. The event decides what it does.
func TestMain(m *testing.M) {
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("BEGIN") == "badly" {
		fmt.Fprintln(os.Stderr, "no table is set")
		os.Exit(4)
	}
	lambda.Start(func(ctx context.Context, do string) (string, error) {
		invocation, _ := lambdacontext.FromContext(ctx)
		deadline, _ := ctx.Deadline()
		switch do {
		case "fail":
			return "", errors.New("wanted failure")
		case "panic":
			panic("wanted panic")
		case "exit":
			os.Exit(3)
		case "wait":
			<-ctx.Done()
			select {}
		case "large":
			return strings.Repeat("a", runtimeapi.MaxAnswer-2), nil
		case "too large":
			return strings.Repeat("a", runtimeapi.MaxAnswer-1), nil
		}
		fmt.Println("asked to", do)
		left := time.Until(deadline).Round(time.Minute)
		return fmt.Sprintf("%s %t %s", do, len(invocation.AwsRequestID) == 36, left), nil
	})
}

func start(t *testing.T, logs *bytes.Buffer, env ...string) *runtimeapi.Process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := runtimeapi.Start(runtimeapi.Options{Bootstrap: program, Env: env, Logs: logs})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestInvoke(t *testing.T) {
	var logs bytes.Buffer
	p := start(t, &logs)
	for _, test := range []struct {
		do     string
		failed bool
		want   string
	}{
		{"echo", false, `"echo true 1m0s"`},
		{"fail", true, `"errorMessage":"wanted failure"`},
		{"again", false, `"again true 1m0s"`},
		{"large", false, `"aaa`},
		{"too large", true, "Function.ResponseSizeTooLarge"},
	} {
		answer, err := p.Invoke(t.Context(), []byte(`"`+test.do+`"`), time.Minute)
		if err != nil || answer.Failed != test.failed || !bytes.Contains(answer.Payload, []byte(test.want)) {
			t.Errorf("%s: failed %t, %.100s, %v", test.do, answer.Failed, answer.Payload, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(logs.String(), "asked to again") {
		t.Errorf("logs %s", logs.String())
	}
}

func TestInvokeWithoutAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		do      string
		env     string
		timeout time.Duration
		want    string
	}{
		"exits":          {"exit", "", time.Minute, "ended before it answered: exit status 3"},
		"does_not_begin": {"echo", "BEGIN=badly", time.Minute, "ended before it answered: exit status 4"},
		"takes_too_long": {"wait", "", 50 * time.Millisecond, "did not answer within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, &bytes.Buffer{}, test.env)
			_, err := p.Invoke(t.Context(), []byte(`"`+test.do+`"`), test.timeout)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v", err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := runtimeapi.Start(runtimeapi.Options{Bootstrap: "/nowhere/bootstrap"}); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestInvokePanic(t *testing.T) {
	p := start(t, &bytes.Buffer{})
	answer, err := p.Invoke(t.Context(), []byte(`"panic"`), time.Minute)
	if err != nil || !answer.Failed || !bytes.Contains(answer.Payload, []byte("wanted panic")) {
		t.Errorf("%s %v", answer.Payload, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
