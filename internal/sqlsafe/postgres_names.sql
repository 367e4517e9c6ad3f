WITH RECURSIVE asked AS (SELECT $1::json AS a),
path AS (
	SELECT n.oid, n.nspname, p.ord FROM pg_catalog.unnest($2::pg_catalog.name[]) WITH ORDINALITY AS p(name, ord)
	JOIN pg_catalog.pg_namespace n ON n.nspname = p.name WHERE n.nspname <> 'pg_catalog'),
member AS (SELECT classid, objid FROM pg_catalog.pg_depend WHERE deptype = 'e'),
allowed AS (SELECT pg_catalog.json_array_elements_text(a -> 'allowed') AS name FROM asked),
own AS ( -- functions that are neither built in, nor of an extension, nor listed
	SELECT p.oid, p.proname, p.pronamespace, n.nspname || '.' || p.proname AS shown FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
	WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.prorettype NOT IN (2279, 3838) -- trigger, event_trigger
	AND NOT EXISTS (SELECT FROM member m WHERE m.classid = 1255 AND m.objid = p.oid)
	AND NOT EXISTS (SELECT FROM allowed w WHERE w.name IN (p.proname, n.nspname || '.' || p.proname))),
calls AS (SELECT 1255::pg_catalog.oid AS classid, oid AS objid, shown FROM own UNION ALL
	SELECT 2617, o.oid, own.shown FROM pg_catalog.pg_operator o JOIN own ON own.oid = o.oprcode),
casts AS (SELECT c.castsource, c.casttarget, o.shown, c.castcontext FROM pg_catalog.pg_cast c JOIN own o ON o.oid = c.castfunc),
checks AS ( -- types whose input calls one of them: domains by their CHECK, ranges
	SELECT k.contypid AS type, c.shown FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_depend d ON d.classid = 2606 AND d.objid = k.oid
	JOIN calls c ON c.classid = d.refclassid AND c.objid = d.refobjid WHERE k.contypid <> 0
	UNION ALL SELECT r.rngtypid, o.shown FROM pg_catalog.pg_range r JOIN own o ON o.oid IN (r.rngcanonical, r.rngsubdiff)),
operator_path AS (
	SELECT * FROM path WHERE EXISTS (SELECT FROM pg_catalog.pg_operator o JOIN member m ON m.classid = 2617 AND m.objid = o.oid WHERE o.oprnamespace = path.oid)),
looked AS ( -- a name as it is written, and with each schema of the path: the search path itself is that of the server alone
	SELECT k.kind, t.name, s.ord, pg_catalog.concat(s.front, t.name) AS at FROM asked, (VALUES ('table'), ('type')) AS k(kind), pg_catalog.json_array_elements_text(a -> k.kind) AS t(name),
		LATERAL (SELECT 0 AS ord, '' AS front UNION ALL SELECT ord, pg_catalog.concat(pg_catalog.quote_ident(nspname::pg_catalog.text), '.') FROM path
			WHERE pg_catalog.cardinality(pg_catalog.parse_ident(t.name)) = 1) AS s),
tables AS (SELECT DISTINCT ON (t.name) t.name, c.oid, c.relname, c.reltype, n.nspname FROM looked t
	JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(t.at) JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE t.kind = 'table' ORDER BY t.name, t.ord),
columns AS (SELECT t.oid AS table, x.atttypid AS type FROM asked, tables t JOIN pg_catalog.pg_attribute x ON x.attrelid = t.oid AND x.attnum > 0
	WHERE EXISTS (SELECT FROM pg_catalog.json_array_elements_text(a -> 'mention') AS m(name) WHERE m.name IN (x.attname, '*'))),
types AS (SELECT DISTINCT ON (t.name) t.name, y.oid, y.typname, y.typnamespace, y.typtype, y.typelem FROM looked t
	JOIN pg_catalog.pg_type y ON y.oid = pg_catalog.to_regtype(t.at) WHERE t.kind = 'type' ORDER BY t.name, t.ord),
reach AS ( -- what reading a table runs: the rules of views, the policies of tables, and what they are made of
	SELECT t.oid AS table, 1259::pg_catalog.oid AS classid, t.oid AS objid FROM tables t
	UNION SELECT r.table, e.classid, e.objid FROM reach r CROSS JOIN LATERAL (
		SELECT 2618, w.oid FROM pg_catalog.pg_rewrite w JOIN pg_catalog.pg_class v ON v.oid = w.ev_class WHERE r.classid = 1259 AND w.ev_class = r.objid AND v.relkind = 'v' AND w.ev_type = '1'
		UNION ALL SELECT 3256, p.oid FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class v ON v.oid = p.polrelid
			WHERE r.classid = 1259 AND p.polrelid = r.objid AND v.relrowsecurity AND p.polcmd IN ('r', '*')
		UNION ALL SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend d
			WHERE r.classid IN (2618, 3256) AND d.classid = r.classid AND d.objid = r.objid AND d.refclassid IN (1259, 1255, 2617, 1247)
		UNION ALL SELECT 2611, i.inhrelid FROM pg_catalog.pg_inherits i WHERE r.classid IN (1259, 2611) AND i.inhparent = r.objid) AS e(classid, objid)),
