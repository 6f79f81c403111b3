package ingest

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
)

const (
	// MaxMembers is the maximum number of members of an archive.
	MaxMembers = 10_000
	// probeBytes is the length of the beginning of an input by which an archive is recognized. It holds the first block
	// of any compression.
	probeBytes = 1 << 20
	// An archive is refused if its content is longer than bombBytes, and more than bombRatio times as long as what was
	// read of it.
	bombBytes = 1 << 30
	bombRatio = 1000
)

// Archive is a tar archive, perhaps compressed, or a zip archive. Its members are logs. The memory that it needs does
// not depend on the length of the members.
type Archive struct {
	next  func() (Member, error)
	in    *input // of a tar archive
	count int
}

// Member is a file in an archive. It can be read until the next call of Archive.Next.
type Member struct {
	Name string // path in the archive, with slashes and without ".."
	io.Reader
}

// OpenArchive opens an archive, which it recognizes by its first bytes. If r is a log, archive is nil, and log has all
// bytes of r. A zip archive that is not a file is not opened: it is refused as a log. The caller closes the archive
// and r.
func OpenArchive(r io.Reader) (archive *Archive, log io.Reader, err error) {
	head, r, err := beginning(r)
	if err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) {
		file, ok := r.(interface {
			io.ReaderAt
			io.Seeker
		})
		if !ok {
			return nil, r, nil
		}
		archive, err = openZip(file)
		return archive, nil, err
	}
	probe, err := openInput(bytes.NewReader(head))
	if err != nil {
		return nil, r, nil //nolint:nilerr // OpenLog returns the error
	}
	first, _ := probe.text.Peek(tarBlock) // a shorter text is no archive
	if err := probe.Close(); err != nil || !isTar(first) {
		return nil, r, nil //nolint:nilerr // OpenLog returns the error
	}
	archive, err = openTar(r)
	return archive, nil, err
}

// beginning returns the first bytes of a reader, and a reader that has all of its bytes: r itself if it can seek.
func beginning(r io.Reader) (head []byte, all io.Reader, err error) {
	if s, ok := r.(io.Seeker); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			head, err = io.ReadAll(io.LimitReader(r, probeBytes))
			if err == nil {
				_, err = s.Seek(0, io.SeekStart)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("read: %w", err)
			}
			return head, r, nil
		}
	}
	buffered := bufio.NewReaderSize(r, probeBytes)
	head, err = buffered.Peek(probeBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("read: %w", err)
	}
	return head, buffered, nil
}

// openTar opens a tar archive.
func openTar(r io.Reader) (*Archive, error) {
	in, err := openInput(r)
	if err != nil {
		return nil, err
	}
	files := tar.NewReader(&guard{r: in, read: in.read.Load})
	members := &guard{r: files, read: in.read.Load} // a sparse file is longer than its bytes in the archive
	next := func() (Member, error) {
		for {
			header, err := files.Next()
			if err != nil {
				return Member{}, archiveError(err)
			}
			if header.Typeflag == tar.TypeReg {
				return Member{header.Name, members}, nil
			}
		}
	}
	return &Archive{next: next, in: in}, nil
}

// openZip opens a zip archive.
func openZip(file interface {
	io.ReaderAt
	io.Seeker
}) (*Archive, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	files, err := zip.NewReader(file, size)
	if err != nil {
		return nil, archiveError(err)
	}
	var open io.Closer
	i := -1
	next := func() (Member, error) {
		if open != nil {
			err := open.Close()
			if open = nil; err != nil {
				return Member{}, archiveError(err)
			}
		}
		for i++; i < len(files.File); i++ {
			f := files.File[i]
			switch {
			case !f.Mode().IsRegular():
				continue
			case f.Flags&1 != 0:
				return Member{f.Name, &failing{encryptedMember()}}, nil
			}
			r, err := f.Open()
			if err != nil {
				return Member{f.Name, &failing{archiveError(err)}}, nil
			}
			open = r
			return Member{f.Name, &guard{r: r, read: func() int64 { return int64(f.CompressedSize64) }}}, nil
		}
		return Member{}, io.EOF
	}
	return &Archive{next: next}, nil
}

// Next returns the next member that is a file, or io.EOF. It skips files of the system that made the archive, such as
// .DS_Store.
func (a *Archive) Next() (Member, error) {
	for {
		m, err := a.next()
		if err != nil {
			return Member{}, err
		}
		m.Name = memberName(m.Name)
		if base := path.Base(m.Name); strings.HasPrefix(base, ".") || strings.HasPrefix(m.Name, "__MACOSX/") {
			continue
		}
		if a.count++; a.count > MaxMembers {
			return Member{}, tooManyMembers()
		}
		m.Reader = &memberReader{m.Reader}
		return m, nil
	}
}

// Close releases the resources of the archive.
func (a *Archive) Close() error {
	if a.in == nil {
		return nil
	}
	return a.in.Close()
}

// memberName returns the path of a member: with slashes, relative, without "..", and without control characters.
func memberName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case unicode.IsControl(r):
			return unicode.ReplacementChar
		}
		return r
	}, name)
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// memberReader reads a member. The readers of the text would take an io.ErrUnexpectedEOF for the end of the text.
type memberReader struct{ r io.Reader }

func (m *memberReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	return n, archiveError(err)
}

// failing is a reader that returns an error.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// guard reads the content of an archive. It returns an error if the content is so much longer than the archive that it
// cannot be a log.
type guard struct {
	r       io.Reader
	read    func() int64 // the length of what was read of the archive
	content int64
}

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	g.content += int64(n)
	if g.content > bombBytes && g.content/bombRatio > g.read() {
		return n, decompressionBomb()
	}
	return n, err
}
