package scheduled

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/orrery/orrery/scripts/orrery/internal/terminal"
	"github.com/orrery/orrery/shared/report/definition"
	"github.com/orrery/orrery/shared/report/destination"
)

// PrintReach prints what the receivers of a report are in the settings of a data folder. The API does not have this,
// because addresses of machines and folders are the operator's.
func PrintReach(out io.Writer, data string, d definition.Definition) error {
	settings, err := destination.Read(data, os.LookupEnv)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, to := range d.Deliver {
		if to.To != "" {
			fmt.Fprintf(w, "reaches\t%s: %s\n", to.To, reachOf(settings, to.To))
		}
		for _, address := range to.Mail {
			fmt.Fprintf(w, "reaches\t%s: %s\n", address, reachOfMail(settings.Mail, address))
		}
	}
	return w.Flush()
}

func reachOf(settings destination.Settings, name string) string {
	if to, ok := settings.Destinations[name]; ok {
		return terminal.OneLine(to.String())
	}
	return "nobody, because " + destination.FileName + " does not have it any more"
}

func reachOfMail(m *destination.Mail, address string) string {
	if m == nil {
		return "nobody, because " + destination.FileName + " has no mail"
	}
	if domain, ok := definition.DomainOf(address, m.Domains); !ok {
		return "nobody, because " + destination.FileName + " does not allow mail to " + domain + " any more"
	}
	if m.SES {
		return "by Amazon SES"
	}
	return "by the mail server " + terminal.OneLine(m.Server)
}
