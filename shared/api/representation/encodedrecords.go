package representation

import (
	"runtime"
	"sync"
)

// encodedRecords is records in their layout. Goroutines encode blocks of them, because this takes most of the time of
// an answer with many records.
type encodedRecords struct {
	found   Records
	layouts sync.Pool // of type layout
	blocks  chan chan *block
	stopped chan struct{}

	current *block
	at      int // index in current of the next record
}

// block is consecutive records in their layout.
type block struct {
	text   []byte
	ends   []int // of the records in text
	cause  any   // of a panic
	record []byte
}

// blockBytes is about the number of bytes of a block, unless it has a single record.
const blockBytes = 64 << 10

// usedBlocks holds blocks for reuse.
var usedBlocks = sync.Pool{New: func() any { return new(block) }}

// layOut begins to encode records. The caller must call stop.
func layOut(newLayout func() layout, found Records) *encodedRecords {
	l := &encodedRecords{
		found:   found,
		layouts: sync.Pool{New: func() any { return newLayout() }},
		blocks:  make(chan chan *block, runtime.GOMAXPROCS(0)),
		stopped: make(chan struct{}),
		current: new(block),
	}
	go l.encode()
	return l
}

// encode starts a goroutine for each block, as long as the channel has room.
func (l *encodedRecords) encode() {
	defer close(l.blocks)
	for end, first := 0, 0; first < l.found.Len(); first = end {
		encoded := make(chan *block, 1)
		select {
		case l.blocks <- encoded:
		case <-l.stopped:
			return
		}
		end = l.blockEnd(first)
		go func() { encoded <- l.encodeBlock(first, end) }()
	}
}

// blockEnd returns the end of the block that begins with a record.
func (l *encodedRecords) blockEnd(first int) int {
	end, size := first+1, l.found.Size(first)
	for ; end < l.found.Len(); end++ {
		if size += l.found.Size(end); size > blockBytes {
			break
		}
	}
	return end
}

func (l *encodedRecords) encodeBlock(first, end int) (b *block) {
	b = usedBlocks.Get().(*block)
	b.text, b.ends = b.text[:0], b.ends[:0]
	defer func() { b.cause = recover() }()
	as := l.layouts.Get().(layout)
	defer l.layouts.Put(as)
	for i := first; i < end; i++ {
		b.record = l.found.AppendJSON(b.record[:0], i)
		b.text = append(b.text, as.result(b.record, i == 0)...)
		b.ends = append(b.ends, len(b.text))
	}
	return b
}

// next returns the next record, which is valid until the next call. It must not be called after the last one.
func (l *encodedRecords) next() []byte {
	if l.at == len(l.current.ends) {
		if cap(l.current.text)+cap(l.current.record) <= 8*blockBytes {
			usedBlocks.Put(l.current)
		}
		l.current, l.at = <-<-l.blocks, 0
		if l.current.cause != nil {
			panic(l.current.cause)
		}
	}
	from := 0
	if l.at > 0 {
		from = l.current.ends[l.at-1]
	}
	l.at++
	return l.current.text[from:l.current.ends[l.at-1]]
}

// stop ends the encoding. Goroutines that encode a block complete it.
func (l *encodedRecords) stop() { close(l.stopped) }
