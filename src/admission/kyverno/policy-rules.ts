import { oncePerName } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { AdmissionWorld } from '../admission/admission-request.ts'
import { type ContextValue, type Fields, fromNode, isFields, isList, valueAt } from '../jmespath/values.ts'
import type { RuleRequest } from './rule-request.ts'
import { isKindSelected } from './selection.ts'

export const CLUSTER_POLICY = 'kyverno.io/ClusterPolicy'
export const POLICY = 'kyverno.io/Policy'

/** A rule and the policy that contains it. */
export interface WrittenRule extends ComputedRule {
  readonly policy: KubeObject
  /** '' for a ClusterPolicy. */
  readonly policyNamespace: string
}

type Asked = Pick<RuleRequest, 'group' | 'version' | 'kind' | 'subresource' | 'namespace'>

/** The validating rules of platform policies that may apply to objects of a kind in a namespace. */
export function policyRules(world: AdmissionWorld, asked: Asked): readonly WrittenRule[] {
  const { namespace } = asked
  const own = namespace === '' ? [] : world.policiesIn(POLICY, namespace)
  return [...world.policies(CLUSTER_POLICY), ...own].flatMap(policy => rulesFor(policy, asked))
}

const byPolicy = oncePerName<KubeObject, readonly WrittenRule[]>()

function rulesFor(policy: KubeObject, asked: Asked): readonly WrittenRule[] {
  const key = `${asked.group}/${asked.version}/${asked.kind}/${asked.subresource ?? ''}`
  return byPolicy(policy, key, () => {
    const policyNamespace = at(policy.root, ['kind']) && idOf(policy).kind === 'Policy' ? idOf(policy).namespace : ''
    return computedRules(policy, asked.kind)
      .filter(({ rule }) => rule.has('validate') && mayMatch(rule.get('match'), asked))
      .map(one => ({ ...one, policy, policyNamespace }))
  })
}

/** Whether the kinds alone leave at least one filter that may match. */
function mayMatch(match: ContextValue | undefined, asked: Asked): boolean {
  const [any, all] = ['any', 'all'].map(key => {
    const list = valueAt(match, [key])
    return isList(list) ? list : []
  })
  if (any!.length > 0) return any!.some(filter => isOfKind(filter, asked))
  if (all!.length > 0) return all!.every(filter => isOfKind(filter, asked))
  return isFields(match) && isOfKind(match, asked)
}

function isOfKind(filter: ContextValue, asked: Asked): boolean {
  const kinds = valueAt(filter, ['resources', 'kinds'])
  if (!isList(kinds) || kinds.length === 0) return true
  return kinds.some(kind => typeof kind === 'string' && isKindSelected(kind, asked))
}

/** A rule of a policy in the form that applies to objects of one kind. */
export interface ComputedRule {
  /** The name as written; Kyverno prefixes the name of a generated rule with `autogen-`. */
  readonly writtenName: string
  readonly name: string
  readonly rule: Fields
  readonly node: Node
  readonly origin: Origin
}

const CONTROLLERS: ReadonlyMap<string, string> = new Map([
  ['DaemonSet', 'apps/v1/DaemonSet'],
  ['Deployment', 'apps/v1/Deployment'],
  ['Job', 'batch/v1/Job'],
  ['StatefulSet', 'apps/v1/StatefulSet'],
  ['ReplicaSet', 'apps/v1/ReplicaSet'],
  ['ReplicationController', 'v1/ReplicationController'],
  ['CronJob', 'batch/v1/CronJob'],
])
const ANNOTATION = 'pod-policies.kyverno.io/autogen-controllers'
const LONGEST_NAME = 63

/**
 * The rules of a policy for one kind: the written rules, and for Pod controllers the rules that Kyverno generates from rules
 * about Pods (pkg/autogen).
 */
export function computedRules(policy: KubeObject, kind: string): ComputedRule[] {
  const nodes = itemsOf(at(policy.root, ['spec', 'rules']))
  const written = nodes.map(node => ({ node, rule: fromNode(node) }))
  const own = written.flatMap(({ node, rule }): ComputedRule[] => {
    const name = stringAt(node, ['name']) ?? ''
    return isFields(rule) ? [{ writtenName: name, name, rule, node, origin: node.origin }] : []
  })
  if (!CONTROLLERS.has(kind) || !isGenerated(policy, kind, own)) return own
  const made = own.flatMap(one => generated(one, kind))
  return made.length === 0 ? own : [...own.filter(({ name }) => !name.startsWith('autogen-')), ...made]
}

function isGenerated(policy: KubeObject, kind: string, rules: readonly ComputedRule[]): boolean {
  let isNeeded = false
  for (const { rule } of rules) {
    if (rule.has('generate')) return false
    for (const filter of [...filtersOf(rule.get('match')), ...filtersOf(rule.get('exclude'))]) {
      const resources = valueAt(filter, ['resources'])
      const isNarrow = ['name', 'names', 'selector', 'annotations'].some(key => !isEmpty(valueAt(resources, [key])))
      const kinds = textsAt(resources, 'kinds')
      if (isNarrow || (kinds.length > 1 && kinds.some(isPod))) return false
      isNeeded ||= kinds.some(one => one === 'Pod' || CONTROLLERS.has(one))
    }
  }
  const annotation = stringAt(policy.root, ['metadata', 'annotations', ANNOTATION])
  const isMeant = annotation === undefined || annotation === 'all' || annotation.split(',').includes(kind)
  return isNeeded && isMeant
}

