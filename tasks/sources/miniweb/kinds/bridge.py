"""Bridges."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.company import BUILDERS
from tasks.sources.miniweb.kinds.kind import IT, Draft, Kind, article, thousands
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

TAILS = ("ck", "ll", "rn", "ss", "nt", "lm", "rd", "th", "sk", "mp", "nn", "lt", "rr", "st", "nd", "rk")
SCHEME = NameScheme((HEADS, MIDDLES, TAILS, (" Bridge", " Viaduct", " Crossing", " Footbridge")))
_TYPES = (
    "suspension bridge",
    "stone arch bridge",
    "steel arch bridge",
    "cable-stayed bridge",
    "truss bridge",
    "cantilever bridge",
)
_PAINTS = ("oxide red", "pale green", "dark grey", "ochre yellow", "cobalt blue")
_NICKNAMES = ("the Harp", "the Old Lady", "the Ladder", "the Grasshopper", "the Washing Line", "the Comb", "the Swan")
_BEFORE = ("chain ferry", "wooden bridge", "rowing ferry", "ford", "pontoon bridge")


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a bridge's facts; the traffic is what a revision changes."""
    type_ = dice.pick(_TYPES)
    town = ground.near("settlement", "town")
    related = {
        "town": town,
        "river": ground.river_of(town),
        "engineer": ground.person("engineer", "designer"),
        "company": ground.near("company", "builder", last_part=BUILDERS),
        "town2": ground.near("settlement", "other bank"),
        "film": ground.near("film", "film"),
    }
    opened = ground.birth(related["engineer"]) + dice.between(31, 58)
    span = dice.between(48, 520)
    facts = {
        "type": type_,
        "a_type": article(type_),
        "length": thousands(span * dice.between(2, 4) + dice.between(7, 60)),
        "span": str(span),
        "opened": str(opened),
        "begun": str(opened - dice.between(2, 6)),
        "cost": f"{dice.between(11, 940) / 10:.1f}",
        "traffic": thousands(fresh.between(1900, 64000, 100)),
        "before": dice.pick(_BEFORE),
        "height": str(dice.between(14, 88)),
        "repaired": str(min(2024, opened + dice.between(36, 70))),
        "paint": dice.pick(_PAINTS),
        "nickname": dice.pick(_NICKNAMES),
        "lamps": str(dice.between(24, 160, 2)),
        "rivets": thousands(dice.between(40, 900) * 1000),
        "workers": thousands(dice.between(140, 2600, 10)),
        "toll": str(dice.between(2, 9)),
        "toll_end": str(opened + dice.between(9, 30)),
        "minister": ground.passer_by(dice),
    }
    last = ground.title.rsplit(" ", 1)
    nouns = ("the bridge", "the structure", f"the {type_}")
    return Draft((f"the {last[0]}",), nouns, IT, facts, related)


