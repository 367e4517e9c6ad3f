"""Generates typed Python expressions and what CPython says of them, one JSON object a line.

    generate.py SEED COUNT          expressions of one seed, to standard output
    generate.py --record FILE.gz    all seeds of seeds.txt, 1,000 each, compressed
    generate.py --written           those of written.txt, to standard output

A line has the expression (e), its variables (v), and either the type (t) and the repr (r) of the value or the kind (x) and
the message (m) of the error. The generator knows types so that most expressions mean something; about one operand in
fifteen has another type than it should, so that errors are compared too. What an expression may not depend on is left
out: the order of sets, identity, addresses. What the package refuses on purpose is left out as well: complex numbers,
bytes, stars, assignments.
"""
import ast, builtins, gzip, json, os, random, re, resource, signal, sys, warnings

warnings.simplefilter("ignore")
FUNCTIONS = "abs all any bool divmod enumerate filter float int len list map max min pow range reversed round set sorted str sum tuple zip dict ord chr bin oct hex".split()
ALLOWED = {n: getattr(builtins, n) for n in FUNCTIONS}

WORDS = ["", "a", "b", "ab", "hello", "Hello World", "foo,bar,,baz", "  pad ", "x=1;y=2", "12", "-7", "3.5", " 42 ", "0x1F", "1_000", "1e3", "abcabc",
         "한국어", "이름", "naïve", "ÀÉß", "Straße", "日本", "ΑΣ", "a\tb", "line1\nline2\r\nline3", "it's", 'say "hi"', "both ' and \"", "back\\slash", "50%", "{}",
         "{0}", "tab\there", "\x00nul", "emoji😀end", "AbC", "title Case here", "1٢3", "²½", "nan", "inf", "true", "None", "aaaa", "banana", "mississippi", "A", "z", " "]
INTS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 15, 16, 25, 31, 42, 64, 99, 100, 127, 128, 255, 256, 365, 999, 1000, 1024, 4095, 12345, 65535, 65536, 99999, 1000000, -1, -2, -3, -5, -7, -10, -42, -100, -255, -1000]
BIG = [2**31, 2**31 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -2**63, -2**63 - 1, 10**18, 10**20, 12345678901234567890123, -10**30, 3**50, 2**100 + 1]
FLOATS = [0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 3.5, -0.5, -2.5, 0.1, 0.2, 0.3, 1.1, 2.675, 1.005, 3.14159, 2.718281828, 99.99, 100.0, 1234.5678, 1e3, 1e15, 1e16, 1e17, 123456789.123,
          1e-4, 1e-5, 0.00012, 1e22, 1e23, 1e100, 1e-100, 1.7976931348623157e308, 5e-324, 2.0**53, 9007199254740993.0, -0.0, 7.0, 10.0, 12.5, 0.125, 33.333333, -1234.5, 6.02e23]
