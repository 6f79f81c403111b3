import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.DataApi;
import org.openapitools.client.api.FiltersApi;
import org.openapitools.client.api.ServiceApi;
import org.openapitools.client.model.*;

/** Calls a client that openapi-generator has made, at the address of the first argument. */
public class Calls {
	static final String PERIOD = "timestamp between 2026-01-01 and 2026-01-02";

	public static void main(String[] args) throws Exception {
		ApiClient client = new ApiClient().setBasePath(args[0]);
		DataApi data = new DataApi(client);

		System.out.println("status " + new ServiceApi(client).status().getData().getRecords());

		List<TimelineResult> timeline =
			data.timeline(PERIOD, "1h", null, null, null, null, null, null, null, null).getData().getResults();
		long requests = timeline.stream().mapToLong(TimelineResult::getNumOfRequests).sum();
		System.out.println("timeline " + timeline.size() + " " + requests);

		List<StatsResult> stats =
			data.stats(PERIOD, "1h", null, null, null, null, null, null, null, null, null).getData().getResults();
		long bytes = stats.stream().mapToLong(StatsResult::getSumOfBandwidth).sum();
		System.out.println("stats " + stats.size() + " " + bytes);

		TopXResult first = data.topx(PERIOD, 1, null, null, null, null, null, null, null, null).getData().getResults().get(0);
		System.out.println("topx " + first.getLabel() + " " + first.getKey() + " " + first.getNumOfRequests());

		LogRecordContainer logs =
			data.logs(PERIOD, 2, "status,method,blocked", null, null, null, null, null, null, null, null, null);
		for (LogRecord record : logs.getData().getResults()) {
			System.out.println("logs " + record.getStatus().getActualInstance() + " "
				+ record.getMethod().getActualInstance() + " " + record.getBlocked().getActualInstance());
		}

		okhttp3.Call export =
			data.logsCall(PERIOD, 2, "status,method", null, null, null, null, "csv", null, null, null, null, null);
		System.out.println("export " + export.execute().body().string().trim().replaceAll("\\s+", " "));

		try {
			data.topx(PERIOD + ", hots=x", null, null, null, null, null, null, null, null, null);
		} catch (ApiException error) {
			JsonObject mistake = JsonParser.parseString(error.getResponseBody())
				.getAsJsonObject().getAsJsonArray("errors").get(0).getAsJsonObject();
			System.out.println("error " + error.getCode() + " " + mistake.get("code").getAsString() + " "
				+ mistake.get("suggestion").getAsString());
		}

		ApiResponse<SavedFilter> saved = new FiltersApi(client).filterGetWithHttpInfo("prod", "errors", null);
		String etag = saved.getHeaders().get("etag").get(0);
		System.out.println("filter " + saved.getData().getFilters() + " " + etag.equals(saved.getData().getEtag()));
	}
}
