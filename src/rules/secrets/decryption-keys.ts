import { asMessage, capital, listed, message } from '../../base/message.ts'
import { flagsByController } from '../../fleet/bootstrap/lockdown.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { ENCRYPTED, kindOf, type Rendered } from '../../fleet/facts/object-table.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import { quoted, whoOf } from '../../fleet/facts/shown.ts'
import type { Cluster } from '../../fleet/model/fleet.ts'
import { isBlank } from '../../fleet/model/kustomization-spec.ts'
import { KUSTOMIZATION } from '../../kube/flux-kinds.ts'
import { at, entriesOf, type Path, stringAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { readersOf } from '../git/rendered-tree.ts'
import { scalarsOf } from '../model/object-values.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'
import { otherUse } from './platform-secrets.ts'
import { encryptedDocuments, SopsConfigs } from './sops-files.ts'
import { ciphertext } from './sops-values.ts'

const FIELD = ['spec', 'decryption', 'secretRef', 'name']
/** Entries that kustomize-controller reads as a key; it ignores all others of the Secret. */
const KEYS = /(?:\.agekey|\.asc)$|^sops\.(?:vault-token|aws-kms|azure-kv|gcp-kms)$/
/** Names of Secrets that are for sources, registries and clusters, as people and `flux` choose them. */
const OTHER_NAME =
  /^flux-system$|(?:^|-)(?:auth|deploy-key|ssh|ssh-credentials|kubeconfig|pull-secret|registry|webhook-token)$/
/** Secrets that hold keys of age or PGP and so no credential of a cloud, by their name: the controller uses its own then. */
const AGE_NAME = /(?:^|[-.])(?:age|gpg|pgp)(?:[-.]|$)/
const AZURE =
  /^https:\/\/[a-z0-9-]{1,100}\.(?:vault\.azure\.(?:net|cn)|vault\.usgovcloudapi\.net|vault\.microsoftazure\.de|managedhsm\.azure\.net)$/

/** Tenants decrypt with a key that was given to them for that, and choose no key of another's cloud. */
export const decryptionRef: Rule = {
  id: 'decryption-ref',
  severity: 'high',
  title: "Decryption with a credential that is not the tenant's",
  why: "kustomize-controller reads the decryption Secret and calls the key service that an encrypted file names, with its own rights. A tenant that can name any Secret or service makes the controller use another credential. The controller may assume a role in another account, or send its token to the tenant's server.",
  source: 'kustomize-controller, internal/decryptor',
  docs: "Set `spec.decryption.secretRef` to a Secret that holds only keys (`*.agekey`, `*.asc`, `sops.*`). List these in `.sops.yaml` of the base branch: a KMS role, a Vault address, and a key vault outside Azure. List a key that the controller's own identity can use there, too.",
  kinds: [KUSTOMIZATION],
  checkTenantObject: (subject, { index }) => named(subject, index),
  checkRepository: chosenKeys,
}

function* named(subject: Subject, index: FleetIndex): Iterable<Violation> {
  const { id, node } = subject
  const name = subject.text(FIELD)
  if (!name) return
  const use =
    otherUse(index, node.cluster, id.namespace, name) ??
    (OTHER_NAME.test(name) ? 'something else, by its name' : undefined)
  const why = use ? message`which is for ${quoted('value', use)}` : whyNoKey(index, node.cluster, id.namespace, name)
  if (!why) return
  yield subject.asNode(index).violation(FIELD, name, {
    message: message`${subject.who} decrypts with the Secret ${quoted('object', name)}, ${asMessage(why)}. Allowed: a Secret that holds only decryption keys. Flux reads it with the controller's rights.`,
    fix: message`Set spec.decryption.secretRef.name to the Secret with the tenant's key.`,
  })
}

function whyNoKey(index: FleetIndex, cluster: string, namespace: string, name: string): string | undefined {
  const secret = index.versionsOf(cluster, '/Secret', namespace, name).at(-1)?.object
  if (!secret) return undefined
  const keys = ['data', 'stringData'].flatMap(part => {
    const map = at(secret.root, [part])
    return entriesOf(map).map(([key]) => key)
  })
  return keys.length === 0 || keys.some(key => KEYS.test(key)) ? undefined : 'which holds no decryption key'
}

/** Keys of clouds and of Vault that a tenant's files choose. */
function* chosenKeys({ url, tree, before, nodes }: EvaluatedRepository): Iterable<Violation> {
  if (nodes.every(node => node.tenant === undefined)) return
  const configs = new SopsConfigs(before ?? tree)
  const read = [...encryptedDocuments(tree, url)].flatMap(document =>
    readersOf(nodes, document.file).map(node => ({ ...document, node })),
  )
  for (const { file, recipients, node } of read) {
    if (node.tenant === undefined) continue
    const decryption = at(node.kustomization.root, ['spec', 'decryption'])
    const secret = stringAt(decryption, ['secretRef', 'name'])
    const own = Boolean((secret && !AGE_NAME.test(secret)) || stringAt(decryption, ['serviceAccountName']))
    const asked = configs.ruleFor(file)?.recipients
    for (const [recipient, place] of recipients) {
      const what = asked?.has(recipient) ? undefined : danger(recipient, own)
      if (!what) continue
      yield Subject.ofNode(node).violation(['spec', 'decryption'], `${file} ${recipient}`, {
        origin: place.origin,
        message: message`The file ${quoted('path', file)} makes the controller decrypt with ${quoted('value', recipient)}. ${capital(what)}. Allowed: keys that .sops.yaml of the base branch names.`,
        fix: message`Encrypt the file with the tenant's key, or ask a fleet admin to add the key to .sops.yaml.`,
      })
    }
  }
}

function danger(recipient: string, ownCredential: boolean): string | undefined {
  const colon = recipient.indexOf(':')
  const [kind, key] = [recipient.slice(0, colon), recipient.slice(colon + 1)]
  if (kind === 'age' || kind === 'pgp') return undefined
  if (kind === 'kms' && key.includes('+')) return 'it would assume the role that the file names'
  if (kind === 'hc_vault') return 'it would send its token to the server that the file names'
  if (kind === 'azure_kv' && !AZURE.test(key.slice(0, key.indexOf('/keys/'))))
    return 'it would log in to the server that the file names'
  return ownCredential ? undefined : "it would use the controller's own identity, because the Kustomization names none"
}

const ACCOUNT = ['spec', 'decryption', 'serviceAccountName']

/** Ciphertext is decrypted only for its intended reader. */
export const sopsCiphertextReuse: Rule = {
  id: 'sops-ciphertext-reuse',
  severity: 'critical',
  title: 'Shared SOPS decryption key',
  why: "Every reader of the repository can copy its ciphertext. The controller may decrypt with one key for all tenants (`--sops-age-secret`). Then a tenant can copy another tenant's ciphertext and have it decrypted into its own namespace.",
  source: 'kustomize-controller --sops-age-secret',
  docs: 'Give each tenant its own key in `spec.decryption.secretRef`, and remove the controller-wide key. Do not copy ciphertext of another tenant.',
  kinds: [KUSTOMIZATION],
  checkObject: withoutOwnKey,
  checkCluster: copies,
}

function* withoutOwnKey(subject: Subject, { index }: RuleContext): Iterable<Violation> {
  const { object, node } = subject
  const decryption = subject.at(['spec', 'decryption'])
  if (decryption?.type !== 'map' || !isBlank(subject.at(FIELD))) return
  if (index.actsFor(node, object) === undefined) return
  const flags = flagsByController(index.cluster(node.cluster)?.lockdown.flux).get('kustomize-controller')
  const secret = flags?.get('sops-age-secret') ?? ''
  // the platform did not choose the controller's identity for a tenant's own Kustomization
  const usesIdentity = secret === '' && node.tenant !== undefined && isBlank(subject.at(ACCOUNT))
  if (secret === '' && !usesIdentity) return
  const key = usesIdentity
    ? "everything that the controller's identity can decrypt"
    : message`everything with its own (--sops-age-secret is ${quoted('value', secret)})`
  yield subject.asNode(index).violation(['spec', 'decryption'], 'without secretRef', {
    message: message`${subject.who} names no decryption key. The controller would decrypt ${key}, including other tenants' ciphertext. Allowed: a key of the tenant.`,
    fix: message`Set spec.decryption.secretRef to a Secret with the tenant's key.`,
  })
}

interface Ciphertext extends Rendered {
  readonly path: Path
  readonly text: string
  /** The tenant whose node renders it, or in whose namespace the platform puts it; '' for the platform. */
  readonly owner: string
  /** Where it was written: what two tenants get from one file of the platform is shared, not copied. */
  readonly file: string
}

/** Who renders a piece of ciphertext, by its file; `''` for whatever a tenant's node renders. */
interface Holders {
  readonly ever: Map<string, Set<string>>
  readonly old: Map<string, Set<string>>
}

/** Copies on this cluster of what stands under another tenant on any cluster. */
function* copies({ name }: Cluster, { index, before }: RuleContext): Iterable<Violation> {
  const known = before && new Set(everywhere(before).map(keyOf))
  const holders = new Map<string, Holders>()
  for (const one of everywhere(index)) {
    const held = holders.get(one.text) ?? { ever: new Map(), old: new Map() }
    holders.set(one.text, held)
    hold(held.ever, one)
    if (known?.has(keyOf(one))) hold(held.old, one)
  }
  for (const one of ciphertextsOf(index, name)) {
    const { ever, old } = holders.get(one.text)!
    if (one.owner !== '' && isOfOthers(known?.has(keyOf(one)) ? old : ever, one)) yield copied(one)
  }
}

/** A tenant must not copy from anyone; the platform, for a tenant, not from another tenant and another file. */
function isOfOthers(held: ReadonlyMap<string, ReadonlySet<string>>, { owner, file, node }: Ciphertext): boolean {
  for (const [from, owners] of held) {
    if (node.tenant === undefined && from === file) continue
    for (const other of owners) if (other !== owner && (other !== '' || node.tenant !== undefined)) return true
  }
  return false
}

function hold(held: Map<string, Set<string>>, { file, owner }: Ciphertext): void {
  held.set(file, (held.get(file) ?? new Set()).add(owner))
}

const everywhere = (index: FleetIndex) => index.clusters().flatMap(cluster => [...ciphertextsOf(index, cluster)])
const keyOf = (one: Ciphertext) => JSON.stringify([one.owner, one.file, one.text])

/** The encrypted values of Secrets, and of any other object that SOPS encrypted: each has a nonce of its own, so that the same text is a copy. */
function* ciphertextsOf(index: FleetIndex, cluster: string): Iterable<Ciphertext> {
  for (const { node, object } of index.renderedAnywhere(cluster, '/Secret')) {
    for (const part of ['data', 'stringData']) yield* within(index, { node, object }, [part])
  }
  for (const { node, object } of index.renderedAnywhere(cluster, ENCRYPTED)) {
    const isSecret = kindOf(object) === '/Secret'
    for (const key of isSecret ? [] : object.root.fields.keys()) yield* within(index, { node, object }, [key])
  }
}

function* within(index: FleetIndex, { node, object }: Rendered, part: Path): Iterable<Ciphertext> {
  const values = at(object.root, part)
  if (!values) return
  const owner = node.tenant ?? index.ownerOf(node.cluster, idOf(object).namespace) ?? ''
  for (const { path, node: scalar } of scalarsOf(values, part)) {
    const text = typeof scalar.value === 'string' ? ciphertext(scalar.value) : undefined
    if (text === undefined) continue
    const { repository, file } = scalar.origin
    // what a tenant's own node renders counts as the tenant's, wherever it was written
    yield { node, object, path, text, owner, file: node.tenant === undefined ? `${repository} ${file}` : '' }
  }
}

function copied({ node, object, path }: Ciphertext): Violation {
  return new Subject({ node, object }).violation(path, 'copied', {
    message: message`${whoOf(object)} contains ciphertext of another tenant or the platform, at ${listed(
      path.map(step => quoted('field', String(step))),
      ' ',
    )}. Allowed: ciphertext that was encrypted for this tenant. Flux decrypts it with any matching key.`,
    fix: message`Remove the value. If the secret is the tenant's own, encrypt it again with the tenant's key.`,
  })
}