METHODS0 = "lower upper title capitalize casefold swapcase strip lstrip rstrip".split()
ISMETHODS = "isdigit isalpha isalnum isspace isupper islower isnumeric isdecimal".split()


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.vars = {}
        self.locals = []  # (name, type) bound by the comprehensions around

    # -- small helpers

    def pick(self, *options):
        return self.r.choice(options)

    def chance(self, p):
        return self.r.random() < p

    def lit(self, v):
        return repr(v)

    def variable(self, typ, value):
        name = f"{typ[0]}{len(self.vars)}"
        self.vars[name] = value
        return name

    def local(self, typ):
        names = [n for n, t in self.locals if t == typ]
        return self.r.choice(names) if names else None

    # -- leaves

    def string_literal(self):
        s = self.r.choice(WORDS)
        k = self.r.random()
        if k < 0.62:
            return repr(s)
        if k < 0.70 and "\\" not in s and "\n" not in s and "\r" not in s and "\x00" not in s and '"' not in s:
            return 'r"' + s + '"'
        if k < 0.78 and '"' not in s and "\\" not in s and "\r" not in s and "\x00" not in s:
            return '"""' + s + '"""'
        if k < 0.86:
            return "'" + "".join(self.pick(f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\U{ord(c):08x}", f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}") for c in s) + "'"
        if k < 0.93:
            return repr(s) + " " + repr(self.r.choice(WORDS))
        return self.pick(r"'\q\a\b\f\v\0\12\377'", r"'a\
b'", r"r'\d+\n'", "u'x'", r"'\\\''", r'"\""', "'''a\nb'''")

    def int_literal(self):
        n = self.r.choice(INTS) if self.chance(0.85) else self.r.choice(BIG)
        if n >= 0:
            k = self.r.random()
            if k < 0.08:
                return self.pick(hex, oct, bin)(n)
            if k < 0.12:
                return f"{n:_}"
            return str(n)
        return f"({n})" if self.chance(0.5) else str(n)

    def float_literal(self):
        x = self.r.choice(FLOATS)
        if self.chance(0.2):
            x = round(self.r.uniform(-1000, 1000), self.r.randint(0, 6))
        if self.chance(0.05):
            return self.pick("1.", ".5", "1e5", "1E-3", "1_0.0_1", "0.1e1", "00.5")
        return repr(x) if x >= 0 and str(x)[0] != "-" or self.chance(0.5) else f"({x!r})"

    # -- the dispatcher

    def gen(self, typ, d):
        if self.chance(0.035):
            typ = self.pick("int", "float", "str", "bool", "none", "list", "strs", "tuple", "dict")
        return getattr(self, "g_" + typ)(d)

    def atom(self, typ, d):
        """An expression in brackets unless it is short."""
        e = self.gen(typ, d)
        return e if e.replace("_", "").isalnum() and not e[0].isdigit() else f"({e})"

    def g_none(self, d):
        return "None"

    def g_any(self, d):
        return self.gen(self.pick("int", "int", "float", "str", "str", "bool", "none", "list", "strs", "tuple", "dict", "floats", "pairs"), d)

    def g_number(self, d):
        return self.gen(self.pick("int", "float", "int", "float", "bool"), d)

    def leaf(self, typ, values, literal):
        v = self.local(typ)
        if v and self.chance(0.5):
            return v
        if self.chance(0.3):
            return self.variable(typ, self.r.choice(values))
        return literal()

    def conditional(self, typ, d):
        k = self.r.random()
        if k < 0.6:
            return f"{self.gen(typ, d)} if {self.gen('bool', d)} else {self.gen(typ, d)}"
        if k < 0.8:
            return f"{self.atom(typ, d)} or {self.atom(typ, d)}"
        return f"{self.atom(typ, d)} and {self.atom(typ, d)}"

    # -- numbers

    def small(self):
        return self.pick(str(self.r.randint(0, 9)), str(self.r.randint(-3, 12)), f"({self.r.randint(-6, 6)})")

    def g_int(self, d):
        if d <= 0 or self.chance(0.12):
            return self.leaf("int", INTS + BIG[:8], self.int_literal)
        d -= 1
        k = self.r.randint(0, 33)
        a = lambda t="int": self.atom(t, d)
        if k < 7:
            return f"{a()} {self.pick('+', '-', '*', '//', '%', '&', '|', '^')} {a()}"
        if k < 9:
            return f"{self.gen('int', d)} {self.pick('+', '-', '*')} {self.gen('int', d)} {self.pick('+', '-', '*', '//', '%')} {self.gen('int', d)}"
        if k == 9:
            return f"{self.pick('-', '+', '~', '--')}{a()}"
        if k == 10:
            return f"{self.pick(self.int_literal(), str(self.r.randint(-9, 30)), '(' + str(self.r.randint(-9, 30)) + ')')} ** {self.pick(str(self.r.randint(0, 12)), str(self.r.randint(0, 12)), 'True', '-1')}"
        if k == 11:
            return f"({a()} {self.pick('<<', '>>')} {self.r.randint(-1, 70)})"
        if k == 12:
            return f"len({self.gen(self.pick('str', 'list', 'dict', 'tuple', 'set', 'strs', 'range'), d)})"
        if k == 13:
            return f"int({self.pick(self.gen('float', d), self.gen('str', d), repr(self.pick('12', ' -3 ', '1_0', '0x1f', 'abc', '')), self.gen('bool', d))})"
        if k == 14:
            return f"int({self.r.choice([repr(w) for w in ['ff', '0xff', '1010', '0b11', 'z', '777', '0o17', '12', '1_1', '-11', ' 7 ', '9', '']])}, {self.r.choice([0, 2, 8, 10, 16, 36, 3, 1, 37])})"
        if k == 15:
            return f"ord({self.pick(repr(self.r.choice('aZ0한é😀 ')), a('str'))})"
        if k == 16:
            return f"sum({self.gen(self.pick('list', 'list', 'set', 'range'), d)}{self.pick('', '', ', 10', ', start=1')})"
        if k == 17:
            return f"{self.pick('min', 'max')}({self.gen(self.pick('list', 'set', 'range'), d)}{self.pick('', '', ', default=0')})"
        if k == 18:
            return f"{self.pick('min', 'max')}({self.gen('int', d)}, {self.gen('int', d)}{self.pick('', ', ' + self.gen('number', d))}{self.pick('', '', ', key=abs', ', key=lambda x: -x', ', key=str')})"
        if k == 19:
            return f"abs({self.gen('int', d)})"
        if k == 20:
            return f"round({self.pick(self.gen('float', d), self.gen('int', d), self.gen('int', d) + ', ' + str(self.r.randint(-4, 2)))})"
        if k == 21:
            return f"{a('str')}.{self.pick('find', 'rfind', 'index', 'rindex', 'count')}({self.gen('str', d)}{self.pick('', '', ', ' + str(self.r.randint(-4, 6)), ', 1, -1', ', None, 3')})"
        if k == 22:
            return f"{a(self.pick('list', 'tuple'))}.{self.pick('index', 'count')}({self.gen('int', d)}{self.pick('', '', '') })"
        if k == 23:
            return f"divmod({self.gen('int', d)}, {self.gen('int', d)})[{self.pick('0', '1', '-1')}]"
        if k == 24:
            return f"pow({self.r.randint(-50, 200)}, {self.r.randint(-3, 40)}, {self.pick(self.r.randint(-20, 100), 97, 1000007)})"
        if k == 25:
            return f"{a('list')}[{self.index(d)}]"
        if k == 26:
            return f"{a('dict')}{self.pick('[' + self.gen('str', d) + ']', '.get(' + self.gen('str', d) + ')', '.get(' + self.gen('str', d) + ', ' + self.gen('int', d) + ')')}"
        if k == 27:
            return self.aggregate("sum", "int", d)
        if k == 28:
            return f"{a('bool')} + {a('bool')}"
        if k == 29:
            return f"range({self.r.randint(-3, 9)}, {self.r.randint(-3, 20)}, {self.pick(1, 2, -1, 3, -2)})[{self.index(d)}]"
        if k == 30:
            return f"len({self.gen('str', d)}.{self.pick('split()', 'strip()', 'splitlines()', 'upper()')})" if self.chance(0.3) else f"len({self.atom('str', d)}.{self.pick('split()', 'strip()', 'splitlines()', 'upper()')})"
        return self.conditional("int", d)

    def g_float(self, d):
        if d <= 0 or self.chance(0.12):
            return self.leaf("float", FLOATS, self.float_literal)
        d -= 1
        k = self.r.randint(0, 19)
        a = lambda t="float": self.atom(t, d)
        if k < 5:
            return f"{a(self.pick('float', 'float', 'int'))} {self.pick('+', '-', '*', '/', '//', '%')} {a(self.pick('float', 'float', 'int', 'number'))}"
        if k < 8:
            return f"{a('int')} / {a('int')}"
        if k == 8:
            return f"float({self.pick(self.gen('int', d), self.gen('str', d), repr(self.pick('1.5', ' 2e3 ', '-.5', '1_0.5', 'abc', '1e400', '0x1', '+3', '1.', '.')))})"
        if k < 11:
            return f"round({self.gen('float', d)}, {self.r.randint(-4, 8)})"
        if k == 11:
            return f"{self.pick('-', '+')}{a()}"
        if k == 12:
            return f"sum({self.gen('floats', d)}{self.pick('', ', 0.5', ', 0.0')})"
        if k == 13:
            return f"{self.pick('min', 'max')}({self.gen('float', d)}, {self.gen('number', d)})"
        if k == 14:
            return f"abs({self.gen('float', d)})"
        if k == 15:
            return f"{self.pick(2, 3, 10, 4, 1.5, 2.5, 0.5, 7, 9.0)} ** {self.pick(-1, -2, 0.5, 2.0, 3, -3, 0, 1.0)}"
        if k == 16:
            return f"divmod({self.gen('float', d)}, {self.gen('number', d)})[{self.pick(0, 1)}]"
        if k == 17:
            return f"{a('floats')}[{self.index(d)}]"
        if k == 18:
            return self.aggregate("sum", "float", d)
        return self.conditional("float", d)

    def index(self, d):
        return self.pick(str(self.r.randint(-3, 5)), str(self.r.randint(-2, 2)), "-1", "0", self.gen("int", min(d, 1)))

    def slice(self):
        n = lambda: self.pick("", "", str(self.r.randint(-5, 7)), str(self.r.randint(-3, 3)), "None")
        k = self.r.random()
        if k < 0.6:
            return f"[{n()}:{n()}]"
        return f"[{n()}:{n()}:{self.pick('', '1', '2', '-1', '-2', '3', '-1', '0' if self.chance(0.2) else '1')}]"

    # -- truth

    def g_bool(self, d):
        if d <= 0 or self.chance(0.1):
            return self.leaf("bool", [True, False], lambda: self.pick("True", "False"))
        d -= 1
        k = self.r.randint(0, 23)
        a = lambda t: self.atom(t, d)
        op = lambda: self.pick("<", "<=", ">", ">=", "==", "!=")
        if k < 4:
            t = self.pick("number", "str", "list", "tuple", "number")
            return f"{a(t)} {op()} {a(t)}"
        if k == 4:
            return f"{a('number')} {op()} {a('number')} {op()} {a('number')}"
        if k == 5:
            return f"{a('any')} {self.pick('==', '!=')} {a('any')}"
        if k == 6:
            return f"not {a(self.pick('bool', 'any'))}"
        if k < 9:
            return f"{a('bool')} {self.pick('and', 'or')} {a('bool')}"
        if k == 9:
            return f"{a('str')} {self.pick('in', 'not in')} {a(self.pick('str', 'strs', 'dict'))}"
        if k == 10:
            return f"{a('number')} {self.pick('in', 'not in')} {a(self.pick('list', 'tuple', 'set', 'range', 'floats'))}"
        if k < 13:
            return f"{a('str')}.{self.r.choice(ISMETHODS)}()"
        if k == 13:
            return f"{a('str')}.{self.pick('startswith', 'endswith')}({self.pick(self.gen('str', d), '(' + self.gen('str', d) + ', ' + self.gen('str', d) + ')')}{self.pick('', '', ', 1', ', 0, 3')})"
        if k == 14:
            return f"{self.pick('all', 'any')}({self.gen(self.pick('list', 'strs', 'tuple'), d)})"
        if k == 15:
            return self.aggregate(self.pick("all", "any"), "bool", d)
        if k == 16:
            return f"bool({self.gen('any', d)})"
        if k == 17:
            return f"{a('any')} {self.pick('is', 'is not')} {self.pick('None', 'None', 'True', 'False')}"
        if k == 18:
            return f"{a('dict')} == {a('dict')}"
        if k == 19:
            return f"{a('set')} {self.pick('==', '<=', '<', '>', '>=', '!=')} {a('set')}"
        if k == 20:
            return f"{a('bool')} {self.pick('&', '|', '^', '==', '<')} {a('bool')}"
        if k == 21:
            return f"{a('dict')}.{self.pick('keys', 'items')}() {self.pick('==', '<=')} {a('dict')}.{self.pick('keys', 'items')}()"
        return self.conditional("bool", d)

    # -- text

    def spec(self, typ):
        r = self.r
        out = ""
        if self.chance(0.4):
            if self.chance(0.4):
                out += r.choice("*_x0 한.,")
            out += r.choice("<>^=" if typ != "str" or self.chance(0.1) else "<>^")
        if self.chance(0.25 if typ != "str" else 0.05):
            out += r.choice("+- ")
        if self.chance(0.04):
            out += "z"
        if self.chance(0.15 if typ != "str" else 0.04):
            out += "#"
        if self.chance(0.2):
            out += "0"
        if self.chance(0.6):
            out += str(r.randint(0, 18))
        if self.chance(0.2 if typ != "str" else 0.04):
            out += r.choice(",_")
        if self.chance(0.5 if typ == "float" else 0.15 if typ == "str" else 0.04):
            out += "." + str(r.randint(0, 9))
        if self.chance(0.7):
            out += r.choice({"int": "ddbcoxXneEfFgG%", "float": "eEfFgGn%fff", "str": "s"}.get(typ, "sd"))
        if self.chance(0.02):
            out += r.choice("qydsz.,")
        return out

    def formatted_type(self):
        return self.pick("int", "int", "float", "float", "str", "str", "bool", "any")

    def fstring(self, d):
        for _ in range(8):
            quote = self.pick("'", '"', "'''", '"""')
            parts = []
            for _ in range(self.r.randint(1, 3)):
                parts.append(self.pick("", "a", "x: ", "{{", "}}", "한 ", "100%", "\\n", "\\x41"))
                typ = self.formatted_type()
                inner = self.gen(typ, d)
                if inner.startswith("{") or self.chance(0.1):
                    inner = " " + inner + self.pick("", " ")
                if "\\" in inner or "#" in inner or "lambda" in inner or "\n" in inner:
                    inner = self.local("int") or "1"
                tail = self.pick("", "", "", "!r", "!s", "!a", "=", " = ", "=!r" if self.chance(0.5) else "")
                if self.chance(0.55):
                    tail += ":" + (self.spec(typ) if self.chance(0.8) else self.pick("{1}{2}", ">{5}", "{4}", "0{3}", ".{2}f", "{8}.{3}", "{'>'}{6}"))
                parts.append("{" + inner + tail + "}")
            body = "".join(parts)
            if quote[0] in body or body.endswith("\\"):
                continue
            prefix = self.pick("f", "f", "f", "F", "rf" if "\\" not in body else "f")
            return prefix + quote + body + quote
        return "f'{1}'"

    def percent(self, d):
        parts, args = [], []
        for _ in range(self.r.randint(1, 3)):
            letter = self.r.choice("sssrdddiuxXoeEfFgGca%" + ("yq" if self.chance(0.1) else ""))
            flags = "".join(c for c in "-+ #0" if self.chance(0.12))
            width = self.pick("", "", str(self.r.randint(1, 12)), "*" if self.chance(0.2) else "")
            precision = self.pick("", "", "." + str(self.r.randint(0, 6)), "." if self.chance(0.2) else "")
            parts.append(self.pick("", "a ", "한=", "-") + "%" + flags + width + precision + letter)
            if width == "*" and letter != "%":
                args.append(str(self.r.randint(-8, 8)))
            if letter != "%":
                typ = {"s": "any", "r": "any", "a": "any", "c": self.pick("int", "str")}.get(letter, "number")
                args.append(self.gen(typ, d))
        fmt = repr("".join(parts))
        if self.chance(0.06):
            args = args[:-1]
        if self.chance(0.04):
            args.append("1")
        if len(args) == 1 and self.chance(0.3) and not args[0].startswith(("(", "{", "[")):
            return f"{fmt} % ({args[0]})"
        return f"{fmt} % ({', '.join(args)}{',' if len(args) == 1 else ''})"

    def percent_dict(self, d):
        keys = self.r.sample(["a", "b", "name", "n x"], 2)
        fmt = "".join(f"%({k}){self.pick('s', 'r', 'd', '5s', '-6s|', '.2f', '03d')}{self.pick('', ' ', '%%')}" for k in keys)
        return f"{fmt!r} % {{{keys[0]!r}: {self.gen('any', d)}, {keys[1] if self.chance(0.9) else 'zz'!r}: {self.gen('number', d)}}}"

    def format_method(self, d):
        n = self.r.randint(1, 3)
        kinds = [self.formatted_type() for _ in range(n)]
        args = [self.gen(t, d) for t in kinds]
        style = self.r.randint(0, 2)
        fmt, names = "", []
        for i, t in enumerate(kinds):
            field = "" if style == 0 else str(self.r.randint(0, n - 1)) if style == 1 else "k%d" % i
            if self.chance(0.03):
                field = self.pick("9", "zz", "0", "")
            fmt += self.pick("", "a", "{{", "}}", "한 ") + "{" + field + self.pick("", "", "!r", "!s", "!a") + (":" + self.spec(t).replace("{", "") if self.chance(0.5) else "") + "}"
        if self.chance(0.03):
            fmt += self.pick("{", "}", "{!", "{0!x}", "{a b}")
        call = ", ".join(f"k{i}={a}" for i, a in enumerate(args)) if style == 2 else ", ".join(args)
        return f"{fmt!r}.format({call})"

    def g_str(self, d):
        if d <= 0 or self.chance(0.12):
            return self.leaf("str", WORDS, self.string_literal)
        d -= 1
        k = self.r.randint(0, 40)
        a = lambda t="str": self.atom(t, d)
        if k < 4:
            return f"{a()} + {a()}"
        if k == 4:
            return self.pick(f"{a()} * {self.r.randint(-1, 4)}", f"{self.r.randint(0, 3)} * {a()}")
        if k < 7:
            return f"{a()}{self.slice()}"
        if k == 7:
            return f"{a()}[{self.index(d)}]"
        if k < 11:
            return f"{a()}.{self.r.choice(METHODS0)}()"
        if k == 11:
            return f"{a()}.{self.pick('strip', 'lstrip', 'rstrip')}({self.pick(self.gen('str', d), repr('ab '), 'None')})"
        if k < 14:
            return f"{a()}.replace({self.gen('str', 0)}, {self.gen('str', d)}{self.pick('', '', ', ' + str(self.r.randint(-1, 3)))})"
        if k == 14:
            return f"{a()}.{self.pick('join')}({self.pick(self.gen('strs', d), self.gen('str', d), self.comprehension('str', d, 'gen'))})"
        if k == 15:
            return f"{a()}.{self.pick('ljust', 'rjust', 'center')}({self.r.randint(-1, 14)}{self.pick('', ', ' + repr(self.pick('*', '한', '-', '0')), ', ' + self.gen('str', 0) if self.chance(0.2) else '')})"
        if k == 16:
            return f"{a()}.zfill({self.r.randint(0, 12)})"
        if k == 17:
            return f"{a()}.{self.pick('removeprefix', 'removesuffix')}({self.gen('str', 0)})"
        if k < 20:
            return f"str({self.gen('any', d)})"
        if k < 26:
            return self.fstring(d)
        if k < 30:
            return self.percent(d)
        if k == 30:
            return self.percent_dict(d)
        if k < 34:
            return self.format_method(d)
        if k == 34:
            return f"chr({self.pick(self.r.randint(32, 126), 0xac00, 0x1f600, 233, -1, 0x110000)})"
        if k == 35:
            return f"{self.pick('bin', 'oct', 'hex')}({self.gen('int', d)})"
        if k == 36:
            return f"{a('strs')}[{self.index(d)}]"
        if k == 37:
            return f"{a()}.{self.pick('partition', 'rpartition')}({self.gen('str', 0)})[{self.pick(0, 1, 2)}]"
        if k == 38:
            return f"{self.pick('min', 'max')}({self.gen('strs', d)}{self.pick('', ', key=len', ', key=str.lower', ', key=lambda s: (len(s), s)', ', default=' + repr('x'))})"
        return self.conditional("str", d)

    # -- collections

    def loop_source(self, d):
        """An iterable, the target that its items go to, and the types of the names."""
        k = self.r.randint(0, 8)
        x, y = f"x{len(self.locals)}", f"y{len(self.locals)}"
        if k < 3:
            return x, self.pick(f"range({self.r.randint(0, 6)})", self.gen("list", d)), [(x, "int")]
        if k == 3:
            return x, self.gen("strs", d), [(x, "str")]
        if k == 4:
            return x, self.gen("str", d), [(x, "str")]
        if k == 5:
            return f"{x}, {y}", f"{self.atom('dict', d)}.items()", [(x, "str"), (y, "int")]
        if k == 6:
            return f"{x}, {y}", f"enumerate({self.gen('strs', d)}{self.pick('', ', 1')})", [(x, "int"), (y, "str")]
        if k == 7:
            return self.pick(f"({x}, {y})", f"{x}, {y}", f"[{x}, {y}]"), f"zip({self.gen('list', d)}, {self.gen('strs', d)})", [(x, "int"), (y, "str")]
        return x, self.gen("floats", d), [(x, "float")]

    def comprehension(self, typ, d, kind):
        before = len(self.locals)
        loops = ""
        for i in range(2 if self.chance(0.15) else 1):
            target, source, names = self.loop_source(min(d, 1) if i == 0 else 0)
            self.locals += names
            if " if " in source or "lambda" in source:
                source = f"({source})"
            loops += f" for {target} in {source}"
            if self.chance(0.35):
                condition = self.gen("bool", min(d, 1))
                loops += f" if ({condition})" if " if " in condition else f" if {condition}"
        element = self.gen(typ, d)
        if kind == "dict":
            key = self.gen("str", 0)
            self.locals = self.locals[:before]
            return "{" + f"{key}: {element}{loops}" + "}"
        self.locals = self.locals[:before]
        if kind == "gen":
            return f"{element}{loops}"
        return {"list": "[%s]", "set": "{%s}"}[kind] % (element + loops)

    def aggregate(self, function, typ, d):
        return f"{function}({self.comprehension(typ, d, self.pick('gen', 'gen', 'list'))})"

    def items(self, typ, d, low=0):
        return ", ".join(self.gen(typ, d) for _ in range(self.r.randint(low, 4)))

    def g_list(self, d):
        if d <= 0 or self.chance(0.1):
            return self.leaf("list", [[], [1], [3, 1, 2], [1, 2, 3, 4, 5], [0, -1, 7, 7], [10, 20, 30]], lambda: "[" + self.items("int", 0) + "]")
        d -= 1
        k = self.r.randint(0, 19)
        a = lambda t="list": self.atom(t, d)
        if k < 3:
            return "[" + self.items("int", d) + "]"
        if k < 6:
            return self.comprehension("int", d, "list")
        if k == 6:
            return f"{a()}{self.slice()}"
        if k == 7:
            return self.pick(f"sorted({self.gen(self.pick('list', 'tuple'), d)}{self.pick('', ', reverse=True', ', key=abs', ', key=lambda v: -v', ', key=str', ', key=lambda v: v % 3')})",
                             f"sorted({self.gen('set', d)}{self.pick('', ', reverse=True', ', key=lambda v: -v')})")
        if k == 8:
            return f"list(range({self.r.randint(-3, 9)}{self.pick('', ', ' + str(self.r.randint(-3, 12)), ', 9, 2', ', -5, -2')}))"
        if k == 9:
            return f"list(map({self.pick('int', 'abs', 'len', 'lambda v: v * 2', 'ord', 'round', 'bool')}, {self.gen(self.pick('list', 'strs', 'str', 'floats'), d)}))"
        if k == 10:
            return f"list(filter({self.pick('None', 'lambda v: v > 1', 'lambda v: v % 2', 'bool')}, {self.gen('list', d)}))"
        if k == 11:
            return f"{a()} + {a()}"
        if k == 12:
            return self.pick(f"{a()} * {self.r.randint(-1, 3)}", f"{self.r.randint(0, 3)} * {a()}")
        if k == 13:
            return f"list(reversed({self.gen(self.pick('list', 'tuple', 'range'), d)}))"
        if k == 14:
            return f"list({a('dict')}.values())"
        if k == 15:
            return f"list(map(lambda p, q: p {self.pick('+', '*', '-')} q, {self.gen('list', d)}, {self.gen('list', d)}))"
        if k == 16:
            return f"list({self.gen(self.pick('tuple', 'range', 'list'), d)})"
        if k == 17:
            return f"sum([{self.gen('list', d)}, {self.gen('list', d)}], [])"
        return self.conditional("list", d)

    def g_floats(self, d):
        if d <= 0 or self.chance(0.3):
            return self.leaf("floats", [[], [1.5], [0.1, 0.2, 0.3], [2.5, -1.0]], lambda: "[" + self.items("float", 0) + "]")
        return self.pick("[" + self.items("float", d - 1) + "]", self.comprehension("float", d - 1, "list"), f"sorted({self.gen('floats', d - 1)})")

    def g_strs(self, d):
        if d <= 0 or self.chance(0.15):
            return self.leaf("strs", [[], ["a"], ["b", "a", "C"], ["한국", "x", ""], ["one", "two", "three"]], lambda: "[" + self.items("str", 0) + "]")
        d -= 1
        k = self.r.randint(0, 13)
        a = lambda t="str": self.atom(t, d)
        if k < 3:
            return f"{a()}.{self.pick('split', 'rsplit')}({self.pick('', '', repr(self.pick(',', ' ', 'a', ';', 'ab')), repr(',') + ', ' + str(self.r.randint(-1, 2)), 'None, 1', 'maxsplit=1', 'sep=' + repr('b'), self.gen('str', 0))})"
        if k == 3:
            return f"{a()}.splitlines({self.pick('', 'True', 'keepends=True')})"
        if k < 6:
            return self.comprehension("str", d, "list")
        if k == 6:
            return self.pick(f"sorted({self.gen(self.pick('strs', 'str', 'dict'), d)}{self.pick('', ', reverse=True', ', key=len', ', key=str.lower', ', key=lambda w: w[::-1]')})",
                             f"sorted({self.gen('strset', d)}{self.pick('', ', reverse=True', ', key=lambda w: w[::-1]')})")
        if k == 7:
            return f"list({self.gen(self.pick('dict', 'str', 'strs'), d)})"
        if k == 8:
            return f"list(map({self.pick('str', 'str.upper', 'str.strip', 'lambda w: w + w', 'hex')}, {self.gen(self.pick('list', 'strs'), d)}))"
        if k == 9:
            return f"list({a()}.{self.pick('partition', 'rpartition')}({self.gen('str', 0)}))"
        if k == 10:
            return f"{a('strs')}{self.slice()}"
        if k == 11:
            return f"{a('strs')} + {a('strs')}"
        if k == 12:
            return "[" + self.items("str", d) + "]"
        return self.conditional("strs", d)

    def g_tuple(self, d):
        if d <= 0:
            return "(" + self.gen("int", 0) + ", " + self.gen("int", 0) + ")"
        d -= 1
        k = self.r.randint(0, 9)
        if k < 3:
            n = [self.gen(self.pick("int", "str", "any"), d) for _ in range(self.r.randint(0, 4))]
            return "(" + ", ".join(n) + ("," if len(n) == 1 or n and self.chance(0.2) else "") + ")"
        if k == 3:
            return f"tuple({self.gen(self.pick('list', 'str', 'range', 'strs'), d)})"
        if k == 4:
            return f"divmod({self.gen('number', d)}, {self.gen('number', d)})"
        if k == 5:
            return f"{self.atom('tuple', d)}{self.slice()}"
        if k == 6:
            return f"{self.atom('tuple', d)} {self.pick('+')} {self.atom('tuple', d)}"
        if k == 7:
            return f"{self.atom('str', d)}.{self.pick('partition', 'rpartition')}({self.gen('str', 0)})"
        if k == 8:
            return f"tuple({self.comprehension('int', d, 'gen')})"
        return self.conditional("tuple", d)

    def g_pairs(self, d):
        d = max(d - 1, 0)
        return self.pick(
            f"list({self.atom('dict', d)}.items())",
            f"list(enumerate({self.gen(self.pick('strs', 'str'), d)}{self.pick('', ', 1', ', start=-2')}))",
            f"list(zip({self.gen('list', d)}, {self.gen('strs', d)}{self.pick('', ', ' + self.gen('list', d), ', strict=True')}))",
            f"sorted({self.atom('dict', d)}.items(){self.pick('', ', key=lambda kv: kv[1]', ', reverse=True')})",
            "[" + self.comprehension("int", d, "list") + "]",
        )

    def g_dict(self, d):
        if d <= 0 or self.chance(0.15):
            return self.leaf("dict", [{}, {"a": 1}, {"a": 1, "b": 2}, {"a": 3, "hello": 5, "한국어": 7}, {"ab": -1, "x": 0}],
                             lambda: "{" + ", ".join(f"{self.r.choice(WORDS)!r}: {self.gen('int', 0)}" for _ in range(self.r.randint(0, 3))) + "}")
        d -= 1
        k = self.r.randint(0, 8)
        if k < 3:
            return "{" + ", ".join(f"{self.gen('str', d)}: {self.gen('int', d)}" for _ in range(self.r.randint(0, 3))) + "}"
        if k < 5:
            return self.comprehension("int", d, "dict")
        if k == 5:
            return f"dict(zip({self.gen('strs', d)}, {self.gen('list', d)}))"
        if k == 6:
            return f"dict({self.pick('', self.gen('dict', d), self.gen('dict', d) + ', k=1', 'a=1, b=' + self.gen('int', d))})"
        if k == 7:
            return f"{self.atom('dict', d)} | {self.atom('dict', d)}"
        return self.conditional("dict", d)

    def g_range(self, d):
        return f"range({self.pick(self.r.randint(-2, 9), str(self.r.randint(-5, 5)) + ', ' + str(self.r.randint(-5, 12)), '0, 20, 3', '10, 0, -3')}){self.slice() if self.chance(0.2) else ''}"

    def clean(self, make):
        """Without operands of a wrong type, which a set's order could show."""
        chance, self.chance = self.chance, lambda p: False if p == 0.035 else chance(p)
        e = make()
        self.chance = chance
        return e

    def g_set(self, d):
        d = max(d - 1, 0)
        return self.clean(lambda: self.pick("set()", "{" + self.items("int", 0, 1) + "}", f"set({self.gen('list', 0)})", self.comprehension("int", 0, "set") if d else "{1, 2}",
                          f"({self.gen('set', d)} {self.pick('|', '&', '-', '^')} {self.gen('set', d)})" if d else "{3}"))

    def g_strset(self, d):
        return self.clean(lambda: self.pick("set()", "{" + self.items("str", 0, 1) + "}", f"set({self.gen('str', 0)})", f"({self.gen('dict', 0)}.keys() {self.pick('|', '&', '-', '^')} {self.gen('dict', 0)}.keys())"))

    def top(self):
        self.vars, self.locals = {}, []
        typ = self.pick("int", "int", "float", "float", "str", "str", "str", "bool", "bool", "list", "strs", "tuple", "dict", "any", "floats", "pairs", "number")
        e = self.gen(typ, self.r.randint(1, 4))
        return e

    def wrong_call(self):
        """A call with any arguments: the messages about their number, names and types."""
        self.vars, self.locals = {}, []
        args = [self.gen("any", self.r.randint(0, 1)) for _ in range(self.pick(0, 1, 1, 2, 2, 3, 4))]
        names = [f"{n}={self.gen('any', 0)}" for n in self.r.sample(["x", "key", "default", "start", "sep", "base", "ndigits", "reverse", "strict"], self.pick(0, 0, 0, 1, 2))]
        call = "(" + ", ".join(args + names) + ")"
        if self.chance(0.5):
            f = self.r.choice([n for n in FUNCTIONS if n not in ("set", "pow")])
            return f"str({f}{call})" if f in ("range",) else f"list({f}{call})" if f in ("enumerate", "filter", "map", "reversed", "zip") else f + call
        method = self.pick(*METHODS0, *ISMETHODS, "split", "rsplit", "splitlines", "join", "replace", "startswith", "endswith", "removeprefix", "find", "rindex", "count", "partition", "zfill", "ljust", "center", "index", "get", "keys", "nosuch")
        return f"{self.atom(self.pick('str', 'str', 'str', 'list', 'tuple', 'dict', 'any'), 0)}.{method}{call}" if method not in ("keys",) else f"list({self.atom('dict', 0)}.keys{call})"

    # -- dense productions: many combinations of one feature

    def soup(self):
        """Operators without brackets: what binds tighter than what, with numbers so small that powers stay small."""
        self.vars, self.locals = {}, []
        n = lambda: self.pick(*"0123456789", "True", "False", "2.5", "0.5", "-1", "+3", "~4", "not 1" if self.chance(0.1) else "5", "(1, 2)" if self.chance(0.05) else "6")
        out, powers = n(), 0
        for _ in range(self.r.randint(2, 9)):
            op = self.r.choice("+ - * / // % & | ^ < <= > >= == != and or + - * //".split() + ["**", "<<", ">>", "is None and", "in (1, 2) or", "not in [3] and", "if 1 else", "if 0 else"])
            if op in ("**", "<<", ">>"):
                powers += 1
                if powers > 2:
                    op = "-"
                else:
                    out += f" {op} {self.r.randint(0, 3)}"
                    continue
            out += f" {op} {self.pick('', '', '', '-', 'not ' if op in ('and', 'or', 'if 1 else', 'if 0 else') else '-')}{n()}"
        return out

    def formats(self):
        """A value and a specification, by each of the three ways."""
        self.vars, self.locals = {}, []
        typ = self.pick("int", "int", "float", "float", "float", "str", "bool")
        x = {"float": lambda: self.pick(self.r.choice(FLOATS), self.r.uniform(-1, 1) * 10 ** self.r.randint(-12, 25), round(self.r.uniform(-1e4, 1e4), self.r.randint(0, 3)), float("inf") if self.chance(0.3) else 0.5),
             "int": lambda: self.pick(self.r.choice(INTS), self.r.choice(BIG), self.r.randint(-10**7, 10**7)), "str": lambda: self.r.choice(WORDS), "bool": lambda: self.chance(0.5)}[typ]()
        if x == float("inf"):
            x, text = None, self.pick("float('inf')", "-float('inf')", "float('1e999')")
        else:
            text = self.variable(typ, x) if self.chance(0.5) else f"({x!r})"
        spec = self.spec(typ if typ != "bool" else "int")
        k = self.r.randint(0, 3)
        if k == 0 and "\\" not in spec and "\\" not in text and '"' not in text:
            return f'f"{{{text}:{spec}}}"'
        if k == 1:
            return f"{'{:' + spec + '}'!r}.format({text})"
        if k == 2:
            flags = "".join(self.r.sample("-+ #0", self.pick(0, 0, 1, 1, 2, 3)))
            letter = self.r.choice({"int": "ddxXoeEfgGsrci", "float": "feEgGdsrFi", "str": "srac", "bool": "dsxf"}[typ])
            return f"{'%' + flags + self.pick('', str(self.r.randint(0, 20))) + self.pick('', '.', '.' + str(self.r.randint(0, 12))) + letter!r} % ({text},)"
        return f"'{{:{{}}}}'.format({text}, {spec!r})"

    def texts(self):
        """Methods of strings over few characters, where edges are frequent."""
        self.vars, self.locals = {}, []
        alphabet = self.pick("ab", "ab ", "a,b", "aA1_", " \t\n\r\x0b\x1c\u3000a", "한국a ", "ßŉΣσςİıǅﬁ'a.", "12²½٣五-+.eE_ ", "a\n\r", "{}:!0a", "'\"\\a\x00é\u200b")
        s = "".join(self.r.choice(alphabet) for _ in range(self.r.randint(0, 9)))
        t = "".join(self.r.choice(alphabet) for _ in range(self.pick(0, 1, 1, 2)))
        v, w, n = self.variable("str", s), repr(t), lambda: self.pick("None", *map(str, range(-4, 8)))
        return self.r.choice([
            f"{v}.{self.r.choice(METHODS0 + ISMETHODS + ['istitle', 'isascii'])}()", f"{v}.{self.pick('strip', 'lstrip', 'rstrip')}({w})",
            f"{v}.{self.pick('find', 'rfind', 'index', 'rindex', 'count')}({w}, {n()}, {n()})", f"{v}.{self.pick('find', 'rfind', 'count', 'startswith', 'endswith')}({w}, {n()})",
            f"{v}.{self.pick('startswith', 'endswith')}({w}, {n()}, {n()})", f"{v}.{self.pick('split', 'rsplit')}({w})", f"{v}.{self.pick('split', 'rsplit')}({w}, {self.r.randint(-1, 3)})",
            f"{v}.{self.pick('split', 'rsplit')}({self.pick('', 'None', 'None, ' + str(self.r.randint(-1, 3)))})", f"{v}.splitlines({self.pick('', 'True', 'False', '1')})",
            f"{v}.replace({w}, {self.pick(repr('xy'), repr(''), w)}{self.pick('', ', 1', ', -1', ', 0', ', 2')})", f"{v}.{self.pick('partition', 'rpartition')}({w})",
            f"{v}.{self.pick('center', 'ljust', 'rjust', 'zfill')}({self.r.randint(0, 14)})", f"{v}.center({self.r.randint(0, 14)}, {self.pick(w, repr('*'))})",
            f"{v}[{self.pick('', n(), n())}:{self.pick('', n(), n())}:{self.pick('', '1', '-1', '2', '-2', '3', 'None')}]", f"{v}[{self.r.randint(-5, 6)}]", f"str([{v}, {w}])", f"f'{{{v}!a}}{{{v}!r}}'",
            f"{self.pick('int', 'float')}({v})", f"int({v}, {self.pick(0, 2, 8, 16, 36)})", f"{v} {self.pick('<', '<=', '==', '>', 'in', 'not in')} {w}", f"{w}.join({v})", f"sorted({v})", f"list(map(ord, {v}))",
            f"[c.{self.r.choice(ISMETHODS)}() for c in {v}]", f"[{v}.{self.pick('upper', 'lower', 'title', 'swapcase', 'capitalize', 'casefold')}(), len({v})]", f"{v}.format({w}, a=1)", f"{v} % ({w},)",
            f"{v}.{self.pick('removeprefix', 'removesuffix')}({w})", f"dict(zip({v}, range(9)))", f"{{c: {v}.count(c) for c in {v}}}", f"max({v}, default={w})", f"list(enumerate({v}, {self.r.randint(-2, 2)}))",
            f"list(reversed({v}))", f"''.join(reversed({v}))", f"len(set({v}))", f"{v} * 3 == {w} or {v} + {w}",
        ])

    def numbers(self):
        """Arithmetic on the edges of 53, 63 and 64 bits, and on floats of every size."""
        self.vars, self.locals = {}, []
        def one():
            k = self.r.randint(0, 6)
            if k < 2:
                v = self.pick(2**53, 2**62, 2**63, 2**64, 2**31, 10**15, 10**19, 3**40) + self.r.randint(-3, 3)
                v = -v if self.chance(0.3) else v
            elif k == 2:
                v = self.r.randint(-20, 20)
            elif k == 3:
                v = self.r.choice(FLOATS)
            elif k == 4:
                v = self.r.uniform(-1, 1) * 10 ** self.r.randint(-8, 20)
            elif k == 5:
                v = float(self.pick(2**53, 2**62, 2**63, 2**64, 10**15, 10**19) * self.pick(1, -1))
            else:
                v = self.pick(0.5, 1.5, 2.5, -0.5, 0.1, 1e308, -1e308, 1e-308)
            return self.variable("int" if isinstance(v, int) else "float", v)
        a, b = one(), one()
        op = self.pick("+", "-", "*", "/", "//", "%", "<", "<=", "==", "!=", ">", ">=")
        return self.r.choice([f"{a} {op} {b}", f"{a} {op} {b}", f"-{a} {op} {b}", f"divmod({a}, {b})", f"round({a}, {self.r.randint(-20, 20)})", f"round({a})", f"int({a})", f"float({a})", f"str({a})", f"abs({a})",
                              f"{a} in [{b}, 1]", f"{{{a}: 1}}.get({b})", f"len({{{a}, {b}, 1.0, True}})", f"max({a}, {b}), min({a}, {b})", f"sorted([{a}, {b}, 0, 2.5])", f"sum([{a}, {b}, 1])",
                              f"{a} {self.pick('&', '|', '^')} {b}", f"{a} >> {self.r.randint(0, 70)}", f"hex(int({a}))", f"{a} * {b} - {a} // {self.pick(7, -7, 2.5)}", f"pow({a}, {self.r.randint(0, 5)})", f"bool({a}) + {b}",
                              f"({a}, {b}) < ({b}, {a})", f"{a} == {b} or {a} is None", f"pow(int({a}), {self.r.randint(0, 9)}, {self.r.randint(-99, 99)})", f"f'{{{a}:,}} {{{b}:.3g}}'", f"int(str(int({a})))", f"{a} ** {self.r.randint(-3, 4)}"])

    def nested(self):
        """Data within data, as arguments from JSON have it."""
        self.vars, self.locals = {}, []
        rows = [{"age": self.r.choice([3, 41, 17, None, 2.5]), "name": self.r.choice(WORDS), "tags": self.r.sample(["a", "b", "c"], self.r.randint(0, 3))} for _ in range(self.r.randint(0, 4))]
        v = self.variable("rows", rows)
        m = self.variable("matrix", [[self.r.randint(-5, 9) for _ in range(3)] for _ in range(self.r.randint(0, 3))])
        d = self.variable("data", {"k": [1, [2, {"z": None}]], "n": self.r.choice(INTS), "s": self.r.choice(WORDS)})
        return self.r.choice([
            f"[r['name'] for r in {v} if r['age'] and r['age'] > 10]", f"sorted({v}, key=lambda r: r['name'])", f"sorted([r['age'] for r in {v}])", f"max({v}, key=lambda r: len(r['tags']), default=None)",
            f"{{r['name']: r['tags'] for r in {v}}}", f"sum(len(r['tags']) for r in {v})", f"[t for r in {v} for t in r['tags'] if t != 'b']", f"', '.join(f\"{{r['name']}}={{r['age']}}\" for r in {v})",
            f"{v}[0]['tags'][-1]", f"{v}[{self.r.randint(-2, 3)}].get('age', 0)", f"[sum(row) for row in {m}]", f"list(zip({m}[0], {m}[-1]))", f"[[row[i] for row in {m}] for i in range(3)]", f"sum(sum(row) for row in {m})",
            f"[max(row, key=abs) for row in {m}]", f"{d}['k'][1][1]['z'] is None", f"{d}['k'][1][{self.r.randint(-3, 3)}]", f"str({d})", f"str({v})", f"len({d}), list({d}), sorted({d}.keys())", f"[(k, v) for k, v in {d}.items() if k in 'kn']",
            f"{d} == {{**{d}}}" if False else f"{d} | {{'k': 0}}", f"{d}['nope']", f"[{d}[k] for k in sorted({d})]", f"{m} == sorted({m})", f"{m} < [[0]]", f"[x * y for row in {m} for x, y in zip(row, row[1:])]",
            f"dict(enumerate({m}))", f"any(0 in row for row in {m})", f"[list(map(lambda x: x + k, row)) for k, row in enumerate({m})]", f"list(filter(lambda r: 'a' in r['tags'], {v}))", f"str({d}.items())", f"str({d}.keys()), str({d}.values())",
            f"{{(a, b): a * b for a in range(3) for b in range(2)}}", f"{{tuple(row): 1 for row in {m}}}", f"[row[:] + [0] for row in {m}][::-1]", f"{{1: 'a', True: 'b', 1.0: 'c', 0: 'd'}}", f"str({{str(k): [k] * k for k in range(3)}})",
            f"(lambda_ := 1)" if False else f"[x for x in {m} if not x[0] % 2] or 'none'", f"{v} and {v}[0]['name'].upper() or 'empty'", f"'%(n)s and %(s)r' % {d}", f"'{{n}}-{{s!r:>8}}'.format(n={d}['n'], s={d}['s'])",
            f"range({self.r.randint(-3, 5)}, {self.r.randint(-3, 12)}, {self.pick(1, 2, -1, -2, 3)}) == range({self.r.randint(-3, 5)}, 7)", f"str(range({self.r.randint(-3, 9)}, {self.r.randint(-3, 9)}, {self.pick(1, 2, -1)})[{self.pick('', '1', '-2', '-9', '4')}:{self.pick('', '3', '-1', '9')}:{self.pick('', '2', '-1', '-2')}])",
            f"[*range(3)]" if False else f"[x for x in range(5)][{self.r.randint(-3, 3)}:]", f"'x' in {d} and {d}['x'] or {d}.get('s')", f"[y for x in {m} for y in x if y > 0 if y % 2]", f"[[y for y in x if y in {m}[0]] for x in {m}]",
            f"sorted({v}, key=lambda r: (len(r['tags']), r['name']), reverse=True)", f"list(map(lambda r, i: (i, r['name']), {v}, range(9)))", f"min((r['name'] for r in {v}), default='-')", f"sorted({v})", f"{v} + {m}", f"{d}['n'] + {d}['s']",
        ])

    def broken(self):
        """An expression that lost, doubled or gained a character: what is no expression is none here too."""
        e = self.top()
        if "lambda" in e or len(e) > 200:
            return None
        for _ in range(self.r.randint(1, 2)):
            i = self.r.randrange(len(e) + 1)
            k = self.r.random()
            e = e[:i] + e[i + 1:] if k < 0.4 else e[:i] + self.r.choice("()[]{},:.+-*/ 'a1=<%") + e[i:] if k < 0.8 else e[:i] + e[i:i + 1] + e[i:]
        return e


