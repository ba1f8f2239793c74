import type { FleetIndex } from '../../facts/fleet-index.ts'
import { namespaceLabels } from '../../facts/namespace-labels.ts'
import { type Json, type Node, stringAt, toJson } from '../../kube/node.ts'
import type { PolicyQuestion } from '../engine.ts'
import { spellingsOf } from '../spellings-of.ts'
import { evaluateCel, UNKNOWN, type Value } from './evaluate-cel.ts'
import { parseCel } from './parse-cel.ts'

/** Lists of expressions, as policies have them. */
interface CelRules {
  readonly conditions?: readonly Node[] | undefined
  readonly variables?: readonly Node[] | undefined
  readonly validations?: readonly Node[] | undefined
  /** What the name `params` stands for. */
  readonly params?: Json | undefined
}

/** Whether expressions refuse an object because of its address; undefined: that cannot be worked out here. */
export function refusesByCel(index: FleetIndex, question: PolicyQuestion, rules: CelRules): boolean | undefined {
  const answers = spellingsOf(question).map(spelling => refusesSpelling(index, question, spelling, rules))
  if (answers.includes(false)) return false
  return answers.includes(undefined) ? undefined : true
}

/** An expression that looks at the address is false. */
function refusesSpelling(
  index: FleetIndex,
  question: PolicyQuestion,
  spelling: string,
  { conditions = [], variables = [], validations = [], params }: CelRules,
): boolean | undefined {
  const names = namesOf(index, question, spelling, params)
  const values: { [key: string]: Json } = Object.create(null)
  /** The address and the variables that look at it; words of what may be about it and cannot be worked out. */
  const [about, unclear] = [new Set([`object.${question.field.join('.')}`]), new Set([String(question.field.at(-1))])]
  const work = (node: Node): Worked => {
    const text = stringAt(node, ['expression']) ?? ''
    const expression = parseCel(text)
    let isAbout = false
    const note = (path: string) => {
      isAbout ||= about.has(path)
    }
    const value = expression ? evaluateCel(expression, names, note) : UNKNOWN
    return { value, isAbout, isUnclear: value === UNKNOWN && [...unclear].some(word => text.includes(word)) }
  }
  names.set('variables', values)
  for (const one of variables) {
    const name = stringAt(one, ['name']) ?? ''
    const { value, isAbout, isUnclear } = work(one)
    if (value !== UNKNOWN) values[name] = value
    if (isAbout) about.add(`variables.${name}`)
    if (isUnclear) unclear.add(`variables.${name}`)
  }
  const applies = conditions.map(one => work(one).value)
  if (applies.includes(false)) return false
  const worked = validations.map(work).filter(({ isAbout, isUnclear }) => isAbout || isUnclear)
  if (worked.every(({ value }) => value === true)) return false
  if (applies.some(value => value !== true)) return undefined
  if (worked.some(({ value, isAbout }) => isAbout && value === false)) return true
  return worked.some(({ value }) => typeof value !== 'boolean') ? undefined : false
}

/** What an expression comes to, and whether it looks at the address or, where that is not known, may do so. */
interface Worked {
  readonly value: Value
  readonly isAbout: boolean
  readonly isUnclear: boolean
}

function namesOf(
  index: FleetIndex,
  { subject: { object, id, node }, field }: PolicyQuestion,
  address: string,
  params: Json | undefined,
) {
  const root = toJson(object.root) as { [key: string]: Json }
  const spec = { ...(root.spec as { [key: string]: Json }), [String(field.at(-1))]: address }
  const labels = Object.fromEntries(namespaceLabels(index, node.cluster, id.namespace))
  return new Map<string, Value>([
    ['object', { ...root, spec }],
    ['request', { namespace: id.namespace, name: id.name, userInfo: { username: node.identity.user } }],
    ['namespaceObject', { metadata: { name: id.namespace, labels } }],
    ...(params === undefined ? [] : [['params', params] as const]),
  ])
}
