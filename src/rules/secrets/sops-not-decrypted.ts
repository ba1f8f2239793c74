import { codeWord, type Message, message, part } from '../../base/message.ts'
import { oncePer } from '../../base/once-per.ts'
import { flagsByController } from '../../fleet/bootstrap/lockdown.ts'
import { hashOf, placeText } from '../../fleet/facts/fingerprint.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import { objectPart, quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { meantOrigin } from '../../fleet/model/kustomization-spec.ts'
import { misplacedValues, type SopsValue } from '../../flux/sops/encrypted-values.ts'
import { at, type MapNode, type Path, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { isLeftSealed, isSopsEncrypted } from '../../kube/sops.ts'
import { atReaders } from '../git/rendered-tree.ts'
import type { Rule, RuleContext, Subject, Violation } from '../model/rule.ts'
import { openValues } from './open-values.ts'
import { encryptedDocuments, recipientsOf } from './sops-files.ts'
import { damagedValues, isAgeForm, isPgpForm, isSealed } from './sops-values.ts'

const DECRYPTION = ['spec', 'decryption']

/** What is encrypted is decrypted where it is applied. */
export const sopsNotDecrypted: Rule = {
  id: 'sops-not-decrypted',
  severity: 'high',
  title: 'Encrypted file that Flux cannot decrypt',
  why: 'Without `spec.decryption`, Flux refuses an encrypted Secret with `data`, and applies nothing of its Kustomization. It applies `stringData` and other kinds with the ciphertext as their values. A damaged data key or value cannot be decrypted either. Nor can a plain value that the `sops` block takes for encrypted.',
  source: 'kustomize-controller, internal/decryptor',
  docs: 'Set `spec.decryption` of the Kustomization that applies the file: `provider: sops`, and a `secretRef` to the Secret with the key. A Kustomization without `secretRef` can use a cloud KMS, or the age key of `--sops-age-secret`. An object other than a Secret with the annotation `kustomize.toolkit.fluxcd.io/decrypt: disabled` is applied as it is. Flux refuses such a Secret if it has `data`. Restore a data key (`enc`) that age or PGP cannot read. Add values to an encrypted file with `sops edit`.',
  kinds: 'every',
  *checkObject(subject, context) {
    const what = whyNotDecrypted(subject, context.index)
    if (what) yield violation(subject, context, what)
    else if (subject.object.sops || isSealed(subject.object)) {
      yield* damagedValues(subject, context.before)
      yield* misplacedIn(subject)
    }
  },
  checkRepository: damagedKeys,
}

interface NotDecrypted {
  readonly problem: Message
  readonly consequence: Message
  /** Where `spec.decryption` does not help. */
  readonly fix?: Message
}

function whyNotDecrypted({ object, kind, node }: Subject, index: FleetIndex): NotDecrypted | undefined {
  const isSecret = kind === '/Secret'
  const hasBlock = object.root.fields.has('sops')
  const isLeft = isLeftSealed(object)
  if (isLeft && !(isSecret && hasBlock)) return undefined
  if (isDecrypted(node) && !isLeft) {
    const block = object.sops ?? object.sealed?.fields.get('sops')?.value
    if (!block || hasKey(node, index, [...recipientsOf(block).keys()])) return undefined
    const problem = message`names no Secret with a key, and ${part('value', '--sops-age-secret')} sets none`
    return { problem, consequence: message`Flux cannot decrypt it, and applies nothing of the Kustomization` }
  }
  if (isSecret && hasBlock) {
    const { namespace, name } = idOf(object)
    const words = `Secret/${namespace}/${name} is SOPS encrypted, configuring decryption is required for this secret to be reconciled`
    const consequence = message`Flux applies nothing of the Kustomization: ${part('value', words)}`
    return isLeft ? { ...LEFT_SEALED, consequence } : { problem: NO_DECRYPTION, consequence }
  }
  const isApplied = (object.sops && isSealed(object)) || (isSecret && holdsSealedFile(object))
  return isApplied
    ? { problem: NO_DECRYPTION, consequence: message`Flux applies the ciphertext as its value` }
    : undefined
}

const NO_DECRYPTION = message`has no ${codeWord('spec.decryption')}`
const SWITCH = part('value', 'kustomize.toolkit.fluxcd.io/decrypt')
const LEFT_SEALED = {
  problem: message`leaves it encrypted, because of its annotation ${SWITCH}`,
  fix: message`Remove the annotation ${SWITCH} from the Secret.`,
}

/** Whether a key is at hand, as far as the fleet shows; a service's may always be. */
function hasKey({ kustomization, cluster, hub }: FleetNode, index: FleetIndex, recipients: readonly string[]): boolean {
  const { flux } = index.cluster(hub ?? cluster)?.lockdown ?? {}
  if (!flux || stringAt(kustomization.root, [...DECRYPTION, 'secretRef', 'name'])) return true
  const hasAge = Boolean(flagsByController(flux).get('kustomize-controller')?.get('sops-age-secret'))
  return recipients.some(one => (one.startsWith('age:') ? hasAge : !one.startsWith('pgp:')))
}

/** A Secret that is generated from a file of SOPS: without decryption the file itself is the value. */
function holdsSealedFile({ root }: KubeObject): boolean {
  const data = at(root, ['data'])
  const values = data?.type === 'map' ? [...data.fields.values()] : []
  return values.some(({ value }) => {
    const text = value.type === 'scalar' && typeof value.value === 'string' ? value.value : ''
    return isSopsEncrypted(Buffer.from(text, 'base64'))
  })
}

/** At the Kustomization where its decryption was taken away: that is one cause for all of its objects. */
function violation(subject: Subject, { before }: RuleContext, what: NotDecrypted): Violation {
  const { node } = subject
  const { kustomization } = node
  const was = before?.node(node.key)
  const isLost = was !== undefined && isDecrypted(was) && what.fix === undefined
  const [name, place] = [objectPart('Kustomization', node.namespace, node.name), meantOrigin(kustomization, DECRYPTION)]
  return subject.violation(['sops'], 'not decrypted', {
    ...(isLost ? { origin: place, cause: hashOf(['decryption', node.namespace, node.name, placeText(place)]) } : {}),
    message: message`${subject.who} is encrypted with SOPS. ${name} ${what.problem}. Allowed: encrypted objects of a Kustomization that can decrypt them. ${what.consequence}.`,
    fix:
      what.fix ??
      message`Set ${codeWord('spec.decryption')} of ${name} to ${part('value', '{provider: sops, secretRef: {name: ...}}')}, with the Secret that holds the key, in ${part('path', `${place.file}:${place.line}`)}.`,
  })
}

const RECIPIENT = /^(?:age:age1(?:pq1)?[02-9ac-hj-np-z]{58,4000}|pgp:[0-9A-F]{40})$/

/** Data keys that no key of the recipient can decrypt. */
function* damagedKeys({ url, tree, nodes }: EvaluatedRepository): Iterable<Violation> {
  for (const { file, recipients } of encryptedDocuments(tree, url)) {
    for (const [recipient, entry] of recipients) {
      // another recipient is invalid, or of a service
      if (!RECIPIENT.test(recipient)) continue
      const enc = at(entry, ['enc'])
      const text = stringAt(enc, []) ?? ''
      const isForm = recipient.startsWith('pgp:') ? isPgpForm(text) : isAgeForm(text, recipient)
      if (isForm) continue
      yield* atReaders(nodes, file, `${file} ${recipient} enc`, {
        origin: enc?.origin ?? entry.origin,
        message: message`The file ${quoted('path', file)} cannot be decrypted with ${quoted('value', recipient)}: its data key (${codeWord('enc')}) is damaged. Allowed: what SOPS wrote. Flux cannot decrypt the file with that key.`,
        fix: message`Restore the file from git, or run \`sops updatekeys\` with another key.`,
      })
    }
  }
}

/** Values that an encrypted object does not hold as its block says. A secret in clear is a finding of `plaintext-secret`. */
function* misplacedIn(subject: Subject): Iterable<Violation> {
  const { object, id, kind } = subject
  const secrets = kind === '/Secret' ? [...openValues(object.root, isSealed(object))].filter(one => !one.harmless) : []
  if (secrets.some(({ path }) => isRefused(subject, path))) return
  const { open, sealed } = misplaced(subject)
  const block = codeWord('sops')
  if (open.length > 0)
    yield misplacedViolation(subject, open, message`plain text where the ${block} block says encrypted`, refusal(id))
  const consequence = message`Flux applies the ciphertext as its value`
  if (sealed.length > 0)
    yield misplacedViolation(subject, sealed, message`encrypted where the ${block} block says plain text`, consequence)
}

/** Whether Flux finds a plain value where SOPS expects an encrypted one. */
export function isRefused(subject: Pick<Subject, 'object' | 'node'>, path: Path): boolean {
  const value = at(subject.object.root, path)
  const moved = value?.type === 'scalar' ? value.movedFrom : undefined
  return misplaced(subject).openAt.has(JSON.stringify([moved ?? path[0], ...path.slice(1)]))
}

/** Flux's error for an object with a plain value where SOPS expects an encrypted one (getsops/sops, Tree.Decrypt). */
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

const misplaced = ({ object, node }: Pick<Subject, 'object' | 'node'>): Misplaced =>
  object.sealed && isDecrypted(node) ? misplacedOf(object.sealed) : NONE

/** Once for each document, because each of its values is queried. */
const misplacedOf = oncePer((document: MapNode): Misplaced => {
  const { open = [], sealed = [] } = Object.groupBy(misplacedValues(document), one =>
    one.isSealed ? 'sealed' : 'open',
  )
  return { open, sealed, openAt: new Set(open.map(({ place }) => JSON.stringify(place))) }
})

function misplacedViolation(subject: Subject, values: readonly SopsValue[], what: Message, then: Message): Violation {
  const [{ node: value, place, isSealed: isCiphertext }] = values as [SopsValue]
  const verb = values.length === 1 ? 'is' : message`and ${values.length - 1} more are`
  return subject.violation(place, isCiphertext ? 'sealed' : 'open', {
    origin: value.origin,
    message: message`${subject.who}: ${quoted('field', place.join('.'))} ${verb} ${what}. Allowed: what SOPS wrote. ${then}.`,
    fix: message`Restore ${part('path', value.origin.file)} from git, and change the value with \`sops edit\`.`,
  })
}

/** Whether the Kustomization of a node decrypts what it applies. */
export const isDecrypted = (node: FleetNode): boolean =>
  at(node.kustomization.root, ['spec', 'decryption'])?.type === 'map'
