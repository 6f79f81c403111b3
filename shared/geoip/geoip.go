// Package geoip completes records with the place and the network of the client, from databases in the format of
// MaxMind.
package geoip

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/orrery/orrery/shared/country"
	"github.com/orrery/orrery/shared/fault"
	"github.com/orrery/orrery/shared/lake"
	"github.com/orrery/orrery/shared/record"
)

// Databases are databases that are asked one after the other, such as one of cities and one of autonomous systems.
// Several goroutines may use them at once.
type Databases struct{ list []database }

type database struct {
	file string
	*maxminddb.Reader
}

// entry is the entry of a database about a network. A database has some of these values.
type entry struct {
	Country      place   `maxminddb:"country"`
	Subdivisions []place `maxminddb:"subdivisions"`
	City         place   `maxminddb:"city"`
	Number       uint32  `maxminddb:"autonomous_system_number"`
	Organization string  `maxminddb:"autonomous_system_organization"`
}

// place has the names of a place by language.
type place struct {
	Code  string            `maxminddb:"iso_code"`
	Names map[string]string `maxminddb:"names"`
}

// name returns the English name of a place, or its code, or "".
func (p place) name() string {
	if name := p.Names["en"]; name != "" {
		return name
	}
	return p.Code
}

// country returns the name of a country in a database. If the database has a code, country returns the name that logs
// use for the code, because the names in databases differ from version to version.
func (p place) country() string {
	if name := country.Name(p.Code); name != p.Code {
		return name
	}
	return p.name()
}

// Open opens the databases in files. An error of kind fault.Invalid means that a file is not a database.
func Open(files []string) (*Databases, error) {
	d := &Databases{}
	for _, file := range files {
		reader, err := maxminddb.Open(file)
		if err != nil {
			var invalid maxminddb.InvalidDatabaseError
			if errors.As(err, &invalid) {
				err = fault.Wrap(fault.Invalid, err, "%s is not a database of MaxMind (.mmdb)", file)
			}
			return nil, errors.Join(fmt.Errorf("open database of places: %w", err), d.Close())
		}
		d.list = append(d.list, database{file, reader})
	}
	return d, nil
}

// Close closes the databases.
func (d *Databases) Close() error {
	var failed error
	for _, database := range d.list {
		failed = errors.Join(failed, database.Close())
	}
	return failed
}

// Complete sets the fields country, geo_region, asn and organization and the entry geo_city of proxy if the record
// lacks them and a database has them.
func (d *Databases) Complete(row *lake.Row) error {
	if row.IP == nil {
		return nil
	}
	ip, err := netip.ParseAddr(*row.IP)
	if err != nil {
		return nil //nolint:nilerr // a host name, or unix:
	}
	ip = ip.WithZone("").Unmap()
	for _, database := range d.list {
		if ip.Is6() && database.Metadata.IPVersion == 4 {
			continue
		}
		var e entry
		if err := database.Lookup(ip).Decode(&e); err != nil {
			return fmt.Errorf("look up %s in %s: %w", ip, database.file, err)
		}
		if err := e.complete(row); err != nil {
			return err
		}
	}
	return nil
}

// complete sets the values that the record lacks.
func (e *entry) complete(row *lake.Row) error {
	values := map[string]string{"country": e.Country.country(), "organization": e.Organization}
	if len(e.Subdivisions) > 0 {
		values["geo_region"] = e.Subdivisions[0].name()
	}
	if e.Number > 0 {
		values["asn"] = "AS" + strconv.FormatUint(uint64(e.Number), 10)
	}
	for field, value := range values {
		if value == "" {
			continue
		}
		if err := record.SetDefault(row, field, value); err != nil {
			return err
		}
	}
	if city := e.City.name(); city != "" {
		setCity(row, city)
	}
	return nil
}

// cityEntry is the entry of proxy with the city.
const cityEntry = "geo_city"

func setCity(row *lake.Row, city string) {
	for _, p := range row.Proxy {
		if p.Name == cityEntry {
			return
		}
	}
	row.Proxy = append(row.Proxy[:len(row.Proxy):len(row.Proxy)], lake.Pair{Name: cityEntry, Value: city})
}
