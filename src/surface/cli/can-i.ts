import { BailiwickError } from '../../base/errors.ts'
import { probably } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { INSTALLED_ACCOUNTS } from '../../flux/installed-rbac.ts'
import { ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { idOf, isNamespaceName, isSubdomain } from '../../kube/object.ts'
import { type AccessRequest, accountOf, userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import type { KnownResource, ResourceTable } from '../../kube/rbac/resources.ts'
import { placeOf, shortUrl } from '../../report/text/place.ts'
import { isKnownUser, knownNamespaces, knownResources } from '../../verdict/audit/access-overview.ts'
import type { BindingSource, GrantView } from '../../verdict/audit/namespace-access.ts'
import { canI as ask, type CanIAnswer, type WhoCan, whoCan } from '../../verdict/audit/who-can.ts'
import type { Command } from './command.ts'
import { assertKnown, type Given } from './given.ts'
import { FLEET, fleetPart, PART, readFleet } from './read-fleet.ts'
import { printLines, table } from './terminal.ts'
import { TEXT_OR_JSON, type UsageLine } from './usage.ts'

const VERB: UsageLine = ['VERB', 'get, list, watch, create, update, patch, delete, bind, escalate, impersonate, ...']
const NAMESPACE: UsageLine = ['[-n NS]', 'the namespace; without it, in the whole cluster']

/** `bailiwick can-i`: whether an identity may do something, and which grants allow it, from what the fleet renders. */
export const canI: Command = {
  name: 'can-i',
  usage: [
    VERB,
    ['RESOURCE[/NAME]', 'plural, singular or short name, alone or as RESOURCE.GROUP; or a path such as /healthz'],
    NAMESPACE,
    ['[--as IDENTITY]', 'system:serviceaccount:NS:NAME, NS/NAME for an account, or any user'],
    ['[--tenant NAME]...', 'each account that the Kustomizations of this tenant act as, instead of --as'],
    ['[--as-group GROUP]...', 'additional group of that user (repeatable)'],
    ['[--subresource NAME]', 'log, scale, status, token, ...'],
    PART[0],
    ...FLEET,
    TEXT_OR_JSON,
  ],
  notes: `Exit code 0: yes, on every selected cluster and for every account; 1: no on at least one; 2: unknown, because a role or a Kustomization could not
be read. A no lists the sources that were not given.`,
  async run(given, io) {
    const as = given.one('as')
    const isOfTenant = given.all('tenant').length > 0
    if (as === undefined && !isOfTenant) throw given.wrong('--as is missing. Allowed: --as IDENTITY, or --tenant NAME')
    if (as !== undefined && isOfTenant) throw given.wrong('--as and --tenant exclude each other')
    const { fleet, here } = await readFleet(given, io.cwd)
    const { tenants, clusters } = fleetPart(fleet, given)
    const index = new FleetIndex(fleet)
    const known: KnownFleet = {
      ...{ fleet, index, clusters },
      namespaces: new Set(clusters.flatMap(cluster => knownNamespaces(fleet, cluster))),
    }
    const { request, notes } = requestOf(knownResources(fleet, clusters), given)
    const groups = given.all('as-group')
    const one = as === undefined ? undefined : userInfo(identityOf(as, known), groups)
    if (one) notes.push(...notesOnUser(one.name, known, given.one('namespace') ?? ''))
    const answers = clusters.flatMap(cluster => {
      const users = one ? [one] : accountsOf(fleet, cluster, tenants).map(name => userInfo(name, groups))
      return users.map(user => ({ user: user.name, ...ask(fleet, index, cluster, user, request) }))
    })
    if (answers.length === 0)
      throw given.wrong(`no Kustomization of ${[...(tenants ?? [])].join(', ')} acts on ${clusters.join(', ')}`)
    for (const note of notes) io.stderr(`note: ${visible(note, 500)}\n`)
    const lines = answers.flatMap(answer => text(answer, here, one === undefined))
    if (given.format === 'json')
      io.stdout(json({ ...(one ? { user: one.name, groups: [...one.groups] } : {}), request }, answers))
    // in a pipe the API server's message stays on one line, because people search for it
    else printLines({ ...io, columns: io.columns ?? Number.POSITIVE_INFINITY }, lines)
    return exitCode(answers)
  },
}

/** Known names, to recognize misspelled ones. */
interface KnownFleet {
  readonly fleet: Fleet
  readonly index: FleetIndex
  readonly clusters: readonly string[]
  readonly namespaces: ReadonlySet<string>
}

const identityOf = (as: string, { index, clusters, namespaces }: KnownFleet): string =>
  identityArgument(as, {
    hasNamespace: name => namespaces.has(name),
    hasUser: name => clusters.some(cluster => isKnownUser(index.authorizer(cluster), name)),
  })

/** The users that the Kustomizations of these tenants are applied as. */
function accountsOf(fleet: Fleet, cluster: string, tenants: ReadonlySet<string> = new Set()): string[] {
  const own = fleet.nodes.filter(node => node.cluster === cluster && tenants.has(node.tenant ?? ''))
  return [...new Set(own.map(({ identity }) => identity.user))].sort()
}

/** RBAC may name accounts and namespaces outside the fleet, so a name that looks misspelled is not an error. */
function notesOnUser(user: string, { fleet, index, clusters, namespaces }: KnownFleet, namespace: string): string[] {
  const accounts = new Set(clusters.flatMap(cluster => accountNames(fleet, index, cluster)))
  const asked = accountOf(user)
  const name = asked && `${asked.namespace}/${asked.name}`
  const isBare = accounts.has(`${namespace}/${user}`)
  return [
    ...(namespace === '' || namespaces.has(namespace) ? [] : [notInFleet('namespace', namespace, namespaces)]),
    ...(name === undefined || accounts.has(name) || asked?.name === 'default'
      ? []
      : [notInFleet('account', name, accounts)]),
    ...(isBare ? [`${user} is taken for a user; the account is ${namespace}/${user}`] : []),
  ]
}

/** Accounts that the fleet renders or names, and those of Flux. */
function accountNames(fleet: Fleet, index: FleetIndex, cluster: string): string[] {
  const rendered = index.renderedAnywhere(cluster, '/ServiceAccount').map(({ object }) => idOf(object))
  const acting = fleet.nodes.flatMap(node => (node.cluster === cluster ? (accountOf(node.identity.user) ?? []) : []))
  const flux = INSTALLED_ACCOUNTS.map(name => `${ROOT_NAMESPACE}/${name}`)
  return [...[...rendered, ...acting].map(({ namespace, name }) => `${namespace}/${name}`), ...flux]
}

function notInFleet(what: string, name: string, known: ReadonlySet<string>): string {
  const meant = probably(name, known)
  return `${what} ${name} is not in the fleet${meant === undefined ? '' : `. Did you mean ${meant}?`}`
}

interface Asked {
  readonly request: AccessRequest
  readonly notes: string[]
}

function requestOf(resources: ResourceTable, given: Given): Asked {
  const [verb = '', target = ''] = given.positionals
  const namespace = given.one('namespace') ?? ''
  const subresource = given.one('subresource')
  if (target.startsWith('/')) {
    if (namespace || subresource !== undefined) throw given.wrong('a path has neither namespace nor subresource')
    return { request: { verb, nonResourceURL: target }, notes: [] }
  }
  const asked = resourceArgument(verb, target, resources)
  const { group, resource, name } = asked
  const notes = notesOn(asked, verb, namespace)
  const where = resourcePlaceOf(asked, verb, namespace)
  return { request: { verb, apiGroup: group, resource, subresource, namespace: where, name }, notes }
}

const VERBS =
  'get list watch create update patch delete deletecollection impersonate bind escalate approve sign use'.split(' ')

function notesOn({ group, resource, name, known }: AskedResource, verb: string, namespace: string): string[] {
  const notes: string[] = []
  if (!known && resource !== '*') notes.push(`${resource}.${group} is not known; it is asked for as it stands`)
  if (known?.scope === 'Cluster' && namespace) notes.push(`${resource} are in no namespace; -n does not count`)
  if (['log', 'exec', 'scale', 'status', 'token', 'attach', 'eviction'].includes(name)) {
    notes.push(`${name} is taken for the name of an object; a subresource is --subresource ${name}`)
  }
  if (verb !== verb.toLowerCase()) notes.push('verbs are written in lower case')
  const meant = VERBS.includes(verb) ? undefined : probably(verb, VERBS)
  if (meant !== undefined) notes.push(`${verb} is not a verb of Kubernetes. Did you mean ${meant}?`)
  return notes
}

function exitCode(answers: readonly CanIAnswer[]): number {
  if (answers.some(({ answer }) => answer === 'no')) return 1
  return answers.some(({ answer }) => answer === 'unknown') ? 2 : 0
}

function json(asked: object, answers: readonly CanIAnswer[]): string {
  const answer = ['yes', 'no', 'unknown'][exitCode(answers)]
  const clusters = answers.map(({ allowedBy, ...rest }) => ({
    ...rest,
    ...(allowedBy ? { allowedBy: { ...grantJson(allowedBy), rule: allowedBy.rule } } : {}),
  }))
  return `${JSON.stringify({ answer, ...asked, clusters }, null, 2)}\n`
}

function text(
  { user, cluster, answer, allowedBy, message, reasons, notSeen }: CanIAnswer & { readonly user: string },
  here: string,
  isUserNamed: boolean,
): string[] {
  const why = allowedBy ? grantText(allowedBy, here) : visible(message ?? '', 1000)
  const as = isUserNamed ? ` as ${visible(user)}` : ''
  return [
    `${answer}, on ${visible(cluster)}${as}: ${why}`,
    ...(allowedBy ? [`  by the rule ${visible(allowedBy.rule, 1000)}`] : []),
    ...reasons.map(reason => `  not known: ${visible(reason, 500)}`),
    ...notSeen.map(reason => `  This answer may be incomplete: ${visible(reason, 500)}`),
  ]
}

/** `bailiwick who-can`: who may do something, by which binding, and which repositories are applied as them. */
export const whoCanCommand: Command = {
  name: 'who-can',
  usage: [
    VERB,
    ['RESOURCE[/NAME]', 'plural, singular or short name, alone or as RESOURCE.GROUP'],
    NAMESPACE,
    PART[0],
    ...FLEET,
    TEXT_OR_JSON,
  ],
  notes: 'Exit code 0: done; 2: a role or a Kustomization could not be read, so the list may be incomplete.',
  async run(given, io) {
    const [verb = '', resource = ''] = given.positionals
    const { fleet } = await readFleet(given, io.cwd)
    const { clusters, leftOut } = fleetPart(fleet, given)
    const asked = resourceArgument(verb, resource, knownResources(fleet, clusters))
    const namespace = resourcePlaceOf(asked, verb, given.one('namespace') ?? '')
    const known = clusters.flatMap(cluster => knownNamespaces(fleet, cluster))
    if (namespace !== '') assertKnown('namespace', [namespace], new Set(known))
    const request = { verb, apiGroup: asked.group, resource: asked.resource, namespace, name: asked.name }
    const index = new FleetIndex(fleet)
    const found = clusters.map(cluster => whoCan(fleet, index, cluster, request))
    const title = visible(
      `${verb} ${resource}${namespace === '' || asked.known?.scope === 'Cluster' ? '' : ` in ${namespace}`}`,
      300,
    )
    const lines = [...found.flatMap(one => textOf(title, one, io.columns)), ...leftOut]
    if (given.format === 'json')
      io.stdout(`${JSON.stringify({ request, clusters: found }, null, 2)}
`)
    else printLines(io, lines)
    return found.some(({ unknown }) => unknown.length > 0) ? 2 : 0
  },
}

function textOf(
  title: string,
  { cluster, allowed, appliedAs, unknown, notVisible, assumed }: WhoCan,
  width = 100,
): string[] {
  const subjects = allowed.map(({ subject, by }) => [visible(subject), visible(by, 500)])
  const applied = appliedAs.map(({ kustomization, repository, account }) => {
    const { namespace, name } = accountOf(account) ?? {}
    const who = namespace === undefined ? account : `${namespace}/${name}`
    return [visible(kustomization), visible(shortUrl(repository) || 'the fleet'), visible(who)]
  })
  const open = [
    ...unknown.map(one => `not known: ${one}`),
    ...notVisible.map(one => `This answer may be incomplete: ${one}`),
    ...assumed,
  ]
  return [
    `${title} on ${visible(cluster)}`,
    '',
    ...(subjects.length > 0 ? table(['SUBJECT', 'BY'], subjects, width) : ['No binding of the fleet allows it.']),
    '',
    ...(applied.length > 0
      ? [...table(['KUSTOMIZATION', 'REPOSITORY', 'APPLIED AS'], applied, width), '']
      : ['No Kustomization is applied as one of them.', '']),
    ...open.map(one => visible(one, 500)),
    ...(open.length > 0 ? [''] : []),
  ]
}

/** A parsed RESOURCE[/NAME]. */
interface AskedResource {
  readonly group: string
  readonly resource: string
  /** '' if none is given. */
  readonly name: string
  /** undefined: used as written. */
  readonly known: KnownResource | undefined
}

/** What a user without a namespace can be impersonated as; same-named kinds of other projects are not meant. */
const IMPERSONATED = new Map([
  ['users', 'User'],
  ['user', 'User'],
  ['groups', 'Group'],
  ['group', 'Group'],
])

/**
 * Reads `RESOURCE[.GROUP][/NAME]` as kubectl does: plural, singular, kind or short name. An unknown resource is used as
 * written if it has a group, because RBAC compares texts. Throws `usage` for an ambiguous or unknown word.
 */
export function resourceArgument(verb: string, text: string, table: ResourceTable): AskedResource {
  const slash = text.indexOf('/')
  const [word, name] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)]
  if (slash >= 0 && (name === '' || name.includes('/'))) {
    throw resourceUsage(`${JSON.stringify(text)} is not RESOURCE[/NAME]`, 'A subresource is --subresource NAME.')
  }
  if (word === '*') return { group: '*', resource: '*', name, known: undefined }
  const kind = verb === 'impersonate' ? IMPERSONATED.get(word.toLowerCase()) : undefined
  const one = kind && ({ group: '', kind, resource: `${kind.toLowerCase()}s`, scope: 'Cluster' } as const)
  const found = one ? [one] : table.find(word)
  const [known, other] = found
  if (known && !other) return { group: known.group, resource: known.resource, name, known }
  if (known) {
    const all = found.map(({ resource, group }) => `${resource}.${group}`).join(', ')
    throw resourceUsage(`${JSON.stringify(word)} is ambiguous. Kinds with this name: ${all}`, 'Write RESOURCE.GROUP.')
  }
  const dot = word.indexOf('.')
  if (dot > 0) return { group: word.slice(dot + 1), resource: word.slice(0, dot), name, known: undefined }
  throw resourceUsage(
    `neither Kubernetes nor the fleet has a resource ${JSON.stringify(word)}`,
    'Write its plural, or RESOURCE.GROUP to have it taken as it stands.',
  )
}

