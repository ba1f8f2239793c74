import { oncePer, oncePerName } from '../base/once-per.ts'
import { kindOf } from '../fleet/facts/object-table.ts'
import { type KubeConfigRef, kubeConfigRefs } from '../fleet/facts/reconcilers.ts'
import { objectText, shownName, shownObject } from '../fleet/facts/shown.ts'
import { sourceKinds } from '../fleet/facts/sources.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { applierKinds, kubeConfigOf } from '../fleet/model/kustomization-spec.ts'
import { withEmbedded } from '../kube/capabilities/embedded-objects.ts'
import { ACCOUNT_FIELD, HELM_RELEASE, KUBECONFIG_FIELD, KUSTOMIZATION, KUSTOMIZE_GROUP } from '../kube/flux-kinds.ts'
import { at, canonical, originAt, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../kube/object.ts'
import { fieldTexts } from '../kube/read-fields.ts'
import type { RequiredApproval } from '../rules/model/finding.ts'
import { onePerGroup } from './source-approvals.ts'

const RULE = 'kubeconfig-ref'

/**
 * What the platform lets Flux apply by kubeconfigs: one that is new, one that an object did not act by before, another
 * account, and another content of it. Where a kubeconfig leads is not in git: it may be the hub itself, whose rules know
 * nothing of what is applied through it. Tenants have the rule `kubeconfig-ref`.
 */
export function remoteApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const [now, was] = [appliersIn(head), appliersIn(base)]
  if (!now.some(isRemote) && !was.some(isRemote)) return []
  const old = platformsOf(base, was)
  const before = Map.groupBy(old, keyOf)
  const known = { targets: new Set(old.map(targetKey)), accounts: new Set(old.map(accountKey)) }
  const changes = platformsOf(head, now).flatMap(one => changeOf(one, before.get(keyOf(one)) ?? [], known) ?? [])
  return [...oncePerTarget(changes), ...changedKubeConfigs(head, base, now, was).map(approvalOfContent)]
}

/** What acts in a namespace of a tenant is evaluated by what its hub gives the tenant, wherever it leads. */
function platformsOf({ clusters }: Fleet, appliers: readonly Applier[]): Applier[] {
  const owners = new Map(clusters.map(one => [one.name, one.owners]))
  return appliers.filter(({ cluster, tenant, id }) => tenant === undefined && !owners.get(cluster)?.has(id.namespace))
}

interface Known {
  readonly targets: ReadonlySet<string>
  readonly accounts: ReadonlySet<string>
}

interface Change {
  readonly applier: Applier
  readonly what: string
  /** Equal for those that are listed together. */
  readonly group: string
}

const isRemote = ({ target }: Applier) => target !== ''
const keyOf = ({ cluster, id }: Applier) => JSON.stringify([cluster, id.kind, id.namespace, id.name])
const targetKey = ({ cluster, target }: Applier) => JSON.stringify([cluster, target])
const accountKey = (one: Applier) => JSON.stringify([targetKey(one), one.id.namespace, one.account])

/** What is new about where and as whom an object acts. Another object in a known place is not new. */
function changeOf(applier: Applier, before: readonly Applier[], known: Known): Change | undefined {
  const of = (what: string, group: string): Change => ({ applier, what, group })
  const { target } = applier
  if (before.some(one => one.target === target && (target === '' || one.account === applier.account))) return undefined
  if (target === '') {
    const [from] = before.filter(isRemote)
    return (
      from &&
      of(
        `would act on cluster ${shownName(applier.cluster)} itself, no longer with ${kubeConfig(from)}`,
        keyOf(applier),
      )
    )
  }
  if (!known.targets.has(targetKey(applier)))
    return of(`would act by ${kubeConfig(applier)}, which is new. ${ANY}`, targetKey(applier))
  const others = before.filter(one => one.target !== target)
  if (before.length > 0 && others.length === before.length) {
    const from = isRemote(others[0]!) ? kubeConfig(others[0]!) : `on cluster ${shownName(applier.cluster)} itself`
    return of(`would act by ${kubeConfig(applier)}, not ${from} as before. ${ANY}`, keyOf(applier))
  }
  if (before.length === 0 && known.accounts.has(accountKey(applier))) return undefined
  return of(`would act by ${kubeConfig(applier)} as ${account(applier)}, unlike before`, accountKey(applier))
}

const ANY = 'It may lead to any cluster, the same one included'

