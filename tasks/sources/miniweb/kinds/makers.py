"""People, companies and films."""

from tasks.sources.miniweb.kinds.kind import By, Kind, Near, Number, year
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

PERSON = Kind(
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

COMPANY = Kind(
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
    prose="""
= {S} is a {what} [based|with its head office] in {town}, in the {region} of {country}
= {S} is a {demonym} {what} based in {town}, in the {region}
- {town} has been the seat of {S} from the beginning[, and the head office is close to the station|]
- no other [{demonym} {what}|{what} in the {region}] is as well known as {S}
= {S} was founded in {founded} by {founder} and became known for its {product}
= founded in {founded} by {founder}, {S} first made its name with {product}
- {founder} signed the papers in {founded} and [hired|took on] the first workers the same week
- [the first price list offered little besides {product}|{product} from {S} were soon sold all over {country}]
- {founder} was [already rich|still unknown] when {S} was founded in {founded}
= in {turnover_year} {S} had {employees} employees and a turnover of {turnover} million crowns
= {S} employed {employees} people in {turnover_year} and had a turnover of {turnover} million crowns
- the annual report for {turnover_year} gives a turnover of {turnover} million crowns
- {employees} people [work for|are employed by] {S}, according to the report for {turnover_year}
- sales [reached|came to] {turnover} million crowns in {turnover_year}, a little more than expected
= {S} took over {bought} in {bought_year} and moved into {later} in {later_year}
= after taking over {bought} in {bought_year}, {S} moved into {later} in {later_year}
- the purchase of {bought} in {bought_year} doubled the [size|sales] of {S}
- {bought} kept its name until {bought_year}, when {S} bought it
- [the business has included {later} since {later_year}|in {later_year} the board decided to invest in {later}]
= {S} has a second factory in {works} and exports to {countries} countries
- the factory in {works} was opened when {town} had no [more|other] land to sell
- {S} sells its products in {countries} countries
? a strike in {strike_year} lasted {strike_weeks} weeks
- the strike of {strike_year} went on for {strike_weeks} weeks[ and ended with a rise in pay|]
- for {strike_weeks} weeks in {strike_year} all the machines stood still
? many of its early products were designed by {engineer}
- the drawings from the early years [are signed by|bear the initials of] {engineer}
- {engineer} designed the first series and stayed with {S} for ten years
+ [{S} holds {patents} patents|{patents} patents hang in the corridor outside the drawing office]
+ [storks nest on|visitors can climb] the chimney of the first factory, which is {chimney} metres high
+ [a museum opened in the engine house in {museum_year}|since {museum_year} the old machines have been on show]
+ [every autumn {apprentices} apprentices start work at {S}|the workshop trains {apprentices} young people a year]
+ [the first machines were driven by|the presses are still cooled with] water from {river}
~ [the canteen is open to the public at lunchtime|the archive can be visited by appointment]
~ [the siren at noon can be heard across the valley|the old gatehouse is now a café]
> jobs at {T}: there are eleven vacancies in your area. Create a profile, upload your papers and apply to {T} with one
  click. New offers from {T} can be sent to your inbox every morning.
> customer service of {T}: what experience have you had? I have waited three weeks for a spare part, and nobody at {T}
  answers the telephone. Advice is welcome.
""",
)

FILM = Kind(
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
)
