package engine

// Place is where a stored record is: a row of an object.
type Place struct {
	Path string // of the object
	Row  int64  // counted from 0 in the order of the object
}
