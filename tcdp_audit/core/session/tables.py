"""The tables of a session: opened when they are first needed, and kept with what was read of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.auditor.views import SeveralTables
from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.errors import DataError, UsageError, redact_errors
from tcdp_audit.core.base.resources import budget
from tcdp_audit.core.base.scratch import sweep
from tcdp_audit.core.base.words import listing, visible
from tcdp_audit.core.engines.base import Engine, Translation
from tcdp_audit.core.engines.opening import open_any, opener_of, opening_for, require_no_url
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm
from tcdp_audit.core.policy.faults import nearest
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.model import SEPARATOR, AttributeDeclaration, CompanionTable, Role
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.scalars import ReadAs
from tcdp_audit.core.policy.source import Location
from tcdp_audit.core.release.release import declared_hierarchies
from tcdp_audit.core.session.inputs import AuditInputs, named_files
from tcdp_audit.core.session.registry import Plugins

if TYPE_CHECKING:
    from tcdp_audit.core.encoding.hierarchy import Hierarchy
    from tcdp_audit.core.session.figures import FigureInputs

T = TypeVar("T")
SHARE = 4  # what is kept of the tables may take this share of the memory
LAYOUT = ".layout.csv"  # the end of the name of a layout that lies next to a file in fixed width
NO_COMPARISON = "tables of figures are compared with no other table, so leave it out"
NO_LEVELS: Mapping[str, int] = MappingProxyType({})


class OpenTables:
    """The tables that policies name, or that a caller gives in their place. Use it as a context manager.

    Args:
        release: the release; None for the one that a policy names.
        original: the table that the release was made from; None for the one that a policy names.
        population: the population that the release was drawn from, likewise.
        plugins: the plugins to use; None for all that are installed.
        options: how to run audits.
        keep: whether what was read and counted is kept for further policies.
    """

    def __init__(
        self, release: Any, original: Any, population: Any, plugins: Plugins | None, options: Options, *, keep: bool
    ) -> None:
        self.plugins = plugins or Plugins.load()
        if not isinstance(self.plugins, Plugins):
            raise UsageError(f"plugins: must be what `Plugins.load()` returns, not of type {type(plugins).__name__}")
        self.given = {"release": release, "original": original, "population": population}
        memory = budget(options.memory)  # asked once: what is free changes while audits run
        self.cache = Cache(memory // SHARE if keep else 0)
        self.options = replace(options, memory=memory, cache=self.cache)
        self._memory = memory
        self._engines: dict[tuple[Any, ...], Engine] = {}
        self._declared: dict[tuple[Any, ...], frozenset[str]] = {}  # of each table the columns with such codes
        self._named_tables: set[str] = set()  # by the policies of questions so far
        self._stack, self._reader = ExitStack(), object()

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close every table, and forget what was read."""
        self.close()

    def close(self) -> None:
        """Close every table, and forget what was read."""
        self.cache.clear()
        self._engines.clear()
        self._stack.close()

    def read(self, policy: str | Path | Mapping[str, Any] | Policy) -> Policy:
        """A policy under the plugins of these tables."""
        return read_policy(policy, self.plugins)

    def inputs(self, policy: Policy, levels: Mapping[str, int] = NO_LEVELS, **options: Any) -> AuditInputs:
        """The inputs of an audit under a policy.

        Args:
            policy: what the release must satisfy.
            levels: the levels of hierarchies at which columns of the release are seen.
            **options: how to run it, where that differs; see `Options`.

        Raises:
            UsageError: no release is named, or a file does not exist.
            DataError: a table cannot be read.
        """
        plugins = self._plugins_of(policy)
        chosen = replace(self.options, detectors=lambda: plugins.detectors, **options)
        sweep()
        release, engine = self.release(policy)
        if levels:
            engine = self._at_levels(engine, policy, levels)
        tables, unused = self._companions(policy)
        companions = {name: self._companion(name, one, policy) for name, one in tables.items()}
        _require_labels_alike(engine, companions)
        if chosen.hash_content:
            _require_content_hashes([engine, *companions.values()])
        figures = self._figures(policy, engine, chosen)
        return AuditInputs(policy, plugins, chosen, release, engine, companions, named_files(policy), figures, unused)

    def release(self, policy: Policy | None) -> tuple[Any, Engine]:
        """The release as it was given or is named, and the engine over it."""
        release = self.given["release"]
        if policy is not None and has_figures(policy):
            return self._release_of_figures(policy, release)
        if policy is not None and policy.document.tables is not None:
            return release, self._linked(policy, release)
        if isinstance(release, Mapping):
            raise UsageError("release: several tables need a policy with `tables:`, which says how they are linked")
        if release is None and policy is not None and policy.document.release is not None:
            return self._named_release(policy, policy.document.release)
        if release is None:
            raise UsageError("no release: name it in the call, or as `release:` in the policy")
        codes = () if policy is None else policy.with_role(Role.QUASI_IDENTIFIER)
        form = _form_of_draft(release) if policy is None else _form_of_release(policy)
        return release, self._engine(release, "release", codes, self._plugins_of(policy), form)

    def read_again(self, form: TextForm) -> Engine:
        """The release that was given, read in another form, for a draft of its policy."""
        return self._engine(self.given["release"], "release", (), self.plugins, form)

    def _named_release(self, policy: Policy, location: str) -> tuple[Any, Engine]:
        """The release that the policy names, and the engine over it; a fault names the place in the policy."""
        release, codes = policy.resolve(location), policy.with_role(Role.QUASI_IDENTIFIER)
        try:
            return release, self._engine(release, "release", codes, self._plugins_of(policy))
        except UsageError as error:
            (place,) = policy.places_of([("release",)])
            raise UsageError(f"{place}: {error}") from None

    def _release_of_figures(self, policy: Policy, given: Any) -> tuple[Any, Engine]:
        """The records of a release with tables of figures; these tables themselves where it has no records."""
        from tcdp_audit.core.session.figures import FigureTables  # noqa: PLC0415 - only for tables of figures

        further = [name for name, table in self.given.items() if name != "release" and table is not None]
        if further and not policy.attributes:
            raise UsageError(f"{further[0]}: {NO_COMPARISON}")
        own = _by_name(policy, given, "release", "--table")
        figures = policy.document.aggregates or {}
        records = {name: table for name, table in own.items() if name not in figures}
        if policy.document.tables is None:
            declared = policy.tables_of_records
            for name in records.keys() - {*declared, *(["release"] if declared else [])}:
                raise UsageError(
                    f"release: the policy has no table {visible(repr(name))}"
                    f"{nearest(name, [*declared, *figures]) or '; it has ' + listing([*declared, *figures])}"
                )
        if not policy.attributes:
            release = FigureTables(self._engines_of_figures(policy))
            if not release.tables:  # of fitted models alone
                release.name = release.uri = ", ".join(policy.document.models or ())
            return given, release
        if policy.document.tables is not None:
            return given, self._linked(policy, records)
        table = next(iter(records.values()), None)
        if table is None and policy.document.release is not None:
            table = policy.resolve(policy.document.release)
        if table is None:
            name = (*policy.tables_of_records, "NAME")[0]
            raise UsageError(
                f"no table {name!r}: name its `file:` in the policy, or give it in the call, as `--table {name}=FILE`"
            )
        codes = policy.with_role(Role.QUASI_IDENTIFIER)
        return given, self._engine(table, "release", codes, self._plugins_of(policy), _form_of_release(policy))

    def _engines_of_figures(self, policy: Policy) -> dict[str, Engine]:
        """The engine of each table of figures."""
        from tcdp_audit.core.session.figures import tables_of_figures  # noqa: PLC0415 - likewise

        plugins = self._plugins_of(policy)
        given = _by_name(policy, self.given["release"], "release", "--table")
        return tables_of_figures(
            policy, given, lambda table, name: self._engine(table, name, (), plugins, _form_of_figures(policy, name))
        )

    def _figures(self, policy: Policy, release: Engine, options: Options) -> FigureInputs | None:
        """The tables of figures of a policy with all that is read next to them; None where it has none."""
        if not has_figures(policy):
            return None
        from tcdp_audit.core.session.figures import open_figures  # noqa: PLC0415 - likewise

        plugins, engines = self._plugins_of(policy), self._engines_of_figures(policy)
        without_demands = policy.document.model_copy(update={"expect": [], "profile": None})
        records = [release] if policy.attributes else []  # without any, the release is made of these tables each time
        key = ("figures", repr(without_demands), options.show_values, Identity(*records, *engines.values()))
        figures = self.cache.get(
            key,
            lambda: open_figures(
                policy,
                engines,
                release,
                lambda table, name: self._engine(table, name, (), plugins),
                self.read,
                show_values=options.show_values,
            ),
        )
        figures.progress.report = options.progress
        return replace(figures, view=figures.view.under(policy))

    def _linked(self, policy: Policy, given: Any, companion: str = "") -> Engine:
        """The linked tables of a policy: those that the caller gives by name, and otherwise the files that it names.

        Args:
            policy: the policy that links them.
            given: by name, or the folder that has them.
            companion: what results call them where they are not the release, of which nothing is taken from the policy.
        """
        from tcdp_audit.core.units.linked import LinkedTables  # noqa: PLC0415 - only for several tables

        declared = policy.document.tables or {}
        option = f"--{companion.partition(' ')[0] or 'table'}"
        own = _by_name(policy, given, companion or "release", option)
        self._named_tables |= set(declared)
        if unknown := sorted(set(own) - self._named_tables):  # a question may be about some of the tables
            raise UsageError(
                f"{companion or 'release'}: the policy has no table {visible(repr(unknown[0]))}"
                f"{nearest(unknown[0], declared) or '; it has ' + listing([*declared])}"
            )
        engines = {}
        for name, one in declared.items():
            named = None if one.file is None or companion else policy.resolve(one.file)
            table = own.get(name, named)
            if table is None:
                of, what = (f" of the {companion}", "file") if companion else ("", "`file:`")
                raise UsageError(
                    f"no table {name!r}{of}: name its {what} in the policy, or give it in the call, as "
                    f"`{option} {name}=FILE`"
                )
            codes = [column for column, role in one.attributes.items() if role.role is Role.QUASI_IDENTIFIER]
            form = form_of(policy, one.read_as, one.attributes, f"tables.{name}.read_as")
            engines[name] = self._engine(table, f"{companion} {name}".strip(), codes, self._plugins_of(policy), form)
        key = ("linked", repr(policy.document.tables), policy.document.unit, Identity(*engines.values()))
        return self.cache.get(key, lambda: LinkedTables(engines, policy.document))

    def _plugins_of(self, policy: Policy | None) -> Plugins:
        """The plugins that a policy lets take part."""
        named = None if policy is None else policy.document.plugins
        return self.plugins if named is None else self.plugins.only(named)

    def require_unchanged(self) -> None:
        """Insist that every file is what it was when it was opened.

        Raises:
            DataError: one is another.

        Cost: a pass over the bytes of each file.
        """
        for engine in self._engines.values():
            engine.require_unchanged()

    def _engine(
        self, table: Any, name: str, codes: Sequence[str], plugins: Plugins, form: TextForm = PLAIN_FORM
    ) -> Engine:
        """The engine over a table, opened when it is first asked for; some columns keep codes of missing values."""
        own = str(table) if isinstance(table, str | Path) else Identity(table)
        place = (name, own, (frozenset(plugins.engines), form))
        if place in self._declared:
            key = (*place, self._declared[place].intersection(codes))
            if key in self._engines:
                return self._engines[key]
        for known, other in self._engines.items():
            if known[:3] == place:  # the same file, opened before for other codes
                other.require_unchanged()
        with opening_for(self._reader):
            engine = open_table(table, name, self._memory, plugins, form)
        self._declared[place] = frozenset() if engine.opened_with_codes is None else engine.declared_missing
        engine = self._stack.enter_context(engine.with_codes(codes))
        self._engines[*place, self._declared[place].intersection(codes)] = engine
        return engine

    def _at_levels(self, engine: Engine, policy: Policy, levels: Mapping[str, int]) -> Engine:
        """A table seen through levels of the hierarchies that a policy declares."""
        tables = policy.document.tables
        if tables is not None:  # a question may be about some of them
            levels = {name: level for name, level in levels.items() if name.partition(SEPARATOR)[0] in tables}
        hierarchies = declared_hierarchies(policy, self.cache)
        _require_levels(hierarchies, levels)
        used = {name: hierarchies[name] for name in levels}
        conventions = policy.conventions
        tokens = frozenset([*conventions.missing_tokens, *conventions.suppressed_tokens])
        key = ("levels", tuple(sorted(levels.items())), tokens, Identity(engine, *used.values()))
        return self.cache.get(key, lambda: _leveled(engine, policy, used, levels, tokens))

    def _companion(self, name: str, table: Any, policy: Policy) -> Engine:
        """A further table, under our names and values where the policy declares that it has others."""
        if policy.document.tables is not None:
            return self._linked(policy, table, name)
        if isinstance(table, Mapping):
            raise UsageError(f"{name}: several tables need a policy with `tables:`, which says how they are linked")
        codes, plugins = policy.with_role(Role.QUASI_IDENTIFIER), self._plugins_of(policy)
        entries = {entry: (place, one) for entry, place, one in policy.document.companion_entries()}
        place, declared = entries.get(name, ((), ""))
        if not isinstance(declared, CompanionTable):
            return self._engine(table, name, codes, plugins)
        columns = {declared.columns.get(one, one): attribute for one, attribute in policy.attributes.items()}
        form = form_of(policy, declared.read_as, columns, ".".join(map(str, (*place, "read_as"))))
        engine = self._engine(table, name, [declared.columns.get(one, one) for one in codes], plugins, form)
        translation = translation_of(policy, place, declared)
        return self.cache.get(
            ("translated", repr(translation), Identity(engine)), lambda: _translated(engine, translation)
        )

    def _companions(self, policy: Policy) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The further tables to open: the original always, others where a check asks; and the names of the rest."""
        required = {"original"}.union(*(one.check.requires for one in policy.expectations))
        tables: dict[str, Any] = {
            name: policy.resolve(one)
            if isinstance(one, str)
            else {table: policy.resolve(file) for table, file in one.items()}
            for name, one in policy.document.companions.items()
        }
        for name, table in self.given.items():
            if table is not None and name != "release":
                named = tables.get(name)
                both = isinstance(table, Mapping) and isinstance(named, dict)
                tables[name] = {**named, **table} if both else table  # type: ignore[dict-item]
        asked = {name: table for name, table in tables.items() if name.partition(" ")[0] in required}
        return asked, tuple(name for name in tables if name not in asked)


def _form_of_draft(release: Any) -> TextForm:
    """The form of a release without a policy: with the layout that lies next to a file, if one does."""
    if not isinstance(release, str | Path) or "://" in str(release):
        return PLAIN_FORM
    layout = Path(release).with_suffix(LAYOUT)
    return TextForm(layout=layout) if Path(release) != layout and layout.is_file() else PLAIN_FORM


def _form_of_release(policy: Policy) -> TextForm:
    document = policy.document
    weight = document.weight
    numbers = {name: one for name, one in policy.attributes.items() if one.has_numbers or name == weight}
    return form_of(policy, document.read_as, numbers, "read_as")


def _form_of_figures(policy: Policy, name: str) -> TextForm:
    """The form of a table of figures, in which all columns but those of labels are numbers."""
    one = (policy.document.aggregates or {})[name]
    labels = one.dimensions if one.layout is None else one.layout.rows
    form = form_of(policy, one.read_as, {}, f"tables.{name}.read_as")
    return form if one.read_as is None else replace(form, labels=frozenset(labels))


def translation_of(policy: Policy, place: Location, declared: CompanionTable) -> Translation:
    """The names and codes that a policy declares for a table at some place in it."""
    keys = {one: key for key in ("codes", "columns") for one in getattr(declared, key)}
    whole, *parts = policy.places_of([place, *((*place, key, one) for one, key in keys.items())])
    return Translation(whole, dict(zip(keys, parts, strict=True)), declared.columns, declared.codes_of_values)


def _translated(engine: Engine, translation: Translation) -> Engine:
    from tcdp_audit.core.engines.mapped import TranslatedEngine  # noqa: PLC0415 - few policies declare other names

    return TranslatedEngine(engine, translation)


def has_figures(policy: Policy) -> bool:
    """Whether a release has tables of figures, or the output of fitted models."""
    return bool(policy.document.aggregates or policy.document.models)


def _by_name(policy: Policy, given: Any, what: str, option: str) -> dict[str, Any]:
    """The tables of a call by name: of a mapping, or the files of a folder with the names that the policy has."""
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    figures = policy.document.aggregates or {}
    declared: dict[str, Any] = {**(policy.document.tables or {}), **figures}
    records = [one for one in policy.tables_of_records if one not in declared] if figures else []
    if not (isinstance(given, str | Path) and Path(given).is_dir()):
        raise UsageError(
            f"{what}: the policy has several tables ({', '.join([*records, *declared])}); give each by its name, as "
            f"`{option} NAME=FILE` or in a mapping, or the folder that holds their files"
        )
    files = {name: Path(one.file).name for name, one in declared.items() if one.file is not None}
    if len(records) == 1 and policy.document.release is not None:
        files[records[0]] = Path(policy.document.release).name
    if len(set(files.values())) < len(files):
        raise UsageError(
            f"{given}: files of the policy's tables have the same name, and a folder has one of each; give each table "
            f"by its name, as `{option} NAME=FILE` or in a mapping"
        )
    return {name: Path(given) / file for name, file in files.items()}


def _leveled(
    engine: Engine,
    policy: Policy,
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
    tokens: frozenset[str],
) -> Engine:
    """A table seen through levels of hierarchies; of several linked tables each through those of its columns."""
    from tcdp_audit.core.engines.mapped import LeveledEngine  # noqa: PLC0415 - rarely asked for

    if not isinstance(engine, SeveralTables):
        return LeveledEngine(engine, hierarchies, levels, tokens)
    from tcdp_audit.core.units.linked import LinkedTables  # noqa: PLC0415 - only for several tables

    return LinkedTables(
        {
            name: LeveledEngine(one, _of_table(name, hierarchies), _of_table(name, levels), tokens)
            for name, one in engine.tables.items()
        },
        policy.document,
    )


def _of_table(name: str, by_column: Mapping[str, T]) -> dict[str, T]:
    """The values of one table's columns, by their names there."""
    of = f"{name}{SEPARATOR}"
    return {column.removeprefix(of): one for column, one in by_column.items() if column.startswith(of)}


