"""Companies."""

from tasks.sources.miniweb.kinds.kind import By, Choice, Kind, Near, Number, year
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

_SECTORS = {  # end of the title: (what such a company is, what it makes)
    "Shipyards": ("shipbuilding company", "river ferries"),
    "Ironworks": ("ironworks company", "iron girders"),
    "Breweries": ("brewing company", "dark beers"),
    "Foundries": ("steel company", "church bells"),
    "Engineering": ("engineering company", "lifting cranes"),
    "Bicycles": ("bicycle maker", "touring bicycles"),
    "Construction": ("construction company", "prefabricated piers"),
    "Cables": ("cable manufacturer", "submarine cables"),
    "Clocks": ("clock-making company", "station clocks"),
}
BUILDERS = words("Shipyards Ironworks Foundries Engineering Construction Cables")

COMPANY = Kind(
    name="company",
    scheme=NameScheme((
        HEADS, MIDDLES, words("x n r tt l nd rm ss ck nt lt rk sk rg mm v"), tuple(f" {sector}" for sector in _SECTORS),
    )),
    nouns=("the company", "the firm", "the {what}"),
    short=(0, 3),
    edited=("employees", "turnover", "turnover_year"),
    facts={
        "what": By("title", {sector: Choice(what) for sector, (what, _) in _SECTORS.items()}),
        "product": By("title", {sector: Choice(product) for sector, (_, product) in _SECTORS.items()}),
        "town": Near("town"), "founder": Near("person", "industrialist"), "bought": Near("company"),
        "works": Near("town"), "engineer": Near("person", "engineer"), "river": Near("river"),
        "founded": year(24, 47, since="founder"), "employees": Number(240, 19_000, 10), "turnover": Number(18, 960),
        "turnover_year": year(2015, 2024), "bought_year": year(22, 61, since="founded"),
        "later_year": year(62, 90, since="founded"), "countries": Number(6, 70),
        "strike_year": year(11, 38, since="founded"), "strike_weeks": Number(3, 21), "patents": Number(14, 320),
        "chimney": Number(28, 97), "museum_year": year(1961, 2012), "apprentices": Number(12, 140),
        "later": Choice("wind power, hospital equipment, packaging, electronics, fine tools, bicycle parts"),
    },
    prose="""
= {S} is a {what} [based|with its head office] in {town}, in the {region} of {country}
= {S} is a {demonym} {what} based in {town}, in the {region}
- {town} has been the seat of {S} from the beginning[, and the head office is close to the station|]
- no other [{demonym} {what}|{what} in the {region}] is as well known as {S}
= {S} was founded in {founded} by {founder} and became known for its {product}
= founded in {founded} by {founder}, {S} first made its name with {product}
- {founder} signed the papers in {founded} and [hired|took on] the first workers the same week
- [the first price list offered little besides {product}|{product} from {S} were soon sold all over {country}]
- {founder} was [already rich|still unknown] when {S} was founded in {founded}
= in {turnover_year} {S} had {employees} employees and a turnover of {turnover} million crowns
= {S} employed {employees} people in {turnover_year} and had a turnover of {turnover} million crowns
- the annual report for {turnover_year} gives a turnover of {turnover} million crowns
- {employees} people [work for|are employed by] {S}, according to the report for {turnover_year}
- sales [reached|came to] {turnover} million crowns in {turnover_year}, a little more than expected
= {S} took over {bought} in {bought_year} and moved into {later} in {later_year}
= after taking over {bought} in {bought_year}, {S} moved into {later} in {later_year}
- the purchase of {bought} in {bought_year} doubled the [size|sales] of {S}
- {bought} kept its name until {bought_year}, when {S} bought it
- [the business has included {later} since {later_year}|in {later_year} the board decided to invest in {later}]
= {S} has a second factory in {works} and exports to {countries} countries
- the factory in {works} was opened when {town} had no [more|other] land to sell
- {S} sells its products in {countries} countries
? a strike in {strike_year} lasted {strike_weeks} weeks
- the strike of {strike_year} went on for {strike_weeks} weeks[ and ended with a rise in pay|]
- for {strike_weeks} weeks in {strike_year} all the machines stood still
? many of its early products were designed by {engineer}
- the drawings from the early years [are signed by|bear the initials of] {engineer}
- {engineer} designed the first series and stayed with {S} for ten years
+ [{S} holds {patents} patents|{patents} patents hang in the corridor outside the drawing office]
+ [storks nest on|visitors can climb] the chimney of the first factory, which is {chimney} metres high
+ [a museum opened in the engine house in {museum_year}|since {museum_year} the old machines have been on show]
+ [every autumn {apprentices} apprentices start work at {S}|the workshop trains {apprentices} young people a year]
+ [the first machines were driven by|the presses are still cooled with] water from {river}
~ [the canteen is open to the public at lunchtime|the archive can be visited by appointment]
~ [the siren at noon can be heard across the valley|the old gatehouse is now a café]
> jobs at {T}: there are eleven vacancies in your area. Create a profile, upload your papers and apply to {T} with one
  click. New offers from {T} can be sent to your inbox every morning.
> customer service of {T}: what experience have you had? I have waited three weeks for a spare part, and nobody at {T}
  answers the telephone. Advice is welcome.
""",
)  # fmt: skip
