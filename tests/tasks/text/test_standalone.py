"""Sentences that can be read outside their page."""

import pytest

from tasks.text.standalone import defects, is_list, without_opener


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was opened on 14 May 1931 by the governor.",
        "In 2010 the company (then a family firm) moved to Porto.",
        "Anna Berg led the builders of the bridge.",
        "Die Brücke wurde im Jahr 1931 von Anna Berg eröffnet.",
        "Le musée du Louvre est ouvert.",
        "Herons nest on the island.",  # begins with letters of a pronoun
        "Isaac Berg built it with Hasan Lund.",  # with letters of a verb
        "Was die Kirche betrifft, so wurde die Brücke von Anna Berg eröffnet.",
        "“Nobody had asked,” Anna Berg said in 1931.",
        "Anna Berg left the office that she had held since 1931.",
        "The firm of US engineers built a bridge in May 1931.",
        "Second Bridge Street was renamed in 1931.",
        "The bridge was opened in 1931, and its guard left in March of that year.",
        "The Ystan Times photographed the bridge in 1931.",
        "The bridge was built in the 19th century and is 4.5 metres wide.",
        "The bridge was opened on the 4th of May 1931 by Anna Berg.",
        "The rule is simple: a bridge has a master.",
        "The Rio de la Plata and El Paso are far from Ystan.",
        "The Bridge of Ystan – Bridges of Norvenia is a book of 1931.",
        "Measured from the river, the bridge is 40 metres high.",
        "Built in 1931, the bridge turned left at the market.",
        "Although the bridge is old, its lamps are new.",
        "The bridge has a lamp, and Anna Berg paid for it.",
        "The bridge has two lamps – one is left of the river – and Anna Berg lights both.",
    ],
)
def test_a_sentence_that_stands_alone(sentence: str) -> None:
    assert defects(sentence) == 0


