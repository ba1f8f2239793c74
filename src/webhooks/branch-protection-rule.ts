import type { Heard } from './heard.ts'
import { lookAtGate } from './look-at-all.ts'

/** Whatever happened to a rule: whether our check is still required there is asked of GitHub. */
export const branchProtectionRule: Heard<'branch_protection_rule'> = {
  event: 'branch_protection_rule',
  jobs: (_, place) => lookAtGate(place),
}