BRIDGE = Kind(
    name="bridge",
    scheme=SCHEME,
    in_text="the {}".format,
    draw=draw,
    lead=(
        (1, ("{T} is {a_type} over {river} at {town} in the {region} of {country}.",
             "{T} is {a_type} in {town}, in the {region} of {country}, where it crosses {river}.")),
        (1, ("designed by {engineer} and built by {company}, it was opened in {opened} and replaced a {before}.",
             "it was designed by {engineer}, built by {company} and opened in {opened} in place of a {before}.")),
        (1, ("the bridge is {length} metres long, with a main span of {span} metres.",
             "it has a total length of {length} metres and a main span of {span} metres.")),
        (1, ("construction began in {begun} and cost {cost} million crowns.",
             "built from {begun} at a cost of {cost} million crowns, it employed up to {workers} workers.")),
        (1, ("about {traffic} vehicles cross it each day.", "it carries about {traffic} vehicles a day.")),
        (0.8, ("it was thoroughly repaired in {repaired} and is known locally as {nickname}.",
               "known locally as {nickname}, it was thoroughly repaired in {repaired}.")),
        (0.5, ("the bridge appears in the film {film}.",)),
    ),
    told={
        "place": (
            "{S} takes the road from {town} over {river} and on towards {town2}.",
            "anyone who goes from {town} to {town2} dry-shod crosses {river} on {S}.",
            "{S}, {a_type}, is what one sees first when one comes to {town} by boat on {river}.",
            "it is at {town} that {river} is at its narrowest, and it is there that {S} was built.",
            "seen from the quay at {town}, {S} looks far too light for {river} below.",
        ),
        "makers": (
            "the drawings are signed by {engineer}, while the work itself was given to {company}.",
            "{company} won the contract, but everyone speaks of it as the work of {engineer}.",
            "{engineer} was given a free hand with the design, which {company} then had to build.",
            "no engineer in {country} was better known at the time than {engineer}, who drew {S} in a single winter.",
        ),
        "opening": (
            "{S} was opened in {opened} with a brass band, two speeches too many and free beer.",
            "when {S} was opened to traffic in {opened}, the old {before} was given up the same evening.",
            "before {opened} there was only a {before}, which stood still whenever the water was high.",
            "minister {minister} cut the ribbon in {opened}, and the {before} became firewood.",
        ),
        "size": (
            "from end to end {S} measures {length} metres, of which {span} belong to the main span.",
            "the main span of {span} metres was a record in {country} for some years.",
            "with a total length of {length} metres {S} takes six minutes to walk across.",
            "{S} is {length} metres long; its main span, {span} metres, stands free of the water.",
        ),
        "cost": (
            "the bill came to {cost} million crowns, almost twice what parliament had been told in {begun}.",
            "work began in {begun} and swallowed {cost} million crowns before the first cart rolled across.",
            "up to {workers} workers were employed at one time after construction began in {begun}.",
            "of the {cost} million crowns spent on {S}, a third went into the foundations.",
        ),
        "traffic": (
            "some {traffic} vehicles use {S} each day, far more than was planned for.",
            "the counters record about {traffic} vehicles a day, and a jam every Friday.",
            "on a working day {traffic} cars and lorries cross, according to the roads office.",
        ),
        "name": (
            "on the quays nobody uses the official name: there {S} is simply {nickname}.",
            "{S} was closed for thorough repairs in {repaired}, and the town missed {nickname} more than it had expected.",
            "a thorough repair in {repaired} replaced every hanger and every lamp.",
            "children call {S} {nickname}, and since the repairs of {repaired} so do the road signs.",
        ),
        "film": (
            "the long night scene in {film} was shot here in a single take.",
            "film lovers know {S} from {film}, where it appears for almost five minutes.",
        ),
    },
    aside={
        "paint": (
            "every eleven years {S} gets a new coat of {paint}, which takes two summers.",
            "the {paint} of the railings was mixed for {S} and is used nowhere else.",
        ),
        "lamps": (
            "at night {lamps} lamps are lit, each with its own number.",
            "of the {lamps} original lamps all but four have survived.",
        ),
        "height": (
            "ships must lower their masts, for there are only {height} metres between water and deck.",
            "the deck lies {height} metres above the water, and the wind up there takes hats.",
        ),
        "toll": (
            "until {toll_end} every cart paid a toll of {toll} crowns, and drivers of geese paid by the beak.",
            "the toll of {toll} crowns was abolished in {toll_end}, to general relief.",
        ),
        "rivets": (
            "the workshops counted {rivets} rivets, and an apprentice is said to have kept one.",
            "{rivets} bolts and rivets hold it together, as every schoolchild in {town} learns.",
        ),
    },
    colour=(
        "pigeons have taken the upper chords for themselves.",
        "the railing is polished smooth by a century of elbows.",
        "in fog it seems to end in mid-air.",
        "wedding parties stop here for photographs in all weathers.",
        "engineers still bring their students to look at the bearings.",
        "the joints tick when the sun comes out.",
    ),
    chatter=(
        "guided climbs of {T}: walk to the very top with one of our trained guides! Climbs of {T} run daily from April "
        "to October. Sensible shoes are a must, and helmets are provided. Gift vouchers can be printed at home.",
        "traffic news: one lane of {T} is closed tonight between ten and five for cleaning. Drivers who use {T} should "
        "allow extra time. Cyclists and walkers are not affected, and buses run to their usual timetable.",
        "love locks on {T}: yes or no? The council asks visitors not to fix any more padlocks to {T}, but the sellers "
        "at the southern end do good business all the same. Tell us what you think in the comments.",
        "charity run across {T} this Sunday: the start is at half past nine, numbers can be collected from eight. "
        "Everybody who crosses {T} twice gets a medal, a banana and our warmest thanks.",
    ),
)  # fmt: skip
