CREATE EXTERNAL TABLE IF NOT EXISTS `value_lists` (
  `value` string
)
PARTITIONED BY (`digest` string)
STORED AS TEXTFILE
LOCATION 's3://bucket/lists/'
TBLPROPERTIES (
  'projection.digest.type' = 'injected',
  'projection.enabled' = 'true',
  'serialization.null.format' = '',
  'storage.location.template' = 's3://bucket/lists/${digest}/'
)