/** A Namespace is checked inside itself, but created in the cluster; other cluster-wide resources have no namespace. */
export function resourcePlaceOf(
  { group, resource, name, known }: AskedResource,
  verb: string,
  namespace: string,
): string {
  if (group === '' && resource === 'namespaces') return verb === 'create' ? '' : name
  return known?.scope === 'Cluster' ? '' : namespace
}

function resourceUsage(message: string, fix: string): BailiwickError {
  return new BailiwickError('usage', message, { fix })
}

/** Names in the fleet, to tell an account from a user. */
interface KnownNames {
  /** Whether the fleet renders this namespace, or anything in it. */
  hasNamespace(namespace: string): boolean
  /** Whether a binding names this user. */
  hasUser(name: string): boolean
}

/**
 * The user that `--as` means: `system:serviceaccount:ns:name`, `ns/name`, or any user. `ns:name` is an account if the
 * fleet has that namespace, else a user. Throws `usage` if it may be both, or is not a valid account name.
 */
function identityArgument(text: string, known: KnownNames): string {
  if (text.startsWith('system:serviceaccount:')) {
    if (accountOf(text)) return text
    throw identityUsage(`${JSON.stringify(text)} is not an account`, 'Write system:serviceaccount:NAMESPACE:NAME.')
  }
  const slash = text.split('/')
  if (slash.length === 2) {
    const [namespace = '', name = ''] = slash
    if (isNamespaceName(namespace) && isSubdomain(name)) return userOfAccount(namespace, name)
  }
  const [namespace = '', name = '', ...more] = text.split(':')
  const account = more.length === 0 && isNamespaceName(namespace) && isSubdomain(name) && known.hasNamespace(namespace)
  if (!account) return text
  if (!known.hasUser(text)) return userOfAccount(namespace, name)
  throw identityUsage(
    `${JSON.stringify(text)} is a user whom a binding names, and could be an account`,
    `Write ${namespace}/${name} for the account.`,
  )
}

