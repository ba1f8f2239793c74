import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { ENCRYPTED, type Rendered } from '../../facts/object-table.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { flagsByController } from '../../fleet/lockdown/lockdown-flags.ts'
import type { Cluster } from '../../fleet/model/fleet.ts'
import { isBlank } from '../../fleet/model/read-spec.ts'
import { KUSTOMIZATION } from '../../flux/kinds.ts'
import { at, type Path } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { listed, message } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { ciphertext } from './support/damaged-values.ts'
import { scalarsOf } from './support/scalars-of.ts'

const FIELD = ['spec', 'decryption', 'secretRef', 'name']
const ACCOUNT = ['spec', 'decryption', 'serviceAccountName']

/** Ciphertext is opened only for whom it was made. */
export const sopsCiphertextReuse: Rule = {
  id: 'sops-ciphertext-reuse',
  severity: 'critical',
  title: 'Shared SOPS decryption key',
  why: "Every reader of the repository can copy its ciphertext. The controller may decrypt with one key for all tenants (`--sops-age-secret`). Then a tenant can copy another tenant's ciphertext and have it decrypted into its own namespace.",
  source: 'kustomize-controller --sops-age-secret',
  docs: 'Give each tenant its own key in `spec.decryption.secretRef`, and remove the controller-wide key. Do not copy ciphertext of another tenant.',
  kinds: [KUSTOMIZATION],
  *checkObject(subject, { index }) {
    const violation = evaluateFleet(subject, index)
    if (violation) yield violation
  },
  checkCluster: (cluster, context) => copies(cluster, context),
}

function evaluateFleet({ object, id, node }: Subject, index: FleetIndex): Violation | undefined {
  const decryption = at(object.root, ['spec', 'decryption'])
  if (decryption?.type !== 'map' || !isBlank(at(object.root, FIELD))) return undefined
  if (index.actsFor(node, object) === undefined) return undefined
  const flags = flagsByController(index.cluster(node.cluster)?.lockdown.flux).get('kustomize-controller')
  const secret = flags?.get('sops-age-secret') ?? ''
  // of a tenant's own Kustomization nobody decided that the controller's identity should do
  const usesIdentity = secret === '' && node.tenant !== undefined && isBlank(at(object.root, ACCOUNT))
  if (secret === '' && !usesIdentity) return undefined
  const key = usesIdentity
    ? "everything that the controller's identity can decrypt"
    : message`everything with its own (--sops-age-secret is ${quoted('value', secret)})`
  return {
    node: index.nodeOf(node.cluster, object) ?? node,
    renderedBy: node,
    object,
    path: ['spec', 'decryption'],
    value: 'without secretRef',
    message: message`${objectPart(id.kind, id.namespace, id.name)} names no decryption key, so the controller would decrypt ${key}, including other tenants' ciphertext. Allowed: a key of the tenant.`,
    fix: message`Set spec.decryption.secretRef to a Secret with the tenant's key.`,
  }
}

interface Ciphertext extends Rendered {
  readonly path: Path
  readonly text: string
  /** The tenant whose node renders it, or in whose namespace the platform puts it; '' for the platform. */
  readonly owner: string
  /** Where it was written: what two tenants get from one file of the platform is shared, not copied. */
  readonly file: string
}

/** Who shows a piece of ciphertext, by the file that it stands in; `''` for whatever a tenant's node renders. */
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

/** A tenant copies from anybody; the platform, for a tenant, from another tenant and another file. */
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
    // whatever a tenant's own node renders counts as the tenant's, wherever it was written
    yield { node, object, path, text, owner, file: node.tenant === undefined ? `${repository} ${file}` : '' }
  }
}

function copied({ node, object, path }: Ciphertext): Violation {
  const { kind, namespace, name } = idOf(object)
  return {
    node,
    object,
    path,
    value: 'copied',
    message: message`${objectPart(kind, namespace, name)} contains ciphertext of another tenant or the platform, at ${listed(
      path.map(step => quoted('field', String(step))),
      ' ',
    )}. Allowed: ciphertext that was encrypted for this tenant. Flux decrypts it with any matching key.`,
    fix: message`Remove the value. If the secret is the tenant's own, encrypt it again with the tenant's key.`,
  }
}
