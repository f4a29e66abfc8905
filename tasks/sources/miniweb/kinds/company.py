"""Companies."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.kind import IT, Draft, Kind, thousands
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

TAILS = ("x", "n", "r", "tt", "l", "nd", "rm", "ss", "ck", "nt", "lt", "rk", "sk", "rg", "mm", "v")
_SECTORS = (
    (" Instruments", "a maker of scientific instruments", "barometers"),
    (" Shipyards", "a shipbuilding company", "river ferries"),
    (" Ironworks", "an ironworks company", "iron girders"),
    (" Breweries", "a brewing company", "dark beers"),
    (" Glassworks", "a maker of glass", "lamp globes"),
    (" Foundries", "an iron and steel company", "church bells"),
    (" Railways", "a railway company", "narrow-gauge locomotives"),
    (" Engineering", "an engineering company", "lifting cranes"),
    (" Paper", "a paper manufacturer", "drawing papers"),
    (" Bicycles", "a bicycle maker", "touring bicycles"),
    (" Turbines", "a maker of turbines", "water turbines"),
    (" Construction", "a construction company", "caissons"),
    (" Ceramics", "a maker of ceramics", "roof tiles"),
    (" Cables", "a cable manufacturer", "submarine cables"),
    (" Clocks", "a clock-making company", "station clocks"),
    (" Foods", "a food company", "tinned sardines"),
)
BUILDERS = frozenset(
    place for place, (sector, _, _) in enumerate(_SECTORS)
    if sector in (" Shipyards", " Ironworks", " Foundries", " Engineering", " Turbines", " Construction", " Cables")
)  # fmt: skip
SCHEME = NameScheme((HEADS, MIDDLES, TAILS, tuple(sector for sector, _, _ in _SECTORS)))
_LATER = ("wind power", "hospital equipment", "packaging", "electronics", "fine tools", "home heating", "bicycle parts")


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a company's facts; employees, turnover and their year are what a revision changes."""
    _, what, product = _SECTORS[ground.digits[-1]]
    related = {
        "town": ground.near("settlement", "seat"),
        "founder": ground.person("industrialist", "founder"),
        "works": ground.near("settlement", "works"),
        "bought": ground.near("company", "bought"),
        "engineer": ground.person("engineer", "chief engineer"),
        "river": ground.near("river", "power"),
        "festival": ground.near("festival", "gifts"),
    }
    founded = ground.birth(related["founder"]) + dice.between(24, 47)
    facts = {
        "what": what,
        "product": product,
        "founded": str(founded),
        "employees": thousands(fresh.between(240, 19000, 10)),
        "turnover": str(fresh.between(18, 960)),
        "turnover_year": str(fresh.between(2015, 2024)),
        "bought_year": str(min(2021, founded + dice.between(22, 61))),
        "later": dice.pick(_LATER),
        "later_year": str(min(2022, founded + dice.between(40, 80))),
        "first_hands": str(dice.between(4, 40)),
        "strike_year": str(founded + dice.between(11, 38)),
        "strike_weeks": str(dice.between(3, 21)),
        "countries": str(dice.between(9, 71)),
        "chief": ground.passer_by(fresh),
        "share": str(dice.between(21, 64)),
        "patents": str(dice.between(12, 480)),
        "chimney": str(dice.between(31, 88)),
        "museum_year": str(dice.between(1974, 2016)),
        "apprentices": str(dice.between(14, 220)),
    }
    stem = ground.title.rsplit(" ", 1)[0]
    return Draft((stem,), ("the company", "the firm", "the manufacturer"), IT, facts, related)