viewed AS ( -- the types of the columns that views and policies use; of a whole row, of all its columns
	SELECT r.table, x.atttypid AS type FROM reach r JOIN pg_catalog.pg_depend d ON d.classid = r.classid AND d.objid = r.objid AND d.refclassid = 1259
	JOIN pg_catalog.pg_attribute x ON x.attrelid = d.refobjid AND x.attnum > 0 WHERE r.classid IN (2618, 3256) AND (x.attnum = d.refobjsubid
		OR EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE r.classid = 2618 AND w.oid = r.objid AND w.ev_action::pg_catalog.text LIKE '%:varattno 0 %')
		OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE r.classid = 3256 AND p.oid = r.objid AND p.polqual::pg_catalog.text LIKE '%:varattno 0 %'))
	UNION SELECT r.table, r.objid FROM reach r WHERE r.classid = 1247),
computed AS ( -- what the planner computes of indexes and constraints: calls with a constant in front
	SELECT r.table, o.shown FROM reach r CROSS JOIN LATERAL (SELECT pg_catalog.concat(x.indpred, x.indexprs) FROM pg_catalog.pg_index x WHERE x.indrelid = r.objid AND (x.indpred IS NOT NULL OR x.indexprs IS NOT NULL)
		UNION ALL SELECT k.conbin::pg_catalog.text FROM pg_catalog.pg_constraint k WHERE k.conrelid = r.objid AND k.contype = 'c') AS x(tree)
	JOIN own o ON x.tree LIKE '%funcid ' || o.oid || ' %' AND x.tree ~ (':(op)?funcid ' || o.oid || ' [^{]*:args (<>|\(\{CONST)') WHERE r.classid IN (1259, 2611)),
within AS ( -- the types that a type is made of, without those that are built in
	SELECT y.oid AS type, y.oid AS part FROM pg_catalog.pg_type y WHERE y.typnamespace <> 11 AND (y.oid IN (SELECT oid FROM types UNION ALL SELECT type FROM columns
		UNION ALL SELECT reltype FROM tables UNION ALL SELECT type FROM viewed) OR y.typnamespace IN (SELECT oid FROM operator_path))
	UNION SELECT w.type, e.part FROM within w CROSS JOIN LATERAL (
		SELECT y.typelem FROM pg_catalog.pg_type y WHERE y.oid = w.part
		UNION ALL SELECT y.typbasetype FROM pg_catalog.pg_type y WHERE y.oid = w.part
		UNION ALL SELECT x.atttypid FROM pg_catalog.pg_type y JOIN pg_catalog.pg_attribute x ON x.attrelid = y.typrelid AND x.attnum > 0 WHERE y.oid = w.part AND y.typtype = 'c'
		UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE r.rngtypid = w.part
		UNION ALL SELECT d.refobjid FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_depend d ON d.classid = 2606 AND d.objid = k.oid AND d.refclassid = 1247 WHERE k.contypid = w.part) AS e(part)
	JOIN pg_catalog.pg_type y ON y.oid = e.part AND y.typnamespace <> 11),
checked AS (SELECT w.type, y.typtype, c.shown FROM within w JOIN checks c ON c.type = w.part JOIN pg_catalog.pg_type y ON y.oid = w.type),
converted AS (SELECT w.type, k.casttarget, k.shown, k.castsource = w.part OR k.castcontext = 'i' AS alone FROM within w JOIN casts k ON w.part IN (k.castsource, k.casttarget)),
fills AS ( -- a function of the statement reads a text as what stands beside it: lag(w, 1, 'x'), array_append(ARRAY[w], 'x')
	SELECT a -> 'array' IS NOT NULL OR EXISTS (SELECT FROM pg_catalog.json_array_elements_text(a -> 'function') AS f(name) JOIN pg_catalog.pg_proc p ON p.proname = f.name AND p.pronamespace = 11
		WHERE p.prorettype IN (2277, 5078) AND p.proargtypes[0] IN (2283, 2776, 5077, 5079) -- of any value an array
		OR (SELECT pg_catalog.count(*) FROM pg_catalog.unnest(p.proargtypes) AS t(oid) WHERE t.oid IN (2277, 2283, 2776, 5077, 5078, 5079)) > 1) AS any FROM asked)
