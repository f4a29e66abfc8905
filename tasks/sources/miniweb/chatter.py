"""Texts of pages besides the facts: discourse markers, advertisements, visitors' comments, remarks of the editors. Many
of them repeat the topic's name without stating facts. `{T}` is the topic's name, `{B}` its title; `{who}`, `{n}`,
`{price}`, `{day}` and `{site}` are somebody's name, small numbers, a weekday and the site's name."""

from tasks.sources.miniweb.names import lines, words

# The discourse markers of tasks.text.english that can open any sentence.
_MARKERS = """again/furthermore/at the same time/however/indeed/to be sure/likewise/meanwhile/moreover/nevertheless/
nonetheless/notably/similarly/in addition/in any event/finally/in fact/in turn/regardless/later on"""
MARKERS = tuple(f"{marker.strip()}," for marker in words(_MARKERS, "/"))

# From the page's topic {T} to a related one {R}.
LINKS = lines("""
another name that turns up in the same files is {R}
it would be wrong to leave out {R} here
readers who came for {T} often stay for {R}
the story does not end there, for {R} belongs to it as well
a few pages later the guidebook turns to {R}
those who write about {T} usually mention {R} as well
""")

# Paragraphs that name the topic but state no fact about it.
MENTIONS = lines("""
does anyone here have good pictures of {T}? I am making a calendar, and {T} is still missing. Any format will do, and
  of course your name will be printed below the picture. Send them to me before {day}, please.
poll: how much do you know about {T}? Take our quiz with {n} questions about {T} and win a weekend for two. The answers
  can be found on {site}.
{who} writes: I have read everything about {T} that I could find, and I still want more. Five stars for {T}, four for
  the article, and three for the coffee in the reading room.
search results for “{B}”: {n} hits. Did you mean something else? Narrow your search for {T} by date, author or
  section, or save it and let us write to you when there is news about {T}.
this week's podcast is all about {T}. In episode {n} our hosts talk about {T} for almost an hour, with listeners'
  letters and a riddle at the end. Subscribe wherever you get your podcasts.
special offer: our illustrated booklet about {T} now costs only {price} crowns. The {n} pages on {T} are printed on
  recycled paper and make a fine present. One copy per customer, while stocks last.
this page about {T} was last checked by {who}. Have you found a mistake, or do you know something about {T} that we do
  not? Write to the editors of {site}; we read every letter.
a lecture about {T} will be given by {who} on {day} in the town hall. Admission is {price} crowns, free for members.
  The lecture on {T} will be recorded, so please come early and switch off your telephones.
re: {B}. I agree with {who}, this has been discussed {n} times already. Please use the search function before you open
  a new thread about {T}, and stay friendly. Otherwise the moderators will close this one as well.
thank you for voting! So far {T} has received {n} votes. Share this page so that more people vote for {T}. The result
  will be announced on {day}.
""")

# Paragraphs about nothing in particular.
REMARKS = lines("""
the reading room opens at ten, and pencils are provided. {who} is in charge of the desk. Anybody who wants to see older
  volumes should ask a day in advance, since they have to be fetched from the cellar.
our editors check every contribution before it appears. Letters may be shortened. Opinions are those of their authors,
  and corrections are printed on {day} on page {n}, next to the weather.
the bus leaves every {n} minutes, even on Sundays. A single ticket costs {price} crowns and must be stamped at once.
  Behind the stop there is a kiosk with sandwiches and newspapers.
many thanks to {who}, who typed up the notes, and to all the volunteers who gave up their {day} evenings. The
  proof-readers had an especially hard time with the handwriting.
""")

FORUM_NAMES = ("rainy_sunday", "old_map", "threnody7", "kestrel", "plumb_line", "tea_and_toast", "marginalia")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
