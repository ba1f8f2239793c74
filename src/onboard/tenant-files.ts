import { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { customScopes } from '../kube/scope/scope.ts'
import { CAPSULE_FILE, capsuleManifest } from './capsule-objects.ts'
import type { CapsulePlan } from './capsule-plan.ts'
import { accountOf, type OnboardRequest } from './request.ts'
import { servedVersion } from './served-version.ts'
import { addOwners } from './template/add-owners.ts'
import { fillTemplate } from './template/fill-template.ts'
import { readTemplate } from './template/read-template.ts'
import type { TenantLayout } from './tenant-layout.ts'
import { AUTH_FILE, baseKustomization, KEY_FILE, syncManifest, tenantManifest } from './tenant-manifests.ts'

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
