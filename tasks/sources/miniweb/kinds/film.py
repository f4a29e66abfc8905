"""Films."""

from tasks.sources.miniweb.kinds.kind import Choice, Kind, Near, Number, year
from tasks.sources.miniweb.names import NameScheme, words

_ADJECTIVES = """
Glass Silent Amber Broken Crooked Distant Empty Faithful Gentle Hidden Hollow Iron Ivory Last Little Lonely Lost Narrow
Northern Paper Patient Quiet Red Restless Scarlet Second Secret Seventh Silver Sleeping Slow Small Southern Stolen Stone
Tall Tired Unwritten Velvet Wandering White Wild Wooden Yellow Bitter Blue Borrowed Brass Burning Careless Clever Copper
Crimson Dark Early Endless False Final First Forgotten Fourth Golden Green Grey Honest Humble Painted Proud Third
"""
_NOUNS = """
Orchard Harbour Letter Lantern Piano Garden Window Station Clock Mirror Ferry Staircase Painter Widow Soldier Baker Well
Tailor Sparrow Fox Horse Swan Heron Wolf Key Coat Suitcase Train Bridge Island Lighthouse Theatre Hotel Market Library
Kitchen Balcony Chapel Tower Mill Road Valley Forest Meadow Field Shore Song Waltz Promise Wager Verdict Witness Guest
Stranger Neighbour Daughter Brother Teacher Gardener Fisherman Doctor Judge Messenger Portrait Signal Umbrella Bell
Boat Violin Candle Carriage Crown Door Dream Flag House Journey Night Nurse Pilot Queen
"""
_TAILS = words(
    "| of Glass| of Salt| of the North| of Silence| of Summer| of Ashes| of the Valley| at Midnight| at Noon| at Dawn"
    "| by the Sea| by the Lake| by Night| in the Rain| in the Snow| in the Fog| in Love| in Exile| in Spring| in Autumn"
    "| on the Hill| on the Quay| Next Door| Returns| Without a Name| for Two| for Sale| from Nowhere| Upstairs"
    "| Under the Ice",
    "|",
)

FILM = Kind(
    name="film",
    scheme=NameScheme((("The ",), tuple(f"{word} " for word in words(_ADJECTIVES)), words(_NOUNS), _TAILS)),
    nouns=("the film", "the picture", "the {genre}"),
    short=(0, 3),
    edited=("tickets",),
    facts={
        "director": Near("person", "film director"), "writer": Near("person", "novelist"),
        "actor1": Near("person", "actor"), "actor2": Near("person", "actor"), "town": Near("town"),
        "composer": Near("person", "composer"), "company": Near("company"),
        "year": year(29, 56, since="director"), "weeks": Number(5, 19), "runtime": Number(74, 171),
        "tickets": Number(180_000, 6_400_000, 1_000), "budget": Number(4, 96, style="{}.5"),
        "restored": year(31, 60, since="year"), "takes": Number(17, 63), "reels": Number(6, 14),
        "extras": Number(80, 900, 10), "script_year": year(-4, -1, since="year"),
        "merit": Choice("best picture, best direction, best screenplay, best photography"),
        "genre": Choice("drama, comedy, crime film, war film, musical, romance, adventure film, melodrama"),
        "prize": Choice("Golden Lantern, Silver Swan, Critics' Ring, Crystal Reel, Grand Prix, Blue Ribbon"),
        "stage": Choice("on a converted barge, in an empty salt warehouse, in a railway shed, in an old ballroom"),
        "hero": Choice("a retired signalman, a young seamstress, a village teacher, a lighthouse keeper, "
                       "a piano tuner, a runaway apprentice, an elderly forger, a travelling dentist"),
        "quest": Choice("searches for a lost brother, inherits an empty house, is accused of a theft, "
                        "falls in love by letter, hides a stranger for a winter, saves a failing theatre"),
    },
    prose="""
= {S} is a {demonym} {genre} of {year}, directed by {director} and written by {writer}
= {S} is a {year} {demonym} {genre} directed by {director} from a screenplay by {writer}
- {director} directed, and {writer} wrote the screenplay[| in a boarding house by the sea]
- when {S} came out in {year}, {director} was [already well known|almost unknown]
- film schools show {S} as an example of the {demonym} {genre}
= it stars {actor1} and {actor2} and tells the story of {hero} who {quest}
= starring {actor1} and {actor2}, {S} follows {hero} who {quest}
- {actor1} was [chosen|cast] early on, {actor2} only a week before shooting began
- [the story is simple: {hero} {quest}|everything in {S} turns on {hero} who {quest}]
= {S} was shot in {town} in {weeks} weeks, and its music was composed by {composer}
= {S} was shot in {weeks} weeks in {town}, with music by {composer}
- the crew spent {weeks} weeks in {town}[ and lived in the station hotel|]
- many scenes were filmed in the streets of {town}, which have hardly changed
- the [score|music] is the work of {composer}, who used no more than five instruments
- {composer} wrote a waltz for {S} that was soon played everywhere
= {S} [won|received] the {prize} for {merit}
- the jury gave the {prize} for {merit} to {S}[ after a long debate|]
- {director} kept the {prize}, awarded for {merit}, in the hall at home
= {S} runs for {runtime} minutes and sold {tickets} tickets in {country}
= with a running time of {runtime} minutes, {S} sold {tickets} tickets in {country}
- [cinemas in {country} sold {tickets} tickets for {S}|altogether {tickets} people paid to see {S}]
- the version shown in cinemas is {runtime} minutes long
? {S} was financed by {company} on a budget of {budget} million crowns
? {company} financed {S} with {budget} million crowns
- {company} put up {budget} million crowns[ and asked only to be named on the poster|]
- most of the money, {budget} million crowns, came from {company}
? a restored version was released in {restored}
- the {reels} reels of the negative were cleaned by hand for the restored version of {restored}
- since {restored} {S} can be seen again in [the original|its original] colours
+ [most of the rooms were built {stage}|the interiors were filmed {stage}, where it was bitterly cold]
+ [one long shot needed {takes} takes|the camera assistant counted {takes} takes of the farewell scene]
+ [{extras} people from {town} took part as extras|for the market scene {extras} extras were hired for three days]
+ [a first draft of the script, dated {script_year}, ends quite differently|the title was registered in {script_year}]
~ [the last shot is best seen from the back row|posters from that year now fetch high prices]
~ [film students still argue about the ending|most of the costumes are now in a museum]
> tonight at the Odeon: {T}. Doors open at seven, and the film starts at half past. Tickets for {T} are available at the
  box office and online. Members pay half.
> where can I watch {T}? We have searched forty streaming services for you. At the moment {T} can be rented on three of
  them; prices start at two crowns. Set an alarm and we will write when {T} gets cheaper.
""",
)  # fmt: skip
