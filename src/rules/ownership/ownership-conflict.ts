import { hashOf, placeText } from '../../facts/fingerprint.ts'
import type { Rendered } from '../../facts/object-table.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject, TenantSubject } from '../../facts/subject.ts'
import { remoteClusterOf } from '../../fleet/graph/remote-cluster.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { isKustomization } from '../../flux/flux-object.ts'
import { SOURCE_GROUP } from '../../flux/kinds.ts'
import { canonical, originAt } from '../../kube/node.ts'
import { message, part } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'

const NAME = ['metadata', 'name']
const nameOf = ({ namespace, name }: FleetNode) => `${namespace}/${name}`

/** One object, one Kustomization: two that apply the same one fight over it. */
export const ownershipConflict: Rule = {
  id: 'ownership-conflict',
  severity: 'high',
  title: 'Object in two Kustomizations',
  why: 'Two Kustomizations with the same object overwrite each other at every interval. When one drops the object, Flux deletes it. A tenant can take over and delete an object of the platform or of another tenant in this way.',
  source: 'fluxcd/pkg ssa: the last one to apply takes the owner labels',
  docs: 'Rename the object, or remove it from one of the two Kustomizations. Objects that the platform renders twice are not reported.',
  kinds: 'every',
  *checkTenantObject(subject, context) {
    const { object, id, kind, node } = subject
    const other = rival(subject, context)
    if (!other || isSelf(subject) || isRefused(subject)) return
    const isPlatforms = other.node.tenant === undefined
    const whose = isPlatforms ? 'the platform' : 'the tenant'
    const where = isPlatforms
      ? message``
      : message` by ${objectPart('Kustomization', other.node.namespace, other.node.name)}`
    yield {
      node,
      object,
      path: NAME,
      // another content of what is not followed, because there are two, is another violation
      value: `${other.node.key} ${isFollowed(subject) ? canonical(object.root) : ''}`,
      cause: hashOf([placeText(originAt(object.root, NAME)), nameOf(node), nameOf(other.node)]),
      message: message`${objectPart(id.kind, id.namespace, id.name)} is applied by Kustomization ${quoted('object', `${node.namespace}/${node.name}`)}, and ${whose} applies it too${where}: they would overwrite and prune each other's object. Allowed: one Kustomization per object. In Flux, the last one to apply wins (${part('value', kind.slice(0, 80))}).`,
      fix: message`Rename the object, or remove it from one of the two Kustomizations.`,
    }
  },
}

/** Whether two Kustomizations apply to two clusters, neither of which is the one on which they stand. */
function isElsewhere(one: FleetNode, other: FleetNode): boolean {
  const [here, there] = [one, other].map(({ cluster, kustomization }) => remoteClusterOf(cluster, kustomization))
  return here !== undefined && there !== undefined && here !== there
}

/** A Kustomization that renders itself as it is, as every bootstrapped fleet does. */
const isSelf = ({ object, id, node }: Subject) =>
  isKustomization(object) &&
  id.namespace === node.namespace &&
  id.name === node.name &&
  canonical(object.root) === canonical(node.kustomization.root)

/** The graph has refused it by this rule already. */
function isRefused({ object, node: { error } }: Subject): boolean {
  const { file, line } = originAt(object.root, ['metadata', 'name'])
  return error?.rule === 'ownership-conflict' && error.origin?.file === file && error.origin.line === line
}

const isFollowed = ({ kind, object }: Subject) => kind.startsWith(`${SOURCE_GROUP}/`) || isKustomization(object)

/** Somebody else who renders the same object, and did so before; without a comparison, anybody else. */
function rival({ id, kind, node }: TenantSubject, { index, before }: RuleContext): Rendered | undefined {
  const { tenant, cluster } = node
  // what belongs to the whole cluster has rules of its own
  if (id.namespace === '' || kind === '/Namespace') return undefined
  const all = index.versionsOf(cluster, kind, id.namespace, id.name)
  if (all.length < 2) return undefined
  // another tenant has no business there: that is its own violation, and none of who is at home
  const isHome = index.owns(cluster, tenant, id.namespace)
  // the kubeconfigs of Capsule lead back to this cluster
  const mayLeave = !index.isCapsuleTenant(cluster, tenant)
  const others = all.filter(
    one =>
      one.node.key !== node.key &&
      !(mayLeave && isElsewhere(one.node, node)) &&
      (!isHome || (one.node.tenant ?? tenant) === tenant),
  )
  if (others.length === 0 || !before) return others[0]
  const stood = before.versionsOf(cluster, kind, id.namespace, id.name).map(one => one.node.key)
  // who was there first is not to blame for who comes later
  return others.find(one => !stood.includes(node.key) || stood.includes(one.node.key))
}
