/** The ClusterRole of a fleet that tenants have in their namespaces; it gathers those that carry the label. */
export const TENANT_ROLE = 'bailiwick-tenant'

/** The label by which platform teams add what tenants may do with the kinds of an operator. */
export const TENANT_ROLE_LABEL = 'bailiwick.dev/aggregate-to-tenant'
