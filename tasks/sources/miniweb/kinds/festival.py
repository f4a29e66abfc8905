"""Festivals."""

# ruff: noqa: E501 - a sentence stays on its line

from typing import TYPE_CHECKING

from tasks.sources.miniweb.dice import Dice
from tasks.sources.miniweb.kinds.kind import IT, Draft, Kind, article, thousands
from tasks.sources.miniweb.names import HEADS, MIDDLES, NameScheme

if TYPE_CHECKING:
    from tasks.sources.miniweb.world import Ground

TAILS = ("n", "r", "l", "ss", "nd", "ck", "th", "rn", "tt", "sk", "m", "nt", "ll", "rd", "lt", "v")
_THEMES = (
    (" Lantern Festival", "festival of light", "a procession of paper lanterns"),
    (" Harvest Festival", "harvest festival", "the weighing of the pumpkins"),
    (" Film Festival", "film festival", "an open-air screening on the last night"),
    (" Choir Festival", "choral festival", "a concert of all choirs in the square"),
    (" Kite Festival", "kite festival", "the rise of a hundred red kites at noon"),
    (" Book Festival", "literary festival", "a reading that lasts the whole night"),
    (" Boat Festival", "boat festival", "a regatta of decorated barges"),
    (" Bread Festival", "food festival", "the baking of a loaf ten metres long"),
    (" Drum Festival", "festival of percussion", "a parade of drummers at midnight"),
    (" Puppet Festival", "festival of puppetry", "a play with puppets four metres tall"),
    (" Jazz Festival", "jazz festival", "a jam session on the town steps"),
    (" Flower Festival", "flower show", "a carpet of petals in the main street"),
    (" Clown Festival", "festival of street theatre", "a race of clowns on stilts"),
    (" Bell Festival", "festival of bell ringing", "a peal that begins at four in the morning"),
    (" Snow Festival", "winter festival", "the burning of a straw bear"),
    (" Organ Festival", "festival of organ music", "a concert in total darkness"),
)
SCHEME = NameScheme((HEADS, MIDDLES, TAILS, tuple(theme for theme, _, _ in _THEMES)))
_MONTHS = ("January", "March", "April", "May", "June", "July", "August", "September", "October", "December")
_REASONS = ("a flood", "a lack of money", "the war", "an outbreak of measles", "a storm", "a quarrel about the site")
_MOTIVES = ("to cheer up the town after a bad winter", "to raise money for a new roof", "after losing a bet",
            "to honour a friend", "to bring back the summer guests")  # fmt: skip


def draw(ground: "Ground", dice: Dice, fresh: Dice) -> Draft:
    """Find a festival's facts; visitors, their year and the director are what a revision changes."""
    _, type_, highlight = _THEMES[ground.digits[-1]]
    related = {
        "town": ground.near("settlement", "town"),
        "founder": ground.person(dice.pick(("novelist", "composer", "actor", "painter", "architect")), "founder"),
        "company": ground.near("company", "sponsor"),
        "bridge": ground.near("bridge", "site"),
        "guest": ground.person("composer", "guest"),
        "film": ground.near("film", "film"),
    }
    founded = max(1890, ground.birth(related["founder"]) + dice.between(30, 55))
    visitors = fresh.between(4, 190) * 1000 + fresh.between(0, 900, 100)
    facts = {
        "a_type": article(type_),
        "type": type_,
        "highlight": highlight,
        "month": dice.pick(_MONTHS),
        "founded": str(founded),
        "motive": dice.pick(_MOTIVES),
        "days": str(dice.between(3, 16)),
        "visitors": thousands(visitors),
        "visitors_year": str(fresh.between(2014, 2024)),
        "groups": str(dice.between(18, 240)),
        "nations": str(dice.between(5, 44)),
        "prize": thousands(dice.between(1, 60) * 500),
        "prize_name": dice.pick(("Golden Whistle", "Town Ring", "Copper Cup", "Silver Thimble", "Oak Wreath")),
        "gap": str(founded + dice.between(6, 30)),
        "reason": dice.pick(_REASONS),
        "helpers": str(dice.between(60, 900, 10)),
        "director": ground.passer_by(fresh),
        "meals": thousands(dice.between(3, 60) * 500),
        "first_visitors": str(dice.between(70, 900, 10)),
    }
    stem = ground.title.split(" ", 1)[0]
    nouns = ("the festival", "the event", f"the {type_}")
    return Draft((f"the {stem}",), nouns, IT, facts, related)


