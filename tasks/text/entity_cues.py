"""Word lists of the rule-based entity recogniser (`tasks/text/entity_rules.py`): what a word says about a name.

The lists are short on purpose: they hold words that recur in any English text (heads such as River or Act, titles,
countries, given names), not a catalogue of the world's names.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(line.split()) for line in text.strip().split(","))


# Capitalised by rule and never part of a name by themselves.
CALENDAR = _words(
    """
    January February March April May June July August September October November December Jan Feb Mar Apr Jun
    Jul Aug Sep Sept Oct Nov Dec Monday Tuesday Wednesday Thursday Friday Saturday Sunday Mondays Tuesdays
    Wednesdays Thursdays Fridays Saturdays Sundays AD BC CE BCE AM PM
    """
)
NOT_NAMES = _words(
    """
    I TV DVD CD CDs DVDs EP EPs LP LPs GMT UTC EST PST CEO CFO ID OK UFO FM PC PDF URL ISBN HTML HTTP PhD MBA
    BA BSc MSc MD FAQ Internet Web PR HIV AIDS DNA RNA MHz kHz km mph Mr Mrs Ms Edit References External Links
    See Retrieved Archived Chapter Section Figure Table Page Volume Part No Vol Note Copyright Cookies Privacy
    Log Sign Menu Search Share Home Contact Subscribe Click Read Email II III IV VI VII VIII IX XI XII
    """
)
# Words that often open a sentence; together with spaCy's stop words they are no names there.
OPENERS = _words(
    """
    according following despite born later originally today early several built located named founded near
    previously currently recently initially eventually subsequently finally additionally furthermore moreover
    nevertheless nonetheless meanwhile similarly likewise instead indeed notably especially unlike like prior
    due given based known another both each many most some other others such these those while during since
    until upon within without first second third one two three four five six seven eight nine ten new old
    former formerly local people children members students women men critics scholars researchers scientists
    historians experts officials residents visitors players fans friends years days time thus hence therefore
    consequently accordingly apart aside besides beyond among amongst between across along around above below
    behind under over off into onto toward towards through throughout via per plus minus half part parts much
    more less least few fewer little large small great good best better long short high low big only even
    still yet just soon once twice again also perhaps maybe never always often sometimes usually generally
    typically mainly mostly partly nearly almost approximately roughly about please tomorrow yesterday now
    then there here where when why how what which who whose whom whether if because so as at by for from in of
    on to up with it its he his him she her hers they their them we our us you your my me this that the a an
    and or but nor not no yes is are was were be been being has have had do does did will would can could may
    might must shall should let see note using used use made make making taken take taking set work works
    music food water game games team teams season film films book books album song songs series story plot
    history background description overview summary results data information research evidence studies study
    life career death family education school schools trains traffic construction production development
    distribution habitat population climate weather species birds plants animals fish trees adults males
    females eggs seeds flowers leaves everything everyone something someone nothing anything anyone nobody
    somebody whatever whoever whenever wherever however although though unless whereas provided assuming
    having considering including excluding regarding concerning respectively together altogether ultimately
    overall specifically particularly particular example examples instance fact interestingly unfortunately
    fortunately surprisingly sadly luckily additional further modern ancient medieval contemporary traditional
    common popular famous important major minor main key significant various different numerous certain all
    any every either neither enough same own next last past present future northern southern eastern western
    central north south east west upper lower inner outer attended redesignated milepost retired married
    educated awarded winner winners champions runner track tracks side chapter official rather quite very too
    ever afterwards afterward thereafter therein thereby herein total average out down back away home beside
    opposite inside outside
    """
)

# Titles before a person's name: not part of the name, and a sure sign of it.
TITLES = _words(
    """
    Mr Mrs Ms Miss Mx Dr Prof Professor Sir Dame Lord Lady Rev Reverend Father Sister Brother Captain Capt
    Major Maj Colonel Col General Gen Lieutenant Lt Sergeant Sgt Corporal Cpl Admiral Commander Cmdr Commodore
    Marshal President Senator Sen Governor Gov Representative Rep Congressman Congresswoman Minister
    Chancellor Premier Mayor Judge Justice Bishop Archbishop Cardinal Rabbi Imam Sheikh Sultan Emperor Empress
    Prince Princess Duke Duchess Count Countess Baron Baroness Earl Chief Coach Director Chairman Secretary
    Brigadier Sheriff Coroner Engineer Senior Junior Juniors Commissioner Speaker Professors Presidents
    Attorney Ambassador Inspector Detective Officer Private Saint-Père Monsieur Madame Herr Frau Señor Don
    Doña Pope St. Hon Vice Prime Deputy
    """
)
GIVEN_NAMES = _words(
    """
    Aaron Adam Adrian Alan Albert Alex Alexander Alexandra Alfred Alice Alicia Allan Allen Amanda Amy Ana
    Andre Andrea Andrew Andy Angela Ann Anna Anne Annie Anthony Antonio Arnold Arthur Ashley Audrey Barbara
    Barry Ben Benjamin Bernard Beth Betty Beverley Bill Billy Bob Bobby Brad Brandon Brenda Brian Bruce Bryan
    Bryant Carl Carla Carlos Carol Caroline Catherine Charles Charlie Charlotte Chris Christian Christina
    Christine Christopher Claire Clara Clarence Claude Craig Curtis Dale Dan Daniel Danny Dave David Dean
    Deborah Dennis Derek Diana Diane Dick Don Donald Donna Doris Dorothy Doug Douglas Duncan Dwight Earl Ed
    Eddie Edgar Edith Edmund Eduardo Edward Edwin Elaine Eleanor Elena Eli Elizabeth Ellen Emily Emma Eric
    Erik Ernest Ethan Eugene Eva Evan Evelyn Felix Fernando Florence Francis Francisco Frank Franklin Franz
    Fred Frederick Friedrich Gabriel Gary Geoffrey George Gerald Gerard Gilbert Giovanni Giuseppe Glen Glenn
    Gloria Gordon Grace Graham Greg Gregory Guy Hannah Hans Harold Harriet Harry Harvey Heather Heinrich Helen
    Henri Henry Herbert Herman Howard Hugh Hugo Ian Irene Irving Isaac Isabel Isabella Ivan Jack Jacob Jacques
    Jake James Jamie Jan Jane Janet Jason Jay Jean Jeff Jeffrey Jennifer Jeremy Jerome Jerry Jesse Jessica Jim
    Jimmy Joan Joe Joel Johann John Johnny Jon Jonathan Jorge Jose José Joseph Joshua Josh Juan Judith Judy
    Julia Julian Julie Julius Justin Karen Karl Kate Katherine Kathleen Keith Kelly Ken Kenneth Kevin Kim Kurt
    Kyle Larry Laura Lauren Lawrence Lee Leo Leon Leonard Leslie Lewis Lillian Linda Lisa Liz Lloyd Lou Louis
    Louise Lucas Lucy Luigi Luis Luke Malcolm Marc Marcel Marcus Margaret Maria Marie Mario Marion Mark
    Marshall Martha Martin Marvin Mary Mathew Matt Matthew Maurice Max Megan Melissa Michael Michel Michelle
    Miguel Mike Milton Mohammed Muhammad Morris Nancy Nathan Neil Nelson Nicholas Nick Nicolas Nicole Noah
    Norman Oliver Olivia Oscar Otto Owen Pablo Pamela Pat Patricia Patrick Paul Paula Pedro Peter Phil Philip
    Phillip Pierre Rachel Ralph Ray Raymond Rebecca Reginald Rene Ricardo Richard Rick Robert Roberto Robin
    Roger Roland Ron Ronald Rose Roy Russell Ruth Ryan Sally Sam Samantha Samuel Sandra Sarah Scott Sean
    Sebastian Sergei Shane Sharon Shirley Sidney Simon Sophia Stanley Stephanie Stephen Steve Steven Stewart
    Stuart Susan Ted Teresa Terry Theodore Theresa Thomas Tim Timothy Todd Tom Tommy Tony Tyler Valerie Vernon
    Vicki Victor Victoria Vincent Virginia Vladimir Walter Warren Wayne Wendy Wilhelm Will William Willie
    Wolfgang Yvonne Zachary
    """
)
# Verbs and nouns right after a name that only persons have.
PERSON_AFTER = _words(
    """
    said says told wrote writes argued argues explained married died joked recalled stated graduated replied
    sang starred played plays believed thinks thought tweeted resigned retired spoke
    """
)

# Countries, states, provinces and large cities.
PLACES = _phrases(
    """
    Afghanistan, Albania, Algeria, Andorra, Angola, Argentina, Armenia, Australia, Austria, Azerbaijan,
    Bahamas, Bahrain, Bangladesh, Barbados, Belarus, Belgium, Belize, Benin, Bhutan, Bolivia, Bosnia,
    Botswana, Brazil, Britain, Brunei, Bulgaria, Burma, Burundi, Cambodia, Cameroon, Canada, Cape Verde, Chad,
    Chile, China, Colombia, Congo, Costa Rica, Croatia, Cuba, Cyprus, Czechoslovakia, Denmark, Djibouti,
    Dominica, Ecuador, Egypt, El Salvador, England, Eritrea, Estonia, Ethiopia, Fiji, Finland, France, Gabon,
    Gambia, Germany, Ghana, Great Britain, Greece, Greenland, Grenada, Guatemala, Guinea, Guyana, Haiti,
    Honduras, Hong Kong, Hungary, Iceland, India, Indonesia, Iran, Iraq, Ireland, Israel, Italy, Ivory Coast,
    Jamaica, Japan, Jordan, Kazakhstan, Kenya, Kosovo, Kuwait, Kyrgyzstan, Laos, Latvia, Lebanon, Lesotho,
    Liberia, Libya, Liechtenstein, Lithuania, Luxembourg, Macau, Macedonia, Madagascar, Malawi, Malaysia,
    Maldives, Mali, Malta, Mauritania, Mauritius, Mexico, Moldova, Monaco, Mongolia, Montenegro, Morocco,
    Mozambique, Myanmar, Namibia, Nepal, Netherlands, New Zealand, Nicaragua, Niger, Nigeria, North Korea,
    Northern Ireland, Norway, Oman, Pakistan, Palestine, Panama, Papua New Guinea, Paraguay, Peru,
    Philippines, Poland, Portugal, Prussia, Puerto Rico, Qatar, Romania, Russia, Rwanda, Samoa, Saudi Arabia,
    Scotland, Senegal, Serbia, Sierra Leone, Singapore, Slovakia, Slovenia, Somalia, South Africa, South
    Korea, Soviet Union, Spain, Sri Lanka, Sudan, Sweden, Switzerland, Syria, Taiwan, Tanzania, Thailand,
    Tibet, Togo, Tonga, Tunisia, Turkey, Uganda, Ukraine, United Arab Emirates, United Kingdom, United States,
    United States of America, Uruguay, Uzbekistan, Venezuela, Vietnam, Wales, Yemen, Yugoslavia, Zambia,
    Zimbabwe, US, USA, U.S., U.S.A., UK, U.K., USSR, UAE, Alabama, Alaska, Arizona, Arkansas, California,
    Colorado, Connecticut, Delaware, Florida, Georgia, Hawaii, Idaho, Illinois, Indiana, Iowa, Kansas,
    Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan, Minnesota, Mississippi, Missouri, Montana,
    Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York, North Carolina, North Dakota, Ohio,
    Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah,
    Vermont, Virginia, Washington, West Virginia, Wisconsin, Wyoming, Ontario, Quebec, British Columbia,
    Alberta, Manitoba, Saskatchewan, Nova Scotia, Newfoundland, New South Wales, Queensland, Tasmania, Western
    Australia, South Australia, Amsterdam, Athens, Atlanta, Auckland, Baghdad, Baltimore, Bangkok, Barcelona,
    Beijing, Berlin, Birmingham, Bombay, Boston, Brisbane, Brussels, Budapest, Buenos Aires, Cairo, Calcutta,
    Chicago, Cincinnati, Cleveland, Copenhagen, Dallas, Delhi, Denver, Detroit, Dublin, Edinburgh, Frankfurt,
    Geneva, Glasgow, Hamburg, Helsinki, Houston, Istanbul, Jakarta, Jerusalem, Kiev, Kyiv, Kyoto, Las Vegas,
    Leeds, Lisbon, Liverpool, London, Los Angeles, Madrid, Manchester, Manila, Melbourne, Mexico City, Miami,
    Milan, Minneapolis, Montreal, Moscow, Mumbai, Munich, Nairobi, Naples, New Delhi, New Orleans, New York
    City, Osaka, Oslo, Ottawa, Oxford, Paris, Perth, Philadelphia, Phoenix, Pittsburgh, Prague, Rio de
    Janeiro, Rome, Rotterdam, San Diego, San Francisco, Santiago, Seattle, Seoul, Shanghai, Stockholm, Sydney,
    Tehran, Tel Aviv, Tokyo, Toronto, Vancouver, Venice, Vienna, Warsaw, Washington D.C., Zurich, Adelaide,
    Canberra, Normandy, Holland, Brittany, Bavaria, Saxony, Catalonia, Andalusia, Sicily, Crete, Flanders,
    Yorkshire, Lancashire, Essex, Kent, Sussex, Cornwall, Devon, Cambridge, Bristol, Belfast, Cardiff,
    Marseille, Lyon, Cologne, Turin, Florence, Valencia, Seville, Karachi, Lahore, Kolkata, Chennai,
    Bangalore, Hanoi, Havana, Lima, Bogotá, Caracas, Lagos, Johannesburg, Cape Town, Casablanca, Damascus,
    Beirut, Ankara, Riga, Vilnius, Tallinn, Sofia, Bucharest, Belgrade, Zagreb
    """
)
REGIONS = _phrases(
    """
    Africa, Antarctica, Asia, Europe, America, North America, South America, Latin America, Central America,
    Oceania, Scandinavia, Middle East, Far East, Eastern Europe, Western Europe, Southeast Asia, Central Asia,
    East Asia, South Asia, West Africa, Alps, Andes, Himalayas, Rockies, Arctic, Atlantic, Pacific,
    Mediterranean, Caribbean, Balkans, Earth, Mars, Moon, Danube, Rhine, Nile, Amazon, Thames, Baltic, Sahara,
    Siberia, Mississippi River, Midwest, West Coast, East Coast
    """
)
PEOPLES = _words(
    """
    French Dutch Greek Greeks Turk Turks Czech Thai Swiss Welsh Swede Swedes Dane Danes Finn Finns Pole Poles
    Serb Serbs Croat Croats Slovak Slovaks Arab Arabs Arabic Jew Jews Jewish Hindu Hindus Muslim Muslims
    Islamic Islam Christian Christians Christianity Catholic Catholics Protestant Protestants Orthodox
    Buddhist Buddhists Buddhism Hinduism Judaism Sikh Sikhs Mormon Mormons Methodist Baptist Lutheran Anglican
    Presbyterian Jesuit Jesuits Gothic Goths Celtic Latin Hispanic Latino Latinos Republican Republicans
    Democrat Democrats Democratic Conservative Conservatives Liberal Liberals Socialist Socialists Communist
    Communists Nazi Nazis Tory Tories Whig Whigs Marxist Soviet Soviets Byzantine Ottoman Ottomans Viking
    Vikings Hebrew Slavic Basque Catalan Filipino Filipinos Pakistani Israeli Iraqi Saudi Bengali Punjabi
    Tamil Zulu Maori Māori Aboriginal Native Aztec Maya Mayan Inca Inuit Cherokee Sioux Apache Navajo European
    Europeans African Africans Asian Asians American Americans English British Briton Britons Scots Scottish
    Irish German Germans Roman Romans Norman Normans Victorian Georgian Quebecois Spaniard Spaniards Afghan
    Afghans Uzbek Kurd Kurds Kurdish Mongol Mongols Manx Cornish Breton Flemish Yiddish Polish Sunni Shia
    Shiite Frisian
    """
)
PEOPLE_ENDINGS = ("ese", "ish", "ians", "ian", "eans", "ean")
NOT_PEOPLE = _words(
    """
    Adrian Sebastian Brian Julian Vivian Damian Fabian Parish Finish Ocean Dean Jean Mountain Artist Artists
    """
)

ORG_HEADS = _words(
    """
    Academy Agency Airlines Airways Alliance Army Associates Association Authority Band Bank Board
    Broadcasting Brothers Bureau Cabinet Center Centre Church Club College Command Commission Committee
    Company Confederation Conference Congress Consortium Corporation Corps Council Court Department Division
    Enterprises Federation Fleet Force Forces Foundation Fund Government Group Guard Guild Holdings Hospital
    House Inc Industries Institute Institution International Journal Laboratories Laboratory League Legion Ltd
    LLC Magazine Media Ministry Motors Museum Navy Network News Office Orchestra Organisation Organization
    Parliament Partners Party Police Post Press Productions Project Publishers Publishing Radio Records
    Regiment Review School Schools Senate Service Services Society Squadron Star Studios Synod Systems Team
    Technologies Telegraph Times Trust Union United University Wing Battalion Brigade Infantry Cavalry
    Artillery Athletic FC F.C. A.F.C. AFC SC Rovers Giants Lions Tigers Bears Eagles Hawks Bulls Kings Sox
    Cubs Yankees Dodgers Rangers Canadiens Maroons Senators Bruins Corp Corp. Inc. Ltd. Co. Co PLC GmbH AG SA
    NV Ensemble Quartet Choir Philharmonic Symphony Chamber Observatory Registry Archives Library Television
    Channel Pictures Entertainment Games Software Labs Airline Railways Herald Gazette Tribune Chronicle
    Guardian Independent Observer
    """
)
FAC_HEADS = _words(
    """
    Airport Bridge Building Tower Stadium Arena Highway Road Street Avenue Boulevard Lane Station Terminal
    Tunnel Dam Castle Palace Cathedral Abbey Basilica Temple Chapel Hall Theatre Theater Gallery Prison Base
    Barracks Fort Plaza Square Gate Mosque Shrine Monument Memorial Mansion Hotel Expressway Freeway Motorway
    Pier Harbour Harbor Port Wharf Railroad Railway Line Canal Lighthouse Zoo Gardens Auditorium Oval Cemetery
    Mill Mills House Farm
    """
)
LOC_HEADS = _words(
    """
    River Lake Mount Mountain Mountains Ocean Sea Bay Gulf Island Islands Isle Isles Peninsula Valley Desert
    Forest Coast Strait Cape Hill Hills Creek Brook Canyon Falls Glacier Plateau Basin Range Reef Peak Pond
    Beach Channel Delta Plain Plains Swamp Marsh Park Reserve Point Ridge Woods Rocks Sound Lagoon Volcano
    Cave Pass Springs River's Archipelago
    """
)
GPE_HEADS = _words(
    """
    City County Province District State Town Village Township Borough Parish Republic Kingdom Empire
    Municipality Prefecture Territory Shire Emirate Duchy Principality Commonwealth Colony Heights Oblast
    Canton Raj Voivodeship
    """
)
# Heads of numbered units, whose number is part of the name: 65 Fighter Wing, 101st Airborne Division.
UNIT_HEADS = _words(
    """
    Army Corps Division Brigade Regiment Battalion Squadron Wing Infantry Cavalry Artillery Fleet Legion Group
    """
)
# Heads that stand before their name (Lake Erie, Mount Etna).
LOC_LEADS = _words(
    """
    Lake Mount Mt Mt. Cape Gulf Isle River Bay Rio Loch Lough
    """
)
GPE_LEADS = _words(
    """
    Saint St St. San Santa New Los Las El Fort Port North South East West Upper Lower Northern Southern
    """
)
EVENT_HEADS = _words(
    """
    War Wars Battle Festival Olympics Olympic Cup Championship Championships Tournament Games Revolution
    Rebellion Uprising Massacre Siege Election Elections Awards Award Bowl Prix Open Marathon Expo Exposition
    Exhibition Hurricane Earthquake Fire Flood Crisis Conference Convention Summit Day Days Holocaust
    Reformation Renaissance Crusade Campaign Expedition Offensive Operation Carnival Parade Tour Trophy
    Challenge Week Incident Disaster Masters Depression Eve Christmas Easter Thanksgiving Ramadan Halloween
    """
)
LAW_HEADS = _words(
    """
    Act Acts Treaty Constitution Amendment Law Laws Bill Code Charter Convention Agreement Accord Accords
    Protocol Directive Statute Ordinance Declaration Decree Regulations
    """
)
WORK_HEADS = _words(
    """
    Symphony Concerto Sonata Bible Quran Koran Torah Gospel Odyssey Iliad Encyclopedia Encyclopædia Dictionary
    """
)
# Heads that reach their name over "of": University of Oslo, Battle of Hastings, Gulf of Finland.
OF_HEADS = (
    _words(
        """
        University College School Institute Academy Bank Church Ministry Department Museum House Isle Gulf Bay
        Lake Republic Kingdom Order Hall Treaty Act Army Council City County Province State Board Society
        Battle Siege Massacre Declaration Bill Court Chamber Library Cathedral Diocese Archdiocese Duchy
        Commonwealth Dominion Union Association Federation League Office Bureau Faculty Peninsula Strait Cape
        Mount Sea Town Bishop Archbishop Earl Duke Duchess Prince Princess Count Tower Port Parliament Knights
        Sons Daughters Legion Campaign Fall Conference Convention Congress Constitution Confederation Company
        Institution Foundation Fortress Conservatory Journal Lord Lords Hospital Isles Islands Principality
        Emirate Sultanate Colony Coast District Division Art Tales Book Game Center Centre Statue Temple
        Valley Zone
        """
    )
    | EVENT_HEADS
)
# Small words that may stand inside a name.
PARTICLES = _words(
    """
    de la le du des del della der den van von di da dos el al bin ibn ben y e ter ten zu af av
    """
)
PLACE_BEFORE = _words(
    """
    in at near from to around across toward towards outside inside throughout via between into
    """
)
# Words that follow the subject of a sentence.
AFTER_SUBJECT = _words("was is were are has had have will would can could also became who which and of did does")
# Names that go on with a number.
NUMBERED = _words("Route Highway Interstate Apollo Boeing Airbus Formula")
