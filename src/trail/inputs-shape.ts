import { fieldsOf, listOf, where } from './shape.ts'
import type {
  TrailApproval,
  TrailContent,
  TrailEvaluation,
  TrailFact,
  TrailInputs,
  TrailName,
  TrailPeople,
  TrailSide,
  TrailUnread,
} from './trail-inputs.ts'

const matching = (form: RegExp) => where<string>(value => typeof value === 'string' && form.test(value))
const text = where<string>(value => typeof value === 'string')
const flag = where<boolean>(value => typeof value === 'boolean')
const count = where<number>(value => Number.isSafeInteger(value) && (value as number) >= 0)
const hash = matching(/^[0-9a-f]{64}$/)
const tree = matching(/^[0-9a-f]{40}$/)
const kind = where<TrailInputs['kind']>(
  value => value === 'pull-request' || value === 'branch' || value === 'merge-group',
)

const content = fieldsOf<TrailContent>({ repository: text, ref: text, commit: text, tree })
const unread = fieldsOf<TrailUnread>({ repository: text, ref: text, reason: text })
const fact = fieldsOf<TrailFact>({ repository: text, public: flag, people: flag }, ['people'])
const name = fieldsOf<TrailName>({ was: text, now: text })
const approval = fieldsOf<TrailApproval>({ rule: text, by: text })
const side = fieldsOf<TrailSide>({
  fleet: count,
  branch: text,
  sources: listOf(count),
  unread: listOf(unread),
  facts: listOf(fact),
  disabledRules: listOf(text),
  registries: listOf(text),
})
const people = fieldsOf<TrailPeople>(
  { hold: text, override: text, approvals: listOf(approval), missing: listOf(text) },
  ['hold', 'override'],
)
const evaluation = fieldsOf<TrailEvaluation>(
  {
    verdict: hash,
    today: matching(/^\d{4}-\d{2}-\d{2}$/),
    changed: text,
    contents: listOf(content),
    head: side,
    base: side,
    earlier: listOf(content),
    earlierIsAll: flag,
    stopped: listOf(text),
    names: listOf(name),
    narrower: listOf(text),
  },
  ['changed', 'base'],
)

/** The inputs of a verdict with their fields in the one order; undefined for anything else. */
export const inputsShape = fieldsOf<TrailInputs>({
  kind,
  repository: text,
  verdict: hash,
  fleets: listOf(evaluation),
  people,
})
