package scan

// hashTable gives each distinct hash a place. Places count from 0.
type hashTable struct {
	slots []hashSlot // open addressing with linear probing
	n     int
}

type hashSlot struct {
	hash  uint64
	place int32 // plus one; 0: empty
}

// add returns the place of a hash. It adds the hash if it is new.
func (t *hashTable) add(hash uint64) int {
	if 2*t.n >= len(t.slots) {
		old := t.slots
		t.slots = make([]hashSlot, max(64, 2*len(old)))
		for _, slot := range old {
			if slot.place != 0 {
				t.slots[t.slot(slot.hash)] = slot
			}
		}
	}
	slot := &t.slots[t.slot(hash)]
	if slot.place == 0 {
		t.n++
		*slot = hashSlot{hash, int32(t.n)}
	}
	return int(slot.place) - 1
}

// place returns the place of a hash, or -1.
func (t *hashTable) place(hash uint64) int {
	if t.n == 0 {
		return -1
	}
	return int(t.slots[t.slot(hash)].place) - 1
}

// slot returns the slot that has the hash, or the empty one it would go to.
func (t *hashTable) slot(hash uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i].place != 0 && t.slots[i].hash != hash {
		i = (i + 1) & mask
	}
	return i
}

func (t *hashTable) bytes() int64 { return int64(len(t.slots)) * slotBytes }
