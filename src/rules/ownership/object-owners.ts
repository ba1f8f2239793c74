import { codeWord, message, part } from '../../base/message.ts'
import { oncePer } from '../../base/once-per.ts'
import { hashOf, placeText } from '../../fleet/facts/fingerprint.ts'
import type { Rendered } from '../../fleet/facts/object-table.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import { remoteClusterOf } from '../../fleet/graph/open-node.ts'
import { type FleetNode, isSecondVersion } from '../../fleet/model/fleet.ts'
import { isKustomization } from '../../flux/references.ts'
import { FLUX_KINDS, SOURCE_GROUP, valuesOf } from '../../kube/flux-kinds.ts'
import { at, canonical, type Node, originAt, stringAt } from '../../kube/node.ts'
import { groupOf, idOf } from '../../kube/object.ts'
import { type Rule, type RuleContext, Subject, type TenantSubject, type Violation } from '../model/rule.ts'

const NAME = ['metadata', 'name']
const nameOf = ({ namespace, name }: Pick<FleetNode, 'namespace' | 'name'>) => `${namespace}/${name}`

/** One Kustomization applies an object: two would overwrite each other. */
export const ownershipConflict: Rule = {
  id: 'ownership-conflict',
  severity: 'high',
  title: 'Object in two Kustomizations',
  why: 'Two Kustomizations with the same object overwrite each other at every interval. When one drops the object, Flux deletes it. A tenant can take over and delete an object of the platform or of another tenant in this way.',
  source: 'fluxcd/pkg ssa: the last one to apply takes the owner labels',
  docs: 'Rename the object, or remove it from one of the two Kustomizations. Of the objects that the platform renders twice, only Kustomizations with different content are reported, as warnings.',
  kinds: 'every',
  *checkNode(node) {
    if (!isSecondVersion(node)) return
    const { namespace, name } = idOf(node.kustomization)
    yield Subject.ofNode(node).violation(NAME, 'versions', {
      level: 'warning',
      severity: 'medium',
      cause: hashOf(['versions', node.parent ?? '']),
      message: message`${objectPart('Kustomization', namespace, name)} is rendered in two versions, and Flux applies each in turn. Allowed: one version. Both are evaluated.`,
      fix: message`Render it once: build its file in one Kustomization only, and not in its own folder.`,
    })
  },
  *checkTenantObject(subject, context) {
    const { object, kind, node } = subject
    const other = rival(subject, context)
    if (!other || isSelf(subject) || isRefused(subject)) return
    const isPlatforms = other.node.tenant === undefined
    const whose = isPlatforms ? 'the platform' : 'the tenant'
    const where = isPlatforms
      ? message``
      : message` by ${objectPart('Kustomization', other.node.namespace, other.node.name)}`
    // another content of an object that is not followed, because there are two, is another violation
    const value = `${other.node.key} ${isFollowed(subject) ? canonical(object.root) : ''}`
    yield subject.violation(NAME, value, {
      cause: hashOf([
        ...[object, other.object].map(one => placeText(originAt(one.root, NAME))).sort(),
        ...[node, other.node].map(nameOf).sort(),
      ]),
      message: message`${subject.who} is applied by Kustomization ${quoted('object', `${node.namespace}/${node.name}`)}, and ${whose} applies it too${where}. They would overwrite and prune each other's object. Allowed: one Kustomization per object. In Flux, the last one to apply wins (${part('value', kind.slice(0, 80))}).`,
      fix: message`Rename the object, or remove it from one of the two Kustomizations.`,
    })
  },
}

/** Whether two Kustomizations apply to two other clusters than the one that holds them. */
function isElsewhere(one: FleetNode, other: FleetNode): boolean {
  const [here, there] = [one, other].map(({ cluster, kustomization }) => remoteClusterOf(cluster, kustomization))
  return here !== undefined && there !== undefined && here !== there
}

/** A Kustomization that renders itself unchanged, as in every bootstrapped fleet. */
const isSelf = ({ object, id, node }: Subject) =>
  isKustomization(object) &&
  id.namespace === node.namespace &&
  id.name === node.name &&
  canonical(object.root) === canonical(node.kustomization.root)

