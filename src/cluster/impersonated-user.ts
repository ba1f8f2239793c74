import { BailiwickError } from '../errors.ts'

const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const ACCOUNT = new RegExp(`^system:serviceaccount:${LABEL}:${LABEL}(?:\\.${LABEL})*$`)
const RECONCILER = new RegExp(`^gotk:${LABEL}:reconciler$`)
const LONGEST = 'system:serviceaccount:'.length + 63 + 1 + 253

/**
 * The user for the Impersonate-User header: a service account, or the user that `flux create tenant` binds.
 * Throws `cluster-invalid` for everything else, the empty name above all: without the header the request would run
 * with the worker's own rights (CVE-2026-23990), and a line break would add headers.
 */
export function impersonatedUser(user: string): string {
  if (user.length <= LONGEST && (ACCOUNT.test(user) || RECONCILER.test(user))) return user
  throw new BailiwickError('cluster-invalid', `cannot act as user ${JSON.stringify(user.slice(0, 200))}`, {
    rule: 'worker-impersonate-nonempty',
    fix: 'Name a service account: spec.serviceAccountName of the Kustomization, lower-case letters, digits, "-" and ".".',
  })
}
