package report

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/orrery/orrery/shared/testkit/goldentest"
)

// manyBars returns a chart of n bars, and as many of a previous period.
func manyBars(n int, number func(i int) int64) Chart {
	c := Chart{Step: string(hours)}
	for i := range n {
		before, blockedBefore := number(i), number(i)
		c.Bars = append(c.Bars, Bar{
			Label: fmt.Sprint(i), Requests: 1 + number(i), Blocked: 1 + number(i),
			RequestsBefore: &before, BlockedBefore: &blockedBefore,
		})
	}
	return c
}

// noise returns random numbers, because pictures of them are the largest.
func noise() func(int) int64 {
	random := rand.New(rand.NewPCG(1, 2))
	return func(int) int64 { return random.Int64N(1_000_000) }
}

// days24 returns the traffic of days of 24 hours, with a little noise.
func days24() func(int) int64 {
	random := rand.New(rand.NewPCG(1, 2))
	return func(i int) int64 {
		return int64(1000*(1.2-math.Cos(float64(i)*2*math.Pi/24))) + random.Int64N(300)
	}
}

// The number of bars of a month by hours and by segments of 15 minutes.
const monthOfHours, monthOfQuarters = 31 * 24, 31 * 24 * 4

func TestPictureGoldens(t *testing.T) {
	for name, c := range map[string]Chart{
		"week": reportOf(t, ordinary).Chart, "empty": emptyReport(t).Chart,
		"month-of-hours": manyBars(monthOfHours, days24()),
	} {
		t.Run(name, func(t *testing.T) {
			goldentest.ComparePicture(t, filepath.Join("testdata", name+".png"), c.Picture())
		})
	}
}

// TestPicturesOfManyBars: a picture of many bars is small, and the bars of both series are seen beside the lines of the
// previous period.
func TestPicturesOfManyBars(t *testing.T) {
	for _, n := range []int{1, 7, 24, 31, 49, 93, 115, monthOfHours, monthOfQuarters} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			file := manyBars(n, noise()).Picture()
			if len(file) > 10_000 {
				t.Errorf("the picture has %d bytes", len(file))
			}
			picture, err := png.Decode(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			columns := map[int]int{} // of the panels, in which a bar is seen
			for top := range 2 {
				for x := range pictureWidth {
					for y := range panelHeight {
						if picture.At(x, top*(panelHeight+panelGap)+y) == palette[int(requestsColour)+top] {
							columns[top]++
							break
						}
					}
				}
			}
			for top, seen := range columns {
				if seen < pictureWidth*3/5 {
					t.Errorf("bars are seen in %d columns of panel %d", seen, top)
				}
			}
		})
	}
}
