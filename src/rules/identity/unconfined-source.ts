import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig, TenantConfig } from '../../fleet/model/fleet-config.ts'
import { refKey } from '../../fleet/model/ref.ts'
import { capsuleTenantOf } from '../../fleet/tenancy/capsule.ts'
import { TENANT_LABEL } from '../../fleet/tenancy/tenancy.ts'
import { ROOT_NAMESPACE } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { codeWord, message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

const KUBECONFIG = ['spec', 'kubeConfig']

/** What the platform applies of other repositories with all rights is on a list, as long as nothing gives it to a tenant. */
export const unconfinedSource: Rule = {
  id: 'unconfined-source',
  severity: 'high',
  level: 'warning',
  title: "Repository applied as Flux's controller",
  why: "A Kustomization outside flux-system that names no account is applied as Flux's controller, which is cluster-admin. Everyone with write access to the repository that it follows has these rights. Its namespace belongs to no tenant, so tenancy rules do not apply.",
  source: 'https://fluxcd.io/flux/installation/configuration/multitenancy/',
  docs: "For a tenant's repository, set `spec.serviceAccountName` to an account of the namespace, or label the namespace with `toolkit.fluxcd.io/tenant`. For a platform repository, list the namespace under a tenant with `platform: true` in `.github/bailiwick.yaml`. The finding is a warning. A change that adds such a Kustomization to a cluster with tenants is a violation.",
  *checkNode(node, { index, before, config }) {
    const url = unconfined(node, index, config)
    if (url === undefined) return
    const was = before?.node(node.key)
    const isNew = before !== undefined && !(was && isUnconfined(was) && sourceOf(was) === url)
    const { namespace, name } = node
    const where = quoted('object', namespace)
    yield {
      node,
      object: node.kustomization,
      path: ['spec', 'sourceRef', 'name'],
      value: url,
      message: message`${objectPart('Kustomization', namespace, name)} applies ${quoted('repository', url)} with the rights of ${rightsOf(node)}: writers of that repository are not confined. Allowed: an account of namespace ${where}, or a namespace that ${codeWord('.github/bailiwick.yaml')} declares as the platform's.`,
      fix: message`Set ${codeWord('spec.serviceAccountName')} to an account of namespace ${where}, or add to ${codeWord('.github/bailiwick.yaml')} a tenant with namespaces: [${where}] and platform: true.`,
      ...(isNew && index.hasTenants(node.cluster) ? { level: 'violation' as const } : {}),
    }
  },
}

/** What a node of the platform applies from elsewhere without an account; undefined for everything else. */
function unconfined(node: FleetNode, index: FleetIndex, config: FleetConfig): string | undefined {
  if (!isUnconfined(node) || isOwnSource(node, index) || isPlatform(node, index, config)) return undefined
  return sourceOf(node)
}

const isUnconfined = ({ tenant, parent, identity, namespace }: FleetNode): boolean =>
  tenant === undefined && parent !== undefined && !identity.impersonated && namespace !== ROOT_NAMESPACE

/** Without an address, as that of an ExternalArtifact, the source object stands for it. */
const sourceOf = ({ source }: FleetNode): string => {
  const [followed, ...included] = [source, ...(source.includes ?? [])].map(({ url, id }) => url || id)
  return included.length === 0 ? followed! : `${followed} with ${included.join(', ')}`
}

/** Whether it follows what the cluster's own root follows. */
function isOwnSource({ parent, source }: FleetNode, index: FleetIndex): boolean {
  if (source.includes) return false
  let root = index.node(parent)
  while (root?.parent !== undefined) root = index.node(root.parent)
  if (root === undefined) return false
  if (source.id === root.source.id) return true
  return source.url !== '' && source.url === root.source.url && refKey(source.ref) === refKey(root.source.ref)
}

/** Whether the fleet's own file says that what acts in a namespace is the platform. */
function isPlatform({ cluster, namespace }: FleetNode, index: FleetIndex, { tenants }: FleetConfig): boolean {
  const object = index.platformObject(cluster, '/Namespace', '', namespace)
  const names = object ? [stringAt(object.root, TENANT_LABEL), capsuleTenantOf(object)] : []
  const isMeant = (one: TenantConfig) =>
    one.platform && (one.name === namespace || one.namespaces.includes(namespace) || names.includes(one.name))
  return [...tenants.values()].some(one => isMeant(one) && (one.clusters?.includes(cluster) ?? true))
}

function rightsOf({ kustomization }: FleetNode) {
  return at(kustomization.root, KUBECONFIG) ? 'the user of its kubeConfig' : "Flux's controller (cluster-admin)"
}
