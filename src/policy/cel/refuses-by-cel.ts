import type { FleetIndex } from '../../facts/fleet-index.ts'
import { namespaceLabels } from '../../facts/namespace-labels.ts'
import type { Subject } from '../../facts/subject.ts'
import { type Json, type Node, stringAt, toJson } from '../../kube/node.ts'
import { evaluateCel, UNKNOWN, type Value } from './evaluate-cel.ts'
import { parseCel } from './parse-cel.ts'

/** What is asked of a policy. */
export interface CelQuestion {
  /** Where the address is, as `object.spec.url`. */
  readonly field: string
  /** One spelling of it. */
  readonly address: string
  readonly params: Json | undefined
}

/** Lists of expressions, as policies have them. */
interface CelRules {
  readonly conditions?: readonly Node[] | undefined
  readonly variables?: readonly Node[] | undefined
  readonly validations?: readonly Node[] | undefined
}

/** Whether a policy refuses an object because of its address: an expression that looks at it is false. */
export function refusesByCel(index: FleetIndex, subject: Subject, question: CelQuestion, rules: CelRules): boolean {
  const names = namesOf(index, subject, question)
  const variables: { [key: string]: Json } = Object.create(null)
  /** Variables that look at the address. */
  const about = new Set<string>([question.field])
  const work = (node: Node): { value: Value; isAbout: boolean } => {
    const expression = parseCel(stringAt(node, ['expression']) ?? '')
    let isAbout = false
    const note = (path: string) => {
      isAbout ||= about.has(path)
    }
    return { value: expression ? evaluateCel(expression, names, note) : UNKNOWN, isAbout }
  }
  names.set('variables', variables)
  for (const one of rules.variables ?? []) {
    const name = stringAt(one, ['name']) ?? ''
    const { value, isAbout } = work(one)
    if (value !== UNKNOWN) variables[name] = value
    if (isAbout) about.add(`variables.${name}`)
  }
  if (!(rules.conditions ?? []).every(one => work(one).value === true)) return false
  return (rules.validations ?? []).some(one => {
    const { value, isAbout } = work(one)
    return value === false && isAbout
  })
}

function namesOf(index: FleetIndex, { object, id, node }: Subject, { field, address, params }: CelQuestion) {
  const root = toJson(object.root) as { [key: string]: Json }
  const spec = { ...(root.spec as { [key: string]: Json }), [field.split('.').at(-1)!]: address }
  const labels = Object.fromEntries(namespaceLabels(index, node.cluster, id.namespace))
  return new Map<string, Value>([
    ['object', { ...root, spec }],
    ['request', { namespace: id.namespace, name: id.name, userInfo: { username: node.identity.user } }],
    ['namespaceObject', { metadata: { name: id.namespace, labels } }],
    ...(params === undefined ? [] : [['params', params] as const]),
  ])
}
