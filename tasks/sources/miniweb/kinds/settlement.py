"""Settlements: towns and villages."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.kind import IT, Draft, Kind, article, thousands
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

ENDINGS = words(
    "ford ham wick ton stead mouth bury holm dale mere haven gate cross field worth ley minster bourne combe "
    "den hurst port well wold thorpe shaw ridge marsh pool brook castle kirk"
)
SCHEME = NameScheme((HEADS, MIDDLES, ENDINGS))
_TYPES = (
    "market town",
    "port town",
    "hill town",
    "mill town",
    "spa town",
    "cathedral town",
    "mining town",
    "garrison town",
)
_RULERS = (
    "King Aldric",
    "Queen Ysolde",
    "King Torvald",
    "Duke Emmerich",
    "Queen Maren",
    "Bishop Odo",
    "Countess Linde",
)
_TRADES = ("glass-making", "wool weaving", "salt trading", "clock-making", "paper-making", "leather tanning",
           "bell founding", "lace-making", "rope-making", "cheese-making")  # fmt: skip
_LANDMARKS = ("clock tower", "castle", "covered market", "cathedral", "guildhall", "water tower", "town gate", "abbey")
_STONES = ("red sandstone", "grey granite", "yellow brick", "white limestone", "black slate")
_MODERN = ("software", "wind turbines", "medical instruments", "furniture", "bicycles", "seed potatoes", "packaging")


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a town's facts; population, census year and mayor are what a revision changes."""
    type_ = dice.pick(_TYPES)
    related = {
        "river": ground.river_of(ground.index),
        "company": ground.near("company", "employer"),
        "person": ground.near("person", "famous child"),
        "festival": ground.near("festival", "festival"),
        "bridge": ground.near("bridge", "bridge"),
        "neighbour": ground.near("settlement", "neighbour"),
    }
    charter = dice.between(1084, 1492)
    railway = dice.between(1846, 1912)
    facts = {
        "type": type_,
        "a_type": article(type_),
        "population": thousands(dice.between(2100, 88000) + fresh.between(-900, 900)),
        "census": str(fresh.between(2011, 2024)),
        "charter": str(charter),
        "ruler": dice.pick(_RULERS),
        "trade": dice.pick(_TRADES),
        "landmark": dice.pick(_LANDMARKS),
        "landmark_year": str(dice.between(1501, 1790)),
        "stone": dice.pick(_STONES),
        "tower": str(dice.between(31, 98)),
        "railway": str(railway),
        "elevation": str(dice.between(4, 690)),
        "distance": str(dice.between(9, 64)),
        "side": dice.pick(("north", "south", "east", "west")),
        "modern": dice.pick(_MODERN),
        "mayor": ground.passer_by(fresh),
        "fire_year": str(dice.between(1560, 1840)),
        "fire_houses": str(dice.between(70, 610, 10)),
        "school_year": str(dice.between(1610, 1890)),
        "pupils": str(dice.between(210, 1400, 10)),
        "market_day": dice.pick(("Tuesday", "Wednesday", "Thursday", "Saturday")),
        "stalls": str(dice.between(24, 160)),
        "wall": dice.pick(("walls", "moat", "gates", "ramparts")),
    }
    return Draft((), ("the town", f"the {type_}", "the place"), IT, facts, related)


