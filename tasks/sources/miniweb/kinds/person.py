"""People."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.kind import HE, SHE, Draft, Kind, article, thousands
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

WOMEN = words(
    "Anna Berta Clara Dora Elsa Frida Greta Hanna Ida Johanna Karin Lena Marta Nora Olga Paula Rosa Sofia "
    "Tilda Ursula Vera Wilma Yvonne Zora"
)
MEN = words(
    "Anton Bruno Carl Daniel Emil Felix Georg Henrik Ivan Jonas Kaspar Leon Martin Niels Oskar Peter Rolf "
    "Stefan Theo Ulrich Viktor Walter Xaver Zoltan"
)
TAILS = ("n", "r", "ll", "sen", "rt", "ck", "nt", "ler", "mann", "ski", "vic", "rd", "nsson", "tt", "berg", "lund")
SCHEME = NameScheme((tuple(f"{name} " for name in WOMEN + MEN), HEADS, MIDDLES, TAILS))

# One of each in every region, in this order: a person's place in the region decides the profession.
PROFESSIONS = ("film director", "novelist", "engineer", "naturalist", "industrialist", "composer", "actor", "cartographer",
               "painter", "architect")  # fmt: skip
_WORKS = {
    "film director": ("the first sound film made in {country}", "a cycle of nine films about railway people",
                      "films that use only natural light"),
    "novelist": ("a trilogy about three sisters", "the novel *The Salt Ledger*", "short novels set in a single room"),
    "engineer": ("slender bridges of steel wire", "a method of founding piers in quicksand", "movable bridges"),
    "naturalist": ("a catalogue of the animals of the wetlands", "studies of bird migration", "drawings of newts and toads"),
    "industrialist": ("the first eight-hour day in {country}", "a model village for workers", "mass-produced bicycles"),
    "composer": ("four symphonies and a much-loved waltz", "chamber music for wind instruments", "an opera about a ferry"),
    "actor": ("tragic parts on the stage and comic ones on the screen", "more than eighty film roles", "one-person plays"),
    "cartographer": ("the first exact map of {country}", "relief maps of the mountains", "charts of shifting rivers"),
    "painter": ("large paintings of empty rooms", "river landscapes at dusk", "portraits of market women"),
    "architect": ("public libraries of brick and glass", "town halls with copper roofs", "terraced housing around gardens"),
}  # fmt: skip
_PRIZES = (
    "Order of the White Heron",
    "State Prize",
    "Gold Medal of the Academy",
    "Linden Prize",
    "Royal Medal of Merit",
)
_SUBJECTS = ("mathematics", "law", "medicine", "drawing", "philosophy", "chemistry", "music")
_PARENTS = ("a lock-keeper", "a schoolteacher", "a ship's cook", "a country doctor", "a stonemason", "a widowed laundress",
            "a railway clerk", "a bell founder")  # fmt: skip
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip
_PETS = ("a tame jackdaw", "two greyhounds", "a tortoise", "seven cats", "a blind parrot", "a goat")


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a person's facts; prize and year of the prize are what a revision changes."""
    profession = PROFESSIONS[ground.rank]
    born = ground.birth(ground.index)
    died = min(born + dice.between(58, 93), 2019)
    related = {
        "birthplace": ground.near("settlement", "birthplace"),
        "home": ground.near("settlement", "home"),
        "pupil": ground.person(profession, "pupil"),
        "company": ground.near("company", "first post"),
        "festival": ground.near("festival", "patron"),
        "river": ground.near("river", "river"),
    }
    day, month = dice.between(1, 28), dice.pick(_MONTHS)
    studied = ground.regional_town(dice)
    facts = {
        "a_profession": article(f"{ground.region.demonym} {profession}"),
        "birthday": f"{day} {month} {born}",
        "died": str(died),
        "life": f"{day} {month} {born} – {died}",
        "work": dice.pick(_WORKS[profession]).format(country=ground.region.country).replace("*", ""),
        "university": f"the University of {studied}",
        "subject": dice.pick(_SUBJECTS),
        "parent": dice.pick(_PARENTS),
        "breakthrough": str(born + dice.between(26, 41)),
        "move_year": str(born + dice.between(22, 36)),
        "prize": fresh.pick(_PRIZES),
        "prize_year": str(min(2024, born + fresh.between(42, 70))),
        "school_year": str(born + dice.between(35, 50)),
        "pupils": str(dice.between(12, 140)),
        "children": dice.pick(("two", "three", "four", "five")),
        "pet": dice.pick(_PETS),
        "hours": dice.pick(("four", "five", "six")),
        "letters": thousands(dice.between(300, 4200, 50)),
        "doctor": ground.passer_by(dice),
    }
    first, last = ground.title.split(" ", 1)
    pronouns = SHE if first in WOMEN else HE
    return Draft((last,), (f"the {profession}",), pronouns, facts, related)


