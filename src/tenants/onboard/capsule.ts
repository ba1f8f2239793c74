import { releasesOf } from '../../fleet/facts/charts.ts'
import { kindOf } from '../../fleet/facts/object-table.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { TENANT_ROLE } from '../../fleet/tenancy/tenancy.ts'
import type { Tree } from '../../git/tree.ts'
import { TENANT_LABEL_KEY } from '../../kube/flux-kinds.ts'
import { at, canonical, type Json, type Node, stringAt, toJson } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { textMapOf } from '../../kube/read-fields.ts'
import { decodeText } from '../../kube/yaml/parse-documents.ts'
import { type ManifestMap, type ManifestValue, printManifests } from './manifests.ts'
import { accountOf, clusterRoleOf, codeSpan as code, kubeConfigSecretOf, type OnboardRequest } from './request.ts'

/** How the clusters of a request use Capsule. */
export interface CapsulePlan extends CapsuleVersion {
  /** Clusters whose tenants are Capsule Tenants, or will be: they have a CapsuleConfiguration. */
  readonly clusters: readonly string[]
  /** Whether the objects can be written: every cluster of the request uses Capsule, and its lists are known. */
  readonly isWritten: boolean
  /** Files with the CapsuleConfiguration that lists the group now. */
  readonly edits: ReadonlyMap<string, string>
  /** Fields of `spec` that an admin must decide about, because other Tenants have different values or values that name a tenant. */
  readonly unshared: readonly string[]
  /** Why the objects are not written; '' where they are. */
  readonly why: string
}

export const CAPSULE_GROUP = 'capsule.clastix.io'
const ADDON = 'capsule.addon.fluxcd/'

const isCapsule = (object: KubeObject, kind: string) => {
  const id = idOf(object)
  return id.kind === kind && groupOf(id.apiVersion) === CAPSULE_GROUP
}

/** v1beta2 comes after v1beta1, and v1 after both. */
const newestLast = (a: string, b: string): number => rank(a) - rank(b)
const rank = (version: string): number => {
  const [, stage = '', number = '0'] = /v\d+(alpha|beta)?(\d*)$/.exec(version) ?? []
  return ['alpha', 'beta', ''].indexOf(stage) * 100 + Number(number)
}

const objectsOn = (fleet: Fleet, cluster: string) =>
  fleet.nodes.filter(node => node.cluster === cluster).flatMap(node => node.objects)

const usesCapsule = (objects: readonly KubeObject[]) =>
  objects.some(object => isCapsule(object, 'Tenant') || isCapsule(object, 'CapsuleConfiguration'))

/** Plans a tenant on clusters with Capsule; undefined where none of them has a Tenant or a CapsuleConfiguration of it. */
export function planCapsule(fleet: Fleet, tree: Tree, request: OnboardRequest): CapsulePlan | undefined {
  const on = (cluster: string) => objectsOn(fleet, cluster)
  const clusters = request.clusters.filter(cluster => usesCapsule(on(cluster)))
  const [first] = clusters
  if (first === undefined) return undefined
  const objects = clusters.flatMap(on)
  const versions = new Set(objects.filter(one => isCapsule(one, 'Tenant')).map(one => idOf(one).apiVersion))
  const version = [...versions].sort(newestLast).at(-1) ?? `${CAPSULE_GROUP}/v1beta2`
  // the first Tenant has no other to follow: it is made as Capsule documents it
  const isFirst = versions.size === 0
  const addon = isFirst ? addonOfRelease(clusters.map(on)) : addonAnnotations(clusters.map(on))
  const isMixed = clusters.length < request.clusters.length
  const edits = isMixed ? undefined : groupEdits(tree, objects, groupOfAccounts(request))
  const why = isMixed
    ? 'some of its clusters do not use Capsule, and all of them share the files of a tenant'
    : 'no CapsuleConfiguration of the fleet has a list `spec.userGroups` that can be edited'
  return {
    clusters,
    version,
    ...(addon ? { addon } : {}),
    ...(addon || isFirst ? { kubeConfigKey: 'kubeconfig' } : kubeConfigKey(clusters.map(on))),
    ...sharedPolicies(
      objects.filter(one => isCapsule(one, 'Tenant') && idOf(one).apiVersion === version),
      request,
    ),
    isWritten: edits !== undefined,
    edits: edits ?? new Map(),
    why: edits === undefined ? why : '',
  }
}

