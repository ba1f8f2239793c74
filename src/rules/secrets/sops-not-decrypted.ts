import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import { hashOf } from '../../facts/fingerprint.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { flagsByController } from '../../fleet/lockdown/lockdown-flags.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { at, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { isLeftSealed } from '../../kube/sealed-values.ts'
import { isSopsEncrypted } from '../../kube/sops-marks.ts'
import { codeWord, type Message, message, part } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { isDecrypted } from '../schema/support/is-decrypted.ts'
import { damagedValues } from './support/damaged-values.ts'
import { encryptedDocuments } from './support/encrypted-files.ts'
import { misplacedIn } from './support/misplaced-values.ts'
import { atReaders } from './support/reader-of.ts'
import { isAgeForm, isPgpForm } from './support/sealed-key-form.ts'
import { isSealed } from './support/sops.ts'
import { recipientsOf } from './support/sops-recipients.ts'

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
  checkRepository: repository => damagedKeys(repository),
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
function violation({ object, id, node }: Subject, { before }: RuleContext, what: NotDecrypted): Violation {
  const { kustomization } = node
  const was = before?.node(node.key)
  const isLost = was !== undefined && isDecrypted(was) && what.fix === undefined
  const [name, place] = [
    objectPart('Kustomization', node.namespace, node.name),
    originAt(kustomization.root, DECRYPTION),
  ]
  return {
    node,
    object,
    path: ['sops'],
    value: 'not decrypted',
    ...(isLost ? { origin: place, cause: hashOf(['decryption', node.namespace, node.name]) } : {}),
    message: message`${objectPart(id.kind, id.namespace, id.name)} is encrypted with SOPS, but ${name} ${what.problem}. Allowed: encrypted objects of a Kustomization that can decrypt them. ${what.consequence}.`,
    fix:
      what.fix ??
      message`Set ${codeWord('spec.decryption')} of ${name} to ${part('value', '{provider: sops, secretRef: {name: ...}}')}, with the Secret that holds the key, in ${part('path', `${place.file}:${place.line}`)}.`,
  }
}

const RECIPIENT = /^(?:age:age1(?:pq1)?[02-9ac-hj-np-z]{58,4000}|pgp:[0-9A-F]{40})$/

/** Data keys that no key can open, whatever it is. */
function* damagedKeys({ url, tree, nodes }: EvaluatedRepository): Iterable<Violation> {
  for (const { file, recipients } of encryptedDocuments(tree, url)) {
    for (const [recipient, entry] of recipients) {
      // what is neither is no recipient, or one of a service
      if (!RECIPIENT.test(recipient)) continue
      const enc = at(entry, ['enc'])
      const text = stringAt(enc, []) ?? ''
      const isForm = recipient.startsWith('pgp:') ? isPgpForm(text) : isAgeForm(text, recipient)
      if (isForm) continue
      yield* atReaders(nodes, file, {
        origin: enc?.origin ?? entry.origin,
        value: `${file} ${recipient} enc`,
        message: message`The file ${quoted('path', file)} cannot be decrypted with ${quoted('value', recipient)}: its data key (${codeWord('enc')}) is damaged. Allowed: what SOPS wrote. Flux cannot decrypt the file with that key.`,
        fix: message`Restore the file from git, or run \`sops updatekeys\` with another key.`,
      })
    }
  }
}
