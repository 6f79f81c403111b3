package scan

// hashTable gives each distinct hash a place, as textTable does for texts.
type hashTable struct{ textTable }

// add returns the place of a hash. It adds the hash if it is new.
func (t *hashTable) add(hash uint64) int { return t.textTable.add(textHash{hash: hash}) }

// place returns the place of a hash, or -1.
func (t *hashTable) place(hash uint64) int {
	if t.n == 0 {
		return -1
	}
	return int(t.slot(textHash{hash: hash}).place) - 1
}
