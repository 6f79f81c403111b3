package publicnet

import (
	"net/netip"
	"testing"
)

func TestPublicAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"1.1.1.1": true, "54.93.12.7": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true,
		"172.32.0.0": true, "192.167.255.255": true, "198.17.255.255": true, "223.255.255.255": true,
		"2606:4700::1111": true, "2a05:d014::1": true, "::ffff:1.1.1.1": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "10.255.255.255": false, "100.64.0.0": false,
		"100.127.255.255": false, "127.0.0.1": false, "127.255.255.255": false, "169.254.169.254": false, "172.16.0.0": false,
		"172.31.255.255": false, "192.0.0.1": false, "192.0.2.1": false, "192.168.1.1": false, "198.18.0.1": false,
		"198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.255.255.255": false,
		"240.0.0.1": false, "255.255.255.255": false,

		"::": false, "::1": false, "::10.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:127.0.0.1": false,
		"::ffff:169.254.169.254": false, "64:ff9b::1.1.1.1": false, "64:ff9b::169.254.169.254": false, "64:ff9b:1::1": false,
		"100::1": false, "2001::1": false, "2001:db8::1": false, "2002:7f00:1::": false, "3fff::1": false, "fc00::1": false,
		"fd00:ec2::254": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false,
	} {
		a := netip.MustParseAddr(address)
		if IsPublic(a) != want {
			t.Errorf("%s: got %v, want %v", address, !want, want)
		}
		err := (Network{}).requirePublic("tcp", netip.AddrPortFrom(a, 443).String(), nil)
		if (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
