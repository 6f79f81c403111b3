// Calls the API with openapi-fetch and the types that openapi-typescript has made, at the address of the first argument.

import createClient from "openapi-fetch";

import type { paths } from "./client";

const period = "timestamp between 2026-01-01 and 2026-01-02";
const client = createClient<paths, "application/json">({ baseUrl: process.argv[2] });

// done returns the answer of a query. Without the header Prefer, the server does not answer that the query is running.
function done<Answer extends object>(response: { data?: Answer }) {
	if (response.data === undefined || !("data" in response.data)) {
		throw new Error("the query has no answer");
	}
	return response.data as Extract<Answer, { data: unknown }>;
}

async function main() {
	const status = await client.GET("/status");
	console.log("status", status.data!.data.records);

	const timeline = await client.GET("/data/timeline", { params: { query: { filters: period, segment: "1h" } } });
	const requests = done(timeline).data.results;
	console.log("timeline", requests.length, requests.reduce((sum, s) => sum + s.num_of_requests, 0));

	const stats = await client.GET("/data/stats", { params: { query: { filters: period, segment: "1h" } } });
	const bytes = done(stats).data.results;
	console.log("stats", bytes.length, bytes.reduce((sum, s) => sum + s.sum_of_bandwidth, 0));

	const topx = await client.GET("/data/topx", { params: { query: { filters: period, limit: 1 } } });
	const [first] = done(topx).data.results;
	console.log("topx", first!.label, first!.key, first!.num_of_requests);

	const logs = await client.GET("/data/logs", {
		params: { query: { filters: period, limit: 2, fields: "status,method,blocked" } },
	});
	for (const record of done(logs).data.results) {
		console.log("logs", record.status, record.method, record.blocked);
	}

	const text = await client.GET("/data/logs", {
		params: { query: { filters: period, limit: 2, fields: "status,method", format: "csv" } },
		parseAs: "text",
	});
	console.log("export", text.data!.trim().split(/\s+/).join(" "));

	const refused = await client.GET("/data/topx", { params: { query: { filters: period + ", hots=x" } } });
	const [mistake] = refused.error!.errors!;
	console.log("error", refused.response.status, mistake!.code, mistake!.suggestion);

	const saved = await client.GET("/conf/{config}/filters/{name}", {
		params: { path: { config: "prod", name: "errors" } },
	});
	console.log("filter", saved.data!.filters, saved.response.headers.get("ETag") === saved.data!.etag);
}

main();
