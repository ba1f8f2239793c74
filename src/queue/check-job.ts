import { BailiwickError } from '../errors.ts'
import type { JobName, Jobs } from './queue.ts'

type Fits = (value: unknown) => boolean

const id: Fits = value => typeof value === 'number' && Number.isSafeInteger(value) && value > 0
const text =
  (pattern: RegExp): Fits =>
  value =>
    typeof value === 'string' && pattern.test(value)
const accountName = text(/^[A-Za-z\d][\w-]{0,99}$/)
const repositoryName = text(/^(?!\.{1,2}$)[\w.-]{1,100}$/)
// Git forbids control characters in branch names: https://git-scm.com/docs/git-check-ref-format
const branch = text(/^[^\p{Cc} ]{1,1000}$/u)
const sha = text(/^[\da-f]{40}(?:[\da-f]{24})?$/)
const optional =
  (fits: Fits): Fits =>
  value =>
    value === undefined || fits(value)
const pressed: Fits = value => value === true
const cluster = text(/^[A-Za-z\d][\w.-]{0,252}$/)
const place = { installation: id, owner: accountName, repo: repositoryName }

const FIELDS: { readonly [N in JobName]: Readonly<Record<keyof Required<Jobs[N]>, Fits>> } = {
  'validate-pull-request': { ...place, pull: id, rerun: optional(pressed) },
  'post-on-pull-request': { ...place, pull: id },
  'validate-push': { ...place, branch, sha, before: optional(sha), rerun: optional(pressed) },
  'withdraw-access': { ...place, pull: id },
  'settle-offboarding': { ...place, pull: id },
  'evaluate-commit': { ...place, sha, rerun: optional(pressed), closed: optional(id) },
  'evaluate-followers': { ...place, ref: branch },
  'validate-merge-group': { ...place, branch, sha, base: sha },
  'settle-checks': place,
  command: { ...place, issue: id, comment: id },
  'check-action': { ...place, check: id, action: text(/^(?:fix|waive)$/), login: accountName },
  'tenant-request': { ...place, issue: id },
  survey: { installation: id },
  'sweep-installation': { installation: id },
  redeliver: {},
  'report-dead-pull-request': { ...place, pull: id, why: text(/^[a-z-]{1,40}$/), at: id },
  'report-dead-commit': { ...place, sha, base: optional(branch), why: text(/^[a-z-]{1,40}$/), at: id },
  'write-trail': place,
  reconcile: { cluster },
  'post-applied': { ...place, sha },
  'publish-results': { cluster },
  sweep: {},
}

/**
 * Validates a job's fields and drops all others. Used when a job is stored and when it is taken, because anyone who can
 * write to Redis can change it. Throws `internal`.
 */
export function checkJob<N extends JobName>(name: N, data: unknown): Jobs[N] {
  const given = new Map(Object.entries(typeof data === 'object' && data !== null ? data : {}))
  const fields = Object.entries<Fits>(FIELDS[name])
  for (const [field, fits] of fields) {
    if (!fits(given.get(field))) throw new BailiwickError('internal', `${name} job: ${field} is missing or not valid`)
  }
  const there = fields.filter(([field]) => given.get(field) !== undefined)
  return Object.fromEntries(there.map(([field]) => [field, given.get(field)])) as unknown as Jobs[N]
}