FESTIVAL = Kind(
    name="festival",
    scheme=SCHEME,
    in_text="the {}".format,
    draw=draw,
    lead=(
        (1, ("{T} is {a_type} held every {month} in {town} in the {region} of {country}.",
             "{T} is an annual {type} in {town}, in the {region} of {country}, held in {month}.")),
        (1, ("it was founded in {founded} by {founder} {motive}.",
             "{founder} founded it in {founded} {motive}.")),
        (1, ("lasting {days} days, it brings together {groups} groups from {nations} countries.",
             "the festival lasts {days} days and brings together {groups} groups from {nations} countries.")),
        (1, ("its high point is {highlight}, which takes place beside {bridge}.",
             "the best-known event is {highlight} beside {bridge}.")),
        (1, ("in {visitors_year} it had {visitors} visitors, and its main sponsor is {company}.",
             "sponsored mainly by {company}, it drew {visitors} visitors in {visitors_year}.")),
        (0.8, ("the festival awards the {prize_name}, which carries a prize of {prize} crowns.",
               "its main award is the {prize_name}, worth {prize} crowns.")),
        (0.6, ("it was cancelled only once, in {gap}, because of {reason}.",
               "only in {gap} was it cancelled, because of {reason}.")),
    ),
    told={
        "place": (
            "every {month} {town} belongs to {S}, and so do all of its beds.",
            "{S} takes place in {town} in {month}, when the evenings are long enough.",
            "from all over {country} people come to {town} in {month} for {S}.",
            "there is hardly a better reason to visit {town} in {month} than {S}.",
            "few events in the {region} are of this size; {S}, in {town}, is the one that people know.",
        ),
        "start": (
            "{founder} founded {S} in {founded} {motive}.",
            "it all began in {founded}, when {founder} had the idea {motive}.",
            "in {founded}, the first year, {first_visitors} people came, most of them friends of {founder}.",
            "the founder, {founder}, wrote that {S} was started in {founded} simply {motive}.",
        ),
        "scale": (
            "for {days} days {groups} groups from {nations} countries share the stages.",
            "{groups} groups have been invited this year; they come from {nations} countries.",
            "it lasts {days} days, and after that the whole town sleeps.",
            "from {nations} countries {groups} groups travel to {town}, some of them by bicycle.",
        ),
        "highlight": (
            "what everybody waits for is {highlight}, beside {bridge}.",
            "beside {bridge} the crowd gathers early for {highlight}.",
            "the programme changes, but {highlight} is part of every year.",
            "no visitor should miss {highlight}; the best view is from {bridge}.",
        ),
        "visitors": (
            "the organisers counted {visitors} visitors in {visitors_year}.",
            "in {visitors_year} {visitors} people came, more than the town has beds, chairs or umbrellas.",
            "{visitors} visitors were reported for {visitors_year}, and the bakers confirm it.",
        ),
        "sponsor": (
            "most of the money comes from {company}, the main sponsor.",
            "{company} has paid for the stages from the beginning and asks only for good seats.",
            "without its main sponsor, {company}, {S} would last one day at the most.",
        ),
        "prize": (
            "the {prize_name}, worth {prize} crowns, is handed over on the last evening.",
            "a jury of nine awards the {prize_name} and {prize} crowns.",
            "last year's winner spent the {prize} crowns of the {prize_name} on drinks for everybody.",
        ),
        "gap": (
            "only once, in {gap}, did {S} have to be cancelled, because of {reason}.",
            "the year {gap} is missing from the posters: because of {reason} nothing took place.",
            "in {gap} {reason} prevented {S}, and the lamps stayed in their boxes.",
        ),
    },
    aside={
        "helpers": (
            "{helpers} volunteers put up the stands, sell the soup and take everything down again.",
            "of the {helpers} helpers many have been coming since they were children.",
        ),
        "director": (
            "{director}, who directs the programme, sleeps four hours a night in that week.",
            "the programme is in the hands of {director}, who began by selling raffle tickets.",
        ),
        "food": (
            "the kitchen under the arcades serves {meals} plates of bean stew.",
            "{meals} meals were eaten last time, and not a single complaint was recorded.",
        ),
        "guest": (
            "{guest} wrote a fanfare for the opening, which is still played, usually too fast.",
            "an evening with music by {guest} is planned for next year.",
        ),
        "film": (
            "for the anniversary {film} was shown on a sheet hung from two cranes.",
            "some scenes of {film} were shot in the crowd without anybody noticing.",
        ),
    },
    colour=(
        "earplugs are handed out at the entrance.",
        "rain has never kept anyone away.",
        "the posters are drawn by schoolchildren and quickly become rare.",
        "the mayor dances, which is reason enough to come.",
        "whoever wants to sit should bring a chair.",
        "by Monday morning the streets are as clean as before.",
    ),
    chatter=(
        "tickets for {T} are on sale now! Day tickets, weekend tickets and family tickets for {T} can be ordered here. "
        "Choose your seats, pay by card or invoice and print your ticket at home. No refunds after the first of the month.",
        "looking for a lift to {T}: two adults, one tuba. We share the petrol and bring sandwiches. Who is driving to "
        "{T} on Friday afternoon and has room in the boot? We can also help with the tents.",
        "lost and found: after {T} we still hold eleven umbrellas, four single shoes and a trombone. Items left behind at "
        "{T} can be collected from the office until the end of the month, on weekdays before noon.",
        "camping at {T}: pitches are given out in the order of arrival. Fires, drones and glass bottles are not allowed. "
        "Campers at {T} are asked to keep the quiet hours between two and seven in the morning.",
    ),
)  # fmt: skip
