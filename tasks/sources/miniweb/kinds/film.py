"""Films."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.kind import IT, Draft, Kind, article, thousands
from tasks.sources.miniweb.names import NameScheme, words

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

_ADJECTIVES = words(
    "Glass Silent Amber Broken Crooked Distant Empty Faithful Gentle Hidden Hollow Iron Ivory Last Little "
    "Lonely Lost Narrow Northern Paper Patient Quiet Red Restless Scarlet Second Secret Seventh Silver "
    "Sleeping Slow Small Southern Stolen Stone Summer Tall Tired Unwritten Velvet Wandering White Wild Winter "
    "Wooden Yellow Bitter Blue Borrowed Brass Burning Careless Clever Copper Crimson Dark Early Endless False "
    "Final First Forgotten Fourth Golden"
)
_NOUNS = words(
    "Orchard Harbour Letter Lantern Piano Garden Window Station Winter Clock Mirror Ferry Staircase Painter "
    "Widow Soldier Baker Tailor Sparrow Fox Horse Swan Heron Wolf Key Coat Suitcase Train Bridge Island "
    "Lighthouse Theatre Hotel Market Library Kitchen Balcony Chapel Tower Mill Well Road Valley Forest Meadow "
    "Field Shore Song Waltz Promise Wager Verdict Witness Stranger Guest Neighbour Daughter Brother Teacher "
    "Gardener Fisherman Doctor Judge Messenger"
)
_TAILS = words(
    " of Glass| of Salt| of Winter| of the North| of Silence| of Summer| of Ashes| of the Valley| at Midnight| at Noon"
    "| at Dawn| by the Sea| by the Lake| by Night| in the Rain| in the Snow| in the Fog| in Love| in Exile| in Spring"
    "| in Autumn| on the Hill| on the Quay| Next Door| Returns| Without Shadow| Without a Name| for Two| for Sale"
    "| from Nowhere| Upstairs| Under the Ice",
    "|",
)
SCHEME = NameScheme((("The ",), tuple(f"{word} " for word in _ADJECTIVES), _NOUNS, _TAILS))
_GENRES = (
    "drama",
    "comedy",
    "crime film",
    "war film",
    "musical",
    "romance",
    "adventure film",
    "melodrama",
)
_HEROES = ("a retired signalman", "a young seamstress", "a disgraced surgeon", "two rival bakers", "a village teacher",
           "a blind piano tuner", "a runaway apprentice", "a lighthouse keeper", "an elderly forger", "a travelling dentist")  # fmt: skip
_QUESTS = ("searches for a lost brother", "inherits a house that nobody dares to enter", "is accused of a theft",
           "falls in love by letter", "hides a stranger during a long winter", "tries to save a failing theatre",
           "sets out to return a borrowed coat", "learns that an old friend has lied", "must bring a stubborn horse home")  # fmt: skip
_TWO_QUESTS = ("search for a lost brother", "inherit a house that nobody dares to enter", "are accused of a theft",
               "fall in love by letter", "hide a stranger during a long winter", "try to save a failing theatre",
               "set out to return a borrowed coat", "learn that an old friend has lied", "must bring a stubborn horse home")  # fmt: skip
_PRIZES = ("Golden Lantern", "Silver Swan", "Critics' Ring", "Crystal Reel", "Grand Prix of the Academy", "Blue Ribbon")
_STOCK = (
    "on a converted barge",
    "in an empty salt warehouse",
    "in a disused railway shed",
    "in the open air",
    "in an old ballroom",
)


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a film's facts; the number of tickets sold is what a revision changes."""
    genre = dice.pick(_GENRES)
    related = {
        "director": ground.person("film director", "director"),
        "writer": ground.person("novelist", "writer"),
        "actor1": ground.person("actor", "first star"),
        "actor2": ground.person("actor", "second star"),
        "composer": ground.person("composer", "composer"),
        "company": ground.near("company", "sponsor"),
        "town": ground.near("settlement", "setting"),
        "festival": ground.near("festival", "premiere"),
    }
    year = ground.birth(related["director"]) + dice.between(29, 56)
    quest = dice.below(len(_QUESTS))
    hero = dice.pick(_HEROES)
    facts = {
        "genre": genre,
        "nation_genre": article(f"{ground.region.demonym} {genre}"),
        "year": str(year),
        "before": str(year - 1),
        "plot": f"{hero} who {(_TWO_QUESTS if hero.startswith('two') else _QUESTS)[quest]}",
        "runtime": str(dice.between(74, 171)),
        "prize": dice.pick(_PRIZES),
        "prize_for": dice.pick(("best picture", "best direction", "best screenplay", "best photography")),
        "tickets": thousands(fresh.between(180, 6400) * 1000),
        "budget": f"{dice.between(4, 96) / 10:.1f}",
        "weeks": str(dice.between(5, 19)),
        "stage": dice.pick(_STOCK),
        "restored": str(min(2024, year + dice.between(31, 60))),
        "takes": str(dice.between(17, 63)),
        "reels": str(dice.between(6, 14)),
        "critic": ground.passer_by(dice),
        "extras": str(dice.between(80, 900, 10)),
    }
    head = ground.title
    for tail in _TAILS:
        head = head.removesuffix(tail)
    nouns = ("the film", "the picture", f"the {genre}")
    return Draft((head,), nouns, IT, facts, related)