function kubeConfig({ id, refs }: Applier): string {
  const names = refs.map(({ kind, name, key }) => {
    if (kind === '') return 'nothing that it names'
    return `${shownObject(kind, id.namespace, name)}${key === '' ? '' : ` (key ${shownName(key)})`}`
  })
  return `the kubeconfig of ${names.join(' and ')}`
}

const account = ({ account: name }: Applier): string => (name === '' ? 'its own user' : `account ${shownName(name)}`)

/** A new one is listed once, however many objects act by it. */
function oncePerTarget(changes: readonly Change[]): RequiredApproval[] {
  return onePerGroup(
    changes,
    ({ group }) => group,
    ({ applier, what }, others) => {
      const { kind, namespace, name } = applier.id
      return { rule: RULE, path: applier.file, message: `${shownObject(kind, namespace, name)}${others} ${what}` }
    },
  )
}

function approvalOfContent({ applier, object, file }: ReturnType<typeof changedKubeConfigs>[number]): RequiredApproval {
  const { kind, namespace, name } = object
  const by = shownObject(applier.id.kind, applier.id.namespace, applier.id.name)
  const message = `${shownObject(kind, namespace, name)}, by which ${by} acts, changes. It may lead to another cluster than before`
  return { rule: RULE, path: file, message }
}

/** An object that holds a kubeconfig, or that a controller makes one of. */
interface Holder {
  readonly object: ObjectId
  readonly file: string
  /** All of it that may decide what the kubeconfig is. */
  readonly text: string
}

/** What the fleet renders of a kubeconfig, and the object that acts by it. */
interface ChangedKubeConfig {
  readonly applier: Applier
  readonly object: ObjectId
  readonly file: string
}

/**
 * The kubeconfigs that objects acted by before, too, and whose own objects are others than before: the Secret or ConfigMap,
 * or what makes it (an ExternalSecret). One for each, and only those that the platform renders.
 */
function changedKubeConfigs(
  head: Fleet,
  base: Fleet,
  now: readonly Applier[],
  was: readonly Applier[],
): ChangedKubeConfig[] {
  const before = usesOf(was)
  const uses = new Map([...usesOf(now)].filter(([key]) => before.has(key)))
  if (uses.size === 0) return []
  const [old, young] = [holdersOf(base, uses), holdersOf(head, uses)]
  return [...uses].flatMap(([key, applier]) => {
    const [a, b] = [old.get(key) ?? [], young.get(key) ?? []]
    if (sorted(a).join() === sorted(b).join()) return []
    const known = new Set(a.map(({ text }) => text))
    const { object, file } = b.find(({ text }) => !known.has(text)) ?? b[0] ?? a[0]!
    return [{ applier, object, file }]
  })
}

const sorted = (holders: readonly Holder[]) => holders.map(({ text }) => text).sort()

const useKey = (cluster: string, kind: string, namespace: string, name: string) =>
  JSON.stringify([cluster, kind, namespace, name])

/** The Secrets and ConfigMaps that are named, each with the first that acts by it. */
function usesOf(appliers: readonly Applier[]): Map<string, Applier> {
  const uses = new Map<string, Applier>()
  for (const applier of appliers) {
    for (const { kind, name } of applier.refs) {
      const key = useKey(applier.cluster, kind, applier.id.namespace, name)
      if (kind !== '' && !uses.has(key)) uses.set(key, applier)
    }
  }
  return uses
}

function holdersOf({ nodes }: Fleet, uses: ReadonlyMap<string, Applier>): Map<string, Holder[]> {
  const found = new Map<string, Holder[]>()
  for (const node of nodes) {
    if (node.tenant !== undefined) continue
    for (const object of [...node.objects, ...(node.retained ?? [])]) {
      for (const key of keysOf(node, object)) {
        if (uses.has(key)) found.set(key, [...(found.get(key) ?? []), holderOf(object)])
      }
    }
  }
  return found
}

/** The Secrets and ConfigMaps that an object is or becomes. */
function keysOf({ cluster }: FleetNode, object: KubeObject): string[] {
  return withEmbedded(object).flatMap(one => {
    const kind = kindOf(one)
    if (kind !== '/Secret' && kind !== '/ConfigMap') return []
    const id = idOf(one)
    return [useKey(cluster, id.kind, id.namespace || idOf(object).namespace, id.name)]
  })
}

/** Fields that do not affect the content; the keys that SOPS encrypts for are no part of it either. */
const BESIDES = new Set(['apiVersion', 'metadata', 'status', 'sops'])
const OF_FLUX = `${KUSTOMIZE_GROUP}/`

