import { knownNamespaces, knownResources } from '../access/known-names.ts'
import { type WhoCan, whoCan } from '../access/who-can.ts'
import { FleetIndex } from '../facts/fleet-index.ts'
import { accountOf } from '../kube/rbac/groups-of.ts'
import { visible } from '../message/visible.ts'
import { shortUrl } from '../report/text/place.ts'
import { assertKnown } from './assert-known.ts'
import type { Command } from './command.ts'
import { fleetPart } from './fleet-part.ts'
import { parseOptions } from './parse-options.ts'
import { printLines } from './print-lines.ts'
import { FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { placeOf, resourceArgument } from './resource-argument.ts'
import { table } from './table.ts'
import { usageError } from './usage-error.ts'

const USAGE =
  'who-can VERB RESOURCE[/NAME] [-n NS] [--cluster NAME]... [FLEET] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json]'

/** `bailiwick who-can`: who may do something, by which binding, and which repositories are applied as them. */
export const whoCanCommand: Command = {
  name: 'who-can',
  usage: `${USAGE}

  VERB           get, list, watch, create, update, patch, delete, bind, escalate, impersonate, ...
  RESOURCE       plural, singular or short name, alone or as RESOURCE.GROUP
  -n NS          the namespace; without it, in the whole cluster
  --cluster NAME only this cluster (default: all; repeatable)
${FLEET_HELP}
  -o text|json   text for people

Exit code 0: done; 2: a role or a Kustomization could not be read, so the list may be incomplete.`,
  async run(args, io) {
    const options = parseOptions(args, ['namespace', 'cluster', ...FLEET_OPTIONS, 'output'], USAGE)
    const [verb, resource, fleetDir = '.', more] = options.positionals
    const output = options.format(['text', 'json'])
    if (!verb || !resource) throw usageError(USAGE, 'VERB or RESOURCE is missing')
    if (more !== undefined) throw usageError(USAGE, `${JSON.stringify(more)} is an extra argument`)
    const { fleet } = await readFleet(options, fleetDir, io.cwd)
    const { clusters, leftOut } = fleetPart(fleet, options, USAGE)
    const asked = resourceArgument(verb, resource, knownResources(fleet, clusters))
    const namespace = placeOf(asked, verb, options.one('namespace') ?? '')
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
    if (output === 'json')
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
  const open = [...unknown.map(one => `not known: ${one}`), ...notVisible.map(one => `not visible: ${one}`), ...assumed]
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
