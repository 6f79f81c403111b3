package gen

// The hosts of scenes.
const (
	shop = iota
	bank
	travel
	news
	clinic
	games
	learn
	forum

	api = 2 * len(brands) // from a brand to its API
)

// The crews of scenes.
var (
	botnet     = crew{kind: zombie, each: 25}
	residents  = crew{kind: human, each: 3, rotating: true} // infected computers of people, with their browsers
	proxies    = crew{kind: human, each: 60, networks: 5, rotating: true}
	people     = crew{kind: human, each: 4, rotating: true}
	rack       = crew{kind: zombie, each: 40, subnet: true}
	oneScript  = crew{kind: badBot, agents: badBots, networks: 1}
	oneScanner = crew{kind: badBot, agents: scanners[1:4], networks: 1}
	fewTools   = crew{kind: badBot, each: 200, agents: scanners[:1], networks: 2}
	headless   = crew{
		kind: zombie, each: 30, networks: 4,
		agents: []string{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"HeadlessChrome/124.0.6367.60 Safari/537.36"},
	}
	searchEngine = crew{kind: goodBot, each: 2_000, agents: goodBots[:1], subnet: true}
)

// tenChanges returns changes of the settings every two hours.
func tenChanges() []setting {
	list := make([]setting, 10)
	for i := range list {
		list[i] = setting{begin: 60 + i*120, atHost: true, host: i % 5, perMille: 300}
	}
	return list
}

// The rules that only scenes have.
var (
	searchMonitor = rateRule("rl13", "Searches, on trial", "search", 60, 0)
	probeMonitor  = globalRule("gf16", "Suspicious arguments, on trial", "args", "q", "suspicious", 0)
)

// background is in all scenes and not an attack.
var background = []plan{
	{kind: crawl, share: 700, hosts: []int{shop, bank, travel, news, learn}, crew: searchEngine},
	{
		kind: poll, shape: Pulsed, share: 300, hosts: []int{api + bank}, path: "/api/v1/rates",
		crew: crew{kind: goodBot, agents: goodBots[3:4], networks: 1},
	},
}

