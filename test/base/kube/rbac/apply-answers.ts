import { customScopes } from '../../../../src/kube/capabilities/scope.ts'
import { groupOf, idOf } from '../../../../src/kube/object.ts'
import { type ApplyChange, confirmApply } from '../../../../src/kube/rbac/apply-requests.ts'
import type { Authorizer } from '../../../../src/kube/rbac/authorizer.ts'
import { userInfo } from '../../../../src/kube/rbac/policy-rule.ts'
import { customPlurals, resourceOf } from '../../../../src/kube/rbac/resources.ts'
import { DEFINITIONS } from './applied-kinds.ts'
import { plainObject } from './plain-object.ts'
import type { ApplyQuestion } from './random-apply.ts'

/** What the API server answers to reading, listing, applying and deleting: '' where nothing is refused, else code and text. */
export type ApplyAnswers = readonly [get: string, list: string, apply: string, remove: string]

const definitions = DEFINITIONS.map(plainObject)
const custom = { scopes: customScopes(definitions), plurals: customPlurals(definitions) }
const REQUESTS = ['get', 'list', 'apply', 'delete'] as const

/** In which of the four we answer otherwise, each with both texts. */
export function differences(authorizer: Authorizer, question: ApplyQuestion, theirs: ApplyAnswers): string[] {
  const refusals = refusalsOf(authorizer, question, question.before === undefined ? 'add' : 'change')
  const removal = refusalsOf(authorizer, question, 'remove')
  const of = (verb: string, all = refusals) => coded(all.find(refusal => refusal.verb === verb))
  const ours = [of('get'), listing(authorizer, question), '', of('delete', removal)]
  const same = ours.map((text, at) => sameText(text, theirs[at]!))
  const applied = refusals.filter(({ verb }) => verb !== 'get')
  ours[2] = applied.map(coded)[0] ?? ''
  same[2] = sameApply(applied, theirs[2])
  return REQUESTS.flatMap((request, at) =>
    same[at] ? [] : [`${request}\n  ours:   ${ours[at]}\n  server: ${theirs[at]}`],
  )
}

type Refusal = ReturnType<typeof confirmApply>[number]

function refusalsOf(authorizer: Authorizer, { user, object, before }: ApplyQuestion, change: ApplyChange): Refusal[] {
  const standing = before === undefined ? undefined : plainObject(before)
  return confirmApply(authorizer, userInfo(user), plainObject(object), change, custom, standing)
}

function listing(authorizer: Authorizer, { user, object }: ApplyQuestion): string {
  const { apiVersion, kind, namespace } = idOf(plainObject(object))
  const resource = resourceOf(apiVersion, kind, custom.plurals)
  const decision = authorizer.authorize(userInfo(user), {
    verb: 'list',
    apiGroup: groupOf(apiVersion),
    resource,
    namespace,
  })
  return decision.allowed ? '' : `403 ${decision.message}`
}

const CODES = { forbidden: 403, escalation: 403, 'missing-role': 404, immutable: 422, invalid: 422 }

function coded(refusal: Refusal | undefined): string {
  return refusal ? `${CODES[refusal.reason]} ${refusal.message}` : ''
}

/** Where its namespace is missing or its content wrong, the API server answers before it asks whether it may be created. */
function sameApply([first]: readonly Refusal[], theirs: string): boolean {
  if (/^404 namespaces "/.test(theirs)) return first === undefined || first.verb === 'create'
  return sameText(coded(first), theirs)
}

/** Equal, but for the order in which roles are listed that were not found, and for what comes after the rights that we list. */
function sameText(ours: string, theirs: string): boolean {
  const [first, ...rights] = ours.split('\n')
  const listed = rights.flatMap(line => /Verbs:\[(.*)\]/.exec(line)?.[1]?.split(' ') ?? []).length
  if (listed === MOST) return theirs.startsWith(`${first}\n`)
  return sorted(ours) === sorted(theirs)
}

/** So many rights a refusal lists at most (covers.ts). */
const MOST = 1000

const sorted = (text: string) =>
  text.replace(/\[([^[\]]* not found(?:, [^[\]]* not found)*)\]/g, (_, list: string) =>
    list.split(', ').sort().join(', '),
  )