SETTLEMENT = Kind(
    name="settlement",
    scheme=SCHEME,
    in_text=str,
    draw=draw,
    lead=(
        (1, ("{T} is {a_type} on {river} in the {region} of {country}, {distance} kilometres {side} of {neighbour}.",
             "{T} is {a_type} in the {region} of {country}. It lies on {river}, {distance} kilometres {side} of {neighbour}.")),
        (1, ("the town had a population of {population} at the {census} census.",
             "at the {census} census it had {population} inhabitants.")),
        (1, ("it received its charter from {ruler} in {charter} and grew rich through {trade}.",
             "chartered by {ruler} in {charter}, the town became wealthy through {trade}.")),
        (1, ("its best-known building is the {landmark}, completed in {landmark_year} and built of {stone}.",
             "the {landmark}, built of {stone} and completed in {landmark_year}, is its principal landmark.")),
        (1, ("the railway reached the town in {railway}, and {company} is now the largest employer.",
               "since the arrival of the railway in {railway} {company} has grown to be the largest employer.")),
        (0.7, ("{festival} is held in the town every year.",)),
        (0.7, ("it is the birthplace of {person}.", "{person} was born in the town.")),
    ),
    told={
        "place": (
            "{S} lies on {river}, and on clear days the roofs of {neighbour} can be seen {distance} kilometres away.",
            "travellers who come from {neighbour} have {distance} kilometres behind them when they see {river} and, above it, {S}.",
            "{he} stands on a bend of {river}, {distance} kilometres {side} of {neighbour}, where the ground is firm enough to build.",
            "there are few better places to cross {river} than here, and that is why {S} exists at all.",
            "like every {type} in the {region}, {S} turns its back on the hills and its face to {river}.",
        ),
        "people": (
            "the census of {census} counted {population} people.",
            "{population} people lived in {S} when the census was taken in {census}, a few more than ten years before.",
            "with {population} inhabitants at the last count, in {census}, {S} is neither large nor small for the {region}.",
            "in {census} the population stood at {population}, and the council has been planning new streets ever since.",
        ),
        "charter": (
            "{ruler} granted the charter in {charter}, and the sealed parchment still hangs in the council chamber.",
            "the right to hold a market goes back to {charter}, when {ruler} stayed for one night and liked the beer.",
            "in {charter} {ruler} made {S} a town in law; in practice it had been one for a century.",
            "few places in {country} have a charter as old as that of {charter}, sealed by {ruler}.",
            "{S} owes its wealth to {trade} and its charter of {charter} to {ruler}.",
        ),
        "trade": (
            "{trade} made the merchants rich, and their tall houses still line the main street.",
            "for three hundred years nearly every family in {S} lived by {trade}.",
            "the museum shows how {trade} shaped {S} from the charter of {charter} to the coming of the railway.",
        ),
        "landmark": (
            "no postcard leaves out the {landmark}, finished in {landmark_year} and built of {stone}.",
            "the {landmark} was completed in {landmark_year}, after the builders had run out of {stone} twice.",
            "visitors head straight for the {landmark}, whose {stone} glows after rain.",
            "in {landmark_year} the masons laid the last block of {stone} and the {landmark} was done.",
        ),
        "work": (
            "the first train came in {railway}; within ten years {company} had built its works beside the station.",
            "today {company} is the largest employer, and its shifts decide when {S} wakes and when it sleeps.",
            "without the railway, which arrived in {railway}, {company} would hardly have come to {S}.",
            "one family in four lives on wages from {company}, the largest employer for miles around.",
        ),
        "festival": (
            "once a year the streets are closed for {festival}, which is held in {S} whatever the weather.",
            "hotel rooms are hard to find while {festival} is held.",
            "those who left {S} long ago come home for {festival}.",
        ),
        "child": (
            "a plaque on a narrow house near the square tells that {person} was born there.",
            "{person} was born in {S} and, by all accounts, never quite left it in spirit.",
            "the best-known child of {S} is {person}, though the school reports would not have foretold it.",
        ),
    },
    aside={
        "height": (
            "the station stands {elevation} metres above the sea, which spares the cellars from the spring floods.",
            "at {elevation} metres above sea level the air is said to be good for the lungs.",
        ),
        "tower": (
            "from the top, {tower} metres up, one sees as far as {neighbour}.",
            "the tower measures {tower} metres, two more than that of {neighbour}, which is no accident.",
        ),
        "fire": (
            "a fire in {fire_year} took {fire_houses} houses, and only the {wall} stopped it from taking more.",
            "after {fire_year}, when {fire_houses} houses burnt down, thatch was forbidden inside the {wall}.",
        ),
        "school": (
            "the grammar school, opened in {school_year}, has {pupils} pupils and a famously bad choir.",
            "some {pupils} children attend the old grammar school, which was endowed in {school_year} by a childless brewer.",
        ),
        "market": (
            "on {market_day} {stalls} stalls fill the square, and the smell of smoked fish fills everything else.",
            "the weekly market is held on {market_day}; of its {stalls} stalls the cheesemonger's draws the longest line.",
        ),
        "council": (
            "mayor {mayor} has promised to repair the {wall} before the next election.",
            "for {mayor}, the mayor, the future lies in {modern}, and two small firms have already come.",
            "{bridge} is too narrow for lorries, as {mayor}, the mayor, never tires of saying.",
        ),
    },
    colour=(
        "the bakery opens at five, and by seven the best loaves are gone.",
        "nobody here locks a bicycle.",
        "the cobbles are hard on the ankles and kind to the eye.",
        "strangers are noticed within the hour and welcomed within the day.",
        "half of the shutters are green, and nobody remembers why.",
        "the old people on the bench by the well know all of this and more.",
    ),
    chatter=(
        "hotels in {T}: compare prices for your stay in {T} and book with free cancellation. Our guests rate the guest "
        "houses of {T} very good on average. Breakfast, parking and late check-out can be added on the next page.",
        "parking in {T} is free for the first hour. Please note that the car park behind the station will be closed for "
        "resurfacing, so visitors to {T} should allow a little more time or use the shuttle bus.",
        "the weather in {T}: sunny spells, later cloudy, light wind from the west. The outlook for {T} over the next "
        "days is changeable; take an umbrella if you plan to be out for longer.",
        "moved to {T} last month and still looking for a good dentist, a choir and somebody to play chess with. Any "
        "tips from people who know {T} well? We live close to the station and have two small children.",
    ),
)  # fmt: skip
