package rollupblob_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/orrery/orrery/shared/blob"
	"github.com/orrery/orrery/shared/blob/blobtest"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/rollup"
	"github.com/orrery/orrery/shared/rollup/rollupblob"
)

// TestDays: the rollups of the latest version of a day are listed, with the names of those before it. A rollup is not
// replaced by another one of the same version.
func TestDays(t *testing.T) {
	bucket := &blobtest.Memory{}
	const day = lake.Day(20_500)
	of := &rollup.Day{Start: day.First().Start() / 1000}
	main := rollup.Subset{Field: "branch", Value: "main"}
	for _, version := range []int64{7, 8, 10, 11} { // the writers of versions 8 and 11 were interrupted
		subset := &rollup.Day{Start: of.Start, Subset: main}
		if err := rollupblob.Write(t.Context(), bucket, version, subset, rollup.Lists{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range []int64{7, 9, 10, 10} {
		if err := rollupblob.Write(t.Context(), bucket, version, of, rollup.Lists{}); err != nil {
			t.Fatal(err)
		}
		of.HashID++
	}
	if err := rollupblob.WriteNone(t.Context(), bucket, 3, day+1); err != nil {
		t.Fatal(err)
	}
	otherName := "lake/_rollups/days/2026-02-30/1.rollup"
	if err := bucket.Put(t.Context(), otherName, bytes.NewReader(nil), blob.Always); err != nil {
		t.Fatal(err)
	}
	days, err := rollupblob.Days(t.Context(), bucket)
	if err != nil || len(days) != 2 || days[day].Version != 10 || len(days[day].Older) != 4 || days[day+1].Info.Size != 0 {
		t.Fatalf("%+v, %v", days, err)
	}
	in, err := blob.Open(t.Context(), bucket, days[day].Info.Name, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	content, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rollup.Read(bytes.NewReader(content), of.Start); err != nil || got.HashID != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	whole, own := days[day].Info, days[day].Subsets[main.ID()]
	if own.Name != "lake/_rollups/days/2026-02-16/00000000000000000010/"+main.ID()+".rollup" {
		t.Errorf("the rollup of a subset is %q", own.Name)
	}
	other := rollup.Subset{Field: "branch"}
	for _, of := range []struct {
		subsets []rollup.Subset
		want    []blob.Info
	}{
		{nil, []blob.Info{whole}},
		{[]rollup.Subset{main}, []blob.Info{whole, own}},
		{[]rollup.Subset{other}, []blob.Info{whole, {}}},
		{[]rollup.Subset{main, other}, []blob.Info{whole, own, {}}},
	} {
		if got := days[day].Of(of.subsets); !slices.Equal(got, of.want) {
			t.Errorf("the rollups for %q are %v, want %v", of.subsets, got, of.want)
		}
		if got := days[day+1].Of(of.subsets); got != nil {
			t.Errorf("a day that was not rolled up has %v", got)
		}
	}
	want := slices.Concat(days[day].Older, []string{days[day].Info.Name, own.Name})
	slices.Sort(want)
	if got := rollupblob.Superseded(days, day+1); !slices.Equal(got, want) {
		t.Errorf("superseded: %q, want %q", got, want)
	}
}

// TestHashKey: a key is made once. One that was damaged is replaced.
func TestHashKey(t *testing.T) {
	bucket := &blobtest.Memory{}
	if _, err := rollupblob.HashKey(t.Context(), bucket); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("no key: %v", err)
	}
	made, err := rollupblob.MakeHashKey(t.Context(), bucket)
	if err != nil || made == (rollup.HashKey{}) {
		t.Fatalf("made %x: %v", made, err)
	}
	if again, err := rollupblob.MakeHashKey(t.Context(), bucket); again != made || err != nil {
		t.Errorf("made %x, then %x: %v", made, again, err)
	}
	if err := bucket.Put(t.Context(), "lake/_rollups/hash-key", bytes.NewReader([]byte("short")), blob.Always); err != nil {
		t.Fatal(err)
	}
	if _, err := rollupblob.HashKey(t.Context(), bucket); !errors.Is(err, rollup.ErrInvalid) {
		t.Errorf("a damaged key: %v", err)
	}
	if other, err := rollupblob.MakeHashKey(t.Context(), bucket); other == made || err != nil {
		t.Errorf("made %x again: %v", other, err)
	}
}
