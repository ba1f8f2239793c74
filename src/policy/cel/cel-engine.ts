import type { FleetIndex } from '../../facts/fleet-index.ts'
import { namespaceLabels } from '../../facts/namespace-labels.ts'
import type { Subject } from '../../facts/subject.ts'
import { fluxKind } from '../../flux/kinds.ts'
import { readLabelSelector, selects } from '../../kube/label-selector.ts'
import { at, type Json, type Node, stringAt, toJson } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { textsOf } from '../../kube/read-text.ts'
import type { PolicyAnswer, PolicyEngine, PolicyFinding, PolicyQuestion } from '../engine.ts'
import { refusesByCel } from './ask-cel.ts'

const NATIVE = 'admissionregistration.k8s.io/ValidatingAdmissionPolicy'
const BINDING = `${NATIVE}Binding`
const KYVERNO = 'policies.kyverno.io/ValidatingPolicy'

/**
 * Policies in CEL that look at the address of an object: Kubernetes' ValidatingAdmissionPolicies with their bindings, and
 * Kyverno's ValidatingPolicies. What they say about other fields is not asked.
 */
export const celEngine: PolicyEngine = {
  name: 'cel',
  kinds: [NATIVE, KYVERNO],
  evaluate(index, question) {
    const { cluster } = question.subject.node
    const of = (kind: string) => index.platformAnywhere(cluster, kind).map(({ object }) => object)
    const bindings = of(BINDING)
    const answers = [
      ...of(NATIVE).flatMap(policy => bindings.map(binding => askNative(index, policy, binding, question))),
      ...of(KYVERNO).map(policy => ask(index, policy, question, 'Kyverno', actionOf(policy, 'deny'))),
    ]
    return {
      findings: answers.flatMap(({ findings }) => findings),
      notEvaluated: answers.flatMap(({ notEvaluated }) => notEvaluated),
    }
  },
}

const SILENT: PolicyAnswer = { findings: [], notEvaluated: [] }

function askNative(index: FleetIndex, policy: KubeObject, binding: KubeObject, question: PolicyQuestion): PolicyAnswer {
  if (stringAt(binding.root, ['spec', 'policyName']) !== idOf(policy).name) return SILENT
  const selected = at(binding.root, ['spec', 'matchResources'])
  const isBound = !selected || isMatched(index, selected, question.subject, false)
  if (isBound === false) return SILENT
  const params = paramsOf(index, binding, question.subject)
  const answer = ask(index, policy, question, 'Kubernetes', actionOf(binding, 'audit'), params)
  return isBound ? answer : { findings: [], notEvaluated: answer.findings.map(one => ({ ...one, why: UNSELECTED })) }
}

function ask(
  index: FleetIndex,
  policy: KubeObject,
  question: PolicyQuestion,
  by: string,
  action: PolicyFinding['action'],
  params?: Json,
): PolicyAnswer {
  const constraints = at(policy.root, ['spec', 'matchConstraints'])
  const isAbout = constraints && isMatched(index, constraints, question.subject, true)
  if (isAbout === false || !constraints) return SILENT
  const [conditions, variables, validations] = ['matchConditions', 'variables', 'validations'].map(field =>
    itemsOf(policy, field),
  )
  const refuses = refusesByCel(index, question, { conditions, variables, validations, params })
  if (refuses === false) return SILENT
  const { kind, namespace, name } = idOf(policy)
  const rule = { policy: { kind, namespace, name }, rule: '', origin: policy.root.origin }
  const why = isAbout === undefined ? UNSELECTED : UNREAD
  if (refuses === undefined || isAbout === undefined) return { findings: [], notEvaluated: [{ ...rule, why }] }
  const { subject, field } = question
  const message = validations!.map(one => stringAt(one, ['message']) ?? '').find(one => one !== '') ?? ''
  return { findings: [{ ...rule, object: subject.object, field, message, action, by }], notEvaluated: [] }
}

const UNSELECTED = 'it selects by labels that cannot be read'
const UNREAD = 'its expressions use CEL beyond the comparison of texts'

/** What `validationActions` say; without any, what the program does by default. */
function actionOf({ root }: KubeObject, fallback: PolicyFinding['action']): PolicyFinding['action'] {
  const actions = textsOf(at(root, ['spec', 'validationActions'])) ?? []
  if (actions.length === 0) return fallback
  return actions.includes('Deny') ? 'deny' : actions.includes('Warn') ? 'warn' : 'audit'
}

const itemsOf = (policy: KubeObject, field: string): readonly Node[] => {
  const list = at(policy.root, ['spec', field])
  return list?.type === 'list' ? list.items : []
}

/** `matchConstraints` or `matchResources`; without rules a binding takes what the policy takes. Undefined: not known. */
function isMatched(
  index: FleetIndex,
  match: Node,
  { object, id, kind, node }: Subject,
  needsRule: boolean,
): boolean | undefined {
  const labels = namespaceLabels(index, node.cluster, id.namespace)
  const own = at(object.root, ['metadata', 'labels'])
  const written = new Map<string, string>()
  if (own?.type === 'map') for (const key of own.fields.keys()) written.set(key, stringAt(own, [key]) ?? '')
  const selectors: [string, ReadonlyMap<string, string>][] = [
    ['namespaceSelector', labels],
    ['objectSelector', written],
  ]
  let isKnown = true
  for (const [key, given] of selectors) {
    const selector = at(match, [key])
    const read = selector && readLabelSelector(selector)
    if (read && !selects(read, given)) return false
    if (selector && !read) isKnown = false
  }
  const rules = at(match, ['resourceRules'])
  const excluded = at(match, ['excludeResourceRules'])
  const covers = (list: Node | undefined) => list?.type === 'list' && list.items.some(rule => isCovered(rule, kind))
  if (covers(excluded)) return false
  const isCoveredHere = rules?.type === 'list' && rules.items.length > 0 ? covers(rules) : !needsRule
  return isCoveredHere && !isKnown ? undefined : isCoveredHere
}

function isCovered(rule: Node, kind: string): boolean {
  const slash = kind.lastIndexOf('/')
  const [groups, resources, operations] = ['apiGroups', 'resources', 'operations'].map(
    key => textsOf(at(rule, [key])) ?? [],
  )
  const names = textsOf(at(rule, ['resourceNames'])) ?? []
  const plural = fluxKind(kind)?.plural ?? ''
  if (names.length > 0 || !operations!.some(one => ['*', 'CREATE', 'UPDATE'].includes(one))) return false
  const group = kind.slice(0, slash)
  return groups!.some(one => one === '*' || one === group) && resources!.some(one => ['*', '*/*', plural].includes(one))
}

/** The object that a binding hands to the policy. */
function paramsOf(index: FleetIndex, binding: KubeObject, { id, node }: Subject): Json | undefined {
  const reference = at(binding.root, ['spec', 'paramRef'])
  const name = stringAt(reference, ['name'])
  if (!name) return undefined
  const namespace = stringAt(reference, ['namespace']) || id.namespace
  const found = index.platformObject(node.cluster, '/ConfigMap', namespace, name)
  return found && toJson(found.root)
}
