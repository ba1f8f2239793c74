import { firstNames } from '../../base/name-list.ts'
import { visible } from '../../base/visible.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { whyIncomplete } from '../../fleet/model/fleet.ts'
import { accountOf } from '../../kube/rbac/policy-rule.ts'
import { count } from '../../report/text/findings.ts'
import { knownNamespaces, knownResources } from '../../verdict/audit/access-overview.ts'
import { type Changer, type NamespaceAccess, namespaceAccess } from '../../verdict/audit/namespace-access.ts'
import { workerRbac } from '../../verdict/audit/worker-rbac.ts'
import { grantJson, grantText, rightsText } from './can-i.ts'
import type { Command } from './command.ts'
import { assertKnown } from './given.ts'
import { clustersOf, FLEET, fleetPart, readFleet } from './read-fleet.ts'
import { type Exact, yamlText } from './rendering.ts'
import { errorLine, printLines } from './terminal.ts'
import { TEXT_OR_JSON } from './usage.ts'

/** `bailiwick access`: who can change a namespace: repository, Kustomization, account and role, for each cluster. */
export const access: Command = {
  name: 'access',
  usage: [
    ['[NAMESPACE]', 'the namespace; with --tenant: left out, and every namespace of the tenant is listed'],
    ['[--cluster NAME]...', 'only this cluster (default: all clusters with the namespace; repeatable)'],
    ['[--tenant NAME]...', 'every namespace of this tenant (repeatable)'],
    ...FLEET,
    TEXT_OR_JSON,
  ],
  notes: 'Exit code 0: done; 2: a Kustomization could not be read, so the list may be incomplete.',
  async run(given, io) {
    const isOfTenant = given.all('tenant').length > 0
    const [asked, folder, more] = isOfTenant ? [undefined, ...given.positionals] : given.positionals
    if (!asked && !isOfTenant) throw given.wrong('NAMESPACE is missing')
    if (more !== undefined) throw given.wrong(`${JSON.stringify(more)} is an extra argument`)
    const { fleet, here } = await readFleet(given, io.cwd, { folder })
    const part = fleetPart(fleet, given)
    const failed = fleet.nodes.filter(node => whyIncomplete(node) && part.clusters.includes(node.cluster))
    for (const node of failed) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    const index = new FleetIndex(fleet)
    const namespaces = asked === undefined ? namespacesOfTenants(index, part) : [asked]
    const found = namespaces.map(namespace => {
      const clusters = part.clusters.filter(cluster => knownNamespaces(fleet, cluster).includes(namespace))
      const on = clusters.map(cluster =>
        namespaceAccess(fleet, index, cluster, namespace, knownResources(fleet, [cluster])),
      )
      return { namespace, clusters: part.tenants ? on.filter(({ tenant }) => part.tenants?.has(tenant)) : on }
    })
    if (found.every(({ clusters }) => clusters.length === 0)) {
      if (asked === undefined) throw given.wrong('the tenant has no namespace on these clusters')
      assertKnown('namespace', [asked], new Set(part.clusters.flatMap(cluster => knownNamespaces(fleet, cluster))))
    }
    const lines = found.flatMap(({ namespace, clusters }) => clusters.flatMap(one => text(namespace, one, here)))
    if (given.format === 'json')
      io.stdout(json(asked === undefined ? { namespaces: found.map(plain) } : plain(found[0]!)))
    else printLines(io, lines.slice(0, -1))
    return failed.length > 0 ? 2 : 0
  },
}

function namespacesOfTenants(
  index: FleetIndex,
  { clusters, tenants = new Set() }: ReturnType<typeof fleetPart>,
): string[] {
  const all = [...tenants].flatMap(tenant => clusters.flatMap(cluster => index.namespacesOf(cluster, tenant)))
  return [...new Set(all)].sort()
}

