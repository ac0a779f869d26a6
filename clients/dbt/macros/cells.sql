{#-
  The columns of a model as tcdp-audit reads their cells: an empty text and NaN are missing, as a null is, and texts are
  compared as they are written, whatever the collation. All missing values are one value of their own.
-#}
{% macro tcdp_audit_columns(model, names) %}
    {%- set written = [] -%}
    {%- if names is string or names | length == 0 -%}
        {{ exceptions.raise_compiler_error("tcdp_audit: quasi_identifiers takes a list of columns, at least one") }}
    {%- endif -%}
    {%- if not execute -%}
        {{ return(names) }}
    {%- endif -%}
    {%- set known = {} -%}
    {%- for column in adapter.get_columns_in_relation(model) -%}
        {%- do known.update({column.name | lower: column}) -%}
    {%- endfor -%}
    {%- for name in names -%}
        {%- if name | lower not in known -%}
            {{ exceptions.raise_compiler_error("tcdp_audit: " ~ model ~ " has no column " ~ name) }}
        {%- endif -%}
        {%- set column = known[name | lower] -%}
        {%- set quoted = adapter.quote(column.name) -%}
        {%- if column.is_string() -%}
            {%- do written.append("nullif(" ~ tcdp_audit_text(quoted) ~ ", '')") -%}
        {%- elif column.is_float() -%}
            {%- do written.append("nullif(" ~ quoted ~ ", cast('NaN' as " ~ dbt.type_float() ~ "))") -%}
        {%- else -%}
            {%- do written.append(quoted) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(written) }}
{% endmacro %}

{% macro tcdp_audit_text(column) %}
    {{- return(column ~ ' collate "C"' if target.type == 'postgres' else column) -}}
{% endmacro %}

{#- Of failing classes dbt shows the number of records; a table without records fails. -#}
{% macro tcdp_audit_fail_calc() %}
    {{- return("case when count(*) = 0 then 0 else coalesce(sum(records), 1) end") -}}
{% endmacro %}

{% macro tcdp_audit_no_records(model, columns) -%}
union all
select {{ (['null'] * columns) | join(', ') }} where not exists (select 1 from {{ model }})
{%- endmacro %}