class Slow(Exception):
    pass


def alarm(*_):
    raise Slow()


def shows_hidden(v, depth=0):
    """Whether a value shows what CPython does not promise, or what the package refuses on purpose."""
    if isinstance(v, (complex, set, frozenset, bytes)) or callable(v):
        return True
    if isinstance(v, dict):
        return any(shows_hidden(k) or shows_hidden(w) for k, w in v.items())
    if isinstance(v, (list, tuple)):
        return any(shows_hidden(w) for w in v)
    return isinstance(v, float) and v != v


REFUSED = ("*", ":=", "yield", "await", "async", "...", "j", "J", "b'", 'b"', "B'", 'B"', "_", "\\N", "lambda")


def globals_of(code):
    """The names of a code object and of those within it, attributes among them."""
    return set(code.co_names).union(*(globals_of(c) for c in code.co_consts if isinstance(c, type(code))))


def compares_identity(e):
    """Whether `is` has an operand other than None, True and False on both sides, which the package refuses."""
    single = lambda n: isinstance(n, ast.Constant) and (n.value is None or isinstance(n.value, bool))
    return any(isinstance(op, (ast.Is, ast.IsNot)) and not single(a) and not single(b)
               for n in ast.walk(ast.parse(e.strip(), mode="eval")) if isinstance(n, ast.Compare) for op, a, b in zip(n.ops, [n.left, *n.comparators], n.comparators))


