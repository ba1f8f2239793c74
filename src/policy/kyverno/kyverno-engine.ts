import { kyvernoLibrary } from '../../cel/kyverno/kyverno-library.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { at, canonical, itemsOf, type Node } from '../../kube/node.ts'
import { userInfo } from '../../kube/rbac/groups-of.ts'
import { addressRequest, refusesAddress } from '../addresses/refuses-address.ts'
import { worldOf } from '../admission/admission-world.ts'
import type { AddressEngine, NotEvaluated, PolicyFinding, PolicyQuestion } from '../engine.ts'
import { type CelPolicy, compileParts } from '../native/native-policy.ts'
import { deniesAddress } from './denied-address.ts'
import { type KyvernoRule, rulesFor } from './rules-for.ts'

/** Kyverno's ClusterPolicies and Policies: `validate` by pattern, anyPattern, deny and cel. */
export const kyvernoEngine: AddressEngine = {
  evaluate(index, question) {
    const { subject, field } = question
    const [findings, notEvaluated]: [PolicyFinding[], NotEvaluated[]] = [[], []]
    const { cluster, identity } = subject.node
    const { object, id } = subject
    const user = userInfo(identity.user)
    const asked = { object, id, user, operation: 'CREATE' as const, resource: '', isNamespaced: id.namespace !== '' }
    for (const one of rulesFor(worldOf(index, cluster), asked)) {
      const { policy, rule, origin, message, enforces, why = BEYOND } = one
      const refuses = one.why === undefined ? isRefused(index, one, question) : undefined
      if (refuses === undefined && mentions(one, question)) notEvaluated.push({ policy, rule, origin, why })
      const action = enforces ? 'deny' : 'audit'
      if (refuses === true) findings.push({ policy, rule, origin, object, field, message, action, by: 'Kyverno' })
    }
    return { findings, notEvaluated }
  },
}

const BEYOND = 'it compares more than texts, or asks for other fields'

/** Undefined: that cannot be decided here. */
function isRefused(index: FleetIndex, rule: KyvernoRule, question: PolicyQuestion): boolean | undefined {
  const validate = at(rule.written.node, ['validate'])!
  const answers = [deniesAddress(validate, question), refusesCel(index, validate, question)]
  if (answers.includes(true)) return true
  if (!answers.includes(undefined) || !mentions(rule, question)) return false
  return asWritten(rule)
}

/** Kyverno's result for the URL exactly as written. */
function asWritten(rule: KyvernoRule): boolean | undefined {
  const answer = rule.evaluate()
  if (answer?.status === 'unclear') return undefined
  return answer?.status === 'fail' || answer?.status === 'error'
}

/** `validate.cel`. */
function refusesCel(index: FleetIndex, validate: Node, question: PolicyQuestion): boolean | undefined {
  const cel = at(validate, ['cel'])
  if (!cel) return false
  const list = (key: string) => {
    return itemsOf(at(cel, [key]))
  }
  const parts = { conditions: [], variables: list('variables'), validations: list('expressions') }
  const policy: CelPolicy = {
    ...{ by: 'Kyverno', object: question.subject.object, kind: '', namespace: '', name: '', failsClosed: true },
    ...{ audits: [], constraints: undefined, ...compileParts(parts, { by: 'Kyverno', library: kyvernoLibrary }) },
  }
  const verdict = refusesAddress(policy, addressRequest(index, question), question, null)
  return verdict === undefined ? false : 'refused' in verdict || undefined
}

/** Whether a rule may be about a field: its name stands in what the rule says. */
const mentions = ({ written }: KyvernoRule, { field }: PolicyQuestion) =>
  canonical(at(written.node, ['validate'])!).includes(String(field.at(-1)))
