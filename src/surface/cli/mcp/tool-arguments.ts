import { realpath } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { BailiwickError } from '../../../base/errors.ts'
import { FleetIndex } from '../../../fleet/facts/fleet-index.ts'
import { type FleetNode, whyIncomplete } from '../../../fleet/model/fleet.ts'
import { openWorkingCopy } from '../../../git/working-copy.ts'
import type { Grant } from '../../../kube/rbac/authorizer.ts'
import { displayRbac } from '../../../kube/rbac/binding.ts'
import { userInfo } from '../../../kube/rbac/policy-rule.ts'
import { kubeConfigSteps } from '../../../tenants/onboard/capsule.ts'
import { parseOnboardArguments } from '../../../tenants/onboard/parse-command.ts'
import { type OnboardPlan, planOnboarding } from '../../../tenants/onboard/plan.ts'
import { assertKnown } from '../given.ts'
import { readFleet } from '../read-fleet.ts'
import { errorLine } from '../terminal.ts'
import { repositoryAddress, rootFolder } from '../working-copy.ts'

/** One argument of a tool, as JSON Schema. */
export interface ArgumentSchema {
  readonly type: 'string' | 'array'
  readonly description: string
  readonly pattern?: string
  readonly items?: { readonly type: 'string'; readonly pattern?: string }
}

/** The arguments of a tool, as JSON Schema. */
export interface InputSchema {
  readonly properties: Readonly<Record<string, ArgumentSchema>>
  readonly required: readonly string[]
}

/** Arguments that match their schema. */
export interface ToolArguments {
  one(name: string): string | undefined
  all(name: string): readonly string[]
  /** Returns a required argument. */
  text(name: string): string
}

/** No valid argument is longer. */
const LONGEST = 1000
const MOST = 100

/** Validates the arguments of a call, because a model may send anything. Throws `usage` for what the schema forbids. */
export function readArguments(
  { properties, required }: InputSchema,
  given: Readonly<Record<string, unknown>>,
): ToolArguments {
  const found = new Map<string, readonly string[]>()
  for (const [name, value] of Object.entries(given)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!schema) throw wrong(`${JSON.stringify(name)} is not an argument of this tool`, Object.keys(properties))
    const pattern = schema.type === 'array' ? schema.items?.pattern : schema.pattern
    const values: readonly unknown[] = schema.type === 'array' && Array.isArray(value) ? value : [value]
    if ((schema.type === 'string' && Array.isArray(value)) || values.length > MOST || !values.every(isText(pattern)))
      throw wrong(`${name} is not ${schema.description}`, Object.keys(properties))
    found.set(name, values as readonly string[])
  }
  const missing = required.filter(name => (found.get(name) ?? []).length === 0)
  if (missing.length > 0) throw wrong(`${missing.join(', ')} is missing`, Object.keys(properties))
  return {
    one: name => found.get(name)?.[0],
    all: name => found.get(name) ?? [],
    text: name => found.get(name)?.[0] ?? '',
  }
}

const isText =
  (pattern: string | undefined) =>
  (value: unknown): boolean =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= LONGEST &&
    !value.includes('\0') &&
    (pattern === undefined || new RegExp(pattern, 'u').test(value))

const wrong = (message: string, names: readonly string[]) =>
  new BailiwickError('usage', message, { fix: `Arguments: ${names.join(', ')}.` })

/** The folders that tools may read. */
export interface Roots {
  /** Base of relative paths, and the default when no path is given. */
  readonly first: string
  /** The real path of a folder, and the root that contains it. Throws `usage` if links lead outside every root. */
  folder(path: string): Promise<{ readonly path: string; readonly root: string }>
  /** The top folder of the repository that contains a folder. Throws `usage` if it is outside every root. */
  repository(path: string): Promise<string>
}

/** Throws `usage` if a root does not exist. */
export async function openRoots(folders: readonly string[]): Promise<Roots> {
  const roots = await Promise.all(folders.map(real))
  const [first = ''] = roots
  const folder = async (path: string) => {
    const found = await real(resolve(first, path))
    const root = roots.find(one => isWithin(one, found))
    if (root !== undefined) return { path: found, root }
    throw new BailiwickError('usage', `${path} is outside of the folders that may be read`, {
      fix: `Allowed: ${roots.join(', ')}. The person who starts bailiwick mcp adds others with --root.`,
    })
  }
  const repository = async (path: string) => (await folder(await rootFolder((await folder(path)).path))).path
  return { first, folder, repository }
}

function isWithin(root: string, path: string): boolean {
  const below = relative(root, path)
  return below !== '..' && !below.startsWith(`..${sep}`)
}

async function real(path: string): Promise<string> {
  return realpath(path).catch((cause: NodeJS.ErrnoException) => {
    throw new BailiwickError('usage', `${path}: ${cause.code === 'ENOENT' ? 'does not exist' : cause.code}`, {
      fix: 'Name an existing folder.',
      cause,
    })
  })
}

