import type { Heard } from './heard.ts'
import { lookAtAll } from './look-at-all.ts'

/** Whatever happened to a rule: which checks it requires, and of which pull requests, is asked of GitHub. */
export const branchProtectionRule: Heard<'branch_protection_rule'> = {
  event: 'branch_protection_rule',
  jobs: (_, place) => lookAtAll(place),
}
