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
	"time"
	"unicode"
)

const (
	// MaxMembers is the maximum number of members of an archive.
	MaxMembers = 10_000
	// probeBytes is the length of the beginning of an input by which an archive is recognized. It holds the first block
	// of any compression.
	probeBytes = 1 << 20
	// An archive is not read further if its content is longer than bombBytes, and more than bombRatio times as long as
	// what was read of it.
	bombBytes = 1 << 30
	bombRatio = 1000
)

// Archive is a tar archive, perhaps compressed, or a zip archive. Its members are logs. The memory that it needs does
// not depend on the length of the members.
type Archive struct {
	next  func() (Member, error)
	in    *input // of a tar archive
	limit limit
	count int
}

// Member is a file in an archive. It can be read until the next call of Archive.Next.
type Member struct {
	Name     string    // path in the archive, with slashes and without ".."
	Modified time.Time // the last change of the file; zero if the archive does not have it
	io.Reader

	limit *limit // of the archive
}

// OpenArchive opens an archive, which it recognizes by its first bytes. If r is a log, archive is nil, and log has all
// bytes of r. A zip archive that is not a file is not opened: it is refused as a log. The caller closes the archive
// and r.
func OpenArchive(r io.Reader) (archive *Archive, log io.Reader, err error) {
	head, r, err := beginning(r)
	if err != nil {
		return nil, nil, err
	}
	if IsZip(head) {
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

// IsZip reports whether a file with this beginning is a zip archive. Four bytes tell.
func IsZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
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
	in.archive = true
	a := &Archive{in: in, limit: newLimit(in.read.Load)}
	files := tar.NewReader(a.limit.reader(in))
	a.next = func() (Member, error) {
		for {
			header, err := files.Next()
			if err == io.EOF { //nolint:errorlint // a wrapped io.EOF is not the end
				if _, err := io.Copy(io.Discard, a.limit.reader(in)); err != nil { // to the sum of the compressed text
					return Member{}, archiveError(err)
				}
			}
			if err != nil {
				return Member{}, archiveError(err)
			}
			m := Member{Name: header.Name, Modified: header.ModTime, Reader: files}
			switch {
			case isSparse(header):
				m.Reader = &failing{sparseMember()}
			case header.Typeflag != tar.TypeReg:
				continue
			}
			return m, nil
		}
	}
	return a, nil
}

// isSparse reports whether the archive leaves out the holes of a file, in one of the forms of GNU tar.
func isSparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return header.Typeflag == tar.TypeGNUSparse
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
	files, err := zip.NewReader(originAt{file}, size)
	if err != nil {
		return nil, archiveError(err)
	}
	var open io.Closer
	i := -1
	a := &Archive{limit: newLimit(func() int64 { return size })} // members may be at the same place
	a.next = func() (Member, error) {
		if open != nil {
			err := open.Close()
			if open = nil; err != nil {
				return Member{}, archiveError(err)
			}
		}
		for i++; i < len(files.File); i++ {
			f := files.File[i]
			m := Member{Name: f.Name, Modified: f.Modified}
			switch {
			case !f.Mode().IsRegular():
				continue
			case f.Flags&1 != 0:
				m.Reader = &failing{encryptedMember()}
				return m, nil
			}
			r, err := f.Open()
			if err != nil {
				m.Reader = &failing{err}
				return m, nil //nolint:nilerr // reading the member returns it
			}
			open = r
			m.Reader = a.limit.reader(r)
			return m, nil
		}
		return Member{}, io.EOF
	}
	return a, nil
}

// originAt marks the errors of a file as originError.
type originAt struct{ io.ReaderAt }

func (o originAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(p, at)
	if err != nil && err != io.EOF { //nolint:errorlint // a wrapped io.EOF is not the end
		err = &originError{err}
	}
	return n, err
}

// noTime is after the times that archives have for members without one: 1970 in Unix, and 1980 in DOS, in any zone.
var noTime = time.Date(1980, 1, 3, 0, 0, 0, 0, time.UTC)

// Next returns the next member that is a file, or io.EOF. It skips files of the system that made the archive, such as
// .DS_Store.
func (a *Archive) Next() (Member, error) {
	for {
		if a.limit.exceeded() {
			return Member{}, decompressionBomb()
		}
		m, err := a.next()
		if err != nil {
			return Member{}, err
		}
		m.Name, m.limit = memberName(m.Name), &a.limit
		if m.Modified.Before(noTime) {
			m.Modified = time.Time{}
		}
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

// limit bounds the length of the content of an archive: of the archive after its decompression, and of all compressed
// members after theirs.
type limit struct {
	bytes, ratio int64
	read         func() int64 // the length of what was read of the archive
	content      int64
}

func newLimit(read func() int64) limit { return limit{bytes: bombBytes, ratio: bombRatio, read: read} }

// exceeded reports whether the content is so much longer than the archive that it cannot be logs.
func (l *limit) exceeded() bool { return l.content > l.bytes && l.content/l.ratio > l.read() }

// reader returns a reader of a part of the content. It returns an error when the limit is exceeded.
func (l *limit) reader(r io.Reader) io.Reader { return &limited{r, l} }

type limited struct {
	r     io.Reader
	limit *limit
}

func (r *limited) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.limit.content += int64(n); r.limit.exceeded() {
		return n, decompressionBomb()
	}
	return n, err
}
