select placed.order_id, placed.customer_id, placed.order_date, placed.status, sum(paid.amount) as amount
from {{ ref('stg_orders') }} as placed
left join {{ ref('stg_payments') }} as paid on paid.order_id = placed.order_id
group by placed.order_id, placed.customer_id, placed.order_date, placed.status
