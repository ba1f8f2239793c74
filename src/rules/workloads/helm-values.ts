import { BailiwickError } from '../../base/errors.ts'
import { message, part } from '../../base/message.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import { pointer } from '../../kube/field-lines.ts'
import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { at, isTrue, type Node, type Path, type ScalarValue, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'
import { everyMap, everyPath, isOff, isUnset, textOf } from '../model/object-values.ts'
import type { Rule, Subject, Violation } from '../model/rule.ts'
import { type Asked, askedOf, CONTAINER_TREE, CONTEXT_TREE } from './pod-standards.ts'

const SWITCHES = new Set('hostnetwork hostpid hostipc privileged usehostnetwork usehostport hostportenabled'.split(' '))
/** Cluster-wide rights, as charts name them. */
const CLUSTER_WIDE = new Set(
  'clusterwide clusterrole clusterroles clusteradmin clusterscoped clusterscope createclusterrole clusterwideaccess createclusterroles'.split(
    ' ',
  ),
)
const CONTEXTS = new Set('securitycontext podsecuritycontext containersecuritycontext'.split(' '))

/** A tenant's chart values request no more than a namespace holds. */
export const helmValuesPrivileged: Rule = {
  id: 'helm-values-privileged',
  severity: 'medium',
  level: 'warning',
  title: 'Privileged Helm values',
  why: 'Bailiwick does not render charts. Values that request the host network, root or cluster-wide rights show that the chart creates privileged objects.',
  docs: 'Remove host namespaces, hostPath, privileged settings, `rbac.create` and cluster-wide roles from `values`, `valuesFrom` and the patches in `postRenderers`.',
  kinds: [HELM_RELEASE],
  *checkTenantObject(subject, { index }) {
    const { node, object } = subject
    for (const { path, root, inline } of helmInputs(object, node.cluster, index)) {
      const isReconciler = (name: string) => index.reconciler(node.cluster, subject.id.namespace, name) !== undefined
      const { asked, accounts } = wishesOf(root, !inline)
      for (const one of asked) yield violation(subject, inline ? [...path, ...one.path] : path, one)
      for (const one of accounts) {
        if (one.name !== undefined && !isReconciler(one.name)) continue
        yield violation(subject, inline ? [...path, ...one.path] : path, one)
      }
    }
  },
}

/** Values of every sort: if any value breaks a rule, one of these does. */
const ANSWERS: readonly ScalarValue[] = [true, false, 0, 'hostPath', 'ALL', 'Unconfined', 'Unmasked', 'unknown']
/** Sections of values that are asked about as a whole. */
const SECTIONS = new Set([...CONTEXTS, 'rbac', 'serviceaccount', 'hostpath', 'capabilities', 'volumes', 'extravolumes'])

/** Lists and maps of manifests, as texts, that charts render as they are. */
const MANIFESTS = /^(?:extra|additional|raw)(?:deploy|objects?|manifests?|resources?|templates?)$/i

/** Whether some value at a path below a chart's values would be asked about: by what it is, or by the section that it replaces. */
export function isRuledValue(path: Path): boolean {
  if (SECTIONS.has(String(path.at(-1)).toLowerCase())) return true
  if (path.slice(-2).some(step => MANIFESTS.test(String(step)))) return true
  return ANSWERS.some(answer => {
    const root = path.reduceRight<Node>(
      (inner, step) =>
        typeof step === 'number'
          ? { type: 'list', items: [inner], origin: NOWHERE }
          : { type: 'map', fields: new Map([[step, { key: NOWHERE, value: inner }]]), origin: NOWHERE },
      { type: 'scalar', value: answer, origin: NOWHERE },
    )
    return [...wishes(root), ...accounts(root, true)].length > 0
  })
}

interface Wish {
  readonly path: Path
  readonly what: string
  readonly value: string
}

interface Wishes {
  readonly asked: readonly Wish[]
  /** Accounts that are named: they count only where Flux acts as them. */
  readonly accounts: readonly AccountWish[]
}

interface AccountWish extends Wish {
  readonly name?: string
}

/** Accounts that the values of one release may name, each looked up. */
const MAX_ACCOUNTS = 1_000
const known = new WeakMap<Node, Wishes>()

/** What values request; values never change, so those of many releases are evaluated once. */
function wishesOf(root: Node, mayBeUnseen: boolean): Wishes {
  const before = known.get(root)
  if (before) return before
  const found: Wishes = { asked: [...wishes(root)], accounts: [...accounts(root, mayBeUnseen)] }
  if (found.accounts.length > MAX_ACCOUNTS) {
    const what = `values that name more than ${MAX_ACCOUNTS} accounts`
    throw new BailiwickError('render-limits', what, {
      origin: root.origin,
      fix: message`Remove accounts from the values.`,
    })
  }
  known.set(root, found)
  return found
}

function* wishes(root: Node): Iterable<Wish> {
  for (const { path, node: map } of everyMap(root)) {
    yield* patched(map, path)
    for (const [key, { value }] of map.fields) yield* named(key, value, [...path, key])
    for (const asked of askedOf(map, CONTAINER_TREE)) {
      if (asked.path[0] === 'securityContext') continue
      const standard = asked.requirement.breaks(asked.node, false)
      if (standard && standard !== 'unusual') yield wishOf(asked, path)
    }
  }
}

const wishOf = ({ path, node, requirement }: Asked, base: Path): Wish => ({
  path: [...base, ...path],
  what: requirement.reason,
  value: valueText(node),
})

/** Pods that would run as the account by which Flux applies everything of the tenant. */
function* accounts(root: Node, mayBeUnseen: boolean): Iterable<AccountWish> {
  for (const { path, node: map } of everyMap(root)) {
    for (const place of [['serviceAccountName'], ['serviceAccount', 'name'], ['serviceAccount']]) {
      const value = at(map, place)
      const name = textOf(value) ?? ''
      const isUnseen = mayBeUnseen && isTrue(value)
      if (isUnseen) yield { path: [...path, ...place], what: 'an account that is not seen here', value: 'unseen' }
      if (name !== '') yield { path: [...path, ...place], what: 'the account of Flux for its pods', value: name, name }
    }
  }
}

function* named(key: string, value: Node, path: Path): Iterable<Wish> {
  const name = key.toLowerCase()
  const wish = (what: string): Wish => ({ path, what, value: valueText(value) })
  if (SWITCHES.has(name) && !isOff(value) && value.type === 'scalar') yield wish(`${key} of its pods`)
  else if (name === 'hostpath' && !isUnset(value) && !isOff(value)) yield wish('a directory of the node')
  else if (name === 'type' && textOf(value) === 'hostPath') yield wish('a directory of the node')
  else if (CLUSTER_WIDE.has(name) && isGranted(value)) yield wish('rights on the whole cluster')
  else if (name === 'rbac' && !isOff(at(value, ['create']) ?? OFF))
    yield { ...wish('roles and bindings'), path: [...path, 'create'] }
  else if (CONTEXTS.has(name)) yield* context(value, path)
}

const NOWHERE: Origin = { repository: '', file: '', line: 0, column: 0 }
const OFF: Node = { type: 'scalar', value: false, origin: NOWHERE }

/** A switch that is on, or a section that is not switched off. */
function isGranted(value: Node): boolean {
  if (value.type !== 'map') return !isOff(value)
  const flag = at(value, ['create']) ?? at(value, ['enabled'])
  return flag ? !isOff(flag) : !isUnset(value)
}

function* context(value: Node, path: Path): Iterable<Wish> {
  for (const asked of askedOf(value, CONTEXT_TREE)) {
    // `privileged` is found by its name
    if (asked.path[0] !== 'privileged' && asked.requirement.breaks(asked.node, false)) yield wishOf(asked, path)
  }
}

/** An operation of a JSON patch, by the last step of its path. */
function* patched(map: Node, path: Path): Iterable<Wish> {
  const op = textOf(at(map, ['op']))
  const target = textOf(at(map, ['path']))
  const value = at(map, ['value'])
  if ((op !== 'add' && op !== 'replace') || target === undefined || !value) return
  const key = target.slice(target.lastIndexOf('/') + 1)
  if (CONTEXTS.has(key.toLowerCase()) || SWITCHES.has(key.toLowerCase()) || key === 'hostPath') {
    yield* named(key, value, [...path, 'value'])
  } else if (target.includes('/capabilities/add')) {
    yield { path: [...path, 'value'], what: 'non-default capabilities', value: valueText(value) }
  }
}

const valueText = (node: Node | undefined) => textOf(node) ?? 'set'

function violation(subject: Subject, path: Path, { what, value }: Wish): Violation {
  return subject.violation(path, `${what} ${value}`, {
    message: message`${subject.who} requests ${part('text', what)} at ${quoted('field', pointer(path))}. Allowed: values that keep pods unprivileged and objects in the namespace. Flux would install the chart with the rights of its service account.`,
    fix: message`Remove the value, or ask a fleet admin to install the chart.`,
  })
}

/** Helm itself reads no deeper paths. */
const MAX_TARGET = 1_000

/** A piece of what a HelmRelease gives to its chart, or does to what the chart renders. */
interface HelmInput {
  /** Where the release says it. */
  readonly path: Path
  /** The values; `path` is where they begin. */
  readonly root: Node
  /** The values are in the release itself, so their fields are fields of it. */
  readonly inline: boolean
}

/** Values, values of ConfigMaps that the fleet renders, single ones with their `targetPath`, and patches of the outcome. */
function* helmInputs(release: KubeObject, cluster: string, index: FleetIndex): Iterable<HelmInput> {
  const values = at(release.root, ['spec', 'values'])
  if (values) yield { path: ['spec', 'values'], root: values, inline: true }
  for (const path of everyPath(release.root, ['spec', 'valuesFrom', '*'])) {
    const from = at(release.root, path)!
    const target = stringAt(from, ['targetPath']) ?? ''
    const source = sourceValue(from, release, cluster, index)
    if (target !== '') yield { path, root: nested(target, textOf(source), from), inline: false }
    else if (source) for (const root of parsed(source)) yield { path, root, inline: false }
  }
  for (const path of everyPath(release.root, ['spec', 'postRenderers', '*', 'kustomize', 'patches', '*', 'patch'])) {
    for (const root of parsed(at(release.root, path)!)) yield { path, root, inline: false }
  }
  // of older versions of HelmRelease, where patches are no texts
  for (const field of [
    ['patchesStrategicMerge', '*'],
    ['patchesJson6902', '*', 'patch'],
  ]) {
    for (const path of everyPath(release.root, ['spec', 'postRenderers', '*', 'kustomize', ...field])) {
      yield { path, root: at(release.root, path)!, inline: false }
    }
  }
}

/** The value of a key of a ConfigMap in the namespace of the release; undefined where the fleet does not show it. */
function sourceValue(from: Node, release: KubeObject, cluster: string, index: FleetIndex): Node | undefined {
  if (stringAt(from, ['kind']) !== 'ConfigMap') return undefined
  const namespace = stringAt(release.root, ['metadata', 'namespace']) ?? ''
  const name = stringAt(from, ['name']) ?? ''
  const object = index.versionsOf(cluster, '/ConfigMap', namespace, name).at(-1)?.object
  return at(object?.root, ['data', stringAt(from, ['valuesKey']) || 'values.yaml'])
}

/** `a.b[0].c` with a value, as Helm's --set reads it: what the fleet does not show may be anything. */
function nested(target: string, text: string | undefined, from: Node): Node {
  const { origin } = from
  const value = text === undefined || text === 'true' ? true : /^\d{1,9}$/.test(text) ? Number(text) : text
  if (target.length > MAX_TARGET) {
    const what = `a targetPath of more than ${MAX_TARGET} characters`
    throw new BailiwickError('render-limits', what, { origin, fix: message`Shorten the path.` })
  }
  const steps = target.split(/[.[\]]+/).filter(step => step !== '' && !/^\d+$/.test(step))
  const leaf: Node = { type: 'scalar', value, origin }
  return steps.reduceRight<Node>(
    (inner, step) => ({ type: 'map', fields: new Map([[step, { key: origin, value: inner }]]), origin }),
    leaf,
  )
}

/** Values never change, so that those that many releases take are parsed once. Throws `render-limits`. */
const parsed = oncePer((value: Node): readonly Node[] => {
  try {
    return parseDocuments({ repository: '', path: 'values' }, Buffer.from(textOf(value) ?? ''))
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    if (error.code !== 'render-limits') return []
    throw new BailiwickError('render-limits', error.message, { origin: value.origin, fix: error.fix })
  }
})
