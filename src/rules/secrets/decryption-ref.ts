import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import { KUSTOMIZATION } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { message, untyped } from '../../message/message.ts'
import { asMessage } from '../../message/said.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { otherUse } from '../references/support/secret-readers.ts'
import { encryptedDocuments } from './support/encrypted-files.ts'
import { readersOf } from './support/reader-of.ts'
import { SopsConfigs } from './support/sops-config.ts'

const FIELD = ['spec', 'decryption', 'secretRef', 'name']
/** What kustomize-controller takes for a key; it ignores every other entry of the Secret. */
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
  *checkTenantObject(subject, { index }) {
    yield* named(subject, index)
  },
  checkRepository: repository => chosenKeys(repository),
}

function* named({ object, id, node }: Subject, index: FleetIndex): Iterable<Violation> {
  const name = stringAt(object.root, FIELD)
  if (!name) return
  const use =
    otherUse(index, node.cluster, id.namespace, name) ??
    (OTHER_NAME.test(name) ? 'something else, by its name' : undefined)
  const why = use ? message`which is for ${quoted('value', use)}` : whyNoKey(index, node.cluster, id.namespace, name)
  if (!why) return
  yield {
    node: index.nodeOf(node.cluster, object) ?? node,
    renderedBy: node,
    object,
    path: FIELD,
    value: name,
    message: message`${objectPart(id.kind, id.namespace, id.name)} decrypts with the Secret ${quoted('object', name)}, ${asMessage(why)}. Allowed: a Secret that holds only decryption keys. Flux reads it with the controller's rights.`,
    fix: message`Set spec.decryption.secretRef.name to the Secret with the tenant's key.`,
  }
}

function whyNoKey(index: FleetIndex, cluster: string, namespace: string, name: string): string | undefined {
  const secret = index.versionsOf(cluster, '/Secret', namespace, name).at(-1)?.object
  if (!secret) return undefined
  const keys = ['data', 'stringData'].flatMap(part => {
    const map = at(secret.root, [part])
    return map?.type === 'map' ? [...map.fields.keys()] : []
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
      yield {
        node,
        object: node.kustomization,
        path: ['spec', 'decryption'],
        origin: place.origin,
        value: `${file} ${recipient}`,
        message: message`The file ${quoted('path', file)} makes the controller decrypt with ${quoted('value', recipient)}: ${untyped(what)}. Allowed: keys that .sops.yaml of the base branch names.`,
        fix: message`Encrypt the file with the tenant's key, or ask a fleet admin to add the key to .sops.yaml.`,
      }
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
