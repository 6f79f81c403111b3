package delivery

// PublicError is an error whose text readers of runs may see: it has no secrets, and no names of machines and folders.
type PublicError struct{ Text string }

func (e *PublicError) Error() string { return e.Text }

// Reason returns the text.
func (e *PublicError) Reason() string { return e.Text }