function identityUsage(message: string, fix: string): BailiwickError {
  return new BailiwickError('usage', message, { fix })
}

/** `RoleBinding apps/x gives ClusterRole admin to User alice (tenants/rbac.yaml:3)`; files in `here` get no address. */
export function grantText({ subject, binding, role, clusterWide, from }: GrantView, here: string): string {
  const everywhere = clusterWide ? ' in every namespace' : ''
  return visible(`${binding} gives ${role}${everywhere} to ${subject} (${sourceText(from, here)})`, 1000)
}

/** `ClusterRole admin in every namespace (tenants/rbac.yaml:3)`, if the subject is already known. */
export function rightsText({ role, clusterWide, from }: GrantView, here: string): string {
  return visible(`${role}${clusterWide ? ' in every namespace' : ''} (${sourceText(from, here)})`, 1000)
}

function sourceText(from: BindingSource, here: string): string {
  if (from.by === 'fleet') return placeOf(from.origin, here) || from.kustomization
  if (from.by === 'flux') return "of Flux's own manifests, which are not in the fleet"
  return from.by === 'capsule' ? 'made by Capsule' : 'made by Kubernetes itself'
}

/** A grant as plain JSON. */
export function grantJson({ covered: _, from, ...grant }: GrantView) {
  if (from.by !== 'fleet') return { ...grant, from }
  const { repository, file, line, column } = from.origin
  const origin = { repository, file, line, column }
  return { ...grant, from: { by: from.by, kustomization: from.kustomization, origin } }
}