const isEmpty = (value: ContextValue | undefined) => value === undefined || value === null || value === ''

/** The block itself and the filters below its `any` and `all`. */
function filtersOf(block: ContextValue | undefined): ContextValue[] {
  if (!isFields(block)) return []
  const lists = ['any', 'all'].flatMap(key => {
    const list = block.get(key)
    return isList(list) ? list : []
  })
  return [block, ...lists]
}

function textsAt(value: ContextValue | undefined, key: string): string[] {
  const list = valueAt(value, [key])
  return isList(list) ? list.filter(one => typeof one === 'string') : []
}

/** Whether a kind in Kyverno's notation selects Pods. */
function isPod(written: string): boolean {
  const name = written.slice(written.lastIndexOf('/') + 1)
  return name.split('.')[0] === 'Pod' || /^(?:v1\/|\*\/)?Pod\/\w+$/.test(written)
}

function generated(one: ComputedRule, kind: string): ComputedRule[] {
  const { rule, writtenName } = one
  if (writtenName.startsWith('autogen-')) return []
  const kindsOf = (block: ContextValue | undefined) =>
    filtersOf(block).flatMap(filter => textsAt(valueAt(filter, ['resources']), 'kinds'))
  const [matched, excluded] = [kindsOf(rule.get('match')), kindsOf(rule.get('exclude'))]
  if (!matched.some(isPod) || (excluded.length > 0 && !excluded.some(isPod))) return []
  const isCron = kind === 'CronJob'
  const validate = rule.get('validate')
  if (!isFields(validate)) return []
  const made = new Map(rule)
  made.set('match', withKind(rule.get('match'), kind, true))
  if (isFields(rule.get('exclude'))) made.set('exclude', withKind(rule.get('exclude'), kind, excluded.length > 0))
  made.set('validate', nested(validate, isCron ? ['spec', 'jobTemplate', 'spec', 'template'] : ['spec', 'template']))
  const place = isCron ? 'spec.jobTemplate.spec.template' : 'spec.template'
  const name = `${isCron ? 'autogen-cronjob' : 'autogen'}-${writtenName}`.slice(0, LONGEST_NAME)
  return [{ ...one, name, rule: moved(made, place, validate.has('cel')) as Fields }]
}

/** Changes filters for Pods to filters for the given kind. */
function withKind(block: ContextValue | undefined, kind: string, sets: boolean): ContextValue {
  if (!isFields(block)) return block ?? null
  const kinds = [CONTROLLERS.get(kind)!]
  const of = (filter: ContextValue): ContextValue => {
    const resources = valueAt(filter, ['resources'])
    if (!isFields(filter) || !isFields(resources)) return filter
    return new Map([...filter, ['resources', new Map([...resources, ['kinds', kinds]])]])
  }
  for (const key of ['any', 'all']) {
    const list = block.get(key)
    if (!isList(list) || list.length === 0) continue
    const isMeant = (filter: ContextValue) =>
      textsAt(valueAt(filter, ['resources']), 'kinds').some(isPod) || kind === 'CronJob'
    return new Map([...block, [key, list.map(filter => (isMeant(filter) ? of(filter) : filter))]])
  }
  return sets ? of(block) : block
}

/** Nests a pattern below the Pod template. */
function nested(validate: Fields, path: readonly string[]): Fields {
  const below = (pattern: ContextValue): ContextValue =>
    path.reduceRight<ContextValue>((inner, key) => new Map([[key, inner]]), pattern)
  const made = new Map(validate)
  const [pattern, anyPattern] = [validate.get('pattern'), validate.get('anyPattern')]
  if (pattern !== undefined) made.set('pattern', below(pattern))
  else if (isList(anyPattern) && !validate.has('deny') && !validate.has('podSecurity')) {
    made.set('anyPattern', anyPattern.map(below))
  }
  return made
}

/** Rewrites the Pod fields in every text of a rule to their path below the template. */
function moved(value: ContextValue, place: string, isCel: boolean): ContextValue {
  if (typeof value === 'string') return movedText(value, place, isCel)
  if (isList(value)) return value.map(item => moved(item, place, isCel))
  if (!isFields(value)) return value
  return new Map([...value].map(([key, item]) => [movedText(key, place, isCel), moved(item, place, isCel)]))
}

function movedText(text: string, place: string, isCel: boolean): string {
  if (!text.includes('bject.')) return text
  const before = isCel ? '' : 'request.'
  let made = text
  for (const part of ['spec', 'metadata']) {
    for (const object of ['object', 'oldObject']) {
      made = made.replaceAll(`${before}${object}.${part}`, `${before}${object}.${place}.${part}`)
    }
  }
  return made
}