@pytest.mark.parametrize(
    ("sentence", "number"),
    [
        ("It was opened in 1931.", 1),
        ("Didn’t get what they deserved from that first game against Ystan.", 1),
        ("Is known for a bridge over the river at Ystan.", 1),
        ("Was born in Ystan in 1931.", 1),
        ("The version number of a package.", 1),
        ("Prisoner photograph of a girl taken in Ystan.", 1),
        ("Try the code in Listing 4-6.", 3),
        ("For a more detailed overview see Berg (2006).", 1),
        ("For an overview, visit the bridge.", 2),
        ("Listing 4-2 shows the bridge, and Figure 4-1 its lamps.", 1),
        ("ENV Expanded like a bridge in Ystan.", 1),
        ("The lamps are red (see the lists below).", 1),
        ("Inside the tower, it is used as a lamp.", 1),
        ("The bound is B ∈ R pq for all spans.", 1),
        ("The test says whether a parameter ´j is zero.", 1),
        ("All diese Brücken sind nicht aus Stein.", 1),
        ("Anmelden müssen Sie sich für die Brücke nicht.", 1),
        ("In March of that year the bridge was opened.", 1),
        ("“They refused,” he said.", 4),  # points back, nobody is named, he is nobody, and who spoke stands elsewhere
        ("“Nobody had asked,” the mayor said.", 1),
        ("We describe a parser that needs no grammar.", 1),
        ("First, the second span was painted in 1931.", 1),
        ("The bridge was closed last week by Anna Berg.", 1),
        ("As Fig. 3 shows, the bridge has nine spans.", 1),
        ("Anna Berg opened the bridge on Tuesday.", 1),
        ("The bridge is closed until further notice.", 1),
        ("When she died the bridge was sold to Norvenia.", 1),
        ("Photo of the bridge in Ystan by Anna Berg in 1931.", 2),
        ("The bridge of Ystan at night (Getty Images) has lamps.", 1),
        ("YSTAN, Norvenia (AP): The bridge was opened by Anna Berg.", 1),
        ("The bridge is the best in all of Norvenia!", 1),
        ("In this article the bridges of Ystan are described.", 3),
        ("For example, the second span is shorter.", 1),
        ("The editor told me about it.", 2),
        ("Would the river rise again?", 1),
        ("The pictures are on www.example.org for all.", 1),
        ("The span (of 40 metres was the longest.", 1),
        ('The guide says "nothing here is old.', 1),
        ("Rows 12 340 51 999 7 1931 and 44.", 1),
        ("The list " + "of things " * 30 + "ends.", 1),
        ("Reply * You should see it?", 4),
        ("On the same day Anna Berg opened the bridge.", 1),
        ("Anna Berg opened the bridge on the 19th, with a speech.", 1),
        ("Make sure to follow the painting of the bridge.", 1),
        ("Added lamps to the bridge of Ystan in 1931.", 1),
        ("The police of Ystan cordoned the area.", 1),
        ("The bridge was closed carefully. saying that the river rose.", 1),
        ("The length of the bridge is 40 metres .", 1),
        ("The bridge survived the recent flood in Ystan.", 1),
        ("Every year it floods, the bridge is closed.", 1),
        ("The spans of the bridge are listed in Appendix 2-E.", 1),
        ("The bridge is unprecedented in Norvenia, Berg says.", 1),
        ("The engineers of Ystan were now on the defensive.", 1),
        ("The decision on the bridge of Ystan will follow in May 1931.", 1),
        ("Anna Berg, left, and Otto Lind on the bridge of Ystan.", 1),
        ("For more information on Ystan Bridge, ask the town.", 2),
        ("Keep painting Ystan Bridge and it lasts.", 1),
        ("For now, all bridges of Ystan are open.", 1),
        ("Ystan's latest bridge has nine spans.", 1),
        ("Ystan just got two bridges.", 1),
        ("The lamps are lit by hand (see Lamps of the tower).", 1),
        ("Bridge master (BM): a member of the guild with full rights.", 1),
        ("Bridges and lamps – Bridges and lamps have one owner.", 1),
        ("A span is scored by the sum of all pairs: where C is a chain and f is a verb.", 1),
        ("The rule above says who opens the bridge.", 1),
        ("More lamps were bought in 1931 by Anna Berg.", 1),
        ("AOB: the lamp of the bridge is broken.", 1),
        ("Verify that the lamp of the bridge is lit.", 1),
        ("Go to the bridge of Ystan and take a lamp.", 1),
        ("Within the lamp room, verify that all lamps are lit.", 1),
        ("Number of lamps in stock on the bridges of Ystan.", 1),
        ("As a second example, one lamp of Ystan was lit.", 1),
        ("The drawings that follow are of Ystan; the examples that follow are not.", 1),
        ("The weight of the bridge is measured in two ways.", 1),
        ("Lamps are added until the resulting line is straight.", 1),
        ("The town pays half of it.", 1),
        ("Anna Berg, left, lights a lamp on the bridge of Ystan.", 1),
        ("Are the lamps of the bridge lit? oil and wicks are needed.", 1),
        ("To see what the bridge holds: span-list --all", 1),
        ("Found a lamp on the bridge of Ystan.", 1),
        ("Carried a lamp over the bridge of Ystan.", 1),
        ("Even if it is only one lamp of the bridge.", 1),
        ("Where the span is the length of the bridge.", 1),
        ("If the bridge does not sway then β = 0.", 1),
        ("The lamps are broken, and they show that the bridge is old.", 1),
        ("At the end of the bridge there is a list of lamps.", 1),
        ("Check all of the lamps of the bridge.", 1),
        ("The lamps stated above are lit by Anna Berg.", 1),
        ("Haven't seen the bridge of Ystan for a long time.", 1),
        ("The bridge has two forms, as the two equations below say.", 1),
        ("A. B. Lund and C. Berg. The lamps of Ystan were lit.", 1),
        ("Anna B. Lund. The lamps of Ystan were lit.", 1),
        ("[4] A. Lund. The lamps of Ystan were lit.", 2),
    ],
)
def test_signs_that_a_sentence_needs_its_page(sentence: str, number: int) -> None:
    assert defects(sentence) == number