function text(namespace: string, found: NamespaceAccess, here: string): string[] {
  const { cluster, tenant, changers, others, unknown } = found
  const alike = [...Map.groupBy(changers, changer => groupKey(changer, here)).values()]
  const changed = alike.flatMap(group => groupLines(group, here).map(line => visible(line, 1000)))
  const unseen = changers.flatMap(({ kind, namespace, name, repository: { notSeen } }) =>
    notSeen === undefined ? [] : [`${kind} ${namespace}/${name}: ${notSeen}`],
  )
  return [
    visible(`${namespace} on ${cluster} belongs to ${tenant ? `tenant ${tenant}` : 'the platform'}`),
    '',
    ...(changed.length > 0 ? changed : ['No Flux object can change it.']),
    ...section(
      'Others who can change it',
      others.map(grant => grantText(grant, here)),
    ),
    ...section('What is applied is not visible', unseen),
    ...section('Not known', unknown),
    '',
  ]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length > 0 ? ['', title, ...lines.map(line => `  ${visible(line, 1000)}`)] : []
}

/** Names of a group that are listed besides the first; `-o json` lists all. */
const MAX_LIKE_IT = 10

/** Changers from one repository with the same account and rights are listed once. */
const groupKey = ({ kind, namespace, name, repository, ...changer }: Changer, here: string) =>
  changerLines({ kind: '', namespace: '', name: '', repository: { ...repository, path: '' }, ...changer }, here).join(
    '\n',
  )

function groupLines([first, ...rest]: readonly Changer[], here: string): string[] {
  if (!first) return []
  const paths = new Set(rest.map(({ repository }) => repository.path).filter(path => path !== first.repository.path))
  const names = rest.map(({ kind, namespace, name }) =>
    kind === first.kind ? `${namespace}/${name}` : `${kind} ${namespace}/${name}`,
  )
  const like = `and ${count(rest.length, 'other')} like it: ${firstNames(names, MAX_LIKE_IT)}`
  const left = rest.length > MAX_LIKE_IT ? ' (-o json lists all)' : ''
  return [...changerLines(first, here, paths.size), ...(rest.length > 0 ? [`  ${like}${left}`] : [])]
}

/** The object, what it deploys, as which account, and with which rights. */
function changerLines(changer: Changer, here: string, otherPaths = 0): string[] {
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
    `  content  ${url || 'the fleet'}${ref ? `#${ref}` : ''}${path ? ` ${path}` : ''}${otherPaths > 0 ? ` and ${count(otherPaths, 'other path')}` : ''}`,
    `  account  ${identity.impersonated ? who : `${who}, no impersonation`}${ownCluster ? '' : ', by a kubeconfig'}`,
    `  rights   ${rights || 'not known: its rights are not in the fleet'}`,
  ]
}

interface Found {
  readonly namespace: string
  readonly clusters: readonly NamespaceAccess[]
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

function plain({ namespace, clusters: found }: Found) {
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
  return { namespace, clusters }
}

/** `bailiwick worker-rbac`: the manifests that give a worker the least rights for one cluster of a fleet. */
export const workerRbacCommand: Command = {
  name: 'worker-rbac',
  usage: [['--cluster NAME', 'the cluster that the worker applies to'], ...FLEET],
  notes: `Prints YAML: namespace and account of the worker, and Roles that let it act only as the accounts that the Kustomizations
of the cluster name. Print it again when a tenant is added: until then the worker cannot act as its account.
Exit code 0: done; 2: a Kustomization could not be read, so that its account is not known.`,
  async run(given, io) {
    const { fleet } = await readFleet(given, io.cwd)
    const [cluster] = clustersOf(fleet, given.one('cluster'), given)
    const unread = fleet.nodes.filter(node => (node.hub ?? node.cluster) === cluster && whyIncomplete(node))
    for (const node of unread) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    const { manifests, left, asController } = workerRbac(fleet, cluster!)
    for (const one of left) io.stderr(`warning: the worker does not apply ${visible(one, 500)}\n`)
    for (const key of asController) {
      const what = 'acts as kustomize-controller, which is cluster-admin as Flux installs it'
      io.stderr(
        `warning: ${visible(key, 500)} ${what}. Set its spec.serviceAccountName to an account with fewer permissions.\n`,
      )
    }
    io.stdout(yamlText(manifests as readonly Exact[]))
    return unread.length > 0 ? 2 : 0
  },
}