/** What the accounts of the other tenants have in common for capsule-addon-fluxcd, if it is switched on for one on each of these clusters. */
function addonAnnotations(clusters: readonly (readonly KubeObject[])[]): Record<string, string> | undefined {
  const all = clusters.map(objects =>
    objects.flatMap(object => {
      const isAccount = idOf(object).kind === 'ServiceAccount'
      const written = isAccount ? (textMapOf(at(object.root, ['metadata', 'annotations'])) ?? []) : []
      const own = [...written].filter(([key]) => key.startsWith(ADDON))
      return own.some(([key, value]) => key === `${ADDON}enabled` && value === 'true') ? [new Map(own)] : []
    }),
  )
  const [first] = all[0] ?? []
  if (first === undefined || all.some(({ length }) => length === 0)) return undefined
  return Object.fromEntries([...first].filter(([key, value]) => all.flat().every(one => one.get(key) === value)))
}

/** What switches the addon on for the first Tenant, if each of these clusters has a release of it. */
function addonOfRelease(clusters: readonly (readonly KubeObject[])[]): Record<string, string> | undefined {
  const hasAddon = (objects: readonly KubeObject[]) => {
    const ofKind = (kind: string) => objects.filter(one => kindOf(one) === kind).map(object => ({ object }))
    return releasesOf(ofKind, 'capsule-addon-fluxcd').length > 0
  }
  return clusters.every(hasAddon) ? { [`${ADDON}enabled`]: 'true' } : undefined
}

/**
 * A request on clusters with Capsule: without an account of its own, the tenant has the one by which Flux acts where nothing
 * names an account, so that the tenant's own Kustomizations need not name one.
 */
export function withCapsuleAccount(request: OnboardRequest, fleet: Fleet): OnboardRequest {
  const clusters = fleet.clusters.filter(({ name }) => request.clusters.includes(name))
  const accounts = new Set(clusters.map(({ lockdown }) => lockdown.defaultServiceAccount))
  const [account] = accounts
  const isOne = accounts.size === 1 && account !== undefined && account !== 'default'
  if (request.account !== undefined || !isOne || !clusters.every(({ name }) => usesCapsule(objectsOn(fleet, name))))
    return request
  return { ...request, account }
}

/** The Secret key for the kubeconfig, if all other tenants on each of these clusters use the same one. */
function kubeConfigKey(clusters: readonly (readonly KubeObject[])[]): Pick<CapsuleVersion, 'kubeConfigKey'> {
  const keys = clusters.map(objects => new Set(objects.flatMap(keyOf)))
  const [first] = keys[0] ?? []
  const isOne = first !== undefined && keys.every(one => one.size === 1 && one.has(first))
  return isOne ? { kubeConfigKey: first } : {}
}

function keyOf(object: KubeObject): string[] {
  if (idOf(object).kind !== 'Kustomization') return []
  const named = (field: string) => stringAt(object.root, ['spec', 'kubeConfig', 'secretRef', field])
  const key = named('key')
  return key && named('name')?.endsWith('-kubeconfig') ? [key] : []
}

/** Capsule passes by accounts of groups that it does not know. */
export const groupOfAccounts = ({ namespaces }: OnboardRequest): string => `system:serviceaccounts:${namespaces[0]}`

