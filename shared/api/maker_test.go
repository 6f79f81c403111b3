package api_test

import (
	"github.com/orrery/orrery/shared/api"
	"github.com/orrery/orrery/shared/api/reportapi"
)

func init() { api.Maker = reportapi.Maker{Sender: "Orrery <orrery@localhost>"} }
