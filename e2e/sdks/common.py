"""What the scripts share: python SCRIPT BASE MODEL... runs every check against every model and tells the failures."""

import sys
import traceback

from pydantic import BaseModel

ASK = 'City "Rome" with 2873000 people at 41.9 degrees, mayor "Ann" aged 44'
WEATHER = "What is the weather in Paris for 3 days?"


class Mayor(BaseModel):
    name: str
    age: int


class City(BaseModel):
    """A city."""

    name: str
    population: int
    latitude: float
    mayor: Mayor


def is_rome(city):
    """The numbers and texts of ASK, in whatever class the client made of them."""
    assert isinstance(city.population, int) and city.population == 2873000, city
    assert isinstance(city.latitude, float) and city.latitude == 41.9, city
    assert isinstance(city.mayor.age, int) and city.name and city.mayor.name, city


def main(*checks):
    base, models = sys.argv[1], sys.argv[2:]
    failed = 0
    for model in models:
        for check in checks:
            try:
                check(base, model)
            except Exception:
                failed += 1
                print(f"--- {model}, {check.__name__}")
                traceback.print_exc(limit=-3, file=sys.stdout)
    print(f"{len(models) * len(checks)} checks, {failed} failed: " + ", ".join(c.__name__ for c in checks))
    sys.exit(failed > 0)
