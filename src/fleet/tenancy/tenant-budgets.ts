import { PLATFORM_SCALE, RenderBudget } from '../../flux/render-budget.ts'

/**
 * What the nodes of one cluster may still use up: each tenant's share one budget, so that a thousand of them cost no more
 * than one; each of the platform's has its own.
 */
export class TenantBudgets {
  private readonly known = new Map<string, RenderBudget>()

  of(tenant: string | undefined): RenderBudget {
    if (tenant === undefined) return new RenderBudget(PLATFORM_SCALE)
    const budget = this.known.get(tenant) ?? new RenderBudget()
    this.known.set(tenant, budget)
    return budget
  }
}