function holderOf(object: KubeObject): Holder {
  const parts = fieldTexts(object.root, key => !BESIDES.has(key))
  // whether Flux applies it at all
  const marks = ['annotations', 'labels'].flatMap(part =>
    fieldTexts(at(object.root, ['metadata', part]), key => key.startsWith(OF_FLUX)),
  )
  const id = idOf(object)
  const text = JSON.stringify([id.kind, id.namespace, id.name, ...parts, ...marks])
  return { object: id, file: object.root.origin.file, text }
}

/** An object by which Flux applies something, and on which cluster that is. */
interface Applier {
  /** The cluster that it is on. */
  readonly cluster: string
  readonly id: ObjectId
  /** The tenant that renders it; absent for the platform. */
  readonly tenant?: string
  /** What its kubeConfig names; none: it acts on its own cluster. */
  readonly refs: readonly KubeConfigRef[]
  /** Identity of the kubeconfig that it acts by; '' for none. */
  readonly target: string
  /** The account that it names; '' where it names none. */
  readonly account: string
  readonly file: string
}

const KINDS: ReadonlySet<string> = new Set(applierKinds)

/** What every node renders to let Flux apply more, and what clusters start with, in the order of the nodes. */
function appliersIn({ nodes }: Fleet): Applier[] {
  return nodes.flatMap(appliersOf)
}

/** Flux looks for the key `value` where none is named. */
const textOf = ({ kind, name, key }: KubeConfigRef): string => JSON.stringify([kind, name, key === 'value' ? '' : key])

const appliersOf = oncePer((node: FleetNode): readonly Applier[] => {
  const { kustomization, objects, retained = NONE, cluster, tenant } = node
  // the root may be patched by what installs Flux, and nothing that is evaluated renders it then
  const roots = node.parent === undefined ? [kustomization] : NONE
  const known = (all: readonly KubeObject[]) =>
    appliers(all, JSON.stringify([cluster, tenant]), () => applyingIn(all).map(one => applierOf(node, one)))
  return [...applyingIn(roots).map(one => applierOf(node, one)), ...known(objects), ...known(retained)]
})

const NONE: readonly KubeObject[] = []
const appliers = oncePerName<readonly KubeObject[], readonly Applier[]>()

const applyingIn = (objects: readonly KubeObject[]): KubeObject[] =>
  objects.flatMap(object => [...withEmbedded(object)].filter(one => KINDS.has(kindOf(one))))

function applierOf({ cluster, tenant }: FleetNode, object: KubeObject): Applier {
  const config = kubeConfigOf(object)
  const refs = config ? kubeConfigRefs(config) : []
  const id = idOf(object)
  return {
    cluster,
    id,
    ...(tenant === undefined ? {} : { tenant }),
    refs,
    target: config ? JSON.stringify([id.namespace, ...refs.map(textOf)]) : '',
    account: stringAt(object.root, ACCOUNT_FIELD)?.trim() ?? '',
    file: originAt(object.root, config ? KUBECONFIG_FIELD : ['metadata', 'name']).file,
  }
}

const UNFOLLOWED_KINDS = new Set([KUSTOMIZATION, HELM_RELEASE, ...sourceKinds])

/**
 * Objects of Flux that the platform newly applies by a kubeconfig to a cluster on which no Flux is known: if one runs there,
 * what it makes of them is not evaluated.
 */
export function unfollowedObjects(head: Fleet, base: Fleet): RequiredApproval[] {
  const now = head.nodes.flatMap(objectsBeyond)
  if (now.length === 0) return []
  const known = new Set(base.nodes.flatMap(objectsBeyond).map(({ key }) => key))
  return onePerGroup(
    now.filter(({ key }) => !known.has(key)),
    ({ object }) => object.root.origin.file,
    ({ node, object }, others) => {
      const message = `${objectText(object)}${others} would be applied to ${shownName(node.cluster)}, on which no Flux is known: what a Flux there makes of it is not evaluated`
      return { rule: 'kubeconfig-ref', path: object.root.origin.file, message }
    },
  )
}

function objectsBeyond(node: FleetNode): { node: FleetNode; object: KubeObject; key: string }[] {
  if (node.hub === undefined || node.tenant !== undefined) return []
  return node.objects.flatMap(object => {
    const spec = at(object.root, ['spec'])
    const { namespace, name } = idOf(object)
    const key = JSON.stringify([node.cluster, kindOf(object), namespace, name, spec && canonical(spec)])
    return UNFOLLOWED_KINDS.has(kindOf(object)) ? [{ node, object, key }] : []
  })
}