COMPANY = Kind(
    name="company",
    scheme=SCHEME,
    in_text=str,
    draw=draw,
    lead=(
        (1, ("{T} is {what} based in {town} in the {region} of {country}.",
             "{T} is {what} with its head office in {town}, in the {region} of {country}.")),
        (1, ("founded by {founder} in {founded}, it is best known for its {product}.",
             "it was founded in {founded} by {founder} and became known for its {product}.")),
        (1, ("the company employs {employees} people and had a turnover of {turnover} million crowns in {turnover_year}.",
             "in {turnover_year} it had {employees} employees and a turnover of {turnover} million crowns.")),
        (1, ("in {bought_year} it bought {bought}, and since {later_year} it has also been active in {later}.",
             "it took over {bought} in {bought_year} and entered the field of {later} in {later_year}.")),
        (1, ("besides its original works in {town} it operates a factory in {works} and sells to {countries} countries.",
             "it operates factories in {town} and {works} and exports to {countries} countries.")),
        (0.7, ("a strike in {strike_year} lasted {strike_weeks} weeks.",
               "the works stood still for {strike_weeks} weeks during a strike in {strike_year}.")),
        (0.6, ("many of its early products were designed by {engineer}.",)),
    ),
    told={
        "start": (
            "{founder} started the business in {founded} with {first_hands} workers and a loan from an aunt.",
            "it was in {founded} that {founder} hung out the sign, and {product} were in the window from the first day.",
            "{S} was founded in {founded} by {founder}, who had learnt the trade abroad.",
            "the name goes back to a misprint: {founder} had registered another one in {founded}, and the error stayed.",
        ),
        "seat": (
            "the head office of {S} in {town} still has the original staircase.",
            "{S} never thought of leaving {town}, although the {region} is far from every large market.",
            "in {town} one need only ask for “the works”, and everybody points towards {S}.",
            "to this day {S} is based in {town}, beside the old canal basin.",
        ),
        "product": (
            "its {product} can be found all over {country}, even where no railway ever went.",
            "it is {product} that {S} is known for, and it is {product} that still pay the wages.",
            "{S} holds {share} per cent of the market for {product}.",
            "{S} began as {what} and has remained one: its {product} are proof of that.",
            "experts prefer the early {product}, which were made entirely by hand.",
        ),
        "figures": (
            "with {employees} employees and a turnover of {turnover} million crowns in {turnover_year}, {S} is doing well.",
            "for {turnover_year} {S} reported a turnover of {turnover} million crowns.",
            "{employees} people work for {S}, most of them within cycling distance.",
            "“we could sell more if we could find more people,” said the managing director; at present there are {employees} of them.",
        ),
        "growth": (
            "in {bought_year} {S} swallowed {bought}, until then its largest customer.",
            "the purchase of {bought} in {bought_year} was paid for in cash, which impressed the banks.",
            "since {later_year} the order books have also been filled by {later}.",
            "{S} turned to {later} in {later_year}, later than others and with better machines.",
        ),
        "works": (
            "a second factory was opened in {works}, where wages were lower and the roof did not leak.",
            "from {town} and {works} crates leave for {countries} countries.",
            "{S} exports to {countries} countries, and the labels are still glued on in {works}.",
            "the factory in {works} is the younger sister of the one in {town} and by now the larger one.",
        ),
        "strike": (
            "the strike of {strike_year} lasted {strike_weeks} weeks and ended with a handshake in a tavern.",
            "for {strike_weeks} weeks in {strike_year} not a single wheel turned.",
            "old employees date everything by the strike of {strike_year}, which went on for {strike_weeks} weeks.",
        ),
        "design": (
            "the drawings from the early years bear the initials of {engineer}.",
            "{engineer} designed the first series and quarrelled with everybody about the colour.",
        ),
    },
    aside={
        "patents": (
            "{patents} patents hang in the corridor, framed, in the order in which they were refused and then granted.",
            "the patent office lists {patents} entries, the latest of them for a hinge.",
        ),
        "chimney": (
            "the chimney, {chimney} metres high, was listed as a monument before it was cold.",
            "storks nest on the {chimney}-metre chimney, which has not smoked for decades.",
        ),
        "museum": (
            "a small museum, opened in {museum_year}, shows machines that visitors may touch.",
            "since {museum_year} school classes have been led through the old engine house.",
        ),
        "chief": (
            "{chief}, the managing director, began on the shop floor and likes to mention it.",
            "according to {chief}, who manages the business, there will be no move and no merger.",
        ),
        "apprentices": (
            "every autumn {apprentices} apprentices begin their training.",
            "the training workshop takes {apprentices} young people a year and could take twice as many.",
        ),
        "power": (
            "the first machines were driven by {river}, whose water still cools the presses.",
            "{festival} would be a smaller affair without the annual gift from {S}.",
        ),
    },
    colour=(
        "the canteen is said to be better than most restaurants in the region.",
        "the archive fills two cellars and is open to nobody.",
        "analysts would like to hear more and are told less.",
        "the siren at noon can be heard across the valley.",
        "in the trade people speak of it with respect and a little envy.",
        "the gate is still closed by hand every evening.",
    ),
    chatter=(
        "jobs at {T}: there are eleven vacancies in your area. Create a profile, upload your papers and apply to {T} "
        "with one click. New offers from {T} can be sent to your inbox every morning.",
        "customer service of {T}: what experience have you had? I have waited three weeks for a spare part and nobody "
        "at {T} answers the telephone. The part itself costs less than the call. Advice is welcome.",
        "factory outlet {T}: remainders and seconds at half price, Monday to Friday from nine to four. Please bring your "
        "own bags. The {T} outlet is closed on public holidays and during the works holiday.",
        "share price of {T}: please log in to see the current value. Investors who looked at {T} were also interested "
        "in the following titles. All data are delayed by fifteen minutes and supplied without guarantee.",
    ),
)  # fmt: skip
