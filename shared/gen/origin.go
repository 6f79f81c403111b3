package gen

// The distributions of the response time of an origin, in microseconds, the size of a response, in bytes, and the time
// that the gateway takes, in microseconds.
var (
	originTime = curve{
		{0, 2_800}, {100, 15_700}, {250, 27_100}, {500, 49_800}, {750, 91_300}, {900, 158_000}, {950, 219_000},
		{990, 404_000}, {999, 803_000}, {1000, 2_000_000},
	}
	responseSize = curve{
		{0, 180}, {60, 700}, {125, 960}, {250, 1_540}, {400, 2_440}, {500, 3_280}, {600, 4_430}, {750, 7_460},
		{875, 13_600}, {940, 22_200}, {970, 34_000}, {990, 61_000}, {1000, 190_000},
	}
	serviceTime = curve{{0, 80}, {500, 390}, {900, 760}, {990, 1_400}, {1000, 9_000}}
)

// Limits of the gateway.
const (
	originTimeout = 30_000_000 // time after which it stops waiting for an origin, in microseconds
	maxAttempts   = 3          // number of origins that it tries
)

// deliver sets the results of the decision: status, sizes, times, and the attempts at origins.
func (g *Generator) deliver(r *request) {
	s := &g.random
	r.length = s.between(300, 1_800)
	r.svcUs = serviceTime.draw(s)
	if r.rule != nil {
		r.status = r.rule.status
		r.bytesSent = s.between(180, 240)
		return
	}
	r.bytesSent = responseSize.draw(s)
	g.tryOrigins(r)
	for _, a := range r.attempts {
		r.originUs += a.us
	}
	r.status = r.attempts[len(r.attempts)-1].status
	switch {
	case r.status >= 500:
		r.bytesSent = s.between(300, 360)
	case r.status == 499 || r.status == 304 || r.method == "HEAD":
		r.bytesSent = s.between(120, 160)
	}
}

func (g *Generator) tryOrigins(r *request) {
	s := &g.random
	addr := r.host%6*10 + s.below(3)
	in := g.times.incidentAt(r.ms, r.host)
	for try := range maxAttempts {
		a := attempt{addr: addr + try, us: originTime.draw(s), status: g.originStatus(r)}
		switch {
		case in != nil && in.failing && s.oneIn(3), s.oneIn(220):
			a.status = 502
			if s.oneIn(4) {
				a.status, a.us = 504, originTimeout
			}
		case in != nil && !in.failing:
			a.us *= 12
		}
		r.attempts = append(r.attempts, a)
		if a.status != 502 && a.status != 504 || s.oneIn(3) {
			return
		}
	}
}

// originStatus returns the status of a healthy origin.
func (g *Generator) originStatus(r *request) int {
	s := &g.random
	if r.flow != nil {
		if status := g.attackStatus(r); status > 0 {
			return status
		}
	}
	v := s.below(1000)
	switch {
	case r.burst != nil && r.burst.kind == stuffing && v < 985:
		return 401
	case r.payload != nil && v < 700:
		return 404
	}
	switch {
	case v < 30:
		return 304
	case v < 80:
		return 404
	case v < 105:
		return 301
	case v < 120:
		return 302
	case v < 128:
		return 403
	case v < 134:
		return 500
	case v < 136:
		return 503
	case v < 140:
		return 499 // the client closed the connection
	case v < 146:
		return 206
	case v < 155 && r.method == "POST":
		return 201
	case v < 158:
		return 400
	}
	return 200
}
