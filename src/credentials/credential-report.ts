import { BailiwickError } from '../errors.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import type { Tree } from '../git/tree.ts'
import { encryptedDocuments } from '../rules/secrets/support/encrypted-files.ts'
import { SOPS_CONFIG, SopsConfigs } from '../rules/secrets/support/sops-config.ts'
import { type SourceSecret, sourceSecrets } from './source-secrets.ts'

/** What a fleet's own repository says about the credentials of its tenants. Plain JSON, without a value of any Secret. */
export interface CredentialReport {
  readonly sources: readonly SourceSecret[]
  /** Encrypted files whose recipients are not those of their creation rule. */
  readonly resealed: readonly OtherRecipients[]
  /** What could not be looked at, and why. */
  readonly notVisible: readonly string[]
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

/** Reports the credentials in a fleet whose repository, `tree`, is at `url`. */
export function credentialReport(fleet: Fleet, tree: Tree, url: string): CredentialReport {
  const notVisible = fleet.nodes
    .filter(node => node.error && node.tenant === undefined)
    .map(node => `${node.key}: its sources, because it cannot be rendered (${node.error!.code})`)
  return { sources: sourceSecrets(fleet, url), ...recipientsIn(tree, url, notVisible) }
}

function recipientsIn(tree: Tree, url: string, before: readonly string[]) {
  const notVisible = [...before]
  const resealed: OtherRecipients[] = []
  const configs = new SopsConfigs(tree)
  try {
    for (const { file, root, recipients } of encryptedDocuments(tree, url)) {
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
    notVisible.push(`recipients of further encrypted files: ${error.message}`)
  }
  return { resealed, notVisible }
}