// Scenes lists all scenes. Those without attacks have names that begin with "quiet".
var Scenes = []Scene{
	{
		Name: "flood-at-peak",
		Doc:  "A botnet floods the search of a shop for 12 minutes in the evening. The gateway blocks nearly all requests.",
		attacks: []plan{{
			kind: Flood, begin: 18 * 60, minutes: 12, share: 5_000, hosts: []int{shop}, crew: botnet,
			gateway: []verdict{{700, &rateRules[2]}, {260, &globalRules[1]}},
		}},
	},
	{
		Name: "flood-at-night",
		Doc:  "A flood of 20 minutes at night, with less than 0.5 % of the requests of the day.",
		attacks: []plan{{
			kind: Flood, begin: 3*60 + 10, minutes: 20, share: 450, hosts: []int{games}, path: "/", crew: rack,
			gateway: []verdict{{800, &rateRules[1]}, {150, &aclRules[3]}},
		}},
	},
	{
		Name: "flood-rising",
		Doc:  "A flood that grows for two hours. The gateway blocks two thirds of it.",
		attacks: []plan{{
			kind: Flood, shape: Rising, begin: 13 * 60, minutes: 120, share: 6_000, hosts: []int{news}, crew: botnet,
			gateway: []verdict{{400, &rateRules[1]}, {260, &globalRules[1]}},
		}},
	},
	{
		Name: "flood-pulsed",
		Doc:  "Floods of 30 seconds every ten minutes, for an hour and a half.",
		attacks: []plan{{
			kind: Flood, shape: Pulsed, begin: 15 * 60, minutes: 91, share: 2_500, hosts: []int{travel}, crew: botnet,
			gateway: []verdict{{850, &rateRules[1]}},
		}},
	},
	{
		Name: "flood-deep",
		Doc:  "A flood at a single deep path, half an hour long. The gateway blocks half of it.",
		attacks: []plan{{
			kind: Flood, begin: 10*60 + 20, minutes: 30, share: 2_000, hosts: []int{bank},
			path: "/api/v1/reports/2026/export", crew: rack,
			gateway: []verdict{{300, &rateRules[3]}, {200, &dynamicRules[1]}},
		}},
	},
	{
		Name: "flood-one-address",
		Doc:  "One address floods an API for 45 minutes. Half of its requests are blocked.",
		attacks: []plan{{
			kind: Flood, begin: 11*60 + 40, minutes: 45, share: 1_500, hosts: []int{api + news}, path: "/api/v1/session",
			crew: oneScript, gateway: []verdict{{500, &rateRules[1]}},
		}},
	},
	{
		Name: "flood-slows-origin",
		Doc:  "Clients that look like people search so much that the origin becomes slow for others, too. Little is blocked.",
		attacks: []plan{{
			kind: Flood, begin: 16 * 60, minutes: 40, share: 6_000, hosts: []int{learn}, crew: residents,
			gateway: []verdict{{120, &rateRules[2]}}, harm: Slow,
		}},
	},
	{
		Name: "flood-breaks-origin",
		Doc:  "A flood that the gateway does not stop. The origin fails for others, too.",
		attacks: []plan{{
			kind: Flood, begin: 19*60 + 30, minutes: 25, share: 9_000, hosts: []int{forum}, path: "/", crew: botnet,
			gateway: []verdict{{150, &rateRules[1]}}, harm: Failing,
		}},
	},
	{
		Name: "guessing-slow",
		Doc:  "Few addresses guess passwords for nine hours, with 0.4 % of the requests of the day. Nothing stops them.",
		attacks: []plan{{
			kind: Guessing, begin: 8 * 60, minutes: 9 * 60, share: 400, hosts: []int{bank},
			crew:    crew{kind: human, each: 35, networks: 4},
			gateway: []verdict{{20, &rateRules[0]}},
		}},
	},
	{
		Name: "guessing-distributed",
		Doc:  "Many addresses guess about three passwords each. A third of the requests are blocked.",
		attacks: []plan{{
			kind: Guessing, begin: 11 * 60, minutes: 90, share: 4_000, hosts: []int{bank}, crew: residents,
			gateway: []verdict{{330, &dynamicRules[0]}},
		}},
	},
	{
		Name: "guessing-paused",
		Doc:  "Passwords are guessed for ten minutes every half hour, for four hours.",
		attacks: []plan{{
			kind: Guessing, shape: Paused, begin: 12 * 60, minutes: 4 * 60, share: 2_500, hosts: []int{clinic},
			path: "/account/login", crew: proxies,
			gateway: []verdict{{500, &rateRules[0]}, {100, &dynamicRules[0]}},
		}},
	},
	{
		Name: "scraping-one-address",
		Doc:  "One address reads the items of an API one by one, for three hours. 60 % of its requests are blocked.",
		attacks: []plan{{
			kind: Scraping, begin: 9 * 60, minutes: 180, share: 3_000, hosts: []int{api + shop}, path: "/api/v1/items",
			crew:    oneScript,
			gateway: []verdict{{600, &rateRules[1]}},
		}},
	},
	{
		Name: "scraping-challenged",
		Doc:  "Headless browsers scrape a site for two hours. Only challenges stop them.",
		attacks: []plan{{
			kind: Scraping, begin: 14 * 60, minutes: 120, share: 3_000, hosts: []int{travel}, crew: headless,
			gateway: []verdict{{930, &challengeRule}},
		}},
	},
	{
		Name: "scraping-monitored",
		Doc:  "A site is scraped for 45 minutes. The gateway reports it and blocks nothing.",
		attacks: []plan{{
			kind: Scraping, begin: 20 * 60, minutes: 45, share: 2_000, hosts: []int{games}, crew: proxies,
			gateway: []verdict{{880, &searchMonitor}},
		}},
	},
	{
		Name: "scan-faint",
		Doc:  "One address tries paths for six minutes, with 0.3 % of the requests of the day.",
		attacks: []plan{{
			kind: Scan, begin: 17*60 + 5, minutes: 6, share: 300, hosts: []int{clinic}, crew: oneScanner,
			gateway: []verdict{{900, nil}, {250, &dynamicRules[1]}},
		}},
	},
	{
		Name: "scan-two-hosts",
		Doc:  "The same scanners try paths at two hosts at the same time, for 50 minutes.",
		attacks: []plan{{
			kind: Scan, begin: 6*60 + 30, minutes: 50, share: 2_000, hosts: []int{news, forum},
			crew:    crew{kind: badBot, each: 150, agents: scanners[2:4], networks: 2},
			gateway: []verdict{{350, &dynamicRules[1]}, {200, &globalRules[1]}},
		}},
	},
	{
		Name: "injection",
		Doc:  "A few tools try injections for 35 minutes. The content filter blocks them.",
		attacks: []plan{{
			kind: Injection, begin: 21*60 + 15, minutes: 35, share: 1_500, hosts: []int{shop}, crew: fewTools,
			gateway: []verdict{{900, nil}, {60, &globalRules[0]}},
		}},
	},
	{
		Name: "injection-monitored",
		Doc:  "Injections at a path of an API for an hour. A rule reports them, and nothing blocks them.",
		attacks: []plan{{
			kind: Injection, begin: 7 * 60, minutes: 60, share: 1_200, hosts: []int{learn}, path: "/api/v1/session",
			crew:    crew{kind: human, each: 40, networks: 3},
			gateway: []verdict{{950, &probeMonitor}},
		}},
	},
	{
		Name: "edges",
		Doc:  "A flood that starts before the period, and guessing that ends after it.",
		attacks: []plan{
			{
				kind: Flood, begin: -20, minutes: 50, first: true, share: 2_500, hosts: []int{travel}, crew: botnet,
				gateway: []verdict{{900, &rateRules[1]}},
			},
			{
				kind: Guessing, begin: 23*60 + 20, minutes: 120, share: 2_000, hosts: []int{bank}, crew: proxies,
				gateway: []verdict{{600, &rateRules[0]}},
			},
		},
	},
	{
		Name: "campaign",
		Doc:  "At one host: a scan, then injections, then guessing, then a flood, with pauses of a few minutes.",
		attacks: []plan{
			{
				kind: Scan, begin: 14 * 60, minutes: 15, share: 800, hosts: []int{shop}, crew: oneScanner,
				gateway: []verdict{{900, nil}, {200, &dynamicRules[1]}},
			},
			{
				kind: Injection, begin: 14*60 + 22, minutes: 20, share: 700, hosts: []int{shop}, crew: fewTools,
				gateway: []verdict{{850, nil}},
			},
			{
				kind: Guessing, begin: 14*60 + 50, minutes: 30, share: 1_200, hosts: []int{shop}, crew: proxies,
				gateway: []verdict{{550, &rateRules[0]}},
			},
			{
				kind: Flood, begin: 15*60 + 26, minutes: 10, share: 2_500, hosts: []int{shop}, crew: botnet,
				gateway: []verdict{{800, &rateRules[2]}},
			},
		},
	},
	{
		Name: "two-at-once",
		Doc:  "Guessing at a bank while another group floods a shop.",
		attacks: []plan{
			{
				kind: Guessing, begin: 10 * 60, minutes: 75, share: 2_000, hosts: []int{bank}, crew: residents,
				gateway: []verdict{{450, &dynamicRules[0]}},
			},
			{
				kind: Flood, begin: 10*60 + 15, minutes: 20, share: 4_000, hosts: []int{shop}, crew: botnet,
				gateway: []verdict{{750, &rateRules[2]}, {200, &globalRules[1]}},
			},
		},
	},
	{Name: "quiet", Doc: "Only ordinary traffic."},
	{
		Name:  "quiet-release",
		Doc:   "After a release, all hosts have three times their traffic for an hour.",
		surge: &surge{begin: 14 * 60, minutes: 60, percent: 300},
	},
	{
		Name: "quiet-crowd",
		Doc:  "Many people visit one host for 40 minutes, because of an article.",
		quiet: []plan{
			{kind: visit, begin: 12*60 + 30, minutes: 40, share: 3_000, hosts: []int{news}, path: "/story/lighthouse", crew: people},
		},
	},
	{
		Name:  "quiet-logins",
		Doc:   "All users have to log in again, and some mistype their passwords.",
		quiet: []plan{{kind: login, begin: 8 * 60, minutes: 60, share: 2_500, hosts: []int{clinic}, crew: people}},
	},
	{
		Name: "quiet-crawler",
		Doc:  "A search engine reads one host for five hours.",
		quiet: []plan{
			{kind: crawl, begin: 4 * 60, minutes: 5 * 60, share: 4_000, hosts: []int{learn}, crew: searchEngine},
		},
	},
	{
		Name:   "quiet-outage",
		Doc:    "The origin of a host fails for 30 minutes, without an attack.",
		outage: &outage{begin: 16 * 60, minutes: 30, host: shop, failing: true},
	},
	{
		Name: "quiet-missing-file",
		Doc:  "After a release, the pages of a host refer to a file that does not exist, for 50 minutes.",
		quiet: []plan{
			{
				kind: missing, begin: 9*60 + 40, minutes: 50, share: 1_500, hosts: []int{games},
				path: "/static/app-7f3c.js", crew: people,
			},
		},
	},
	{
		Name:     "quiet-settings",
		Doc:      "After a change of the settings, a rule against scripts blocks most of their requests.",
		settings: []setting{{begin: 11 * 60, by: &aclRules[2], clients: badBot, perMille: 800}},
	},
	{
		Name:     "quiet-changes",
		Doc:      "Ten changes of the settings. Each makes a rule block more requests at one host.",
		settings: tenChanges(),
	},
}
