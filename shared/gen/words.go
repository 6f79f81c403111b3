package gen

// The vocabulary. All texts are ASCII without quotes and backslashes, so they need no escaping in JSON.

var pathWords = []string{
	"account", "api", "app", "assets", "auth", "basket", "blog", "book", "brand", "cart", "catalog", "category",
	"checkout", "city", "client", "collection", "color", "config", "content", "coupon", "customer", "dashboard", "data",
	"delivery", "detail", "device", "docs", "download", "edit", "event", "export", "faq", "feed", "file", "filter",
	"form", "gallery", "gift", "group", "guide", "help", "history", "home", "image", "index", "info", "invoice", "item",
	"job", "language", "list", "live", "locale", "map", "media", "member", "menu", "message", "mobile", "news", "note",
	"offer", "order", "page", "partner", "payment", "photo", "plan", "post", "price", "print", "product", "profile",
	"project", "promo", "public", "query", "quote", "rate", "region", "report", "review", "sale", "search", "section",
	"service", "session", "settings", "shop", "size", "sort", "status", "stock", "store", "support", "tag", "team",
	"ticket", "topic", "track", "update", "upload", "user", "video", "view", "widget", "wishlist", "zone",
}

// frontPages lists the most popular paths. Attacks request loginPath and searchPath.
var frontPages = []string{
	"/", loginPath, searchPath, "/cart", "/api/v1/items", "/favicon.ico", "/static/app.js", "/static/site.css",
	"/checkout", "/account", "/robots.txt", "/api/v1/session",
}

const (
	loginPath  = "/login"
	searchPath = "/search"
)

var brands = [8]string{"shop", "bank", "travel", "news", "clinic", "games", "learn", "forum"}

// subdomains lists the subdomains of each brand. The first is the plain name.
var subdomains = [5]string{"", "www.", "api.", "m.", "static."}

type country struct {
	name, code, tag string
	lat, long       int // degrees
}

var countries = []country{
	{"United States", "US", "united-states", 38, -97},
	{"Germany", "DE", "germany", 51, 10},
	{"France", "FR", "france", 46, 2},
	{"United Kingdom", "GB", "united-kingdom", 54, -2},
	{"India", "IN", "india", 21, 78},
	{"Brazil", "BR", "brazil", -10, -55},
	{"Netherlands", "NL", "netherlands", 52, 5},
	{"China", "CN", "china", 35, 105},
	{"Japan", "JP", "japan", 36, 138},
	{"Canada", "CA", "canada", 56, -106},
	{"Poland", "PL", "poland", 52, 19},
	{"Spain", "ES", "spain", 40, -4},
	{"Italy", "IT", "italy", 42, 12},
	{"Russia", "RU", "russia", 60, 100},
	{"Turkey", "TR", "turkey", 39, 35},
	{"Mexico", "MX", "mexico", 23, -102},
	{"Indonesia", "ID", "indonesia", -5, 120},
	{"Vietnam", "VN", "vietnam", 16, 106},
	{"Ukraine", "UA", "ukraine", 49, 32},
	{"Australia", "AU", "australia", -25, 134},
	{"Sweden", "SE", "sweden", 62, 15},
	{"Switzerland", "CH", "switzerland", 47, 8},
	{"Austria", "AT", "austria", 47, 13},
	{"Belgium", "BE", "belgium", 51, 4},
	{"Israel", "IL", "israel", 31, 35},
	{"Singapore", "SG", "singapore", 1, 104},
	{"South Korea", "KR", "south-korea", 36, 128},
	{"Thailand", "TH", "thailand", 15, 101},
	{"Argentina", "AR", "argentina", -34, -64},
	{"Chile", "CL", "chile", -30, -71},
	{"Portugal", "PT", "portugal", 39, -8},
	{"Czechia", "CZ", "czechia", 50, 15},
	{"Denmark", "DK", "denmark", 56, 10},
	{"Norway", "NO", "norway", 62, 10},
	{"Finland", "FI", "finland", 64, 26},
	{"Ireland", "IE", "ireland", 53, -8},
	{"Greece", "GR", "greece", 39, 22},
	{"Hungary", "HU", "hungary", 47, 20},
	{"Romania", "RO", "romania", 46, 25},
	{"Bulgaria", "BG", "bulgaria", 43, 25},
	{"Serbia", "RS", "serbia", 44, 21},
	{"Croatia", "HR", "croatia", 45, 16},
	{"Slovakia", "SK", "slovakia", 48, 19},
	{"Slovenia", "SI", "slovenia", 46, 15},
	{"Lithuania", "LT", "lithuania", 55, 24},
	{"Latvia", "LV", "latvia", 57, 25},
	{"Estonia", "EE", "estonia", 59, 26},
	{"Iceland", "IS", "iceland", 65, -18},
	{"Luxembourg", "LU", "luxembourg", 50, 6},
	{"South Africa", "ZA", "south-africa", -29, 24},
	{"Egypt", "EG", "egypt", 27, 30},
	{"Morocco", "MA", "morocco", 32, -5},
	{"Nigeria", "NG", "nigeria", 10, 8},
	{"Kenya", "KE", "kenya", 1, 38},
	{"Ghana", "GH", "ghana", 8, -2},
	{"Tunisia", "TN", "tunisia", 34, 9},
	{"Saudi Arabia", "SA", "saudi-arabia", 25, 45},
	{"United Arab Emirates", "AE", "united-arab-emirates", 24, 54},
	{"Qatar", "QA", "qatar", 25, 51},
	{"Jordan", "JO", "jordan", 31, 36},
	{"Pakistan", "PK", "pakistan", 30, 70},
	{"Bangladesh", "BD", "bangladesh", 24, 90},
	{"Sri Lanka", "LK", "sri-lanka", 7, 81},
	{"Nepal", "NP", "nepal", 28, 84},
	{"Malaysia", "MY", "malaysia", 3, 113},
	{"Philippines", "PH", "philippines", 13, 122},
	{"Taiwan", "TW", "taiwan", 24, 121},
	{"Hong Kong", "HK", "hong-kong", 22, 114},
	{"New Zealand", "NZ", "new-zealand", -41, 174},
	{"Kazakhstan", "KZ", "kazakhstan", 48, 68},
	{"Georgia", "GE", "georgia", 42, 43},
	{"Armenia", "AM", "armenia", 40, 45},
	{"Colombia", "CO", "colombia", 4, -72},
	{"Peru", "PE", "peru", -10, -76},
	{"Ecuador", "EC", "ecuador", -2, -78},
	{"Uruguay", "UY", "uruguay", -33, -56},
	{"Venezuela", "VE", "venezuela", 8, -66},
	{"Costa Rica", "CR", "costa-rica", 10, -84},
	{"Panama", "PA", "panama", 9, -80},
	{"Guatemala", "GT", "guatemala", 15, -90},
	{"Dominican Republic", "DO", "dominican-republic", 19, -71},
	{"Jamaica", "JM", "jamaica", 18, -77},
}

