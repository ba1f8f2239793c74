import { knownNamespaces, knownResources } from '../access/known-names.ts'
import { type Changer, type NamespaceAccess, namespaceAccess } from '../access/namespace-access.ts'
import { BailiwickError } from '../errors.ts'
import { FleetIndex } from '../facts/fleet-index.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { accountOf } from '../kube/rbac/groups-of.ts'
import { visible } from '../message/visible.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { grantJson, grantText, rightsText } from './grant-text.ts'
import { parseOptions } from './parse-options.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'

const USAGE = 'access NAMESPACE [--cluster NAME] [FLEET] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [-o text|json]'

/** `bailiwick access`: who can change a namespace: repository, Kustomization, account and role, for each cluster. */
export const access: Command = {
  name: 'access',
  usage: `${USAGE}

  NAMESPACE      the namespace
  --cluster NAME only this cluster (default: all clusters with the namespace)
${FLEET_HELP}
  -o text|json   text for people

Exit code 0: done; 2: a Kustomization could not be read, so the list may be incomplete.`,
  async run(args, io) {
    const options = parseOptions(args, ['cluster', ...FLEET_OPTIONS, 'output'], USAGE)
    const [namespace, fleetDir = '.', more] = options.positionals
    const output = options.one('output') ?? 'text'
    if (!namespace) throw usage('NAMESPACE is missing')
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra argument`)
    if (output !== 'text' && output !== 'json')
      throw usage(`-o ${JSON.stringify(output)} is not a format. Allowed: text, json`)
    const { fleet, here } = await readFleet(options, fleetDir, io.cwd)
    const asked = clustersOf(fleet, options.one('cluster'), USAGE)
    const failed = fleet.nodes.filter(node => whyIncomplete(node) && asked.includes(node.cluster))
    for (const node of failed) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    const clusters = asked.filter(cluster => knownNamespaces(fleet, cluster).includes(namespace))
    if (clusters.length === 0) {
      const there = [...new Set(asked.flatMap(cluster => knownNamespaces(fleet, cluster)))].slice(0, 20).join(', ')
      throw usage(`no selected cluster has the namespace ${JSON.stringify(namespace)}. Namespaces: ${there}`)
    }
    const index = new FleetIndex(fleet)
    const found = clusters.map(cluster =>
      namespaceAccess(fleet, index, cluster, namespace, knownResources(fleet, [cluster])),
    )
    io.stdout(output === 'json' ? json(namespace, found) : found.map(one => text(namespace, one, here)).join('\n'))
    return failed.length > 0 ? 2 : 0
  },
}

function text(namespace: string, found: NamespaceAccess, here: string): string {
  const { cluster, tenant, changers, others, unknown } = found
  const changed = changers.flatMap(changer => changerLines(changer, here).map(line => visible(line, 500)))
  const unseen = changers.flatMap(({ kind, namespace, name, repository: { notSeen } }) =>
    notSeen === undefined ? [] : [`${kind} ${namespace}/${name}: ${notSeen}`],
  )
  const lines = [
    visible(`${namespace} on ${cluster} belongs to ${tenant ? `tenant ${tenant}` : 'the platform'}`),
    '',
    ...(changed.length > 0 ? changed : ['No Flux object can change it.']),
    ...section(
      'Others who can change it',
      others.map(grant => grantText(grant, here)),
    ),
    ...section('What is applied is not visible', unseen),
    ...section('Not known', unknown),
  ]
  return `${lines.join('\n')}\n`
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length > 0 ? ['', title, ...lines.map(line => `  ${visible(line, 1000)}`)] : []
}

function changerLines(changer: Changer, here: string): string[] {
  const { kind, namespace, name, repository, identity, ownCluster, grants, by } = changer
  const { url, ref, path } = repository
  const account = accountOf(identity.user)
  const who = account ? `${account.namespace}/${account.name}` : identity.user
  const rights = by
    ? `${by.account} (${by.way}): ${rightsText(by.grant, here)}`
    : grants
        .filter(({ covered }) => !covered)
        .map(grant => rightsText(grant, here))
        .join('; ')
  return [
    `${kind} ${namespace}/${name}`,
    `  content  ${url || 'the fleet'}${ref ? `#${ref}` : ''}${path ? ` ${path}` : ''}`,
    `  account  ${identity.impersonated ? who : `${who}, no impersonation`}${ownCluster ? '' : ', by a kubeconfig'}`,
    `  rights   ${rights || 'not known: its rights are not in the fleet'}`,
  ]
}

function json(namespace: string, found: readonly NamespaceAccess[]): string {
  const clusters = found.map(({ changers, others, ...rest }) => ({
    ...rest,
    changers: changers.map(({ grants, by, identity, ...changer }) => ({
      ...changer,
      identity: identity.user,
      impersonated: identity.impersonated,
      grants: grants.map(grantJson),
      ...(by ? { by: { account: by.account, way: by.way, grant: grantJson(by.grant) } } : {}),
    })),
    others: others.map(grantJson),
  }))
  return `${JSON.stringify({ namespace, clusters }, null, 2)}\n`
}

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${USAGE}` })
}