@contextmanager
def open_inputs(
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy,
    original: Any,
    population: Any,
    plugins: Plugins | None,
    options: Options,
    *,
    keep: bool = False,
) -> Iterator[AuditInputs]:
    """Open a release and what its policy needs; see `api.audit` for the parameters, and `OpenTables` for `keep`."""
    with OpenTables(release, original, population, plugins, options, keep=keep) as tables:
        yield tables.inputs(tables.read(policy))


@redact_errors()
def open_table(table: Any, name: str, memory: int, plugins: Plugins, form: TextForm = PLAIN_FORM) -> Engine:
    """The engine over a table: that of the plugin which opens such a table, or the embedded one."""
    if opener_of(table, plugins.engines.values()) is None:
        require_no_url(table, (info.name for info in plugins.infos if info.error))
    return open_any(table, name, memory, plugins.engines.values(), form)


def form_of(
    policy: Policy, declared: ReadAs | None, attributes: Mapping[str, AttributeDeclaration], place: str
) -> TextForm:
    """The form that a policy declares for a file.

    Args:
        policy: the policy.
        declared: what it says of the file.
        attributes: the columns of the file by their names there.
        place: where the policy says it, for messages.
    """
    if declared is None:
        return PLAIN_FORM
    return TextForm(
        declared.encoding or "",
        declared.decimal or ".",
        declared.thousands or "",
        frozenset(name for name, one in attributes.items() if one.has_numbers),
        layout=None if declared.layout is None else Path(policy.resolve(declared.layout)),
        place=place,
    )


