import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { at, type MapNode, type Path } from '../../../kube/node.ts'
import { codeWord, type Message, message, part } from '../../../message/message.ts'
import { misplacedValues, type SopsValue } from '../../../sops/rules/block-selection.ts'
import type { Violation } from '../../model/rule.ts'
import { isDecrypted } from '../../schema/support/is-decrypted.ts'
import { openValues } from './secret-values.ts'
import { isSealed } from './sops.ts'

/** Values that an encrypted object does not hold as its block says. A secret in clear is a finding of `plaintext-secret`. */
export function* misplacedIn(subject: Subject): Iterable<Violation> {
  const { object, id, kind } = subject
  const secrets = kind === '/Secret' ? [...openValues(object.root, isSealed(object))].filter(one => !one.harmless) : []
  if (secrets.some(({ path }) => isRefused(subject, path))) return
  const { open, sealed } = misplaced(subject)
  const block = codeWord('sops')
  if (open.length > 0)
    yield violation(subject, open, message`plain text where the ${block} block says encrypted`, refusal(id))
  const consequence = message`Flux applies the ciphertext as its value`
  if (sealed.length > 0)
    yield violation(subject, sealed, message`encrypted where the ${block} block says plain text`, consequence)
}

/** Whether Flux finds a value in clear where SOPS takes it for encrypted. */
export function isRefused(subject: Pick<Subject, 'object' | 'node'>, path: Path): boolean {
  const value = at(subject.object.root, path)
  const moved = value?.type === 'scalar' ? value.movedFrom : undefined
  return misplaced(subject).openAt.has(JSON.stringify([moved ?? path[0], ...path.slice(1)]))
}

/** What Flux says of an object that holds in clear what SOPS takes for encrypted (getsops/sops, Tree.Decrypt). */
export function refusal({ kind, namespace, name }: Subject['id']): Message {
  const cause = "Could not decrypt value: Input string <redacted> does not match sops' data format"
  const words = `failed to decrypt and format '${namespace}/${name}' ${kind} data: error decrypting sops tree: Error walking tree: ${cause}`
  return message`Flux applies nothing of the Kustomization: ${part('value', words)}`
}

interface Misplaced {
  readonly open: readonly SopsValue[]
  readonly sealed: readonly SopsValue[]
  /** The places of the open ones, as JSON. */
  readonly openAt: ReadonlySet<string>
}

const NONE: Misplaced = { open: [], sealed: [], openAt: new Set() }
/** By document, because each value of it is asked about. */
const known = new WeakMap<MapNode, Misplaced>()

function misplaced({ object, node }: Pick<Subject, 'object' | 'node'>): Misplaced {
  if (!object.sealed || !isDecrypted(node)) return NONE
  const kept = known.get(object.sealed)
  if (kept) return kept
  const { open = [], sealed = [] } = Object.groupBy(misplacedValues(object.sealed), one =>
    one.isSealed ? 'sealed' : 'open',
  )
  const found = { open, sealed, openAt: new Set(open.map(({ place }) => JSON.stringify(place))) }
  known.set(object.sealed, found)
  return found
}

function violation(
  { object, id, node }: Subject,
  values: readonly SopsValue[],
  what: Message,
  then: Message,
): Violation {
  const [{ node: value, place, isSealed: isCiphertext }] = values as [SopsValue]
  const verb = values.length === 1 ? 'is' : message`and ${values.length - 1} more are`
  return {
    node,
    object,
    path: place,
    origin: value.origin,
    value: isCiphertext ? 'sealed' : 'open',
    message: message`${objectPart(id.kind, id.namespace, id.name)}: ${quoted('field', place.join('.'))} ${verb} ${what}. Allowed: what SOPS wrote. ${then}.`,
    fix: message`Restore ${part('path', value.origin.file)} from git, and change the value with \`sops edit\`.`,
  }
}
