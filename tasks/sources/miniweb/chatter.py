"""What pages say beside the facts: discourse markers, advertisements, visitors' comments, asides of the editors.

Much of it names the topic again and again and tells nothing. `{T}` is the topic's name, `{B}` its title; `{who}`, `{n}`, `{price}`,
`{day}` and `{site}` are somebody's name, small numbers, a weekday and the site's name.
"""

# ruff: noqa: E501 - a sentence stays on its line

# Those of the 36 markers of 000 appendix A.2 that can open any sentence; the others occur inside the templates.
MARKERS = tuple(f"{marker}," for marker in (
    "again", "furthermore", "at the same time", "however", "indeed", "to be sure", "likewise", "meanwhile", "moreover",
    "nevertheless", "nonetheless", "notably", "regardless", "similarly", "in addition", "in any event", "finally",
    "as a result", "in fact", "in turn", "in this case", "later on",
))  # fmt: skip

# A bridge from the page's topic {T} to a related one {R}.
LINKS = (
    "unlike {T}, {R} rarely makes the headlines.",
    "readers who came for {T} often stay for {R}.",
    "another name that turns up in the same files is {R}.",
    "it would be wrong to leave out {R} here.",
    "the story does not end there, for {R} belongs to it as well.",
    "in the same drawer of the archive lies a folder about {R}.",
    "{R} deserves a word, even if only in passing.",
    "then there is {R}.",
    "the day before, our reporter had been asking about {R} instead.",
    "take, for example, {R}.",
    "whoever looks into the matter soon meets {R}, too.",
    "a few pages later the guidebook turns to {R}.",
)

# Paragraphs that name the topic and tell nothing about it.
MENTIONS = (
    "does anyone here have good pictures of {T}? I am making a calendar and {T} is still missing. Any format will do, and "
    "of course your name will be printed below the picture. Send them to me before {day}, please.",
    "poll: how much do you know about {T}? Take our quiz with {n} questions about {T} and win a weekend for two. The "
    "answers can be found somewhere on {site}, but peeping is not allowed.",
    "{who} writes: I have read everything about {T} that I could get my hands on and I still want more. Five stars for "
    "{T}, four for the article, and three for the coffee in the reading room.",
    "search results for “{B}”: {n} hits. Did you mean something else? Narrow your search for {T} by date, author or "
    "section, or save it and let us write to you when there is news about {T}.",
    "this week's podcast is all about {T}. In episode {n} our hosts talk about {T} for almost an hour, with listeners' "
    "letters and a riddle at the end. Subscribe wherever you get your podcasts, it costs nothing.",
    "special offer: our illustrated booklet about {T} now costs only {price} crowns. The {n} pages on {T} are printed on "
    "recycled paper and make a fine present. While stocks last, one copy per customer.",
    "image gallery: {T} in {n} pictures. Click on an arrow to see the next picture of {T}. All prints can be ordered in "
    "three sizes from {price} crowns, framed or unframed.",
    "this page about {T} was last checked by {who}. Have you found a mistake, or do you know something about {T} that we "
    "do not? Write to the editors of {site}; we read every letter and answer most of them.",
    "{who}, visitor number {n}: we had been looking forward to the exhibition about {T} for months, and {T} did not disappoint us. The staff "
    "were kind, the toilets clean, the queue long. We shall certainly come back on another {day}.",
    "tag: {B}. You are now following {T}. To stop following, click on the bell. Other readers who follow {T} have "
    "{n} tags in common with you, so why not have a look at their lists?",
    "a lecture about {T} will be given on {day} at {site} by {who}. Admission is {price} crowns, free for members. The "
    "lecture on {T} will be recorded, so please come early and switch off your telephones.",
    "I wrote my school essay about {T} and got a B, because the teacher had never heard of {T} and did not believe a "
    "word. Has this happened to anybody else? I am thinking of sending her a link to {site}.",
    "competition: draw {T}! Children up to the age of twelve may take part. The best {n} drawings of {T} will be shown "
    "in our foyer, and every child receives a box of crayons. Entries close on {day}.",
    "re: {B}. I agree with {who}, this has been discussed {n} times already. Please use the search function before you "
    "open a new thread about {T}, and stay friendly. Otherwise the moderators will close this one as well.",
    "everything about {T} at a glance: dates, figures, maps and the most frequent questions about {T}. "
    "Download the leaflet, print it on both sides and fold it twice. Updated every {day}.",
    "our readers' favourite this month is, once again, {T}. No fewer than {n} of you voted for {T}, even though {who} "
    "had warned against it. Next month's vote begins on {day}; may the best one win.",
    "crossword of the week, clue {n} across: think of {B}, take away the vowels and read it backwards. If you have the "
    "solution, write it on a postcard. Last week's clue was {B} as well, which led to complaints.",
    "“{T}? Never heard of it,” said {who} when we asked people in the street on {day}. Others had heard of {T} but could "
    "not say where. In fact only {n} in a hundred gave an answer that we could print.",
    "{B} stickers, {B} badges, {B} socks: the fan shop has it all. Orders placed before noon leave the house on the same "
    "day. Shipping costs {price} crowns, and returns are free for {n} days.",
    "good to know before you visit our exhibition about {T}: dogs must stay outside, and large bags can be left at the desk "
    "for {price} crowns. Visitors who come to see {T} with a wheelchair or a pram are asked to telephone in advance.",
    "we are three pensioners with a common passion for {T}. Every {day} we meet at {site} and talk about {T} over soup. "
    "New faces are welcome; ask for {who}. Knowledge is no condition, appetite is.",
    "thank you for voting! So far {T} has received {n} votes. Share this page so that more people vote for {T}. The result "
    "will be announced on {day}, and among all voters we shall raffle a basket of local cheese.",
    "update from {who}: the link to the page on {T} in my last post was broken, sorry. This one should work. If not, "
    "search for {T} on {site}, it is the third result or so. Thanks to everyone who told me.",
    "{n} things that only people who love {T} will understand. Number four made us cry! Scroll down to see whether you "
    "are a true friend of {T}, and do not forget to share your score with your sister-in-law.",
)