/** Opens the fleet that the arguments name, with its clusters and what is unknown of them. Throws BailiwickError. */
export async function openFleet(given: ToolArguments, roots: Roots) {
  const path = await roots.repository(given.one('fleet') ?? '.')
  const reposDir = given.one('repos_dir')
  const clones = reposDir === undefined ? undefined : (await roots.folder(reposDir)).path
  const options = { one: (name: string) => (name === 'repos-dir' ? clones : undefined), all: () => [] }
  const { fleet } = await readFleet(options, roots.first, { folder: path })
  const names = fleet.clusters.map(({ name }) => name)
  const cluster = given.one('cluster')
  if (cluster !== undefined) assertKnown('cluster', [cluster], new Set(names))
  const clusters = cluster === undefined ? names : [cluster]
  const failed = fleet.nodes.filter(node => clusters.includes(node.cluster) && whyIncomplete(node))
  const unknown = [
    ...failed.map(node => errorLine(whyIncomplete(node)!)),
    ...fleet.notSeen.map(({ source, url, reason }) => `${source} (${url}) is not visible: ${reason}`),
  ]
  return { fleet, clusters, index: new FleetIndex(fleet), unknown: [...new Set(unknown)] }
}

/** What a tenant may do on each cluster: its Kustomizations, their accounts, and their rights in its namespaces. */
export async function tenantArea(given: ToolArguments, roots: Roots) {
  const { fleet, clusters, index, unknown } = await openFleet(given, roots)
  const name = given.text('tenant')
  assertKnown('tenant', [name], new Set(fleet.tenants.map(tenant => tenant.name)))
  const areas = clusters.flatMap(cluster => {
    const nodes = fleet.nodes.filter(node => node.cluster === cluster && node.tenant === name)
    const namespaces = index.namespacesOf(cluster, name)
    return nodes.length + namespaces.length === 0 ? [] : [areaOf(index, cluster, namespaces, nodes)]
  })
  return { tenant: name, clusters: areas, unknown }
}

function areaOf(index: FleetIndex, cluster: string, namespaces: readonly string[], nodes: readonly FleetNode[]) {
  const authorizer = index.authorizer(cluster)
  const accounts = [...new Set(nodes.map(({ identity }) => identity.user))].sort()
  return {
    cluster,
    namespaces,
    kustomizations: nodes.map(({ namespace, name, source, path, identity, suspend }) => ({
      name: `${namespace}/${name}`,
      repository: source.url,
      ref: source.ref,
      path: path || '.',
      account: identity.user,
      suspended: suspend,
      ...(source.opaque === undefined ? {} : { notVisible: source.opaque }),
    })),
    accounts: accounts.map(account => {
      const held = (namespace: string) => rightsOf(authorizer.held(userInfo(account), namespace), namespace)
      return {
        account,
        rights: namespaces.map(namespace => ({ namespace, ...held(namespace) })),
        clusterWide: held(''),
      }
    }),
  }
}

type Held = ReturnType<ReturnType<FleetIndex['authorizer']>['held']>

/** The rights from bindings in one namespace; '' stands for cluster-wide bindings, which apply in every namespace. */
function rightsOf({ grants, unresolved }: Held, namespace: string) {
  const own = grants.filter(({ binding, rule }) => binding.namespace === namespace && rule.resources.length > 0)
  const unknown = unresolved.filter(binding => binding.namespace === namespace)
  return {
    allowed: own.map(rightOf),
    ...(unknown.length > 0 ? { unknownRoles: unknown.map(({ roleRef }) => `${roleRef.kind} ${roleRef.name}`) } : {}),
  }
}

function rightOf({ rule: { verbs, apiGroups, resources, resourceNames }, binding }: Grant) {
  const by = `${displayRbac(binding)}, ${binding.roleRef.kind} ${binding.roleRef.name}`
  return { verbs, apiGroups, resources, ...(resourceNames.length > 0 ? { resourceNames } : {}), by }
}

/** The files that `bailiwick onboard` would write, without credentials. */
export async function onboardPreview(
  given: ToolArguments,
  roots: Roots,
): Promise<Pick<OnboardPlan, 'files' | 'summary' | 'owners'>> {
  const dir = await roots.repository(given.one('fleet') ?? '.')
  const optional = ['branch', 'path', 'role'].flatMap(name => {
    const value = given.one(name)
    return value === undefined ? [] : [`--${name}`, value]
  })
  const request = parseOnboardArguments([
    given.text('tenant'),
    ...['--repo', given.text('repo')],
    ...given.all('namespaces').flatMap(name => ['--namespace', name]),
    ...given.all('clusters').flatMap(name => ['--cluster', name]),
    ...optional,
  ])
  const { url, branch } = await repositoryAddress(dir, {})
  const plan = planOnboarding(request, await openWorkingCopy(dir), url, branch)
  const steps = kubeConfigSteps(plan.request, plan.capsule)
  return { files: plan.files, summary: [...plan.summary, ...steps], owners: plan.owners }
}
