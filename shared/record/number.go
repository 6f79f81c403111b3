package record

import "math"

// micros is the number of decimals of a duration in seconds: durations are stored in whole microseconds.
const micros = 6

// parseScaled parses a JSON number as a whole number of units of 10^-scale: parseScaled("1.25", 6) is 1250000. exact is
// whether no digits were lost by rounding; ok is whether the result fits into 64 bits.
func parseScaled(number []byte, scale int) (v int64, exact, ok bool) {
	var mantissa uint64
	digits, exponent := 0, scale
	lost, negative, fraction := false, false, false
	i := 0
	if number[0] == '-' {
		negative = true
		i++
	}
scan:
	for ; i < len(number); i++ {
		switch c := number[i]; {
		case c == '.':
			fraction = true
		case c|0x20 == 'e':
			exponent += exponentOf(number[i+1:])
			break scan
		case digits == 19: // further digits only determine whether the result is exact
			lost = lost || c != '0'
			if !fraction {
				exponent++
			}
		default:
			mantissa = mantissa*10 + uint64(c-'0')
			if mantissa != 0 {
				digits++
			}
			if fraction {
				exponent--
			}
		}
	}
	if mantissa == 0 {
		return 0, !lost, true
	}
	for ; exponent > 0; exponent-- {
		if mantissa > math.MaxInt64/10 {
			return 0, false, false
		}
		mantissa *= 10
	}
	if exponent < 0 {
		var rest bool
		mantissa, rest = dropDigits(mantissa, -exponent)
		lost = lost || rest
	}
	switch {
	case negative && mantissa <= -math.MinInt64:
		return -int64(mantissa), !lost, true
	case !negative && mantissa <= math.MaxInt64:
		return int64(mantissa), !lost, true
	}
	return 0, false, false
}

// dropDigits removes the last n digits of m and rounds half up. lossy is whether one of the digits was not zero.
func dropDigits(m uint64, n int) (rounded uint64, lossy bool) {
	if n > 19 {
		return 0, true
	}
	rest, last := false, uint64(0)
	for ; n > 0; n-- {
		rest = rest || last != 0
		m, last = m/10, m%10
	}
	rest = rest || last != 0
	if last >= 5 {
		m++
	}
	return m, rest
}

// exponentOf parses the exponent after the e of a number. It is limited to 32 bits, which makes no difference.
func exponentOf(b []byte) int {
	negative, n := false, 0
	for _, c := range b {
		switch c {
		case '-':
			negative = true
		case '+':
		default:
			n = min(n*10+int(c-'0'), math.MaxInt32)
		}
	}
	if negative {
		return -n
	}
	return n
}
