package delivery

// PartialError is the error of a mail that some of its addresses have, and others do not have yet.
type PartialError struct {
	Left []string // the addresses that can be tried again
	Err  error    // why they do not have it
}

func (e *PartialError) Error() string { return e.Err.Error() }
func (e *PartialError) Unwrap() error { return e.Err }
