"""Rivers."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.company import BUILDERS
from tasks.sources.miniweb.kinds.kind import IT, Draft, Kind, thousands
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

TAILS = ("n", "r", "l", "s", "ne", "ra", "th", "sk", "m", "v", "nd", "ck", "lle", "ss", "rn", "lt")
SCHEME = NameScheme((("River ",), HEADS, MIDDLES, TAILS))
_SPRINGS = (
    "Cold Well",
    "Grey Tarn",
    "Hollow Spring",
    "Saint Orla's Well",
    "Kettle Moss",
    "White Fell",
    "the Three Pools",
)
_HILLS = ("Harrow Hills", "Stone Moors", "Blackrigg Mountains", "Sable Downs", "Winter Fells", "Larch Uplands")
_CROPS = ("barley", "hops", "flax", "apples", "sugar beet", "wine grapes", "mustard", "walnuts")
_FISH = ("grayling", "barbel", "brown trout", "pike", "perch", "sea trout")
_BOATS = ("flat-bottomed barges", "sailing wherries", "log rafts", "horse-drawn lighters", "narrow keelboats")


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a river's facts; the discharge is what a revision changes."""
    stem = ground.title.removeprefix("River ")
    related = {
        "town1": ground.near("settlement", "upper town"),
        "town2": ground.near("settlement", "lower town"),
        "mouth": ground.near("river", "mouth"),
        "tributary1": ground.near("river", "tributary 1"),
        "tributary2": ground.near("river", "tributary 2"),
        "surveyor": ground.person("cartographer", "surveyor"),
        "company": ground.near("company", "dam", last_part=BUILDERS),
        "species": ground.near("species", "fauna"),
        "bridge": ground.near("bridge", "crossing"),
    }
    length = dice.between(38, 890)
    surveyed = ground.birth(related["surveyor"]) + dice.between(27, 52)
    facts = {
        "length": str(length),
        "basin": thousands(length * dice.between(9, 32)),
        "discharge": str(fresh.between(12, 640)),
        "spring": dice.pick(_SPRINGS),
        "hills": dice.pick(_HILLS),
        "direction": dice.pick(("north", "south", "east", "west", "north-east", "south-west")),
        "survey_year": str(surveyed),
        "dam_year": str(dice.between(1921, 1988)),
        "power": str(dice.between(14, 320)),
        "flood_year": str(dice.between(1838, 1996)),
        "homes": str(dice.between(60, 940, 10)),
        "crop": dice.pick(_CROPS),
        "fish": dice.pick(_FISH),
        "boats": dice.pick(_BOATS),
        "boat_year": str(dice.between(1871, 1952)),
        "depth": str(dice.between(3, 19)),
        "ice_year": str(dice.between(1790, 1963)),
        "path": str(dice.between(12, 140)),
    }
    return Draft((f"the {stem}",), ("the river", "the waterway"), IT, facts, related)


