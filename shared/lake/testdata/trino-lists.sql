CREATE TABLE IF NOT EXISTS "value_lists" (
  "value" varchar,
  "digest" varchar WITH (
    partition_projection_type = 'injected'
  )
) WITH (
  format = 'TEXTFILE',
  null_format = '',
  external_location = 's3://bucket/lists/',
  partitioned_by = ARRAY['digest'],
  partition_projection_enabled = true,
  partition_projection_location_template = 's3://bucket/lists/${digest}/'
)
