import { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { display, groupOf, idOf } from '../kube/object.ts'
import { encryptedDocuments } from '../rules/secrets/support/encrypted-files.ts'
import { openValues } from '../rules/secrets/support/secret-values.ts'
import { isSealed } from '../rules/secrets/support/sops.ts'
import { SOPS_CONFIG, SopsConfigs } from '../rules/secrets/support/sops-config.ts'
import { type SourceSecret, sourceSecrets } from './source-secrets.ts'

/** What a fleet's own repository says about the credentials of its tenants. Plain JSON, without a value of any Secret. */
export interface CredentialReport {
  readonly sources: readonly SourceSecret[]
  /** Encrypted files whose recipients are not those of their creation rule. */
  readonly resealed: readonly OtherRecipients[]
  /** Secrets of the fleet's repository with a value that nothing encrypts. */
  readonly clear: readonly ClearSecret[]
  /** What could not be looked at, and why. */
  readonly notVisible: readonly string[]
}

/** A Secret that stands in git in clear, and where. */
interface ClearSecret {
  /** `Secret <namespace>/<name>`. */
  readonly object: string
  readonly file: string
  readonly line: number
}

/** An encrypted file, and how its recipients differ from those that `.sops.yaml` names today. */
interface OtherRecipients {
  readonly file: string
  readonly line: number
  /** Who can still open it although the rule does not name them. */
  readonly left: readonly string[]
  /** Whom the rule names and who cannot open it. */
  readonly missing: readonly string[]
}

/** Prefix of an entry in `notVisible` if encrypted files were not compared with `.sops.yaml`. */
const NOT_COMPARED = 'recipients of further encrypted files: '

/** Reports the credentials in a fleet whose repository, `tree`, is at `url`. */
export function credentialReport(fleet: Fleet, tree: Tree, url: string): CredentialReport {
  const notVisible = fleet.nodes
    .filter(node => node.error && node.tenant === undefined)
    .map(node => `${node.key}: its sources, because it cannot be rendered (${node.error!.code})`)
  return { sources: sourceSecrets(fleet, url), clear: clearSecrets(fleet), ...recipientsIn(tree, url, notVisible) }
}

function clearSecrets(fleet: Fleet): ClearSecret[] {
  const found = new Map<string, ClearSecret>()
  for (const object of fleet.nodes.flatMap(node => node.objects)) {
    const { root } = object
    const id = idOf(object)
    if (id.kind !== 'Secret' || groupOf(id.apiVersion) !== '') continue
    const isOpen = [...openValues(root, isSealed(object))].some(({ harmless }) => harmless === undefined)
    const { file, line } = root.origin
    if (isOpen) found.set(JSON.stringify([display(id), file, line]), { object: display(id), file, line })
  }
  return [...found.values()]
}

function recipientsIn(tree: Tree, url: string, before: readonly string[]) {
  const notVisible = [...before]
  const resealed: OtherRecipients[] = []
  const configs = new SopsConfigs(tree)
  const services = new Set<string>()
  try {
    for (const { file, root, recipients } of encryptedDocuments(tree, url)) {
      for (const one of recipients.keys()) if (!/^(?:age|pgp):/.test(one)) services.add(one)
      const rule = configs.ruleFor(file)
      if (!rule) {
        notVisible.push(`${file}: who should be able to open it, because no rule of ${SOPS_CONFIG} matches it`)
        continue
      }
      const left = [...recipients.keys()].filter(one => !rule.recipients.has(one)).sort()
      const missing = [...rule.recipients.keys()].filter(one => !recipients.has(one)).sort()
      if (left.length + missing.length > 0) resealed.push({ file, line: root.origin.line, left, missing })
    }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    notVisible.push(`${NOT_COMPARED}${error.message}`)
  }
  for (const one of [...services].sort()) notVisible.push(`${one}: who may use this key is known to its service only`)
  return { resealed, notVisible }
}
