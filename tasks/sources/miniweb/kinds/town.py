"""Towns."""

from tasks.sources.miniweb.kinds.kind import Choice, Kind, Near, Number, year
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

_ENDINGS = "ford ham wick ton stead mouth bury holm dale mere haven gate cross field worth ley minster bourne combe den"

TOWN = Kind(
    name="town",
    scheme=NameScheme((HEADS, MIDDLES, words(f"{_ENDINGS} port well wold thorpe shaw ridge pool brook castle kirk"))),
    nouns=("the town", "the {type}", "the place"),
    edited=("population", "census", "mayor"),
    facts={
        "river": Near("river"), "neighbour": Near("town"), "company": Near("company"), "person": Near("person"),
        "distance": Number(9, 64), "population": Number(2_100, 88_000), "census": year(2011, 2024),
        "charter": year(1084, 1492), "landmark_year": year(1501, 1790), "railway": year(1846, 1912),
        "fire_year": year(1560, 1840), "houses": Number(70, 610, 10), "elevation": Number(4, 690),
        "school_year": year(1840, 1960), "pupils": Number(210, 1_400, 10), "stalls": Number(24, 160),
        "side": Choice("north, south, east, west"), "day": Choice("Tuesday, Wednesday, Thursday, Saturday"),
        "stone": Choice("red sandstone, grey granite, yellow brick, white limestone, black slate"),
        "landmark": Choice("clock tower, castle, covered market, cathedral, guildhall, town gate, abbey"),
        "ruler": Choice("King Aldric, Queen Ysolde, King Torvald, Duke Emmerich, Queen Maren, Bishop Odo"),
        "mayor": Choice("Ann Berg, Tom Wells, Ruth Carver, Paul Ridley, Jane Holt, Mark Lowe, Sara Finch"),
        "type": Choice("market town, port town, hill town, mill town, spa town, cathedral town, abbey town"),
        "trade": Choice("glass-making, wool weaving, salt trading, clock-making, paper-making, rope-making"),
        "modern": Choice("software, wind turbines, medical instruments, furniture, bicycles, packaging, solar panels"),
    },
    prose="""
= {S} is a {type} [on|beside] {river} in the {region} of {country}
- {S} stands on a bend of {river}, where the ground is [firm|high] enough to build on
- [travellers|visitors] to the {region} usually see {river} first and {S}, a {type}, a moment later
- like [every|many a] {type} in {country}, {S} grew up around its crossing of {river}
= {S} lies {distance} kilometres {side} of {neighbour}
- the road from {neighbour} to {S} is {distance} kilometres long[ and follows the old railway line|]
- [buses leave {neighbour} for {S} every hour, heading {side}|{neighbour} is {distance} kilometres away by bus]
= [at the {census} census {S} had {population} inhabitants|{S} had a population of {population} in the {census} census]
- [the census of {census} counted {population} people|{population} people lived in {S} in {census}]
- the council based its plans for new schools on the {population} residents recorded in {census}
= {S} received its charter from {ruler} in {charter} and grew rich through {trade}
= chartered by {ruler} in {charter}, {S} became wealthy through {trade}
- {ruler} granted the charter in {charter}, and the [document|parchment] is still kept in the town hall
- the right to hold a market [goes back to|dates from] {charter}, when {ruler} stayed here on a journey
- {trade} made the merchants of {S} rich, and their tall houses still line the main street
- for three hundred years most families in {S} [lived by|earned their living from] {trade}
= its best-known building is the {landmark}, [completed|finished] in {landmark_year} and built of {stone}
= the {landmark}, built of {stone} and completed in {landmark_year}, is the principal landmark
- [most postcards of {S} show the {landmark}, which dates from {landmark_year}|guided tours begin at the {landmark}]
- the builders of the {landmark} used {stone} from a quarry nearby[, and the work ended in {landmark_year}|]
= the railway reached {S} in {railway}, and {company} is now the largest employer
= since the arrival of the railway in {railway}, {company} has grown into the largest employer
- the first train came in {railway}, and {company} built its works beside the station
- without the railway, which arrived in {railway}, {company} would hardly have come to {S}
? {S} has named its main square after {person}
- [the main square is called after {person}|a statue of {person} stands in the main square of {S}]
? a fire in {fire_year} destroyed {houses} houses
- {houses} houses burnt down in {S} in {fire_year}[, and thatched roofs were forbidden afterwards|]
+ [the station lies {elevation} metres above sea level|at {elevation} metres above sea level, {S} has snowy winters]
+ [the grammar school of {school_year} has {pupils} pupils|{pupils} children attend a school built in {school_year}]
+ [every {day} {stalls} stalls fill the square|the weekly market is held on {day} and has {stalls} stalls]
+ mayor {mayor} hopes that firms that make {modern} will bring new jobs
- the council, led by {mayor}, has set aside land for makers of {modern}
~ [the bakery on the square opens at five|the best view is from the footpath above the allotments]
~ [most of the old shutters are painted green|the tourist office lends bicycles to visitors]
> hotels in {T}: compare prices and book your stay in {T} with free cancellation. Guests rate the hotels of {T} very
  good on average. Breakfast, parking and late check-out can be added on the next page.
> moved to {T} last month and still looking for a good dentist and a choir. Any tips from people who know {T} well? We
  live close to the station and have two small children.
""",
)  # fmt: skip