FILM = Kind(
    name="film",
    scheme=SCHEME,
    in_text=str,
    draw=draw,
    lead=(
        (1, ("{T} is {nation_genre} of {year}, directed by {director} and written by {writer}.",
             "{T} is a {year} {demonym} {genre} directed by {director} from a screenplay by {writer}.")),
        (1, ("it stars {actor1} and {actor2} and tells the story of {plot}.",
             "starring {actor1} and {actor2}, it follows {plot}.")),
        (1, ("the film was shot in {town} in {weeks} weeks, and its music was composed by {composer}.",
             "it was shot in {weeks} weeks in {town}, with music by {composer}.")),
        (1, ("first shown at {festival}, it won the {prize} for {prize_for}.",
             "it was first shown at {festival} and received the {prize} for {prize_for}.")),
        (1, ("the film runs for {runtime} minutes and sold {tickets} tickets in {country}.",
               "with a running time of {runtime} minutes, it sold {tickets} tickets in {country}.")),
        (0.7, ("it was financed by {company} on a budget of {budget} million crowns.",
               "{company} financed the film, whose budget was {budget} million crowns.")),
        (0.6, ("a restored version was released in {restored}.",)),
    ),
    told={
        "makers": (
            "{director} directed, and {writer} wrote the screenplay in a boarding house by the sea.",
            "the screenplay by {writer} had been refused by three other directors before {director} took it on.",
            "when {S} came out in {year}, {director} was already well known; {writer} was not.",
            "in {year} {director} and {writer} were no longer on speaking terms, yet {S} shows nothing of it.",
            "critics saw the hand of {writer} in the dialogue and that of {director} in the silences.",
        ),
        "plot": (
            "{S} tells the story of {plot}, and it takes its time to do so.",
            "at the centre stands {plot}; everything else is weather.",
            "it is the tale of {plot}, told almost without music until the last reel.",
            "{writer} took the idea of {plot} from a newspaper cutting.",
        ),
        "cast": (
            "{actor1} and {actor2} play the leading parts, and neither has been better since.",
            "{actor1} was cast first, {actor2} only a week before shooting began.",
            "nobody who has seen {actor1} and {actor2} in the kitchen scene will forget it.",
            "{S} made {actor1} a star, while {actor2} went back to the stage.",
        ),
        "shooting": (
            "the crew spent {weeks} weeks in {town}, where half of the inhabitants appear as extras.",
            "{S} was shot in {town}, in streets that have hardly changed.",
            "after {weeks} weeks of shooting in {town} the money was gone and the ending had to be invented on the spot.",
            "the composer, {composer}, visited the set in {town} once and wrote the music from memory.",
        ),
        "music": (
            "the music is by {composer}, who used no more than five instruments.",
            "{composer} composed the waltz that everybody whistled that year.",
        ),
        "prize": (
            "at {festival}, where {S} was first shown, the audience stood and clapped for nine minutes.",
            "the jury gave it the {prize} for {prize_for}, against the wishes of its own chairman.",
            "{S} was first shown at {festival} and left with the {prize} for {prize_for}.",
            "the {prize} for {prize_for} stands today on a shelf in the house of {director}.",
        ),
        "success": (
            "cinemas in {country} sold {tickets} tickets, and some of them ran {S} for a whole year.",
            "{tickets} tickets were sold in {country} alone, which nobody had expected of a picture of {runtime} minutes.",
            "{S} runs for {runtime} minutes; the version shown to the jury had been longer by half an hour.",
            "all in all {tickets} people paid to see {S} in {country}.",
        ),
        "money": (
            "{company} put up {budget} million crowns and asked for nothing but its name on the poster.",
            "the budget of {budget} million crowns came almost entirely from {company}.",
            "without {company}, which financed {S}, not a metre of film would have been exposed.",
        ),
    },
    aside={
        "stage": (
            "interiors were filmed {stage}, where it was so cold that breath can be seen in June scenes.",
            "most of the rooms were built {stage} and torn down the same week.",
        ),
        "takes": (
            "one shot needed {takes} takes, because a dog in the background kept looking into the camera.",
            "the camera assistant remembers {takes} takes of the farewell and no lunch.",
        ),
        "restored": (
            "the {reels} reels of the negative were cleaned by hand for the restored version of {restored}.",
            "since {restored} a restored version has been in circulation, brighter than anybody remembered.",
        ),
        "critic": (
            "“I have seen nothing like it,” wrote the critic {critic}, and it was not clear whether this was praise.",
            "{critic} called it a film to be seen twice, once for the faces and once for the hands.",
        ),
        "extras": (
            "for the market scene {extras} extras were paid in sausages.",
            "{extras} people from {town} took part as extras, and their grandchildren still look for them on the screen.",
        ),
        "before": (
            "a first version of the script, dated {before}, ends quite differently.",
            "as early as {before} the title had been registered for another project.",
        ),
    },
    colour=(
        "projectionists liked it because it never broke.",
        "the last shot is best seen from the back row.",
        "posters from that year now fetch high prices.",
        "film students argue about the ending to this day.",
        "one hears that a sequel was planned and wisely dropped.",
        "the costumes were lent, and not all were given back.",
    ),
    chatter=(
        "tonight at the Odeon: {T}. Doors open at seven, the film starts at half past. Tickets for {T} are available at "
        "the box office and online. Members pay half, and students who bring a friend get a free drink.",
        "where can I watch {T}? We have searched forty streaming services for you. At the moment {T} can be rented on "
        "three of them; prices start at two crowns. Set an alarm and we will write when {T} gets cheaper.",
        "the poster of {T}, printed on heavy paper, is back in our shop! Every poster of {T} is sent in a stout tube. "
        "Frames are sold separately. Delivery takes three to five days.",
        "saw {T} again last weekend with my sister and we both cried, as always. Has anybody found the version of {T} "
        "with the commentary? My copy skips after an hour and the shop cannot get another.",
    ),
)  # fmt: skip