def _require_levels(hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, Any]) -> None:
    for name, level in levels.items():
        if name not in hierarchies:
            raise UsageError(f"levels: the policy declares no hierarchy of {name!r}")
        height = hierarchies[name].height
        if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= height:
            raise UsageError(f"levels: the level of {name!r} must be a whole number from 1 to {height}")


def _require_content_hashes(engines: Iterable[Engine]) -> None:
    """Raise UsageError for a table that has neither a digest nor a content hash, before any work is done."""
    parts = [part for engine in engines for part in (engine, *getattr(engine, "tables", {}).values())]
    for engine in parts:
        if engine.hashes_content is False:
            raise UsageError(
                f"{engine.name}: no content hash can be computed where the table is; leave --digest out, or audit an "
                "export of it, whose file has a digest"
            )


def _require_labels_alike(release: Engine, companions: Mapping[str, Engine]) -> None:
    """Insist that no column is compared by its labels in one table and by its codes in another.

    Raises:
        DataError: one is.
    """
    for name, table in companions.items():
        for column, is_labelled in release.value_labels.items():
            if table.value_labels.get(column, is_labelled) != is_labelled:
                raise DataError(
                    f"column {column!r} is read as its value labels in one of the release and the {name}, and as codes "
                    "in the other, where a value has no label or two have the same; label both alike"
                )