# Paragraphs about nothing in particular.
REMARKS = (
    "the reading room opens at ten, and pencils are provided. {who} keeps an eye on the clock and on the biscuits. "
    "Anybody who wants to see older volumes should ask a day in advance, since they have to be fetched from the cellar.",
    "it rained all morning, which suited us well. We sat by the window, turned the pages of old newspapers and made notes "
    "that none of us could read afterwards. The day before we had been luckier with the weather and with the lunch.",
    "our editors check every contribution before it appears. Letters may be shortened. Opinions are those of their "
    "authors, and corrections are printed on {day} on page {n}, next to the weather and the chess problem.",
    "I know that some of you will disagree, and that is fine with me. Keep it civil, keep it short, and do not write in "
    "capitals. {who} has already been given a warning; another one will not follow.",
    "the bus leaves every {n} minutes, even on Sundays. A single ticket costs {price} crowns and must be stamped at once. "
    "Immediately behind the stop there is a kiosk with sandwiches that are better than they look.",
    "many thanks to {who}, who typed up the notes, and to all the volunteers who gave up their {day} evenings. Especially "
    "the proof-readers had a hard time, as a glance at the manuscript will show.",
    "prices have risen again, as everybody has noticed. In exchange the portions have become smaller. Nevertheless the "
    "café remains the best place for a conversation, and {who} still brings the bill on a saucer.",
    "this section is edited by {who}. It appears every {day}, except when it does not. Suggestions for topics are welcome "
    "at any time, poems are not. Back numbers can be had for {price} crowns each.",
    "what follows was told to me twice, by two people who cannot stand each other, and so it is probably true. Where their "
    "accounts differ I have taken the more cheerful one instead of the more likely one.",
    "the hall seats {n} people and is heated only in part. Coats may be kept on. After the interval the bar serves mulled "
    "juice, and {who} plays the piano for as long as anybody listens.",
    "one should not believe everything that is printed, and I say this as somebody who has printed a good deal. In any "
    "event the sources are listed at the end, so that every reader can go and look for himself or herself.",
    "a short walk takes you from the car park to the viewpoint. There is a bench, a bin and a board that explains the "
    "panorama. Take something warm to drink with you, because the kiosk closes at five.",
)

FORUM_NAMES = (
    "rainy_sunday",
    "old_map",
    "threnody7",
    "kestrel",
    "plumb_line",
    "tea_and_toast",
    "nightbus",
    "marginalia",
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
