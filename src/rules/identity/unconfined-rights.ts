import { codeWord, message, part, untyped } from '../../base/message.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { FleetConfig, TenantConfig } from '../../fleet/model/fleet-config.ts'
import { refKey } from '../../fleet/model/source-ref.ts'
import { capsuleTenantOf } from '../../fleet/tenancy/capsule.ts'
import { TENANT_LABEL } from '../../fleet/tenancy/tenancy.ts'
import type { Named } from '../../kube/capabilities/capability.ts'
import { fieldsNaming, kindsNaming } from '../../kube/capabilities/index.ts'
import { namedBy } from '../../kube/capabilities/named-values.ts'
import { ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { type Rule, type RuleContext, Subject, type TenantSubject } from '../model/rule.ts'

const NAMED: readonly Named[] = ['ambient', 'file', 'privilege', 'hostPath']

/** A controller acts for a tenant with the tenant's rights, not with its own. */
export const controllerRights: Rule = {
  id: 'controller-rights',
  severity: 'high',
  profile: 'restricted',
  title: "Use of a controller's own rights",
  why: "A controller serves all tenants with one account. An object can make the controller sign in as that account, read its files or use a cluster-scoped object. The tenant then has the controller's rights: a SecretStore without `auth` reads every secret that the controller's role can read.",
  source:
    'external-secrets docs, "Multi tenancy"; prometheus-operator, arbitraryFSAccessThroughSMs; KEDA docs, "Authentication"',
  docs: "Name an account or a Secret in the tenant's namespace. A cluster-scoped object is allowed where the platform renders it for the namespace. With the profile `baseline` the finding is a warning.",
  kinds: kindsNaming(...NAMED, 'clusterObject'),
  *checkTenantObject(subject, context) {
    const { object, kind, who } = subject
    for (const field of fieldsNaming(kind, ...NAMED)) {
      for (const { path } of namedBy(object.root, { ...field, form: 'everywhere' })) {
        const level = field.level ? { level: field.level } : {}
        const text = message`${who} ${untyped(field.says ?? "uses its controller's rights")}. Allowed: an account or a Secret of the tenant.`
        const fix = message`Name an account or a Secret of the tenant, or ask a fleet admin to create the object.`
        yield subject.violation(path, field.at, { message: text, fix, ...level })
      }
    }
    for (const field of fieldsNaming(kind, 'clusterObject')) {
      for (const { path, name } of namedBy(object.root, field)) {
        const taken = field.says ?? ''
        if (isGiven(subject, context, taken, name)) continue
        const text = message`${who} uses ${objectPart(taken, '', name)}, which is cluster-scoped and which the platform does not render for it. Allowed: an object that the platform renders for this namespace.`
        const fix = message`Ask a fleet admin to render the ${part('value', taken)} for this object, or use one of the namespace.`
        const level = field.level ? { level: field.level } : {}
        yield subject.violation(path, `${taken} ${name}`, { message: text, fix, ...level })
      }
    }
  },
}

/** Where a cluster-scoped object says which object it is for. */
const GIVEN_BY: Readonly<Record<string, { readonly kind: string; readonly ref: string; readonly orAnybody?: true }>> = {
  VolumeSnapshotContent: { kind: 'snapshot.storage.k8s.io/VolumeSnapshotContent', ref: 'volumeSnapshotRef' },
  VolumeGroupSnapshotContent: {
    kind: 'groupsnapshot.storage.k8s.io/VolumeGroupSnapshotContent',
    ref: 'volumeGroupSnapshotRef',
  },
  // without claimRef, any claim may bind it
  PersistentVolume: { kind: '/PersistentVolume', ref: 'claimRef', orAnybody: true },
}

/** Whether the platform renders the cluster-scoped object for exactly this one. */
function isGiven({ id, node }: TenantSubject, { index }: RuleContext, taken: string, name: string): boolean {
  const given = Object.hasOwn(GIVEN_BY, taken) ? GIVEN_BY[taken] : undefined
  const content = given && index.platformObject(node.cluster, given.kind, '', name)
  if (!content) return false
  const namespace = stringAt(content.root, ['spec', given.ref, 'namespace'])
  return namespace === id.namespace || (given.orAnybody === true && namespace === undefined)
}

const KUBECONFIG = ['spec', 'kubeConfig']

/** What the platform applies from other repositories with full rights is listed, unless something gives it to a tenant. */
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
    // a Kustomization without a source is an error
    if (!url) return
    const was = before?.node(node.key)
    const isNew = before !== undefined && !(was && isUnconfined(was) && sourceOf(was) === url)
    const { namespace, name } = node
    const where = quoted('object', namespace)
    yield Subject.ofNode(node).violation(['spec', 'sourceRef', 'name'], url, {
      message: message`${objectPart('Kustomization', namespace, name)} applies ${quoted('repository', url)} with the rights of ${rightsOf(node)}: writers of that repository are not confined. Allowed: an account of namespace ${where}, or a namespace that ${codeWord('.github/bailiwick.yaml')} declares as the platform's.`,
      fix: message`Set ${codeWord('spec.serviceAccountName')} to an account of namespace ${where}, or add to ${codeWord('.github/bailiwick.yaml')} a tenant with namespaces: [${where}] and platform: true.`,
      ...(isNew && index.hasTenants(node.cluster) ? { level: 'violation' as const } : {}),
    })
  },
}

/** What a node of the platform applies from elsewhere without an account; undefined for everything else. */
function unconfined(node: FleetNode, index: FleetIndex, config: FleetConfig): string | undefined {
  if (!isUnconfined(node) || isOwnSource(node, index) || isPlatform(node, index, config)) return undefined
  return sourceOf(node)
}

const isUnconfined = ({ tenant, parent, identity, namespace }: FleetNode): boolean =>
  tenant === undefined && parent !== undefined && !identity.impersonated && namespace !== ROOT_NAMESPACE

/** A source without an address, such as an ExternalArtifact, is named by its object. */
const sourceOf = ({ source }: FleetNode): string => {
  const [followed, ...included] = [source, ...(source.includes ?? [])].map(({ url, id }) => url || id)
  return included.length === 0 ? followed! : `${followed} with ${included.join(', ')}`
}

/** Whether it follows the source of the cluster's own root. */
function isOwnSource({ parent, source }: FleetNode, index: FleetIndex): boolean {
  if (source.includes) return false
  let root = index.node(parent)
  while (root?.parent !== undefined) root = index.node(root.parent)
  if (root === undefined) return false
  if (source.id === root.source.id) return true
  return source.url !== '' && source.url === root.source.url && refKey(source.ref) === refKey(root.source.ref)
}

/** Whether the fleet's file declares that what acts in a namespace is the platform. */
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
