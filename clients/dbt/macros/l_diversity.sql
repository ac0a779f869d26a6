{#-
  Distinct l-diversity: every equivalence class has at least l distinct values of a sensitive column; missing values
  do not count. A row for each class with fewer, with its size and their number, without the values.
-#}
{% test l_diversity(model, column_name, quasi_identifiers, l) %}
{{ config(fail_calc = tcdp_audit_fail_calc()) }}
with classes as (
    select count(*) as records, count(distinct {{ tcdp_audit_columns(model, [column_name])[0] }}) as distinct_values
    from {{ model }}
    group by {{ tcdp_audit_columns(model, quasi_identifiers) | join(', ') }}
)
select records, distinct_values from classes where distinct_values < {{ l | int }}
{{ tcdp_audit_no_records(model, 2) }}
{% endtest %}
