import { BailiwickError } from '../../errors.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { HELM_RELEASE } from '../../flux/kinds.ts'
import { at, isTrue, type Node, type Path, type ScalarValue } from '../../kube/node.ts'
import { pointer } from '../../kube/pointer.ts'
import { message } from '../../message/message.ts'
import type { Origin } from '../../origin.ts'
import { everyMap } from '../model/every-map.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { type Asked, askedOf } from './support/demand-tree.ts'
import { helmInputs } from './support/helm-values.ts'
import { CONTAINER_TREE, CONTEXT_TREE } from './support/pod-standards.ts'
import { isOff, isUnset, textOf } from './support/scalars.ts'

const SWITCHES = new Set('hostnetwork hostpid hostipc privileged usehostnetwork usehostport hostportenabled'.split(' '))
/** Rights on the whole cluster, as charts call them. */
const CLUSTER_WIDE = new Set(
  'clusterwide clusterrole clusterroles clusteradmin clusterscoped clusterscope createclusterrole clusterwideaccess createclusterroles'.split(
    ' ',
  ),
)
const CONTEXTS = new Set('securitycontext podsecuritycontext containersecuritycontext'.split(' '))

/** Charts of tenants are not asked for more than a namespace holds. */
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

/** Answers of every sort: one of them breaks a rule wherever some value would. */
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

/** What values ask for; values never change, so that those that many releases take are looked at once. */
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

function violation({ object, id, node }: Subject, path: Path, { what, value }: Wish): Violation {
  return {
    node,
    object,
    path,
    value: `${what} ${value}`,
    message: message`${objectPart(id.kind, id.namespace, id.name)} requests ${quoted('value', what)} at ${quoted('field', pointer(path))}. Allowed: values that keep pods unprivileged and objects in the namespace. Flux would install the chart with the rights of its service account.`,
    fix: message`Remove the value, or ask a fleet admin to install the chart.`,
  }
}
