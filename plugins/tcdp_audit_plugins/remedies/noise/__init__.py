"""Noise: mask the values of one attribute with a mechanism of differential privacy, and declare it.

- `parameters`: what a policy may say;
- `masking`: a mechanism that is fitted to an attribute, OpenDP, and rounding to the safe side;
- `mechanisms`: Laplace and geometric noise, and randomised response;
- `apply`: the remedy: one draw, or draws until one is close.
"""

from __future__ import annotations

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.noise.apply import mask
from tcdp_audit_plugins.remedies.noise.parameters import NoiseParameters, faults, why_not_applicable

GUIDE = RemedyGuide(
    method=(
        "Every value of one attribute is masked by itself, through OpenDP (`pip install tcdp-audit[dp]`). `laplace` "
        "clamps a value to the bounds and adds real noise of density e^(-|x|/b)/2b with b = (high - low) / epsilon; "
        "`geometric` adds whole noise with probabilities proportional to e^(-|x|/b) to whole numbers; "
        "`randomised_response` keeps the value with probability r = (e^epsilon - 1) / (e^epsilon + m - 1) and "
        "otherwise answers one of the domain's m values, each equally likely. r is rounded down to nine decimals. The "
        "treatment gives the policy line that declares the mechanism to `stochastic_t_closeness`, with the very scale "
        "or retention that was drawn with."
    ),
    choosing=(
        "Noise is never chosen by itself: it changes every value, and what it protects is not what a class check "
        "measures. Ask for it where single values must be deniable. Bounds and, for randomised response, the domain "
        "are part of what everybody may know: take them from the questionnaire, not from the data, and declare an "
        "ordinal domain by its `order`. Bounds that are too wide cost noise, bounds that are too narrow clamp. To "
        "choose epsilon, audit the table before the noise with `stochastic_t_closeness` under the declared mechanism, "
        "and lower epsilon until the figure keeps your t. Let noise have its turn before remedies that generalise; "
        "noise on a quasi-identifier makes its values rare and its classes small. A numeric column of whole numbers "
        "becomes one of real numbers under `laplace`; `geometric` keeps it whole."
    ),
    guarantees=(
        "Local differential privacy of each value: no output is more than e^epsilon times as likely from one value "
        "within the bounds (of the domain) as from another. Epsilons of several attributes of one person add up, and "
        "so do those of several of the person's records and of every further release of the same values. Missing "
        "values stay missing, so that a value is missing is not protected. The randomness is cryptographic and takes "
        "no seed: this is the one remedy that cannot be repeated, because noise that can be drawn again can be "
        "subtracted. It runs once, whatever the other remedies need. Audit the table before the noise (with values "
        "clamped to the bounds); on the masked table `stochastic_t_closeness` would describe a second masking. With "
        "`until_close` the draw is repeated until every class is t-close in the multiplicative distance. That a draw "
        "was accepted tells about the true table, so no epsilon holds for it: the notes say `epsilon: null` and a "
        "warning, and no line is given."
    ),
    attack=(
        "Somebody who knows the mechanism and the true values of everybody links each record to the person to whose "
        "value it most probably belongs: `noise_attack` by noise of the same standard deviation, under which the "
        "nearest value is the most probable one as it is under Laplace's, or `pram_attack` with the probability that a "
        "value stays."
    ),
    source=(
        "Dwork, McSherry, Nissim, Smith, TCC 2006, doi:10.1007/11681878_14 (Laplace); Ghosh, Roughgarden,"
        " Sundararajan, SIAM Journal on Computing 41(6), 2012, doi:10.1137/09076828X (geometric); Warner,"
        " JASA 60, 1965, doi:10.1080/01621459.1965.10480775 (randomised response); Domingo-Ferrer, "
        "Soria-Comas, Knowledge-Based Systems 74, 2015, doi:10.1016/j.knosys.2014.11.011, definition 3; "
        "Domingo-Ferrer, SECRYPT 2013, note 1 (drawing again)"
    ),
    example="- noise: {attribute: salary, mechanism: laplace, epsilon: 1, bounds: [0, 100000]}",
    notes={
        "mechanism": "As it was declared.",
        "epsilon": "Of every single value of the attribute; none where the draw was conditioned.",
        "conditioned": "Whether the draw was chosen among several.",
        "draws": "How many draws it took.",
        "warning": "What follows from the choice.",
        "scale": "b of the noise that was added, in units of the attribute.",
        "clamped": "Records whose value was beyond the bounds; counted without noise, so not for publication.",
        "retention": "The probability with which a value was kept.",
        "answers": "How many values could be answered.",
        "records": "Records whose value changed.",
        "missing": "Records without a value, which stay so.",
    },
)


NOISE = Remedy(
    name="noise",
    title="Noise",
    summary="Masks an attribute with Laplace or geometric noise or randomised response, at a declared epsilon.",
    guide=GUIDE,
    parameters=NoiseParameters,
    apply=mask,
    validate=faults,
    why_not_applicable=why_not_applicable,
    random=True,
)
