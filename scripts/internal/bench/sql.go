package bench

import (
	"fmt"
	"strings"
)

// This file has the SQL that an expert would write by hand for DuckDB over these files. The product does not use it; it
// generates its own.

// statement is the text of one SQL statement. %v stands for the result of the statement before.
type statement string

// table holds the files of a period.
type table struct {
	paths        []string
	fromMs, toMs int64
}

func (t table) from() string { return fileList(t.paths) }

func (t table) where() string { return fmt.Sprintf("ts_ms between %d and %d", t.fromMs, t.toMs) }

// fileList returns the DuckDB table function over Parquet files.
func fileList(paths []string) string {
	quoted := make([]string, len(paths))
	for i, path := range paths {
		quoted[i] = "'" + strings.ReplaceAll(path, "'", "''") + "'"
	}
	return "read_parquet([" + strings.Join(quoted, ", ") + "])"
}

// topxKeys lists the labels that are columns. Three more labels also use url.
var topxKeys = []string{"country", "host", "ip", "organization", "svcid", "referer", "url", "user_agent"}

// topxColumns are the columns of the aggregates.
const topxColumns = `blocked, bot, human, coalesce(challenge, false) or coalesce(ichallenge, false) as challenged,
  coalesce(monitor, false) or coalesce(len(monitor_reasons), 0) > 0 as monitored,
  bytes_sent, request_length, origin_us, svc_us, total_us, asn, country as c, organization as o`

const topxAggregates = `count(*) n, count_if(blocked is true) nb, count_if(bot is true) nbot, count_if(challenged) nch, count_if(human is true) nhu, count_if(monitored) nmo,
  sum(bytes_sent)::bigint sb, sum(request_length)::bigint sl, avg(origin_us) ao, max(origin_us) mxo, min(origin_us) mno,
  avg(svc_us) avs, max(svc_us) mxs, min(svc_us) mns, avg(total_us) att, max(total_us) mxt, min(total_us) mnt,
  coalesce(min(asn), '') fa, coalesce(min(c), '') fc, coalesce(min(o), '') fo`

// topxFact returns a result in the format of topxFacts.
const topxFact = `concat_ws('|', label, key, n, nb, nbot, nch, nhu, nmo, sb, sl, fa, fc, fo) as fact, *`

const reasonsOf = `list_distinct(list_concat(coalesce(monitor_reasons, []), if(reason is null, [], [reason])))`

// topxTwoPhases ranks every key by two counters (url also by the averages), over one copy of the required columns, and
// computes the twenty aggregates only for the top keys.
func topxTwoPhases(t table) []statement {
	var b strings.Builder
	fmt.Fprintf(&b, `with base as materialized (
  select %s, host, ip, svcid, referer, url, user_agent, country, organization, if(reason is null and monitor_reasons is null, null, %s) as reasons
  from %s where %s),
`, topxColumns, reasonsOf, t.from(), t.where())
	b.WriteString(`urls as materialized (
  select url as key, count(*) n, count_if(blocked is true) nb, avg(origin_us) ao, avg(svc_us) avs, avg(total_us) att from base where url is not null group by url),
winners as materialized (
`)
	for _, key := range topxKeys {
		if key != "url" {
			fmt.Fprintf(&b, "  select '%[1]s' as label, key from (select %[1]s as key, count(*) n, count_if(blocked is true) nb from base where %[1]s is not null group by %[1]s order by nb desc, n desc, key limit 10) union all\n", key)
		}
	}
	b.WriteString(`  select 'reason', key from (select key, count(*) n, count_if(blocked is true) nb from (select blocked, unnest(reasons) as key from base where reasons is not null) group by key order by nb desc, n desc, key limit 10) union all
  select 'url', key from (select key from urls order by nb desc, n desc, key limit 10) union all
  select 'origin_time', key from (select key from urls where ao is not null order by ao desc, n desc, key limit 10) union all
  select 'svc_time', key from (select key from urls where avs is not null order by avs desc, n desc, key limit 10) union all
  select 'total_time', key from (select key from urls where att is not null order by att desc, n desc, key limit 10)),
figures as (
`)
	for _, key := range topxKeys {
		labels := "'" + key + "'"
		if key == "url" {
			labels = "'url', 'origin_time', 'svc_time', 'total_time'"
		}
		fmt.Fprintf(&b, "  select '%[1]s' as of, %[1]s as key, %[2]s from base where %[1]s in (select key from winners where label in (%[3]s)) group by %[1]s union all\n", key, topxAggregates, labels)
	}
	fmt.Fprintf(&b, `  select 'reason', r, %s from (select *, unnest(reasons) as r from base where reasons is not null) where r in (select key from winners where label = 'reason') group by r)
select %s from (
  select label, figures.* exclude (of) from winners join figures
  on figures.key = winners.key and of = if(label in ('origin_time', 'svc_time', 'total_time'), 'url', label))
order by label, nb desc, n desc, key`, topxAggregates, topxFact)
	return []statement{statement(b.String())}
}

