import { CelMap, type CelValue } from '../../cel/values.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { fluxKind } from '../../flux/kinds.ts'
import { withValueAt } from '../../kube/edit-node.ts'
import { at, type ScalarNode } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { userInfo } from '../../kube/rbac/groups-of.ts'
import type { AdmissionRequest } from '../admission/admission-request.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { worldOf } from '../admission/admission-world.ts'
import { objectValue } from '../admission/object-value.ts'
import type { PolicyQuestion } from '../engine.ts'
import { areMet, evaluatePolicy } from '../native/evaluate-policy.ts'
import type { CelPolicy } from '../native/native-policy.ts'
import { spellingsOf } from '../spellings-of.ts'

/** The result of a CEL policy for a source's URL: a refusal, no refusal, or the reason why it is not known. */
export type AddressVerdict = { readonly refused: string } | { readonly unclear: string } | undefined

/** The admission request that creates the source in its cluster. */
export function addressRequest(index: FleetIndex, { subject }: PolicyQuestion): [AdmissionWorld, AdmissionRequest] {
  const { object, id, kind, node } = subject
  const request: AdmissionRequest = {
    operation: 'CREATE',
    ...{ object, id },
    user: userInfo(node.identity.user),
    resource: fluxKind(kind)?.plural ?? '',
    isNamespaced: true,
  }
  return [worldOf(index, node.cluster), request]
}

/** Whether validations that read the URL refuse every form in which it may be written. */
export function refusesAddress(
  policy: CelPolicy,
  [world, request]: readonly [AdmissionWorld, AdmissionRequest],
  question: PolicyQuestion,
  params: CelValue,
  names: ReadonlyMap<string, CelValue> = new Map(),
): AddressVerdict {
  const verdicts = spellingsOf(question).map(spelling => {
    const object = withAddress(question, spelling)
    return ofSpelling(policy, world, { ...request, object }, question, params, names)
  })
  if (verdicts.includes(undefined)) return undefined
  return verdicts.find(one => one && 'unclear' in one) ?? verdicts[0]
}

function withAddress({ subject: { object }, field }: PolicyQuestion, value: string): KubeObject {
  const written = at(object.root, field)
  const path = field.map(String)
  const scalar: ScalarNode = { type: 'scalar', value, origin: written?.origin ?? object.root.origin }
  return { ...object, root: withValueAt(object.root, path, scalar) }
}

function ofSpelling(
  policy: CelPolicy,
  world: AdmissionWorld,
  request: AdmissionRequest,
  { field }: PolicyQuestion,
  params: CelValue,
  names: ReadonlyMap<string, CelValue>,
): AddressVerdict {
  const isMet = areMet(policy, policy.conditions, world, request, params)
  if (isMet === false) return undefined
  let isAbout = false
  const object = watched(objectValue(request.object), field.map(String), () => (isAbout = true))
  let [refused, unclear]: [string | undefined, string | undefined] = [undefined, undefined]
  for (const validation of policy.validations) {
    isAbout = false
    const alone = { ...policy, conditions: [], validations: [validation], audits: [] }
    const [verdict] = evaluatePolicy(alone, world, request, params, new Map([...names, ['object', object]]))
    // an expression that cannot be evaluated may be about the URL if it names the field
    const mayBe = isAbout || namesField(policy, validation.text, String(field.at(-1)))
    if (verdict && 'refused' in verdict && isAbout) refused ??= verdict.refused
    if (verdict && 'unclear' in verdict && mayBe) unclear ??= verdict.unclear
  }
  if (refused === undefined && unclear === undefined) return undefined
  if (isMet !== true) return { unclear: 'unclear' in isMet ? isMet.unclear : isMet.refused }
  return refused === undefined ? { unclear: unclear! } : { refused }
}

/** Whether an expression, or a variable that it uses, names a field. */
function namesField({ variables }: CelPolicy, text: string, field: string): boolean {
  if (text.includes(field)) return true
  return variables.some(one => text.includes(`variables.${one.name}`) && one.text.includes(field))
}

/** A copy of the value that calls `onRead` when the field at `path` is read. */
function watched(value: CelValue, [key, ...rest]: readonly string[], onRead: () => void): CelValue {
  if (!(value instanceof CelMap) || key === undefined) return value
  const name = `s${key}`
  const entry = value.entries.get(name)
  if (!entry) return value
  const inner = rest.length > 0 ? watched(entry[1], rest, onRead) : entry[1]
  const entries = new Map(value.entries).set(name, [entry[0], inner])
  return new CelMap(rest.length > 0 ? entries : new WatchedEntries(entries, name, onRead))
}

class WatchedEntries extends Map<string, readonly [CelValue, CelValue]> {
  readonly #name: string
  readonly #onRead: () => void
  constructor(entries: ReadonlyMap<string, readonly [CelValue, CelValue]>, name: string, onRead: () => void) {
    super(entries)
    this.#name = name
    this.#onRead = onRead
  }
  override get(name: string): readonly [CelValue, CelValue] | undefined {
    if (name === this.#name) this.#onRead()
    return super.get(name)
  }
}
