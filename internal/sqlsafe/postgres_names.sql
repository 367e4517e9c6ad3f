WITH asked AS (SELECT $1::json AS a),
path AS (
	SELECT n.oid, n.nspname, p.ord FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) WITH ORDINALITY AS p(name, ord)
	JOIN pg_catalog.pg_namespace n ON n.nspname = p.name WHERE n.nspname <> 'pg_catalog'),
member AS (SELECT classid, objid FROM pg_catalog.pg_depend WHERE deptype = 'e'),
allowed AS (SELECT pg_catalog.json_array_elements_text(a -> 'allowed') AS name FROM asked),
own AS ( -- functions that are neither built in, nor of an extension, nor listed
	SELECT p.oid, p.proname, p.pronamespace, n.nspname || '.' || p.proname AS shown FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
	WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.prorettype NOT IN (2279, 3838) -- trigger, event_trigger
	AND NOT EXISTS (SELECT FROM member m WHERE m.classid = 1255 AND m.objid = p.oid)
	AND NOT EXISTS (SELECT FROM allowed w WHERE w.name IN (p.proname, n.nspname || '.' || p.proname))),
casts AS (SELECT c.castsource, c.casttarget, o.shown, c.castcontext FROM pg_catalog.pg_cast c JOIN own o ON o.oid = c.castfunc),
operator_path AS (
	SELECT * FROM path WHERE EXISTS (SELECT FROM pg_catalog.pg_operator o JOIN member m ON m.classid = 2617 AND m.objid = o.oid WHERE o.oprnamespace = path.oid))
SELECT 'table', t.name, n.nspname::text,
	coalesce((SELECT 'the table ' || c.relname || ' has a type with a cast that calls ' || k.shown || ', which is not among the functions that may be called' FROM casts k
		WHERE c.reltype = k.castsource AND a -> 'row' IS NOT NULL
		OR EXISTS (SELECT FROM pg_catalog.pg_attribute x, pg_catalog.pg_type y, pg_catalog.json_array_elements_text(a -> 'mention') AS m(name)
			WHERE x.attrelid = c.oid AND x.attnum > 0 AND m.name IN (x.attname, '*') AND y.oid = x.atttypid AND y.typnamespace <> 11
			AND (y.oid = k.castsource OR y.oid = k.casttarget AND k.castcontext = 'i')) LIMIT 1), '')
FROM asked, pg_catalog.json_array_elements_text(a -> 'table') AS t(name)
JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(t.name) JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
UNION ALL
SELECT 'type', t.name, n.nspname::text, CASE
	WHEN y.typnamespace = 11 THEN coalesce((SELECT 'the cast to ' || y.typname || ' calls ' || k.shown || ', which is not among the functions that may be called' FROM casts k WHERE k.casttarget = y.oid
		AND EXISTS (SELECT FROM pg_catalog.pg_type f WHERE f.oid = k.castsource AND f.typnamespace = 11) LIMIT 1), '')
	WHEN EXISTS (SELECT FROM casts k WHERE y.oid IN (k.castsource, k.casttarget)) THEN 'the type ' || y.typname || ' has casts of its own, which call functions that may not be called'
	WHEN EXISTS (SELECT FROM member m WHERE m.classid = 1247 AND m.objid = y.oid) OR y.typtype IN ('e', 'c') THEN ''
	WHEN y.typtype = 'd' AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.contypid = y.oid)
		AND EXISTS (SELECT FROM pg_catalog.pg_type b WHERE b.oid = y.typbasetype AND b.typnamespace = 11) THEN ''
	ELSE 'the type ' || y.typname || ' is not built in, and may call functions of its own' END
FROM asked, pg_catalog.json_array_elements_text(a -> 'type') AS t(name)
JOIN pg_catalog.pg_type y ON y.oid = pg_catalog.to_regtype(t.name) JOIN pg_catalog.pg_namespace n ON n.oid = y.typnamespace
UNION ALL
SELECT 'function', f.name, 'pg_catalog', '' FROM asked, pg_catalog.json_array_elements_text(a -> 'function') AS f(name)
WHERE EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 11 AND p.proname = f.name)
UNION ALL
SELECT 'function', f.name, s.nspname::text, CASE WHEN s.owned THEN s.nspname || '.' || f.name || ' is not among the functions that may be called' ELSE '' END
FROM asked, pg_catalog.json_array_elements_text(a -> 'function') AS f(name)
CROSS JOIN LATERAL (SELECT path.nspname, pg_catalog.bool_or(EXISTS (SELECT FROM own o WHERE o.oid = p.oid)) AS owned FROM path JOIN pg_catalog.pg_proc p ON p.pronamespace = path.oid
	WHERE p.proname = f.name GROUP BY path.ord, path.nspname ORDER BY path.ord LIMIT 1) s
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 11 AND p.proname = f.name)
UNION ALL
SELECT 'dot', d.name, '', d.name || ' behind a point calls a function, which is not among those that may be called'
FROM asked, pg_catalog.json_array_elements_text(a -> 'dot') AS d(name) WHERE EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = 11 AND p.proname = d.name)
UNION ALL
SELECT k.kind, d.name, '', d.name || ' behind a point may call ' || o.shown || ', which is not among the functions that may be called'
FROM asked, (VALUES ('dot'), ('column')) AS k(kind), pg_catalog.json_array_elements_text(a -> k.kind) AS d(name)
JOIN own o ON o.proname = d.name JOIN operator_path p ON p.oid = o.pronamespace
UNION ALL
SELECT 'operator', d.name, '', 'the operator ' || d.name || ' may call ' || s.shown || ', which is not among the functions that may be called'
FROM asked, pg_catalog.json_array_elements_text(a -> 'operator') AS d(name)
JOIN pg_catalog.pg_operator o ON o.oprname = d.name JOIN own s ON s.oid = o.oprcode JOIN operator_path p ON p.oid = o.oprnamespace
UNION ALL
SELECT 'schema', d.name, coalesce(pg_catalog.current_schema()::text, ''), '' FROM asked, pg_catalog.json_array_elements_text(a -> 'schema') AS d(name)
UNION ALL
SELECT 'operators', '', nspname::text, '' FROM operator_path
