"""Twelve subjects with their words, written for the demo, and how one leads to another.

Words stand in the order of their frequency.  Some belong to several subjects (a bank, a cell, a
conductor): only the words around one tell which is meant.  `COMMON` words belong to all.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.model.hmm import HMM
from cohmm.model.stationary import stationary_distribution

SUBJECTS = {
    "weather": """
        rain wind cloud storm snow cold warm forecast temperature sun heat sky pressure front
        thunder fog frost ice shower lightning humidity drizzle gale breeze degree drought flood
        winter summer spring autumn hail sleet blizzard hurricane tornado mist dew rainfall gust
        climate barometer overcast sunshine north south mild chill freeze thaw puddle umbrella
        rainbow monsoon heatwave cyclone visibility season dry wet damp bright dark wave satellite
        """,
    "cooking": """
        oven flour butter sugar salt pepper onion garlic sauce pan egg bread dish recipe boil
        bake stir chop fry heat soup dough cheese cream milk lemon oil spoon kitchen simmer roast
        knife bowl chicken rice pasta tomato potato carrot herb parsley basil thyme stock pot
        grill season slice peel whisk melt serve taste flavour vinegar honey yeast cake pie crust
        vanilla cinnamon ginger chilli mushroom beef pork fish steam dinner chef plate apple bass
        """,
    "football": """
        goal ball match team player league coach striker penalty pitch referee keeper season club
        fan defender midfield pass score kick win loss draw cup final stadium corner tackle header
        shot cross captain substitute half foul whistle card offside attack defence manager
        transfer squad crowd champion supporter training boot injury bench fixture tie title derby
        net dribble volley equaliser winger shirt flag record field play star
        """,
    "courts": """
        judge court trial jury lawyer witness verdict sentence guilty crime evidence defendant
        appeal prosecutor law case charge police prison plaintiff testimony innocent arrest
        hearing statute bail oath justice claim suit damages cell convicted accused barrister
        solicitor magistrate clerk theft fraud murder robbery offence fine testify alibi motive
        confession custody parole ruling counsel contract bench bar objection warrant summons
        rights tribunal inmate guard record bond
        """,
    "medicine": """
        patient doctor hospital nurse disease treatment drug blood heart surgery symptom infection
        fever pain cancer clinic therapy dose virus vaccine cell tissue lung brain kidney liver
        bone muscle skin wound surgeon diagnosis medicine antibiotic injection trial pressure
        pulse tumour bacteria immune diabetes asthma allergy tablet prescription ward ambulance
        emergency scan fracture stitch anaesthetic operation recovery rash cough insulin nerve
        artery organ transplant chronic acute dentist injury stomach throat headache
        """,
    "space": """
        planet star orbit moon rocket telescope galaxy astronaut mission satellite launch sun
        comet asteroid gravity earth mars jupiter saturn crater probe capsule station universe
        light shuttle crew lander meteor nebula cosmos solar eclipse spacecraft fuel engine thrust
        docking rover venus mercury neptune ring dust atmosphere radiation vacuum constellation
        supernova pulsar quasar lens mirror observatory astronomer dish signal sky dark mass
        velocity trajectory reentry booster antenna
        """,
    "farming": """
        farm farmer crop wheat field cattle harvest tractor barn soil sheep pig milk grain corn
        barley hay cow plough herd fence seed fertiliser horse chicken egg meadow pasture orchard
        irrigation livestock lamb wool shepherd dairy stable acre yield drought manure silo
        combine rye oats straw calf goat pond hedge market rooster weed pesticide ranch sow breed
        feed poultry vineyard apple plant spring stock trough hoof gate
        """,
    "music": """
        song band guitar piano melody concert singer album drum orchestra violin chord rhythm note
        stage key tune audience conductor symphony choir jazz bass scale pitch tempo harmony
        trumpet flute cello composer opera lyrics chorus record tour studio microphone beat major
        minor sonata quartet waltz ballad soprano tenor encore rehearsal score string bow bar
        track sound horn saxophone organ harp festival fan dance volume ear play performance
        """,
    "trains": """
        train station track railway platform engine carriage passenger ticket driver signal line
        conductor tunnel bridge locomotive timetable journey rail freight wagon express departure
        arrival delay junction coach commuter fare whistle steam diesel brake crew wheel switch
        depot coal guard seat compartment window luggage porter crossing gauge sleeper route
        network terminus underground electric viaduct buffer inspector suburb valley border trip
        speed cargo gate
        """,
    "banking": """
        bank money loan interest account credit deposit debt rate market bond stock investor
        savings mortgage payment cash fund dollar profit share currency price inflation lender
        borrower broker branch customer finance capital budget tax insurance pension dividend
        exchange asset default crisis charge note coin cheque card transfer overdraft statement
        balance teller vault merger auditor treasury income wage growth recession trade deficit
        euro fee yield current economy shareholder
        """,
    "the sea": """
        ship sea boat harbour sailor captain wave tide anchor sail port coast fish crew deck cargo
        island whale ocean storm lighthouse shore beach net mast hull current wind bay dock voyage
        fisherman navy submarine reef shark dolphin salt gull seaweed oar compass knot rope buoy
        pier ferry canoe crab lobster coral shell bass horizon shipwreck pirate rudder keel sand
        rock channel gulf launch swell diver cod herring yacht
        """,
    "gardens": """
        garden flower rose plant seed lawn tree leaf soil root bloom hedge weed spade bulb water
        grass shrub path gardener prune compost tulip lily daffodil petal stem bud branch pot
        greenhouse vine ivy fern moss bench fountain pond bee butterfly lavender orchid daisy
        violet oak maple spring bed border trowel rake mulch fertiliser thorn fence shade sunlight
        patio terrace hose bird nest berry cherry apple worm slug mower shoot bank
        """,
}
COMMON = """
    new day people time year first long old small good work began place way week great morning
    night hour large early late came went took gave kept held saw told asked knew thing month near
    far turned brought stood waited started stopped high low friend world
    """
# What a subject leads to, the most probable first, and how many words it lasts on average.
LEADS = {
    "weather": (("the sea", "farming", "gardens"), 9),
    "cooking": (("gardens", "farming", "the sea"), 14),
    "football": (("medicine", "weather", "music"), 13),
    "courts": (("banking", "medicine", "football"), 15),
    "medicine": (("courts", "cooking", "space"), 12),
    "space": (("weather", "the sea", "music"), 15),
    "farming": (("weather", "cooking", "banking"), 11),
    "music": (("trains", "football", "space"), 14),
    "trains": (("the sea", "banking", "football"), 10),
    "banking": (("courts", "farming", "trains"), 12),
    "the sea": (("weather", "cooking", "trains"), 11),
    "gardens": (("cooking", "weather", "music"), 13),
}
SHARES = (0.45, 0.25, 0.15)  # of the times that a subject ends; the rest goes to all others
COMMON_SHARE = 0.2  # of the words of every subject
SENTENCE = (5, 12)  # words: at least, and fewer than


def demo_model() -> HMM:
    """The hidden chain of the demo: subjects as states, (12, 12), and their words.

    >>> demo_model()
    HMM(12 states, 769 symbols)
    """
    own = {name: text.split() for name, text in SUBJECTS.items()}
    common = COMMON.split()
    words = sorted({*common, *(word for subject in own.values() for word in subject)})
    place = {word: code for code, word in enumerate(words)}
    emission = np.zeros((len(own), len(words)))
    for k, subject in enumerate(own.values()):
        emission[k, [place[word] for word in subject]] += (1 - COMMON_SHARE) * zipf(len(subject))
        emission[k, [place[word] for word in common]] += COMMON_SHARE * zipf(len(common))
    transitions = _transitions(list(own))
    return HMM(stationary_distribution(transitions), transitions, emission, tuple(words))


def sentences(words: Iterable[str], rng: np.random.Generator) -> str:
    """Words with capitals and full stops, which mean nothing: they make a line a text to look at.

    >>> sentences("rain wind storm snow sun".split(), np.random.default_rng(0))
    'Rain wind storm snow sun.'
    """
    rest, parts = list(words), []
    while rest:
        n = int(rng.integers(*SENTENCE))
        n = len(rest) if len(rest) < n + SENTENCE[0] else n
        parts.append(" ".join(rest[:n]).capitalize() + ".")
        rest = rest[n:]
    return " ".join(parts)


def _transitions(names: list[str]) -> Floats:
    k = len(names)
    table = np.zeros((k, k))
    for i, name in enumerate(names):
        leads, lasts = LEADS[name]
        others = [j for j in range(k) if j != i and names[j] not in leads]
        table[i, [names.index(lead) for lead in leads]] = SHARES
        table[i, others] = (1 - sum(SHARES)) / len(others)
        table[i] /= lasts
        table[i, i] = 1 - 1 / lasts
    return table


def zipf(n: int, shift: float = 4.0) -> Floats:
    """Frequencies of ``n`` words that fall off as 1 / (rank + shift), (n,).

    >>> zipf(3, shift=0.0) * 11
    array([6., 3., 2.])
    """
    weights = 1 / (np.arange(1, n + 1) + shift)
    return np.asarray(weights / weights.sum())
