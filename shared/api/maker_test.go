package api_test

import (
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/report/reporthttp"
)

func init() { api.Maker = reporthttp.Maker{Sender: "Orrery <orrery@localhost>"} }