def evaluate(e, values, broken):
    line = {"e": e, "v": values}
    try:
        code = compile(e, "<expression>", "eval")
    except SyntaxError as x:
        if not broken:
            line.update(x="SyntaxError", m=x.msg)
            return line
        line.update(x="SyntaxError")  # the message of a broken expression is not compared
        return line
    except (ValueError, MemoryError, RecursionError):
        return None
    if compares_identity(e):
        return None
    if broken and not globals_of(code) <= set(values) | set(FUNCTIONS) | set(dir(str)) | {"get", "keys", "values", "items"}:
        return None  # names are found when compiling here, and when they are reached there
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        v = eval(code, {"__builtins__": ALLOWED, **json.loads(json.dumps(values))})
        if shows_hidden(v):
            return None
        r = repr(v)
        if " at 0x" in r or len(r) > 2000:
            return None
        line.update(t=type(v).__name__, r=r)
    except (Slow, MemoryError, RecursionError):
        return None
    except Exception as x:
        if " at 0x" in str(x) or "complex" in str(x) or len(str(x)) > 2000:
            return None
        line.update(x=type(x).__name__, m=str(x))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return line


def lines(seed, count):
    g = Generator(seed)
    seen = set()
    while count:
        kind = g.r.random()
        dense = [g.soup, g.formats, g.formats, g.texts, g.texts, g.numbers, g.nested]
        e = g.wrong_call() if kind < 0.06 else g.broken() if kind < 0.10 else g.r.choice(dense)() if kind < 0.40 else g.top()
        broken = 0.06 <= kind < 0.10
        if not e or e in seen or len(e) > 1500 or broken and (e[0].isspace() or any(w in e for w in REFUSED) or re.search(r"\bis\b(?! (not )?(None|True|False)\b)", e)):
            continue
        values = {k: v for k, v in g.vars.items() if re.search(rf"\b{k}\b", e)}
        if any(isinstance(v, dict) and list(v) != sorted(v) for v in values.values()):
            continue  # a JSON object's order is not kept here
        line = evaluate(e, values, broken)
        if line is None or any(0xD800 <= ord(c) <= 0xDFFF for c in line.get("r", "") + line.get("m", "")):
            continue
        seen.add(e)
        count -= 1
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def written():
    """The expressions of written.txt, whose first line that is no remark has the variables."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "written.txt"), encoding="utf-8") as f:
        texts = [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]
    values = json.loads(texts[0])
    for e in texts[1:]:
        used = {k: v for k, v in values.items() if re.search(rf"\b{k}\b", e)}
        yield json.dumps(evaluate(e, used, False), ensure_ascii=False, separators=(",", ":"))


def main():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
    signal.signal(signal.SIGALRM, alarm)
    if sys.argv[1] == "--written":
        print("\n".join(written()))
        return
    if sys.argv[1] == "--record":
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds.txt")) as f:
            seeds = [int(w) for line in f if not line.startswith("#") for w in line.split()]
        with gzip.GzipFile(sys.argv[2], "wb", 9, mtime=0) as out:
            out.write((json.dumps({"python": sys.version.split()[0], "seeds": seeds}) + "\n").encode())
            for seed in seeds:
                for line in lines(seed, 1000):
                    out.write((line + "\n").encode())
        return
    for line in lines(int(sys.argv[1]), int(sys.argv[2])):
        print(line)


main()
