package scan

// hashTable gives each distinct hash a place, as textTable does for texts. It is fast for hashes that it does not have.
type hashTable struct {
	textTable
	met [1 << (filterBits - 6)]uint64 // a bit for the first bits of each hash
}

const filterBits = 15

// bitOf returns the word and the bit of a hash in met.
func bitOf(hash uint64) (word, bit uint64) {
	first := hash >> (64 - filterBits)
	return first / 64, 1 << (first % 64)
}

// add returns the place of a hash. It adds the hash if it is new.
func (t *hashTable) add(hash uint64) int {
	word, bit := bitOf(hash)
	t.met[word] |= bit
	return t.textTable.add(textHash{hash: hash})
}

// place returns the place of a hash, or -1.
func (t *hashTable) place(hash uint64) int {
	if word, bit := bitOf(hash); t.met[word]&bit == 0 {
		return -1
	}
	return int(t.slot(textHash{hash: hash}).place) - 1
}
