import { kindOfId } from '../../facts/kind-of.ts'
import { at, type Node, type Path } from '../../kube/node.ts'
import type { AdmissionAnswer, AdmissionFinding, AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { defaultedNode } from '../admission/defaulted-node.ts'
import type { NotEvaluated } from '../engine.ts'
import { type Matching, matchObject } from './match-object.ts'
import { type KyvernoRule, rulesFor } from './rules-for.ts'

/** What Kyverno's ClusterPolicies and Policies say about a request, by `validate.pattern` and `validate.anyPattern`. */
export function evaluateKyverno(world: AdmissionWorld, request: AdmissionRequest): AdmissionAnswer {
  const [findings, notEvaluated]: [AdmissionFinding[], NotEvaluated[]] = [[], []]
  // patterns are about what is there
  if (request.operation === 'DELETE') return { findings, notEvaluated }
  const { object, id, user, operation } = request
  for (const rule of rulesFor(world, { object, id, kind: kindOfId(id), user, operations: [operation] })) {
    const { policy, rule: name, origin, message, enforces } = rule
    const outcome: Matching = rule.why === undefined ? matchRule(rule, request) : { unclear: rule.why }
    if (typeof outcome === 'string') continue
    if ('unclear' in outcome) notEvaluated.push({ policy, rule: name, origin, why: outcome.unclear })
    else if (at(object.root, outcome.failed)?.type === 'scalar' && isUnknown(at(object.root, outcome.failed)!)) {
      notEvaluated.push({ policy, rule: name, origin, why: 'a value that only the cluster has' })
    } else {
      const action = enforces ? 'deny' : 'audit'
      const said = message || `rule ${name} failed at path /${outcome.failed.join('/')}/`
      findings.push({ policy, rule: name, field: outcome.failed, origin, message: said, action, by: 'Kyverno' })
    }
  }
  return { findings, notEvaluated }
}

const isUnknown = (node: Node) => node.type === 'scalar' && node.opaque !== undefined

/** Parts of `validate` that are not evaluated, by name. */
const OTHERS = ['deny', 'foreach', 'cel', 'podSecurity', 'manifests', 'assert'] as const

function matchRule({ validate, template }: KyvernoRule, { object }: AdmissionRequest): Matching {
  const root = defaultedNode(object)
  const value = template.length > 0 ? at(root, template) : root
  const pattern = at(validate, ['pattern'])
  if (pattern) return below(template, matchObject(pattern, value))
  const alternatives = at(validate, ['anyPattern'])
  if (alternatives?.type === 'list') return below(template, matchAlternatives(alternatives.items, value))
  const other = OTHERS.find(key => at(validate, [key]) !== undefined)
  return other === undefined ? 'pass' : { unclear: `validate.${other} is not evaluated here` }
}

function matchAlternatives(patterns: readonly Node[], value: Node | undefined): Matching {
  const outcomes = patterns.map(pattern => matchObject(pattern, value))
  const clear =
    outcomes.find(one => one === 'pass') ?? outcomes.find(one => typeof one === 'object' && 'unclear' in one)
  if (clear) return clear
  return outcomes.find(one => one !== 'skip') ?? 'skip'
}

function below(template: Path, outcome: Matching): Matching {
  return typeof outcome === 'object' && 'failed' in outcome ? { failed: [...template, ...outcome.failed] } : outcome
}