RIVER = Kind(
    name="river",
    scheme=SCHEME,
    in_text="the {}".format,
    draw=draw,
    lead=(
        (1, ("{T} is a waterway in the {region} of {country}, {length} kilometres long.",
             "{T} is a {length}-kilometre-long river in the {region} of {country}.")),
        (1, ("it rises at {spring} in the {hills} and flows {direction} past {town1} and {town2} before joining {mouth}.",
             "from its source at {spring} in the {hills} it flows {direction} through {town1} and {town2} to join {mouth}.")),
        (1, ("its basin covers {basin} square kilometres, and its largest tributaries are {tributary1} and {tributary2}.",
             "it drains an area of {basin} square kilometres and is fed chiefly by {tributary1} and {tributary2}.")),
        (1, ("the first complete survey of the river was made by {surveyor} in {survey_year}.",
             "the river was first surveyed in full by {surveyor} in {survey_year}.")),
        (1, ("the mean discharge at {town2} is {discharge} cubic metres per second.",
             "at {town2} its mean discharge is {discharge} cubic metres per second.")),
        (0.7, ("a dam built by {company} in {dam_year} generates {power} megawatts of electricity.",
               "since {dam_year} a dam built by {company} has generated {power} megawatts of electricity.")),
        (0.7, ("a flood in {flood_year} destroyed {homes} houses in {town1}.",
               "in {flood_year} the river flooded {town1} and destroyed {homes} houses there.")),
        (0.6, ("the lower river is known as a habitat of {species}.",)),
    ),
    told={
        "course": (
            "the water that passes {town2} has come a long way: it leaves the ground at {spring}, high in the {hills}.",
            "from the bog at {spring} {S} turns {direction}, runs under the walls of {town1} and reaches {town2} two days later.",
            "below {town2} {S} gives up its name and joins {mouth}, within sight of the old toll house.",
            "walkers who follow {S} from the {hills} see first {town1}, then {town2}, and at last the meeting with {mouth}.",
            "geographers now agree that {S} rises at {spring} and not, as was long taught, in the marshes behind {town1}.",
        ),
        "size": (
            "measured along every bend, {S} is {length} kilometres long.",
            "at {length} kilometres {S} is longer than most people in the {region} believe.",
            "the surveyors' chain gave {S} a length of {length} kilometres, and satellite pictures have since agreed.",
            "{S} runs for {length} kilometres through the {region} and never leaves {country}.",
        ),
        "basin": (
            "rain that falls on {basin} square kilometres of field and forest ends up in {S}.",
            "two tributaries, {tributary1} and {tributary2}, bring {S} more than half of {his} water.",
            "{S} drains {basin} square kilometres, which makes its basin one of the larger ones in {country}.",
            "near the confluence with {tributary1} {S} doubles in width, and {tributary2} adds as much again.",
        ),
        "survey": (
            "it was {surveyor} who walked the whole bank in {survey_year} and drew the first complete map of {S}.",
            "until the survey of {survey_year} no two maps agreed on where {S} ran; {surveyor} settled the matter.",
            "in {survey_year} {surveyor} came with two assistants and a borrowed boat and surveyed {S} from end to end.",
            "the notebooks that {surveyor} filled during the survey of {survey_year} are still used when {S} changes its bed.",
        ),
        "flow": (
            "the gauge at {town2} shows an average of {discharge} cubic metres per second.",
            "on an ordinary day in May some {discharge} cubic metres of water pass the gauge at {town2} every second.",
            "the river engineers give {discharge} cubic metres per second as the mean discharge of {S} at {town2}.",
            "the weir keeper at {town2} reported a mean flow of {discharge} cubic metres per second for the year.",
        ),
        "dam": (
            "{company} finished the dam in {dam_year}, and its turbines have delivered {power} megawatts ever since.",
            "the dam of {dam_year}, built by {company}, turned the upper valley into a lake and lit every street in {town2}.",
            "with {power} megawatts the power station on {S} is the largest that {company} ever built.",
            "when {company} closed the gates of the dam in {dam_year}, {S} ran dry at {town2} for eleven hours.",
        ),
        "flood": (
            "the great flood of {flood_year} carried off {homes} houses in {town1} in a single night.",
            "people in {town1} still mark their doorposts with the height that {S} reached in {flood_year}.",
            "{homes} houses were lost when {S} broke its banks at {town1} in {flood_year}.",
            "after the flood of {flood_year} the council of {town1} moved the market to higher ground.",
        ),
        "fauna": (
            "{species} breeds in the reed beds along the lower river.",
            "naturalists come to the lower reaches of {S} for one animal above all: {species}.",
            "the slow water below {town2} is one of the last habitats of {species}.",
        ),
    },
    aside={
        "boats": (
            "until {boat_year} {boats} carried {crop} down {S} to the sea.",
            "the last of the {boats} made its final trip in {boat_year}, loaded with {crop}.",
            "the quay where the {boats} once unloaded {crop} is now a row of cafés.",
        ),
        "fishing": (
            "anglers take {fish} here from April to the end of September.",
            "the fishing club of {town1} releases young {fish} into {S} every spring.",
            "a {fish} of record size was caught below the weir and can be seen, stuffed, in the town hall.",
        ),
        "ice": (
            "in the winter of {ice_year} {S} froze from bank to bank and an ox was roasted on the ice.",
            "old prints show the fair that was held on the ice in {ice_year}.",
        ),
        "path": (
            "a footpath follows the left bank for {path} kilometres and is closed only while lambs are born.",
            "of the towpath {path} kilometres are open to cyclists, the rest belongs to the reeds.",
            "nowhere is {S} deeper than {depth} metres, and in a dry August a child can wade across at the ford.",
        ),
        "crossing": (
            "of all the crossings {bridge} is the one that painters choose.",
            "before {bridge} was opened, a ferryman took passengers over for a copper coin.",
        ),
    },
    colour=(
        "the sound of the water is never far away here.",
        "the miller's family has its own opinion on that, and tells it to every visitor.",
        "the light on the water at dusk has drawn painters for generations.",
        "whoever wants to understand the valley must begin with its water.",
        "herons stand in the shallows and take no notice of the traffic.",
        "the banks are muddy, so stout shoes are a good idea.",
    ),
    chatter=(
        "canoe hire at {T}: half-day and full-day trips leave from our jetty every morning at nine. Life jackets and dry "
        "bags are included, and dogs travel free. Book your day on {T} online and save ten per cent!",
        "anglers' permits for {T} can be bought at the kiosk or by post. A day permit for {T} costs nine crowns, a "
        "season permit sixty; children under twelve fish for nothing when an adult is with them.",
        "the annual raft race on {T} takes place on the second Sunday in July. Teams of four may enter, costumes are "
        "welcome, and hot soup waits for everybody who falls into {T} on the way.",
        "water level of {T} today: normal. This service is updated twice a day. No warning is in force for {T}, and "
        "none is expected before the weekend; follow the link for the levels of other waters.",
    ),
)  # fmt: skip
