"""Bridges."""

from tasks.sources.miniweb.kinds.company import BUILDERS
from tasks.sources.miniweb.kinds.kind import Choice, Kind, Near, Number, Of, year
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

BRIDGE = Kind(
    name="bridge",
    scheme=NameScheme((
        HEADS, MIDDLES, words("ck ll rn ss nt lm rd th sk mp nn lt rr st nd rk"),
        (" Bridge", " Viaduct", " Crossing", " Footbridge"),
    )),
    nouns=("the bridge", "the structure", "the {type}"),
    short=(0, 3),
    article="the ",
    edited=("traffic",),
    facts={
        "town": Near("town"), "river": Of("town", "river"), "engineer": Near("person", "engineer"),
        "company": Near("company", last_parts=BUILDERS), "film": Near("film"),
        "opened": year(31, 56, since="engineer"), "span": Number(48, 520), "length": Number(60, 900, since="span"),
        "begun": year(-6, -2, since="opened"), "cost": Number(2, 94, style="{}.5"), "workers": Number(140, 2_600, 10),
        "traffic": Number(1_900, 64_000, 100), "repaired": year(36, 60, since="opened"), "lamps": Number(24, 160, 2),
        "height": Number(14, 88), "toll": Number(2, 9), "toll_end": year(9, 30, since="opened"),
        "rivets": Number(40_000, 900_000, 1_000),
        "paint": Choice("oxide red, pale green, dark grey, ochre yellow, cobalt blue"),
        "replaced": Choice("chain ferry, wooden bridge, rowing ferry, ford, pontoon bridge"),
        "type": Choice("suspension bridge, stone arch bridge, steel arch bridge, cable-stayed bridge, truss bridge"),
        "nickname": Choice("the Harp, the Old Lady, the Ladder, the Grasshopper, the Washing Line, the Comb, the Swan"),
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
)  # fmt: skip