// topxNaive is the first attempt of most people: the union of one query for each label, each over all columns, which
// searches headers and cookies by name.
func topxNaive(t table) []statement {
	const header = `list_filter(headers, lambda h: lower(h.name) = '%s')[1].value`
	keys := map[string]string{
		"host": fmt.Sprintf(header, "host"), "referer": fmt.Sprintf(header, "referer"), "user_agent": fmt.Sprintf(header, "user-agent"),
		"svcid": `list_filter(cookies, lambda c: c.name = 'svcid')[1].value`, "reason": "unnest(" + reasonsOf + ")",
		"origin_time": "url", "svc_time": "url", "total_time": "url",
	}
	ranks := map[string]string{"origin_time": "ao", "svc_time": "avs", "total_time": "att"}
	var parts []string
	for _, label := range []string{"country", "host", "ip", "organization", "origin_time", "reason", "referer", "svc_time", "svcid", "total_time", "url", "user_agent"} {
		key, rank, ranked := keys[label], "nb", ""
		if key == "" {
			key = label
		}
		if by, timed := ranks[label]; timed {
			rank, ranked = by, " having "+by+" is not null"
		}
		parts = append(parts, fmt.Sprintf(`  (select '%s' as label, key, %s from (select %s as key, %s from %s where %s) where key is not null group by key%s order by %s desc, n desc, key limit 10)`,
			label, topxAggregates, key, topxColumns, t.from(), t.where(), ranked, rank))
	}
	return []statement{statement("select " + topxFact + " from (\n" + strings.Join(parts, " union all\n") + ")\norder by label, nb desc, n desc, key")}
}

// segmentOf returns the start of a record's segment, for a length in seconds.
func segmentOf(seconds int) string { return fmt.Sprintf("ts_ms // %d * %d", seconds*1000, seconds) }

// timelineSQL reads upstream_status a second time, because a record can have several upstream statuses.
func timelineSQL(t table, seconds int) []statement {
	return []statement{statement(fmt.Sprintf(`with figures as (
  select %[1]s as seg, count(*) n, count_if(blocked is true) nb, count_if(challenge is true or ichallenge is true) nch, count_if(human is true) nhu,
    count(distinct ip) nip, count(distinct session) nses, count_if(coalesce(upstream_status[-1] >= 400, false)) nob, coalesce(sum(bytes_sent), 0)::bigint sb, histogram(status) hs
  from %[2]s where %[3]s group by seg),
origins as (
  select seg, histogram(status) ho from (select %[1]s as seg, unnest(upstream_status) as status from %[2]s where %[3]s) group by seg)
select concat_ws('|', seg, n, nb, nch, nhu, nip, nses, nob, sb, hs, coalesce(ho::varchar, '{}')) as fact, * from figures left join origins using (seg) order by seg`,
		segmentOf(seconds), t.from(), t.where()))}
}

func statsSQL(t table, seconds int) []statement {
	return []statement{statement(fmt.Sprintf(`select concat_ws('|', seg, sum(n)::bigint, sum(bytes)::bigint, first(name order by n desc, name)) as fact,
  seg, sum(n)::bigint, sum(bytes)::bigint, sum(us) / sum(timed) / 1e6, first(name order by n desc, name)
from (select %s as seg, coalesce(hostname, host, '') as name, count(*) n, coalesce(sum(bytes_sent), 0) + coalesce(sum(request_length), 0) as bytes, sum(total_us) us, count(total_us) timed
  from %s where %s group by seg, name)
group by seg order by seg`, segmentOf(seconds), t.from(), t.where()))}
}

// facetColumns are the fields of facets by default, except for the list tags.
var facetColumns = []string{
	"country", "host", "ip", "method", "organization", "path", "result", "status", "user_agent",
}

// facetsSQL groups the records by one field after the other, over one copy of the required columns.
func facetsSQL(t table, limit int) []statement {
	const flags = `blocked, human, coalesce(challenge, false) or coalesce(ichallenge, false) as challenged,
    coalesce(monitor, false) or len(coalesce(monitor_reasons, [])) > 0 as monitored`
	const counts = `count(*) n, count_if(blocked is true) nb, count_if(challenged) nch, count_if(monitored) nmo, count_if(human is true) nhu`
	var parts []string
	for _, column := range facetColumns {
		parts = append(parts, fmt.Sprintf("(select '%[1]s' as field, %[1]s::varchar as value, %[2]s from base where %[1]s is not null group by %[1]s order by n desc, value limit %[3]d)",
			column, counts, limit))
	}
	parts = append(parts, fmt.Sprintf("(select 'tags' as field, tag as value, %s from (select unnest(list_distinct(tags)) as tag, * from base) group by tag order by n desc, value limit %d)",
		counts, limit))
	return []statement{statement(fmt.Sprintf("with base as materialized (select %s, tags, %s from %s where %s)\nselect concat_ws('|', field, value, n, nb, nch, nmo, nhu) as fact, * from (\n%s)\norder by fact",
		strings.Join(facetColumns, ", "), flags, t.from(), t.where(), strings.Join(parts, " union all\n")))}
}

