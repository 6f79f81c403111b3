package scan

import (
	"crypto/rand"
	"hash/maphash"
	"math/bits"

	"github.com/orrery/orrery/shared/lake/parquet"
	"github.com/orrery/orrery/shared/rollup"
)

// textHash stands for a text: 96 bits of a hash with a secret key, so that clients cannot choose texts that collide.
type textHash struct {
	hash  uint64
	check uint32
}

const textHashBytes = 16

// ownKey is the key of the hashes of parts and rollups that belong to no folder.
var ownKey = func() (key rollup.HashKey) {
	rand.Read(key[:])
	return key
}()

// processHash is a hash for this process only, several times faster than the one with a key.
func processHash(text []byte) uint64 { return maphash.Bytes(processSeed, text) }

var processSeed = maphash.MakeSeed()

// chooseHash chooses the hash of the texts of an answer: only answers from rollups need the one with the key.
func (r *run) chooseHash(rolledUp bool) {
	if !rolledUp && r.hash == nil {
		r.hash = processHash
	}
}

// hashID tells the hash from others.
func (r *run) hashID() uint64 {
	if r.hash != nil {
		return 0
	}
	return r.key.ID()
}

func (r *run) textHash(text []byte) textHash {
	if r.hash != nil {
		return textHash{r.hash(text), parquet.Hash(text)}
	}
	h := r.key.Hash(text)
	return textHash{h.First, h.Check}
}

// textTable gives each distinct text a place. Places count from 0.
type textTable struct {
	slots []textSlot // open addressing with linear probing
	n     int
}

type textSlot struct {
	hash  uint64
	check uint32
	place int32 // plus one; 0: empty
}

// add returns the place of a text. It adds the text if it is new.
func (t *textTable) add(text textHash) int {
	if 2*t.n >= len(t.slots) {
		t.grow(len(t.slots))
	}
	slot := t.slot(text)
	if slot.place == 0 {
		t.n++
		*slot = textSlot{text.hash, text.check, int32(t.n)}
	}
	return int(slot.place) - 1
}

// grow makes room for so many texts.
func (t *textTable) grow(texts int) {
	old := t.slots
	t.slots = make([]textSlot, max(64, 2<<bits.Len(uint(max(0, texts-1)))))
	for _, slot := range old {
		if slot.place != 0 {
			*t.slot(textHash{slot.hash, slot.check}) = slot
		}
	}
}

// slot returns the slot that has the text, or the empty one it would go to.
func (t *textTable) slot(text textHash) *textSlot {
	mask := uint64(len(t.slots) - 1)
	for i := text.hash & mask; ; i = (i + 1) & mask {
		if slot := &t.slots[i]; slot.place == 0 || slot.hash == text.hash && slot.check == text.check {
			return slot
		}
	}
}

func (t *textTable) bytes() int64 { return int64(len(t.slots)) * slotBytes }
