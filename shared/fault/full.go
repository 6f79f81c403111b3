package fault

import (
	"errors"
	"syscall"
)

// IsFull reports whether there was no space to write: err is of kind Full, or the operating system reports a full disk
// or an exhausted quota.
func IsFull(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == Full || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