// histogramSQL counts segments and values at once. Then it ranks the values, which are few.
func histogramSQL(t table, seconds int, column string, limit int) []statement {
	return []statement{statement(fmt.Sprintf(`with points as materialized (select %[1]s as seg, %[2]s as value, count(*) n from %[3]s where %[4]s group by all),
ranked as (select value, row_number() over (order by value is null, sum(n) desc, value::varchar) as place from points group by value)
select concat_ws('|', seg, series, sum(n)::bigint) as fact, seg, series, sum(n)::bigint
from (select seg, n, case when points.value is null then '(absent)' when place <= %[5]d then points.value::varchar else '(other)' end as series
  from points join ranked on points.value is not distinct from ranked.value)
group by seg, series order by fact`, segmentOf(seconds), column, t.from(), t.where(), limit))}
}

// diffColumns are the fields of a diff by default, except for the list tags.
var diffColumns = []string{
	"asn", "country", "geo_region", "host", "ip", "method", "organization", "path", "protocol", "result", "status",
	"user_agent", "reason",
}

// diffSQL groups the records by one field after the other, over one copy of the required columns. Then it scores the
// values by a G-test of the blocked records against the others, as query.Findings does.
func diffSQL(t table, limit int) []statement {
	var parts []string
	for _, column := range diffColumns {
		parts = append(parts, fmt.Sprintf("  select '%[1]s' as field, %[1]s::varchar as value, count(*) n, count_if(blocked is true) s from base where %[1]s is not null group by %[1]s", column))
	}
	parts = append(parts, "  select 'tags', tag, count(*), count_if(blocked is true) from (select blocked, unnest(list_distinct(tags)) as tag from base) group by tag")
	return []statement{statement(fmt.Sprintf(`with base as materialized (select blocked, tags, %[1]s from %[2]s where %[3]s),
counts as materialized (
%[4]s),
sides as (select count_if(blocked is true) as sel, count_if(blocked is not true) as rest from base),
compared as (
  select field, value, s, n - s as b, sel, rest, s::hugeint * rest - (n - s)::hugeint * sel as difference,
    [{'n': s, 'all': n, 'side': sel}, {'n': n - s, 'all': n, 'side': rest},
     {'n': sel - s, 'all': sel + rest - n, 'side': sel}, {'n': rest - (n - s), 'all': sel + rest - n, 'side': rest}] as cells
  from counts, sides),
scored as (
  select field, value, s, b, difference,
    2 * list_sum(list_transform(cells, lambda c: if(c.n = 0, 0, c.n * ln(c.n / (c.all * (c.side / (sel + rest))))))) as score
  from compared)
select concat_ws('|', field, value, s, b) as fact, field, value, s, b, score from scored
where score >= 10.83 + 2 * ln((select greatest(count(*), 1) from counts)) and difference <> 0 and if(difference > 0, s, b) >= 5
order by abs(difference) desc, round(score, 1) desc, field, value limit %[5]d`,
		strings.Join(diffColumns, ", "), t.from(), t.where(), strings.Join(parts, " union all\n"), limit))}
}

// valuesSQL lists the first values of a text column.
func valuesSQL(t table, column string, limit int) []statement {
	const text = `select distinct %[1]s as fact from %[2]s where %[3]s and %[1]s is not null order by fact limit %[4]d`
	return []statement{statement(fmt.Sprintf(text, column, t.from(), t.where(), limit))}
}

const newest = "ts_ms desc, ts_nanos desc, source desc, line desc"

// logsSQL finds the time of the oldest result with two columns, then reads whole rows from that time on.
func logsSQL(t table, condition string, limit int) []statement {
	return []statement{
		statement(fmt.Sprintf(`select min(ts_ms) from (select ts_ms from %s where %s and %s order by ts_ms desc limit %d)`, t.from(), t.where(), condition, limit)),
		statement(fmt.Sprintf(`select request_id as fact, * from %s where ts_ms between %%v and %d and %s order by %s limit %d`, t.from(), t.toMs, condition, newest, limit)),
	}
}

// logsPageSQL selects the second page of the newest records. The first statement finds the time of its oldest record.
func logsPageSQL(t table, limit int) []statement {
	return []statement{
		statement(fmt.Sprintf(`select min(ts_ms) from (select ts_ms from %s where %s order by ts_ms desc limit %d)`, t.from(), t.where(), 2*limit)),
		statement(fmt.Sprintf(`select request_id as fact, * from %s where ts_ms between %%v and %d order by %s limit %d offset %d`, t.from(), t.toMs, newest, limit, limit)),
	}
}

// logsNaive does the same in one statement.
func logsNaive(t table, condition string, limit int) []statement {
	return []statement{statement(fmt.Sprintf(`select request_id as fact, * from %s where %s and %s order by %s limit %d`, t.from(), t.where(), condition, newest, limit))}
}

func needleSQL(t table, id string) []statement {
	return []statement{statement(fmt.Sprintf(`select request_id as fact, * from %s where %s and request_id = '%s'`, t.from(), t.where(), strings.ReplaceAll(id, "'", "''")))}
}
