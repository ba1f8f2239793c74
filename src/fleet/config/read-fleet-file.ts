import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { Node } from '../../kube/node.ts'
import { normaliseUrl } from '../../kube/url.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import type { Aliases } from '../model/address-in.ts'
import {
  DEFAULT_CONFIG,
  FLEET_FILE,
  type FleetConfig,
  type NamedRule,
  type TenantConfig,
} from '../model/fleet-config.ts'
import type { GitRef } from '../model/source-ref.ts'
import { fleetShape, secondsOf } from './fleet-shape.ts'
import { wrong } from './shape.ts'

/** Reads the fleet's file; a fleet without one says nothing. What is wrong with it is its `error`, never thrown. */
export function readFleetFile(tree: Tree, repository: string): FleetConfig {
  return reading(() => fileRoot(tree, repository))
}

/** The same for the text that the file has or is to have. */
export function readFleetText(text: string): FleetConfig {
  const file = { repository: '', path: FLEET_FILE }
  return reading(() => onlyDocument(parseDocuments(file, new TextEncoder().encode(text))))
}

/** The one document of the file; undefined where there is not a file or nothing in it. Throws where it is no plain file. */
export function fileRoot(tree: Tree, repository: string): Node | undefined {
  const start = { repository, file: FLEET_FILE, line: 1, column: 1 }
  const other = FLEET_FILE.replace(/yaml$/, 'yml')
  if (tree.entry(other)) throw wrong({ ...start, file: other }, `the file ${other} has no effect`, FLEET_FILE)
  const entry = tree.entry(FLEET_FILE)
  if (entry === undefined) return undefined
  if (entry.type !== 'file') throw wrong(start, 'it is not a regular file', 'a file')
  return onlyDocument(parseDocuments({ repository, path: FLEET_FILE }, tree.read(FLEET_FILE)))
}

function reading(open: () => Node | undefined): FleetConfig {
  try {
    const root = open()
    return root ? configOf(fleetShape.read(root, '')) : DEFAULT_CONFIG
  } catch (error) {
    if (error instanceof BailiwickError) return { ...DEFAULT_CONFIG, error }
    throw error
  }
}

function onlyDocument([root, second]: readonly Node[]): Node | undefined {
  if (second) throw wrong(second.origin, 'the file has more than one document', 'one document')
  return root
}

type FleetFile = ReturnType<typeof fleetShape.read>

function configOf(file: FleetFile): FleetConfig {
  const waivers = (file.waivers ?? []).map(({ object, violations = [], ...rest }) => ({
    ...rest,
    violations: violations.map(({ fingerprint, severity, field }) => ({ fingerprint, severity, field })),
    kind: object.kind,
    namespace: object.namespace ?? '',
    name: object.name,
  }))
  const severities = [...(file.severities ?? [])]
  const namedRules: NamedRule[] = [
    ...severities.map(([id, { origin }]) => ({ id, key: `severities.${id}`, origin })),
    ...waivers.map(({ rule, origin }, index) => ({ id: rule, key: `waivers[${index}].rule`, origin })),
  ]
  return {
    profile: file.profile ?? DEFAULT_CONFIG.profile,
    profileDeclared: file.profile !== undefined,
    enforcement: file.enforcement ?? DEFAULT_CONFIG.enforcement,
    allowedSources: file.allowedSources,
    forbidUndeclaredValues: file.undeclaredValues === 'forbid',
    forbidOpaqueSources: file.opaqueSources === 'forbid',
    unrenderedCharts: file.unrenderedCharts ?? DEFAULT_CONFIG.unrenderedCharts,
    tenantSources: file.tenantSources ?? DEFAULT_CONFIG.tenantSources,
    approvedSources: (file.approvedSources ?? []).map(one => ({ ...one, ref: plainRef(one.ref) })),
    gatedBranches: (file.gatedBranches ?? []).map(({ url, branch }) => ({ url: normaliseUrl(url), branch })),
    allowedKubeConfigs: file.allowedKubeConfigs ?? [],
    minimumInterval: file.minimumInterval ? secondsOf(file.minimumInterval) : DEFAULT_CONFIG.minimumInterval,
    severities: new Map(severities.map(([id, { value }]) => [id, value])),
    approvers: (file.approvers ?? []).map(who => who.replace(/^@/, '').toLowerCase()),
    forks: file.forks ?? DEFAULT_CONFIG.forks,
    unseenChanges: file.unseenChanges ?? DEFAULT_CONFIG.unseenChanges,
    waivers,
    substituteFrom: file.substituteFrom ?? [],
    accounts: (file.accounts ?? []).map(({ cluster, namespace, name }) => ({ cluster, namespace, name })),
    kinds: (file.kinds ?? []).map(({ group, kind, scope }) => ({ group, kind, scope })),
    kubernetes: (file.kubernetes ?? []).map(({ cluster, version }) => ({
      cluster,
      version: Number(version.slice('1.'.length)),
    })),
    aliases: aliasesOf(file),
    sources: (file.sources ?? []).map(one => ({ ...one, ref: plainRef(one.ref) })),
    artifacts: (file.artifacts ?? []).map(({ url, path = './', origin }) => ({
      address: url.slice('oci://'.length),
      path,
      origin,
    })),
    clusters: (file.clusters ?? []).map(({ source, name, path, origin }) => ({
      ...{ name, path, origin },
      ...(source ? { source: { url: source.url, ref: plainRef(source.ref) } } : {}),
    })),
    tenants: new Map((file.tenants ?? []).map(one => [one.name, tenantOf(one)])),
    namedRules,
  }
}

/** Throws where an address stands for two repositories, or for one that is called otherwise itself. */
function aliasesOf({ aliases = [] }: FleetFile): Aliases {
  const names = new Set(aliases.map(({ url }) => normaliseUrl(url)))
  const found = new Map<string, string>()
  for (const { url, addresses, origin } of aliases) {
    for (const address of addresses.map(normaliseUrl)) {
      const isTaken = names.has(address) || found.has(address)
      if (isTaken) throw wrong(origin, `the address ${address} is listed twice under aliases`, 'each address once')
      found.set(address, normaliseUrl(url))
    }
  }
  return found
}

type FileRef = NonNullable<FleetFile['sources']>[number]['ref']

/** The fields that are set. */
const plainRef = (ref: FileRef): GitRef =>
  Object.fromEntries(
    ['branch', 'tag', 'semver', 'name', 'commit'].flatMap(key => {
      const value = ref?.[key as keyof GitRef]
      return value === undefined ? [] : [[key, value]]
    }),
  )

function tenantOf(tenant: NonNullable<FleetFile['tenants']>[number]): TenantConfig {
  const { name, namespaces = [], clusters, allowedSources, enforcement, profile, repositories = [], origin } = tenant
  const platform = tenant.platform ?? false
  const ids = new Map(repositories.map(({ url, id }) => [normaliseUrl(url), id]))
  return {
    name,
    platform,
    namespaces,
    clusters,
    allowedSources,
    enforcement,
    profile,
    repositories: ids,
    origin,
    own: undefined,
  }
}