SELECT 'table', t.name, t.nspname::text, coalesce(
	(SELECT 'reading ' || t.relname || ' calls ' || c.shown || ', which is not among the functions that may be called' FROM reach r JOIN calls c ON c.classid = r.classid AND c.objid = r.objid
		WHERE r.table = t.oid LIMIT 1),
	(SELECT 'reading ' || t.relname || ' calls ' || c.shown || ', which is not among the functions that may be called' FROM reach r JOIN checked c ON r.classid = 1247 AND c.type = r.objid
		WHERE r.table = t.oid LIMIT 1),
	(SELECT 'reading ' || t.relname || ' calls ' || c.shown || ', which is not among the functions that may be called' FROM computed c WHERE c.table = t.oid LIMIT 1),
	(SELECT 'reading ' || t.relname || ' may call ' || k.shown || ', which is not among the functions that may be called' FROM viewed v JOIN converted k ON k.type = v.type
		WHERE v.table = t.oid AND k.casttarget IN (114, 3802) LIMIT 1), -- to_json looks for casts to json while it runs
	(SELECT 'the table ' || t.relname || ' has a type with a cast that calls ' || k.shown || ', which is not among the functions that may be called' FROM converted k
		WHERE k.alone AND (k.type = t.reltype AND a -> 'row' IS NOT NULL OR k.type IN (SELECT x.type FROM columns x WHERE x.table = t.oid)) LIMIT 1),
	(SELECT 'the table ' || t.relname || ' has a type that calls ' || c.shown || ', which is not among the functions that may be called' FROM checked c
		WHERE c.type = t.reltype AND a -> 'row' IS NOT NULL OR c.type IN (SELECT x.type FROM columns x WHERE x.table = t.oid) AND (c.typtype <> 'd' OR (SELECT f.any FROM fills f)) LIMIT 1), '')
FROM asked, tables t
UNION ALL
SELECT 'type', y.name, n.nspname::text, CASE
	WHEN y.typnamespace = 11 THEN coalesce((SELECT 'the cast to ' || y.typname || ' calls ' || k.shown || ', which is not among the functions that may be called' FROM casts k WHERE k.casttarget = y.oid
		AND EXISTS (SELECT FROM pg_catalog.pg_type f WHERE f.oid = k.castsource AND f.typnamespace = 11) LIMIT 1), '')
	WHEN EXISTS (SELECT FROM member m WHERE m.classid = 1247 AND m.objid = y.oid) AND y.typtype = 'b' THEN ''
	WHEN y.typtype = 'p' OR y.typtype = 'b' AND y.typelem = 0 THEN 'the type ' || y.typname || ' is not built in, and may call functions of its own'
	ELSE coalesce((SELECT 'the type ' || y.typname || ' calls ' || c.shown || ', which is not among the functions that may be called' FROM checked c WHERE c.type = y.oid LIMIT 1),
		(SELECT 'the type ' || y.typname || ' has casts that call ' || k.shown || ', which is not among the functions that may be called' FROM converted k WHERE k.type = y.oid LIMIT 1), '') END
FROM types y JOIN pg_catalog.pg_namespace n ON n.oid = y.typnamespace
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
SELECT k.kind, d.name, '', d.name || ' behind a point may call a function, which is not among those that may be called'
FROM asked, (VALUES ('dot'), ('field'), ('column')) AS k(kind), pg_catalog.json_array_elements_text(a -> k.kind) AS d(name)
WHERE EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE (p.pronamespace = 11 OR p.pronamespace IN (SELECT oid FROM operator_path)) AND p.proname = d.name
	AND (k.kind = 'dot' OR k.kind = 'field' AND p.pronargs - p.pronargdefaults <= 1 AND p.proargtypes[0] IN (2249, 2276, 2283, 2776, 5077, 5079))) -- of a row, or of anything
OR EXISTS (SELECT FROM own o WHERE o.proname = d.name AND o.pronamespace IN (SELECT oid FROM operator_path))
OR EXISTS (SELECT FROM pg_catalog.pg_type y WHERE y.typname = d.name AND y.typnamespace IN (SELECT oid FROM operator_path)
	AND y.oid IN (SELECT c.type FROM checked c UNION ALL SELECT c.type FROM converted c))
UNION ALL
SELECT 'operator', d.name, '', 'the operator ' || d.name || ' may call ' || s.shown || ', which is not among the functions that may be called'
FROM asked, pg_catalog.json_array_elements_text(a -> 'operator') AS d(name)
JOIN pg_catalog.pg_operator o ON o.oprname = d.name JOIN own s ON s.oid = o.oprcode JOIN operator_path p ON p.oid = o.oprnamespace
UNION ALL
SELECT 'schema', d.name, coalesce(($2::pg_catalog.name[])[1]::text, ''), '' FROM asked, pg_catalog.json_array_elements_text(a -> 'schema') AS d(name)
UNION ALL
SELECT 'operators', '', nspname::text, '' FROM operator_path
UNION ALL -- arrays of types that are not built in, and their elements
SELECT 'elements', y.oid::text, y.typelem::text, '' FROM pg_catalog.pg_type y WHERE y.typnamespace <> 11 AND y.typcategory = 'A'
AND (SELECT pg_catalog.array_agg(u.type) FROM (SELECT type FROM columns UNION SELECT oid FROM types) AS u) && ARRAY[y.oid, y.typelem]
