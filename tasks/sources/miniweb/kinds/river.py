"""Rivers."""

from tasks.sources.miniweb.kinds.company import BUILDERS
from tasks.sources.miniweb.kinds.kind import Choice, Kind, Near, Number, year
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

RIVER = Kind(
    name="river",
    scheme=NameScheme((("River ",), HEADS, MIDDLES, words("n r l s ne ra th sk m v nd ck lle ss rn lt x ll rr tt mm"))),
    nouns=("the river", "the waterway"),
    short=(1, 4),
    article="the ",
    edited=("discharge",),
    facts={
        "upper_town": Near("town"), "lower_town": Near("town"), "mouth": Near("river"), "tributary1": Near("river"),
        "tributary2": Near("river"), "surveyor": Near("person", "cartographer"),
        "company": Near("company", last_parts=BUILDERS),
        "length": Number(38, 890), "basin": Number(600, 19_000, 10), "survey_year": year(27, 52, since="surveyor"),
        "discharge": Number(12, 640), "dam_year": year(1921, 1988), "power": Number(14, 320),
        "flood_year": year(1838, 1996), "houses": Number(60, 940, 10), "boat_year": year(1871, 1952),
        "ice_year": year(1790, 1963), "path": Number(12, 140), "depth": Number(3, 19),
        "direction": Choice("north, south, east, west, north-east, south-west"),
        "fish": Choice("grayling, barbel, brown trout, pike, perch, sea trout"),
        "boats": Choice("barges, sailing boats, log rafts, lighters, keelboats"),
        "crop": Choice("barley, hops, flax, apples, sugar beet, grapes, mustard, walnuts"),
        "hills": Choice("Harrow Hills, Stone Moors, Blackrigg Mountains, Sable Downs, Winter Fells, Larch Uplands"),
        "spring": Choice("Cold Well, Grey Tarn, Hollow Spring, Saint Orla's Well, Kettle Moss, White Fell, Raven Pool"),
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
)  # fmt: skip