/** Whether the graph already refused it by this rule. */
function isRefused({ object, node: { error } }: Subject): boolean {
  const { file, line } = originAt(object.root, ['metadata', 'name'])
  return error?.rule === 'ownership-conflict' && error.origin?.file === file && error.origin.line === line
}

const isFollowed = ({ kind, object }: Subject) => kind.startsWith(`${SOURCE_GROUP}/`) || isKustomization(object)

/** Another node that renders the same object and did so before; without a comparison, any other node. */
function rival({ id, kind, node }: TenantSubject, { index, before }: RuleContext): Rendered | undefined {
  const { tenant, cluster } = node
  // other rules evaluate cluster-scoped objects
  if (id.namespace === '' || kind === '/Namespace') return undefined
  const all = index.versionsOf(cluster, kind, id.namespace, id.name)
  if (all.length < 2) return undefined
  // another tenant's node there is its own violation, and not one of the namespace's tenant
  const isHome = index.owns(cluster, tenant, id.namespace)
  // the kubeconfigs of Capsule lead back to this cluster
  const mayLeave = !index.isCapsuleTenant(cluster, tenant)
  const isOther = (one: Rendered) =>
    one.node.key !== node.key &&
    !isKept(one.node, node, index) &&
    !(mayLeave && isElsewhere(one.node, node)) &&
    (!isHome || (one.node.tenant ?? tenant) === tenant)
  const stood = before && keysOf(before.versionsOf(cluster, kind, id.namespace, id.name))
  // a node that was there first is not at fault for later ones
  return all.find(one => (!stood?.has(node.key) || stood.has(one.node.key)) && isOther(one))
}

/** Whether one is there only because the Kustomization that renders the other instead is refused, which is its own error. */
function isKept(one: FleetNode, other: FleetNode, index: RuleContext['index']): boolean {
  const kept = one.parent === other.parent ? index.node(one.parent)?.retained : undefined
  return kept?.some(object => nameOf(idOf(object)) === nameOf(one)) === true
}

const keysOf = oncePer((all: readonly Rendered[]) => new Set(all.map(one => one.node.key)))

const OWNERS = FLUX_KINDS.flatMap(row => row.ownerLabels ?? [])
const PARTS = ['name', 'namespace'] as const

/**
 * Kinds whose controller sets `spec.commonMetadata` after its own owner labels, so that it overrides them
 * (kustomize-controller reconcile and apply, helm-controller postrender, flux-operator ResourceSet), and the labels
 * that the controller would set.
 */
const LAST_WORD = valuesOf(row => row.ownerLabels)

/** Only Flux writes the labels by which it knows its objects. */
export const ownerLabelForged: Rule = {
  id: 'owner-label-forged',
  severity: 'high',
  level: 'warning',
  title: 'Forged Flux owner label',
  why: 'Flux prunes an object only if its owner labels name the Kustomization that applied it. Dashboards trust these labels too. kustomize-controller overwrites its own labels, but not those of other controllers. `spec.commonMetadata` is applied last and replaces them.',
  source: 'fluxcd/pkg ssa (SetOwnerLabels, SetCommonMetadata)',
  docs: 'Remove these labels. In the labels of an object the finding is a warning. In `spec.commonMetadata`, where they take effect, it is a violation.',
  kinds: 'every',
  *checkTenantObject(subject) {
    yield* commonLabels(subject)
    const { node } = subject
    const labels = subject.at(['metadata', 'labels'])
    if (labels?.type !== 'map') return
    for (const owner of OWNERS) {
      for (const name of PARTS) {
        const key = `${owner}/${name}`
        const text = stringAt(labels, [key])
        if (!labels.fields.has(key) || isOwn(owner, text, node[name])) continue
        yield subject.violation(['metadata', 'labels', key], `${key}=${text ?? ''}`, {
          message: message`${subject.who} has the label ${part('value', key)}: ${quoted('value', text ?? '')}, but ${quoted('object', `${node.namespace}/${node.name}`)} applies it. Allowed: no owner labels, because Flux writes them.`,
          fix: message`Remove the label ${part('value', key)}.`,
          edit: { remove: true },
        })
      }
    }
  },
}

const COMMON = ['spec', 'commonMetadata', 'labels']

