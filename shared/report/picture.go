package report

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
)

// The picture of the chart has two panels, each with its own scale: requests above blocked requests. It is shown at half
// its size. The lower panel is left out if no request has a decision.
const (
	pictureWidth = 1200
	panelHeight  = 130
	panelGap     = 20
)

// Indexes of the colours of the picture.
const (
	ground uint8 = iota
	panel
	requestsColour
	blockedColour
	beforeColour
)

var palette = color.Palette{
	ground:         color.RGBA{0xff, 0xff, 0xff, 0xff},
	panel:          color.RGBA{0xf4, 0xf6, 0xf8, 0xff},
	requestsColour: color.RGBA{0x00, 0x72, 0xb2, 0xff},
	blockedColour:  color.RGBA{0xb8, 0x41, 0x0a, 0xff},
	beforeColour:   color.RGBA{0x6b, 0x76, 0x80, 0xff},
}

// Picture returns the chart as a PNG, for mail. It has no text: the mail has the numbers beside it.
func (c Chart) Picture() []byte {
	img := image.NewPaletted(image.Rect(0, 0, pictureWidth, c.pictureHeight()), palette)
	for i, s := range c.series() {
		top := i * (panelHeight + panelGap)
		fill(img, panel, 0, top, pictureWidth, top+panelHeight)
		drawSeries(img, c.Bars, s, requestsColour+uint8(i), top)
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, img); err != nil {
		panic("report: the picture: " + err.Error()) // of a size that PNG has, in memory
	}
	return b.Bytes()
}

func (c Chart) pictureHeight() int {
	n := len(c.series())
	return n*panelHeight + (n-1)*panelGap
}

func fill(img draw.Image, index uint8, x0, y0, x1, y1 int) {
	draw.Draw(img, image.Rect(x0, y0, x1, y1), image.NewUniform(palette[index]), image.Point{}, draw.Src)
}

// drawSeries draws the bars of a series, and the previous period as a line of steps.
func drawSeries(img draw.Image, bars []Bar, s series, index uint8, top int) {
	most := s.most(bars)
	if most == 0 {
		return
	}
	grid := 1 // of all ends; twice as wide for many bars, so that the picture stays small
	if len(bars) > pictureWidth/4 {
		grid = 2
	}
	snapped := func(n int) int { return n / grid * grid }
	height := func(n int64) int { return snapped(int(float64(n) / float64(most) * (panelHeight - 4))) }
	bottom := top + panelHeight
	lastY := -1
	for i, bar := range bars {
		from, to := snapped(pictureWidth*i/len(bars)), snapped(pictureWidth*(i+1)/len(bars))
		gap := (to - from) / 10
		if n := s.number(bar); n > 0 {
			fill(img, index, from+gap, bottom-max(height(n), 2), max(to-gap, from+gap+grid), bottom)
		}
		n := s.before(bar)
		if n == nil {
			continue
		}
		const thick = 4
		y := bottom - height(*n) - thick
		fill(img, beforeColour, from, y, to, y+thick)
		if lastY >= 0 && grid == 1 { // between many bars, the steps would hide them
			fill(img, beforeColour, from-thick/2, min(y, lastY), from+thick/2, max(y, lastY)+thick)
		}
		lastY = y
	}
}
