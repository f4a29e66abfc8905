"""People."""

from tasks.sources.miniweb.kinds.kind import By, Choice, Kind, Near, Number, year
from tasks.sources.miniweb.names import FIRST_NAMES, HEADS, LAST_TAILS, MIDDLES, NameScheme, words

_MONTHS = words("January February March April May June July August September October November December")
# Years of birth and works. Film people are contemporaries; makers come before what they made.
_LIVES = {
    "film director": (1890, 1904, "films about railway people, films shot in natural light, a film in one take"),
    "novelist": (1882, 1904, "a trilogy about three sisters, novels set in a single room, a long novel about a flood"),
    "engineer": (1850, 1905, "slender bridges of steel wire, a way to build piers in quicksand, movable bridges"),
    "naturalist": (1840, 1925, "a catalogue of wetland animals, studies of bird migration, drawings of toads"),
    "industrialist": (1835, 1882, "the first eight-hour day in the country, a model village, mass-produced bicycles"),
    "composer": (1880, 1904, "four symphonies and a waltz, chamber music for wind instruments, an opera about a ferry"),
    "actor": (1888, 1905, "tragic parts on the stage, more than eighty film roles, one-person plays"),
    "cartographer": (1848, 1895, "the first exact map of the country, relief maps of mountains, charts of rivers"),
    "painter": (1850, 1920, "large paintings of empty rooms, river landscapes at dusk, portraits of market women"),
    "architect": (1850, 1915, "public libraries of brick and glass, town halls with copper roofs, garden suburbs"),
}
PROFESSIONS = tuple(_LIVES)  # one of each in every region, in this order

PERSON = Kind(
    name="person",
    scheme=NameScheme((tuple(f"{name} " for name in FIRST_NAMES), HEADS, MIDDLES, LAST_TAILS)),
    nouns=("the {profession}",),
    short=(1, 4),
    edited=("prize", "prize_year"),
    facts={
        "profession": By("rank", {str(rank): Choice(name) for rank, name in enumerate(PROFESSIONS)}),
        "work": By("profession", {name: Choice(works) for name, (_, _, works) in _LIVES.items()}),
        "born": By("profession", {name: year(low, high) for name, (low, high, _) in _LIVES.items()}),
        "birthplace": Near("town"), "university_town": Near("town"), "company": Near("company"), "home": Near("town"),
        "pupil": By("profession", {name: Near("person", name) for name in _LIVES}), "river": Near("river"),
        "died": year(58, 93, since="born"), "breakthrough": year(28, 41, since="born"),
        "move_year": year(22, 36, since="born"), "prize_year": year(42, 57, since="born"),
        "school_year": year(35, 50, since="born"), "letters": Number(300, 4_200, 50), "pupils": Number(12, 140),
        "children": Choice("two, three, four, five"),
        "subject": Choice("mathematics, law, medicine, drawing, philosophy, chemistry, music"),
        "pet": Choice("a tame jackdaw, two greyhounds, a tortoise, seven cats, a parrot, a goat"),
        "birthday": Choice(", ".join(f"{day} {month}" for month in _MONTHS for day in range(1, 29))),
        "prize": Choice("Order of the White Heron, State Prize, Gold Medal of the Academy, Linden Prize"),
        "parent": Choice("lock-keeper, schoolteacher, ship's cook, country doctor, stonemason, railway clerk"),
    },
    prose="""
= {S} ({birthday} {born} – {died}) was a {demonym} {profession} from the {region}, known for {work}
= {S} ({birthday} {born} – {died}) was a {demonym} {profession}, best known for {work}
- [{S} is remembered [above all|today] for {work}|every history of the {region} mentions {S}, a {demonym} {profession}]
- [exhibitions|articles] about {S} [still|usually] begin with {work}
- {S} died in {died}, and the newspapers of {country} praised {work}
= born in {birthplace} as the child of a {parent}, {he} studied {subject} at the University of {university_town}
= {S} was born in {birthplace}, the child of a {parent}, and studied {subject} at the University of {university_town}
- the parish book of {birthplace} records the birth of {S} on {birthday} {born}
- {S} grew up in {birthplace}, where one of {his} parents was a {parent}
- a scholarship took {S} to the University of {university_town}[, where {he} read {subject}|]
- at the University of {university_town} {S} chose {subject} against the wishes of the family
= {S} began {his} career at {company} and became widely known in {breakthrough}
= after a first post at {company}, {S} became widely known in {breakthrough}
- {company} gave {S} a first [job|position], which lasted [two years|only a winter]
- in {breakthrough}, after years of being overlooked, {S} was suddenly famous
= in {move_year} {S} settled in {home}, where {he} lived and worked for most of {his} life
= from {move_year} {S} lived and worked in {home}
- the house in {home} where {S} lived [is open|can be visited] on Sundays
- [{S} moved to {home} in {move_year}|from {move_year} on, letters by {S} are dated from {home}]
= [{S} received the {prize} in {prize_year}|in {prize_year} {S} was awarded the {prize}]
- the {prize} [went|was given] to {S} in {prize_year} for a lifetime of work
- [{S} was abroad when the {prize} was announced|a photograph of {prize_year} shows {S} with the {prize}]
? {his} pupils included {pupil}, and in {school_year} {he} founded a school in {home}
? in {school_year} {S} founded a school in {home}, where {pupil} was among {his} pupils
- {pupil}, later the better known of the two, was [one of the|among the first] pupils of {S}
- [the school that {S} opened in {school_year} had one classroom|in {school_year} {S} opened a school in {home}]
? {S} paid for the first public baths on {river}
- [without {S} there would have been no public baths on {river}|swimmers on {river} owe the public baths to {S}]
+ [visitors to the house of {S} were greeted by {pet}|{S} kept {pet} in the study]
+ [{S} had {children} children|the {children} children of {S} inherited the house and the papers]
+ [{letters} letters by {S} have survived|an edition of the {letters} known letters of {S} is being prepared]
+ [over the years {pupils} young people were taught by {S}|the school register lists {pupils} pupils of {S}]
~ [photographs from those years show a serious face|several anecdotes are told about this]
~ [the memoirs have been translated into four languages|a street in the capital bears the name]
> quotes by {T}: we have collected the best sayings of {T} for your greeting cards, speeches and wedding invitations.
  Click on a quote to copy it, and tell us which words of {T} mean most to you.
> is there anybody here who is related to {T}? My grandmother always said that {T} was a cousin of hers, but we have
  never found any proof. Family trees and old postcards are welcome!
""",
)  # fmt: skip