@pytest.mark.parametrize(
    ("alone", "needing"),
    [
        ("Die Brücke in Ystan hat neun Bögen.", "Die Lampen der Brücke sind in Abschnitt 3 beschrieben."),
        ("Die Brücke wurde 1931 eröffnet.", "Weitere Einzelheiten findet man in der Festschrift von 1978."),
        ("Die Lampen der Brücke sind rot.", "Zum Beispiel, falls der Rat die Brücke schließt."),
        ("Die Fähre führt nach Berg.", "Neue Bögen der Brücke, freigegeben am 3.5.1931."),
        ("Die Lampen hängen am Bogen.", "Neun Lampen basierend auf dem Bogen der Brücke."),
        ("Ystan hat zwei Brücken.", "Darauf stehen alle Lampen der Brücke von Ystan."),
        ("Der Rat ließ die Brücke streichen.", "Der Rat ließ eine davon streichen."),
        ("Die Brücke hat neun Lampen.", "Die Brücke hat jetzt neun Lampen."),
        ("Der Rat gibt den Lampen Namen.", "Auf der Seite der Stadt gibt es Informationen über Lampen."),
        ("Lampen hängen an allen Brücken in Ystan.", "Installieren Sie solche Lampen, falls nötig."),  # two signs
        ("Der Bogen ist 40 Meter lang.", "Alle in diesem Plan gezeigten Bögen sind 40 Meter lang."),
        ("Le pont a été ouvert en 1931.", "Les lampes du pont sont décrites au chapitre 3."),
        ("Le pont est long de 40 mètres.", "Le pont a des lampes (voir la liste)."),
        ("Anna Berg a dirigé les travaux du pont.", "Pour en savoir plus sur le pont, nous restons en ville."),
        ("El puente se abrió en 1931.", "Las lámparas del puente se ven en la figura 3."),
        ("Anna Berg dirigió la obra.", "Para más detalles, véase la lista de Anna Berg."),  # two signs
        ("Most w Ystan został otwarty w 1931 roku.", "Lampy na moście są opisane w rozdziale 3."),
        ("Most ve Ystanu byl otevřen v roce 1931.", "Lampy jsou popsány v kapitole 3."),
        ("Мост в Ыстане был открыт в 1931 году.", "Лампы на мосту описаны в главе 3."),
        ("Берг руководила постройкой моста.", "Эти лампы были на мосту до 1931 года."),
        ("Міст було відкрито у 1931 році.", "Лампи на мосту описано у розділі 3."),
        ("橋は1931年に開通した。", "詳しくは第3章で述べる。"),
        ("这座桥有九个拱。"[1:], "桥的灯如图3所示。"),
    ],
)
def test_signs_in_other_languages(alone: str, needing: str) -> None:
    assert (defects(alone), defects(needing) > 0) == (0, True)


@pytest.mark.parametrize(
    "line",
    [
        "Institute of Hydrology, University of Ystan, Ystan, Norvenia.",
        "Berg, A. (1994), Bridges of the Valley, Ystan University Press.",
        "Annals of Ystan 41(2), 116-132 (1951).",
        "“Locks of the Severn,” Ystan Gazette, 4 June 1894, p. 3.",
        "New Bridge Opened To Traffic In Ystan!",
        "Leitung: Frau Dr. Schönfeld, Herr Yilmaz und Frau Ober.",
    ],
)
def test_a_line_of_names_and_figures_is_a_list(line: str) -> None:
    assert is_list(line)


@pytest.mark.parametrize(
    "line",
    [
        "The Ystan Bridge Company has built Ystan Bridge, Kavel Bridge and Tor Bridge.",
        "Anna Berg of Ystan Bridge Company opened Kavel Bridge.",
        "Herons nest on the island in the Severn.",
        "Die Zimmerei Huber verlangt 27.900 Euro, z. B. für Balken und Ziegel.",
        "Der Jahresbeitrag steigt ab dem 1. Januar 2027 von 84 auf 96 Euro.",
    ],
)
def test_a_sentence_is_no_list(line: str) -> None:
    assert not is_list(line)


@pytest.mark.parametrize(
    ("sentence", "without"),
    [
        ("However, the bridge was opened in 1931.", "The bridge was opened in 1931."),
        ("In addition, Anna Berg left.", "Anna Berg left."),
        ("Thus in 1931 the bridge was opened.", "In 1931 the bridge was opened."),
        ("But Anna Berg left.", "Anna Berg left."),
        ("But then the bridge was closed.", "But then the bridge was closed."),  # more than one word joins it
        ("Alsop opened the bridge.", "Alsop opened the bridge."),
        ("Finally", "Finally"),
        ("", ""),
    ],
)
def test_a_word_that_joins_to_the_sentence_before_is_left_out(sentence: str, without: str) -> None:
    assert without_opener(sentence) == without