PERSON = Kind(
    name="person",
    scheme=SCHEME,
    in_text=str,
    draw=draw,
    lead=(
        (1, ("{T} ({life}) was {a_profession} from the {region}, known for {work}.",
             "{T} ({life}) was {a_profession}, best known for {work}.")),
        (1, ("born in {birthplace} as the child of {parent}, {he} studied {subject} at {university}.",
             "{he} was born in {birthplace}, the child of {parent}, and studied {subject} at {university}.")),
        (1, ("{he} began {his} career at {company} and became widely known in {breakthrough}.",
             "after a first post at {company}, {he} became widely known in {breakthrough}.")),
        (1, ("in {move_year} {he} settled in {home}, where {he} lived and worked for most of {his} life.",
             "from {move_year} {he} lived and worked in {home}.")),
        (1, ("{he} received the {prize} in {prize_year}.", "in {prize_year} {he} was awarded the {prize}.")),
        (0.8, ("{his} pupils included {pupil}, and in {school_year} {he} founded a school in {home}.",
               "in {school_year} {he} founded a school in {home}, where {pupil} was among {his} pupils.")),
        (0.5, ("{he} was for many years a patron of {festival}.",)),
    ),
    told={
        "origin": (
            "{S} came from {birthplace}, where {his} birth on {birthday} is entered in the parish book in violet ink.",
            "the child of {parent} was not expected to become {a_profession}.",
            "in {birthplace}, where {S} was born, the family of {parent} was neither poor nor quite respectable.",
            "{S} grew up in {birthplace} as the child of {parent} and learnt to swim in {river}.",
        ),
        "study": (
            "{S} read {subject} at {university} and, by {his} own account, slept through most of it.",
            "at {university} {S} studied {subject}, which the family thought a waste of candles.",
            "a scholarship took {S} to {university}, where {subject} was the only subject with an empty seat.",
            "the years at {university}, officially spent on {subject}, gave {S} friends for life.",
        ),
        "work": (
            "above all {S} is remembered for {work}.",
            "what made {S} known far beyond the {region} was {work}.",
            "asked what would last, {S} named {work} and nothing else.",
            "collectors and scholars come for {work}; {S} had other interests as well.",
        ),
        "career": (
            "{S's} first post was at {company}, and it did not last long.",
            "in {breakthrough}, after years of being overlooked, {S} was suddenly famous.",
            "a foreman at {company} noticed the sketches on the back of the wage slips, and {S's} career began.",
            "{S} became widely known in {breakthrough}, when three newspapers printed the same photograph.",
        ),
        "home": (
            "{S} moved to {home} in {move_year} and hardly ever left it again.",
            "the house in {home} where {S} lived and worked from {move_year} can be visited on Sundays.",
            "it was meant to be a summer in {home}; in the end {S}, who arrived in {move_year}, stayed for good.",
            "from {move_year} on {S's} letters are all dated from {home}.",
            "{S} died in {home} in {died}, at the desk, with the lamp still burning.",
        ),
        "prize": (
            "the {prize} came in {prize_year}, and {S} sent a nephew to collect it.",
            "in {prize_year} {S} was given the {prize} for a lifetime of work.",
            "{S} wore the {prize}, awarded in {prize_year}, on an old cardigan.",
            "when the {prize} was announced in {prize_year}, the postman brought {letters} letters to {home}.",
        ),
        "school": (
            "the school that {S} founded in {home} in {school_year} took in anyone who could sit still for an hour.",
            "{pupil}, later better known than {his} teacher, was among the pupils of {S}.",
            "in {school_year} {S} rented a barn in {home} and opened a school, with {pupil} in the first row.",
        ),
        "patron": (
            "{S} served for many years as a patron of {festival} and never missed a rehearsal.",
            "the archive of {festival} keeps a chair that was reserved for {S}, its patron.",
        ),
    },
    aside={
        "habits": (
            "{S} rose at {hours}, drank black tea and spoke to nobody before noon.",
            "{S} kept {pet}, which was not popular with the neighbours.",
            "guests had to share the sofa with {pet}.",
        ),
        "family": (
            "{S} had {children} children, none of whom followed {him} into the profession.",
            "of {S's} {children} children the youngest wrote the first biography.",
        ),
        "letters": (
            "some {letters} letters have been found, most of them about money.",
            "the {letters} surviving letters are in a small, upright hand that is a pleasure to read.",
        ),
        "illness": (
            "doctor {doctor} advised rest; {S} bought a bicycle instead.",
            "a long illness, which doctor {doctor} never quite explained, cost {S} two years of work.",
        ),
        "pupils": (
            "over the years {pupils} young people passed through {S's} hands, and most of them complained.",
            "“you learnt by sweeping the floor,” one of the {pupils} pupils recalled much later.",
        ),
    },
    colour=(
        "photographs from those years show a serious face and very large hands.",
        "the anecdote is too good to be checked.",
        "not everything in the memoirs should be believed.",
        "neighbours remember above all the whistling.",
        "modesty was never part of the plan.",
        "the question is still asked at examinations.",
    ),
    chatter=(
        "quotes by {T}: we have collected the best sayings of {T} for your greeting cards, speeches and wedding "
        "invitations. Click on a quote to copy it, and tell us which words of {T} mean most to you.",
        "is there anybody here who is related to {T}? My grandmother always said that {T} was a cousin of hers, but "
        "she also said that of two bishops and a tightrope walker. Family trees and old postcards welcome!",
        "the {T} evening at the library begins at eight. Admission is free, a hat goes round. Come early, since the last "
        "evening about {T} was full. Wine and bread are sold at the door by the friends of the library.",
        "new in our shop: mugs, tea towels and a calendar with pictures of {T}. The {T} mug is dishwasher-safe and makes "
        "a fine present. Orders over forty crowns are sent free of charge.",
    ),
)  # fmt: skip
