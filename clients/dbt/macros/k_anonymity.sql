{#-
  k-anonymity: every record shares its quasi-identifiers with at least k - 1 others.
  A row for each equivalence class of fewer than k records, with its size and without its values.
-#}
{% test k_anonymity(model, quasi_identifiers, k) %}
{{ config(fail_calc = tcdp_audit_fail_calc()) }}
with classes as (
    select count(*) as records
    from {{ model }}
    group by {{ tcdp_audit_columns(model, quasi_identifiers) | join(', ') }}
)
select records from classes where records < {{ k | int }}
{{ tcdp_audit_no_records(model, 1) }}
{% endtest %}
