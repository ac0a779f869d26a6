with paid as (
    select order_id, sum(amount) as amount from {{ ref('stg_payments') }} group by order_id
),
spent as (
    select
        placed.customer_id,
        min(placed.order_date) as first_order,
        max(placed.order_date) as most_recent_order,
        count(*) as number_of_orders,
        sum(paid.amount) as customer_lifetime_value
    from {{ ref('stg_orders') }} as placed
    left join paid on paid.order_id = placed.order_id
    group by placed.customer_id
)
select
    people.customer_id,
    people.first_name,
    people.last_name,
    spent.first_order,
    spent.most_recent_order,
    spent.number_of_orders,
    spent.customer_lifetime_value
from {{ ref('stg_customers') }} as people
left join spent on spent.customer_id = people.customer_id
