package deliveryaws

import (
	"context"
	"fmt"
	"time"

	"github.com/orrery/orrery/shared/awscall"
)

// parameterAge is how long a parameter is kept.
const parameterAge = 5 * time.Minute

type parameter struct {
	value string
	read  time.Time
}

// Parameter returns the decrypted value of a parameter.
func (s *Services) Parameter(ctx context.Context, name string, fresh bool) (string, error) {
	if value, ok := s.kept(name); ok && !fresh {
		return value, nil
	}
	c, err := s.load(ctx)
	if err != nil {
		return "", err
	}
	in := map[string]any{"Name": name, "WithDecryption": true}
	var out struct{ Parameter struct{ Value *string } }
	if err := awscall.JSON(ctx, c, awscall.SSM, "GetParameter", in, &out); err != nil {
		return "", failed("read the parameter "+name, err)
	}
	if out.Parameter.Value == nil {
		return "", fmt.Errorf("the parameter %s has no value", name)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.parameters[name] = parameter{*out.Parameter.Value, s.now()}
	return *out.Parameter.Value, nil
}

func (s *Services) kept(name string) (string, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	p, ok := s.parameters[name]
	return p.value, ok && s.now().Sub(p.read) < parameterAge
}