/** Another owner's labels that this object's controller would write onto everything it applies. */
function* commonLabels(subject: TenantSubject): Iterable<Violation> {
  const { id, kind } = subject
  const own = LAST_WORD.get(kind)
  const labels = own === undefined ? undefined : subject.at(COMMON)
  if (labels?.type !== 'map') return
  for (const owner of OWNERS) {
    for (const name of PARTS) {
      const key = `${owner}/${name}`
      if (!labels.fields.has(key)) continue
      const text = stringAt(labels, [key]) ?? ''
      if (owner === own && text === id[name]) continue
      yield subject.violation([...COMMON, key], `${key}=${text}`, {
        level: 'violation',
        message: message`${subject.who} sets the label ${part('value', key)}: ${quoted('value', text)} on all its objects, in place of Flux's own label. Allowed: the name and namespace of the ${part('value', id.kind)} itself.`,
        fix: message`Remove the label ${part('value', key)} from ${codeWord('spec.commonMetadata.labels')}.`,
        edit: { remove: true },
      })
    }
  }
}

const isOwn = (owner: string, text: string | undefined, own: FleetNode['name']) => owner === OWNERS[0] && text === own

/** Finalizers that a well-known controller removes. */
const KNOWN = ['foregroundDeletion', 'orphan']
const KNOWN_PREFIXES = ['kubernetes.io/', 'finalizers.fluxcd.io', 'resources-finalizer.argocd.argoproj.io']

/** Manifests do not decide what is deleted together, or what blocks a deletion. */
export const ownerFinalizerTamper: Rule = {
  id: 'owner-finalizer-tamper',
  severity: 'medium',
  title: 'ownerReferences or finalizers in a manifest',
  why: 'Kubernetes deletes an object with its owner, and the object can block the deletion of that owner. A finalizer without a controller blocks the deletion of the object, its namespace and the tenant.',
  source: 'Kubernetes: Owners and Dependents, Finalizers',
  docs: 'Remove `metadata.ownerReferences` and `metadata.finalizers`. Controllers set them.',
  kinds: 'every',
  *checkTenantObject(subject) {
    const { apiVersion, kind } = idOf(subject.object)
    const isNamespace = kind === 'Namespace' && groupOf(apiVersion) === ''
    const owners = subject.at(['metadata', 'ownerReferences'])
    // the rule namespace-ownership reports those of a Namespace
    if (owners && !isNamespace && !isNothing(owners)) yield owned(subject, owners)
    for (const place of [['metadata', 'finalizers'], ...(isNamespace ? [['spec', 'finalizers']] : [])]) {
      const finalizers = subject.at(place)
      if (finalizers && !isNothing(finalizers)) yield* held(subject, place, finalizers)
    }
  },
}

function owned(subject: Subject, owners: Node): Violation {
  const names = owners.type === 'list' ? owners.items.map(item => ownerName(item)) : [owners.type]
  return subject.violation(['metadata', 'ownerReferences'], [...names].sort().join(' '), {
    message: message`${subject.who} names ${quoted('object', names.join(', '))} as its owner. Kubernetes would delete it with that owner, and it can block the owner's deletion. Allowed: none. The API server accepts it from anyone who can set finalizers of the owner.`,
    fix: message`Remove ${codeWord('metadata.ownerReferences')}.`,
    edit: { remove: true },
  })
}

function* held(subject: Subject, path: readonly string[], finalizers: Node): Iterable<Violation> {
  const items = finalizers.type === 'list' ? finalizers.items : [finalizers]
  for (const item of items) {
    const text = item.type === 'scalar' ? String(item.value) : item.type
    if (KNOWN.includes(text) || KNOWN_PREFIXES.some(prefix => text.startsWith(prefix))) continue
    yield subject.violation(path, text, {
      level: 'warning',
      message: message`${subject.who} has the finalizer ${quoted('value', text)}: until it is removed, the object and its namespace cannot be deleted. Allowed: none.`,
      fix: message`Remove the finalizer ${quoted('value', text)}.`,
    })
  }
}

function ownerName(item: Node): string {
  const of = (key: string) => {
    const field = at(item, [key])
    return field?.type === 'scalar' ? String(field.value) : ''
  }
  return `${of('kind')} ${of('name')}`
}

function isNothing(node: Node): boolean {
  return node.type === 'scalar' ? node.value === null : node.type === 'list' && node.items.length === 0
}
