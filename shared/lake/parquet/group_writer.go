package parquet

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go/bloom"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/orrery/orrery/shared/lake"
)

// bloomBits is the number of bits of a bloom filter for each value: about one lookup in a hundred is a false positive.
const bloomBits = 10

// groupWriter collects row groups, one after the other, column by column.
type groupWriter struct {
	chunks    []*chunk
	workspace workspace
	rows      int64
}

// groupWriters are reused because their columns have tens of megabytes.
var groupWriters = sync.Pool{New: func() any {
	g := &groupWriter{chunks: make([]*chunk, len(leaves))}
	for i := range leaves {
		g.chunks[i] = newChunk(&leaves[i])
	}
	return g
}}

// release returns the group writer to the pool; it must hold no rows.
func (g *groupWriter) release() {
	clear(g.workspace.values[:cap(g.workspace.values)])
	groupWriters.Put(g)
}

// add adds rows, which must fit into the group.
func (g *groupWriter) add(rows []*lake.Row) error {
	g.rows += int64(len(rows))
	for _, c := range g.chunks {
		c.add(rows, &g.workspace)
		if err := g.endFullPage(c); err != nil {
			return err
		}
	}
	return nil
}

func (g *groupWriter) addRaw(rows []Raw) error {
	g.rows += int64(len(rows))
	for _, row := range rows {
		for i := range row {
			g.chunks[row[i].leaf].addRaw(&row[i])
		}
	}
	for _, c := range g.chunks {
		if err := g.endFullPage(c); err != nil {
			return err
		}
	}
	return nil
}

func (g *groupWriter) endFullPage(c *chunk) error {
	if c.pageSize() < pageBytes {
		return nil
	}
	return c.endPage(&g.workspace)
}

// size estimates the memory of the group in bytes.
func (g *groupWriter) size() int {
	n := 0
	for _, c := range g.chunks {
		n += c.size()
	}
	return n
}

// writtenGroup is a row group that has been written, and its page index, which is written later in the object.
type writtenGroup struct {
	group   format.RowGroup
	indexes []format.ColumnIndex
	offsets []format.OffsetIndex
}

// write writes the group and starts the next one.
func (g *groupWriter) write(out *output) (done writtenGroup, err error) {
	done.group = format.RowGroup{
		NumRows: g.rows, FileOffset: out.offset, SortingColumns: []format.SortingColumn{{ColumnIdx: leafTsMs}},
	}
	for _, number := range writingOrder {
		if err := g.writeChunk(out, g.chunks[number]); err != nil {
			return writtenGroup{}, err
		}
	}
	for _, c := range g.chunks {
		if c.leaf.bloom {
			if err := g.writeBloom(out, c); err != nil {
				return writtenGroup{}, err
			}
		}
		done.group.TotalByteSize += c.header.TotalUncompressedSize
		done.group.TotalCompressedSize += c.header.TotalCompressedSize
		done.group.Columns = append(done.group.Columns, format.ColumnChunk{MetaData: c.header})
		done.indexes = append(done.indexes, c.index)
		done.offsets = append(done.offsets, format.OffsetIndex{PageLocations: c.locations})
		c.begin()
	}
	g.rows = 0
	return done, nil
}

// writeChunk writes dictionary and pages of a column.
func (g *groupWriter) writeChunk(out *output, c *chunk) error {
	if err := c.finish(&g.workspace); err != nil {
		return err
	}
	if c.leaf.dictionary {
		c.header.DictionaryPageOffset = out.offset
		if err := c.compressDictionary(&g.workspace); err != nil {
			return err
		}
		if err := out.write(g.workspace.header.Bytes(), g.workspace.compressed); err != nil {
			return err
		}
	}
	c.header.DataPageOffset = out.offset
	for i := range c.locations {
		c.locations[i].Offset += out.offset
	}
	return out.write(c.pages.Bytes())
}

// writeBloom writes the bloom filter of a column.
func (g *groupWriter) writeBloom(out *output, c *chunk) error {
	hashes := c.values.hashes(nil)
	if len(hashes) == 0 {
		return nil
	}
	filter := make(bloom.SplitBlockFilter, bloom.NumSplitBlocksOf(int64(len(hashes)), bloomBits))
	filter.InsertBulk(hashes)
	head := format.BloomFilterHeader{NumBytes: int32(len(filter.Bytes()))}
	head.Algorithm.Value = &format.SplitBlockAlgorithm{}
	head.Hash.Value = &format.XxHash{}
	head.Compression.Value = &format.BloomFilterUncompressed{}
	c.header.BloomFilterOffset = out.offset
	if err := out.encode(&head); err != nil {
		return fmt.Errorf("write bloom filter of %s: %w", c.leaf.path, err)
	}
	if err := out.write(filter.Bytes()); err != nil {
		return err
	}
	c.header.BloomFilterLength = int32(out.offset - c.header.BloomFilterOffset)
	return nil
}

// output counts the bytes written. After an error it writes nothing more, because further bytes would not be at the
// offsets in the footer.
type output struct {
	w        io.Writer
	offset   int64
	failed   error
	buffer   bytes.Buffer
	protocol thrift.CompactProtocol
}

func (o *output) write(parts ...[]byte) error {
	for _, b := range parts {
		if o.failed != nil {
			break
		}
		n, err := o.w.Write(b)
		o.offset += int64(n)
		if err != nil {
			o.failed = fmt.Errorf("write parquet object: %w", err)
		}
	}
	return o.failed
}

// encode writes a part of the format's metadata.
func (o *output) encode(v any) error {
	o.buffer.Reset()
	if err := thrift.NewEncoder(o.protocol.NewWriter(&o.buffer)).Encode(v); err != nil {
		return err
	}
	return o.write(o.buffer.Bytes())
}