/** The group added to each CapsuleConfiguration of the fleet; undefined where one cannot be edited, or there is none. */
function groupEdits(tree: Tree, objects: readonly KubeObject[], group: string): Map<string, string> | undefined {
  const edits = new Map<string, string>()
  const configurations = objects.filter(object => isCapsule(object, 'CapsuleConfiguration'))
  if (configurations.length === 0) return undefined
  for (const { root } of configurations) {
    const list = at(root, ['spec', 'userGroups'])
    if (list?.type !== 'list' || list.items.length === 0) return undefined
    if (list.items.some((_, index) => stringAt(root, ['spec', 'userGroups', index]) === group)) continue
    const last = list.items.at(-1)!
    const { file, line, repository } = last.origin
    if (repository !== root.origin.repository || tree.entry(file)?.type !== 'file' || edits.has(file)) {
      if (edits.get(file)?.includes(group)) continue
      return undefined
    }
    const lines = decodeText({ repository, path: file }, tree.read(file)).split('\n')
    const text = lines[line - 1] ?? ''
    const indent = /^ *(?=- [^[{&*|>]+$)/.exec(text)?.[0]
    if (indent === undefined || text.includes('\r')) return undefined
    edits.set(file, [...lines.slice(0, line), `${indent}- ${group}`, ...lines.slice(line)].join('\n'))
  }
  return edits
}

const RBAC = 'rbac.authorization.k8s.io'

/** What a fleet's other tenants show of its Capsule. */
export interface CapsuleVersion {
  /** apiVersion of a Tenant. */
  readonly version: string
  /** The annotations by which capsule-addon-fluxcd knows the accounts of the other tenants; absent: it does not run. */
  readonly addon?: Readonly<Record<string, string>>
  /** The key in the kubeconfig Secret, if the accounts of the other tenants use a kubeconfig for Capsule's proxy. */
  readonly kubeConfigKey?: string
  /** Limits in `spec` that every other Tenant has in the same form. */
  readonly shared?: ManifestMap
}

/** Name of the file with these objects. */
export const CAPSULE_FILE = 'capsule.yaml'

/**
 * The Capsule Tenant of a request, and what its account needs at Capsule's proxy: it impersonates itself there, for which
 * capsule-addon-fluxcd makes the rights where it runs. Capsule itself lets its users create and patch namespaces.
 */
export function capsuleManifest(request: OnboardRequest, version: CapsuleVersion): string {
  const [home = ''] = request.namespaces
  const account = accountOf(request)
  const user = `system:serviceaccount:${home}:${account}`
  const subject = { kind: 'ServiceAccount', name: account, namespace: home }
  const impersonator = `${home}-${account}-impersonator`
  // by it, offboarding finds what is of the whole cluster
  const labels = { [TENANT_LABEL_KEY]: request.tenant }
  const tenant = {
    apiVersion: version.version,
    kind: 'Tenant',
    metadata: { labels, name: request.tenant },
    spec: {
      ...version.shared,
      additionalRoleBindings: [{ clusterRoleName: clusterRoleOf(request), subjects: [subject] }],
      owners: [{ ...ownRoles(request, version), kind: 'ServiceAccount', name: user }],
    },
  }
  return printManifests([
    tenant,
    ...(version.addon ? [] : impersonation({ labels, name: impersonator }, user, subject)),
  ])
}

/** By default Capsule binds owners to `admin`, which is more than the role of a tenant: it can write the status of Flux's sources. */
const ownRoles = (request: OnboardRequest, { version }: CapsuleVersion): ManifestMap =>
  clusterRoleOf(request) === TENANT_ROLE && version.endsWith('/v1beta2')
    ? { clusterRoles: ['capsule-namespace-deleter'] }
    : {}

function impersonation(metadata: ManifestMap & { name: string }, user: string, subject: ManifestMap): ManifestMap[] {
  const rules = [{ apiGroups: [''], resourceNames: [user], resources: ['users'], verbs: ['impersonate'] }]
  const apiVersion = `${RBAC}/v1`
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name }
  return [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects: [subject] },
  ]
}

/** Fields about identity or about a single Tenant; each Tenant has its own. */
const OWN = new Set(['owner', 'owners', 'additionalRoleBindings', 'permissions', 'data', 'cordoned', 'preventDeletion'])

/**
 * The limits that every other Tenant of the same version has in the same form; without them a new Tenant would have more rights.
 * Limits that differ or name a tenant are left to an admin.
 */
function sharedPolicies(
  all: readonly KubeObject[],
  { tenant }: Pick<OnboardRequest, 'tenant'>,
): { readonly shared: ManifestMap; readonly unshared: readonly string[] } {
  const others = all.filter(object => idOf(object).name !== tenant)
  const names = others.map(object => idOf(object).name)
  const specs = others.map(object => fieldsOf(at(object.root, ['spec'])))
  const fields = new Set(specs.flatMap(spec => [...spec.keys()]))
  const shared = new Map<string, ManifestValue>()
  for (const field of fields) {
    const values = specs.map(spec => spec.get(field))
    const [first] = values
    const text = first && canonical(first)
    if (text === undefined || values.some(one => one === undefined || canonical(one) !== text)) continue
    const value = names.some(name => text.includes(name)) ? undefined : manifestValue(toJson(first!))
    if (value !== undefined) shared.set(field, value)
  }
  return { shared: Object.fromEntries(shared), unshared: [...fields].filter(field => !shared.has(field)).sort() }
}

function fieldsOf(spec: Node | undefined): ReadonlyMap<string, Node> {
  const fields = spec?.type === 'map' ? [...spec.fields] : []
  return new Map(fields.flatMap(([name, { value }]) => (OWN.has(name) ? [] : [[name, value] as const])))
}

/** Undefined for a value that cannot be printed: null, integers beyond 2^53, lists in lists. */
function manifestValue(json: Json): ManifestValue | undefined {
  if (typeof json === 'string' || typeof json === 'boolean') return json
  if (typeof json === 'number') return Number.isFinite(json) ? json : undefined
  if (json === null || typeof json !== 'object') return undefined
  if (Array.isArray(json)) {
    const items = json.map(manifestValue)
    return items.every(item => item !== undefined && !Array.isArray(item)) ? (items as ManifestValue[]) : undefined
  }
  const entries = Object.entries(json).map(([name, value]) => [name, manifestValue(value)] as const)
  return entries.every(([, value]) => value !== undefined)
    ? Object.fromEntries(entries as [string, ManifestValue][])
    : undefined
}

const PROXY = 'https://capsule-proxy.capsule-system.svc:9001'