var networkNames = []string{
	"Harbour", "Northgate", "Bluefield", "Cedar", "Summit", "Riverside", "Granite", "Meridian", "Aurora", "Falcon",
	"Juniper Hill", "Lakeview", "Maple", "Orchard", "Pinewood", "Quarry", "Redstone", "Silverline", "Tidewater",
	"Uplands", "Valley", "Westbrook", "Amber", "Birch", "Copper", "Delta", "Ember", "Fjord", "Glacier", "Heather",
	"Island", "Jade", "Krill", "Lantern", "Moorland",
}

// networkTypes lists the types of networks: first networks of people, then, from firstHosting on, networks of servers.
var networkTypes = []string{"Telecom", "Broadband", "Mobile", "Cable", "Hosting", "Cloud", "Datacenter", "Networks"}

const (
	mobileNetwork = 2
	firstHosting  = 4
)

var goodBots = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
	"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
	"Mozilla/5.0 (compatible; UptimeMonitor/3.2; +https://status.example/bot)",
	"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
}

var badBots = []string{
	"python-requests/2.31.0", "curl/8.4.0", "Go-http-client/1.1", "Scrapy/2.11.0 (+https://scrapy.org)",
	"okhttp/4.12.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
		"HeadlessChrome/119.0.6045.105 Safari/537.36",
	"Java/17.0.9", "Wget/1.21.4", "libwww-perl/6.67", "aiohttp/3.9.1",
}

var scanners = []string{
	"sqlmap/1.7.11#stable (https://sqlmap.org)", "Mozilla/5.00 (Nikto/2.5.0) (Evasions:None) (Test:Port Check)",
	"Nuclei - Open-source project (github.com/projectdiscovery/nuclei)", "gobuster/3.6", "ZmEu",
}

var languages = []string{
	"en-US,en;q=0.9", "de-DE,de;q=0.9,en;q=0.8", "fr-FR,fr;q=0.9,en;q=0.8", "es-ES,es;q=0.9,en;q=0.8", "ja-JP,ja;q=0.9",
	"pt-BR,pt;q=0.9,en;q=0.7",
}
