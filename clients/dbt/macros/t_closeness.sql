{#-
  t-closeness with the equal distance: in every equivalence class the distribution of a sensitive column differs from
  that of the whole table by at most t, by half the sum of the absolute differences of the shares. Missing values are
  in no distribution; a class without any value fails whatever t is. Shares are compared as whole numbers: with n of N
  records in the class, and c of C records of a value, |c N - C n| is summed and compared with 2 t n N.
  A row for each class that is further away, with its size, without the values.
-#}
{% test t_closeness(model, column_name, quasi_identifiers, t) %}
{{ config(fail_calc = tcdp_audit_fail_calc()) }}
{%- set columns = tcdp_audit_columns(model, quasi_identifiers) -%}
{%- set whole, _, decimals = (t | string).partition('.') -%}
{%- set denominator = 10 ** (decimals | length) -%}
{%- set numerator = (whole ~ decimals) | int -%}
{%- set names = [] -%}
{%- for column in columns -%}
    {%- do names.append('q' ~ loop.index) -%}
{%- endfor -%}
{%- set same = [] -%}
{%- for name in names -%}
    {%- do same.append('counts.' ~ name ~ ' is not distinct from sizes.' ~ name) -%}
{%- endfor %}
with cells as (
    select
        {% for column in columns %}{{ column }} as {{ names[loop.index0] }},
        {% endfor %}{{ tcdp_audit_columns(model, [column_name])[0] }} as secret
    from {{ model }}
),
sizes as (
    select {{ names | join(', ') }}, count(*) as records, cast(count(secret) as decimal(38, 0)) as n
    from cells group by {{ names | join(', ') }}
),
marginal as (
    select secret, cast(count(*) as decimal(38, 0)) as all_of_value from cells where secret is not null group by secret
),
total as (
    select cast(count(secret) as decimal(38, 0)) as all_of_any from cells
),
counts as (
    select {{ names | join(', ') }}, secret, cast(count(*) as decimal(38, 0)) as c
    from cells where secret is not null group by {{ names | join(', ') }}, secret
),
-- values that a class lacks differ by their whole share: what all values make together less that of those present
differences as (
    select
        {% for name in names %}sizes.{{ name }}, {% endfor %}sizes.records, sizes.n, total.all_of_any,
        coalesce(sum(abs(counts.c * total.all_of_any - marginal.all_of_value * sizes.n)), 0)
        + (total.all_of_any - coalesce(sum(marginal.all_of_value), 0)) * sizes.n as difference
    from sizes
    cross join total
    left join counts on {{ same | join(' and ') }}
    left join marginal on marginal.secret = counts.secret
    group by {% for name in names %}sizes.{{ name }}, {% endfor %}sizes.records, sizes.n, total.all_of_any
)
select records from differences
where n = 0 or difference * {{ denominator }} > 2 * {{ numerator }} * n * all_of_any
{{ tcdp_audit_no_records(model, 1) }}
{% endtest %}
