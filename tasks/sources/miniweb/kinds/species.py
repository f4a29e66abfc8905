"""Animal species."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.kind import IT, Draft, Kind, article, thousands
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme, words

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

_ADJECTIVES = tuple(f"{word} " for word in words(
    "Speckled Banded Crested Dusky Greater Lesser Spotted Striped Golden Marsh Mountain Northern Pale Ringed "
    "Rufous Silver Slender Southern Tufted Velvet White-faced Yellow-bellied Black-backed Blue-tailed Red- "
    "footed Grey-headed Long-nosed Short-winged Bearded Masked Painted Whistling"
))  # fmt: skip
_ANIMALS = (
    # title word, noun, genus, family, what it eats, where it breeds, length in mm
    ("newt", "amphibian", "Tritonella", "Salamandridae", "water fleas and small worms", "shallow ponds", (60, 140)),
    ("toad", "amphibian", "Bufonella", "Bufonidae", "beetles and slugs", "flooded gravel pits", (40, 110)),
    ("heron", "bird", "Ardeola", "Ardeidae", "fish and crayfish", "tall alders", (520, 980)),
    ("finch", "bird", "Spinella", "Fringillidae", "thistle seeds", "hawthorn hedges", (110, 170)),
    ("warbler", "bird", "Acrolina", "Acrocephalidae", "midges and spiders", "dense reed beds", (100, 150)),
    ("vole", "mammal", "Arvinella", "Cricetidae", "roots and bark", "steep river banks", (80, 190)),
    ("shrew", "mammal", "Soricella", "Soricidae", "woodlice and larvae", "old stone walls", (50, 90)),
    ("trout", "fish", "Salmella", "Salmonidae", "mayflies and minnows", "clean gravel beds", (240, 620)),
    ("beetle", "insect", "Carabella", "Carabidae", "snails and caterpillars", "rotten oak stumps", (14, 46)),
    (
        "moth",
        "insect",
        "Noctuella",
        "Noctuidae",
        "the nectar of night-flowering campion",
        "sunny chalk slopes",
        (22, 61),
    ),
)
SCHEME = NameScheme((_ADJECTIVES, HEADS, MIDDLES, ("n ", "r ", "l ", "ss "), tuple(animal[0] for animal in _ANIMALS)))
_COLOURS = ("olive brown", "slate grey", "rust red", "sand yellow", "bottle green", "dark violet", "chestnut")
_MARKS = ("a pale stripe along the back", "a ring of white dots", "a bright orange belly", "two dark bars on the throat",
          "a yellow spot behind each eye", "a fine black network on the sides")  # fmt: skip
_STATUS = ("endangered", "vulnerable", "near threatened", "critically endangered", "of least concern")
_THREATS = ("the draining of meadows", "the use of insecticides", "new roads", "introduced crayfish", "falling water tables",
            "the felling of old trees")  # fmt: skip
_CALLS = (
    "a soft double click",
    "a rising whistle",
    "a dry rattle",
    "a sound like a cork drawn from a bottle",
    "a low hum",
)


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a species' facts; the number counted and the year of the count are what a revision changes."""
    word, group, genus, family, diet, nest, (small, large) = _ANIMALS[ground.digits[-1]]
    stem = ground.title.split(" ")[1]
    size = dice.between(small, large)
    status = dice.pick(_STATUS)
    related = {
        "river": ground.near("river", "home"),
        "naturalist": ground.person("naturalist", "author"),
        "town": ground.near("settlement", "type place"),
        "company": ground.near("company", "threat"),
        "painter": ground.person("painter", "plate"),
        "rival": ground.near("species", "rival"),
    }
    described = ground.birth(related["naturalist"]) + dice.between(25, 55)
    facts = {
        "what": article(f"species of {word}"),
        "word": word,
        "group": group,
        "latin": f"{genus} {_latin(stem)}",
        "family": family,
        "diet": diet,
        "nest": nest,
        "size": f"{size / 10:g} centimetres" if size < 400 else f"{size // 10} centimetres",
        "colour": dice.pick(_COLOURS),
        "mark": dice.pick(_MARKS),
        "described": str(described),
        "status": status,
        "listed": str(dice.between(1979, 2022)),
        "count": thousands(fresh.between(310, 48000, 10)),
        "count_year": str(fresh.between(2012, 2024)),
        "threat": dice.pick(_THREATS),
        "young": str(dice.between(2, 12)),
        "weeks": str(dice.between(2, 7)),
        "years": str(dice.between(2, 14)),
        "call": dice.pick(_CALLS),
        "month": dice.pick(("March", "April", "May", "June")),
        "reserve": str(dice.between(40, 900, 10)),
        "ringed": str(dice.between(60, 1900, 10)),
        "ranger": ground.passer_by(fresh),
    }
    nouns = ("the species", f"the {word}", "the animal")
    return Draft((f"the {stem} {word}",), nouns, IT, facts, related)


def _in_text(title: str) -> str:
    """Return the title as it stands inside a sentence."""
    return f"the {title[0].lower()}{title[1:]}"


def _latin(stem: str) -> str:
    """Return a species epithet made from a name stem."""
    plain = stem.lower().translate(str.maketrans("éö", "eo"))
    return f"{plain}ensis"


