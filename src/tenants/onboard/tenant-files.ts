import { BailiwickError } from '../../base/errors.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Tree } from '../../git/tree.ts'
import { customScopes } from '../../kube/capabilities/scope.ts'
import { apiVersionOf, fluxKind, GIT_REPOSITORY, KUSTOMIZATION, OCI_REPOSITORY } from '../../kube/flux-kinds.ts'
import { at, isTrue, itemsOf, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { CAPSULE_FILE, type CapsulePlan, type CapsuleVersion, capsuleManifest } from './capsule.ts'
import { createKustomization, createSourceGit, createSourceOci, createTenant, printManifests } from './manifests.ts'
import {
  accountOf,
  clusterRoleOf,
  isArtifact,
  keySecretOf,
  kubeConfigSecretOf,
  type OnboardRequest,
  secretOf,
  sourceAddress,
} from './request.ts'
import { addOwners, fillTemplate, readTemplate } from './template.ts'
import type { TenantLayout } from './tenant-layout.ts'

/** Files of a new tenant. */
interface TenantFiles {
  /** Files with objects in the folders of the tenant, by path. */
  readonly objects: ReadonlyMap<string, string>
  /** Those of them that came from a template: in a tenant that exists, they may have been changed since. */
  readonly fromTemplate: ReadonlySet<string>
  /** The kustomization of each folder. */
  readonly kustomizations: ReadonlyMap<string, string>
  /** Whole files of the fleet that are changed. */
  readonly edits: ReadonlyMap<string, string>
  readonly notes: readonly string[]
}

/** Name of the file with the sealed Secret. */
export const AUTH_FILE = 'auth.yaml'

/** Name of the file with the sealed key that decrypts what the tenant encrypts. */
export const KEY_FILE = 'sops-age.yaml'

/** Names that Bailiwick writes itself. */
const OWN = ['rbac.yaml', 'sync.yaml', 'kustomization.yaml', AUTH_FILE, KEY_FILE, CAPSULE_FILE]

/** The files of a tenant in each folder that keeps it: what the flux CLI exports, sealed Secrets, and the template of the fleet. */
export function tenantFiles(
  request: OnboardRequest,
  tree: Tree,
  fleet: Fleet,
  layouts: readonly TenantLayout[],
  capsule?: CapsulePlan,
): TenantFiles {
  const objects = new Map<string, string>()
  const kustomizations = new Map<string, string>()
  const fromTemplate = new Set<string>()
  const edits = new Map<string, string>()
  const notes = new Set<string>()
  const { tenant, team, namespaces } = request
  const named = { tenant, team, namespaces, account: accountOf(request) }
  const versionOf = servedVersion(fleet, request.clusters)
  const scopes = customScopes(fleet.nodes.flatMap(node => node.objects))
  for (const base of new Set(layouts.map(layout => layout.base))) {
    const directory = directoryOf(request, base)
    const template = readTemplate(tree, base)
    const files = new Map([['rbac.yaml', tenantManifest(request, capsule?.isWritten ? capsule : undefined)]])
    if (request.sealed !== undefined) files.set(AUTH_FILE, request.sealed)
    if (request.sealedKey !== undefined) files.set(KEY_FILE, request.sealedKey)
    if (capsule?.isWritten) files.set(CAPSULE_FILE, capsuleManifest(request, capsule))
    files.set('sync.yaml', syncManifest(request, capsule?.isWritten ? capsule.kubeConfigKey : undefined, versionOf))
    for (const [name, text] of template.files) {
      const path = `${template.folder}/${name}`
      if (OWN.includes(name)) throw reserved(path)
      const filled = fillTemplate({ path, text }, named, scopes)
      if (filled === '') continue
      files.set(name, filled)
      fromTemplate.add(`${directory}/${name}`)
    }
    for (const [name, text] of files) objects.set(`${directory}/${name}`, text)
    kustomizations.set(`${directory}/kustomization.yaml`, baseKustomization([...files.keys()]))
    for (const path of template.unused) notes.add(`Not used: ${path} is neither YAML nor CODEOWNERS.`)
    const owners = template.owners === '' ? undefined : addOwners(tree, template, named)
    if (owners) edits.set(owners.path, owners.content)
  }
  return { objects, fromTemplate, kustomizations, edits, notes: [...notes] }
}

/** The folder of a tenant below that of all tenants. */
export const directoryOf = ({ tenant }: OnboardRequest, base: string) => (base === '' ? tenant : `${base}/${tenant}`)

function reserved(path: string): BailiwickError {
  return new BailiwickError('onboard-layout', `${path}: a file of this name is written for each tenant anyway`, {
    fix: 'Give it another name, such as limits.yaml.',
    origin: { repository: '', file: path, line: 1, column: 1 },
  })
}

/**
 * Namespaces, accounts and their rights, as `flux create tenant --export` prints them. Flux impersonates no user on a cluster
 * with Capsule, and where capsule-addon-fluxcd runs, it makes the binding of an account that its annotations name.
 */
export function tenantManifest(request: OnboardRequest, capsule?: CapsuleVersion): string {
  const { tenant: name, namespaces } = request
  const tenant = { name, namespaces, account: accountOf(request), role: clusterRoleOf(request) }
  return printManifests(createTenant({ ...tenant, ...(capsule ? { addon: capsule.addon, isAccountOnly: true } : {}) }))
}

/**
 * The output of `flux create source` and `flux create kustomization` with `--export`, in the tenant's first namespace.
 * `kubeConfigKey`: the Kustomization uses the kubeconfig of its account.
 */
export function syncManifest(
  request: OnboardRequest,
  kubeConfigKey?: string,
  versionOf: VersionOf = apiVersionOf,
): string {
  const { tenant: name, interval = '1m0s', prune = true, wait = false, timeout = '2m0s', access } = request
  const namespace = request.namespaces[0]!
  const ref = request.ref ? { [request.ref.field]: request.ref.value } : { branch: request.branch }
  const isOci = isArtifact(request)
  const apiVersion = versionOf(isOci ? OCI_REPOSITORY : GIT_REPOSITORY)
  const source = { apiVersion, name, namespace, interval, ref, url: sourceAddress(request), secret: secretOf(request) }
  const provider = access === 'github-app' ? 'github' : undefined
  return printManifests([
    isOci ? createSourceOci(source) : createSourceGit({ ...source, provider }),
    createKustomization({
      apiVersion: versionOf(KUSTOMIZATION),
      name,
      namespace,
      interval,
      prune,
      wait,
      timeout,
      path: './',
      account: accountOf(request),
      decryption: keySecretOf(request),
      kubeConfig: kubeConfigKey === undefined ? undefined : { name: kubeConfigSecretOf(request), key: kubeConfigKey },
      sourceKind: isOci ? 'OCIRepository' : 'GitRepository',
    }),
  ])
}

/** The base of the tenant; no `namespace`, each object names its own. */
export function baseKustomization(files: readonly string[]): string {
  return `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${files.map(file => `  - ${file}\n`).join('')}`
}

/** The overlay patch that sets which directory of the tenant's repository a cluster gets. */
export function pathPatch({ tenant, namespaces }: OnboardRequest, path: string, versionOf: VersionOf): string {
  const metadata = { name: tenant, namespace: namespaces[0]! }
  const patch = { apiVersion: versionOf(KUSTOMIZATION), kind: 'Kustomization', metadata, spec: { path } }
  return printManifests([patch]).slice('---\n'.length)
}

/** The apiVersion to write for a kind of Flux (`<group>/<Kind>`). */
export type VersionOf = (kind: string) => string

/** Of Flux's kinds, the newest first. */
const VERSIONS = ['v1', 'v1beta2', 'v1beta1']

/**
 * The newest version of a kind that each of these clusters serves, as far as the fleet renders its definition; else the newest one
 * that the fleet uses there.
 */
export function servedVersion(fleet: Fleet, clusters: readonly string[]): VersionOf {
  const platform = fleet.nodes.filter(({ cluster, tenant }) => tenant === undefined && clusters.includes(cluster))
  return kind => {
    const name = `${fluxKind(kind)?.plural}.${kind.split('/')[0]}`
    const isDefinition = (object: KubeObject) =>
      idOf(object).kind === 'CustomResourceDefinition' && idOf(object).name === name
    const served = platform.flatMap(({ objects }) => objects.filter(isDefinition)).map(servedBy)
    const group = groupOf(apiVersionOf(kind))
    const used = new Set(
      platform
        .flatMap(({ objects }) => objects.map(idOf))
        .flatMap(({ apiVersion, kind: other }) =>
          `${groupOf(apiVersion)}/${other}` === kind ? [apiVersion.slice(group.length + 1)] : [],
        ),
    )
    const known = served.length === 0 && used.size > 0 ? [used] : served
    const version = VERSIONS.find(one => known.every(names => names.has(one)))
    return version === undefined ? apiVersionOf(kind) : `${group}/${version}`
  }
}

function servedBy({ root }: KubeObject): ReadonlySet<string> {
  const items = itemsOf(at(root, ['spec', 'versions']))
  const isServed = (item: (typeof items)[number]) => {
    return isTrue(at(item, ['served']))
  }
  return new Set(items.filter(isServed).map(item => stringAt(item, ['name']) ?? ''))
}
