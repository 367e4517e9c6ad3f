"""Writes ../unicode.txt: what CPython's strings know about characters. Run it with the CPython whose messages the package has."""
import sys, unicodedata

everything = [chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def ranges(name, has):
    out, start, last = [], None, None
    for c in everything:
        n = ord(c)
        if has(c):
            if start is None:
                start = n
            last = n
        elif start is not None:
            out.append(f"{start:x}-{last:x}" if last > start else f"{start:x}")
            start = None
    if start is not None:
        out.append(f"{start:x}-{last:x}")
    return name + " " + " ".join(out)


def mapping(name, to):
    pairs = (f"{ord(c):x}:{'.'.join(f'{ord(d):x}' for d in to(c))}" for c in everything if to(c) != c)
    return name + " " + " ".join(pairs)


def cased(c):
    return (c + "A").title().endswith("a")


def ignorable(c):
    """A character that handle_capital_sigma skips: a letter behind it still counts, and it does not count itself."""
    return ("AΣ" + c + "B").lower()[1] == "σ" and ("AΣ" + c).lower()[1] == "ς"


with open(sys.argv[1], "w", encoding="ascii") as f:
    print(f"# CPython {sys.version.split()[0]}, Unicode {unicodedata.unidata_version}; made by testdata/unicode.py", file=f)
    for method in "isprintable isalpha isdecimal isdigit isnumeric isspace isupper islower".split():
        print(ranges(method, getattr(str, method)), file=f)
    print(ranges("cased", cased), file=f)
    print(ranges("ignorable", ignorable), file=f)
    for method in "upper lower title casefold".split():
        print(mapping(method, getattr(str, method)), file=f)
