"""# Log anomalies: sessions that break a rule nobody wrote down

A server logs in an order: connect, log in, look around, lock a file, write it, unlock it, log out.
The rules are in its code, not in the log, and most events occur at several stages.  A hidden Markov
model learns the stages from the log, broken sessions included.  After that the surprise of an event
is -log P(event | events before it), and a session is as suspicious as its worst event.

The log is drawn from a server with eight stages, so that the truth is known.  In one session of
fifty a step is left out, or two are swapped, and the rules are broken.  Sessions are ranked by
surprise, and as many are taken as were spoilt.  A chain of the events, in which nothing is hidden,
misses those whose pairs of neighbours are all harmless, such as an unlock with no lock before it.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from cohmm import HMM, PairwiseHMM, count_pairs
from cohmm.plots import STYLE

parser = argparse.ArgumentParser(description="Sessions that break a rule nobody wrote down.")
parser.add_argument("--quick", action="store_true", help="few sessions, to see that it runs")
parser.add_argument("--output", default="log_anomalies.png", help="where to write the picture")
options = parser.parse_args()

STAGES = {  # what is logged at each, and where it leads
    "arrive": ({"connect": 1}, {"enter": 1}),
    "enter": ({"login": 0.9, "denied": 0.1}, {"enter": 0.1, "browse": 0.9}),
    "browse": ({"list": 0.5, "read": 0.5}, {"browse": 0.7, "lock": 0.2, "leave": 0.1}),
    "lock": ({"lock": 1}, {"edit": 1}),
    "edit": ({"list": 0.2, "read": 0.5, "write": 0.3}, {"edit": 0.6, "unlock": 0.4}),
    "unlock": ({"unlock": 1}, {"browse": 0.7, "leave": 0.3}),
    "leave": ({"logout": 1}, {"end": 1}),
    "end": ({"end": 1}, {"arrive": 1}),
}
EVENTS = sorted({event for logged, _ in STAGES.values() for event in logged})


def spoilt(session: list[str], server: HMM, rng: np.random.Generator) -> list[str]:
    """A step left out or two swapped, so that the server cannot have done it."""
    while True:
        at = int(rng.integers(len(session) - 1))
        kept = [session[at + 1], session[at]] if rng.random() < 0.5 else [session[at + 1]]
        broken = session[:at] + kept + session[at + 2 :]
        if server.log_likelihood(broken) == -np.inf:
            return broken


def surprises(model: HMM, sessions: list[list[str]]) -> list[np.ndarray]:
    """-log P(event | events before it in its session), one array per session."""
    nats = model.surprise([["end", *session] for session in sessions])  # each begins after an end
    ends = np.cumsum([1 + len(session) for session in sessions])
    return [one[1:] for one in np.split(nats, ends[:-1])]


transmat = [[leads.get(stage, 0) for stage in STAGES] for _, leads in STAGES.values()]
emission = [[logged.get(event, 0) for event in EVENTS] for logged, _ in STAGES.values()]
server = HMM(np.eye(len(STAGES))[0], transmat, emission, EVENTS)
rng = np.random.default_rng(0)
n_sessions = 1_000 if options.quick else 10_000
log, _ = server.sample(40 * n_sessions, rng)
ends = np.flatnonzero(log == "end")[:n_sessions] + 1
sessions = [list(map(str, session)) for session in np.split(log[: ends[-1]], ends[:-1])]
broken = np.isin(np.arange(n_sessions), rng.choice(n_sessions, n_sessions // 50, replace=False))
for s in np.flatnonzero(broken):
    sessions[s] = spoilt(sessions[s], server, rng)
log = np.concatenate(sessions)
print(f"data: made up, {len(log):,} events, {broken.sum()} of {n_sessions:,} sessions broken")

stages = PairwiseHMM(len(STAGES), lags=(1, 2), random_state=0).fit(log).model_
pairs = count_pairs(log)[1] + 0.1
pairs /= pairs.sum(axis=1, keepdims=True)
chain = HMM(np.full(len(pairs), 1 / len(pairs)), pairs, np.eye(len(pairs)), stages.vocabulary)
nats = {"hidden stages": surprises(stages, sessions), "chain of events": surprises(chain, sessions)}
scores = {name: np.array([one.max() for one in values]) for name, values in nats.items()}
mean = -stages.log_likelihoods(sessions) / [len(session) for session in sessions]
caught = {}
for name, score in (*scores.items(), ("log-likelihood per event", mean)):
    suspects = np.argsort(-score)[: broken.sum()]
    caught[name] = set(suspects[broken[suspects]].tolist())
    print(f"{name}: {len(caught[name])} of the {len(suspects)} most surprising sessions are broken")
shown = min(caught["hidden stages"] - caught["chain of events"], key=lambda s: len(sessions[s]))

with plt.rc_context(STYLE):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3), layout="constrained")
    worst = scores["hidden stages"]
    bins = np.linspace(0, worst.max(), 30)
    for label, which in (("as they should be", ~broken), ("broken", broken)):
        left.hist(worst[which], bins, log=True, label=label)
    left.set(xlabel="surprise of a session's worst event, nats", ylabel="sessions")
    left.legend(frameon=False)
    for aside, (name, values) in zip((-0.2, 0.2), nats.items(), strict=True):
        places = np.arange(len(sessions[shown]))
        right.barh(places + aside, values[shown], height=0.4, label=name)
    right.set_yticks(places, sessions[shown])
    right.invert_yaxis()
    right.set(xlabel="surprise, nats", title="a session that only hidden stages catch")
    right.legend(frameon=False)
    figure.savefig(options.output, dpi=160)