SPECIES = Kind(
    name="species",
    scheme=SCHEME,
    in_text=_in_text,
    draw=draw,
    lead=(
        (1, ("{T} ({latin}) is {what} in the family {family}, found only in the {region} of {country}.",
             "{T} ({latin}) is {what} in the family {family} that lives only in the {region} of {country}.")),
        (1, ("it was first described in {described} by {naturalist} from a specimen found near {town}.",
             "{naturalist} first described it in {described} from a specimen collected near {town}.")),
        (1, ("it is {size} long and {colour}, with {mark}.",
             "adults are {size} long and {colour}, with {mark}.")),
        (1, ("it lives along {river}, feeds on {diet} and breeds in {nest}.",
             "the species is found along {river}, where it feeds on {diet} and breeds in {nest}.")),
        (1, ("it has been listed as {status} since {listed}, and its main threat is {threat}.",
             "listed as {status} since {listed}, it is threatened mainly by {threat}.")),
        (1, ("a count in {count_year} found {count} individuals.",
               "the population was estimated at {count} individuals in {count_year}.")),
        (0.5, ("a brood consists of {young} young, and adults live for up to {years} years.",)),
    ),
    told={
        "naming": (
            "in {described} {naturalist} published a description of two pages and gave {S} the name {latin}.",
            "the first specimen was found near {town} and sent to {naturalist} in a biscuit tin.",
            "it was {naturalist} who recognised in {described} that the specimen from {town} belonged to something new.",
            "{S} has been known to science since {described}, when {naturalist} described {him} from a single specimen.",
        ),
        "range": (
            "outside the {region} nobody has ever seen {S}.",
            "{S} lives along {river} and, as far as is known, nowhere else in {country}.",
            "to find {S} one has to go to {river}, preferably before sunrise.",
            "all records of {S} come from the {region}, most of them from the banks of {river}.",
        ),
        "looks": (
            "{S} is {colour} and can be told at once by {mark}.",
            "an adult measures {size}; the young are paler and lack {mark}.",
            "look for {mark}: no other {word} in {country} has it.",
            "{size} long and {colour}, {S} is easily overlooked until it moves.",
        ),
        "kinship": (
            "{S} belongs to the family {family}, although at first sight nobody would think so.",
            "specialists place {latin} in the family {family}, as the first anatomists did.",
            "the family {family} has no other member in the region.",
        ),
        "living": (
            "{S} feeds on {diet} and breeds in {nest}.",
            "for breeding {S} needs {nest}; for food, {diet}.",
            "stomachs examined in the museum contained {diet} and little else.",
            "where {nest} have disappeared, {S} has disappeared as well, even though there is plenty of {diet}.",
        ),
        "status": (
            "since {listed} {S} has been listed as {status}; the reason given is {threat}.",
            "{threat} is the main threat, according to the list of {listed}, which calls {S} {status}.",
            "conservationists blame {threat}, and the ministry has listed {S} as {status} since {listed}.",
            "nothing has harmed {S} as much as {threat}.",
        ),
        "count": (
            "volunteers counted {count} individuals in {count_year}.",
            "the estimate for {count_year} is {count} individuals, give or take a tenth.",
            "in {count_year} there were still {count} of them, mostly on land that belongs to {company}.",
        ),
        "brood": (
            "a brood consists of {young} young, which stay together for {weeks} weeks.",
            "{S} can reach an age of {years} years, a good deal more than its relatives.",
            "of {young} young in a brood two at most see the next spring; those that do may live for {years} years.",
        ),
    },
    aside={
        "voice": (
            "the call is {call}, heard from {month} onwards.",
            "on still evenings in {month} one can hear {call}, and then nothing for minutes.",
        ),
        "reserve": (
            "a reserve of {reserve} hectares was fenced off, to the annoyance of mushroom pickers.",
            "ranger {ranger} looks after {reserve} hectares of wet meadow and one very old tractor.",
        ),
        "marking": (
            "in ten years {ringed} animals were marked, and forty of them were found again.",
            "students have marked {ringed} animals so far, most of them at night and in the rain.",
        ),
        "plate": (
            "the coloured plate by {painter} shows the {group} larger than life and somewhat friendlier.",
            "{painter} painted it for the academy's handbook from a live model, which escaped.",
        ),
        "dispute": (
            "whether {rival} drives it from the best places is still disputed.",
            "{rival} lives along the same banks, and the two leave each other alone.",
        ),
    },
    colour=(
        "patience is the most important piece of equipment.",
        "much about its life remains unknown.",
        "farmers know it under quite another name.",
        "in the museum there is one drawer of specimens and one worried curator.",
        "nobody who has held one in the hand forgets it.",
        "the best observations were made by children.",
    ),
    chatter=(
        "photo competition: send us your best picture of {T}! The winner receives a pair of binoculars. Pictures of {T} "
        "taken in captivity cannot be accepted, and please keep your distance during the breeding season.",
        "spotted {T} in our garden this morning, or at least I believe it was {T}. It sat under the hedge for a minute "
        "and then ran off. My husband says that it was a sock. Has anybody else seen one this year?",
        "adopt {T} for only five crowns a month! You will receive a certificate, a soft toy and our newsletter with "
        "stories about {T}. An adoption makes a wonderful present for children and grandparents alike.",
        "guided walk: on the trail of {T}. We meet at the car park at five in the morning. A sighting of {T} cannot be "
        "promised, coffee can. Rubber boots are needed. The walk is free for members of the society.",
    ),
)  # fmt: skip
