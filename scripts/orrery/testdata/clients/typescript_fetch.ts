// Calls a client that openapi-generator has made, at the address of the first argument.

import { Configuration, DataApi, FiltersApi, LogsFormatEnum, ResponseError, ServiceApi } from "./client/index";

const period = "timestamp between 2026-01-01 and 2026-01-02";
const configuration = new Configuration({ basePath: process.argv[2] });
const data = new DataApi(configuration);

async function main() {
	const status = await new ServiceApi(configuration).status();
	console.log("status", status.data.records);

	const timeline = (await data.timeline({ filters: period, segment: "1h" })).data.results;
	console.log("timeline", timeline.length, timeline.reduce((sum, s) => sum + s.numOfRequests, 0));

	const stats = (await data.stats({ filters: period, segment: "1h" })).data.results;
	console.log("stats", stats.length, stats.reduce((sum, s) => sum + s.sumOfBandwidth, 0));

	const [first] = (await data.topx({ filters: period, limit: 1 })).data.results;
	console.log("topx", first!.label, first!.key, first!.numOfRequests);

	const logs = await data.logs({ filters: period, limit: 2, fields: "status,method,blocked" });
	for (const record of logs.data.results) {
		console.log("logs", record.status, record.method, record.blocked);
	}

	const lines = { filters: period, limit: 2, fields: "status,method", format: LogsFormatEnum.Csv };
	const text = await (await data.logsRaw(lines)).raw.text();
	console.log("export", text.trim().split(/\s+/).join(" "));

	try {
		await data.topx({ filters: period + ", hots=x" });
	} catch (error) {
		const { response } = error as ResponseError;
		const [mistake] = (await response.json()).errors;
		console.log("error", response.status, mistake.code, mistake.suggestion);
	}

	const saved = await new FiltersApi(configuration).filterGetRaw({ config: "prod", name: "errors" });
	const filter = await saved.value();
	console.log("filter", filter.filters, saved.raw.headers.get("ETag") === filter.etag);
}

main();