/** What is written and what is left to do by hand where a cluster uses Capsule; Markdown. The steps are those of capsule-addon-fluxcd. */
export function capsuleText(request: OnboardRequest, plan: CapsulePlan | undefined): string[] {
  if (!plan) return []
  const secret = kubeConfigSecretOf(request)
  const where = plan.clusters.map(code).join(', ')
  return [
    '### Capsule',
    ...(plan.isWritten ? [writtenText(request, plan, where)] : byHand(request, plan, where)),
    ...kubeConfigText(request, plan),
    plan.isWritten && plan.kubeConfigKey !== undefined
      ? `The Kustomization in ${code('sync.yaml')} names this Secret. It is not applied until the Secret exists.`
      : `Then add to the Kustomization in ${code('sync.yaml')}: ${code(`kubeConfig: {secretRef: {name: ${secret}, key: kubeconfig}}`)}. Until then the account works in its namespaces only, without Capsule's proxy.`,
  ]
}

/** How the Secret comes to be; Markdown. */
function kubeConfigText(request: OnboardRequest, plan: CapsulePlan): string[] {
  const [first = '', ...commands] = kubeConfigSteps(request, plan)
  return [first, ...(commands.length > 0 ? [`\`\`\`\n${commands.join('\n')}\n\`\`\``] : [])]
}

/** How the kubeconfig Secret of the account comes to be: a sentence, and the commands for it, if any; plain text. */
export function kubeConfigSteps(request: OnboardRequest, plan: CapsulePlan | undefined): string[] {
  if (!plan) return []
  const [home = ''] = request.namespaces
  const secret = kubeConfigSecretOf(request)
  if (plan.isWritten && plan.addon)
    return [
      `capsule-addon-fluxcd makes the Secret ${home}/${secret} and the rights of the account at Capsule's proxy, by the annotations of the account.`,
    ]
  return [
    `Git cannot hold the token of the account, so the Secret ${home}/${secret} is made on the cluster. If clusters.yaml of the worker lists Capsule's proxy with tokens, the worker makes it and renews the token. Otherwise run these commands, and again before the token expires:`,
    ...kubeconfigCommands(home, accountOf(request), secret),
  ]
}

function writtenText(request: OnboardRequest, plan: CapsulePlan, where: string): string {
  const [home = ''] = request.namespaces
  return [
    `Tenants of ${where} are Capsule Tenants. ${code(CAPSULE_FILE)} has the Tenant ${code(request.tenant)}, owned by ${code(`${home}/${accountOf(request)}`)}.`,
    ...(plan.addon ? [] : [`- The account may impersonate itself, which Capsule's proxy asks for.`]),
    `- ${code(groupOfAccounts(request))} is added to ${code('spec.userGroups')} of the CapsuleConfiguration: Capsule ignores accounts of other groups. Capsule lets these accounts create and patch namespaces of the Tenant.`,
    ...policiesText(plan),
  ].join('\n')
}

/** What the new Tenant shares with the others, and what an admin must decide. */
function policiesText({ shared = {}, unshared }: CapsulePlan): string[] {
  const fields = (names: readonly string[]) => names.map(name => code(`spec.${name}`)).join(', ')
  const common = Object.keys(shared).sort()
  return [
    ...(common.length > 0 ? [`- As every other Tenant there, it has ${fields(common)}.`] : []),
    ...(unshared.length > 0
      ? [
          `- ⚠️ It does not have ${fields(unshared)}: the other Tenants differ, or the value names a tenant. Add them to ${code(CAPSULE_FILE)}.`,
        ]
      : []),
  ]
}

function byHand(request: OnboardRequest, plan: CapsulePlan, where: string): string[] {
  return [
    `⚠️ ${where}: tenants there are Capsule Tenants, and this pull request does not make one: ${plan.why}. Without it, Capsule does not check the account. Add to ${code('rbac.yaml')}:`,
    `\`\`\`yaml\n${capsuleManifest(request, plan)}\`\`\``,
    `Add ${code(groupOfAccounts(request))} to ${code('spec.userGroups')} of the CapsuleConfiguration. Capsule ignores accounts of other groups.`,
  ]
}

/** The file holds a token: it is removed at the end. */
function kubeconfigCommands(home: string, account: string, secret: string): string[] {
  const config = 'kubectl config --kubeconfig=kubeconfig'
  return [
    'umask 077',
    `kubectl get secret capsule-proxy --namespace=capsule-system -o jsonpath='{.data.ca}' | base64 -d > ca.crt`,
    `${config} set-cluster default --server=${PROXY} --certificate-authority=ca.crt --embed-certs`,
    `${config} set-credentials default --token="$(kubectl create token ${account} --namespace=${home} --duration=24h)"`,
    `${config} set-context default --cluster=default --user=default --namespace=default`,
    `${config} use-context default`,
    `kubectl create secret generic ${secret} --namespace=${home} --from-file=kubeconfig`,
    'rm kubeconfig ca.crt',
  ]
}
