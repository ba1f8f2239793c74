import { nodeOf } from '../fleet/model/synthetic.ts'
import { capsuleBindings } from '../fleet/tenancy/capsule-bindings.ts'
import { at, isTrue, type MapNode, stringAt } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import { RBAC_GROUP } from '../kube/rbac/binding.ts'
import { accountOf, userOfAccount } from '../kube/rbac/groups-of.ts'
import { type AddonAccount, addonAccounts, capsuleObjects } from './capsule-namespaces.ts'
import { capsuleSettings } from './capsule-settings.ts'
import { type CapsuleSubject, readConfiguration } from './capsule-users.ts'
import { capsuleVersion } from './capsule-version.ts'
import { isPlatform } from './object-index.ts'
import type { Rendered } from './object-table.ts'

/**
 * The roles and bindings that Capsule and its addon for Flux make on a cluster (internal/controllers/rbac and tenant of
 * Capsule 0.1 to 0.14, pkg/controller/serviceaccount of capsule-addon-fluxcd). `rendered`: the objects of a kind; `namespaces`:
 * as capsuleNamespaces gives them.
 */
export function capsuleRbac(
  rendered: (kind: string) => readonly Rendered[],
  namespaces: ReadonlyMap<string, string>,
): readonly KubeObject[] {
  const platform = (kind: string) => rendered(kind).filter(isPlatform)
  const ofCapsule = capsuleObjects(platform)
  const settings = capsuleSettings(platform)
  if (ofCapsule.length === 0 && settings.length === 0) return []
  const config = readConfiguration(settings)
  const version = capsuleVersion(platform)
  const anchor = ofCapsule[0] ?? settings[0]!.rendered.object
  const accounts = addonAccounts(platform, ofCapsule)
  const kinds = accounts.length === 0 ? [] : ['ClusterRole', 'ClusterRoleBinding', 'RoleBinding']
  const bound = kinds.flatMap(kind => rendered(`${RBAC_GROUP}/${kind}`))
  // the addon leaves what is there as it is
  const written = new Set(bound.map(({ object }) => display(idOf(object))))
  const [provisioner, deleter] = config.roles
  const members = Map.groupBy(namespaces.keys(), name => namespaces.get(name)!)
  const administrators = config.administrators.map(one => ({ ...one, roles: config.administratorRoles }))
  const isMarked = version !== undefined && version >= 13
  const labels = isMarked ? { 'projectcapsule.dev/created-by': 'rbac-controller' } : {}
  const aggregated = isMarked ? ofCapsule.flatMap(aggregatedOwner) : []
  const verbs = version !== undefined && version < 1.002 ? ['create'] : ['create', 'patch']
  return [
    role(anchor, provisioner, { resources: ['namespaces'], verbs }, labels),
    role(anchor, deleter, { resources: ['namespaces'], verbs: ['delete'] }, labels),
    ...clusterBinding(anchor, provisioner, [...config.users, ...config.administrators, ...aggregated]),
    ...capsuleBindings(ofCapsule, members, version, administrators),
    ...accounts.flatMap(addonRbac).filter(one => !written.has(display(idOf(one)))),
  ]
}

/** An owner whom Capsule counts as its user without an entry in its configuration. */
function aggregatedOwner({ root }: KubeObject): CapsuleSubject[] {
  const [kind, name] = [stringAt(root, ['spec', 'kind']), stringAt(root, ['spec', 'name'])]
  return kind && name && isTrue(at(root, ['spec', 'aggregate'])) ? [{ kind, name }] : []
}

/** What the addon makes for an account. */
function addonRbac({ object, namespace, name }: AddonAccount): KubeObject[] {
  const impersonator = `${namespace}-${name}-impersonator`
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const self = { resources: ['users'], verbs: ['impersonate'], resourceNames: [userOfAccount(namespace, name)] }
  return [
    make(object, 'RoleBinding', { name, namespace }, { roleRef: refTo('cluster-admin'), subjects }),
    role(object, impersonator, self),
    ...clusterBinding(object, impersonator, subjects),
  ]
}

type Fields = Parameters<typeof nodeOf>[0] & object

function make(from: KubeObject, kind: string, metadata: Fields, fields: Fields): KubeObject {
  const plain = { apiVersion: `${RBAC_GROUP}/v1`, kind, metadata, ...fields }
  return { root: nodeOf(plain, from.root.origin) as MapNode, trail: from.trail }
}

const refTo = (name: string) => ({ apiGroup: RBAC_GROUP, kind: 'ClusterRole', name })

const role = (
  from: KubeObject,
  name: string,
  rule: Record<string, readonly string[]>,
  labels: Record<string, string> = {},
): KubeObject => make(from, 'ClusterRole', { name, labels }, { rules: [{ apiGroups: [''], ...rule }] })

function clusterBinding(from: KubeObject, name: string, all: readonly CapsuleSubject[]): KubeObject[] {
  const subjects = all.map(one => {
    const account = one.kind === 'ServiceAccount' && !one.namespace ? accountOf(one.name) : undefined
    return account ? { kind: one.kind, ...account } : { ...one }
  })
  return subjects.length === 0 ? [] : [make(from, 'ClusterRoleBinding', { name }, { roleRef: refTo(name), subjects })]
}
