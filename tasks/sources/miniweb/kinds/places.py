"""Towns, rivers and bridges."""

from tasks.sources.miniweb.kinds.kind import Kind, Near, Number, Of, year
from tasks.sources.miniweb.kinds.makers import BUILDERS
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

_ENDINGS = "ford ham wick ton stead mouth bury holm dale mere haven gate cross field worth ley minster bourne combe den"

TOWN = Kind(
    name="town",
    scheme=NameScheme((HEADS, MIDDLES, words(f"{_ENDINGS} port well wold thorpe shaw ridge pool brook castle kirk"))),
    nouns=("the town", "the {type}", "the place"),
    edited=("population", "census", "mayor"),
    facts={
        "river": Near("river"),
        "neighbour": Near("town"),
        "company": Near("company"),
        "person": Near("person"),
        "distance": Number(9, 64),
        "population": Number(2_100, 88_000),
        "census": year(2011, 2024),
        "charter": year(1084, 1492),
        "landmark_year": year(1501, 1790),
        "railway": year(1846, 1912),
        "fire_year": year(1560, 1840),
        "houses": Number(70, 610, 10),
        "elevation": Number(4, 690),
        "school_year": year(1840, 1960),
        "pupils": Number(210, 1_400, 10),
        "stalls": Number(24, 160),
        "side": "north, south, east, west",
        "day": "Tuesday, Wednesday, Thursday, Saturday",
        "stone": "red sandstone, grey granite, yellow brick, white limestone, black slate",
        "landmark": "clock tower, castle, covered market, cathedral, guildhall, town gate, abbey",
        "ruler": "King Aldric, Queen Ysolde, King Torvald, Duke Emmerich, Queen Maren, Bishop Odo",
        "mayor": "Ann Berg, Tom Wells, Ruth Carver, Paul Ridley, Jane Holt, Mark Lowe, Sara Finch",
        "type": "market town, port town, hill town, mill town, spa town, cathedral town, abbey town",
        "trade": "glass-making, wool weaving, salt trading, clock-making, paper-making, rope-making",
        "modern": "software, wind turbines, medical instruments, furniture, bicycles, packaging, solar panels",
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
)

RIVER = Kind(
    name="river",
    scheme=NameScheme((("River ",), HEADS, MIDDLES, words("n r l s ne ra th sk m v nd ck lle ss rn lt x ll rr tt mm"))),
    nouns=("the river", "the waterway"),
    short=(1, 4),
    article="the ",
    edited=("discharge",),
    facts={
        "upper_town": Near("town"),
        "lower_town": Near("town"),
        "mouth": Near("river"),
        "tributary1": Near("river"),
        "tributary2": Near("river"),
        "surveyor": Near("person", "cartographer"),
        "company": Near("company", last_parts=BUILDERS),
        "length": Number(38, 890),
        "basin": Number(600, 19_000, 10),
        "survey_year": year(27, 52, since="surveyor"),
        "discharge": Number(12, 640),
        "dam_year": year(1921, 1988),
        "power": Number(14, 320),
        "flood_year": year(1838, 1996),
        "houses": Number(60, 940, 10),
        "boat_year": year(1871, 1952),
        "ice_year": year(1790, 1963),
        "path": Number(12, 140),
        "depth": Number(3, 19),
        "direction": "north, south, east, west, north-east, south-west",
        "fish": "grayling, barbel, brown trout, pike, perch, sea trout",
        "boats": "barges, sailing boats, log rafts, lighters, keelboats",
        "crop": "barley, hops, flax, apples, sugar beet, grapes, mustard, walnuts",
        "hills": "Harrow Hills, Stone Moors, Blackrigg Mountains, Sable Downs, Winter Fells, Larch Uplands",
        "spring": "Cold Well, Grey Tarn, Hollow Spring, Saint Orla's Well, Kettle Moss, White Fell, Raven Pool",
    },
    prose="""
= {S} is a river in the {region} of {country}, {length} kilometres long
= {S} is a {length}-kilometre[-long|] river in the {region} of {country}
- [measured along every bend, {S} is {length} kilometres long|{S} runs for {length} kilometres across {country}]
- at {length} kilometres, {S} is longer than most people in the {region} [think|believe]
= {S} rises at {spring} in the {hills} and flows {direction} past {upper_town} and {lower_town} to {mouth}
= from {spring} in the {hills}, {S} flows {direction} through {upper_town} and {lower_town} to join {mouth}
- the [water|stream] that reaches {lower_town} left the ground at {spring}, high in the {hills}
- below {spring}, {S} turns {direction}, passes {upper_town} and reaches {lower_town} [two|three] days later
- walkers who follow {S} from the {hills} see {upper_town} first, then {lower_town}, and at last {mouth}
= its basin covers {basin} square kilometres, and its largest tributaries are {tributary1} and {tributary2}
= {S} drains an area of {basin} square kilometres and is fed chiefly by {tributary1} and {tributary2}
- rain that falls on {basin} square kilometres of field and forest ends up in {S}
- two [tributaries|side streams], {tributary1} and {tributary2}, bring {S} more than half of its water
- {S} doubles in width where {tributary1} comes in[, and {tributary2} adds as much again|]
= [its first complete survey was made|{S} was first surveyed in full] by {surveyor} in {survey_year}
- {surveyor} walked both banks in {survey_year} and drew the first [reliable|complete] map of {S}
- until {survey_year} no two maps of {S} agreed, and it was {surveyor} who settled the matter
- the notebooks that {surveyor} filled in {survey_year} are kept in the [national|city] library
= [the|its] mean discharge at {lower_town} is {discharge} cubic metres per second
= at {lower_town} {S} has a mean discharge of {discharge} cubic metres per second
- the gauge at {lower_town} shows an average of {discharge} cubic metres per second
- on an ordinary day {discharge} cubic metres of water pass [the gauge at |]{lower_town} every second
? a dam built by {company} in {dam_year} generates {power} megawatts of electricity
? since {dam_year} a dam built by {company} has generated {power} megawatts of electricity
- {company} finished the dam in {dam_year}[, and the valley above it became a lake|]
- the power station has an output of {power} megawatts and was [supplied|built] by {company}
? a flood in {flood_year} destroyed {houses} houses in {upper_town}
? in {flood_year} {S} flooded {upper_town} and destroyed {houses} houses there
- {houses} houses were lost[, and a mill with them,|] when {S} flooded {upper_town} in {flood_year}
- people in {upper_town} [still speak of|have not forgotten] the flood of {flood_year}
+ [until {boat_year} {boats} carried {crop} to the sea|the last of the {boats} with {crop} came in {boat_year}]
+ [anglers come here for {fish} from April to September|the fishing club releases young {fish} every spring]
+ [in the winter of {ice_year} {S} froze from bank to bank|old prints show a fair on the ice in {ice_year}]
+ [a footpath follows the left bank for {path} kilometres|{S} is nowhere deeper than {depth} metres]
~ [the banks are muddy in spring, so stout shoes are a good idea|herons fish in the shallows all year round]
~ [the light at dusk has drawn painters for generations|the old mills along the bank are now flats]
> canoe hire on {T}: half-day and full-day trips leave from our jetty every morning at nine. Life jackets are included,
  and dogs travel free. Book your day on {T} online and save ten per cent!
> water level of {T} today: normal. This service is updated twice a day. No warning is in force for {T}, and none is
  expected before the weekend; follow the link for the levels of other waters.
""",
)

BRIDGE = Kind(
    name="bridge",
    scheme=NameScheme(
        (
            HEADS,
            MIDDLES,
            words("ck ll rn ss nt lm rd th sk mp nn lt rr st nd rk"),
            (" Bridge", " Viaduct", " Crossing", " Footbridge"),
        )
    ),
    nouns=("the bridge", "the structure", "the {type}"),
    short=(0, 3),
    article="the ",
    edited=("traffic",),
    facts={
        "town": Near("town"),
        "river": Of("town", "river"),
        "engineer": Near("person", "engineer"),
        "company": Near("company", last_parts=BUILDERS),
        "film": Near("film"),
        "opened": year(31, 56, since="engineer"),
        "span": Number(48, 520),
        "length": Number(60, 900, since="span"),
        "begun": year(-6, -2, since="opened"),
        "cost": Number(2, 94, style="{}.5"),
        "workers": Number(140, 2_600, 10),
        "traffic": Number(1_900, 64_000, 100),
        "repaired": year(36, 60, since="opened"),
        "lamps": Number(24, 160, 2),
        "height": Number(14, 88),
        "toll": Number(2, 9),
        "toll_end": year(9, 30, since="opened"),
        "rivets": Number(40_000, 900_000, 1_000),
        "paint": "oxide red, pale green, dark grey, ochre yellow, cobalt blue",
        "replaced": "chain ferry, wooden bridge, rowing ferry, ford, pontoon bridge",
        "type": "suspension bridge, stone arch bridge, steel arch bridge, cable-stayed bridge, truss bridge",
        "nickname": "the Harp, the Old Lady, the Ladder, the Grasshopper, the Washing Line, the Comb, the Swan",
    },
    prose="""
= {S} is a {type} over {river} at {town}, in the {region} of {country}
= {S} is a {type} in {town}, in the {region} of {country}, where it crosses {river}
- [{S} carries the road from {town} across {river}|the view of {town} and {river} from {S} is worth a stop]
- {town} owes its growth to {S}, the only {type} [for miles around|in the {region}]
= designed by {engineer} and built by {company}, {S} was opened in {opened} and replaced a {replaced}
= {S} was designed by {engineer}, built by {company} and opened in {opened} in place of a {replaced}
- the [plans|drawings] are signed by {engineer}, while the work itself was given to {company}
- {company} won the contract, and {engineer} was responsible for the design
- when {S} was opened in {opened}, the old {replaced} was given up the same day
= {S} is {length} metres long, with a main span of {span} metres
= {S} has a total length of {length} metres and a main span of {span} metres
- from end to end {S} measures {length} metres, of which {span} belong to the main span
- the main span, {span} metres, was [a record|unusual] in {country} at the time
= construction began in {begun} and cost {cost} million crowns
= built from {begun} at a cost of {cost} million crowns, {S} employed up to {workers} workers
- work began in {begun}, with up to {workers} workers on the site
- the final bill [was|came to] {cost} million crowns, twice what had been planned in {begun}
- of the {cost} million crowns spent on {S}, a third went into the foundations
= [about {traffic} vehicles cross {S} each day|{S} carries about {traffic} vehicles a day]
- the roads office [counts|has counted] {traffic} vehicles on an ordinary weekday
- traffic has grown to {traffic} vehicles a day, far more than was planned for
? {S} was thoroughly repaired in {repaired} and is known locally as {nickname}
? known locally as {nickname}, {S} was thoroughly repaired in {repaired}
- [people in {town} simply call it {nickname}|the shape has earned {S} the name of {nickname}]
- the repairs of {repaired} [closed|shut] {S} for a year
? {S} appears in the film {film}
- [a long night scene was shot on {S} for the film {film}|film lovers know {S} from {film}]
+ [{S} gets a new coat of {paint} every eleven years|the railings of {S} are painted {paint}]
+ [{lamps} lamps are lit on {S} at dusk|of the {lamps} original lamps only four have survived]
+ [the deck lies {height} metres above the water|ships have {height} metres between the water and the deck]
+ [until {toll_end} drivers paid a toll of {toll} crowns|the toll of {toll} crowns was abolished in {toll_end}]
+ [{rivets} rivets hold {S} together, as schoolchildren learn|the builders used {rivets} rivets]
~ [wedding parties stop here for photographs in all weathers|in fog the far end cannot be seen]
~ [engineers bring their students to look at the bearings|cyclists have had a lane of their own for some years]
> guided climbs of {T}: walk to the very top with one of our trained guides! Climbs of {T} run daily from April to
  October. Sensible shoes are a must, and helmets are provided.
> traffic news: one lane of {T} is closed tonight between ten and five for cleaning. Drivers who use {T} should allow
  extra time. Cyclists and walkers are not affected, and buses run to their usual timetable.
""",
)
