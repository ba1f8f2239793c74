import { canI as ask, type CanIAnswer } from '../access/can-i.ts'
import { isKnownUser, knownNamespaces, knownResources } from '../access/known-names.ts'
import { BailiwickError } from '../errors.ts'
import { FleetIndex } from '../facts/fleet-index.ts'
import { userInfo } from '../kube/rbac/groups-of.ts'
import type { AccessRequest } from '../kube/rbac/request.ts'
import type { ResourceTable } from '../kube/rbac/resource-table.ts'
import { visible } from '../message/visible.ts'
import type { Command } from './command.ts'
import { grantJson, grantText } from './grant-text.ts'
import { identityArgument } from './identity-argument.ts'
import { type ParsedOptions, parseOptions } from './parse-options.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { type AskedResource, resourceArgument } from './resource-argument.ts'

const USAGE =
  'can-i VERB RESOURCE[/NAME] [-n NS] --as IDENTITY [--as-group GROUP]... [--subresource NAME] [--cluster NAME] [FLEET] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json]'
const OPTIONS = ['namespace', 'as', 'as-group', 'subresource', 'cluster', ...FLEET_OPTIONS, 'output']

/** `bailiwick can-i`: whether an identity may do something, and through what, from what the fleet renders. */
export const canI: Command = {
  name: 'can-i',
  usage: `${USAGE}

  VERB           get, list, watch, create, update, patch, delete, bind, escalate, impersonate, ...
  RESOURCE       plural, singular or short name, alone or as RESOURCE.GROUP; or a path such as /healthz
  -n NS          the namespace; without it, in the whole cluster
  --as IDENTITY  system:serviceaccount:NS:NAME, NS/NAME for an account, or any user
  --as-group G   additional group of that user (repeatable)
  --subresource  log, scale, status, token, ...
  --cluster NAME only this cluster (default: all)
${FLEET_HELP}
  -o text|json   text for people

Exit code 0: yes, on every selected cluster; 1: no on at least one; 2: unknown, because a role or a Kustomization could not
be read. A no lists the sources that were not given.`,
  async run(args, io) {
    const options = parseOptions(args, OPTIONS, USAGE)
    const { verb, target, fleetDir, as, output } = question(options)
    const { fleet, here } = await readFleet(options, fleetDir, io.cwd)
    const clusters = clustersOf(fleet, options.one('cluster'), USAGE)
    const index = new FleetIndex(fleet)
    const identity = identityArgument(as, {
      hasNamespace: name => clusters.some(cluster => knownNamespaces(fleet, cluster).includes(name)),
      hasUser: name => clusters.some(cluster => isKnownUser(index.authorizer(cluster), name)),
    })
    const user = userInfo(identity, options.all('as-group'))
    const { request, notes } = requestOf(knownResources(fleet, clusters), verb, target, options)
    const answers = clusters.map(cluster => ask(fleet, index, cluster, user, request))
    const bare = options.one('namespace') ?? ''
    if (clusters.some(cluster => index.platformObject(cluster, '/ServiceAccount', bare, identity))) {
      notes.push(`${identity} is taken for a user; the account is ${bare}/${identity}`)
    }
    for (const note of notes) io.stderr(`note: ${visible(note, 500)}\n`)
    const asked = { user: user.name, groups: [...user.groups], request }
    io.stdout(output === 'json' ? json(asked, answers) : answers.map(answer => text(answer, here)).join(''))
    return exitCode(answers)
  },
}

function question(options: ParsedOptions) {
  const [verb, target, fleetDir = '.', more] = options.positionals
  const as = options.one('as')
  const output = options.one('output') ?? 'text'
  if (verb === undefined || target === undefined || verb === '' || target === '')
    throw usage('VERB or RESOURCE is missing')
  if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra argument`)
  if (as === undefined) throw usage('--as is missing')
  if (output !== 'text' && output !== 'json')
    throw usage(`-o ${JSON.stringify(output)} is not a format. Allowed: text, json`)
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
  const asked = resourceArgument(target, resources)
  const { group, resource, name } = asked
  const notes = notesOn(asked, verb, namespace)
  const where = placeOf(asked, verb, namespace)
  return { request: { verb, apiGroup: group, resource, subresource, namespace: where, name }, notes }
}

/** A Namespace is asked for inside itself, but made in the cluster; another resource of the cluster has no namespace. */
function placeOf({ group, resource, name, known }: AskedResource, verb: string, namespace: string): string {
  if (group === '' && resource === 'namespaces') return verb === 'create' ? '' : name
  return known?.scope === 'Cluster' ? '' : namespace
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

function text({ cluster, answer, allowedBy, message, reasons, notSeen }: CanIAnswer, here: string): string {
  const why = allowedBy ? grantText(allowedBy, here) : visible(message ?? '', 1000)
  const lines = [
    `${answer}, on ${visible(cluster)}: ${why}`,
    ...(allowedBy ? [`  by the rule ${visible(allowedBy.rule, 1000)}`] : []),
    ...reasons.map(reason => `  not known: ${visible(reason, 500)}`),
    ...notSeen.map(reason => `  not visible: ${visible(reason, 500)}`),
  ]
  return `${lines.join('\n')}\n`
}

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${USAGE}` })
}
