-- Takes every function of the server's that is on no list from everybody, so that one that a statement reaches says so. What operators,
-- casts and types call is theirs. The names that are listed come as $1; the last ones are what toolnorm itself asks with.
DO $do$ DECLARE f regprocedure; BEGIN
	FOR f IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 11 AND p.prokind IN ('f', 'w') AND p.proname <> ALL (string_to_array('$1', ' '))
		AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid) AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid)
		AND NOT EXISTS (SELECT FROM pg_type y WHERE p.oid IN (y.typinput, y.typoutput) AND y.typtype <> 'p')
		AND p.proname NOT IN ('pg_has_role', 'has_function_privilege', 'has_parameter_privilege', 'pg_advisory_unlock_all')
	LOOP EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM PUBLIC'; END LOOP;
END $do$
