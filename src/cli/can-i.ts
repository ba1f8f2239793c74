import { canI as ask, type CanIAnswer } from '../access/can-i.ts'
import { isKnownUser, knownNamespaces, knownResources } from '../access/known-names.ts'
import { FleetIndex } from '../facts/fleet-index.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { INSTALLED_ACCOUNTS } from '../flux/installed-rbac.ts'
import { ROOT_NAMESPACE } from '../flux/kinds.ts'
import { idOf } from '../kube/object.ts'
import { accountOf, userInfo } from '../kube/rbac/groups-of.ts'
import type { AccessRequest } from '../kube/rbac/request.ts'
import type { ResourceTable } from '../kube/rbac/resource-table.ts'
import { probably } from '../message/closest.ts'
import { visible } from '../message/visible.ts'
import type { Command } from './command.ts'
import { fleetPart, PART_OPTIONS } from './fleet-part.ts'
import { grantJson, grantText } from './grant-text.ts'
import { identityArgument } from './identity-argument.ts'
import { type ParsedOptions, parseOptions } from './parse-options.ts'
import { printLines } from './print-lines.ts'
import { FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { type AskedResource, placeOf, resourceArgument } from './resource-argument.ts'
import { usageError } from './usage-error.ts'

const USAGE =
  'can-i VERB RESOURCE[/NAME] [-n NS] --as IDENTITY|--tenant NAME [--as-group GROUP]... [--subresource NAME] [--cluster NAME]... [FLEET] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json]'
const OPTIONS = ['namespace', 'as', 'as-group', 'subresource', ...PART_OPTIONS, ...FLEET_OPTIONS, 'output']

/** `bailiwick can-i`: whether an identity may do something, and through what, from what the fleet renders. */
export const canI: Command = {
  name: 'can-i',
  usage: `${USAGE}

  VERB           get, list, watch, create, update, patch, delete, bind, escalate, impersonate, ...
  RESOURCE       plural, singular or short name, alone or as RESOURCE.GROUP; or a path such as /healthz
  -n NS          the namespace; without it, in the whole cluster
  --as IDENTITY  system:serviceaccount:NS:NAME, NS/NAME for an account, or any user
  --tenant NAME  each account that the Kustomizations of this tenant act as, instead of --as
  --as-group G   additional group of that user (repeatable)
  --subresource  log, scale, status, token, ...
  --cluster NAME only this cluster (default: all; repeatable)
${FLEET_HELP}
  -o text|json   text for people

Exit code 0: yes, on every selected cluster and for every account; 1: no on at least one; 2: unknown, because a role or a Kustomization could not
be read. A no lists the sources that were not given.`,
  async run(args, io) {
    const options = parseOptions(args, OPTIONS, USAGE)
    const { verb, target, fleetDir, as, output } = question(options)
    const { fleet, here } = await readFleet(options, fleetDir, io.cwd)
    const { tenants, clusters } = fleetPart(fleet, options, USAGE)
    const index = new FleetIndex(fleet)
    const known: KnownFleet = {
      ...{ fleet, index, clusters },
      namespaces: new Set(clusters.flatMap(cluster => knownNamespaces(fleet, cluster))),
    }
    const { request, notes } = requestOf(knownResources(fleet, clusters), verb, target, options)
    const groups = options.all('as-group')
    const one = as === undefined ? undefined : userInfo(identityOf(as, known), groups)
    if (one) notes.push(...notesOnUser(one.name, known, options.one('namespace') ?? ''))
    const answers = clusters.flatMap(cluster => {
      const users = one ? [one] : accountsOf(fleet, cluster, tenants).map(name => userInfo(name, groups))
      return users.map(user => ({ user: user.name, ...ask(fleet, index, cluster, user, request) }))
    })
    if (answers.length === 0)
      throw usage(`no Kustomization of ${[...(tenants ?? [])].join(', ')} acts on ${clusters.join(', ')}`)
    for (const note of notes) io.stderr(`note: ${visible(note, 500)}\n`)
    const lines = answers.flatMap(answer => text(answer, here, one === undefined))
    if (output === 'json')
      io.stdout(json({ ...(one ? { user: one.name, groups: [...one.groups] } : {}), request }, answers))
    // in a pipe the API server's own words stay on one line, because people search for them
    else printLines({ ...io, columns: io.columns ?? Number.POSITIVE_INFINITY }, lines)
    return exitCode(answers)
  },
}

/** What is known of names, to recognize misspelled ones. */
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

/** RBAC may name accounts and namespaces that the fleet does not have, so a name that looks misspelled is not an error. */
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

function question(options: ParsedOptions) {
  const [verb, target, fleetDir = '.', more] = options.positionals
  const as = options.one('as')
  const output = options.format(['text', 'json'])
  if (verb === undefined || target === undefined || verb === '' || target === '')
    throw usage('VERB or RESOURCE is missing')
  if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra argument`)
  const isOfTenant = options.all('tenant').length > 0
  if (as === undefined && !isOfTenant) throw usage('--as is missing. Allowed: --as IDENTITY, or --tenant NAME')
  if (as !== undefined && isOfTenant) throw usage('--as and --tenant exclude each other')
  return { verb, target, fleetDir, as, output }
}

interface Asked {
  readonly request: AccessRequest
  readonly notes: string[]
}

function requestOf(resources: ResourceTable, verb: string, target: string, options: ParsedOptions): Asked {
  const namespace = options.one('namespace') ?? ''
  const subresource = options.one('subresource')
  if (target.startsWith('/')) {
    if (namespace || subresource !== undefined) throw usage('a path has neither namespace nor subresource')
    return { request: { verb, nonResourceURL: target }, notes: [] }
  }
  const asked = resourceArgument(verb, target, resources)
  const { group, resource, name } = asked
  const notes = notesOn(asked, verb, namespace)
  const where = placeOf(asked, verb, namespace)
  return { request: { verb, apiGroup: group, resource, subresource, namespace: where, name }, notes }
}

function notesOn({ group, resource, name, known }: AskedResource, verb: string, namespace: string): string[] {
  const notes: string[] = []
  if (!known && resource !== '*') notes.push(`${resource}.${group} is not known; it is asked for as it stands`)
  if (known?.scope === 'Cluster' && namespace) notes.push(`${resource} are in no namespace; -n does not count`)
  if (['log', 'exec', 'scale', 'status', 'token', 'attach', 'eviction'].includes(name)) {
    notes.push(`${name} is taken for the name of an object; a subresource is --subresource ${name}`)
  }
  if (verb !== verb.toLowerCase()) notes.push('verbs are written in lower case')
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
    ...notSeen.map(reason => `  not visible: ${visible(reason, 500)}`),
  ]
}

const usage = (message: string) => usageError(USAGE, message)
