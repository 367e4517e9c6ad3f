"""Writes what CPython says behind every example of the comments, `//<tab>expression → result`. Nothing changes when all are right."""
import builtins, glob, os, re, sys, warnings

warnings.simplefilter("ignore")
here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
names = "abs all any bool divmod enumerate filter float int len list map max min pow range reversed round set sorted str sum tuple zip dict ord chr bin oct hex".split()
allowed = {"__builtins__": {n: getattr(builtins, n) for n in names}}


def result(expression):
    try:
        return repr(eval(expression, dict(allowed)))
    except Exception as e:
        message = e.msg if isinstance(e, SyntaxError) else str(e)
        return type(e).__name__ + ": " + message


for path in glob.glob(os.path.join(here, "*.go")) + glob.glob(os.path.join(here, "*", "*.go")):
    with open(path, encoding="utf-8") as f:
        before = f.read()
    after = re.sub(r"(?m)^//\t(.*) →.*$", lambda m: f"//\t{m[1]} → {result(m[1])}", before)
    if after != before:
        print(os.path.basename(path))
        with open(path, "w", encoding="utf-8") as f:
            f.write(after)
