"""People, companies and films."""

from tasks.sources.miniweb.kinds.kind import By, Near, Number, TopicKind, year
from tasks.sources.miniweb.names import FILM_TITLES, FIRST_NAMES, HEADS, LAST_TAILS, MIDDLES, NameScheme, words

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

PERSON = TopicKind(
    name="person",
    scheme=NameScheme((tuple(f"{name} " for name in FIRST_NAMES), HEADS, MIDDLES, LAST_TAILS)),
    nouns=("the {profession}",),
    short=(1, 4),
    edited=("prize", "prize_year"),
    facts={
        "profession": By("rank", dict(zip(map(str, range(10)), PROFESSIONS, strict=True))),
        "work": By("profession", {name: works for name, (_, _, works) in _LIVES.items()}),
        "born": By("profession", {name: year(low, high) for name, (low, high, _) in _LIVES.items()}),
        "birthplace": Near("town"),
        "university_town": Near("town"),
        "company": Near("company"),
        "home": Near("town"),
        "pupil": By("profession", {name: Near("person", name) for name in _LIVES}),
        "river": Near("river"),
        "died": year(58, 93, since="born"),
        "breakthrough": year(28, 41, since="born"),
        "move_year": year(22, 36, since="born"),
        "prize_year": year(42, 57, since="born"),
        "school_year": year(35, 50, since="born"),
        "letters": Number(300, 4_200, 50),
        "pupils": Number(12, 140),
        "children": "two, three, four, five",
        "subject": "mathematics, law, medicine, drawing, philosophy, chemistry, music",
        "pet": "a tame jackdaw, two greyhounds, a tortoise, seven cats, a parrot, a goat",
        "birthday": ", ".join(f"{day} {month}" for month in _MONTHS for day in range(1, 29)),
        "prize": "Order of the White Heron, State Prize, Gold Medal of the Academy, Linden Prize",
        "parent": "lock-keeper, schoolteacher, ship's cook, country doctor, stonemason, railway clerk",
    },
)

_SECTORS = {  # end of the title: (what such a company is, what it makes)
    "Shipyards": ("shipbuilding company", "river ferries"),
    "Ironworks": ("ironworks company", "iron girders"),
    "Breweries": ("brewing company", "dark beers"),
    "Foundries": ("steel company", "church bells"),
    "Engineering": ("engineering company", "lifting cranes"),
    "Bicycles": ("bicycle maker", "touring bicycles"),
    "Construction": ("construction company", "prefabricated piers"),
    "Cables": ("cable manufacturer", "submarine cables"),
    "Clocks": ("clock-making company", "station clocks"),
}
BUILDERS = words("Shipyards Ironworks Foundries Engineering Construction Cables")

COMPANY = TopicKind(
    name="company",
    scheme=NameScheme(
        (
            HEADS,
            MIDDLES,
            words("x n r tt l nd rm ss ck nt lt rk sk rg mm v"),
            tuple(f" {sector}" for sector in _SECTORS),
        )
    ),
    nouns=("the company", "the firm", "the {what}"),
    short=(0, 3),
    edited=("employees", "turnover", "turnover_year"),
    facts={
        "what": By("title", {sector: what for sector, (what, _) in _SECTORS.items()}),
        "product": By("title", {sector: product for sector, (_, product) in _SECTORS.items()}),
        "town": Near("town"),
        "founder": Near("person", "industrialist"),
        "bought": Near("company"),
        "works": Near("town"),
        "engineer": Near("person", "engineer"),
        "river": Near("river"),
        "founded": year(24, 47, since="founder"),
        "employees": Number(240, 19_000, 10),
        "turnover": Number(18, 960),
        "turnover_year": year(2015, 2024),
        "bought_year": year(22, 61, since="founded"),
        "later_year": year(62, 90, since="founded"),
        "countries": Number(6, 70),
        "strike_year": year(11, 38, since="founded"),
        "strike_weeks": Number(3, 21),
        "patents": Number(14, 320),
        "chimney": Number(28, 97),
        "museum_year": year(1961, 2012),
        "apprentices": Number(12, 140),
        "later": "wind power, hospital equipment, packaging, electronics, fine tools, bicycle parts",
    },
)

FILM = TopicKind(
    name="film",
    scheme=NameScheme(FILM_TITLES),
    nouns=("the film", "the picture", "the {genre}"),
    short=(0, 3),
    edited=("tickets",),
    facts={
        "director": Near("person", "film director"),
        "writer": Near("person", "novelist"),
        "actor1": Near("person", "actor"),
        "actor2": Near("person", "actor"),
        "town": Near("town"),
        "composer": Near("person", "composer"),
        "company": Near("company"),
        "year": year(29, 56, since="director"),
        "weeks": Number(5, 19),
        "runtime": Number(74, 171),
        "tickets": Number(180_000, 6_400_000, 1_000),
        "budget": Number(4, 96, style="{}.5"),
        "restored": year(31, 60, since="year"),
        "takes": Number(17, 63),
        "reels": Number(6, 14),
        "extras": Number(80, 900, 10),
        "script_year": year(-4, -1, since="year"),
        "merit": "best picture, best direction, best screenplay, best photography",
        "genre": "drama, comedy, crime film, war film, musical, romance, adventure film, melodrama",
        "prize": "Golden Lantern, Silver Swan, Critics' Ring, Crystal Reel, Grand Prix, Blue Ribbon",
        "stage": "on a converted barge, in an empty salt warehouse, in a railway shed, in an old ballroom",
        "hero": "a retired signalman, a young seamstress, a village teacher, a lighthouse keeper, "
        "a piano tuner, a runaway apprentice, an elderly forger, a travelling dentist",
        "quest": "searches for a lost brother, inherits an empty house, is accused of a theft, "
        "falls in love by letter, hides a stranger for a winter, saves a failing theatre",
    },
)
